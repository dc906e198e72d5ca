"""What it costs to evaluate in other processes: time on the way, speed of two workers, memory of four, time to start.

Times on the way are the wall clock less what evaluations say they took, so other work on the machine counts as ours.

python benchmarks/executors.py
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
from threading import Event, Thread
from time import perf_counter, process_time, sleep
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from msl.evaluate.executors.executor import Executor
from msl.evaluate.executors.inprocess import InProcessExecutor
from msl.evaluate.executors.local import LocalExecutor
from msl.evaluate.executors.nursery import Nursery
from msl.evaluate.executors.task import Job, Task
from msl.evaluate.ground import Ground
from msl.evaluate.outcome import Outcome
from msl.space.spec import Call, Measured, Objective
from msl.space.value import BlockType, BlockValue, Model, Value

CV = Call("cv", "", (("folds", 2), ("repeats", 1), ("shuffle", False), ("subsample", 1.0)))
CACHE_BYTES = 5_000_000
NUMBERS = itertools.count(1)
TRUSTED = ("executors",)  # this module, for the block below


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


def job(rows: int, columns: int, trusted: tuple[str, ...] = ()) -> Job:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    ground = Ground.of_arrays(rng.normal(size=(rows, columns)) + y[:, None], y.astype(np.intp), 2)
    return Job(ground, (Objective("ber", Measured("ber"), CV),), trusted=trusted, cache_bytes=CACHE_BYTES)


def step(target: str, role: str = "transformer", **params: Value) -> BlockValue:
    return BlockValue(BlockType(target, "benchmark", role, None, target), tuple(params.items()))


def tasks(count: int, *before: BlockValue) -> list[Task]:
    """Models with a cheap learner, none the same as any before: evaluators remember."""
    return [
        Task(Model((*before, step("sklearn.naive_bayes:GaussianNB", "learner", var_smoothing=1e-9 * next(NUMBERS)))))
        for _ in range(count)
    ]


def pauses(count: int, seconds: float, busy: bool) -> list[Task]:
    """Evaluations that take so long altogether, in two folds."""
    learner = step("sklearn.naive_bayes:GaussianNB", "learner", var_smoothing=1e-9)
    return [
        Task(Model((step("executors:Pause", seconds=seconds / 2, busy=busy, number=next(NUMBERS)), learner)))
        for _ in range(count)
    ]


def on_the_way(executor: Executor, run: Callable[[Executor, list[Task]], list[Outcome]], count: int) -> float:
    """Seconds of an evaluation that are not spent evaluating, with one worker; the best of three."""
    found = []
    for _ in range(3):
        asked = tasks(count)
        start = perf_counter()
        outcomes = run(executor, asked)
        found.append((perf_counter() - start - sum(outcome.effort.seconds for outcome in outcomes)) / count)
        assert all(outcome.failure is None for outcome in outcomes)
    return min(found)


def together(executor: Executor, asked: list[Task]) -> list[Outcome]:
    return list(executor.map(asked))


def one_by_one(executor: Executor, asked: list[Task]) -> list[Outcome]:
    return [executor.submit(task).result() for task in asked]


def wall(executor: Executor, asked: list[Task]) -> float:
    start = perf_counter()
    assert all(outcome.failure is None for outcome in executor.map(asked))
    return perf_counter() - start


def two_against_one(nursery: Nursery, busy: bool) -> float:
    """In turns, the best of five each."""
    both = LocalExecutor(job(300, 10, TRUSTED), 2, nursery)
    with LocalExecutor(job(300, 10, TRUSTED), 1, nursery) as one, both:
        times: dict[Executor, list[float]] = {one: [], both: []}
        for _ in range(6):
            for executor, found in times.items():
                found.append(wall(executor, pauses(24, 0.05, busy)))
        return min(times[one][1:]) / min(times[both][1:])


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


def memory(nursery: Nursery, rows: int, columns: int) -> tuple[int, int]:
    """Memory of this process, the nursery and four workers, at rest after work and at its peak during work."""
    with LocalExecutor(job(rows, columns, TRUSTED), 4, nursery) as executor:
        list(executor.map(pauses(4, 0.5, busy=False)))  # so that each worker has begun
        gc.collect()
        pids = [os.getpid(), nursery.pid, *executor.worker_pids()]
        assert len(pids) == 6
        with peak_of(pids) as peak:
            list(executor.map(tasks(8, step("sklearn.preprocessing:StandardScaler"))))
        sleep(0.1)
        return bytes_of(pids), peak[0]


def row(name: str, value: str, target: str = "") -> None:
    print(f"{name:<78} {value:>14}   {target}")


def main() -> None:
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    with InProcessExecutor(job(300, 10)) as executor:
        together(executor, tasks(5))
        row("overhead in process", f"{1e3 * on_the_way(executor, together, 200):.2f} ms")
    start = perf_counter()
    with Nursery() as nursery:
        with LocalExecutor(job(300, 10), 1, nursery) as executor:
            together(executor, tasks(1))
            row("first outcome of the first worker, imports and all", f"{perf_counter() - start:.2f} s")
        start = perf_counter()
        with LocalExecutor(job(300, 10), 1, nursery) as executor:
            together(executor, tasks(1))
            row("first outcome of a fresh worker", f"{1e3 * (perf_counter() - start):.0f} ms")
            row(
                "overhead over processes, all at once", f"{1e3 * on_the_way(executor, together, 400):.2f} ms", "<= 4 ms"
            )
            row(
                "overhead over processes, one by one",
                f"{1e3 * on_the_way(executor, one_by_one, 100):.2f} ms",
                "<= 4 ms",
            )
        alone, both = (min(bare(count) for _ in range(3)) for count in (1, 2))
        row("two bare processes against one, computing: what the machine gives", f"{2 * alone / both:.2f} times")
        for busy, name in ((False, "waiting"), (True, "computing")):
            ratio = two_against_one(nursery, busy)
            row(f"two workers against one, evaluations of 50 ms {name}", f"{ratio:.2f} times", ">= 1.7")
        memory(nursery, 300, 50)
        rest, peak = memory(nursery, 300, 50)
        size = 200_000 * 50 * 8
        rest_with, peak_with = memory(nursery, 200_000, 50)
        row(
            "memory at rest for 200,000 × 50, 4 workers",
            f"{(rest_with - rest) / size:.2f} copies",
            "< 1.5 and the caches",
        )
        row("caches at most", f"{4 * CACHE_BYTES / size:.2f} copies")
        row("memory at its peak, while all four have a fold at work", f"{(peak_with - peak) / size:.2f} copies")


if __name__ == "__main__":
    main()
