"""Rank features by Relief: by how they differ between near rows of different classes and of the same class.

`ReliefRanker` is the Relief of CLOP, a ratio of mean differences. `ReliefFRanker` is ReliefF (Kononenko, 1994), a
difference of them. Both use every row once, and the means of RReliefF (Robnik-Sikonja and Kononenko, 1997) for a
numeric target.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.class_statistics import ratio
from msl.blocks.numerics.safe_scaling import unit_range, unit_scale
from msl.blocks.public import public
from msl.blocks.selection.selectors import Ranker, Ranking

#: The number of values in the largest temporary arrays.
PAIRS_AT_ONCE = 1 << 20
#: Distances with a smaller relative difference are equal: their terms were added in another order.
ROUNDING = 1e-12


class NeighbourRanker(Ranker):
    """A ranker by the `knum` nearest rows."""

    serves_regression = True
    shared_parameters = frozenset({"knum"})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "knum": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, fmax: int | None = None, wmin: float = 0.0, knum: int = 4, relative: bool = False) -> None:
        super().__init__(fmax, wmin, relative)
        self.knum = knum


@public
class ReliefRanker(NeighbourRanker):
    """Ranks by the mean difference to the `knum` nearest rows of other classes, divided by that of the same class.

    Neighbours are nearest by the Euclidean distance between the features as they are; of equally near rows the earlier
    ones. A class with fewer rows has fewer neighbours. For a numeric target the ratio of the two means of RReliefF.
    """

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        if n_classes == 0:
            return Ranking.by(ratio(*relief_numbers(unit_range(X), y, self.knum)))
        scaled = X * unit_scale(X)
        misses, hits = np.zeros((2, X.shape[1]))
        for block, distances in distance_blocks(scaled, "sqeuclidean"):
            same = y[block, np.newaxis] == y
            misses += mean_differences(scaled, block, np.where(same, np.inf, distances), self.knum)
            hits += mean_differences(scaled, block, np.where(same, distances, np.inf), self.knum)
        return Ranking.by(ratio(misses, hits))


def mean_differences(rows: Floats, block: slice, distances: Floats, knum: int) -> Floats:
    """The sum over the rows of a block of the mean absolute difference to their nearest rows, for each feature."""
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :knum]
    near = np.isfinite(np.take_along_axis(distances, nearest, axis=1))
    shares = np.zeros_like(distances)
    np.put_along_axis(shares, nearest, near / np.maximum(near.sum(axis=1, keepdims=True), 1), axis=1)
    differences: Floats = weighted_differences(rows, block, shares)[0]
    return differences


@public
class ReliefFRanker(NeighbourRanker):
    """Ranks by ReliefF with `knum` neighbours of each class, or by RReliefF for a numeric target.

    A feature scores high if it differs between near rows of different classes and agrees between near rows of the same
    class. Differences are fractions of a feature's range, and distances are their sums. All rows at the distance of
    the `knum`-th are neighbours with equal weights, so that the result does not depend on the order of the rows. The
    only row of a class has no neighbours of its class and is not counted.
    """

    def __init__(self, fmax: int | None = None, wmin: float = 0.0, knum: int = 10, relative: bool = False) -> None:
        super().__init__(fmax, wmin, knum, relative)

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        rows = unit_range(X)
        if n_classes:
            return Ranking.by(relief_classes(rows, y, n_classes, self.knum))
        with_change, without_change = relief_numbers(rows, y, self.knum)
        return Ranking.by(with_change - without_change)


def relief_classes(rows: Floats, y: Codes, n_classes: int, knum: int) -> Floats:
    """ReliefF: the mean difference to the nearest rows of other classes, minus that to the nearest of the same."""
    order = np.argsort(y, kind="stable")
    rows, y = rows[order], y[order]
    counts = np.bincount(y, minlength=n_classes)
    ends = np.cumsum(counts)
    priors = counts / len(y)
    scores = np.zeros(rows.shape[1])
    for block, distances in distance_blocks(rows):
        own = y[block]
        counted = (counts[own] > 1).astype(np.float64)
        shares = np.empty_like(distances)
        for code, (start, end) in enumerate(zip(ends - counts, ends, strict=True)):
            role = np.where(own == code, -1.0, priors[code] / (1.0 - priors[own]))
            shares[:, start:end] = neighbour_shares(distances[:, start:end], knum) * (role * counted)[:, np.newaxis]
        scores += weighted_differences(rows, block, shares)[0]
    return scores / max(int(counts[counts > 1].sum()), 1)


def relief_numbers(rows: Floats, y: Floats, knum: int) -> tuple[Floats, Floats]:
    """RReliefF: the mean difference between near rows with different targets, and between those with equal ones."""
    target = unit_range(y[:, np.newaxis])[:, 0]
    changed, differed, both = 0.0, np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for block, distances in distance_blocks(rows):
        shares = neighbour_shares(distances, knum)
        changes = shares * np.abs(target[block, np.newaxis] - target)
        changed += float(changes.sum())
        block_differed, block_both = weighted_differences(rows, block, shares, changes)
        differed += block_differed
        both += block_both
    unchanged = len(rows) - changed
    # For a constant target, or one that always changes by its whole range, one of the two means has no rows.
    with_change = both / changed if changed > 0.0 else np.zeros_like(both)
    without_change = (differed - both) / unchanged if unchanged > 0.0 else np.zeros_like(both)
    return with_change, without_change if changed > 0.0 else np.zeros_like(both)


def distance_blocks(
    rows: Floats, metric: Literal["cityblock", "sqeuclidean"] = "cityblock"
) -> Iterator[tuple[slice, Floats]]:
    """Blocks of the distances between all rows; the distance of a row to itself is infinite."""
    height = max(1, PAIRS_AT_ONCE // len(rows))
    for start in range(0, len(rows), height):
        block = slice(start, min(start + height, len(rows)))
        distances = cdist(rows[block], rows, metric)
        np.fill_diagonal(distances[:, block], np.inf)
        yield block, distances


def neighbour_shares(distances: Floats, knum: int) -> Floats:
    """The weights of the neighbours of each row: equal for the `knum` nearest and those as near, with a sum of one."""
    near = np.isfinite(distances)
    if distances.shape[1] > knum:
        farthest = np.partition(distances, knum - 1, axis=1)[:, knum - 1, np.newaxis]
        near &= distances <= farthest * (1.0 + ROUNDING)
    shares: Floats = near / np.maximum(near.sum(axis=1, keepdims=True), 1)
    return shares


def weighted_differences(rows: Floats, block: slice, *weights: Floats) -> Floats:
    """For each matrix of weights, the weighted sum of the differences between the rows of a block and all rows."""
    here, there = np.nonzero(weights[0])
    pair_weights = np.stack([matrix[here, there] for matrix in weights])
    here += block.start
    sums = np.zeros((len(weights), rows.shape[1]))
    height = max(1, PAIRS_AT_ONCE // rows.shape[1])
    for start in range(0, len(here), height):
        pairs = slice(start, start + height)
        differences = rows[here[pairs]]
        differences -= rows[there[pairs]]
        sums += pair_weights[:, pairs] @ np.abs(differences, out=differences)
    return sums
