"""Assign rows to training and test parts: folds, holdouts, bootstrap resamples, with classes, groups and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

#: For larger tables a split is made when needed: that takes little time beside a fit, and keeping all much memory.
MANY_ROWS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows to fit on and rows to score on. Pools, such as repeats, are numbered and scored separately."""

    train: Rows
    test: Rows
    pool: int = 0

    def of(self, rows: Rows) -> Split:
        """The same split of a table that these rows were taken from."""
        return Split(rows[self.train], rows[self.test], self.pool)


Splits = Sequence[Split]


class SplitsByUnit(Sequence[Split]):
    """Each unit (a row, or a group of rows) scored by a model of all others. A split is made when it is needed, since
    all of them together have the square of the table's number of rows."""

    def __init__(self, units: Rows, rows: Rows | None = None) -> None:
        self._units, self._rows = units, rows
        self._names = np.unique(units)

    def __len__(self) -> int:
        return len(self._names)

    def of(self, rows: Rows | None) -> SplitsByUnit:
        """The same splits of a table that these rows were taken from."""
        return self if rows is None else SplitsByUnit(self._units, rows)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> list[Split]: ...
    def __getitem__(self, index: int | slice) -> Split | list[Split]:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        inside = self._units == self._names[index]
        split = Split(np.flatnonzero(~inside), np.flatnonzero(inside))
        return split if self._rows is None else split.of(self._rows)


def fold_splits(population: SplitGroups, folds: int, repeats: int, rng: np.random.Generator) -> Splits:
    """Every row is scored once per repeat, by a model of the other folds."""
    if repeats == 1 and folds < MANY_ROWS < population.n_rows:
        return SplitsByUnit(deal(population, folds, rng))
    splits = []
    for repeat in range(repeats):
        fold_of = deal(population, folds, rng)
        for fold in range(int(fold_of.max()) + 1):
            test = fold_of == fold
            splits.append(Split(np.flatnonzero(~test), np.flatnonzero(test), repeat))
    return splits


