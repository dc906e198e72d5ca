"""Attempt: evaluations with everything caught that Python can catch, and a word on each block that starts work."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from msl.evaluate.diary import Diary
from msl.evaluate.evaluator import Request
from msl.evaluate.executors.task import AnyTask, Job, failed, is_limited
from msl.evaluate.executors.usage import peak_bytes
from msl.evaluate.final_fits import FinalFitter, FitRequest, OutputsRequest
from msl.evaluate.listening import Listener
from msl.evaluate.outcome import Effort, Failure, Outcome
from msl.evaluate.trouble import failure_of


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

    def attempt_together(self, tasks: Sequence[Request]) -> list[Outcome] | None:
        """The outcomes of tasks, the same as one by one but sooner, where siblings can be judged together.

        None when one of them disturbs the others: which one it is shows when they are attempted one by one.
        """
        try:
            return [self._checked(outcome) for outcome in self._evaluator.evaluate_many(tasks)]
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None

    def _outcome(self, task: AnyTask) -> Outcome:
        self._step = ""
        try:
            if isinstance(task, Request):
                return self._evaluator.evaluate(task.model, task.beat, task.share, task.turn)
            return self._final(task)
        except OverLimit as over:
            failure = Failure(over.cause, over.message, self._step)
        except KeyboardInterrupt:
            raise
        except BaseException as reason:  # what is no `Exception` leaves the evaluator
            failure = Failure("exception", type(reason).__name__, self._step)
        return failed(len(self.job.objectives), failure)

    def _final(self, task: OutputsRequest | FitRequest) -> Outcome:
        """What a run asks of its last models, as the product of an outcome without losses."""
        if self._final_fitter is None:
            self._final_fitter = self.job.final_fitter()
        start, diary = perf_counter(), Diary(self._hear)
        with Listener() as listener:
            try:
                if isinstance(task, FitRequest):
                    self._hear("")
                    product: Any = self._final_fitter.fitted(task)
                else:
                    product = self._final_fitter.outputs(task, diary)
            except (Exception, SystemExit) as reason:
                return failed(0, failure_of(reason, diary.step), Effort(perf_counter() - start))
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
