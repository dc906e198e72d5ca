"""Evaluator: one model in, one outcome out — fitted fold by fold, close to the numerical kernels.

Rows are validated once, when the table is read. Steps that models share are fitted once a fold; blocks that share work
with their siblings do it through `prepare` and `prepare_query`. None of this changes a number.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from msl.blocks.base import Block
from msl.blocks.chain import apply_steps, fit_learner, fit_step, learner_outputs
from msl.blocks.complexity import complexity
from msl.blocks.construct import step_to_estimator
from msl.blocks.problem import BlockProblem
from msl.evaluate.outcome import Effort, Failure, Outcome
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.racing import ADDITIVE, Race
from msl.evaluate.scoring import Floats, score
from msl.evaluate.splits import Population, Split, bootstrap, cross_validation, holdout, leave_one_out, subsample
from msl.space.digest import model_digest
from msl.space.measure import MEASURES
from msl.space.spec import Call, Measured, Objective, loss_value, measures_of
from msl.space.value import BlockValue, Model, Step

DEFAULT_CACHE_BYTES = 256_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The rows that models are judged on."""

    X: Floats
    y: NDArray[Any]
    n_classes: int
    population: Population

    @property
    def task(self) -> str:
        return "classification" if self.n_classes else "regression"


@dataclass(slots=True)
class _Tally:
    """What one evaluation has gathered so far."""

    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0
    features: list[float] = field(default_factory=list)
    complexities: list[float] = field(default_factory=list)
    fit_times: list[float] = field(default_factory=list)


class _LostRace(Exception):
    def __init__(self, bound: float) -> None:
        self.bound = bound


