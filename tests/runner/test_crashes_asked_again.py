"""Crashes that a store holds: asked again by whoever has not yet built on them, and by nobody else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from search_cases import commissioned, write_classes

from msl.evaluate.outcome import Failure, Outcome
from msl.runner.loop import search
from msl.runner.session import RunRequest, start_or_resume
from msl.store.evaluation import StoredFailure, StoredQuery
from msl.store.store import Store
from msl.workers.executor import Executor
from msl.workers.in_process import InProcessExecutor
from msl.workers.task import Job, Task, failed

SPEC = (
    "use sbm\nchain m = knn(k: int 1..4, weighting: uniform | inverse, rest = default)\n"
    "minimize error by cv(folds = 3)\nsearch pso(swarm = 4, iterations = 5)\n"
)
KILLED = "the process was killed by SIGKILL (Killed), as the system does when memory runs out"


class Unlucky(Executor):
    """Evaluates in this process, but for the first few, of which it says that they crash."""

    def __init__(self, job: Job, crashes: int) -> None:
        self._inner, self._crashes = InProcessExecutor(job), crashes
        self.asked: list[Task] = []

    def submit(self, task: Task) -> Future[Outcome]:
        self.asked.append(task)
        if len(self.asked) > self._crashes:
            return self._inner.submit(task)
        future: Future[Outcome] = Future()
        future.set_result(failed(1, Failure("crash", KILLED)))
        return future

    def map(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        return (self.submit(task).result() for task in tasks)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown()


def searched(
    request: RunRequest, folder: Path, crashes: int = 0, most: int | None = None
) -> tuple[list[StoredQuery], list[Task]]:
    """All that was asked and told, and what was evaluated for it."""
    with Store.open(folder) as store, Unlucky(request.plan.job, crashes) as executor:
        run, _ = start_or_resume(store, request)
        ending = search(request.plan, store, run, executor, only=None if most is None else range(most)).ending
        store.runs.end(run, ending, {})
        return store.runs.queries(run), executor.asked


def test_a_crash_that_was_not_told_is_asked_again(tmp_path: Path) -> None:
    """It was stored, and then the run was killed before its strategy heard of it."""
    request = commissioned(tmp_path, SPEC, write_classes(tmp_path, 45))
    whole, evaluated = searched(request, tmp_path / "whole")
    with Store.open(tmp_path / "whole", read_only=True) as store:
        known = store.evaluations.read([asked.key for asked in whole if asked.key is not None])
    with Store.open(tmp_path / "killed") as store:
        run, _ = start_or_resume(store, request)
        crashed = [
            replace(one, losses=(math.inf,), metrics={}, failure=StoredFailure("crash", KILLED), run=run)
            for one in known.values()
        ]
        store.record(run, crashed)
        store.runs.end(run, "interrupted")
    again, asked = searched(request, tmp_path / "killed")
    assert again == whole
    assert asked == evaluated


def test_a_run_stands_by_what_it_has_told(tmp_path: Path) -> None:
    """What its strategy built on stays, however often it is stopped; another run asks again, and finds the truth."""
    request = commissioned(tmp_path, SPEC, write_classes(tmp_path, 45))
    whole, _ = searched(request, tmp_path / "whole")
    unlucky, _ = searched(request, tmp_path / "unlucky", crashes=2)
    assert unlucky != whole
    told, first = searched(request, tmp_path / "stopped", crashes=2, most=10)
    assert sum(asked.losses == (math.inf,) for asked in told) >= 2
    resumed, rest = searched(request, tmp_path / "stopped")
    assert resumed == unlucky
    assert not [task for task in first[:2] if task in rest]
    other, asked = searched(request, tmp_path / "stopped")
    assert other == whole
    assert set(map(repr, first[:2])) <= set(map(repr, asked))
