"""In process: evaluations in the process that asks for them, one after the other.

Nothing can be killed here, so limits are soft: they are looked at when a block starts, time also at the end. A block
that never returns is not stopped, and one that brings down its process brings down this one; use worker processes where
that matters. Where limits are kept, outcomes are those of every other executor.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock
from time import monotonic

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from msl.evaluate.executors.attempt import Attempts, OverLimit
from msl.evaluate.executors.executor import Executor
from msl.evaluate.executors.task import AnyTask, Job, Limits, Task, is_limited
from msl.evaluate.executors.usage import OwnUsage
from msl.evaluate.outcome import Outcome


class InProcessExecutor(Executor):
    """Runs a task when it is submitted; futures come back done. Threads of BLAS are bounded until it is shut down."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._attempts = Attempts(job, self._look)
        self._lock = Lock()
        self._is_shut = False
        self._started = self._step_started = 0.0
        self._has_limits = True
        self._usage = OwnUsage()
        self._held = 0
        self._threads = threadpool_limits(job.threads)

    def submit(self, task: AnyTask) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        with self._evaluating(has_limits=is_limited(task)):
            future.set_result(self._attempts.attempt(task))
        return future

    def map(self, tasks: Iterable[AnyTask]) -> Iterator[Outcome]:
        """Siblings that can be judged together are, and then come back together."""
        wanted = list(tasks)
        evaluations = [task for task in wanted if isinstance(task, Task)]
        if self.job.judges_together and len(evaluations) == len(wanted):
            with self._evaluating():
                outcomes = self._attempts.attempt_together(evaluations)
            if outcomes is not None:
                return iter(outcomes)
        return (self.submit(task).result() for task in wanted)  # as they are asked for: whoever stops asking saves time

    def arrivals(self, tasks: Iterable[AnyTask]) -> Generator[list[tuple[int, Outcome]], None, None]:
        return ([arrived] for arrived in enumerate(self.map(tasks)))

    @contextmanager
    def _evaluating(self, has_limits: bool = True) -> Iterator[None]:
        with self._lock:
            if self._is_shut:
                raise RuntimeError("the executor is shut down and takes no more tasks")
            self._has_limits = has_limits
            self._started = self._step_started = monotonic()
            self._usage.forget_peak()
            self._held = self._held_now()
            with _undisturbed_randomness(bool(self.job.trusted)):
                yield

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            if not self._is_shut:
                self._is_shut = True
                self._threads.restore_original_limits()
                self._usage.close()

    def _held_now(self) -> int:
        usage = self._usage.now()
        return 0 if usage is None else usage.held

    def _look(self, step: str) -> None:
        """Ends an evaluation that is over a limit when its next block starts."""
        limits, now = self.job.limits if self._has_limits else Limits(), monotonic()
        if limits.each is not None and now - self._started > limits.each:
            raise OverLimit("timeout", limits.each_message())
        if limits.fit is not None and now - self._step_started > limits.fit:
            raise OverLimit("timeout", limits.fit_message())
        if limits.memory is not None and self._held_now() - self._held > limits.memory:
            raise OverLimit("memory", limits.memory_message())
        self._step_started = now


@contextmanager
def _undisturbed_randomness(is_at_risk: bool) -> Iterator[None]:
    """Leaves the global generators, which are the caller's here, as they were."""
    if not is_at_risk:
        yield
        return
    plain, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(plain)
        np.random.set_state(of_numpy)  # noqa: NPY002
