"""A run that is killed at any moment and goes on later ends as one that was never killed, whatever the strategy."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest
from search_cases import commissioned, write_classes

from msl.runner.loop import Progress
from msl.runner.session import RunRequest, run_plan
from msl.store.evaluation import Evaluation, StoredQuery
from msl.store.store import Store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork of this process")

ONE = "use sbm\nchain m = keep >> knn(k: int 1..6, weighting: uniform | inverse, rest = default)\n"
ERROR = "minimize error by cv(folds = 3)\n"
TWO = "minimize error by cv(folds = 3), features\n"
SEARCHES = {
    "pso": (ERROR, "pso(swarm = 4, iterations = 5)"),
    "bpso": (ERROR, "bpso(swarm = 4, iterations = 5)"),
    "pattern": (ERROR, "pattern(evaluations = 25)"),
    "random": (ERROR, "random(evaluations = 40)"),
    "grid": (ERROR, "grid(evaluations = 40)"),
    "best_first": (ERROR, "best_first"),
    "halving": (ERROR, "halving(evaluations = 20)"),
    "auto": (ERROR, "auto(evaluations = 30)"),
    "occam_ga": (ERROR, "occam_ga(population = 6, generations = 4)"),
    "nspso": (TWO, "nspso(swarm = 4, iterations = 5)"),
    "cmdpso": (TWO, "cmdpso(swarm = 4, iterations = 5)"),
    "best": (ERROR, "auto(evaluations = 20)"),
    "best, then confirmed": (ERROR, "random(evaluations = 8) then confirm(top = 3, repeats = 2)"),
    "stages": (ERROR, "random(evaluations = 8) then pso(swarm = 3, iterations = 3) then pattern(evaluations = 8)"),
}


def content(folder: Path) -> tuple[list[StoredQuery], dict[str, tuple[object, ...]], object]:
    """What a store holds of its one run: what was asked, what was evaluated, and the winner."""
    with Store.open(folder, read_only=True) as store:
        (run,) = store.runs.all()
        evaluations = store.evaluations.about(run.digests.data, run.digests.evaluation)
        return store.runs.queries(run.id), {one.key: known(one) for one in evaluations}, run.result["best"]


def known(one: Evaluation) -> tuple[object, ...]:
    return one.text, one.losses, one.complexity, one.bound


def killed_at(request: RunRequest, folder: Path, moment: int) -> None:
    """Runs in a process of its own, which kills itself when progress is told for the so-many-th time."""
    pid = os.fork()
    if pid == 0:
        told = 0

        def tick(progress: Progress) -> None:
            nonlocal told
            told += 1
            if told == moment:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            run_plan(request, folder, progress=tick)
        finally:
            os._exit(1)  # it should not have come so far
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


@pytest.mark.parametrize("name", SEARCHES)
def test_a_run_survives_being_killed(tmp_path: Path, name: str) -> None:
    goal, search = SEARCHES[name]
    space = ONE.replace("k: int", "k: best int") if name.startswith("best") else ONE
    request = commissioned(tmp_path, f"{space}{goal}search {search}\n", write_classes(tmp_path, 45))
    ticks: list[Progress] = []
    run_plan(request, tmp_path / "whole", progress=ticks.append)
    whole = content(tmp_path / "whole")
    moments = random.Random(name).sample(range(1, len(ticks) + 1), 2)
    for moment in moments:
        folder = tmp_path / f"killed at {moment}"
        killed_at(request, folder, moment)
        killed_at(request, folder, 1)  # and again, on its way back to where it was
        run_plan(request, folder)
        assert content(folder) == whole
