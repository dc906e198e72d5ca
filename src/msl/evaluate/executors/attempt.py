"""Attempt: evaluations with everything caught that Python can catch, and a word on each block that starts work."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from msl.evaluate.executors.task import Job, Task, failed
from msl.evaluate.executors.usage import peak_bytes
from msl.evaluate.outcome import Failure, Outcome


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
        self._on_step = on_step
        self._step = ""

    def attempt(self, task: Task) -> Outcome:
        """The outcome of a task, whatever the model does, short of ending the process."""
        return self._checked(self._outcome(task))

    def attempt_together(self, tasks: Sequence[Task]) -> list[Outcome] | None:
        """The outcomes of tasks, the same as one by one but sooner, where siblings can be judged together.

        None when one of them disturbs the others: which one it is shows when they are attempted one by one.
        """
        try:
            return [self._checked(outcome) for outcome in self._evaluator.evaluate_many(tasks)]
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None

    def _outcome(self, task: Task) -> Outcome:
        self._step = ""
        try:
            return self._evaluator.evaluate(task.model, task.beat, task.share, task.turn)
        except OverLimit as over:
            failure = Failure(over.cause, over.message, self._step)
        except KeyboardInterrupt:
            raise
        except BaseException as reason:  # what is no `Exception` leaves the evaluator
            failure = Failure("exception", type(reason).__name__, self._step)
        return failed(len(self.job.objectives), failure)

    def _checked(self, outcome: Outcome) -> Outcome:
        outcome = self.job.limits.checked(outcome)
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
