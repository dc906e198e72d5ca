"""Attempt: evaluations with everything caught that an estimator raises, and a word on each block that starts work."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from msl.evaluate.cross_validate import EvaluationRequest
from msl.evaluate.final_fits import FinalFitter, FitRequest, OutputsRequest
from msl.evaluate.outcome import Effort, EvaluationLog, Failure, Outcome, WarningCapture, failure_of
from msl.workers.executor import Executor
from msl.workers.memory_usage import OwnUsage, peak_bytes
from msl.workers.task import AnyTask, Job, Limits, Task, failed, is_limited


class OverLimit(BaseException):
    """Raised between blocks to end an evaluation; not an `Exception`, which the evaluator would take for a block's."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause, self.message = cause, message


class Attempts:
    """Evaluates the tasks of a job, one after the other, or siblings together."""

    def __init__(self, job: Job, on_step: Callable[[str], None]) -> None:
        self.job = job
        self._evaluator = job.evaluator(self._hear)
        self._final_fitter: FinalFitter | None = None
        self._on_step = on_step
        self._step = ""

    def attempt(self, task: AnyTask) -> Outcome:
        """The outcome of a task, whatever the model does, short of ending the process."""
        return self._checked(self._outcome(task), is_limited(task))

    def attempt_together(self, tasks: Sequence[EvaluationRequest]) -> list[Outcome] | None:
        """The outcomes of tasks, the same as one by one but sooner, where siblings can be judged together.

        None when one of them disturbs the others: which one it is shows when they are attempted one by one.
        """
        try:
            return [self._checked(outcome) for outcome in self._evaluator.evaluate_many(tasks)]
        except (Exception, KeyboardInterrupt):
            raise  # a bug in msl, or the user's wish
        except BaseException:
            return None

    def _outcome(self, task: AnyTask) -> Outcome:
        self._step = ""
        try:
            if isinstance(task, EvaluationRequest):
                return self._evaluator.evaluate(task.model, task.cutoff, task.share, task.repeat)
            return self._final(task)
        except OverLimit as over:
            failure = Failure(over.cause, over.message, self._step)
        except (Exception, KeyboardInterrupt):
            raise  # a bug in msl, or the user's wish
        except BaseException as reason:  # of an estimator; what is no `Exception` leaves the evaluator
            failure = Failure("exception", type(reason).__name__, self._step)
        return failed(len(self.job.objectives), failure)

    def _final(self, task: OutputsRequest | FitRequest) -> Outcome:
        """What a run asks of its last models, as the product of an outcome without losses."""
        if self._final_fitter is None:
            self._final_fitter = self.job.final_fitter()
        start, log = perf_counter(), EvaluationLog(self._hear)
        with WarningCapture() as listener:
            try:
                if isinstance(task, FitRequest):
                    self._hear("")
                    product: Any = self._final_fitter.fitted(task)
                else:
                    product = self._final_fitter.outputs(task, log)
            except (Exception, SystemExit) as reason:
                return failed(0, failure_of(reason, log.step), Effort(perf_counter() - start))
        return Outcome((), effort=Effort(perf_counter() - start), warnings=listener.told, product=product)

    def _checked(self, outcome: Outcome, is_limited: bool = True) -> Outcome:
        outcome = self.job.limits.checked(outcome) if is_limited else outcome
        if outcome.failure is None:
            return outcome
        return replace(outcome, failure=replace(outcome.failure, peak_memory=peak_bytes()))

    def _hear(self, step: str) -> None:
        self._on_step(step)  # which may end the evaluation, and then it was the block before
        self._step = step
        if self.job.trusted:
            # Blocks from elsewhere may draw from the global generators, whose state must not depend on what ran before.
            random.seed(self.job.seed)
            np.random.seed(self.job.seed % 2**32)  # noqa: NPY002


# --- In process: evaluations in the process that asks for them, one after the other. ----------------------------------
#
# Nothing can be killed here, so limits are soft: they are looked at when a block starts, time also at the end. A block
# that never returns is not stopped, and one that brings down its process brings down this one; use worker processes
# where that matters. Where limits are kept, outcomes are those of every other executor.


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