class Evaluator:
    """Judges models of one search on one table. Not shared between threads."""

    def __init__(
        self,
        ground: Ground,
        objectives: tuple[Objective, ...],
        seed: int = 0,
        trusted: Collection[str] = (),
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        self.ground, self.objectives, self.seed, self.trusted = ground, objectives, seed, trusted
        self.cache = PrefixCache(cache_bytes)
        self._step_name = ""
        self._splits: dict[Call, list[Split]] = {}

    def evaluate(self, model: Model, beat: float | None = None, share: float = 1.0, turn: int = 0) -> Outcome:
        """The losses of a model; a model that cannot be fitted or judged gives a failure, never an exception."""
        start = perf_counter()
        tally = _Tally()
        self._step_name = ""
        failure = None
        bound = False
        losses: tuple[float, ...] = (float("inf"),) * len(self.objectives)
        measures: dict[str, float] = {}
        with (
            warnings.catch_warnings(record=True) as heard,
            config_context(assume_finite=True, skip_parameter_validation=True),
        ):
            warnings.simplefilter("once")
            try:
                measures, losses = self._judge(model, tally, beat, share, turn)
            except _LostRace as lost:
                losses, bound = (lost.bound,), True
            except BlockProblem as problem:
                failure = Failure("block", problem.message, problem.block)
            except MemoryError:
                failure = Failure("memory", "not enough memory", self._step_name)
            except Exception as reason:  # a block may raise anything: it is a row of the store, not the end of the run
                failure = Failure("exception", f"{type(reason).__name__}: {reason}", self._step_name)
        if failure is None and not bound and not all(np.isfinite(losses)):
            failure = Failure("not a number", "the loss is not a number", self._step_name)
            losses = (float("inf"),) * len(self.objectives)
        effort = Effort(perf_counter() - start, tally.fits, tally.fits_saved, tally.folds_skipped)
        told = tuple(dict.fromkeys(str(warning.message) for warning in heard))[:5]
        size = float(np.mean(tally.complexities)) if tally.complexities else 0.0
        return Outcome(losses, measures, size, bound, failure, effort, told)

    def _judge(
        self, model: Model, tally: _Tally, beat: float | None, share: float, turn: int
    ) -> tuple[dict[str, float], tuple[float, ...]]:
        by_estimate: dict[Call, dict[str, float]] = {}
        for objective in self.objectives:
            wanted = {name for o in self.objectives if o.estimate == objective.estimate for name in measures_of(o.loss)}
            if objective.estimate not in by_estimate:
                race = self._race_measure(objective) if beat is not None else None
                by_estimate[objective.estimate] = self._estimate(
                    model, objective.estimate, sorted(wanted), tally, share, turn, race, beat
                )
        losses = []
        for objective in self.objectives:
            value = loss_value(objective.loss, by_estimate[objective.estimate])
            losses.append(value if objective.minimize else -value)
        measures = {name: value for found in by_estimate.values() for name, value in found.items()}
        return measures, tuple(losses)

    def _race_measure(self, objective: Objective) -> str | None:
        """The measure that can be raced: a single objective that is one additive measure."""
        lone = len(self.objectives) == 1 and objective.minimize and isinstance(objective.loss, Measured)
        name = objective.loss.name if isinstance(objective.loss, Measured) else ""
        return name if lone and name in ADDITIVE and objective.estimate.name in ("cv", "loo", "holdout") else None

    # --- estimates ---

    def _estimate(
        self,
        model: Model,
        estimate: Call,
        measures: list[str],
        tally: _Tally,
        share: float,
        turn: int,
        race: str | None,
        beat: float | None,
    ) -> dict[str, float]:
        splits, own = self._splits_for(model, estimate, share, turn)
        of_outputs = [name for name in measures if not MEASURES[name].of_model]
        found: dict[str, float] = {}
        if estimate.name == "gcv":
            found |= self._gcv(model, splits[0].train, of_outputs, tally, own)
        elif estimate.name == "bootstrap632":
            found |= self._bootstrap632(model, splits, of_outputs, tally, own)
        else:
            found |= self._pooled(model, splits, of_outputs, tally, own, race, beat)
        if "relative_error" in found:
            found["relative_error"] /= max(self._error_with_all(model, estimate, share, turn), 1e-12)
        found |= self._of_model(tally, measures)
        return found

    def _pooled(
        self,
        model: Model,
        splits: list[Split],
        measures: list[str],
        tally: _Tally,
        own: Hashable,
        race: str | None,
        beat: float | None,
    ) -> dict[str, float]:
        """Outputs of all folds of a pool are scored once; pools (repeats) are averaged."""
        pools = sorted({split.pool for split in splits})
        judged = [np.concatenate([self.ground.y[s.test] for s in splits if s.pool == pool]) for pool in pools]
        running = Race(race, judged, self.ground.n_classes) if race is not None else None
        outputs: dict[int, list[Floats]] = {pool: [] for pool in pools}
        for position, split in enumerate(splits):
            fold = self._outputs(model, split, (own, position), tally)
            outputs[split.pool].append(fold)
            if running is not None and beat is not None and position + 1 < len(splits):
                running.add(split.pool, self.ground.y[split.test], fold)
                if running.bound() >= beat:
                    tally.folds_skipped += len(splits) - position - 1
                    raise _LostRace(running.bound())
        scores = {
            name: float(
                np.mean(
                    [
                        score(name, y, np.concatenate(outputs[pool]), self.ground.n_classes)
                        for pool, y in zip(pools, judged, strict=True)
                    ]
                )
            )
            for name in measures
        }
        return scores

    def _bootstrap632(
        self, model: Model, splits: list[Split], measures: list[str], tally: _Tally, own: Hashable
    ) -> dict[str, float]:
        """0.368 of the training error and 0.632 of the error of rows under the resamples that lack them."""
        ground = self.ground
        everything = Split(np.arange(len(ground.y)), np.arange(len(ground.y)))
        training = self._outputs(model, everything, (own, "all"), tally)
        rows = np.concatenate([split.test for split in splits])
        outputs = np.concatenate([self._outputs(model, s, (own, i), tally) for i, s in enumerate(splits)])
        weights = 1.0 / np.bincount(rows, minlength=len(ground.y))[rows]
        return {
            name: 0.368 * score(name, ground.y, training, ground.n_classes)
            + 0.632 * score(name, ground.y[rows], outputs, ground.n_classes, weights)
            for name in measures
        }

    def _gcv(
        self, model: Model, rows: NDArray[np.intp], measures: list[str], tally: _Tally, own: Hashable
    ) -> dict[str, float]:
        """p·SSE / (p − m)², from one fit; the learner tells its effective number of parameters."""
        fitted = self._fitted(model, rows, (own, "gcv"), tally)
        if not hasattr(fitted.learner, "gcv"):
            raise BlockProblem("MSL405", "`gcv` needs a learner that is linear in its weights", "", self._step_name)
        value = float(fitted.learner.gcv(fitted.inner, self.ground.y[rows]))
        return {name: value**0.5 if name == "rmse" else value for name in measures}

    def _splits_for(self, model: Model, estimate: Call, share: float, turn: int) -> tuple[list[Split], Hashable]:
        """The splits of an estimate, and what tells them from others: all models share them, or this one has its own."""
        options = dict(estimate.options)
        part = float(options["subsample"]) * share  # type: ignore[arg-type]
        fresh = bool(options["shuffle"]) or part < 1.0
        if not fresh:
            if estimate not in self._splits:
                self._splits[estimate] = self._draw(estimate, np.random.default_rng([self.seed, 1]), None)
            return self._splits[estimate], estimate
        stream = int(model_digest(model)[:15], 16)
        rng = np.random.default_rng([self.seed, 2, stream, turn])
        rows = subsample(self.ground.population, part, rng) if part < 1.0 else None
        return self._draw(estimate, rng, rows), (estimate, stream, turn, part)

    def _draw(self, estimate: Call, rng: np.random.Generator, rows: NDArray[np.intp] | None) -> list[Split]:
        population = self.ground.population if rows is None else self.ground.population.part(rows)
        options = dict(estimate.options)
        match estimate.name:
            case "cv":
                splits = list(cross_validation(population, int(options["folds"]), int(options["repeats"]), rng))  # type: ignore[arg-type]
            case "holdout":
                splits = [holdout(population, float(options["share"]), rng)]  # type: ignore[arg-type]
            case "loo":
                splits = list(leave_one_out(population))
            case "bootstrap632":
                splits = list(bootstrap(population, int(options["samples"]), rng))  # type: ignore[arg-type]
            case _:
                splits = [Split(np.arange(population.n_rows), np.arange(population.n_rows))]
        if rows is None:
            return splits
        return [Split(rows[split.train], rows[split.test], split.pool) for split in splits]

    # --- one fold ---

    def _outputs(self, model: Model, split: Split, own: Hashable, tally: _Tally) -> Floats:
        """The outputs of a model, fitted on the one part of a split, for the other."""
        fitted = self._fitted(model, split.train, own, tally)
        inner = self._test_rows(fitted, split.test, own)
        learner = fitted.learner
        if isinstance(learner, Block) and learner.query_parameters is not None:
            key = (own, "query", fitted.prefix, _shared_key(fitted.learner_value, learner.query_parameters))
            query, _ = self.cache.get(key, lambda: learner.prepare_query(inner))  # type: ignore[attr-defined]
            outputs: Floats = learner.outputs_prepared(query)  # type: ignore[attr-defined]
        else:
            outputs = learner_outputs(learner, inner, self.ground.n_classes)
        return apply_steps(fitted.posts, outputs)

    def _fitted(self, model: Model, rows: NDArray[np.intp], own: Hashable, tally: _Tally) -> _Fitted:
        before, learner_value, after = _parts(model)
        ground = self.ground
        y = ground.y[rows]
        inner = ground.X[rows]
        seconds = 0.0
        steps: list[Any] = []
        prefix: tuple[Step, ...] = ()
        for position, step in enumerate(before):
            prefix = (*prefix, step)
            self._step_name = _name(step)
            key = (own, "step", prefix)
            tally.fits_saved += key in self.cache
            tally.fits += key not in self.cache
            (estimator, inner), spent = self.cache.get(
                key,
                lambda s=step, p=position, pre=prefix[:-1], rows_in=inner: self._fit_step(s, p, pre, rows_in, y, own),
            )
            steps.append(estimator)
            seconds += spent
        self._step_name = _name(learner_value)
        start = perf_counter()
        learner = self._fit_learner(learner_value, len(before), prefix, inner, y, own)
        tally.fits += 1
        posts = []
        if after:
            outputs = learner_outputs(learner, inner, ground.n_classes)
            for position, post in enumerate(after, len(before) + 1):
                self._step_name = _name(post)
                estimator = step_to_estimator(post, ground.task, f"{self.seed}/{position}", self.trusted)
                outputs = fit_step(estimator, outputs, y, ground.n_classes)
                posts.append(estimator)
        tally.fit_times.append(seconds + perf_counter() - start)
        tally.features.append(float(getattr(learner, "n_features_used_", inner.shape[1])))
        tally.complexities.append(sum(complexity(one) for one in [*_leaves(steps), learner, *posts]))
        return _Fitted(steps, learner, learner_value, posts, inner, prefix)

    def _fit_step(
        self, step: Step, position: int, prefix: tuple[Step, ...], X: Floats, y: NDArray[Any], own: Hashable
    ) -> tuple[Any, Floats]:
        estimator = step_to_estimator(step, self.ground.task, f"{self.seed}/{position}", self.trusted)
        if isinstance(estimator, Block) and estimator.shared_parameters is not None and isinstance(step, BlockValue):
            self._fit_shared(estimator, step, prefix, X, y, own)
            return estimator, estimator.transform_arrays(X)  # type: ignore[attr-defined]
        return estimator, fit_step(estimator, X, y, self.ground.n_classes)

    def _fit_learner(
        self, value: BlockValue, position: int, prefix: tuple[Step, ...], X: Floats, y: NDArray[Any], own: Hashable
    ) -> Any:
        learner = step_to_estimator(value, self.ground.task, f"{self.seed}/{position}", self.trusted)
        if isinstance(learner, Block) and learner.shared_parameters is not None:
            self._fit_shared(learner, value, prefix, X, y, own)
        else:
            fit_learner(learner, X, y, self.ground.n_classes)
        return learner

    def _fit_shared(
        self, block: Block, value: BlockValue, prefix: tuple[Step, ...], X: Floats, y: NDArray[Any], own: Hashable
    ) -> None:
        """The part of a fit that siblings share comes from the cache."""
        assert block.shared_parameters is not None
        key = (own, "shared", prefix, _shared_key(value, block.shared_parameters))
        prepared, _ = self.cache.get(key, lambda: block.prepare(X, y, self.ground.n_classes))
        block.fit_prepared(prepared, X, y, self.ground.n_classes)

    def _test_rows(self, fitted: _Fitted, rows: NDArray[np.intp], own: Hashable) -> Floats:
        """The rows to judge, as the learner sees them."""
        inner = self.ground.X[rows]
        prefix: tuple[Step, ...] = ()
        for step, estimator in zip(fitted.prefix, fitted.steps, strict=True):
            prefix = (*prefix, step)
            inner, _ = self.cache.get(
                (own, "test", prefix), lambda e=estimator, rows_in=inner: apply_steps([e], rows_in)
            )
        return inner

    # --- measures of the model ---

    def _of_model(self, tally: _Tally, measures: list[str]) -> dict[str, float]:
        known = {
            "features": tally.features,
            "feature_share": [features / self.ground.X.shape[1] for features in tally.features],
            "complexity": tally.complexities,
            "fit_time": tally.fit_times,
        }
        return {name: float(np.mean(known[name])) for name in measures if name in known}

    def _error_with_all(self, model: Model, estimate: Call, share: float, turn: int) -> float:
        """The error of the same model with every feature kept, for `relative_error`."""
        splits, own = self._splits_for(model, estimate, share, turn)
        return self._pooled(_with_all_features(model), splits, ["error"], _Tally(), own, None, None)["error"]


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A model fitted on some rows, and what those rows look like to its learner."""

    steps: list[Any]
    learner: Any
    learner_value: BlockValue
    posts: list[Any]
    inner: Floats
    prefix: tuple[Step, ...]


def _parts(model: Model) -> tuple[tuple[Step, ...], BlockValue, tuple[Step, ...]]:
    at = next(i for i, s in enumerate(model.steps) if isinstance(s, BlockValue) and s.block.role == "learner")
    learner = model.steps[at]
    assert isinstance(learner, BlockValue)
    return model.steps[:at], learner, model.steps[at + 1 :]


def _with_all_features(model: Model) -> Model:
    """Selectors left out, and every mask of features switched on."""
    steps: list[Step] = []
    for step in model.steps:
        if isinstance(step, BlockValue) and step.block.role == "selector":
            continue
        if isinstance(step, BlockValue):
            params = tuple((name, _all_on(value)) for name, value in step.params)
            step = BlockValue(step.block, params)
        steps.append(step)
    return Model(tuple(steps))


def _all_on(value: Any) -> Any:
    is_mask = isinstance(value, tuple) and value and all(isinstance(bit, bool) for bit in value)
    return (True,) * len(value) if is_mask else value


def _shared_key(value: BlockValue, parameters: frozenset[str]) -> Hashable:
    return value.block.target, tuple((name, given) for name, given in value.params if name in parameters)


def _name(step: Step) -> str:
    return step.block.name if isinstance(step, BlockValue) else "&"


def _leaves(steps: list[Any]) -> Iterator[Any]:
    for step in steps:
        if hasattr(step, "branches"):
            for branch in step.branches:
                yield from _leaves(branch)
        else:
            yield step
