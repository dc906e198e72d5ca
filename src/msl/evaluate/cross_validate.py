"""Cross-validate a model: fit it on every split of a resampling, score the pooled outputs, collect its metrics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn import config_context
from sklearn.feature_selection import SelectorMixin

from msl.blocks.base.block import Floats
from msl.blocks.base.load import load_class
from msl.evaluate.dataset import Dataset
from msl.evaluate.fit import Fitter
from msl.evaluate.metrics import model_metric
from msl.evaluate.model_plan import ModelPlan, ModelPlanner
from msl.evaluate.outcome import EvaluationLog, FitFigures, WholeModelFigures
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.racing import LostRace, Race
from msl.evaluate.resampling import Resampling
from msl.evaluate.splits import Split
from msl.evaluate.without_refits import GcvResult, GcvShortcut, LooShortcut, not_linear, refuse_posts
from msl.space.canonical.digest import model_digest
from msl.space.spec import Estimate, Metric
from msl.space.values import BlockType, BlockValue, Branches, Model, PipelineValue, Step, Value


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A model to evaluate.

    `cutoff` is the loss that would matter: at or above it, a bound will do. `share` is the share of the rows to
    evaluate on. `repeat` tells evaluations of one model apart where each draws its own split.
    """

    model: Model
    cutoff: float | None = None
    share: float = 1.0
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class PathRequest:
    """Models to evaluate that differ in the value of a path parameter alone, from low to high values."""

    requests: tuple[EvaluationRequest, ...]
    parameter: str

    @property
    def model(self) -> Model:
        """The one that is fitted."""
        return self.requests[-1].model


@dataclass(slots=True)
class EvaluationState:
    """One request while it is worked on.

    `figures` are those of the fits of each estimate; `gcv` are results that were computed together with other models;
    `judged` are the outputs of each pool of each estimate that holds rows out.
    """

    request: EvaluationRequest
    digest: str
    log: EvaluationLog
    figures: dict[Estimate, FitFigures] = field(default_factory=dict)
    gcv: dict[Estimate, GcvResult] = field(default_factory=dict)
    judged: dict[Estimate, tuple[Resampling, list[Floats]]] = field(default_factory=dict)
    whole: WholeModelFigures = field(default_factory=WholeModelFigures)
    _plan: ModelPlan | None = None

    @classmethod
    def of(cls, request: EvaluationRequest, log: EvaluationLog) -> EvaluationState:
        return cls(request, model_digest(request.model), log)

    @property
    def stream(self) -> int:
        """A number derived from the model, to draw its own splits from."""
        return int(self.digest[:15], 16)

    def plan(self, planner: ModelPlanner) -> ModelPlan:
        """The plan of the model, made once. Raises BlockProblem when there is none."""
        if self._plan is None:
            self._plan = planner.plan(self.request.model)
        return self._plan


# --- from a planned model and splits to metrics -----------------------------------------------------------------------


