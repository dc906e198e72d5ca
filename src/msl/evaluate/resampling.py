"""Resample the rows: one function per estimate that returns its splits, and how the scored outputs become one figure.

Without `shuffle` and `subsample`, splits depend only on the seed, the table and the estimate, so that all models of a
search are compared on the same ones. `catalogue/estimates.msl` declares each estimate (`Estimate`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from msl.blocks.base.block import Floats
from msl.blocks.base.load import load_function
from msl.diagnostics.user_error import UserError
from msl.evaluate.dataset import Dataset
from msl.evaluate.metrics import score
from msl.evaluate.splits import (
    Past,
    Rows,
    Split,
    SplitGroups,
    Splits,
    SplitsByUnit,
    bootstrap_splits,
    deal,
    fold_splits,
    given_splits,
    holdout_split,
    time_splits,
)
from msl.space.spec import Estimate, Metric
from msl.space.values import SymbolValue

Options = Mapping[str, Any]


def holdout(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """One split: a share of the rows is held out."""
    return [holdout_split(_dealt_by(population, options), float(options["share"]), rng, _past(options))]


def cv(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """Every row is scored once in each repeat. Folds of the table, or along an order, are not random, so they are not
    repeated."""
    if population.folds is not None:
        return given_splits(population.folds)
    if population.order is not None:
        return time_splits(population, int(options["folds"]), _past(options))
    return fold_splits(_dealt_by(population, options), int(options["folds"]), int(options["repeats"]), rng)


def _past(options: Options) -> Past:
    """Which earlier rows are fitted on where the table has an order; `all` of them is an expanding window."""
    window = options.get("window", "all")
    return Past(int(options.get("gap", 0)), None if isinstance(window, str) else int(window))


def _dealt_by(population: SplitGroups, options: Options) -> SplitGroups:
    """The rows as they are dealt out: without `stratified`, their classes do not matter."""
    return population if options.get("stratified", True) else replace(population, classes=None)


def loo(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """Each row, or each group where there are groups, is scored by a model of all others."""
    return SplitsByUnit(np.arange(population.n_rows) if population.groups is None else population.groups)


def gcv(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """All rows, to fit and to score on; the score corrects the optimism."""
    rows = np.arange(population.n_rows)
    return [Split(rows, rows)]


def bootstrap632(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """First all rows, to fit and to score on; then the resamples, each scored on the rows that it lacks."""
    rows = np.arange(population.n_rows)
    resamples = bootstrap_splits(population, int(options["samples"]), rng)
    return [Split(rows, rows), *(Split(split.train, split.test, pool=1) for split in resamples)]


def check_estimate(estimate: Estimate, population: SplitGroups) -> None:
    """Raises ValueError, with what to do about it, for an estimate that this table cannot give."""
    if population.n_rows < 2:
        raise UserError("the table has a single row, and none would be left to test a model on; add rows")
    if _is_balanced(estimate):
        _check_balanced(population)
    if population.order is None and _past(dict(estimate.options)) != Past():
        raise UserError(
            f"`gap` and `window` of `{estimate.name}` count moments, and the table has no order; "
            "write data(order = …), or leave them out"
        )
    if estimate.held_out is None:
        return
    if population.order is not None:
        if not estimate.follows_order:
            raise UserError(
                f"`{estimate.name}` fits on rows that came later than those it tests on, and the table has an order; "
                "use `cv` or `holdout`, which follow it, or leave `order` out of `data(…)`"
            )
        if len(np.unique(population.order)) < 2:
            raise UserError("all rows have the same place in the order, and none comes later; leave `order` out")
    if population.folds is not None:
        _check_folds(population.folds, population.classes)
    if population.groups is not None and len(np.unique(population.groups)) < 2:
        raise UserError("all rows are of one group, and none would be left to test on; leave `groups` out")


def _check_folds(folds: Rows, classes: Rows | None) -> None:
    """Raises ValueError if a fold leaves rows of a single class to fit on."""
    if classes is None:
        return
    for split in given_splits(folds):
        if len(np.unique(classes[split.train])) < 2:
            number = int(folds[split.test[0]]) + 1
            raise UserError(
                f"without fold {number} of `data(fold = …)` all rows are of one class, so that nothing can be fitted; "
                "deal the classes out to several folds"
            )


def _check_balanced(population: SplitGroups) -> None:
    """Raises ValueError if rows cannot be drawn class by class."""
    if population.classes is None:
        raise UserError("`balanced` draws as many rows of each class, and numbers have no classes; leave it out")
    if population.groups is not None:
        raise UserError("`balanced` draws single rows, and rows of a group stay together; leave it or `groups` out")


# --- the splits of one estimate, and the pools that their outputs are scored in ---------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class OutputPool:
    """Rows whose outputs are scored together, with their weights; `share` is the weight of their score."""

    share: float
    rows: Rows
    y: NDArray[Any]
    weights: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """`key` names the splits in caches; it is None for splits that only one evaluation uses.

    With `is_generalised` the first fit gives generalised cross-validation too, for an estimate that shares it.
    """

    estimate: Estimate
    splits: Splits
    pools: tuple[OutputPool, ...]
    key: Hashable | None
    is_generalised: bool = False

    @classmethod
    def of(
        cls, estimate: Estimate, splits: Splits, y: NDArray[Any], key: Hashable | None, is_generalised: bool = False
    ) -> Resampling:
        by_pool: dict[int, list[Rows]] = {}
        for split in splits:
            by_pool.setdefault(split.pool, []).append(split.test)
        scored = [np.concatenate(by_pool[pool]) for pool in sorted(by_pool)]
        shares = _pool_shares(estimate, len(scored))
        first_repeating = (1 if estimate.training_weight else 0) if estimate.rows_repeat else len(scored)
        pools = tuple(
            OutputPool(share, rows, y[rows], _once_each(rows) if number >= first_repeating else None)
            for number, (share, rows) in enumerate(zip(shares, scored, strict=True))
        )
        return cls(estimate, splits, pools, key, is_generalised)

    @property
    def has_loo_shortcut(self) -> bool:
        """Whether every row is scored by a model of all others, so that a learner may do without the refits."""
        is_by_row = isinstance(self.splits, SplitsByUnit) and len(self.splits) == len(self.pools[0].rows)
        return self.estimate.shortcut == "loo" and is_by_row

    def fold_key(self, position: int) -> Hashable | None:
        return None if self.key is None else (self.key, position)

    def weighed(self, weights: Floats | None) -> Resampling:
        """The same, with a weight for each row of the table in the scores."""
        if weights is None:
            return self
        pools = [
            replace(pool, weights=weights[pool.rows] * (1.0 if pool.weights is None else pool.weights))
            for pool in self.pools
        ]
        return replace(self, pools=tuple(pools))

    def score(self, metric: Metric, outputs: Sequence[Floats]) -> float:
        """One metric, from the outputs of each pool."""
        return sum(
            pool.share * score(metric, pool.y, given, pool.weights)
            for pool, given in zip(self.pools, outputs, strict=True)
        )


def joined(resamplings: Sequence[Resampling]) -> Resampling:
    """Several resamplings of one estimate as one; its score is the mean of theirs."""
    if len(resamplings) == 1:
        return resamplings[0]
    pools = [
        replace(pool, share=pool.share / len(resamplings)) for resampling in resamplings for pool in resampling.pools
    ]
    return Resampling(
        resamplings[0].estimate,
        [split for resampling in resamplings for split in resampling.splits],
        tuple(pools),
        None,
    )


#: Of so many splits each is halved; where there are more, as many folds are dealt instead.
_MOST_HALVED = 10


def can_halve(estimate: Estimate, population: SplitGroups) -> bool:
    """Whether rows are both tested and trained on, by each other: not in one split, and not along an order."""
    return estimate.held_out in ("folds", "rows") and not estimate.rows_repeat and population.order is None


def halved(resampling: Resampling, population: SplitGroups, rng: np.random.Generator) -> Resampling:
    """The rows of the first repeat, each scored twice, by models of the two halves of the rows that it was scored by.

    The two have no training row in common, so that where they differ shows how much a loss is about training rows.
    """
    rows = np.unique(resampling.pools[0].rows)
    splits = [split for split in resampling.splits[: _MOST_HALVED + 1] if split.pool == 0]
    if len(splits) > _MOST_HALVED:
        splits = [one.of(rows) for one in fold_splits(population.part(rows), _MOST_HALVED, 1, rng)]
    parts = []
    for split in splits:
        half = deal(population.part(split.train), 2, rng)
        parts += [Split(split.train[half == number], split.test, number) for number in (0, 1)]
    order = np.concatenate([split.test for split in splits])
    first = resampling.pools[0]
    weights = None
    if first.weights is not None:
        by_row = np.ones(population.n_rows)
        by_row[first.rows] = first.weights
        weights = by_row[order]
    y = np.empty(population.n_rows, dtype=first.y.dtype)
    y[first.rows] = first.y
    pools = tuple(OutputPool(0.5, order, y[order], weights) for _ in (0, 1))
    return Resampling(resampling.estimate, sorted(parts, key=lambda one: one.pool), pools, None)


def _pool_shares(estimate: Estimate, n_pools: int) -> list[float]:
    """What the score of each pool counts: the same, unless pool 0 is the training error with a weight of its own."""
    if n_pools == 1 or not estimate.training_weight:
        return [1.0 / n_pools] * n_pools
    return [estimate.training_weight, *[(1.0 - estimate.training_weight) / (n_pools - 1)] * (n_pools - 1)]


def _once_each(rows: Rows) -> Floats:
    """Weights with which a row that is there several times counts as one."""
    return np.asarray(1.0 / np.bincount(rows)[rows])


# --- the splits of each evaluation: the same for all models, or drawn for each ----------------------------------------


# Streams of random numbers, so that no two uses of one seed draw the same.
_SPLITS, _OWN, _ROWS = 1, 2, 3
#: Resamplings of later repeats that are kept at once: a batch has one repeat, or each of its evaluations its own.
_MOST_REPEATS = 16


class ResamplingPlan:
    """Draws splits for the estimates of one search on one table."""

    def __init__(self, dataset: Dataset, estimates: Iterable[Estimate], seed: int) -> None:
        """Raises ValueError for an estimate that this table cannot give."""
        self._dataset, self._seed = dataset, seed
        self.estimates = tuple(dict.fromkeys(estimates))
        for estimate in self.estimates:
            check_estimate(estimate, dataset.population)
        self._row_weights = {estimate: row_weights(estimate, dataset) for estimate in self.estimates}
        # Two views of one fit: beside a holdout, `gcv` scores the part that the holdout leaves to fit on.
        holdouts = [estimate for estimate in self.estimates if estimate.held_out == "one"]
        self._holdout = holdouts[0] if len(holdouts) == 1 else None
        self._shared: dict[Hashable, Resampling] = {}
        self._later: dict[Hashable, Resampling] = {}
        for estimate in self.estimates:
            if not self.is_fresh(estimate):
                self.resampling(estimate, 0, 1.0, 0)

    def is_fresh(self, estimate: Estimate) -> bool:
        """Whether each evaluation draws splits of its own."""
        return draws_own_splits(self._source(estimate))

    def _source(self, estimate: Estimate) -> Estimate:
        """The estimate whose splits this one uses."""
        return self._holdout if estimate.held_out is None and self._holdout is not None else estimate

    def fitted_by(self, estimate: Estimate) -> Estimate | None:
        """The estimate whose fit gives this one too, if there is one."""
        source = self._source(estimate)
        return source if source is not estimate and estimate.shortcut == "gcv" else None

    def _is_generalised(self, estimate: Estimate) -> bool:
        return any(self.fitted_by(other) == estimate for other in self.estimates)

    def resampling(self, estimate: Estimate, stream: int, share: float, repeat: int) -> Resampling:
        """The resampling of one evaluation: `stream` identifies the model, `share` is the share of rows to evaluate on.

        Repeat 0 has the splits that all models share, each later repeat others, again the same for all models.
        """
        if self.is_fresh(estimate):
            return self._own(estimate, stream, share, repeat).weighed(self._row_weights[estimate])
        kept = self._later if repeat else self._shared
        key = (estimate, share, repeat)
        if key not in kept:
            if len(self._later) >= _MOST_REPEATS * len(self.estimates):
                del self._later[next(iter(self._later))]
            again = [repeat] if repeat else []
            rows = self.rows(share, repeat)
            splits = self._splits(estimate, rows, np.random.default_rng([self._seed, _SPLITS, *again]))
            name = (estimate.name, self.estimates.index(estimate), share, repeat)
            resampling = Resampling.of(estimate, splits, self._dataset.y, name, self._is_generalised(estimate))
            kept[key] = resampling.weighed(self._row_weights[estimate])
        return kept[key]

    def rows(self, share: float, repeat: int) -> Rows | None:
        """The rows that an evaluation with this share of them is about; None for all."""
        if share >= 1.0:
            return None
        again = [repeat] if repeat else []
        return self._dataset.population.subsample(share, np.random.default_rng([self._seed, _ROWS, *again]))

    def _own(self, estimate: Estimate, stream: int, share: float, repeat: int) -> Resampling:
        rng = np.random.default_rng([self._seed, _OWN, stream, repeat])
        part = _subsample(self._source(estimate)) * share
        is_balanced = _is_balanced(self._source(estimate))
        rows = self._dataset.population.subsample(part, rng, is_balanced) if part < 1.0 else None
        splits = self._splits(estimate, rows, rng)
        return Resampling.of(estimate, splits, self._dataset.y, None, self._is_generalised(estimate))

    def _splits(self, estimate: Estimate, rows: Rows | None, rng: np.random.Generator) -> Splits:
        population = self._dataset.population if rows is None else self._dataset.population.part(rows)
        source = self._source(estimate)
        splits = _returned_splits(source, population, rng)
        if source is not estimate:
            splits = [Split(split.train, split.train) for split in splits]
        if isinstance(splits, SplitsByUnit):
            return splits.of(rows)
        usable = [split for split in splits if len(split.train) and len(split.test)]
        if not usable:
            raise UserError(
                f"`{estimate.name}` finds no rows to fit on and to test on at once; "
                "look at `groups` and `order`, or use another estimate"
            )
        return usable if rows is None else [split.of(rows) for split in usable]


def draws_own_splits(estimate: Estimate) -> bool:
    """Whether each model is evaluated on splits of its own."""
    return bool(dict(estimate.options).get("shuffle")) or _subsample(estimate) < 1.0


def _subsample(estimate: Estimate) -> float:
    return float(dict(estimate.options).get("subsample", 1.0))  # type: ignore[arg-type]


def _is_balanced(estimate: Estimate) -> bool:
    return bool(dict(estimate.options).get("balanced"))


def _returned_splits(estimate: Estimate, population: SplitGroups, rng: np.random.Generator) -> Splits:
    """What the function of an estimate returns. One of another package may raise anything, or return anything."""
    function = load_function("estimate", estimate.name, estimate.target)
    try:
        splits = function(population, dict(estimate.options), rng)
        found = splits if isinstance(splits, SplitsByUnit) else list(splits)
    except Exception as reason:
        if isinstance(reason, UserError) or estimate.target.startswith("msl."):
            raise
        raise UserError(f"the estimate `{estimate.name}` raised {type(reason).__name__}: {reason}") from reason
    if isinstance(found, SplitsByUnit):
        return found
    if not all(isinstance(split, Split) for split in found):
        raise UserError(f"the estimate `{estimate.name}` did not return a list of `msl.evaluate.Split`")
    return found


# --- The kernel K of the total cost: how much the error of each row counts (Duch and Grudzinski, 2001) ----------------

# An estimate with `kernel = border(width)` counts errors near the border between classes more than errors inside a
# class: K = exp(-(d / w)²), where d is the distance of a row to the nearest row of another class, and w is `width`
# times the median of these distances. Distances are Euclidean, over numbers in units of their standard deviation and
# symbols that are equal or not.

#: The weights of rows are relative; none is smaller than this, so that some part of every fold counts.
_LEAST = 1e-6


def row_weights(estimate: Estimate, dataset: Dataset) -> Floats | None:
    """How much the error of each row counts; None where all count the same."""
    kernel = kernel_weights(estimate, dataset)
    if dataset.weights is None or kernel is None:
        return dataset.weights if kernel is None else kernel
    return kernel * dataset.weights


def kernel_weights(estimate: Estimate, dataset: Dataset) -> Floats | None:
    """The weights that the kernel of an estimate gives, with a mean of one; None where all rows count the same."""
    kernel = dict(estimate.options).get("kernel")
    if not isinstance(kernel, SymbolValue) or not dataset.n_classes:
        return None
    gaps = gaps_to_other_classes(coordinates(dataset), dataset.y)
    middle = float(np.median(gaps))
    if middle <= 0.0:
        return None
    width = float(dict(kernel.params)["width"])  # type: ignore[arg-type]
    weights = np.maximum(np.exp(-np.square(gaps / (width * middle))), _LEAST)
    return np.asarray(weights / weights.mean())


def coordinates(dataset: Dataset) -> Floats:
    """Rows as points: numbers in units of their standard deviation, and a coordinate for each symbol of a column.

    A missing number is at the mean, a missing symbol equal to none.
    """
    symbolic = set(dataset.columns.symbolic)
    columns: list[Floats] = []
    for place, values in enumerate(np.asarray(dataset.X, dtype=np.float64).T):
        known = ~np.isnan(values)
        if place in symbolic:
            # Two symbols differ in two coordinates, which makes a distance of one.
            columns.extend((values == symbol) * np.sqrt(0.5) for symbol in np.unique(values[known]))
        elif known.any() and (spread := float(values[known].std())) > 0.0:
            columns.append(np.where(known, values - values[known].mean(), 0.0) / spread)
    return np.column_stack(columns) if columns else np.zeros((len(dataset.y), 1))


def gaps_to_other_classes(points: Floats, y: NDArray[np.intp]) -> Floats:
    """The distance of each row to the nearest row of another class."""
    gaps = np.zeros(len(points))
    for code in np.unique(y):
        own = y == code
        if own.all():
            break
        found = NearestNeighbors(n_neighbors=1).fit(points[~own]).kneighbors(points[own])[0]
        gaps[own] = found[:, 0]
    return gaps
