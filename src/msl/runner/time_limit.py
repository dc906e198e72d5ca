"""The time limit of a run, and how much of it a search leaves for what follows.

What follows are the fits of the winner and of the members of an ensemble, predicted from the durations of evaluations,
and what is computed from held-out rows: the choice of the members, intervals and the corrected estimate, each by the
rows and the models that there are. The seconds of a row of a draw and such are those of one core of 2024. What is
reserved is what is going to be done: models that were not evaluated are not chosen among, and baselines that would not
end in time are not begun.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING

from msl.evaluate.drawn_metrics import are_quick_to_draw, is_area
from msl.evaluate.drawn_units import number_of_draws
from msl.evaluate.ensemble_selection import rows_to_choose_by, seconds_of_draws
from msl.evaluate.final_fits import FitRequest, OutputsRequest
from msl.evaluate.outcome import Outcome
from msl.evaluate.resampling import ResamplingPlan, can_halve
from msl.runner.confidence_intervals import interval_work, reuses_outputs, uses_held_out_rows
from msl.runner.insight.baselines import baseline_reserve
from msl.runner.plan import Plan
from msl.space.spec import OUTPUTS, metrics_of
from msl.space.values import Model
from msl.store.evaluation import Evaluation
from msl.workers.executor import Executor
from msl.workers.task import AnyTask

if TYPE_CHECKING:
    from msl.runner.choose_winner import Candidate
    from msl.runner.loop import SearchResult


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


# --- The time of the final fits, from the durations of evaluations ----------------------------------------------------

#: The time of a fit on all rows, as a multiple of the time of the evaluation, at least and at most; and after very many
#: folds, which share work.
_LEAST_OF_A_FIT, _MOST_OF_A_FIT, _OF_SHARED_FOLDS, _MANY_FOLDS = 0.25, 1.5, 0.5, 20
#: Predicted times are multiplied by this: evaluations share fits through the cache, which the final fits do not.
_SAFETY_FACTOR = 1.3
#: How much of the budget is reserved for an ensemble at most: for one whose members are chosen by stored outputs, of
#: which few help and the quick ones do where time is short, so many; and for a vote, whose members are judged again.
_CHOSEN_SHARE, _USUAL_MEMBERS, _VOTE_SHARE = 0.1, 5, 0.25
#: The number of models that may become members if the spec does not say how many.
_POOL = 25


class FinalCosts:
    """Predicts the seconds of the final fits of models from those of their evaluations; `closing` are the seconds of
    what is computed beside them."""

    def __init__(self, seconds: Mapping[Model, float], fit_factor: float, closing: float = 0.0) -> None:
        self._seconds, self._fit_factor, self.closing = seconds, fit_factor, closing

    def of(self, task: AnyTask) -> float:
        evaluation = _SAFETY_FACTOR * self._seconds.get(task.model, 0.0)
        match task:
            case FitRequest():
                return evaluation * self._fit_factor
            case OutputsRequest(repeats=repeats):
                return evaluation * repeats
        return evaluation

    def of_fit(self, model: Model) -> float:
        """The seconds to fit a model on all rows."""
        return _SAFETY_FACTOR * self._seconds.get(model, 0.0) * self._fit_factor

    def of_member(self, model: Model) -> float:
        """The seconds to compute the held-out outputs of a model and to fit it on all rows."""
        return _SAFETY_FACTOR * self._seconds.get(model, 0.0) * (1.0 + self._fit_factor)


class TimeReserve:
    """The time that a search reserves for the final fits: those of the best model so far, and of an ensemble."""

    def __init__(self, plan: Plan, workers: int) -> None:
        self._budget, self._workers = plan.spec.budget.time, workers
        self._for_baselines = baseline_reserve(plan, workers) if plan.baselines else 0.0
        self._members = _most_members(plan)
        call = plan.spec.ensemble
        #: Whether members are chosen by outputs that the store keeps, so that they are fitted once.
        self._chooses_stored = call is not None and call.capabilities.members == OUTPUTS
        self._closing = None if self._budget is None else ClosingTime(plan, self._budget)
        self._factor = fit_factor(plan) if self._budget is not None else 1.0
        #: The fits on halves of the rows, for the corrected estimate.
        self._halves = 1.0 if has_halves(plan) else 0.0
        #: Whether the outputs of the winner are those that the store keeps, so that they are not computed again.
        self._knows_outputs = reuses_outputs(plan)
        #: The losses of the best models so far (of the first objective), sorted, with the seconds of their evaluations.
        self._best: list[tuple[float, float]] = []
        self._known: set[str] = set()
        self.seconds = 0.0

    def add(self, evaluation: Evaluation, seconds: float | None = None) -> None:
        """Updates the reserve after an evaluation; `seconds` is its time if that of its own was less, for it shared
        the fits of others."""
        if self._budget is None or evaluation.failure is not None or evaluation.inputs.share != 1.0:
            return
        if evaluation.bound or evaluation.key in self._known:
            return
        self._known.add(evaluation.key)
        if len(self._best) < self._members or not self._best or evaluation.losses[0] < self._best[-1][0]:
            insort(self._best, (evaluation.losses[0], evaluation.seconds if seconds is None else seconds))
            del self._best[max(1, self._members) :]
        self.seconds = self._needed(self._budget)

    def _needed(self, budget: float) -> float:
        assert self._closing is not None
        fits = self._of_stored(budget) if self._chooses_stored else self._of_votes(budget)
        return fits + self._for_baselines + self._closing.seconds(len(self._known))

    def _of_stored(self, budget: float) -> float:
        """The fits of the winner and of members that are chosen before: at the same time."""
        best, *others = [seconds * self._factor for _, seconds in self._best]
        usual = sum(sorted(others)[: _USUAL_MEMBERS - 1])
        of_others = min(_SAFETY_FACTOR * usual / self._workers, _CHOSEN_SHARE * budget)
        alone = best + self._of_outputs(best / self._factor)
        return max(_SAFETY_FACTOR * alone, _SAFETY_FACTOR * alone / self._workers + of_others)

    def _of_votes(self, budget: float) -> float:
        """The fit of the winner, and the outputs and the fits of those that vote with it."""
        best, *others = [seconds for _, seconds in self._best]
        both = 1.0 + self._factor  # held-out outputs, which take as long as the evaluation, and the fit on all rows
        of_others = min(sum(others) * both / self._workers * _SAFETY_FACTOR, _VOTE_SHARE * budget)
        return _SAFETY_FACTOR * (best * self._factor + self._of_outputs(best)) + of_others

    def _of_outputs(self, best: float) -> float:
        """What it takes to know the outputs of the best model for held-out rows beside its fit, and of its halves."""
        again = 0.0 if self._knows_outputs else best
        if self._workers > 1:
            again = max(0.0, again - self._factor * best)
        return again + self._halves * best


def fit_factor(plan: Plan) -> float:
    """The time of a fit on all rows, as a multiple of the time of an evaluation: by the rows of both."""
    resamplings = ResamplingPlan(plan.job.dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    splits = resamplings.resampling(plan.objectives[0].estimate, 0, 1.0, 0).splits
    if len(splits) > _MANY_FOLDS:
        return _OF_SHARED_FOLDS
    factor = len(plan.job.dataset.y) / max(1, sum(len(one.train) for one in splits))
    return min(max(factor, _LEAST_OF_A_FIT), _MOST_OF_A_FIT)


def has_halves(plan: Plan) -> bool:
    """Whether the winner is fitted on halves of the rows too, so that its estimate can be corrected."""
    estimate = plan.objectives[0].estimate
    return plan.job.keeps != "nothing" and can_halve(estimate, plan.job.dataset.population)


def _most_members(plan: Plan) -> int:
    call = plan.spec.ensemble
    if call is None:
        return 0
    options = dict(call.options)
    most = options.get("top", options.get("max") if call.capabilities.members == OUTPUTS else None)
    return most if isinstance(most, int) else _POOL


# --- The time of what is computed from held-out rows ------------------------------------------------------------------

#: Saving and the summary: at least so many seconds, and a share of the budget.
_SAVING_SECONDS, _SAVING_SHARE = 1.0, 0.01
#: The seconds for each row of each draw of an interval, of which an ensemble has a second one.
_SECONDS_A_DRAWN_ROW = 7e-8
#: The seconds of the corrected estimate, for each row of each draw: to draw it, and for each model whose metric is a
#: mean or follows from counts, is an area, or is called.
_TO_DRAW, _OF_MEAN, _OF_AREA, _OF_CALL = 8e-8, 5e-10, 7e-9, 1e-7
#: Slow metrics: draws in which all models take part, and about which share does after these.
_FIRST_DRAWS, _NEAR_THE_BEST = 50, 0.5


class ClosingTime:
    """Foretells how long a run takes after its last fit, and to choose an ensemble."""

    def __init__(self, plan: Plan, budget: float) -> None:
        self._plan, self._budget = plan, budget

    def seconds(self, models: int) -> float:
        """Where so many models were evaluated."""
        saving = max(_SAVING_SECONDS, _SAVING_SHARE * self._budget)
        return saving + self._of_intervals + self._of_choice(models) + self._of_correction(models)

    @cached_property
    def _of_intervals(self) -> float:
        return _SECONDS_A_DRAWN_ROW * interval_work(self._plan) * (1 if self._plan.spec.ensemble is None else 2)

    @cached_property
    def _rows(self) -> int:
        """The held-out rows of the first objective."""
        estimates = (objective.estimate for objective in self._plan.objectives)
        resamplings = ResamplingPlan(self._plan.job.dataset, estimates, self._plan.seed)
        pools = resamplings.resampling(self._plan.objectives[0].estimate, 0, 1.0, 0).pools
        return sum(len(pool.rows) for pool in pools)

    def _of_choice(self, models: int) -> float:
        """To choose members by stored outputs, on all rows and in draws."""
        call = self._plan.spec.ensemble
        if call is None or call.capabilities.members != OUTPUTS or models < 2:
            return 0.0
        steps, dataset = dict(call.options)["steps"], self._plan.job.dataset
        assert isinstance(steps, int)
        chosen_by = rows_to_choose_by(self._rows, dataset)
        areas = any(map(is_area, metrics_of(self._plan.objectives[0].loss)))
        return seconds_of_draws(self._rows, chosen_by, models, steps, self._budget, dataset.n_classes, areas)

    def _of_correction(self, models: int) -> float:
        """To repeat the choice of the best model, and that of an ensemble, which is judged anew."""
        if self._plan.job.keeps == "nothing":
            return 0.0
        total = 0.0
        for objective in self._plan.objectives:
            metrics = [metric for metric in metrics_of(objective.loss) if not metric.of_model]
            if not uses_held_out_rows(objective) or not metrics:
                continue
            is_quick = all(map(are_quick_to_draw, metrics))
            draws = number_of_draws(self._rows, models, is_quick, self._budget)
            if is_quick:
                products, each = float(draws * models), _OF_MEAN
            else:
                products = (_FIRST_DRAWS + draws * _NEAR_THE_BEST) * models
                each = _OF_AREA if all(map(is_area, metrics)) else _OF_CALL
            curves = max(1.0, self._plan.job.dataset.n_classes / 2)
            total += self._rows * (draws * _TO_DRAW + products * each * curves)
        return total


# --- The final fits of a run, on its executor and within its time limit. ----------------------------------------------
#
# A task starts only if it should end in time, by prediction. Tasks that run when the time is up are abandoned, except
# for those that the run cannot do without.


class FinalTasks:
    """Runs the final fits. `on_done` is called with the number of tasks that are done, and of all that are known."""

    def __init__(
        self,
        executor: Executor,
        limit: TimeLimit,
        costs: FinalCosts,
        on_done: Callable[[int, int], None] = lambda done, wanted: None,
    ) -> None:
        self._executor, self.limit, self.costs, self._on_done = executor, limit, costs, on_done
        self._done = self._wanted = 0

    def run(self, tasks: Sequence[AnyTask], needed: int = 0) -> list[Outcome | None]:
        """The outcomes in the order of the tasks; None for tasks that were not started or not done in time.

        The first `needed` tasks have no time limit.
        """
        found: list[Outcome | None] = [None] * len(tasks)
        running: dict[Future[Outcome], int] = {}
        indices = iter(range(len(tasks)))
        self._wanted += len(tasks)
        self._on_done(self._done, self._wanted)
        is_over = False
        while True:
            while not is_over and len(running) < self._executor.width:
                index = next(indices, None)
                if index is None:
                    break
                if index < needed or self.costs.of(tasks[index]) <= self.limit.left:
                    running[self._executor.submit(tasks[index])] = index
                else:
                    self._count()
            if not running:
                return found
            is_needed = any(index < needed for index in running.values())
            timeout = None if is_needed or self.limit.seconds is None else self.limit.left
            done, _ = wait(running, timeout, FIRST_COMPLETED)
            for future in done:
                found[running.pop(future)] = _outcome(future)
                self._count()
            if not done:  # the time is up
                is_over = True
                self._executor.abandon(list(running))
                for future in list(running):
                    found[running.pop(future)] = _outcome(future)

    @property
    def width(self) -> int:
        """The number of tasks that run at once."""
        return self._executor.width

    def affordable(self, candidates: Sequence[Candidate], share: float = 1.0) -> list[Candidate]:
        """The candidates that can be members within a share of the time that is left, by prediction.

        Earlier ones come first, but one that would take too long is skipped in favour of those after it.
        """
        left = self.limit.left * share * self._executor.width
        found = []
        for candidate in candidates:
            cost = self.costs.of_member(candidate.model)
            if cost <= left:
                left -= cost
                found.append(candidate)
        return found

    def _count(self) -> None:
        self._done += 1
        self._on_done(self._done, self._wanted)


def _outcome(future: Future[Outcome]) -> Outcome | None:
    try:
        return future.result(timeout=0)
    except (CancelledError, TimeoutError):
        return None


def final_costs(plan: Plan, found: SearchResult) -> FinalCosts:
    """The predicted times of the final fits of a search."""
    seconds: dict[Model, float] = {}
    for model, evaluation in found.evaluator.evaluated.values():
        if evaluation.inputs.share == 1.0:
            seconds[model] = max(seconds.get(model, 0.0), found.evaluator.seconds_alone(evaluation))
    budget = plan.spec.budget.time
    closing = 0.0 if budget is None else ClosingTime(plan, budget).seconds(len(found.evaluator.compared))
    return FinalCosts(seconds, fit_factor(plan), closing)