def given_splits(folds: Rows) -> list[Split]:
    """The folds of the table, each scored by a model of all other rows; rows of no fold are only fitted on."""
    tested = [fold for fold in np.unique(folds) if fold >= 0]
    return [Split(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in tested]


def deal(population: SplitGroups, folds: int, rng: np.random.Generator) -> Rows:
    """The fold of each row."""
    if population.groups is None:
        return deal_rows(population.strata, min(folds, population.n_rows), rng)
    return deal_groups(population.groups, population.strata, folds, rng)


def deal_rows(strata: Rows, folds: int, rng: np.random.Generator) -> Rows:
    """The fold of each row, stratified. A class starts at the fold where the last one ended, so that folds differ by at
    most one row, in each class and in total."""
    fold_of = np.empty(len(strata), dtype=np.intp)
    dealt = 0
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        fold_of[rows] = (dealt + np.arange(len(rows))) % folds
        dealt += len(rows)
    return fold_of


def deal_groups(groups: Rows, strata: Rows, folds: int, rng: np.random.Generator) -> Rows:
    """The fold of each row, whole groups together: the largest first, each to the fold that has the fewest rows of its
    classes."""
    names, group_of = np.unique(groups, return_inverse=True)
    folds = min(folds, len(names))
    kinds, stratum_of = np.unique(strata, return_inverse=True)
    counts = np.bincount(group_of * len(kinds) + stratum_of, minlength=len(names) * len(kinds))
    brings = counts.reshape(len(names), len(kinds)).astype(np.float64)
    shares = brings / np.square(brings.sum(axis=0))
    shuffled = rng.permutation(len(names))
    load = np.zeros((folds, len(kinds)))
    fold_of_group = np.empty(len(names), dtype=np.intp)
    for place, group in enumerate(shuffled[np.argsort(-brings.sum(axis=1)[shuffled], kind="stable")]):
        # One group each first, so that no fold is empty.
        fold = place if place < folds else int(np.lexsort((load.sum(axis=1), load @ shares[group]))[0])
        fold_of_group[group] = fold
        load[fold] += brings[group]
    return fold_of_group[group_of]


@dataclass(frozen=True, slots=True)
class Past:
    """The earlier rows to fit on: those of the last `window` moments, or all, without those of the last `gap`."""

    gap: int = 0
    window: int | None = None

    def before(self, order: Rows, first: int) -> NDArray[np.bool_]:
        end = first - self.gap
        rows: NDArray[np.bool_] = order < end
        return rows if self.window is None else rows & (order >= end - self.window)


def time_splits(population: SplitGroups, folds: int, past: Past = Past()) -> list[Split]:
    """Each fold is scored by a model of the rows before it; rows of the same moment stay together."""
    assert population.order is not None
    moments = np.unique(population.order)
    later = np.array_split(moments, min(folds, len(moments) - 1) + 1)[1:]
    return [_from(population, test_moments[0], test_moments[-1], past) for test_moments in later]


def _from(population: SplitGroups, first: int, last: int, past: Past) -> Split:
    """Test rows from one moment to another and the earlier rows to fit on, of other groups where there are groups."""
    assert population.order is not None
    test = (population.order >= first) & (population.order <= last)
    train = past.before(population.order, first)
    if population.groups is not None:
        train &= ~np.isin(population.groups, population.groups[test])
    return Split(np.flatnonzero(train), np.flatnonzero(test))


def holdout_split(
    population: SplitGroups,
    share: float,
    rng: np.random.Generator,
    past: Past = Past(),
) -> Split:
    """A share of the rows is held out: the latest, whole groups, or stratified by class."""
    if population.order is not None:
        moments, counts = np.unique(population.order, return_counts=True)
        first = _nearest_end(counts[::-1], share * population.n_rows)
        return _from(population, moments[-first], moments[-1], past)
    test = np.zeros(population.n_rows, dtype=np.bool_)
    if population.groups is not None:
        names, counts = np.unique(population.groups, return_counts=True)
        shuffled = rng.permutation(len(names))
        taken = _nearest_end(counts[shuffled], share * population.n_rows)
        test[np.isin(population.groups, names[shuffled[:taken]])] = True
    else:
        for rows, quota in _quotas(population, share, rng):
            test[rows[:quota]] = True
    return Split(np.flatnonzero(~test), np.flatnonzero(test))


def _nearest_end(counts: Rows, wanted: float) -> int:
    """How many of these parts, from the first on, come nearest to so many rows: at least one, and not all."""
    ends = np.cumsum(counts)[:-1]
    return int(np.abs(ends - wanted).argmin()) + 1


def _quotas(population: SplitGroups, share: float, rng: np.random.Generator) -> list[tuple[Rows, int]]:
    """The rows of each class in random order and how many to take: its share, the largest remainders rounded up, and
    one row of each left to fit on."""
    wanted = min(max(1, round(share * population.n_rows)), population.n_rows - 1)
    by_class = [rng.permutation(np.flatnonzero(population.strata == name)) for name in np.unique(population.strata)]
    counts = np.array([len(rows) for rows in by_class])
    exact = counts * wanted / counts.sum()
    quotas = np.floor(exact).astype(np.intp)
    quotas[np.argsort(quotas - exact, kind="stable")[: wanted - int(quotas.sum())]] += 1
    quotas = np.minimum(quotas, counts - 1)
    if not quotas.any():
        # Only classes of one row, or too small a share: one row is held out all the same.
        quotas[counts.argmax()] = 1
    return list(zip(by_class, quotas.tolist(), strict=True))


def bootstrap_splits(population: SplitGroups, samples: int, rng: np.random.Generator) -> list[Split]:
    """Resamples with replacement (of rows, or of whole groups), each scored on the rows that it lacks."""
    units = np.arange(population.n_rows) if population.groups is None else population.groups
    names, unit_of = np.unique(units, return_inverse=True)
    rows_of = np.split(np.argsort(unit_of, kind="stable"), np.cumsum(np.bincount(unit_of))[:-1])
    splits = []
    for _ in range(samples):
        drawn = np.sort(rng.integers(0, len(names), len(names)))
        train = np.concatenate([rows_of[unit] for unit in drawn])
        absent = np.setdiff1d(population.strata, population.strata[train])
        # Every class has a row to fit on.
        extra = [rng.choice(np.flatnonzero(population.strata == stratum)) for stratum in absent]
        lacking = np.ones(len(names), dtype=np.bool_)
        lacking[drawn] = False
        lacking[unit_of[extra]] = False
        test = np.flatnonzero(lacking[unit_of])
        if len(test):
            splits.append(Split(np.sort(np.concatenate([train, np.array(extra, dtype=np.intp)])), test))
    return splits


# --- what splits depend on --------------------------------------------------------------------------------------------


Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class SplitGroups:
    """Rows by their classes (None for regression), groups, moments and folds (None where the table has none).

    A fold of -1 is never tested.
    """

    n_rows: int
    classes: Rows | None = None
    groups: Rows | None = None
    order: Rows | None = None
    folds: Rows | None = None

    @property
    def strata(self) -> Rows:
        """What splits are stratified by: the classes, or one stratum of all rows."""
        return np.zeros(self.n_rows, dtype=np.intp) if self.classes is None else self.classes

    def part(self, rows: Rows) -> SplitGroups:
        """Some of the rows."""

        def cut(values: Rows | None) -> Rows | None:
            return None if values is None else values[rows]

        return SplitGroups(len(rows), cut(self.classes), cut(self.groups), cut(self.order), cut(self.folds))

    def subsample(self, share: float, rng: np.random.Generator, balanced: bool = False) -> Rows:
        """A share of the rows: whole groups, or stratified, with at least two rows of a class that has two.

        Balanced, every class has as many rows, or all that it has if they are fewer. The same draw with a larger share
        gives these rows and more.
        """
        if self.groups is not None:
            names = rng.permutation(np.unique(self.groups))
            return np.flatnonzero(np.isin(self.groups, names[: max(2, round(share * len(names)))]))
        by_class = [rng.permutation(np.flatnonzero(self.strata == stratum)) for stratum in np.unique(self.strata)]
        counts = np.array([len(rows) for rows in by_class])
        wanted = _even_counts(counts, round(share * self.n_rows)) if balanced else np.rint(share * counts)
        taken = np.maximum(np.minimum(counts, 2), wanted).astype(np.intp)
        return np.sort(np.concatenate([rows[:most] for rows, most in zip(by_class, taken.tolist(), strict=True)]))


def _even_counts(counts: Rows, total: int) -> Rows:
    """`total` dealt out evenly to parts that have so many each; what a small one lacks goes to the larger ones."""
    dealt = np.zeros_like(counts)
    for place, part in enumerate(np.argsort(counts, kind="stable")):
        dealt[part] = min(counts[part], round((total - int(dealt.sum())) / (len(counts) - place)))
    return dealt
