"""msl run on a real terminal: the live picture, and Ctrl-C once and twice, in a process of its own with a worker."""

from __future__ import annotations

import fcntl
import os
import re
import select
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from msl.store.evaluation import StoredQuery
from msl.store.store import Store
from msl.store.stored_run import Run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")

#: A learner that takes its time, so that Ctrl-C comes while a worker is busy.
SLOW = """\
import os, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Slow(ClassifierMixin, BaseEstimator):
    def __init__(self, a=0.5):
        self.a = a
    def fit(self, X, y):
        time.sleep(float(os.environ["MSL_TEST_SLEEP"]))
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return self.classes_[(X[:, 0] > self.a).astype(int)]
"""
SPEC = """\
block slow: learner for classification "slow_block:Slow" { a: real 0..1 }
chain m = slow
minimize error by cv(folds = 2)
search pso(swarm = 3, iterations = 3)
"""
CTRL_C = b"\x03"
_PATIENCE = 120.0  # seconds, after which a test has failed


@dataclass(frozen=True)
class Played:
    code: int
    text: str
    #: In the environment of all its processes.
    mark: str


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # a trusted package makes the folder importable
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("MSL_TEST_SLEEP", "0")
    (tmp_path / "slow_block.py").write_text(SLOW, encoding="utf-8")
    (tmp_path / "m.msl").write_text(SPEC, encoding="utf-8")
    rows = [f"{place / 20:.3f},{'ab'[place % 20 > 8]}" for place in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x,class", *rows]) + "\n", encoding="utf-8")
    return tmp_path


def play(here: Path, arguments: Sequence[str], waits: Sequence[str], sleep: float) -> Played:
    """Runs the command on a terminal; each time that the next text shows up, Ctrl-C is pressed."""
    mark = uuid.uuid4().hex
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "FORCE_COLOR")}
    environment |= {
        "TERM": "xterm",
        "COLUMNS": "100",
        "LINES": "30",
        "MSL_TEST_SLEEP": str(sleep),
        "MSL_TEST_MARK": mark,
    }
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from msl.cli.main import main; main()", "run", "m.msl", "t.csv", *arguments],
        cwd=here,
        env=environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    written, pending, seen = b"", list(waits), 0
    deadline = time.monotonic() + _PATIENCE
    try:
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    written += os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
            if pending and (place := written.find(pending[0].encode(), seen)) >= 0:
                seen = place
                pending.pop(0)
                os.write(ours, CTRL_C)
        code = process.wait(max(1.0, deadline - time.monotonic()))
    finally:
        process.kill()
        os.close(ours)
    assert not pending, written.decode(errors="replace")
    return Played(code, written.decode(), mark)


def left_behind(mark: str) -> list[int]:
    """Processes that were started with this mark and are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                is_own = f"MSL_TEST_MARK={mark}".encode() in (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if is_own and state not in "ZX":
                found.append(int(entry.name))
    return found


def stored(folder: Path) -> tuple[Run, list[StoredQuery]]:
    with Store.open(folder, read_only=True) as store:
        (run,) = store.runs.all()
        return run, store.runs.queries(run.id)


TRUST = ("--trust", "slow_block")


def test_the_picture_and_one_interrupt(here: Path, msl: Callable[..., Any]) -> None:
    """The batch that is going on comes to its end, the best is kept, and the same command goes on from there."""
    first = play(here, [*TRUST, "--jobs", "1"], ["best error"], 0.3)  # slow enough for a picture to be seen
    assert first.code == 130
    assert "Traceback" not in first.text
    assert re.search(r"\d+ of 12 evaluations", first.text)
    assert "stopping after this batch; Ctrl-C once more stops at once" in first.text
    end = first.text[first.text.rindex("\x1b[?25h") :]  # the cursor is back: the picture is gone
    assert re.search(r"slow\(a = \S+\)\r\n", end)
    assert "0 failed" in end
    assert "interrupted: run the same command again to continue" in end
    run, asks = stored(here / ".msl")
    assert (run.status, len(asks) % 3, len(asks) < 12) == ("interrupted", 0, True)
    assert run.result["best"] is not None
    again = ("run", "m.msl", "t.csv", *TRUST, "--on", "inprocess")
    resumed = msl(*again)
    assert resumed.code == 0
    assert f"run {run.id} resumes" in resumed.err
    assert msl(*again, "--store", "whole").code == 0
    cut, whole = stored(here / ".msl"), stored(here / "whole")
    assert cut[1] == whole[1]
    assert cut[0].result["best"] == whole[0].result["best"]
    assert left_behind(first.mark) == []


@pytest.mark.parametrize("place", [["--jobs", "2"], ["--on", "inprocess"]], ids=["workers", "inprocess"])
def test_two_interrupts_end_it_at_once_and_lose_nothing(here: Path, place: list[str]) -> None:
    played = play(here, [*TRUST, *place], ["best error", "once more"], 1.5)
    assert played.code == 130
    assert "Traceback" not in played.text
    words = "stopped; evaluations are stored: run the same command again to continue"
    assert played.text.rstrip().endswith(words)
    run, asks = stored(here / ".msl")
    assert (run.status, len(asks)) == ("interrupted", 3)
    assert left_behind(played.mark) == []
