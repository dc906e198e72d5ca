"""Case: one request to judge a model, and what has been found out about it so far."""

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
from msl.evaluate.outcome import EvaluationLog, FitFigures
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.racing import LostRace, Race
from msl.evaluate.resampling import Resampling
from msl.evaluate.shortcuts import GcvResult, GcvShortcut, LooShortcut
from msl.evaluate.splits import Split
from msl.space.canonical.digest import model_digest
from msl.space.metric import Metric
from msl.space.spec import Estimate
from msl.space.values import BlockType, BlockValue, Branches, Model, Step, Value


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


@dataclass(slots=True)
class EvaluationState:
    """`figures` are those of the fits of each estimate; `generalised` is what was judged together with siblings."""

    request: EvaluationRequest
    digest: str
    log: EvaluationLog
    figures: dict[Estimate, FitFigures] = field(default_factory=dict)
    generalised: dict[Estimate, GcvResult] = field(default_factory=dict)
    _plan: ModelPlan | None = None

    @classmethod
    def of(cls, request: EvaluationRequest, log: EvaluationLog) -> EvaluationState:
        return cls(request, model_digest(request.model), log)

    @property
    def stream(self) -> int:
        """A number that stands for the model, to draw its own splits from."""
        return int(self.digest[:15], 16)

    def plan(self, planner: ModelPlanner) -> ModelPlan:
        """The plan of the model, made once; raises BlockProblem when there is none."""
        if self._plan is None:
            self._plan = planner.plan(self.request.model)
        return self._plan


# --- Judge: a planned model and the splits of an estimate in, its measures out. ---------------------------------------


class CrossValidator:
    """Judges models on one table; `weighs_all` says that the complexity of every fit counts."""

    def __init__(self, fitter: Fitter, keeps: bool, weighs_all: bool) -> None:
        self._fitter, self._weighs_all = fitter, weighs_all
        self._left_out = LooShortcut(fitter, keeps)
        self._generaliser = GcvShortcut(fitter)

    def measures(
        self,
        plan: ModelPlan,
        trial: Resampling,
        wanted: Collection[Metric],
        log: EvaluationLog,
        figures: FitFigures,
        race: Race | None,
    ) -> dict[str, float]:
        """The measures that are asked for; raises LostRace when a race makes the rest superfluous.

        `relative_error` comes as the error itself: only the caller knows that of the model with all features.
        """
        outputs = self.outputs(plan, trial, log, figures, race)
        found = {metric.name: trial.score(metric, outputs) for metric in wanted if not metric.of_model}
        return found | self._of_fits(figures, wanted)

    def generalised(self, plans: Sequence[ModelPlan], trial: Resampling, log: EvaluationLog) -> list[GcvResult]:
        """Generalised cross-validation of models, which may be siblings."""
        fold = self._fitter.fold(trial.splits[0], trial.fold_key(0))
        return self._generaliser.judge(plans, fold, log)

    def generalised_measures(
        self, judged: GcvResult, wanted: Collection[Metric], figures: FitFigures, seconds: float
    ) -> dict[str, float]:
        """The measures that are asked for, out of a generalised cross-validation."""
        figures.add(judged.features, judged.complexity, seconds)
        errors = {"mean": judged.score, "root_mean": float(np.sqrt(judged.score))}
        found = {each.name: errors[str(each.additive_over_rows)] for each in wanted if each.of_squared_error}
        return found | self._of_fits(figures, wanted)

    def outputs(
        self, plan: ModelPlan, trial: Resampling, log: EvaluationLog, figures: FitFigures, race: Race | None = None
    ) -> list[Floats]:
        """The outputs of each pool, in the order of its rows; raises LostRace when a race makes them superfluous."""
        if trial.has_loo_shortcut and (left_out := self._left_out.outputs(plan, trial, log, figures)) is not None:
            return [left_out]
        outputs: list[list[Floats]] = [[] for _ in trial.pools]
        for position, split in enumerate(trial.splits):
            # Unless it is an objective, complexity only tells equals apart, for which that of one fit will do.
            is_weighed = self._weighs_all or position == 0
            fold = self._fitter.fold(split, trial.fold_key(position), is_weighed)
            outputs[split.pool].append(self._fitter.outputs(plan, fold, log, figures))
            left = len(trial.splits) - position - 1
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


# --- With all features: the model that `relative_error` compares with — the same, but nothing selected. ---------------


_PASSTHROUGH = BlockValue(BlockType("passthrough", "sklearn", "transformer", None, "msl.blocks:Passthrough"), ())


def with_all_features(model: Model, task: str, trusted: Collection[str] = ()) -> Model:
    """Every block that keeps some of its columns hands on all, and every mask of features is on.

    Blocks that build features, such as principal components or encodings, stay: without them it were another model.
    """
    return Model(tuple(_step(step, task, trusted) for step in model.steps))


def _step(step: Step, task: str, trusted: Collection[str]) -> Step:
    if isinstance(step, Branches):
        return Branches(tuple(tuple(_step(inner, task, trusted) for inner in branch) for branch in step.branches))
    if step.block.role == "selector" and issubclass(load_class(step.block, task, trusted), SelectorMixin):
        return _PASSTHROUGH
    return BlockValue(step.block, tuple((name, _all_on(value)) for name, value in step.params))


def _all_on(value: Value) -> Value:
    is_mask = isinstance(value, tuple) and len(value) > 0 and all(isinstance(bit, bool) for bit in value)
    return (True,) * len(value) if isinstance(value, tuple) and is_mask else value


# --- Split outputs: what a model says of one part of the rows when it is fitted on another, as an evaluation would.


class SplitOutputs:
    """Fits models on splits of one table, and keeps nothing of them."""

    def __init__(self, dataset: Dataset, seed: int, trusted: Collection[str]) -> None:
        self._fitter = Fitter(dataset, PrefixCache(0))
        self._planner = ModelPlanner(dataset.columns, dataset.task, seed, trusted)

    def of(self, model: Model, split: Split) -> Floats:
        """Raises whatever a block raises."""
        with config_context(assume_finite=True, skip_parameter_validation=True):
            plan = self._planner.plan(model)
            return self._fitter.outputs(plan, self._fitter.fold(split, None), EvaluationLog(), FitFigures())
