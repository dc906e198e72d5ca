"""What it costs to evaluate in other processes: time on the way, speed of two workers, memory of four, time to start.

Times on the way are the wall clock less what evaluations say they took, so other work on the machine counts as ours.

    python -m benchmarks.executors [overhead] [workers] [memory] [--quick]
"""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter, process_time, sleep
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from benchmarks.figures import Row, Sections, measured, show
from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.dataset import Dataset
from msl.evaluate.outcome import Outcome
from msl.space.spec import Estimate, Measured, Objective
from msl.space.values import BlockType, BlockValue, Model, Value
from msl.workers.executor import Executor
from msl.workers.fork_server import ForkServer
from msl.workers.in_process import InProcessExecutor
from msl.workers.local import LocalExecutor
from msl.workers.task import Job, Task

CACHE_BYTES = 5_000_000
NUMBERS = itertools.count(1)
TRUSTED = ("benchmarks",)  # this module, for the block below


class Pause(TransformerMixin, BaseEstimator):
    """Takes a number of seconds, of the wall clock or of the processor."""

    def __init__(self, seconds: float = 0.0, busy: bool = False, number: int = 0) -> None:
        self.seconds = seconds
        self.busy = busy
        self.number = number

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        end = process_time() + self.seconds
        while self.busy and process_time() < end:
            sum(range(1000))
        if not self.busy:
            sleep(self.seconds)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        return X.copy()


def job(rows: int, columns: int, trusted: tuple[str, ...] = (), folds: int = 2) -> Job:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    dataset = Dataset.of_arrays(rng.normal(size=(rows, columns)) + y[:, None], y.astype(np.intp), 2)
    cv = Estimate("cv", "msl.evaluate:cv", (("folds", folds), ("repeats", 1), ("shuffle", False), ("subsample", 1.0)))
    return Job(
        dataset, (Objective("ber", Measured("ber", metric_named("ber")), cv),), trusted=trusted, cache_bytes=CACHE_BYTES
    )


def step(target: str, role: str = "transformer", **params: Value) -> BlockValue:
    return BlockValue(BlockType(target, "benchmark", role, None, target), tuple(params.items()))


def tasks(count: int, *before: BlockValue) -> list[Task]:
    """Models with a cheap learner, none the same as any before: evaluators remember."""
    return [
        Task(Model((*before, step("sklearn.naive_bayes:GaussianNB", "learner", var_smoothing=1e-9 * next(NUMBERS)))))
        for _ in range(count)
    ]


def own_tasks(count: int, columns: int) -> list[Task]:
    """Models of blocks that come with the language, each without another column."""
    scale, learn = (
        step("msl.blocks.preprocessing.scalers:Standardize"),
        step("msl.blocks.learners.zarbi:Zarbi", "learner"),
    )
    masks = [tuple(column != left_out for column in range(columns)) for left_out in range(count)]
    return [
        Task(Model((scale, step("msl.blocks.selection.selectors:Keep", "selector", features=mask), learn)))
        for mask in masks
    ]


def pauses(count: int, seconds: float, busy: bool) -> list[Task]:
    """Evaluations that take so long altogether, in two folds."""
    learner = step("sklearn.naive_bayes:GaussianNB", "learner", var_smoothing=1e-9)
    return [
        Task(Model((step("benchmarks.executors:Pause", seconds=seconds / 2, busy=busy, number=next(NUMBERS)), learner)))
        for _ in range(count)
    ]


