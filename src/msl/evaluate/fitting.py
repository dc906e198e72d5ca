"""Fitting: a planned model fitted on one fold and asked for its outputs, with everything shared that can be.

Steps that models have in common are fitted once a fold; blocks share work with their siblings through `prepare` and
`prepare_query`. None of this changes a number. Rows were validated when the table was read, and are not again.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Block, Codes, Floats
from msl.blocks.chain import apply_steps, fit_learner, fit_step, learner_outputs
from msl.blocks.complexity import complexity
from msl.evaluate.column_sources import joined_sources, sources_after
from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.ground import Ground
from msl.evaluate.plan import Plan, PlannedStep
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.splits import Split
from msl.evaluate.trouble import checked_columns, checked_outputs


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Rows to fit on and rows to judge on, both read-only; `key` names them in the cache, None when nobody else
    meets them."""

    key: Hashable | None
    X: Floats
    y: NDArray[Any]
    X_test: Floats

    def key_of(self, *parts: str) -> Hashable | None:
        return None if self.key is None else (self.key, *parts)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """How far some steps have brought the rows of a fold; `seconds` is what their last one took to fit."""

    X: Floats
    X_test: Floats
    sources: Codes
    complexity: float
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """A learner's outputs for the rows to judge on, for those it was fitted on where these are needed, and figures."""

    outputs: Floats
    training_outputs: Floats | None
    features: float
    complexity: float
    seconds: float


