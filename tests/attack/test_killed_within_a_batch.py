"""A run that is killed in the middle of a batch keeps what had arrived, and goes on as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from msl.store.store import DATABASE, Store
from msl.store.store_error import StoreError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes")

#: The first model that is fitted waits for a file; all others are quick. Each fit leaves a line.
HELD = """\
import os, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

HERE = os.environ["MSL_TEST_FOLDER"]

class Held(ClassifierMixin, BaseEstimator):
    def __init__(self, a=0.5, b=0):
        self.a, self.b = a, b
    def fit(self, X, y):
        with open(os.path.join(HERE, "fits"), "a") as log:
            log.write(f"{self.a!r} {self.b!r}\\n")
        try:
            os.close(os.open(os.path.join(HERE, "held"), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            while not os.path.exists(os.path.join(HERE, "go")):
                time.sleep(0.01)
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return self.classes_[(X[:, 0] + self.b / 40 > self.a).astype(int)]
"""
SPACE = """\
block held: learner for classification "held_block:Held" { a: real 0..1, b: int 0..6 }
chain m = held
minimize error by cv(folds = 2)
"""
GRID = SPACE.replace("a: real 0..1, b: int 0..6", "b: int 0..39")
SEARCHES = {
    "random": SPACE + "search random(evaluations = 40)\n",
    "grid": GRID + "search grid(evaluations = 40)\n",
    "then": SPACE + "search random(evaluations = 32) then pso(swarm = 4, iterations = 2)\n",
}
BATCH = 32
_PATIENCE = 120.0  # seconds, after which a test has failed


_started: list[subprocess.Popen[str]] = []


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "held_block.py").write_text(HELD, encoding="utf-8")
    rows = [f"{place / 40:.3f},{'ab'[place > 17]}" for place in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x,class", *rows]) + "\n", encoding="utf-8")
    yield tmp_path
    for process in _started:
        process.kill()
    _started.clear()


def start(here: Path, store: str, jobs: int = 2) -> subprocess.Popen[str]:
    arguments = ["run", "m.msl", "t.csv", "--trust", "held_block", "--jobs", str(jobs), "--store", store]
    process = subprocess.Popen(
        [sys.executable, "-c", "from msl.cli.main import main; main()", *arguments],
        cwd=here,
        env={**os.environ, "MSL_TEST_FOLDER": str(here), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _started.append(process)
    return process


def wait_for_evaluations(folder: Path, number: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        if (folder / DATABASE).exists():
            with suppress(StoreError), Store.open(folder, read_only=True) as store:
                if len(store.evaluations) >= number:
                    return
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"{number} evaluations had arrived, but they were not stored")


def content(folder: Path) -> dict[str, Any]:
    with Store.open(folder, read_only=True) as store:
        (run,) = store.runs.all()
        evaluations = store.evaluations.about(run.digests.data, run.digests.evaluation)
        counted = ("evaluations", "new", "reused", "failures", "outside", "best", "objectives")
        return {
            "status": run.status,
            "asks": store.runs.queries(run.id),
            "events": [(event.position, event.kind, event.figures) for event in store.runs.events(run.id)],
            "evaluations": {one.key: (one.text, one.losses, one.bound, one.failure) for one in evaluations},
            "result": {name: run.result[name] for name in counted},
        }


def fits(here: Path) -> list[str]:
    return (here / "fits").read_text().splitlines()


@pytest.mark.parametrize("name", ["grid", "then"])
def test_what_had_arrived_is_stored_and_not_evaluated_again(here: Path, name: str) -> None:
    (here / "m.msl").write_text(SEARCHES[name], encoding="utf-8")
    process = start(here, "killed")
    wait_for_evaluations(here / "killed", BATCH - 1, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    with Store.open(here / "killed", read_only=True) as store:
        (run,) = store.runs.all()
        assert (run.status, store.runs.count_queries(run.id)) == ("interrupted", 0)  # no batch had come to its end
    before = fits(here)
    again = start(here, "killed")
    _, said = again.communicate(timeout=_PATIENCE)
    assert again.returncode == 0, said
    assert "resumes" in said
    known = set(before) - {before[0]}
    fitted_again = [line for line in fits(here)[len(before) :] if line in known]
    assert len(set(fitted_again)) <= 1  # the winner, in the end
    whole = start(here, "whole")
    assert whole.wait(_PATIENCE) == 0
    assert content(here / "killed") == content(here / "whole")


def test_sigterm_within_a_batch_ends_soon_and_tells_the_best(here: Path) -> None:
    (here / "m.msl").write_text(SEARCHES["random"], encoding="utf-8")
    process = start(here, "cut")
    wait_for_evaluations(here / "cut", BATCH - 1, process)
    os.kill(process.pid, signal.SIGTERM)
    told, said = process.communicate(timeout=_PATIENCE)  # though one evaluation would never end
    assert process.returncode == 143, said
    assert "Traceback" not in said
    assert "terminated; best error" in said
    assert told.startswith("held(a = ")
    assert "interrupted: run the same command again to continue" in told
    with Store.open(here / "cut", read_only=True) as store:
        (run,) = store.runs.all()
        asked = [one.position for one in store.runs.queries(run.id)]
        assert (run.status, len(asked), run.result["best"] is not None) == ("interrupted", BATCH - 1, True)
        assert store.runs.count_queries(run.id) == BATCH - 1
    program = [sys.executable, "-c", "from msl.cli.main import main; main()"]
    replayed = subprocess.run(
        [*program, "replay", "@", "--store", "cut", "--trust", "held_block", "--quiet"],
        cwd=here,
        env={**os.environ, "MSL_TEST_FOLDER": str(here)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert replayed.returncode == 0, (replayed.stdout, replayed.stderr)
    again = start(here, "cut")
    _, said = again.communicate(timeout=_PATIENCE)
    assert again.returncode == 0, said
    whole = start(here, "whole", jobs=1)
    assert whole.wait(_PATIENCE) == 0
    assert content(here / "cut") == content(here / "whole")


def test_time_that_is_up_counts_all_that_arrived(here: Path) -> None:
    """One evaluation that never ends holds up neither the end of the run nor what was asked for after it."""
    (here / "m.msl").write_text(SEARCHES["random"] + "budget(time = 8s)\n", encoding="utf-8")
    process = start(here, "timed")
    _, said = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 0, said
    found = content(here / "timed")
    assert found["status"] == "finished"
    assert 1 <= len(found["asks"]) < BATCH
    assert {one.key for one in found["asks"]} == found["evaluations"].keys()


def test_a_second_sigterm_ends_it_at_once(here: Path) -> None:
    (here / "m.msl").write_text(SEARCHES["random"], encoding="utf-8")
    (here / "held_block.py").write_text(
        HELD.replace(
            "FileExistsError:\n            pass", "FileExistsError:\n            time.sleep(60 * (len(X) == 40))"
        ),
        encoding="utf-8",
    )
    process = start(here, "cut")
    wait_for_evaluations(here / "cut", BATCH - 1, process)
    os.kill(process.pid, signal.SIGTERM)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("terminated"):
            break
    os.kill(process.pid, signal.SIGTERM)  # while the winner is fitted on all rows
    _, said = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 143
    assert said.rstrip().endswith("stopped; evaluations are stored: run the same command again to continue")
