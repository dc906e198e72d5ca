"""Fitting: a planned model fitted on one fold and asked for its outputs, with everything shared that can be.

Steps that models have in common are fitted once a fold; blocks share work with their siblings through `prepare` and
`prepare_query`. What two models have in common shows in the rows rather than in the models: selectors with other
parameters that keep the same columns leave the same rows to whatever comes next. None of this changes a number.
Rows were validated when the table was read, and are not again.
"""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b
from time import perf_counter
from typing import Any

import numpy as np

from msl.blocks.base.block import Block, Codes, Floats
from msl.blocks.base.chain import apply_steps, fit_learner, fit_step, learner_outputs
from msl.blocks.base.complexity import complexity, learner_complexity
from msl.blocks.base.estimator_code import estimator_code
from msl.blocks.base.outputs import checked_columns, checked_outputs
from msl.evaluate.dataset import Dataset, LazyRows, at_hand, read_only, taken
from msl.evaluate.model_plan import (
    Fold,
    FoldData,
    ModelPlan,
    PlannedStep,
    Predictions,
    PrefixResult,
    joined_sources,
    kept_columns,
    sources_after,
)
from msl.evaluate.outcome import EvaluationLog, FitFigures
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.splits import Split

#: Rows that take fewer bytes are made at once: there is nothing to gain by making them late.
_LARGE = 1 << 23


