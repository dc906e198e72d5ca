"""Rank features by a statistic: F, t, correlation, area under the ROC curve, odds ratio, forest importance, Relief.

Statistics of two samples compare each class with the rest and take the largest. Their p-value is the smallest one times
the number of comparisons (Bonferroni), so that many classes do not make noise significant. scikit-learn's `f_classif`
and SciPy's tests return NaN for constant features, and overflow or lose digits for very large or small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import fdtrc, ndtr, stdtr
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats
from msl.blocks.learners.forest import TreeGrowth
from msl.blocks.numerics.class_statistics import TwoSamples, class_samples, one_against_rest, present_classes, ratio
from msl.blocks.numerics.safe_scaling import range_scaling, scaled_sums, standard_columns, unit_range
from msl.blocks.public import public
from msl.blocks.selection.selectors import Ranker, Ranking, SignificanceRanker

#: The number of values sorted at a time: enough for vectorised work, few enough for the cache.
BLOCK = 1 << 18


@public
class FTestRanker(SignificanceRanker):
    """Ranks by the F statistic: of a one-way analysis of variance, or of a linear regression for a numeric target."""

    serves_regression = True

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        if n_classes == 0:
            r = correlation(X, y)
            return Ranking.by(*f_test(r**2, (1.0 - r) * (1.0 + r), 1, len(X) - 2))
        samples = class_samples(X, y, n_classes)
        return Ranking.by(*f_test(samples.between(), samples.within(), n_classes - 1, len(X) - n_classes))


@public
class PearsonRanker(SignificanceRanker):
    """Ranks by the absolute correlation with the target; for classes, the largest with the indicator of a class."""

    serves_regression = True

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        if n_classes == 0:
            r = correlation(X, y)
            return Ranking.by(r, f_test(r**2, (1.0 - r) * (1.0 + r), 1, len(X) - 2)[1])
        scores, pvalues = [], []
        for pair in one_against_rest(class_samples(X, y, n_classes)):
            between = pair.count * pair.rest_count / (pair.count + pair.rest_count) * pair.distance**2
            within = pair.squares + pair.rest_squares
            scores.append(np.sqrt(ratio(between, between + within)))
            pvalues.append(f_test(between, within, 1, pair.freedom)[1])
        return strongest(scores, pvalues)


@public
class TTestRanker(SignificanceRanker):
    """Ranks by the absolute t statistic between a class and the rest with unequal variances (Welch, 1947).

    A class of one row has no variance: the pooled variance is used.
    """

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        tests = [t_test(pair) for pair in one_against_rest(class_samples(X, y, n_classes))]
        return strongest([t for t, _ in tests], [pvalue for _, pvalue in tests])


@public
class ZFilterRanker(Ranker):
    """Ranks by the distance between the means of a class and of the rest, divided by its pooled standard error."""

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        pairs = one_against_rest(class_samples(X, y, n_classes))
        return Ranking.by(np.max([ratio(pair.distance, pair.pooled_error()) for pair in pairs], axis=0))


@public
class SignalToNoiseRanker(Ranker):
    """Ranks by the distance between the means of a class and of the rest, divided by the sum of both standard
    deviations (Golub et al., 1999)."""

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        scores = []
        for pair in one_against_rest(class_samples(X, y, n_classes)):
            deviation = np.sqrt(pair.squares / max(pair.count - 1, 1.0))
            rest_deviation = np.sqrt(pair.rest_squares / max(pair.rest_count - 1, 1.0))
            scores.append(ratio(pair.distance, deviation + rest_deviation))
        return Ranking.by(np.max(scores, axis=0))


@public
class AucRanker(SignificanceRanker):
    """Ranks by the distance of the area under the ROC curve from 0.5, with the p-value of the Mann-Whitney U test.

    The p-value is the normal approximation with corrections for ties and continuity.
    """

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        n_rows = len(X)
        rank_sums, ties = class_rank_sums(X, y, n_classes)
        counts = np.bincount(y, minlength=n_classes).astype(np.float64)
        pairs = counts * (n_rows - counts)
        distance = np.abs(rank_sums - counts * (counts + 1) / 2 - pairs / 2)
        spread = np.sqrt(pairs / 12 * (n_rows + 1 - ties / max(n_rows * (n_rows - 1.0), 1.0))[:, np.newaxis])
        z = np.zeros_like(distance)
        np.divide(distance - 0.5, spread, out=z, where=spread > 0.0)
        pvalues = np.minimum(2 * ndtr(-z), 1.0)
        first = 1 if n_classes == 2 else 0
        return strongest((distance / pairs).T[first:], pvalues.T[first:])


@public
class OddsRatioRanker(SignificanceRanker):
    """Ranks by the absolute log odds ratio between a class and the feature being above its median (Wald's p-value).

    Half a row is added to each cell of the contingency table. If no value is above the median, as for a flag that is
    mostly on, the feature is split into values at and below the median.
    """

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        counts = np.bincount(y, minlength=n_classes).astype(np.float64)
        above = counts_above_median(X, y, n_classes)
        total = above.sum(axis=1, keepdims=True)
        inside, outside = above + 0.5, counts - above + 0.5
        rest_inside, rest_outside = total - above + 0.5, len(X) - total - (counts - above) + 0.5
        scores = np.abs(np.log(inside) + np.log(rest_outside) - np.log(outside) - np.log(rest_inside))
        # The half rows alone would give a constant feature an odds ratio.
        scores[total[:, 0] == len(X)] = 0.0
        error = np.sqrt(1 / inside + 1 / outside + 1 / rest_inside + 1 / rest_outside)
        first = 1 if n_classes == 2 else 0
        return strongest(scores.T[first:], 2 * ndtr(-scores / error).T[first:])


@public
class ForestImportanceRanker(Ranker):
    """Ranks by the importance (mean decrease in impurity) in a random forest of `units` trees (Breiman, 2001)."""

    serves_regression = True
    shared_parameters = frozenset({"units", "random_state"})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "units": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        fmax: int | None = None,
        wmin: float = 0.0,
        units: int = 100,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(fmax, wmin)
        self.units = units
        self.random_state = random_state

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        # Trees work in single precision and ignore differences below 1e-7.
        rows = unit_range(X).astype(np.float32)
        n_present, target = 0, y
        if n_classes:
            present, target = present_classes(y, n_classes)
            n_present = len(present)
        else:
            target = standard_columns(y[:, np.newaxis])[:, 0]
        max_features = max(1, int(np.sqrt(X.shape[1])))
        growth = TreeGrowth(rows, target, n_present, max_features, None, self.random_state)
        split = [tree for tree in growth.grown([], self.units) if tree.node_count > 1]
        importances = np.mean([tree.compute_feature_importances() for tree in split] or [np.zeros(X.shape[1])], axis=0)
        return Ranking.by(ratio(importances, importances.sum()))


def correlation(X: Floats, y: Floats) -> Floats:
    """The absolute Pearson correlation of each column with y, zero where either is constant."""
    scaling, target = range_scaling(X, axis=0), standard_columns(y[:, np.newaxis])[:, 0]
    (sums, products), squares = scaled_sums(X, scaling, np.stack([np.ones(len(X)), target]))
    deviations = np.sqrt(np.maximum(squares - sums**2 / len(X), 0.0))
    return np.minimum(ratio(np.abs(products), deviations * np.sqrt(len(X))), 1.0)


def f_test(signal: Floats, noise: Floats, freedom: float, residual_freedom: float) -> tuple[Floats, Floats]:
    """F and its p-value from the explained and the residual sums of squares."""
    if residual_freedom <= 0:
        return np.zeros_like(signal), np.ones_like(signal)
    f = ratio(signal / freedom, noise / residual_freedom)
    pvalues: Floats = fdtrc(freedom, residual_freedom, f)
    return f, pvalues


def t_test(pair: TwoSamples) -> tuple[Floats, Floats]:
    """The absolute t statistic of two samples and its two-sided p-value."""
    if pair.freedom <= 0:
        return np.zeros_like(pair.distance), np.ones_like(pair.distance)
    if min(pair.count, pair.rest_count) < 2:
        t = ratio(pair.distance, pair.pooled_error())
        return t, 2.0 * stdtr(np.full_like(t, pair.freedom), -t)
    variance = pair.squares / (pair.count - 1) / pair.count
    rest_variance = pair.rest_squares / (pair.rest_count - 1) / pair.rest_count
    t = ratio(pair.distance, np.sqrt(variance + rest_variance))
    freedom = np.full_like(t, pair.freedom)
    scatter = variance**2 / (pair.count - 1) + rest_variance**2 / (pair.rest_count - 1)
    np.divide((variance + rest_variance) ** 2, scatter, out=freedom, where=scatter > 0.0)
    return t, 2 * stdtr(freedom, -t)


def strongest(scores: list[Floats] | Floats, pvalues: list[Floats] | Floats) -> Ranking:
    """The ranking by the largest score of each feature; `scores` has one row a comparison."""
    smallest = np.min(pvalues, axis=0)
    return Ranking.by(np.max(scores, axis=0), np.minimum(len(pvalues) * smallest, 1.0))


def feature_blocks(X: Floats) -> Iterator[tuple[slice, Floats]]:
    """Blocks of features, as contiguous rows, so that sorting is fast and its arrays stay small."""
    width = max(1, BLOCK // len(X))
    for start in range(0, X.shape[1], width):
        block = slice(start, start + width)
        yield block, np.ascontiguousarray(X[:, block].T)


def class_rank_sums(X: Floats, y: Codes, n_classes: int) -> tuple[Floats, Floats]:
    """For each feature the sum of ranks in each class, and the sum of t³ - t over its groups of t equal values."""
    n_rows, n_features = X.shape
    sums, ties = np.empty((n_features, n_classes)), np.empty(n_features)
    for block, features in feature_blocks(X):
        order = features.argsort(axis=1)
        values = np.take_along_axis(features, order, axis=1)
        opens = np.ones(values.shape, dtype=np.bool_)
        np.not_equal(values[:, 1:], values[:, :-1], out=opens[:, 1:])
        first = np.flatnonzero(opens)
        size = np.diff(first, append=opens.size).astype(np.float64)
        ranks = np.repeat(first % n_rows + (size + 1) / 2, size.astype(np.intp))
        cells = y[order] + n_classes * np.arange(len(features))[:, np.newaxis]
        sums[block] = np.bincount(cells.ravel(), ranks, n_classes * len(features)).reshape(-1, n_classes)
        ties[block] = np.add.reduceat(size**3 - size, np.flatnonzero(first % n_rows == 0))
    return sums, ties


def counts_above_median(X: Floats, y: Codes, n_classes: int) -> Floats:
    """For each feature the number of rows of each class above the median, or at it if none is above."""
    members = (y[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)
    counts = np.empty((X.shape[1], n_classes))
    # The lower median splits as the median does, without a mean of two numbers that might overflow.
    middle = (len(X) - 1) // 2
    for block, features in feature_blocks(X):
        median = np.partition(features, middle, axis=1)[:, middle, np.newaxis]
        above = features > median
        at_most = ~above.any(axis=1)
        above[at_most] = features[at_most] >= median[at_most]
        counts[block] = above.astype(np.float64) @ members
    return counts


# --- Relief -----------------------------------------------------------------------------------------------------------
#
# ReliefF for classes (Kononenko, 1994) and RReliefF for numbers (Robnik-Sikonja and Kononenko, 1997), using every row
# once. Differences are fractions of a feature's range, and distances are their sums. All rows at the distance of the
# `knum`-th are neighbours with equal weights, so that the result does not depend on the order of the rows.


#: The number of values in the largest temporary arrays.
PAIRS_AT_ONCE = 1 << 20
#: Distances with a smaller relative difference are equal: their terms were added in another order.
ROUNDING = 1e-12


@public
class ReliefRanker(Ranker):
    """Ranks by ReliefF with `knum` neighbours of each class, or by RReliefF for a numeric target.

    A feature scores high if it differs between near rows of different classes and agrees between near rows of the same
    class. The only row of a class has no neighbours of its class and is not counted.
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


def relief_numbers(rows: Floats, y: Floats, knum: int) -> Floats:
    """RReliefF: the difference between near rows with different targets, minus that between those with equal ones."""
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
    return with_change - without_change if changed > 0.0 else with_change


def distance_blocks(rows: Floats) -> Iterator[tuple[slice, Floats]]:
    """Blocks of the distances between all rows; the distance of a row to itself is infinite."""
    height = max(1, PAIRS_AT_ONCE // len(rows))
    for start in range(0, len(rows), height):
        block = slice(start, min(start + height, len(rows)))
        distances = cdist(rows[block], rows, "cityblock")
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
