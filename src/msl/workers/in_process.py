"""Run tasks in the current process: the executor for it, and the runner that workers use too.

Everything that an estimator raises becomes an outcome, and each block is reported when it starts.
"""

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

from msl.evaluate.cross_validate import EvaluationRequest, PathRequest
from msl.evaluate.final_fits import FinalFitter, FitRequest, OutputsRequest
from msl.evaluate.outcome import Effort, EvaluationLog, Failure, Outcome, WarningCapture, failure_of
from msl.workers.executor import Executor
from msl.workers.measure_memory import OwnUsage, peak_bytes
from msl.workers.task import AnyTask, Job, Limits, Task, failed, is_limited


class LimitExceeded(BaseException):
    """Raised between blocks to end an evaluation. Not an `Exception`: the evaluator would blame a block for it."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause, self.message = cause, message


class TaskRunner:
    """Runs the tasks of a job one after the other, or several of them together."""

    def __init__(self, job: Job, on_step: Callable[[str], None]) -> None:
        self.job = job
        self._evaluator = job.evaluator(self._on_block)
        self._final_fitter: FinalFitter | None = None
        self._on_step = on_step
        self._step = ""

    def run(self, task: AnyTask) -> Outcome:
        """The outcome of a task, whatever the model does, short of ending the process."""
        return self._checked(self._outcome(task), is_limited(task))

    def run_together(self, tasks: Sequence[EvaluationRequest]) -> list[Outcome] | None:
        """The outcomes of several tasks, the same as one by one but sooner.

        None when one of them disturbs the others: which one it is shows when they run one by one.
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
            if isinstance(task, PathRequest):
                return self._path(task)
            return self._final(task)
        except LimitExceeded as over:
            failure = Failure(over.cause, over.message, self._step)
        except (Exception, KeyboardInterrupt):
            raise  # a bug in msl, or the user's wish
        except BaseException as reason:  # of an estimator; what is no `Exception` leaves the evaluator
            failure = Failure("exception", type(reason).__name__, self._step)
        return failed(len(self.job.objectives), failure)

    def _path(self, task: PathRequest) -> Outcome:
        """The outcomes of a path as the product of one, which fails if memory runs out: alone, each needs less."""
        outcomes = [self._checked(outcome, is_limited=False) for outcome in self._evaluator.evaluate_path(task)]
        effort = Effort(sum(outcome.effort.seconds for outcome in outcomes))
        for outcome in outcomes:
            if outcome.failure is not None and outcome.failure.cause == "memory":
                return failed(0, outcome.failure, effort)
        return Outcome((), effort=effort, product=tuple(outcomes))

    def _final(self, task: OutputsRequest | FitRequest) -> Outcome:
        """Final outputs and fits of a run, as the product of an outcome without losses."""
        if self._final_fitter is None:
            self._final_fitter = self.job.final_fitter()
        start, log = perf_counter(), EvaluationLog(self._on_block)
        with WarningCapture() as capture:
            try:
                if isinstance(task, FitRequest):
                    self._on_block("")
                    product: Any = self._final_fitter.fitted(task)
                else:
                    product = self._final_fitter.outputs(task, log)
            except (Exception, SystemExit) as reason:
                return failed(0, failure_of(reason, log.step), Effort(perf_counter() - start))
        return Outcome((), effort=Effort(perf_counter() - start), warnings=capture.messages, product=product)

    def _checked(self, outcome: Outcome, is_limited: bool = True) -> Outcome:
        outcome = self.job.limits.checked(outcome) if is_limited else outcome
        if outcome.failure is None:
            return outcome
        return replace(outcome, failure=replace(outcome.failure, peak_memory=peak_bytes()))

    def _on_block(self, step: str) -> None:
        self._on_step(step)  # may end the evaluation, for which the previous block is then blamed
        self._step = step
        if self.job.trusted:
            # Third-party blocks may use the global generators, whose state must not depend on what ran before.
            random.seed(self.job.seed)
            np.random.seed(self.job.seed % 2**32)  # noqa: NPY002


# --- The executor. ----------------------------------------------------------------------------------------------------
#
# Nothing can be killed here, so limits are soft: they are checked when a block starts, time also at the end. A block
# that never returns is not stopped, and one that crashes its process crashes this one; use worker processes where that
# matters. Where no limit is exceeded, outcomes are those of every other executor.


class InProcessExecutor(Executor):
    """Runs a task when it is submitted; futures come back done. Threads of BLAS are bounded until it is shut down."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._runner = TaskRunner(job, self._check_limits)
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
            future.set_result(self._runner.run(task))
        return future

    def map(self, tasks: Iterable[AnyTask]) -> Iterator[Outcome]:
        """As in `Executor.map`; tasks that can be evaluated together are, and are then returned together."""
        wanted = list(tasks)
        evaluations = [task for task in wanted if isinstance(task, Task)]
        if self.job.evaluates_together and len(evaluations) == len(wanted):
            with self._evaluating():
                outcomes = self._runner.run_together(evaluations)
            if outcomes is not None:
                return iter(outcomes)
        return (self.submit(task).result() for task in wanted)  # lazily: a caller that stops early saves time

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
            self._held = self._held_bytes()
            with _undisturbed_randomness(bool(self.job.trusted)):
                yield

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            if not self._is_shut:
                self._is_shut = True
                self._threads.restore_original_limits()
                self._usage.close()

    def _held_bytes(self) -> int:
        usage = self._usage.now()
        return 0 if usage is None else usage.held

    def _check_limits(self, step: str) -> None:
        """Ends an evaluation that has exceeded a limit, when its next block starts."""
        limits, now = self.job.limits if self._has_limits else Limits(), monotonic()
        if limits.each is not None and now - self._started > limits.each:
            raise LimitExceeded("timeout", limits.each_message())
        if limits.fit is not None and now - self._step_started > limits.fit:
            raise LimitExceeded("timeout", limits.fit_message())
        if limits.memory is not None and self._held_bytes() - self._held > limits.memory:
            raise LimitExceeded("memory", limits.memory_message())
        self._step_started = now


@contextmanager
def _undisturbed_randomness(is_at_risk: bool) -> Iterator[None]:
    """Leaves the global random generators, which belong to the caller, as they were."""
    if not is_at_risk:
        yield
        return
    plain, of_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(plain)
        np.random.set_state(of_numpy)  # noqa: NPY002
