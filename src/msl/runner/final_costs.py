"""Predict how long the final fits of a run take, from the durations of its evaluations, and keep its time limit."""

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

#: The time of a fit on all rows, as a multiple of the time of the evaluation: after several folds, and after one split.
_FIT_OF_FOLDS, _FIT_OF_SPLIT = 0.5, 1.5
#: Predicted times are multiplied by this: evaluations share fits through the cache, which the final fits do not.
_SAFETY_FACTOR = 1.3
#: How much of the budget is reserved for an ensemble at most, and for scoring, saving and the summary.
_ENSEMBLE_SHARE, _CLOSING_SHARE, _CLOSING_SECONDS = 0.25, 0.02, 1.0
#: The number of models that may become members if the spec does not say how many.
_POOL = 25


class FinalCosts:
    """Predicts the seconds of the final fits of models from those of their evaluations."""

    def __init__(self, seconds: Mapping[Model, float], fit_factor: float) -> None:
        self._seconds, self._fit_factor = seconds, fit_factor

    def of(self, task: AnyTask) -> float:
        evaluation = _SAFETY_FACTOR * self._seconds.get(task.model, 0.0)
        match task:
            case FitRequest():
                return evaluation * self._fit_factor
            case OutputsRequest(repeats=repeats):
                return evaluation * repeats
        return evaluation

    def of_member(self, model: Model) -> float:
        """The seconds to compute the held-out outputs of a model and to fit it on all rows."""
        return _SAFETY_FACTOR * self._seconds.get(model, 0.0) * (1.0 + self._fit_factor)


class TimeReserve:
    """The time that a search reserves for the final fits: those of the best model so far, and of an ensemble."""

    def __init__(self, plan: Plan, workers: int) -> None:
        self._budget, self._workers = plan.spec.budget.time, workers
        self._members = _most_members(plan)
        self._factor = fit_factor(plan) if self._budget is not None else 1.0
        #: The losses of the best models so far (of the first objective), sorted, with the seconds of their evaluations.
        self._best: list[tuple[float, float]] = []
        self._known: set[str] = set()
        self.seconds = 0.0

    def add(self, evaluation: Evaluation) -> None:
        """Updates the reserve after an evaluation."""
        if self._budget is None or evaluation.failure is not None or evaluation.inputs.share != 1.0:
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
        both = 1.0 + self._factor  # held-out outputs, which take as long as the evaluation, and the fit on all rows
        of_best = best * (max(1.0, self._factor) if self._workers > 1 else both)
        of_others = min(sum(others) * both / self._workers * _SAFETY_FACTOR, _ENSEMBLE_SHARE * budget)
        return _SAFETY_FACTOR * of_best + of_others + max(_CLOSING_SHARE * budget, _CLOSING_SECONDS)


def fit_factor(plan: Plan) -> float:
    """The time of a fit on all rows, as a multiple of the time of an evaluation."""
    resamplings = ResamplingPlan(plan.job.dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    splits = resamplings.resampling(plan.objectives[0].estimate, 0, 1.0, 0).splits
    return _FIT_OF_SPLIT if len(splits) == 1 else _FIT_OF_FOLDS


def _most_members(plan: Plan) -> int:
    call = plan.spec.ensemble
    if call is None:
        return 0
    top = dict(call.options).get("top")
    return top if isinstance(top, int) else _POOL


# --- The time limit of a run, from its start to its last line of output. ----------------------------------------------


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """`seconds` is the budget, None for no limit; `started` is the start of the run on the clock of `monotonic`."""

    seconds: float | None = None
    started: float = field(default_factory=monotonic)

    @property
    def elapsed(self) -> float:
        return monotonic() - self.started

    @property
    def left(self) -> float:
        """The seconds until the time is up; 0 when it is."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed)
