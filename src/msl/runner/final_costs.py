"""How long the last fits of a run may take, going by how long the evaluations of its models took."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

from msl.evaluate.final_fits import FitRequest, OutputsRequest
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.plan import Plan
from msl.space.values import Model
from msl.store.evaluation import Evaluation
from msl.workers.task import AnyTask

#: A fit on all rows over the evaluation of the model: where every row is in a fold, and where one split was made.
_FIT_OF_FOLDS, _FIT_OF_SPLIT = 0.5, 1.5
#: What predictions of time are multiplied by: evaluations have shared fits that are made anew at the end.
_CAUTION = 1.3
#: How much of the budget is set aside for an ensemble at most, and for saving, judging and telling.
_ENSEMBLE_SHARE, _TELLING_SHARE, _TELLING_SECONDS = 0.25, 0.02, 1.0
#: Models that may become members where the spec does not say how many.
_POOL = 25


class FinalCosts:
    """Seconds of the last fits of models, from those of their evaluations."""

    def __init__(self, seconds: Mapping[Model, float], fit_factor: float) -> None:
        self._seconds, self._fit_factor = seconds, fit_factor

    def of(self, task: AnyTask) -> float:
        judged = _CAUTION * self._seconds.get(task.model, 0.0)
        match task:
            case FitRequest():
                return judged * self._fit_factor
            case OutputsRequest(repeats=repeats):
                return judged * repeats
        return judged

    def of_member(self, model: Model) -> float:
        """A model judged again, and fitted on all rows."""
        return _CAUTION * self._seconds.get(model, 0.0) * (1.0 + self._fit_factor)


class TimeReserve:
    """The time that a search leaves to the end of its run: for the best model so far, and for an ensemble."""

    def __init__(self, plan: Plan, workers: int) -> None:
        self._budget, self._workers = plan.spec.budget.time, workers
        self._members = _most_members(plan)
        self._factor = fit_factor(plan) if self._budget is not None else 1.0
        #: The first losses of the best models so far in order, with the seconds that they took.
        self._best: list[tuple[float, float]] = []
        self._known: set[str] = set()
        self.seconds = 0.0

    def take(self, evaluation: Evaluation) -> None:
        """Hears of an evaluation."""
        if self._budget is None or evaluation.trouble is not None or evaluation.question.share != 1.0:
            return
        if evaluation.bound or evaluation.key in self._known:
            return
        self._known.add(evaluation.key)
        if len(self._best) < self._members or not self._best or evaluation.losses[0] < self._best[-1][0]:
            insort(self._best, (evaluation.losses[0], evaluation.seconds))
            del self._best[max(1, self._members) :]
            self.seconds = self._needed(self._budget)

    def _needed(self, budget: float) -> float:
        best, *others = [seconds for _, seconds in self._best]
        each = 1.0 + self._factor
        of_best = best * (max(1.0, self._factor) if self._workers > 1 else each)
        of_others = min(sum(others) * each / self._workers * _CAUTION, _ENSEMBLE_SHARE * budget)
        return _CAUTION * of_best + of_others + max(_TELLING_SHARE * budget, _TELLING_SECONDS)


def fit_factor(plan: Plan) -> float:
    """How long a fit on all rows takes, over an evaluation."""
    trials = ResamplingPlan(plan.job.dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    splits = trials.resampling(plan.objectives[0].estimate, 0, 1.0, 0).splits
    return _FIT_OF_SPLIT if len(splits) == 1 else _FIT_OF_FOLDS


def _most_members(plan: Plan) -> int:
    call = plan.spec.ensemble
    if call is None:
        return 0
    top = dict(call.options).get("top")
    return top if isinstance(top, int) else _POOL


# --- The time that a run may take, from its first moment to its last line. --------------------------------------------


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """`seconds` is the budget, None for no limit; `started` is when it began, on the clock of `monotonic`."""

    seconds: float | None = None
    started: float = field(default_factory=monotonic)

    @property
    def elapsed(self) -> float:
        return monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds until the time is up; never less than none."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed)
