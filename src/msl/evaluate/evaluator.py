"""Evaluate models: one model in, one outcome out, with a loss per objective or a failure."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

from sklearn import config_context

from msl.blocks.base.load import estimator_code
from msl.evaluate.cross_validate import (
    CrossValidator,
    EvaluationRequest,
    EvaluationState,
    PathRequest,
    with_all_features,
)
from msl.evaluate.dataset import Dataset
from msl.evaluate.final_fits import WholeModelMeter, demand
from msl.evaluate.fit import Fitter
from msl.evaluate.kept_outputs import Keeps, pack_outputs
from msl.evaluate.metrics import load_metric, model_metric
from msl.evaluate.model_plan import ModelPlanner, PathFits
from msl.evaluate.outcome import (
    Effort,
    EvaluationLog,
    Failure,
    FitFigures,
    Outcome,
    RequirementBroken,
    WarningCapture,
    failure_of,
)
from msl.evaluate.prefix_cache import CacheFigures, PrefixCache
from msl.evaluate.racing import LostRace, Race
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.space.canonical.digest import model_digest
from msl.space.spec import OF_WHOLE_MODEL, Estimate, Metric, MetricLimit, Objective, loss_value, metrics_of
from msl.space.values import Model

__all__ = ["DEFAULT_CACHE_BYTES", "Evaluator", "Losses", "cache_bytes_for"]


class Losses:
    """The objectives of one search on one table."""

    def __init__(
        self,
        dataset: Dataset,
        objectives: tuple[Objective, ...],
        seed: int,
        trusted: Collection[str],
        cross_validator: CrossValidator,
        limits: tuple[MetricLimit, ...] = (),
    ) -> None:
        """Raises ValueError when the table cannot be split as the objectives need it, or a metric cannot be loaded."""
        self._dataset, self._objectives, self._trusted = dataset, objectives, trusted
        self._cross_validator = cross_validator
        self._resamplings = ResamplingPlan(dataset, (objective.estimate for objective in objectives), seed)
        self._planner = ModelPlanner(dataset.columns, dataset.task, seed, trusted)
        self._values_with_all: dict[Hashable, float] = {}
        self._wanted: dict[Estimate, list[Metric]] = {}
        for objective in objectives:
            wanted = self._wanted.setdefault(objective.estimate, [])
            wanted.extend(metric for metric in metrics_of(objective.loss) if metric not in wanted)
        self._limits = limits
        if limits:
            wanted = self._wanted[objectives[0].estimate]
            wanted.extend(metric for metric in dict.fromkeys(limit.metric for limit in limits) if metric not in wanted)
        every = [metric for wanted in self._wanted.values() for metric in wanted]
        self._meter = WholeModelMeter(dataset, every, seed, trusted)
        for metric in dict.fromkeys(every):
            load_metric(metric, trusted)

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        return self._resamplings.estimates

    def of(self, state: EvaluationState) -> tuple[dict[str, float], tuple[float, ...]]:
        """The metrics of a model and its losses. Raises LostRace, RequirementBroken, or whatever a block raises."""
        if self._meter.is_needed:
            self._measure(state)
        # What another estimate's fit gives comes after it; metrics are named in the order of the objectives.
        estimates = self._resamplings.estimates
        ordered = sorted(estimates, key=lambda estimate: self._resamplings.fitted_by(estimate) is not None)
        by_estimate = {estimate: self._metrics(estimate, state) for estimate in ordered}
        found = {estimate: by_estimate[estimate] for estimate in estimates}
        demand(self._limits, found[self._objectives[0].estimate])
        losses = []
        for objective in self._objectives:
            with estimator_code:  # an expression of the user's may divide by a metric that is 0
                value = loss_value(objective.loss, found[objective.estimate])
            losses.append(value if objective.minimize else -value)
        return _named(found), tuple(losses)

    def _measure(self, state: EvaluationState) -> None:
        """Fits the model on all rows. One that breaks a requirement by what this shows is not cross-validated."""
        request, plan = state.request, state.plan(self._planner)
        rows = self._resamplings.rows(request.share, request.repeat)
        state.whole = self._meter.figures(request.model, rows, plan.learner.name, state.log)
        figures = FitFigures(whole=state.whole)
        metrics = {limit.metric: None for limit in self._limits if limit.metric.needs in OF_WHOLE_MODEL}
        demand(self._limits, {metric.name: model_metric(metric, figures, 0, 1) for metric in metrics})

    def complexity(self, state: EvaluationState) -> float:
        """That of the fits of the first estimate, as far as it was computed."""
        figures = state.figures.get(self._objectives[0].estimate)
        return 0.0 if figures is None else figures.complexity

    def why_not_finite(self, values: Mapping[str, float], losses: tuple[float, ...]) -> str:
        """What made a loss infinite or not a number, as far as the metrics show it."""
        metrics = {metric.name: metric for wanted in self._wanted.values() for metric in wanted}
        of = {name: metrics[name.partition(" by ")[0]] for name, value in values.items() if not math.isfinite(value)}
        if any(metric.needs == "complexity" and values[name] == math.inf for name, metric in of.items()):
            return "`complexity` is not known of a class that is not ours and has no method `complexity`"
        if not of:
            return f"the loss is {', '.join(map(str, losses))}"
        reasons = "".join(f"; {reason}" for reason in {metric.undefined: None for metric in of.values()} if reason)
        return f"{' and '.join(f'`{name}`' for name in of)} cannot be computed for the test rows{reasons}"

    def path_fits(self, states: Sequence[EvaluationState], parameter: str) -> PathFits | None:
        """What models of a path share; None if they cannot be planned, which shows when each is evaluated."""
        try:
            learners = [state.plan(self._planner).learner for state in states]
        except Exception as reason:
            failure_of(reason, "")  # raises what is a bug
            return None
        values = {learner.text: learner.parameters[parameter] for learner in learners}
        whole = {text: value for text, value in values.items() if isinstance(value, int)}
        largest = max(learners, key=lambda learner: whole.get(learner.text, 0))
        return PathFits(parameter, largest, whole)

    def share_gcv(self, states: Sequence[EvaluationState]) -> None:
        """Evaluates models together that share work under GCV. What fails here fails again when each is evaluated."""
        for estimate in self._resamplings.estimates:
            if estimate.shortcut != "gcv" or self._resamplings.is_fresh(estimate):
                continue
            if self._resamplings.fitted_by(estimate) is not None:
                continue
            by_rows: dict[tuple[float, int], list[EvaluationState]] = {}
            for state in states:
                by_rows.setdefault((state.request.share, state.request.repeat), []).append(state)
            for together in by_rows.values():
                self._share_gcv(estimate, together)

    def _share_gcv(self, estimate: Estimate, states: Sequence[EvaluationState]) -> None:
        resampling = self._resamplings.resampling(estimate, 0, states[0].request.share, states[0].request.repeat)
        try:
            plans = [state.plan(self._planner) for state in states]
            results = self._cross_validator.gcv(plans, resampling, states[0].log)
        except Exception as reason:
            failure_of(reason, "")  # raises what is a bug
            return
        for state, result in zip(states, results, strict=True):
            state.gcv[estimate] = result

    def _metrics(self, estimate: Estimate, state: EvaluationState) -> dict[str, float]:
        """The metrics that objectives need of one estimate."""
        request, wanted = state.request, self._wanted[estimate]
        plan = state.plan(self._planner)
        if (fitted_by := self._resamplings.fitted_by(estimate)) is not None:
            figures = state.figures[estimate] = state.figures[fitted_by]
            return self._cross_validator.fitted_gcv_metrics(plan, wanted, figures)
        figures = state.figures[estimate] = FitFigures(whole=state.whole)
        resampling = self._resamplings.resampling(estimate, state.stream, request.share, request.repeat)
        if estimate.shortcut == "gcv":
            start = perf_counter()
            one = state.gcv.get(estimate) or self._cross_validator.gcv([plan], resampling, state.log)[0]
            return self._cross_validator.gcv_metrics(one, wanted, figures, perf_counter() - start)
        relative = [metric for metric in wanted if metric.relative_to is not None]
        units = {metric.name: self._value_with_all(metric, resampling, state) for metric in relative}
        race = None
        if request.cutoff is not None and len(self._objectives) == 1:
            n_features = self._dataset.columns.n_columns
            race = Race(self._objectives[0], request.cutoff, resampling, self._dataset.n_classes, n_features, units)
        found, outputs = self._cross_validator.metrics(plan, resampling, wanted, state.log, figures, race)
        state.judged[estimate] = (resampling, outputs)
        for name, unit in units.items():
            found[name] /= unit
        return found

    def _value_with_all(self, metric: Metric, resampling: Resampling, state: EvaluationState) -> float:
        """The metric of the same model with every feature, at least 1 / rows, so that nothing is divided by 0."""
        model = with_all_features(state.request.model, self._dataset.task, self._trusted)
        # There may be as many repeats as evaluations, and each is needed once.
        is_kept = resampling.key is not None and not state.request.repeat
        key = (metric.name, model_digest(model), resampling.key) if is_kept else None
        if key is not None and key in self._values_with_all:
            return self._values_with_all[key]
        plan = self._planner.plan(model)
        found, _ = self._cross_validator.metrics(plan, resampling, [metric], state.log, FitFigures(), race=None)
        value = max(found[metric.name], 1.0 / len(resampling.pools[0].rows))
        if key is not None:
            self._values_with_all[key] = value
        return value


def _named(found: dict[Estimate, dict[str, float]]) -> dict[str, float]:
    """All metrics by name; the second of two estimates that give one has its name added, as in `mse by gcv`."""
    named: dict[str, float] = {}
    for estimate, values in found.items():
        for name, value in values.items():
            named[f"{name} by {estimate.name}" if name in named else name] = value
    return named


# --- outcomes ---------------------------------------------------------------------------------------------------------


DEFAULT_CACHE_BYTES = 256_000_000
#: The cache of a worker is no larger than a table from this size on: what it keeps are mostly copies of its rows, and
#: to gather those again takes next to no time beside fits on so many.
_LARGE_TABLE = 32_000_000
#: Outcomes that are remembered, and the bytes of outputs that they may have.
_MOST_REMEMBERED, _MOST_REMEMBERED_BYTES = 100_000, 20_000_000


def cache_bytes_for(table_bytes: int) -> int:
    """How large the cache of each worker is for a table of so many bytes."""
    return DEFAULT_CACHE_BYTES if table_bytes < _LARGE_TABLE else min(table_bytes, DEFAULT_CACHE_BYTES)


class Evaluator:
    """Evaluates the models of one search on one table. Not to be shared between threads."""

    def __init__(
        self,
        dataset: Dataset,
        objectives: tuple[Objective, ...],
        seed: int = 0,
        trusted: Collection[str] = (),
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        on_step: Callable[[str], None] | None = None,
        keeps: Keeps = "nothing",
        limits: tuple[MetricLimit, ...] = (),
    ) -> None:
        """Raises ValueError when this table cannot be split as the objectives need it.

        With `cache_bytes = 0` nothing is cached; nor where the time of a fit is an objective, which must not depend on
        what was fitted before. `on_step` is called with the name of each block before it starts work. `keeps` is what
        outcomes bring along of the outputs that a model was judged by.
        """
        needed = {metric.needs for objective in objectives for metric in metrics_of(objective.loss)}
        needed |= {limit.metric.needs for limit in limits}
        if "time" in needed:
            cache_bytes = 0
        self._n_objectives, self._on_step = len(objectives), on_step
        self._cache = PrefixCache(cache_bytes, lent=(dataset.X, dataset.y))
        self._fitter = Fitter(dataset, self._cache)
        cross_validator = CrossValidator(self._fitter, keeps=cache_bytes > 0, weighs_all="complexity" in needed)
        self._losses = Losses(dataset, objectives, seed, trusted, cross_validator, limits)
        self._remembers, self._keeps = cache_bytes > 0, keeps
        self._memo: dict[Hashable, Outcome] = {}
        self._remembered_bytes = 0

    @property
    def cache_figures(self) -> CacheFigures:
        return self._cache.figures()

    def evaluate(self, model: Model, cutoff: float | None = None, share: float = 1.0, repeat: int = 0) -> Outcome:
        """The losses of a model. One that cannot be fitted or scored gives a failure; only a bug in msl raises."""
        return self.evaluate_many([EvaluationRequest(model, cutoff, share, repeat)])[0]

    def evaluate_many(self, requests: Sequence[EvaluationRequest]) -> list[Outcome]:
        """The outcome of each request, the same as one by one; models that can share work do."""
        with WarningCapture() as warnings, config_context(assume_finite=True, skip_parameter_validation=True):
            states = [EvaluationState.of(request, EvaluationLog(self._on_step)) for request in requests]
            if len(states) > 1:
                self._losses.share_gcv([state for state in states if self._known(state) is None])
            return [self._outcome(state, warnings) for state in states]

    def evaluate_path(self, path: PathRequest) -> list[Outcome]:
        """The outcome of each request of a path, the same as one by one; on each fold, one fit serves all of them."""
        with WarningCapture() as warnings, config_context(assume_finite=True, skip_parameter_validation=True):
            states = [EvaluationState.of(request, EvaluationLog(self._on_step)) for request in path.requests]
            new = [state for state in states if self._known(state) is None]
            # Where the time of a fit is an objective, each has to have its own.
            self._fitter.paths = (
                self._losses.path_fits(new, path.parameter) if len(new) > 1 and self._remembers else None
            )
            try:
                return [self._outcome(state, warnings) for state in states]
            finally:
                self._fitter.paths = None

    def _outcome(self, state: EvaluationState, warnings: WarningCapture) -> Outcome:
        start = perf_counter()
        known = self._known(state)
        if known is not None:
            return replace(known, effort=Effort(perf_counter() - start, remembered=True))
        warnings.forget()
        losses, values, is_bound, failure = self._nothing(), dict[str, float](), False, None
        try:
            values, losses = self._losses.of(state)
        except LostRace as lost:
            losses, is_bound = (lost.bound,), True
        except RequirementBroken as broken:
            values, failure = dict(broken.metrics), Failure("requirement", str(broken))
        except (Exception, SystemExit) as reason:  # an estimator may raise anything; a bug in msl is raised again
            failure = failure_of(reason, state.log.step)
        if failure is None and not all(map(math.isfinite, losses)):
            failure = Failure("not a number", self._losses.why_not_finite(values, losses), state.log.step)
            losses = self._nothing()
        log = state.log
        effort = Effort(perf_counter() - start, log.fits, log.fits_saved, log.folds_skipped)
        size = self._losses.complexity(state)
        is_whole = failure is None and not is_bound and state.request.share == 1.0
        outputs = self._packed(state) if is_whole else None
        outcome = Outcome(losses, values, size, is_bound, failure, effort, warnings.messages, outputs=outputs)
        if self._remembers and (failure is None or failure.cause != "memory"):
            self._remember(self._key(state), outcome)
        return outcome

    def _packed(self, state: EvaluationState) -> bytes | None:
        """The outputs that a model was judged by, if they are kept: those of all estimates that hold rows out."""
        if self._keeps == "nothing" or not state.judged:
            return None
        estimates = (estimate for estimate in self._losses.estimates if estimate in state.judged)
        try:
            return pack_outputs([state.judged[estimate] for estimate in estimates], self._keeps)
        except MemoryError:  # the loss is known, and a model is not worse for having no outputs
            return None

    def _nothing(self) -> tuple[float, ...]:
        """The losses of a model that has none."""
        return (math.inf,) * self._n_objectives

    # --- what was evaluated before ---

    def _key(self, state: EvaluationState) -> Hashable:
        return state.digest, state.request.share, state.request.repeat

    def _known(self, state: EvaluationState) -> Outcome | None:
        """The remembered outcome, if it answers the request: a bound only says that a loss is not below it."""
        known = self._memo.get(self._key(state))
        if known is None or not known.bound:
            return known
        cutoff = state.request.cutoff
        return known if cutoff is not None and known.losses[0] >= cutoff else None

    def _remember(self, key: Hashable, outcome: Outcome) -> None:
        self._memo[key] = outcome
        self._remembered_bytes += len(outcome.outputs or b"")
        while len(self._memo) > _MOST_REMEMBERED or self._remembered_bytes > _MOST_REMEMBERED_BYTES:
            self._remembered_bytes -= len(self._memo.pop(next(iter(self._memo))).outputs or b"")
