"""Losses: from a model to one number an objective, through the measures that the objectives are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

from sklearn import config_context

from msl.blocks.base.estimator_code import estimator_code
from msl.evaluate.cross_validate import CrossValidator, EvaluationRequest, EvaluationState, with_all_features
from msl.evaluate.dataset import Dataset
from msl.evaluate.fit import Fitter
from msl.evaluate.metrics import load_metric
from msl.evaluate.model_plan import ModelPlanner
from msl.evaluate.outcome import Effort, EvaluationLog, Failure, FitFigures, Outcome, WarningCapture, failure_of
from msl.evaluate.prefix_cache import CacheFigures, PrefixCache
from msl.evaluate.racing import LostRace, Race
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.space.canonical.digest import model_digest
from msl.space.metric import Metric
from msl.space.spec import Estimate, Objective, loss_value, metrics_of
from msl.space.values import Model

__all__ = ["DEFAULT_CACHE_BYTES", "Evaluator", "Losses"]


class Losses:
    """The objectives of one search on one table."""

    def __init__(
        self,
        dataset: Dataset,
        objectives: tuple[Objective, ...],
        seed: int,
        trusted: Collection[str],
        judge: CrossValidator,
    ) -> None:
        """Raises ValueError when the table cannot be split as the objectives ask."""
        self._ground, self._objectives, self._trusted, self._judge = dataset, objectives, trusted, judge
        self._trials = ResamplingPlan(dataset, (objective.estimate for objective in objectives), seed)
        self._planner = ModelPlanner(dataset.columns, dataset.task, seed, trusted)
        self._values_with_all: dict[Hashable, float] = {}
        self._wanted: dict[Estimate, list[Metric]] = {}
        for objective in objectives:
            wanted = self._wanted.setdefault(objective.estimate, [])
            wanted.extend(metric for metric in metrics_of(objective.loss) if metric not in wanted)
        for metric in {metric: None for wanted in self._wanted.values() for metric in wanted}:
            load_metric(metric)

    def of(self, case: EvaluationState) -> tuple[dict[str, float], tuple[float, ...]]:
        """The measures of a model and its losses; raises LostRace, or whatever a block raises."""
        found = {estimate: self._measures(estimate, case) for estimate in self._trials.estimates}
        losses = []
        for objective in self._objectives:
            with estimator_code:  # an expression of the user's may divide by a measure that is 0
                value = loss_value(objective.loss, found[objective.estimate])
            losses.append(value if objective.minimize else -value)
        return _named(found), tuple(losses)

    def complexity(self, case: EvaluationState) -> float:
        """That of the first estimate's models, as far as they were weighed."""
        figures = case.figures.get(self._objectives[0].estimate)
        return 0.0 if figures is None else figures.complexity

    def why_not_finite(self, measures: Mapping[str, float], losses: tuple[float, ...]) -> str:
        """What made a loss infinite or not a number, as far as the metrics show it."""
        metrics = {metric.name: metric for wanted in self._wanted.values() for metric in wanted}
        of = {name: metrics[name.partition(" by ")[0]] for name, value in measures.items() if not math.isfinite(value)}
        if any(metric.needs == "complexity" and measures[name] == math.inf for name, metric in of.items()):
            return "`complexity` is not known of a class that is not ours and has no method `complexity`"
        if not of:
            return f"the loss is {', '.join(map(str, losses))}"
        reasons = "".join(f"; {reason}" for reason in {metric.undefined: None for metric in of.values()} if reason)
        return f"{' and '.join(f'`{name}`' for name in of)} cannot be told of the rows that are judged{reasons}"

    def generalise(self, cases: Sequence[EvaluationState]) -> None:
        """Judges siblings together where an estimate allows; what goes wrong here goes wrong again one by one."""
        for estimate in self._trials.estimates:
            if estimate.shortcut != "gcv" or self._trials.is_fresh(estimate):
                continue
            judged: dict[tuple[float, int], list[EvaluationState]] = {}
            for case in cases:
                judged.setdefault((case.request.share, case.request.repeat), []).append(case)
            for siblings in judged.values():
                self._generalise(estimate, siblings)

    def _generalise(self, estimate: Estimate, cases: Sequence[EvaluationState]) -> None:
        trial = self._trials.trial(estimate, 0, cases[0].request.share, cases[0].request.repeat)
        try:
            plans = [case.plan(self._planner) for case in cases]
            judged = self._judge.generalised(plans, trial, cases[0].log)
        except Exception as reason:
            failure_of(reason, "")  # raises what is a bug
            return
        for case, one in zip(cases, judged, strict=True):
            case.generalised[estimate] = one

    def _measures(self, estimate: Estimate, case: EvaluationState) -> dict[str, float]:
        """The measures that objectives need of one estimate."""
        request, wanted = case.request, self._wanted[estimate]
        figures = case.figures[estimate] = FitFigures()
        plan = case.plan(self._planner)
        trial = self._trials.trial(estimate, case.stream, request.share, request.repeat)
        if estimate.shortcut == "gcv":
            start = perf_counter()
            one = case.generalised.get(estimate) or self._judge.generalised([plan], trial, case.log)[0]
            return self._judge.generalised_measures(one, wanted, figures, perf_counter() - start)
        relative = [metric for metric in wanted if metric.relative_to is not None]
        units = {metric.name: self._value_with_all(metric, trial, case) for metric in relative}
        race = None
        if request.cutoff is not None and len(self._objectives) == 1:
            n_features = self._ground.columns.n_columns
            race = Race(self._objectives[0], request.cutoff, trial, self._ground.n_classes, n_features, units)
        found = self._judge.measures(plan, trial, wanted, case.log, figures, race)
        for name, unit in units.items():
            found[name] /= unit
        return found

    def _value_with_all(self, metric: Metric, trial: Resampling, case: EvaluationState) -> float:
        """The metric of the same model with every feature, at least 1 / rows, so that nothing is divided by 0."""
        model = with_all_features(case.request.model, self._ground.task, self._trusted)
        # There may be as many repeats as evaluations, and each is needed once.
        key = None if trial.key is None or case.request.repeat else (metric.name, model_digest(model), trial.key)
        if key is not None and key in self._values_with_all:
            return self._values_with_all[key]
        plan = self._planner.plan(model)
        found = self._judge.measures(plan, trial, [metric], case.log, FitFigures(), race=None)
        value = max(found[metric.name], 1.0 / len(trial.pools[0].rows))
        if key is not None:
            self._values_with_all[key] = value
        return value


