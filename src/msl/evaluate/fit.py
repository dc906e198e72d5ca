"""Fit a planned model on one fold and compute its outputs, sharing work with other models.

Steps that models have in common are fitted once per fold, and blocks that differ in few parameters share work through
`prepare` and `prepare_query`. What two models have in common is recognised by the rows, not by the models: selectors
that keep the same columns give the same rows to the next step. None of this changes a result. Rows were validated when
the table was read, and are not validated again.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import replace
from hashlib import blake2b
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge

from msl.blocks.base.accepted_columns import beside, rows_for
from msl.blocks.base.block import Block, Codes, Floats
from msl.blocks.base.chain import apply_steps, fit_learner, fit_step, learner_outputs
from msl.blocks.base.check_outputs import checked_columns, checked_outputs
from msl.blocks.base.complexity import complexity, learner_complexity
from msl.blocks.base.learner_paths import learner_path
from msl.blocks.base.load import estimator_code
from msl.blocks.base.row_weights import counts_rows, without_weights
from msl.evaluate.dataset import Dataset, LazyRows, at_hand, bytes_of, read_only, taken
from msl.evaluate.model_plan import (
    Fold,
    FoldData,
    ModelPlan,
    PathFit,
    PathFits,
    PlannedStep,
    Predictions,
    PrefixResult,
    joined_sources,
    kept_columns,
    sources_after,
)
from msl.evaluate.outcome import EvaluationLog, FitFigures, is_model_failure
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.splits import Split

#: Rows that take fewer bytes are gathered at once: there is nothing to gain by doing so later.
_LARGE = 1 << 23


class Fitter:
    """Fits planned models on folds of one table."""

    def __init__(self, dataset: Dataset, cache: PrefixCache) -> None:
        self.dataset, self.cache = dataset, cache
        #: The fits of models that differ in a path parameter alone, while they are evaluated together.
        self.paths: PathFits | None = None

    def fold(self, split: Split, key: Hashable | None, is_weighed: bool = True, is_generalised: bool = False) -> Fold:
        """A split to fit models on."""

        def made() -> Fold:
            weights = None if self.dataset.weights is None else taken(self.dataset.weights, split.train)
            return Fold(key, split, taken(self.dataset.y, split.train), is_weighed, is_generalised, weights)

        return self.cache.get(None if key is None else (key, "fold"), made).value

    def start(self, fold: Fold) -> FoldData:
        """The rows of a fold as they are in the table."""
        return self.cache.get(fold.key_of("rows"), lambda: self._gather(fold)).value

    def _gather(self, fold: Fold) -> FoldData:
        table, split = self.dataset.X, fold.split
        X = taken(table, split.train)
        is_lazy = self._is_lazy(X, fold)
        X_test = LazyRows(lambda: taken(table, split.test)) if is_lazy else taken(table, split.test)
        return FoldData("", X, X_test, np.arange(table.shape[1]))

    def _is_lazy(self, X: Floats, fold: Fold) -> bool:
        """Whether the test rows are gathered only when needed: these rows are large, and no cache keeps them."""
        size = bytes_of(X)
        return size > _LARGE and (fold.key is None or not self.cache.has_room(size))

    def outputs(self, plan: ModelPlan, fold: Fold, log: EvaluationLog, figures: FitFigures) -> Floats:
        """The outputs for the test rows of a fold of a model fitted on its training rows."""
        prefix, learned = self._on_path(plan, fold, log) or self._alone(plan, fold, log)
        predictions = learned
        parts: list[PrefixResult | Predictions] = [prefix, learned]
        for post in plan.after:
            predictions = self._after_post(post, predictions, fold, log)
            parts.append(predictions)
        weight = sum(part.complexity for part in parts) if fold.is_weighed else None
        figures.add(learned.features, weight, sum(part.seconds for part in parts))
        figures.gcv = learned.gcv if figures.gcv is None else figures.gcv
        return predictions.outputs

    # --- steps before the learner ---

    def prefix(
        self, steps: tuple[PlannedStep, ...], fold: Fold, log: EvaluationLog, start: FoldData | None = None
    ) -> PrefixResult:
        """The rows of a fold (or of `start`) after some steps."""
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
        before = as_taken(estimator, before)
        start = perf_counter()
        if isinstance(estimator, Block):
            self._fit_block(estimator, planned, before, fold)
            with estimator_code:
                X: Floats = estimator.transform_arrays(before.X)
        else:
            X = fit_step(estimator, before.X, fold.y, self.dataset.n_classes, fold.weights)
        seconds = perf_counter() - start
        X = checked_columns(X, before.X, estimator)
        X_test = self._test_rows(estimator, planned, before.X_test, log, self._is_lazy(X, fold))
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

    def _test_rows(
        self, estimator: Any, planned: PlannedStep, before: Floats | LazyRows, log: EvaluationLog, is_lazy: bool
    ) -> Floats | LazyRows:
        """The test rows after a fitted step."""

        def made() -> Floats:
            rows = at_hand(before)
            if is_lazy or isinstance(before, LazyRows):
                log.at(planned.name)  # other steps have been at work since it was fitted
            with estimator_code:
                transformed = apply_steps([estimator], rows)
            return read_only(checked_columns(transformed, rows, estimator))

        return LazyRows(made) if is_lazy else made()

    def _fit_branches(self, planned: PlannedStep, before: FoldData, fold: Fold, log: EvaluationLog) -> FoldData:
        prefixes = [self.prefix(branch, fold, log, before) for branch in planned.branches]
        ends = [prefix.end for prefix in prefixes]
        X, tests = read_only(beside([end.X for end in ends])), [end.X_test for end in ends]

        def joined() -> Floats:
            return read_only(beside([at_hand(rows) for rows in tests]))

        return FoldData(
            identity=identity_of("&", "&".join(end.identity for end in ends).encode()),
            X=X,
            X_test=LazyRows(joined) if self._is_lazy(X, fold) else joined(),
            sources=joined_sources([end.sources for end in ends], before.sources),
            complexity=sum(prefix.complexity for prefix in prefixes),
            seconds=sum(prefix.seconds for prefix in prefixes),
        )

    def _fit_block(self, block: Block, planned: PlannedStep, before: FoldData, fold: Fold) -> None:
        """Fits a block; what it shares with blocks that differ in other parameters comes from the cache."""
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
        """What the places among a block's parameters refer to: the whole table. After other steps, which change the
        rows on every fold, they refer to the rows that the block is fitted on, and this is None."""
        if before.identity or not block.has_coordinates:
            return None

        def made() -> Any:
            with estimator_code:
                return block.fit_coordinates(self.dataset.X)

        return self.cache.get(("laid out", type(block)), made).value

    # --- the learner and what comes after it ---

    def _alone(self, plan: ModelPlan, fold: Fold, log: EvaluationLog) -> tuple[PrefixResult, Predictions]:
        prefix = self.prefix(plan.before, fold, log)
        return prefix, self._learned(plan, prefix, fold, log)

    def _on_path(self, plan: ModelPlan, fold: Fold, log: EvaluationLog) -> tuple[PrefixResult, Predictions] | None:
        """The same from the fit that models of a path share; None for a model that has to be fitted alone.

        Whatever goes wrong with the shared fit goes wrong again, or does not, when each is fitted alone.
        """
        paths = self.paths
        value = None if paths is None else paths.values.get(plan.learner.text)
        if paths is None or value is None or plan.after or fold.key is None or fold.is_generalised:
            return None
        key = (fold.key, *(step.text for step in plan.before))
        try:
            if key in paths.fits:
                log.fits_saved += 1 + sum(step.n_fits for step in plan.before)
            else:
                paths.fits[key] = None
                paths.fits[key] = self._fit_path(paths, plan, fold, log)
            fit = paths.fits[key]
            if fit is None:
                return None
            log.at(plan.learner.name)
            learned = self._on_fit(fit, value, fold)
            if learned is None:
                return None
            if not fit.counts_rows:
                warnings.warn(without_weights(plan.learner.name), stacklevel=2)
            return fit.prefix, learned
        except Exception as reason:
            if not is_model_failure(reason):
                raise
            return None

    def _fit_path(self, paths: PathFits, plan: ModelPlan, fold: Fold, log: EvaluationLog) -> PathFit | None:
        prefix = self.prefix(plan.before, fold, log)
        log.at(plan.learner.name)
        log.fits += 1
        learner = paths.largest.estimator()
        prefix.end = as_taken(learner, prefix.end)
        start = perf_counter()
        counts = self._fit_estimator(learner, paths.largest, prefix.end, fold)
        seconds = perf_counter() - start
        identity, sources, X_test = prefix.end.identity, prefix.end.sources, at_hand(prefix.end.X_test)
        del prefix.end
        query = None
        if isinstance(learner, Block) and learner.query_parameters is not None:
            _, query = self._shared_query(learner, paths.largest, identity, fold, X_test, "query")
        with estimator_code:
            path = learner_path(learner, paths.parameter, X_test, query)
        return None if path is None else PathFit(prefix, path, X_test, sources, seconds, counts)

    def _on_fit(self, fit: PathFit, value: int, fold: Fold) -> Predictions | None:
        n_classes = self.dataset.n_classes
        with estimator_code:
            learner = fit.path.at(value)
            if learner is None:
                return None
            outputs = learner_outputs(learner, fit.rows, n_classes)
            size = learner_complexity(learner) if fold.is_weighed else 0.0
            features = float(features_seen(learner, fit.sources))
        return Predictions(
            identity="",
            outputs=read_only(checked_outputs(outputs, fit.rows.shape[0], n_classes)),
            training_outputs=None,
            complexity=size,
            seconds=fit.seconds,
            features=features,
        )

    def _learned(self, plan: ModelPlan, prefix: PrefixResult, fold: Fold, log: EvaluationLog) -> Predictions:
        log.at(plan.learner.name)
        key = fold.key_of(prefix.end.identity, "learnt" if plan.after else "judged", plan.learner.text)
        got = self.cache.get(key, lambda: self._fit_learner(plan, prefix, fold, log))
        if not got.is_new:
            log.fits_saved += 1
        return got.value

    def _fit_learner(self, plan: ModelPlan, prefix: PrefixResult, fold: Fold, log: EvaluationLog) -> Predictions:
        log.fits += 1
        learner = plan.learner.estimator()
        prefix.end = as_taken(learner, prefix.end)
        start = perf_counter()
        if not self._fit_estimator(learner, plan.learner, prefix.end, fold):
            warnings.warn(without_weights(plan.learner.name), stacklevel=2)
        seconds = perf_counter() - start
        identity, sources, X_test = prefix.end.identity, prefix.end.sources, prefix.end.X_test
        generalised = None
        if fold.is_generalised:
            with estimator_code:
                generalised = fitted_gcv(learner, prefix.end.X, fold.y)
        training_outputs = None
        if plan.after:
            training_outputs = self._learner_outputs(learner, plan.learner, identity, fold, prefix.end.X, "own query")
        del prefix.end  # frees the training rows before the test rows are gathered
        if isinstance(X_test, LazyRows):
            X_test = X_test.rows()
            log.at(plan.learner.name)
        outputs = self._learner_outputs(learner, plan.learner, identity, fold, X_test, "query")
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
            gcv=generalised,
        )

    def _fit_estimator(self, learner: Any, planned: PlannedStep, before: FoldData, fold: Fold) -> bool:
        """Fits a learner; whether it has counted rows by their weights, where they have any."""
        counts = counts_rows(learner, fold.weights)
        if isinstance(learner, Block) and not counts:
            self._fit_block(learner, planned, before, fold)
        else:
            fit_learner(learner, before.X, fold.y, self.dataset.n_classes, fold.weights)
        return counts or fold.weights is None

    def _learner_outputs(
        self, learner: Any, planned: PlannedStep, identity: str, fold: Fold, X: Floats, kind: str
    ) -> Floats:
        """The learner's outputs for the test rows, or for its training rows; what it shares with learners that differ
        in other parameters comes from the cache."""
        if isinstance(learner, Block) and learner.query_parameters is not None:
            key, query = self._shared_query(learner, planned, identity, fold, X, kind)
            start = perf_counter()
            with estimator_code:
                outputs = learner.outputs_prepared(query)
            self.cache.weigh(key, perf_counter() - start, shared=(X,))
        else:
            with estimator_code:
                outputs = learner_outputs(learner, X, self.dataset.n_classes)
        return read_only(checked_outputs(outputs, X.shape[0], self.dataset.n_classes))

    def _shared_query(
        self, learner: Block, planned: PlannedStep, identity: str, fold: Fold, X: Floats, kind: str
    ) -> tuple[Hashable | None, Any]:
        """What a learner shares between predictions, and its key in the cache."""
        assert learner.query_parameters is not None
        key = fold.key_of(identity, kind, planned.part_text(learner.query_parameters))
        return key, self.cache.get(key, lambda: guarded(_query(learner, X)), shared=(X,)).value

    def _after_post(self, post: PlannedStep, predictions: Predictions, fold: Fold, log: EvaluationLog) -> Predictions:
        """The outputs after a post."""
        log.at(post.name)
        key = fold.key_of(predictions.identity, post.text)
        got = self.cache.get(key, lambda: self._fit_post(post, predictions, fold, log))
        if not got.is_new:
            log.fits_saved += 1
        return got.value

    def _fit_post(self, post: PlannedStep, predictions: Predictions, fold: Fold, log: EvaluationLog) -> Predictions:
        assert predictions.training_outputs is not None
        log.fits += 1
        estimator = post.estimator()
        start = perf_counter()
        with estimator_code:
            training = fit_step(estimator, predictions.training_outputs, fold.y, self.dataset.n_classes)
            seconds = perf_counter() - start
            outputs = apply_steps([estimator], predictions.outputs)
            size = complexity(estimator, training.shape[1])
        return Predictions(
            identity=identity_of(predictions.identity, post.text.encode()),
            outputs=read_only(checked_outputs(outputs, len(predictions.outputs), self.dataset.n_classes)),
            training_outputs=read_only(checked_outputs(training, len(fold.y), self.dataset.n_classes)),
            complexity=size,
            seconds=seconds,
        )


def as_taken(estimator: Any, before: FoldData) -> FoldData:
    """The rows of a fold as an estimator takes them: full ones, unless they are sparse and it takes those."""
    X, X_test = rows_for(estimator, before.X), before.X_test
    if X is before.X:
        return before
    if isinstance(X_test, LazyRows):
        return replace(before, X=read_only(X), X_test=LazyRows(lambda: read_only(rows_for(estimator, at_hand(X_test)))))
    return replace(before, X=read_only(X), X_test=read_only(rows_for(estimator, X_test)))


def identity_of(before: str, step: bytes) -> str:
    """The identity of rows after a step, from that of the rows before it."""
    return blake2b(before.encode() + b"\n" + step, digest_size=16).hexdigest()


def features_seen(learner: Any, sources: Codes) -> int:
    """How many features the outputs of a learner depend on."""
    used = learner.n_features_used() if isinstance(learner, Block) else None
    return len(np.unique(sources)) if used is None or used == len(sources) else used


def _query(learner: Block, X: Floats) -> Any:
    with estimator_code:
        return learner.prepare_query(X)


def guarded(value: Any) -> Any:
    """A shared value, read-only if it is an array."""
    return read_only(value) if isinstance(value, np.ndarray) else value


# --- Generalised cross-validation (GCV) of a fitted learner: p · SSE / (p - m)², from its fit on p rows ---------------

# m is the effective number of parameters: the trace of the matrix that turns targets into outputs. Only learners whose
# outputs are linear in the targets have one.

#: The learners of scikit-learn whose outputs are linear in the targets.
LINEAR = (LinearRegression, Ridge, KernelRidge)


def fitted_gcv(learner: Any, X: Floats, y: Floats) -> float | None:
    """The GCV of a learner that was fitted on these rows; None unless it is known to be linear in its targets."""
    if isinstance(learner, Block):
        return learner.fitted_gcv()
    return linear_gcv(learner, X, y) if isinstance(learner, LINEAR) else None


def linear_gcv(learner: Any, X: Floats, y: Floats) -> float:
    """GCV of a fitted learner that takes several targets at once: on the unit vectors it gives its own matrix."""
    rows = len(X)
    errors = np.square(y - np.asarray(learner.predict(X)).reshape(rows)).sum()
    freedom = rows - np.trace(clone(learner).fit(X, np.eye(rows)).predict(X))
    return float(rows * errors / freedom**2) if freedom > 1e-9 * rows else float("inf")
