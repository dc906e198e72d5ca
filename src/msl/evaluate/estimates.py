"""Estimates: the splits behind `holdout`, `cv`, `loo`, `gcv` and `bootstrap632`.

Without `shuffle` and `subsample` they depend on the seed, the table and the estimate alone, so that every model of a
search meets the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from msl.evaluate.population import Population
from msl.evaluate.splits import (
    Split,
    Splits,
    SplitsByUnit,
    bootstrap_splits,
    fold_splits,
    holdout_split,
    time_splits,
)
from msl.space.spec import Call

Options = Mapping[str, Any]


def holdout(population: Population, options: Options, rng: np.random.Generator) -> Splits:
    """One split: a share of the rows is held out."""
    return [holdout_split(population, float(options["share"]), rng)]


def cv(population: Population, options: Options, rng: np.random.Generator) -> Splits:
    """Every row judged once in each repeat; along time there is one way to do it, so it is not repeated."""
    if population.order is not None:
        return time_splits(population, int(options["folds"]))
    return fold_splits(population, int(options["folds"]), int(options["repeats"]), rng)


def loo(population: Population, options: Options, rng: np.random.Generator) -> Splits:
    """Each row, or each group where there are groups, judged by a model of all others."""
    return SplitsByUnit(np.arange(population.n_rows) if population.groups is None else population.groups)


def gcv(population: Population, options: Options, rng: np.random.Generator) -> Splits:
    """All rows, to fit and to judge on: what is too good about that is corrected in the score."""
    rows = np.arange(population.n_rows)
    return [Split(rows, rows)]


def bootstrap632(population: Population, options: Options, rng: np.random.Generator) -> Splits:
    """First all rows, to fit and to judge on; then the resamples, each judged on the rows that it lacks."""
    rows = np.arange(population.n_rows)
    resamples = bootstrap_splits(population, int(options["samples"]), rng)
    return [Split(rows, rows), *(Split(split.train, split.test, pool=1) for split in resamples)]


ESTIMATES: Mapping[str, Callable[[Population, Options, np.random.Generator], Splits]] = {
    "holdout": holdout,
    "cv": cv,
    "loo": loo,
    "gcv": gcv,
    "bootstrap632": bootstrap632,
}


def check_estimate(estimate: Call, population: Population) -> None:
    """Raises ValueError, with what to do about it, for an estimate that this table cannot give."""
    if population.n_rows < 2:
        raise ValueError("the table has a single row, and none would be left to judge a model by; add rows")
    if estimate.name == "gcv":
        return
    if population.order is not None:
        if estimate.name in ("loo", "bootstrap632"):
            raise ValueError(
                f"`{estimate.name}` fits on rows that came later than those it judges, and the table has an order; "
                "use `cv` or `holdout`, which follow it, or leave `order` out of `data(…)`"
            )
        if len(np.unique(population.order)) < 2:
            raise ValueError("all rows have the same place in the order, and none comes later; leave `order` out")
    if population.groups is not None and len(np.unique(population.groups)) < 2:
        raise ValueError("all rows are of one group, and none would be left to judge by; leave `groups` out")
