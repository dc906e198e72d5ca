"""Estimates: the splits behind `holdout`, `cv`, `loo`, `gcv` and `bootstrap632`.

Without `shuffle` and `subsample` they depend on the seed, the table and the estimate alone, so that every model of a
search meets the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.diagnostics.user_error import UserError
from msl.evaluate.dataset import Dataset
from msl.evaluate.metrics import score
from msl.evaluate.splits import (
    Rows,
    Split,
    SplitGroups,
    Splits,
    SplitsByUnit,
    bootstrap_splits,
    fold_splits,
    holdout_split,
    time_splits,
)
from msl.space.spec import Call

Options = Mapping[str, Any]


def holdout(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """One split: a share of the rows is held out."""
    return [holdout_split(population, float(options["share"]), rng)]


def cv(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """Every row judged once in each repeat; along time there is one way to do it, so it is not repeated."""
    if population.order is not None:
        return time_splits(population, int(options["folds"]))
    return fold_splits(population, int(options["folds"]), int(options["repeats"]), rng)


def loo(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """Each row, or each group where there are groups, judged by a model of all others."""
    return SplitsByUnit(np.arange(population.n_rows) if population.groups is None else population.groups)


def gcv(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """All rows, to fit and to judge on: what is too good about that is corrected in the score."""
    rows = np.arange(population.n_rows)
    return [Split(rows, rows)]


def bootstrap632(population: SplitGroups, options: Options, rng: np.random.Generator) -> Splits:
    """First all rows, to fit and to judge on; then the resamples, each judged on the rows that it lacks."""
    rows = np.arange(population.n_rows)
    resamples = bootstrap_splits(population, int(options["samples"]), rng)
    return [Split(rows, rows), *(Split(split.train, split.test, pool=1) for split in resamples)]


ESTIMATES: Mapping[str, Callable[[SplitGroups, Options, np.random.Generator], Splits]] = {
    "holdout": holdout,
    "cv": cv,
    "loo": loo,
    "gcv": gcv,
    "bootstrap632": bootstrap632,
}


def check_estimate(estimate: Call, population: SplitGroups) -> None:
    """Raises ValueError, with what to do about it, for an estimate that this table cannot give."""
    if population.n_rows < 2:
        raise UserError("the table has a single row, and none would be left to judge a model by; add rows")
    if estimate.name == "gcv":
        return
    if population.order is not None:
        if estimate.name in ("loo", "bootstrap632"):
            raise UserError(
                f"`{estimate.name}` fits on rows that came later than those it judges, and the table has an order; "
                "use `cv` or `holdout`, which follow it, or leave `order` out of `data(…)`"
            )
        if len(np.unique(population.order)) < 2:
            raise UserError("all rows have the same place in the order, and none comes later; leave `order` out")
    if population.groups is not None and len(np.unique(population.groups)) < 2:
        raise UserError("all rows are of one group, and none would be left to judge by; leave `groups` out")


# --- Trial: the splits that a model goes through for one estimate, and how its outputs there become one figure. -------


#: What the training error counts in the .632 bootstrap, and what the error on rows that a resample lacks.
_TRAINING, _LACKING = 0.368, 0.632


@dataclass(frozen=True, slots=True, eq=False)
class OutputPool:
    """Rows whose outputs are scored together; `share` is what their score counts. `weights` are those of the rows."""

    share: float
    rows: Rows
    y: NDArray[Any]
    weights: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Resampling:
    """`key` names the splits in caches; it is None for splits that one evaluation alone meets."""

    estimate: Call
    splits: Splits
    pools: tuple[OutputPool, ...]
    key: Hashable | None

    @classmethod
    def of(cls, estimate: Call, splits: Splits, y: NDArray[Any], key: Hashable | None) -> Resampling:
        by_pool: dict[int, list[Rows]] = {}
        for split in splits:
            by_pool.setdefault(split.pool, []).append(split.test)
        judged = [np.concatenate(by_pool[pool]) for pool in sorted(by_pool)]
        if estimate.name == "bootstrap632":
            pools = _bootstrap_pools(judged, y)
        else:
            pools = tuple(OutputPool(1.0 / len(judged), rows, y[rows]) for rows in judged)
        return cls(estimate, splits, pools, key)

    @property
    def is_by_row(self) -> bool:
        """Whether every row is judged by a model of all others."""
        return isinstance(self.splits, SplitsByUnit) and len(self.splits) == len(self.pools[0].rows)

    def fold_key(self, position: int) -> Hashable | None:
        return None if self.key is None else (self.key, position)

    def score(self, measure: str, outputs: Sequence[Floats], n_classes: int) -> float:
        """One measure, from the outputs of each pool."""
        return sum(
            pool.share * score(measure, pool.y, given, n_classes, pool.weights)
            for pool, given in zip(self.pools, outputs, strict=True)
        )


def joined(trials: Sequence[Resampling]) -> Resampling:
    """Several trials of one estimate as one, whose score is the mean of theirs."""
    if len(trials) == 1:
        return trials[0]
    pools = [replace(pool, share=pool.share / len(trials)) for trial in trials for pool in trial.pools]
    return Resampling(trials[0].estimate, [split for trial in trials for split in trial.splits], tuple(pools), None)


def _bootstrap_pools(judged: list[Rows], y: NDArray[Any]) -> tuple[OutputPool, ...]:
    """All rows under the model of all rows, and each row under the resamples that lack it, which count as one row."""
    everything, *lacking = judged
    if not lacking:
        return (OutputPool(1.0, everything, y[everything]),)
    rows = lacking[0]
    weights = 1.0 / np.bincount(rows)[rows]
    return OutputPool(_TRAINING, everything, y[everything]), OutputPool(_LACKING, rows, y[rows], weights)


# --- Trials: the splits that each evaluation meets — the same for all models, or drawn afresh for each. ---------------


# What random numbers are for, so that no two uses of one seed draw the same.
_SPLITS, _OWN, _ROWS = 1, 2, 3
#: Trials of later turns that are kept at once: a batch is of one turn, or every evaluation of it of its own.
_MOST_TURNS = 16


class ResamplingPlan:
    """Draws splits for the estimates of one search on one table."""

    def __init__(self, dataset: Dataset, estimates: Iterable[Call], seed: int) -> None:
        """Raises ValueError for an estimate that this table cannot give."""
        self._ground, self._seed = dataset, seed
        self.estimates = tuple(dict.fromkeys(estimates))
        for estimate in self.estimates:
            check_estimate(estimate, dataset.population)
        # Two views of one fit: beside a holdout, `gcv` judges the part that the holdout leaves to fit on.
        holdouts = [estimate for estimate in self.estimates if estimate.name == "holdout"]
        self._holdout = holdouts[0] if len(holdouts) == 1 else None
        self._shared: dict[Hashable, Resampling] = {}
        self._later: dict[Hashable, Resampling] = {}
        for estimate in self.estimates:
            if not self.is_fresh(estimate):
                self.trial(estimate, 0, 1.0, 0)

    def is_fresh(self, estimate: Call) -> bool:
        """Whether each evaluation draws splits of its own."""
        source = self._source(estimate)
        return bool(source["shuffle"]) or float(source["subsample"]) < 1.0  # type: ignore[arg-type]

    def _source(self, estimate: Call) -> Call:
        """The estimate whose splits this one uses."""
        return self._holdout if estimate.name == "gcv" and self._holdout is not None else estimate

    def trial(self, estimate: Call, stream: int, share: float, repeat: int) -> Resampling:
        """The trial of one evaluation: `stream` stands for the model, `share` is the share of rows to judge on.

        Turn 0 has the splits that all models meet, a later turn splits of its own, again the same for all models.
        """
        if self.is_fresh(estimate):
            return self._own(estimate, stream, share, repeat)
        kept = self._later if repeat else self._shared
        key = (estimate, share, repeat)
        if key not in kept:
            if len(self._later) >= _MOST_TURNS * len(self.estimates):
                del self._later[next(iter(self._later))]
            again = [repeat] if repeat else []
            rows = None
            if share < 1.0:
                rows = self._ground.population.subsample(share, np.random.default_rng([self._seed, _ROWS, *again]))
            splits = self._splits(estimate, rows, np.random.default_rng([self._seed, _SPLITS, *again]))
            name = (estimate.name, self.estimates.index(estimate), share, repeat)
            kept[key] = Resampling.of(estimate, splits, self._ground.y, name)
        return kept[key]

    def _own(self, estimate: Call, stream: int, share: float, repeat: int) -> Resampling:
        rng = np.random.default_rng([self._seed, _OWN, stream, repeat])
        part = float(self._source(estimate)["subsample"]) * share  # type: ignore[arg-type]
        rows = self._ground.population.subsample(part, rng) if part < 1.0 else None
        return Resampling.of(estimate, self._splits(estimate, rows, rng), self._ground.y, None)

    def _splits(self, estimate: Call, rows: Rows | None, rng: np.random.Generator) -> Splits:
        population = self._ground.population if rows is None else self._ground.population.part(rows)
        source = self._source(estimate)
        splits = ESTIMATES[source.name](population, dict(source.options), rng)
        if source is not estimate:
            splits = [Split(split.train, split.train) for split in splits]
        if isinstance(splits, SplitsByUnit):
            return splits.of(rows)
        usable = [split for split in splits if len(split.train) and len(split.test)]
        if not usable:
            raise UserError(
                f"`{estimate.name}` finds no rows to fit on and to judge by at once; "
                "look at `groups` and `order`, or use another estimate"
            )
        return usable if rows is None else [split.of(rows) for split in usable]