def on_the_way(executor: Executor, run: Callable[[Executor, list[Task]], list[Outcome]], count: int) -> float:
    """Seconds of an evaluation that are not spent evaluating, with one worker; the best of five rounds."""
    found = []
    for _ in range(5):
        asked = tasks(count // 5)
        start = perf_counter()
        outcomes = run(executor, asked)
        found.append((perf_counter() - start - sum(outcome.effort.seconds for outcome in outcomes)) / len(asked))
        assert all(outcome.failure is None for outcome in outcomes)
    return min(found)


def processor_on_the_way(executor: LocalExecutor, run: Callable[[Executor, list[Task]], list[Outcome]]) -> float:
    """Processor seconds of an evaluation in a worker, both processes together, beyond those of the same evaluations in
    this process: free of what else the machine does. The median of five rounds."""
    found = []
    with InProcessExecutor(job(300, 10)) as alone:
        for _ in range(6):
            asked = tasks(40)
            before = process_time() + sum(map(processor_seconds, executor.worker_pids()))
            run(executor, asked)
            over = process_time() + sum(map(processor_seconds, executor.worker_pids())) - before
            start = process_time()
            together(alone, asked)
            found.append((over - (process_time() - start)) / len(asked))
    return median(found[1:])


def processor_seconds(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def together(executor: Executor, asked: list[Task]) -> list[Outcome]:
    return list(executor.map(asked))


def one_by_one(executor: Executor, asked: list[Task]) -> list[Outcome]:
    return [executor.submit(task).result() for task in asked]


def wall(executor: Executor, asked: list[Task]) -> float:
    start = perf_counter()
    assert all(outcome.failure is None for outcome in executor.map(asked))
    return perf_counter() - start


def two_against_one(nursery: ForkServer, busy: bool, rounds: int) -> tuple[float, float]:
    """How many times as fast two workers are as one, and two bare processes that compute; in turns, the best of several
    rounds each, so that all of them meet the machine at its best."""
    both = LocalExecutor(job(300, 10, TRUSTED), 2, nursery)
    with LocalExecutor(job(300, 10, TRUSTED), 1, nursery) as one, both:
        found: list[tuple[float, ...]] = []
        for _ in range(rounds + 1):
            workers = [wall(executor, pauses(24, 0.05, busy)) for executor in (one, both)]
            found.append((*workers, *(bare(count) for count in (1, 2) if busy)))
    alone, together, *plain = (min(times) for times in zip(*found[1:], strict=True))
    return alone / together, 2 * plain[0] / plain[1] if busy else 2.0


def bare(count: int) -> float:
    """Seconds that processes take to compute one second each, side by side."""
    program = "from time import process_time\nwhile process_time() < 1: sum(range(1000))"
    start = perf_counter()
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(count)]
    for process in processes:
        process.wait()
    return perf_counter() - start


def bytes_of(pids: list[int]) -> int:
    """Memory of processes, what they share counted once."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


@contextmanager
def peak_of(pids: list[int]) -> Iterator[list[int]]:
    """The largest memory of processes while the block runs, looked at as often as that is possible."""
    found, is_over = [0], Event()

    def look() -> None:
        while not is_over.wait(0.02):
            found[0] = max(found[0], bytes_of(pids))

    thread = Thread(target=look)
    thread.start()
    yield found
    is_over.set()
    thread.join()


def memory(nursery: ForkServer, rows: int, columns: int, folds: int) -> tuple[int, ...]:
    """Memory of this process, the nursery and four workers: at rest after work, at the peak of work with blocks of
    scikit-learn, and at that of work with blocks of the language."""
    with LocalExecutor(job(rows, columns, TRUSTED, folds), 4, nursery) as executor:
        list(executor.map(pauses(4, 0.5, busy=False)))  # so that each worker has begun
        gc.collect()
        pids = [os.getpid(), nursery.pid, *executor.worker_pids()]
        assert len(pids) == 6
        peaks = []
        for asked in (tasks(8, step("sklearn.preprocessing:StandardScaler")), own_tasks(8, columns)):
            with peak_of(pids) as peak:
                assert all(outcome.failure is None for outcome in executor.map(asked))
            peaks.append(peak[0])
            sleep(0.1)
        return bytes_of(pids), *peaks


def weigh_overhead(quick: bool) -> Iterator[Row]:
    count = 100 if quick else 400
    with InProcessExecutor(job(300, 10)) as executor:
        together(executor, tasks(5))
        yield "on the way in process", 1e3 * on_the_way(executor, together, count // 2), 1.0, "ms"
    start = perf_counter()
    with ForkServer() as nursery:
        with LocalExecutor(job(300, 10), 1, nursery) as executor:
            together(executor, tasks(1))
            yield "first outcome of the first worker, imports and all", perf_counter() - start, None, "s"
        start = perf_counter()
        with LocalExecutor(job(300, 10), 1, nursery) as executor:
            together(executor, tasks(1))
            yield "first outcome of a fresh worker", 1e3 * (perf_counter() - start), None, "ms"
            for name, run in (("all at once", together), ("one by one", one_by_one)):
                spent = processor_on_the_way(executor, run)
                yield f"over processes, {name}: processor time beside evaluating", 1e3 * spent, 4.0, "ms"
                waited = on_the_way(executor, run, count)
                yield "  time on the clock, with all that others do on the machine meanwhile", 1e3 * waited, None, "ms"


def race_workers(quick: bool) -> Iterator[Row]:
    rounds = 2 if quick else 8
    with ForkServer() as nursery:
        waiting, _ = two_against_one(nursery, False, rounds)
        yield "two workers against one, evaluations of 50 ms that wait", waiting, 1.7, "times as fast"
        computing, given = two_against_one(nursery, True, rounds)
        yield "two bare processes against one, computing: what the machine gives", given, None, "times as fast"
        yield "two workers against one, evaluations of 50 ms that compute", computing, None, "times as fast"
        # What others on the machine take is not the workers' doing: of two idle cores this is 1.7 of 2.
        yield "  of what the machine gives two bare processes", computing / given, 0.85, "times as fast"


def weigh_memory(quick: bool) -> Iterator[Row]:
    rows = 50_000 if quick else 200_000
    size = rows * 50 * 8
    caches, copies = 4 * CACHE_BYTES / size, "copies of the table"
    with ForkServer() as nursery:
        memory(nursery, 300, 50, 2)
        for folds in (2, 5):
            without, with_table = memory(nursery, 300, 50, folds), memory(nursery, rows, 50, folds)
            rest, theirs, own = ((more - less) / size for more, less in zip(with_table, without, strict=True))
            yield f"{rows:,} × 50 on 4 workers, {folds} folds, at rest after work", rest, 1.5 + caches, copies
            yield "  caches at most, which are part of the target", caches, None, copies
            # What estimators are given has to be there, though not yet what they make of it. That all four workers are
            # at their peak in the same moment is left to chance.
            least = 1 + 4 * (folds - 1) / folds
            yield "  the table and a training fold in each worker: the least at the peak of work", least, None, copies
            yield "  at the peak: scikit-learn's StandardScaler >> GaussianNB", theirs, None, copies
            yield "  at the peak: standardize >> keep >> zarbi", own, None, copies


SECTIONS: Sections = {"overhead": weigh_overhead, "workers": race_workers, "memory": weigh_memory}


def measure(quick: bool) -> list[Row]:
    """Every figure with its name, target and unit."""
    return measured(SECTIONS, SECTIONS, quick)


if __name__ == "__main__":
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    show(SECTIONS, sys.argv[1:])