class Fitter:
    """Fits planned models on folds of one table."""

    def __init__(self, dataset: Dataset, cache: PrefixCache) -> None:
        self.dataset, self.cache = dataset, cache

    def fold(self, split: Split, key: Hashable | None, is_weighed: bool = True) -> Fold:
        """A split to fit models on."""
        fold_key = None if key is None else (key, "fold")
        return self.cache.get(fold_key, lambda: Fold(key, split, taken(self.dataset.y, split.train), is_weighed)).value

    def start(self, fold: Fold) -> FoldData:
        """The rows of a fold as they are in the table."""
        return self.cache.get(fold.key_of("rows"), lambda: self._gather(fold)).value

    def _gather(self, fold: Fold) -> FoldData:
        table, split = self.dataset.X, fold.split
        X = taken(table, split.train)
        is_late = self._is_late(X, fold)
        X_test = LazyRows(lambda: taken(table, split.test)) if is_late else taken(table, split.test)
        return FoldData("", X, X_test, np.arange(table.shape[1]))

    def _is_late(self, X: Floats, fold: Fold) -> bool:
        """Whether the rows to judge on are to be made late: beside these, which are large and which no cache keeps."""
        return X.nbytes > _LARGE and (fold.key is None or not self.cache.has_room(X.nbytes))

    def outputs(self, plan: ModelPlan, fold: Fold, log: EvaluationLog, figures: FitFigures) -> Floats:
        """What a model, fitted on the one part of a fold, says of the other."""
        way = self.way(plan.before, fold, log)
        learnt = said = self._learnt(plan, way, fold, log)
        parts: list[PrefixResult | Predictions] = [way, learnt]
        for post in plan.after:
            said = self._corrected(post, said, fold, log)
            parts.append(said)
        weight = sum(part.complexity for part in parts) if fold.is_weighed else None
        figures.add(learnt.features, weight, sum(part.seconds for part in parts))
        return said.outputs

    # --- steps before the learner ---

    def way(
        self, steps: tuple[PlannedStep, ...], fold: Fold, log: EvaluationLog, start: FoldData | None = None
    ) -> PrefixResult:
        """What steps make of the rows of a fold, or of the stage where they start."""
        stage = start or self.start(fold)
        complexity = seconds = 0.0
        for planned in steps:
            log.at(planned.name)
            stage = self._stage(planned, stage, fold, log)
            complexity += stage.complexity
            seconds += stage.seconds
        return PrefixResult(stage, complexity, seconds)

    def _stage(self, planned: PlannedStep, before: FoldData, fold: Fold, log: EvaluationLog) -> FoldData:
        def fitted() -> FoldData:
            if planned.branches:
                return self._fit_branches(planned, before, fold, log)
            return self._fit_stage(planned, before, fold, log)

        key = fold.key_of(before.identity, planned.text)
        got = self.cache.get(key, fitted, shared=(before.X, before.X_test, before.sources))
        if not got.is_new:
            log.fits_saved += planned.n_fits
        return got.value

    def _fit_stage(self, planned: PlannedStep, before: FoldData, fold: Fold, log: EvaluationLog) -> FoldData:
        log.fits += 1
        estimator = planned.estimator()
        start = perf_counter()
        if isinstance(estimator, Block):
            self._fit_block(estimator, planned, before, fold)
            with estimator_code:
                X: Floats = estimator.transform_arrays(before.X)
        else:
            X = fit_step(estimator, before.X, fold.y, self.dataset.n_classes)
        seconds = perf_counter() - start
        X = checked_columns(X, before.X)
        X_test = self._judged_rows(estimator, planned, before.X_test, log, self._is_late(X, fold))
        with estimator_code:
            kept = kept_columns(estimator)
            size = complexity(estimator, X.shape[1])
        if X is before.X and X_test is before.X_test:
            identity = before.identity
        elif kept is not None:
            identity = identity_of(before.identity, kept.tobytes())
        else:
            identity = identity_of(before.identity, planned.text.encode())
        sources = sources_after(estimator, planned.role, kept, before.sources, X.shape[1])
        return FoldData(identity, read_only(X), X_test, sources, size, seconds)

    def _judged_rows(
        self, estimator: Any, planned: PlannedStep, before: Floats | LazyRows, log: EvaluationLog, is_late: bool
    ) -> Floats | LazyRows:
        """What a fitted step makes of the rows to judge on."""

        def made() -> Floats:
            rows = at_hand(before)
            if is_late or isinstance(before, LazyRows):
                log.at(planned.name)  # other steps have been at work since it was fitted
            with estimator_code:
                transformed = apply_steps([estimator], rows)
            return read_only(checked_columns(transformed, rows))

        return LazyRows(made) if is_late else made()

    def _fit_branches(self, planned: PlannedStep, before: FoldData, fold: Fold, log: EvaluationLog) -> FoldData:
        ways = [self.way(branch, fold, log, before) for branch in planned.branches]
        ends = [way.end for way in ways]
        X, tests = read_only(np.hstack([end.X for end in ends])), [end.X_test for end in ends]

        def joined() -> Floats:
            return read_only(np.hstack([at_hand(rows) for rows in tests]))

        return FoldData(
            identity=identity_of("&", "&".join(end.identity for end in ends).encode()),
            X=X,
            X_test=LazyRows(joined) if self._is_late(X, fold) else joined(),
            sources=joined_sources([end.sources for end in ends], before.sources),
            complexity=sum(way.complexity for way in ways),
            seconds=sum(way.seconds for way in ways),
        )

    def _fit_block(self, block: Block, planned: PlannedStep, before: FoldData, fold: Fold) -> None:
        """Fits; the part that siblings share comes from the cache."""
        X, n_classes = before.X, self.dataset.n_classes
        if block.shared_parameters is None:
            with estimator_code:
                block.fit_arrays(X, fold.y, n_classes)
            return
        key = fold.key_of(before.identity, "fit", planned.part_text(block.shared_parameters))
        prepared = self.cache.get(key, lambda: guarded(self._prepared(block, before, fold)), shared=(X, fold.y)).value
        start = perf_counter()
        with estimator_code:
            block.fit_prepared(prepared, X, fold.y, n_classes)
        self.cache.weigh(key, perf_counter() - start, shared=(X, fold.y))

    def _prepared(self, block: Block, before: FoldData, fold: Fold) -> Any:
        laid_out = self.laid_out(block, before)
        with estimator_code:
            if laid_out is None:
                return block.prepare(before.X, fold.y, self.dataset.n_classes)
            return block.prepare_with(laid_out, before.X, fold.y, self.dataset.n_classes)

    def laid_out(self, block: Block, before: FoldData) -> Any:
        """What the places among a block's parameters refer to: the whole table. Behind other steps, which make other
        rows of it on every fold, it is the rows that the block is fitted on, and this is None."""
        if before.identity or not block.has_coordinates:
            return None

        def made() -> Any:
            with estimator_code:
                return block.fit_coordinates(self.dataset.X)

        return self.cache.get(("laid out", type(block)), made).value

    # --- the learner and what comes after it ---

    def _learnt(self, plan: ModelPlan, way: PrefixResult, fold: Fold, log: EvaluationLog) -> Predictions:
        log.at(plan.learner.name)
        key = fold.key_of(way.end.identity, "learnt" if plan.after else "judged", plan.learner.text)
        got = self.cache.get(key, lambda: self._learn(plan, way, fold, log))
        if not got.is_new:
            log.fits_saved += 1
        return got.value

    def _learn(self, plan: ModelPlan, way: PrefixResult, fold: Fold, log: EvaluationLog) -> Predictions:
        log.fits += 1
        learner = plan.learner.estimator()
        start = perf_counter()
        if isinstance(learner, Block):
            self._fit_block(learner, plan.learner, way.end, fold)
        else:
            fit_learner(learner, way.end.X, fold.y, self.dataset.n_classes)
        seconds = perf_counter() - start
        identity, sources, X_test = way.end.identity, way.end.sources, way.end.X_test
        training_outputs = None
        if plan.after:
            training_outputs = self._asked(learner, plan.learner, identity, fold, way.end.X, "own query")
        del way.end  # so that the rows fitted on are gone when those to judge on come
        if isinstance(X_test, LazyRows):
            X_test = X_test.rows()
            log.at(plan.learner.name)
        outputs = self._asked(learner, plan.learner, identity, fold, X_test, "query")
        with estimator_code:
            size = learner_complexity(learner) if fold.is_weighed else 0.0
            features = float(features_seen(learner, sources))
        return Predictions(
            identity=identity_of(identity, plan.learner.text.encode()),
            outputs=outputs,
            training_outputs=training_outputs,
            complexity=size,
            seconds=seconds,
            features=features,
        )

    def _asked(self, learner: Any, planned: PlannedStep, identity: str, fold: Fold, X: Floats, kind: str) -> Floats:
        """The learner's outputs for the rows to judge on, or for its own; the part of the answer that siblings share
        comes from the cache."""
        if isinstance(learner, Block) and learner.query_parameters is not None:
            key = fold.key_of(identity, kind, planned.part_text(learner.query_parameters))
            query = self.cache.get(key, lambda: guarded(_query(learner, X)), shared=(X,)).value
            start = perf_counter()
            with estimator_code:
                outputs = learner.outputs_prepared(query)
            self.cache.weigh(key, perf_counter() - start, shared=(X,))
        else:
            with estimator_code:
                outputs = learner_outputs(learner, X, self.dataset.n_classes)
        return read_only(checked_outputs(outputs, len(X), self.dataset.n_classes))

    def _corrected(self, post: PlannedStep, said: Predictions, fold: Fold, log: EvaluationLog) -> Predictions:
        """The outputs after a post."""
        log.at(post.name)
        got = self.cache.get(fold.key_of(said.identity, post.text), lambda: self._correct(post, said, fold, log))
        if not got.is_new:
            log.fits_saved += 1
        return got.value

    def _correct(self, post: PlannedStep, said: Predictions, fold: Fold, log: EvaluationLog) -> Predictions:
        assert said.training_outputs is not None
        log.fits += 1
        estimator = post.estimator()
        start = perf_counter()
        with estimator_code:
            training = fit_step(estimator, said.training_outputs, fold.y, self.dataset.n_classes)
            seconds = perf_counter() - start
            outputs = apply_steps([estimator], said.outputs)
            size = complexity(estimator, training.shape[1])
        return Predictions(
            identity=identity_of(said.identity, post.text.encode()),
            outputs=read_only(checked_outputs(outputs, len(said.outputs), self.dataset.n_classes)),
            training_outputs=read_only(checked_outputs(training, len(fold.y), self.dataset.n_classes)),
            complexity=size,
            seconds=seconds,
        )


def identity_of(before: str, step: bytes) -> str:
    """A name for what a step makes of what had a name."""
    return blake2b(before.encode() + b"\n" + step, digest_size=16).hexdigest()


def features_seen(learner: Any, sources: Codes) -> int:
    """How many features have a say in what a learner says."""
    used = learner.n_features_used() if isinstance(learner, Block) else None
    return len(np.unique(sources)) if used is None or used == len(sources) else used


def _query(learner: Block, X: Floats) -> Any:
    with estimator_code:
        return learner.prepare_query(X)


def guarded(value: Any) -> Any:
    """What siblings share, guarded where it is an array."""
    return read_only(value) if isinstance(value, np.ndarray) else value