class Fitter:
    """Fits planned models on folds of one table."""

    def __init__(self, ground: Ground, cache: PrefixCache) -> None:
        self.ground, self.cache = ground, cache
        self._may_lack = bool(ground.columns.incomplete)

    def fold(self, split: Split, key: Hashable | None) -> Fold:
        """The rows of a split."""
        return self.cache.get(None if key is None else (key, "rows"), lambda: self._gather(split, key)).value

    def _gather(self, split: Split, key: Hashable | None) -> Fold:
        X, y = self.ground.X, self.ground.y
        return Fold(key, read_only(X[split.train]), read_only(y[split.train]), read_only(X[split.test]))

    def outputs(self, plan: Plan, fold: Fold, diary: Diary, figures: FitFigures) -> Floats:
        """What a model, fitted on the one part of a fold, says of the other."""
        stages = self.stages(plan.before, fold, diary)
        last = stages[-1] if stages else self.start(fold)
        learnt = self._learnt(plan, last, fold, diary)
        outputs, seconds, complexities = self._posts(plan, learnt, fold, diary)
        figures.add(
            features=learnt.features,
            complexity=sum(stage.complexity for stage in stages) + learnt.complexity + complexities,
            seconds=sum(stage.seconds for stage in stages) + learnt.seconds + seconds,
        )
        return outputs

    # --- steps before the learner ---

    def start(self, fold: Fold) -> Stage:
        """The rows as they are."""
        return Stage(fold.X, fold.X_test, np.arange(fold.X.shape[1]), 0.0, 0.0)

    def stages(
        self, steps: tuple[PlannedStep, ...], fold: Fold, diary: Diary, start: Stage | None = None
    ) -> list[Stage]:
        """What the rows become, step by step."""
        stages: list[Stage] = []
        stage = start or self.start(fold)
        for planned in steps:
            diary.at(planned.name)
            stage = self._stage(planned, stage, fold, diary)
            stages.append(stage)
        return stages

    def _stage(self, planned: PlannedStep, before: Stage, fold: Fold, diary: Diary) -> Stage:
        def fitted() -> Stage:
            if planned.branches:
                return self._fit_branches(planned, before, fold, diary)
            return self._fit_stage(planned, before, fold, diary)

        got = self.cache.get(fold.key_of(planned.text), fitted, shared=(before.X, before.X_test))
        if not got.is_new:
            diary.fits_saved += planned.n_fits
        return got.value

    def _fit_stage(self, planned: PlannedStep, before: Stage, fold: Fold, diary: Diary) -> Stage:
        diary.fits += 1
        estimator = planned.estimator()
        start = perf_counter()
        if isinstance(estimator, Block):
            saved = self._fit_block(estimator, planned, before.X, fold)
            X: Floats = estimator.transform_arrays(before.X)
        else:
            saved = 0.0
            X = fit_step(estimator, before.X, fold.y, self.ground.n_classes)
        seconds = perf_counter() - start + saved
        X = checked_columns(X, len(before.X), self._may_lack)
        X_test = checked_columns(apply_steps([estimator], before.X_test), len(before.X_test), self._may_lack)
        sources = sources_after(estimator, planned.role, before.sources, X.shape[1])
        return Stage(read_only(X), read_only(X_test), sources, complexity(estimator), seconds)

    def _fit_branches(self, planned: PlannedStep, before: Stage, fold: Fold, diary: Diary) -> Stage:
        branches = [self.stages(branch, fold, diary, before) for branch in planned.branches]
        ends = [branch[-1] for branch in branches]
        every = [stage for branch in branches for stage in branch]
        return Stage(
            X=read_only(np.hstack([end.X for end in ends])),
            X_test=read_only(np.hstack([end.X_test for end in ends])),
            sources=joined_sources([end.sources for end in ends], before.sources),
            complexity=sum(stage.complexity for stage in every),
            seconds=sum(stage.seconds for stage in every),
        )

    def _fit_block(self, block: Block, planned: PlannedStep, X: Floats, fold: Fold) -> float:
        """Fits; the part that siblings share comes from the cache. The seconds that this saved."""
        n_classes = self.ground.n_classes
        if block.shared_parameters is None:
            block.fit_arrays(X, fold.y, n_classes)
            return 0.0
        key = fold.key_of("fit", planned.part_text(block.shared_parameters))
        prepared, seconds, is_new = self.cache.get(key, lambda: block.prepare(X, fold.y, n_classes), shared=(X, fold.y))
        block.fit_prepared(prepared, X, fold.y, n_classes)
        return 0.0 if is_new else seconds

    # --- the learner ---

    def _learnt(self, plan: Plan, stage: Stage, fold: Fold, diary: Diary) -> Learnt:
        """The learner's outputs; kept where models may differ in what comes after it."""
        diary.at(plan.learner.name)
        key = fold.key_of("learnt", plan.learner.text) if plan.after else None
        got = self.cache.get(key, lambda: self._learn(plan, stage, fold, diary))
        if not got.is_new:
            diary.fits_saved += 1
        return got.value

    def _learn(self, plan: Plan, stage: Stage, fold: Fold, diary: Diary) -> Learnt:
        diary.fits += 1
        learner = plan.learner.estimator()
        start = perf_counter()
        saved = 0.0
        if isinstance(learner, Block):
            saved = self._fit_block(learner, plan.learner, stage.X, fold)
        else:
            fit_learner(learner, stage.X, fold.y, self.ground.n_classes)
        seconds = perf_counter() - start + saved
        return Learnt(
            outputs=self._asked(learner, plan.learner, stage.X_test, fold, "query"),
            training_outputs=self._asked(learner, plan.learner, stage.X, fold, "own query") if plan.after else None,
            features=float(features_seen(learner, stage.sources)),
            complexity=complexity(learner),
            seconds=seconds,
        )

    def _asked(self, learner: Any, planned: PlannedStep, X: Floats, fold: Fold, kind: str) -> Floats:
        """The learner's outputs for some rows; the part of the answer that siblings share comes from the cache."""
        if isinstance(learner, Block) and learner.query_parameters is not None:
            key = fold.key_of(kind, planned.part_text(learner.query_parameters))
            query = self.cache.get(key, lambda: learner.prepare_query(X), shared=(X,)).value
            outputs = learner.outputs_prepared(query)
        else:
            outputs = learner_outputs(learner, X, self.ground.n_classes)
        return checked_outputs(outputs, len(X), self.ground.n_classes)

    # --- steps after the learner ---

    def _posts(self, plan: Plan, learnt: Learnt, fold: Fold, diary: Diary) -> tuple[Floats, float, float]:
        """The outputs after all posts, with the seconds and the complexity that these add."""
        outputs, training = learnt.outputs, learnt.training_outputs
        seconds = complexities = 0.0
        for planned in plan.after:
            assert training is not None
            diary.at(planned.name)
            diary.fits += 1
            post = planned.estimator()
            start = perf_counter()
            training = fit_step(post, training, fold.y, self.ground.n_classes)
            seconds += perf_counter() - start
            outputs = checked_outputs(apply_steps([post], outputs), len(outputs), self.ground.n_classes)
            complexities += complexity(post)
        return outputs, seconds, complexities


def features_seen(learner: Any, sources: Codes) -> int:
    """How many features have a say in what a learner says."""
    used = learner.n_features_used() if isinstance(learner, Block) else None
    return len(np.unique(sources)) if used is None or used == len(sources) else used


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, guarded: what models share must not be changed by one of them."""
    array.flags.writeable = False
    return array
