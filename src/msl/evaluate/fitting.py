"""Fitting: a planned model fitted on one fold and asked for its outputs, with everything shared that can be.

Steps that models have in common are fitted once a fold; blocks share work with their siblings through `prepare` and
`prepare_query`. What two models have in common shows in the rows rather than in the models: selectors with other
parameters that keep the same columns leave the same rows to whatever comes next. None of this changes a number.
Rows were validated when the table was read, and are not again.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import blake2b
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Block, Codes, Floats
from msl.blocks.chain import apply_steps, fit_learner, fit_step, learner_outputs
from msl.blocks.complexity import complexity
from msl.evaluate.column_sources import joined_sources, kept_columns, sources_after
from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.ground import Ground
from msl.evaluate.plan import Plan, PlannedStep
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.splits import Split
from msl.evaluate.trouble import checked_columns, checked_outputs


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Rows to fit on and rows to judge on, both read-only; `key` names them in the cache, None when nobody else
    meets them. `is_weighed` says that the complexity of learners is asked for: it may cost more than their fit."""

    key: Hashable | None
    X: Floats
    y: NDArray[Any]
    X_test: Floats
    is_weighed: bool

    def key_of(self, *parts: str) -> Hashable | None:
        return None if self.key is None else (self.key, *parts)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """How far some steps have brought the rows of a fold; `seconds` is what the last of them took to fit.

    On one fold, stages with the same `identity` have the same rows.
    """

    identity: str
    X: Floats
    X_test: Floats
    sources: Codes
    complexity: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Where some steps have led, and what all of them add to the figures of the fit. The rows of the steps between are
    not held: of a large table they would be many times its memory."""

    end: Stage
    complexity: float
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """Outputs for the rows to judge on, and for those fitted on where these are needed; and what the block that gave
    them adds to the figures of the fit."""

    identity: str
    outputs: Floats
    training_outputs: Floats | None
    complexity: float
    seconds: float
    features: float = 0.0


class Fitter:
    """Fits planned models on folds of one table."""

    def __init__(self, ground: Ground, cache: PrefixCache) -> None:
        self.ground, self.cache = ground, cache
        self._may_lack = bool(ground.columns.incomplete)

    def fold(self, split: Split, key: Hashable | None, is_weighed: bool = True) -> Fold:
        """The rows of a split."""
        return self.cache.get(
            None if key is None else (key, "rows"), lambda: self._gather(split, key, is_weighed)
        ).value

    def _gather(self, split: Split, key: Hashable | None, is_weighed: bool) -> Fold:
        X, y = self.ground.X, self.ground.y
        return Fold(key, read_only(X[split.train]), read_only(y[split.train]), read_only(X[split.test]), is_weighed)

    def outputs(self, plan: Plan, fold: Fold, diary: Diary, figures: FitFigures) -> Floats:
        """What a model, fitted on the one part of a fold, says of the other."""
        way = self.way(plan.before, fold, diary)
        learnt = said = self._learnt(plan, way.end, fold, diary)
        parts: list[Way | Said] = [way, learnt]
        for post in plan.after:
            said = self._corrected(post, said, fold, diary)
            parts.append(said)
        weight = sum(part.complexity for part in parts) if fold.is_weighed else None
        figures.add(learnt.features, weight, sum(part.seconds for part in parts))
        return said.outputs

    # --- steps before the learner ---

    def way(self, steps: tuple[PlannedStep, ...], fold: Fold, diary: Diary, start: Stage | None = None) -> Way:
        """What steps make of the rows of a fold, or of the stage where they start."""
        stage = start or Stage("", fold.X, fold.X_test, np.arange(fold.X.shape[1]))
        complexity = seconds = 0.0
        for planned in steps:
            diary.at(planned.name)
            stage = self._stage(planned, stage, fold, diary)
            complexity += stage.complexity
            seconds += stage.seconds
        return Way(stage, complexity, seconds)

    def _stage(self, planned: PlannedStep, before: Stage, fold: Fold, diary: Diary) -> Stage:
        def fitted() -> Stage:
            if planned.branches:
                return self._fit_branches(planned, before, fold, diary)
            return self._fit_stage(planned, before, fold, diary)

        key = fold.key_of(before.identity, planned.text)
        got = self.cache.get(key, fitted, shared=(before.X, before.X_test, before.sources))
        if not got.is_new:
            diary.fits_saved += planned.n_fits
        return got.value

    def _fit_stage(self, planned: PlannedStep, before: Stage, fold: Fold, diary: Diary) -> Stage:
        diary.fits += 1
        estimator = planned.estimator()
        start = perf_counter()
        if isinstance(estimator, Block):
            self._fit_block(estimator, planned, before, fold)
            X: Floats = estimator.transform_arrays(before.X)
        else:
            X = fit_step(estimator, before.X, fold.y, self.ground.n_classes)
        seconds = perf_counter() - start
        X = checked_columns(X, len(before.X), self._may_lack)
        X_test = checked_columns(apply_steps([estimator], before.X_test), len(before.X_test), self._may_lack)
        kept = kept_columns(estimator)
        if X is before.X and X_test is before.X_test:
            identity = before.identity
        elif kept is not None:
            identity = identity_of(before.identity, kept.tobytes())
        else:
            identity = identity_of(before.identity, planned.text.encode())
        sources = sources_after(estimator, planned.role, kept, before.sources, X.shape[1])
        return Stage(identity, read_only(X), read_only(X_test), sources, complexity(estimator), seconds)

    def _fit_branches(self, planned: PlannedStep, before: Stage, fold: Fold, diary: Diary) -> Stage:
        ways = [self.way(branch, fold, diary, before) for branch in planned.branches]
        ends = [way.end for way in ways]
        return Stage(
            identity=identity_of("&", "&".join(end.identity for end in ends).encode()),
            X=read_only(np.hstack([end.X for end in ends])),
            X_test=read_only(np.hstack([end.X_test for end in ends])),
            sources=joined_sources([end.sources for end in ends], before.sources),
            complexity=sum(way.complexity for way in ways),
            seconds=sum(way.seconds for way in ways),
        )

    def _fit_block(self, block: Block, planned: PlannedStep, before: Stage, fold: Fold) -> None:
        """Fits; the part that siblings share comes from the cache."""
        X, n_classes = before.X, self.ground.n_classes
        if block.shared_parameters is None:
            block.fit_arrays(X, fold.y, n_classes)
            return
        key = fold.key_of(before.identity, "fit", planned.part_text(block.shared_parameters))
        prepared = self.cache.get(key, lambda: guarded(block.prepare(X, fold.y, n_classes)), shared=(X, fold.y)).value
        start = perf_counter()
        block.fit_prepared(prepared, X, fold.y, n_classes)
        self.cache.weigh(key, perf_counter() - start, shared=(X, fold.y))

    # --- the learner and what comes after it ---

    def _learnt(self, plan: Plan, stage: Stage, fold: Fold, diary: Diary) -> Said:
        diary.at(plan.learner.name)
        key = fold.key_of(stage.identity, "learnt" if plan.after else "judged", plan.learner.text)
        got = self.cache.get(key, lambda: self._learn(plan, stage, fold, diary))
        if not got.is_new:
            diary.fits_saved += 1
        return got.value

    def _learn(self, plan: Plan, stage: Stage, fold: Fold, diary: Diary) -> Said:
        diary.fits += 1
        learner = plan.learner.estimator()
        start = perf_counter()
        if isinstance(learner, Block):
            self._fit_block(learner, plan.learner, stage, fold)
        else:
            fit_learner(learner, stage.X, fold.y, self.ground.n_classes)
        seconds = perf_counter() - start
        return Said(
            identity=identity_of(stage.identity, plan.learner.text.encode()),
            outputs=self._asked(learner, plan.learner, stage, fold, "query"),
            training_outputs=self._asked(learner, plan.learner, stage, fold, "own query") if plan.after else None,
            complexity=complexity(learner) if fold.is_weighed else 0.0,
            seconds=seconds,
            features=float(features_seen(learner, stage.sources)),
        )

    def _asked(self, learner: Any, planned: PlannedStep, stage: Stage, fold: Fold, kind: str) -> Floats:
        """The learner's outputs for the rows to judge on, or for its own; the part of the answer that siblings share
        comes from the cache."""
        X = stage.X_test if kind == "query" else stage.X
        if isinstance(learner, Block) and learner.query_parameters is not None:
            key = fold.key_of(stage.identity, kind, planned.part_text(learner.query_parameters))
            query = self.cache.get(key, lambda: guarded(learner.prepare_query(X)), shared=(X,)).value
            start = perf_counter()
            outputs = learner.outputs_prepared(query)
            self.cache.weigh(key, perf_counter() - start, shared=(X,))
        else:
            outputs = learner_outputs(learner, X, self.ground.n_classes)
        return read_only(checked_outputs(outputs, len(X), self.ground.n_classes))

    def _corrected(self, post: PlannedStep, said: Said, fold: Fold, diary: Diary) -> Said:
        """The outputs after a post."""
        diary.at(post.name)
        got = self.cache.get(fold.key_of(said.identity, post.text), lambda: self._correct(post, said, fold, diary))
        if not got.is_new:
            diary.fits_saved += 1
        return got.value

    def _correct(self, post: PlannedStep, said: Said, fold: Fold, diary: Diary) -> Said:
        assert said.training_outputs is not None
        diary.fits += 1
        estimator = post.estimator()
        start = perf_counter()
        training = fit_step(estimator, said.training_outputs, fold.y, self.ground.n_classes)
        seconds = perf_counter() - start
        outputs = apply_steps([estimator], said.outputs)
        return Said(
            identity=identity_of(said.identity, post.text.encode()),
            outputs=read_only(checked_outputs(outputs, len(said.outputs), self.ground.n_classes)),
            training_outputs=read_only(checked_outputs(training, len(fold.y), self.ground.n_classes)),
            complexity=complexity(estimator),
            seconds=seconds,
        )


def identity_of(before: str, step: bytes) -> str:
    """A name for what a step makes of what had a name."""
    return blake2b(before.encode() + b"\n" + step, digest_size=16).hexdigest()


def features_seen(learner: Any, sources: Codes) -> int:
    """How many features have a say in what a learner says."""
    used = learner.n_features_used() if isinstance(learner, Block) else None
    return len(np.unique(sources)) if used is None or used == len(sources) else used


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, guarded: what models share must not be changed by one of them."""
    array.flags.writeable = False
    return array


def guarded(value: Any) -> Any:
    """What siblings share, guarded where it is an array."""
    return read_only(value) if isinstance(value, np.ndarray) else value
