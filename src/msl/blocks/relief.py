"""Relief: features that differ between near rows of different classes, and agree between near rows of one class.

ReliefF for classes (Kononenko, 1994) and RReliefF for numbers (Robnik-Sikonja and Kononenko, 1997), every row taken
once. Differences are parts of a feature's range and distances are their sums. All rows as near as the `knum`-th count
as neighbours, with equal shares, so that the result does not depend on the order of rows even when many tie.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval

from msl.blocks.base import Codes, Floats
from msl.blocks.frame import unit_range
from msl.blocks.public import public
from msl.blocks.ranking import Ranker, Ranking

#: How many numbers the largest temporary arrays hold.
BLOCK = 1 << 20
#: Distances that differ by this part are equal but for the order in which their parts were added.
ROUNDING = 1e-12


@public
class ReliefRanker(Ranker):
    """Ranks by ReliefF with `knum` neighbours of each class, or by RReliefF for numbers.

    A row that is alone in its class has no hits to weigh its misses against and is not counted.
    """

    serves_regression = True
    shared_parameters = frozenset({"knum"})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "knum": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, fmax: int | None = None, wmin: float = 0.0, knum: int = 10) -> None:
        super().__init__(fmax, wmin)
        self.knum = knum

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        rows = unit_range(X)
        scores = relief_classes(rows, y, n_classes, self.knum) if n_classes else relief_numbers(rows, y, self.knum)
        return Ranking.by(scores)


def relief_classes(rows: Floats, y: Codes, n_classes: int, knum: int) -> Floats:
    """ReliefF: the mean difference from the nearest rows of other classes less that from the nearest of the same."""
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


def relief_numbers(rows: Floats, y: Floats, knum: int) -> Floats:
    """RReliefF: how a feature differs between near rows with different targets, less so between those with the same."""
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
    # A constant target, or one that always changes by its whole range, leaves one of the two means without rows.
    with_change = both / changed if changed > 0.0 else np.zeros_like(both)
    without_change = (differed - both) / unchanged if unchanged > 0.0 else np.zeros_like(both)
    return with_change - without_change if changed > 0.0 else with_change


def distance_blocks(rows: Floats) -> Iterator[tuple[slice, Floats]]:
    """The distances of some rows to all rows at a time, infinite from a row to itself."""
    height = max(1, BLOCK // len(rows))
    for start in range(0, len(rows), height):
        block = slice(start, min(start + height, len(rows)))
        distances = cdist(rows[block], rows, "cityblock")
        np.fill_diagonal(distances[:, block], np.inf)
        yield block, distances


def neighbour_shares(distances: Floats, knum: int) -> Floats:
    """For each row the shares, of one in total, of its `knum` nearest columns and of those just as near."""
    near = np.isfinite(distances)
    if distances.shape[1] > knum:
        farthest = np.partition(distances, knum - 1, axis=1)[:, knum - 1, np.newaxis]
        near &= distances <= farthest * (1.0 + ROUNDING)
    shares: Floats = near / np.maximum(near.sum(axis=1, keepdims=True), 1)
    return shares


def weighted_differences(rows: Floats, block: slice, *weights: Floats) -> Floats:
    """For each matrix of weights the weighted sum of the differences between the rows of a block and all rows."""
    here, there = np.nonzero(weights[0])
    pair_weights = np.stack([matrix[here, there] for matrix in weights])
    here += block.start
    sums = np.zeros((len(weights), rows.shape[1]))
    height = max(1, BLOCK // rows.shape[1])
    for start in range(0, len(here), height):
        pairs = slice(start, start + height)
        differences = rows[here[pairs]]
        differences -= rows[there[pairs]]
        sums += pair_weights[:, pairs] @ np.abs(differences, out=differences)
    return sums
