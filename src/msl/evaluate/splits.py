"""Splits: which rows a model is fitted on and which it is judged on, for every estimate.

Splits depend on the seed, the table and the estimate alone, so that every model of a search meets the same ones. With
`shuffle` or `subsample` each evaluation draws its own, from a number that stands for the model and the turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows to fit on and rows to judge on. `pool` numbers the pools that are scored apart, such as repeats."""

    train: Rows
    test: Rows
    pool: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """What splits may look at: the classes (or None), the groups that stay together, the order in time."""

    n_rows: int
    classes: NDArray[np.intp] | None = None
    groups: NDArray[np.intp] | None = None
    order: NDArray[np.intp] | None = None

    def part(self, rows: Rows) -> Population:
        def cut(values: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
            return None if values is None else values[rows]

        return Population(len(rows), cut(self.classes), cut(self.groups), cut(self.order))


def subsample(population: Population, share: float, rng: np.random.Generator) -> Rows:
    """A part of the rows, every class in its proportion, at least two rows of each class where there are two."""
    if share >= 1.0:
        return np.arange(population.n_rows)
    if population.groups is not None:
        groups = np.unique(population.groups)
        kept = rng.permutation(groups)[: max(2, round(share * len(groups)))]
        return np.flatnonzero(np.isin(population.groups, kept))
    strata = np.zeros(population.n_rows, dtype=np.intp) if population.classes is None else population.classes
    chosen = []
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        chosen.append(rows[: max(min(2, len(rows)), round(share * len(rows)))])
    return np.sort(np.concatenate(chosen))


def cross_validation(population: Population, folds: int, repeats: int, rng: np.random.Generator) -> Iterator[Split]:
    """Stratified folds; by groups where there are; along time where there is an order (then without repeats)."""
    if population.order is not None:
        yield from _time_folds(population, folds)
        return
    for repeat in range(repeats):
        fold_of = _folds(population, folds, rng)
        for fold in range(int(fold_of.max()) + 1):
            test = fold_of == fold
            yield Split(np.flatnonzero(~test), np.flatnonzero(test), repeat)


def holdout(population: Population, share: float, rng: np.random.Generator) -> Split:
    """A share of the rows held out: the last ones in time, whole groups, or every class in its proportion."""
    n = population.n_rows
    wanted = min(max(1, round(share * n)), n - 1)
    if population.order is not None:
        by_time = np.argsort(population.order, kind="stable")
        return Split(np.sort(by_time[: n - wanted]), np.sort(by_time[n - wanted :]))
    test = np.zeros(n, dtype=np.bool_)
    if population.groups is not None:
        for group in rng.permutation(np.unique(population.groups)):
            if test.sum() >= wanted:
                break
            test |= population.groups == group
    else:
        strata = np.zeros(n, dtype=np.intp) if population.classes is None else population.classes
        for stratum, quota in _quotas(strata, wanted):
            test[rng.permutation(np.flatnonzero(strata == stratum))[:quota]] = True
    return Split(np.flatnonzero(~test), np.flatnonzero(test))


def leave_one_out(population: Population) -> Iterator[Split]:
    """Each row (each group, where there are groups) judged by a model of all others."""
    units = np.arange(population.n_rows) if population.groups is None else population.groups
    for unit in np.unique(units):
        yield Split(np.flatnonzero(units != unit), np.flatnonzero(units == unit))


def bootstrap(population: Population, samples: int, rng: np.random.Generator) -> Iterator[Split]:
    """Resamples with replacement, each judged on the rows that it lacks; every class keeps a row in each."""
    n = population.n_rows
    made = 0
    while made < samples:
        train = np.sort(rng.integers(0, n, n))
        if population.classes is not None and len(np.unique(population.classes[train])) < len(
            np.unique(population.classes)
        ):
            missing = np.setdiff1d(np.unique(population.classes), np.unique(population.classes[train]))
            extra = [rng.choice(np.flatnonzero(population.classes == c)) for c in missing]
            train[: len(extra)] = extra
        test = np.setdiff1d(np.arange(n), train)
        made += 1
        if len(test):
            yield Split(np.sort(train), test)


def _folds(population: Population, folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The fold of each row. Rows of a class are dealt in turn, so that folds differ by at most one row of it."""
    n = population.n_rows
    if population.groups is not None:
        return _group_folds(population.groups, min(folds, len(np.unique(population.groups))), rng)
    folds = min(folds, n)
    strata = np.zeros(n, dtype=np.intp) if population.classes is None else population.classes
    fold_of = np.empty(n, dtype=np.intp)
    dealt = 0
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        fold_of[rows] = (dealt + np.arange(len(rows))) % folds
        dealt += len(rows)
    return fold_of


def _group_folds(groups: NDArray[np.intp], folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Whole groups, the largest first, each to the fold that has the fewest rows."""
    names, sizes = np.unique(groups, return_counts=True)
    shuffled = rng.permutation(len(names))
    load = np.zeros(folds, dtype=np.intp)
    fold_of_group: dict[Any, int] = {}
    for place in sorted(shuffled, key=lambda i: -sizes[i]):
        lightest = int(load.argmin())
        fold_of_group[names[place]] = lightest
        load[lightest] += sizes[place]
    return np.array([fold_of_group[group] for group in groups], dtype=np.intp)


def _time_folds(population: Population, folds: int) -> Iterator[Split]:
    """Each fold is judged by a model of what came before it; rows of one moment stay together."""
    assert population.order is not None
    moments = np.unique(population.order)
    edges = np.array_split(moments, min(folds, len(moments) - 1) + 1)
    for later in edges[1:]:
        test = np.isin(population.order, later)
        yield Split(np.flatnonzero(population.order < later[0]), np.flatnonzero(test))


def _quotas(strata: NDArray[np.intp], wanted: int) -> Iterator[tuple[int, int]]:
    """How many rows of each class: its share, the largest remainders rounded up, one row of each left to fit on."""
    names, counts = np.unique(strata, return_counts=True)
    exact = counts * wanted / counts.sum()
    quota = np.floor(exact).astype(np.intp)
    for place in np.argsort(-(exact - quota), kind="stable")[: wanted - int(quota.sum())]:
        quota[place] += 1
    for name, count, share in zip(names, counts, quota, strict=True):
        yield int(name), int(min(share, count - 1) if count > 1 else 0)
