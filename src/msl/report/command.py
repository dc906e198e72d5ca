"""Command: what to type to make a run again, as far as the store knows how it was started."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from msl.runs.run import Run


def run_command(run: Run, data: str | None = None, store: Sequence[str] = ()) -> str:
    """The command of a run with all that was changed on its command line; `data` where it was not read from a file."""
    options = run.options
    table = options.get("data") or (run.result.get("data") or {}).get("path") or data or "DATA"
    given = [("--test", options.get("test")), ("--chain", options.get("chain"))]
    given += [("--set", change) for change in options.get("set") or ()]
    given += [("--trust", package) for package in options.get("trusted") or ()]
    words = [word for name, value in given if value is not None for word in (name, str(value))]
    return shlex.join(["msl", "run", run.spec, str(table), *words, *store])


def store_words(folder: Path) -> list[str]:
    """What a command needs to find a store that is not where it looks."""
    return [] if folder.name == ".msl" else ["--store", str(folder)]
