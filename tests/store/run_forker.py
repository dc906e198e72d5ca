"""A process that has imported everything, and forks others that do `msl …` whenever it is told to: quick to start.

It reads lines of JSON, each a list of commands that are to go on at the same time: `arguments`, the `folder` to be in,
the seconds after which to `kill` it or null, and the largest `size` of files that it may write or null. It answers
when all of them have ended: exit codes (negative for a signal), what they said, and how long they lived.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any, NoReturn


def load() -> None:
    """Imports what a run needs. Nothing here may start a thread: a fork would lose it."""
    import polars  # noqa: F401
    import sklearn.ensemble  # noqa: F401
    import skops.io  # noqa: F401

    import msl.blocks.ensembles
    import msl.cli.verbs.run
    import msl.data.read
    import msl.runner.session
    import msl.search.strategies.auto
    from msl.check.check_spec import check_source
    from msl.diagnostics.source import Source

    for used in ("clop\nchain m = standardize >> svc", "sbm\nchain m = keep >> knn"):
        check_source(Source("<warm>", f"use {used}(rest = default)\n"))  # reads the grammar and the catalogues
    for name in ("Bias", "FTestRanker", "ForestClassifier", "KNNClassifier", "KeepFeatures", "NaiveBayes", "SVC"):
        getattr(msl.blocks, name)


@dataclass
class Child:
    """A command that goes on."""

    pid: int
    output: int
    start: float
    deadline: float | None
    said: bytes = b""
    seconds: float = 0.0


def start(arguments: list[str], folder: str, kill: float | None, size: int | None) -> Child:
    reading, writing = os.pipe()
    now = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        become(arguments, folder, size, writing)
    os.close(writing)
    return Child(pid, reading, now, None if kill is None else now + kill)


def become(arguments: list[str], folder: str, size: int | None, output: int) -> NoReturn:
    """Goes on as `msl`."""
    from msl.cli.main import main

    try:
        os.chdir(folder)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        if size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        sys.argv = ["msl", *arguments]
        main()
    except SystemExit as left:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(left.code if isinstance(left.code, int) else 0)
    finally:
        os._exit(99)


def together(commands: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Starts all, kills those that are to be killed, and waits for the rest."""
    children = [start(**command) for command in commands]
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child.output, selectors.EVENT_READ, child)
        while selector.get_map():
            going = [key.data for key in selector.get_map().values()]
            deadlines = [child.deadline for child in going if child.deadline is not None]
            left = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
            for key, _ in selector.select(left):
                child = key.data
                piece = os.read(child.output, 65536)
                child.said += piece
                if not piece:
                    selector.unregister(child.output)
                    child.seconds = time.monotonic() - child.start
            for child in going:
                if child.deadline is not None and time.monotonic() >= child.deadline:
                    os.kill(child.pid, signal.SIGKILL)  # not waited for yet, so that nobody else can have this number
                    child.deadline = None
    return [ended(child) for child in children]


def ended(child: Child) -> dict[str, Any]:
    os.close(child.output)
    _, status = os.waitpid(child.pid, 0)
    said = child.said.decode(errors="replace")
    return {"code": os.waitstatus_to_exitcode(status), "said": said, "seconds": child.seconds}


if __name__ == "__main__":
    load()
    for line in sys.stdin:
        print(json.dumps(together(json.loads(line))), flush=True)