class CrossValidator:
    """Evaluates models on one table; with `weighs_all` the complexity of every fit is computed."""

    def __init__(self, fitter: Fitter, keeps: bool, weighs_all: bool) -> None:
        self._fitter, self._weighs_all = fitter, weighs_all
        self._loo = LooShortcut(fitter, keeps)
        self._gcv = GcvShortcut(fitter)

    def metrics(
        self,
        plan: ModelPlan,
        resampling: Resampling,
        wanted: Collection[Metric],
        log: EvaluationLog,
        figures: FitFigures,
        race: Race | None,
    ) -> tuple[dict[str, float], list[Floats]]:
        """The metrics `wanted`, and the outputs of each pool. Raises LostRace when the rest cannot matter.

        Relative metrics are returned undivided: only the caller knows the value of the other model.
        """
        outputs = self.outputs(plan, resampling, log, figures, race)
        found = {metric.name: resampling.score(metric, outputs) for metric in wanted if not metric.of_model}
        return found | self._of_fits(figures, wanted), outputs

    def gcv(self, plans: Sequence[ModelPlan], resampling: Resampling, log: EvaluationLog) -> list[GcvResult]:
        """Generalised cross-validation of models; those that differ in few parameters share work."""
        fold = self._fitter.fold(resampling.splits[0], resampling.fold_key(0))
        return self._gcv.results(plans, fold, log)

    def gcv_metrics(
        self, result: GcvResult, wanted: Collection[Metric], figures: FitFigures, seconds: float
    ) -> dict[str, float]:
        """The metrics `wanted`, from the result of generalised cross-validation."""
        figures.add(result.features, result.complexity, seconds)
        return self._gcv_metrics(result.score, wanted, figures)

    def fitted_gcv_metrics(self, plan: ModelPlan, wanted: Collection[Metric], figures: FitFigures) -> dict[str, float]:
        """The metrics `wanted`, from a fit of another estimate. Raises BlockProblem if it cannot give them."""
        refuse_posts(plan)
        if figures.gcv is None:
            raise not_linear(plan)
        return self._gcv_metrics(figures.gcv, wanted, figures)

    def _gcv_metrics(self, score: float, wanted: Collection[Metric], figures: FitFigures) -> dict[str, float]:
        errors = {"mean": score, "root_mean": float(np.sqrt(score))}
        found = {each.name: errors[str(each.additive_over_rows)] for each in wanted if each.of_squared_error}
        return found | self._of_fits(figures, wanted)

    def outputs(
        self, plan: ModelPlan, resampling: Resampling, log: EvaluationLog, figures: FitFigures, race: Race | None = None
    ) -> list[Floats]:
        """The outputs of each pool, in the order of its rows. Raises LostRace when the rest cannot matter."""
        if resampling.has_loo_shortcut and (found := self._loo.outputs(plan, resampling, log, figures)) is not None:
            return [found]
        outputs: list[list[Floats]] = [[] for _ in resampling.pools]
        for position, split in enumerate(resampling.splits):
            # Unless it is an objective, complexity only breaks ties, and that of one fit is enough.
            is_weighed = self._weighs_all or position == 0
            is_generalised = resampling.is_generalised and position == 0
            fold = self._fitter.fold(split, resampling.fold_key(position), is_weighed, is_generalised)
            outputs[split.pool].append(self._fitter.outputs(plan, fold, log, figures))
            left = len(resampling.splits) - position - 1
            if race is not None and left:
                try:
                    race.add(split.pool, outputs[split.pool][-1], figures)
                except LostRace:
                    log.folds_skipped += left
                    raise
        return [np.concatenate(pool) for pool in outputs]

    def _of_fits(self, figures: FitFigures, wanted: Collection[Metric]) -> dict[str, float]:
        n_features = self._fitter.dataset.columns.n_columns
        return {each.name: model_metric(each, figures, n_features) for each in wanted if each.of_model}


# --- the model that relative metrics compare with ---------------------------------------------------------------------


_PASSTHROUGH = BlockValue(BlockType("passthrough", "sklearn", "transformer", None, "msl.blocks:Passthrough"), ())


def with_all_features(model: Model, task: str, trusted: Collection[str] = ()) -> Model:
    """The same model without feature selection: selectors pass all columns through, and masks of features are all on.

    Blocks that build features, such as principal components or encodings, stay: without them it would be another model.
    """
    return Model(tuple(_step(step, task, trusted) for step in model.steps))


def _step(step: Step, task: str, trusted: Collection[str]) -> Step:
    if isinstance(step, Branches):
        return Branches(tuple(tuple(_step(inner, task, trusted) for inner in branch) for branch in step.branches))
    if step.block.role == "selector" and issubclass(load_class(step.block, task, trusted), SelectorMixin):
        return _PASSTHROUGH
    return BlockValue(step.block, tuple((name, _all_on(value, task, trusted)) for name, value in step.params))


def _all_on(value: Value, task: str, trusted: Collection[str]) -> Value:
    if isinstance(value, PipelineValue):
        return PipelineValue(tuple(_step(step, task, trusted) for step in value.steps))
    is_mask = isinstance(value, tuple) and len(value) > 0 and all(isinstance(bit, bool) for bit in value)
    return (True,) * len(value) if isinstance(value, tuple) and is_mask else value


# --- single splits ----------------------------------------------------------------------------------------------------


class SplitOutputs:
    """Fits models on single splits of one table, as an evaluation would, and caches nothing."""

    def __init__(self, dataset: Dataset, seed: int, trusted: Collection[str]) -> None:
        self._fitter = Fitter(dataset, PrefixCache(0))
        self._planner = ModelPlanner(dataset.columns, dataset.task, seed, trusted)

    def of(self, model: Model, split: Split) -> Floats:
        """Raises whatever a block raises."""
        with config_context(assume_finite=True, skip_parameter_validation=True):
            plan = self._planner.plan(model)
            return self._fitter.outputs(plan, self._fitter.fold(split, None), EvaluationLog(), FitFigures())