def _named(found: dict[Estimate, dict[str, float]]) -> dict[str, float]:
    """All measures by name; one that two estimates give is named after the estimate the second time."""
    named: dict[str, float] = {}
    for estimate, measures in found.items():
        for name, value in measures.items():
            named[f"{name} by {estimate.name}" if name in named else name] = value
    return named


# --- Evaluator: one model in, one outcome out. Whatever a model does, it never raises; a bug in msl does. -------------


DEFAULT_CACHE_BYTES = 256_000_000
#: Outcomes that are remembered; each is small.
_MOST_REMEMBERED = 100_000


class Evaluator:
    """Judges models of one search on one table. Not to be shared between threads."""

    def __init__(
        self,
        dataset: Dataset,
        objectives: tuple[Objective, ...],
        seed: int = 0,
        trusted: Collection[str] = (),
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        on_step: Callable[[str], None] | None = None,
    ) -> None:
        """Raises ValueError when this table cannot be split as the objectives ask. No `cache_bytes`, no caches; none
        either where the time of a fit is an objective, which must not depend on what was fitted before.

        `on_step` is told the name of each block that starts work, before it does.
        """
        needed = {metric.needs for objective in objectives for metric in metrics_of(objective.loss)}
        if "time" in needed:
            cache_bytes = 0
        self._n_objectives, self._on_step = len(objectives), on_step
        self._cache = PrefixCache(cache_bytes, lent=(dataset.X, dataset.y))
        judge = CrossValidator(Fitter(dataset, self._cache), keeps=cache_bytes > 0, weighs_all="complexity" in needed)
        self._losses = Losses(dataset, objectives, seed, trusted, judge)
        self._remembers = cache_bytes > 0
        self._memo: dict[Hashable, Outcome] = {}

    @property
    def cache_figures(self) -> CacheFigures:
        return self._cache.figures()

    def evaluate(self, model: Model, cutoff: float | None = None, share: float = 1.0, repeat: int = 0) -> Outcome:
        """The losses of a model; one that cannot be fitted or judged gives a failure. Only a bug in msl raises."""
        return self.evaluate_many([EvaluationRequest(model, cutoff, share, repeat)])[0]

    def evaluate_many(self, requests: Sequence[EvaluationRequest]) -> list[Outcome]:
        """The outcome of each request, the same as one by one; siblings that can be judged together are."""
        with WarningCapture() as listener, config_context(assume_finite=True, skip_parameter_validation=True):
            cases = [EvaluationState.of(request, EvaluationLog(self._on_step)) for request in requests]
            if len(cases) > 1:
                self._losses.generalise([case for case in cases if self._known(case) is None])
            return [self._outcome(case, listener) for case in cases]

    def _outcome(self, case: EvaluationState, listener: WarningCapture) -> Outcome:
        start = perf_counter()
        known = self._known(case)
        if known is not None:
            return replace(known, effort=Effort(perf_counter() - start, remembered=True))
        listener.forget()
        losses, measures, is_bound, failure = self._nothing(), dict[str, float](), False, None
        try:
            measures, losses = self._losses.of(case)
        except LostRace as lost:
            losses, is_bound = (lost.bound,), True
        except (Exception, SystemExit) as reason:  # an estimator may raise anything; a bug in msl is raised again
            failure = failure_of(reason, case.log.step)
        if failure is None and not all(map(math.isfinite, losses)):
            failure = Failure("not a number", self._losses.why_not_finite(measures, losses), case.log.step)
            losses = self._nothing()
        log = case.log
        effort = Effort(perf_counter() - start, log.fits, log.fits_saved, log.folds_skipped)
        size = self._losses.complexity(case)
        outcome = Outcome(losses, measures, size, is_bound, failure, effort, listener.told)
        if self._remembers and (failure is None or failure.cause != "memory"):
            self._remember(self._key(case), outcome)
        return outcome

    def _nothing(self) -> tuple[float, ...]:
        """The losses of a model that has none."""
        return (math.inf,) * self._n_objectives

    # --- what was judged before ---

    def _key(self, case: EvaluationState) -> Hashable:
        return case.digest, case.request.share, case.request.repeat

    def _known(self, case: EvaluationState) -> Outcome | None:
        """The remembered outcome, if it answers the request: a bound only says that a loss is not below it."""
        known = self._memo.get(self._key(case))
        if known is None or not known.bound:
            return known
        cutoff = case.request.cutoff
        return known if cutoff is not None and known.losses[0] >= cutoff else None

    def _remember(self, key: Hashable, outcome: Outcome) -> None:
        if len(self._memo) >= _MOST_REMEMBERED:
            del self._memo[next(iter(self._memo))]
        self._memo[key] = outcome
