"""Rank features by a statistic: F, t, correlation, rank sums, signal to noise, forest importance, odds ratios.

Statistics of two samples compare each class with the rest and take the largest. Their p-value is the smallest one times
the number of comparisons (Bonferroni), so that many classes do not make noise significant. scikit-learn's `f_classif`
and SciPy's tests return NaN for constant features, and overflow or lose digits for very large or small ones.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, ndtr, stdtr
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats
from msl.blocks.calibration import balanced_threshold
from msl.blocks.learners.forest import TreeGrowth, root_of_features
from msl.blocks.numerics.class_statistics import TwoSamples, class_samples, one_against_rest, present_classes, ratio
from msl.blocks.numerics.safe_scaling import range_scaling, scaled_sums, standard_columns, unit_range
from msl.blocks.public import public
from msl.blocks.selection.selectors import Ranker, Ranking, SignificanceRanker, feature_blocks, strongest


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
    """Ranks by the absolute t statistic between a class and the rest.

    Both have one variance, or, without `equal_variance`, each its own (Welch, 1947); a class of one row has none, so
    that the pooled variance is used.
    """

    shared_parameters = frozenset({"equal_variance"})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SignificanceRanker._parameter_constraints,
        "equal_variance": ["boolean"],
    }

    def __init__(
        self,
        fmax: int | None = None,
        wmin: float = 0.0,
        pval: float = 1.0,
        fdrmax: float = 1.0,
        relative: bool = False,
        equal_variance: bool = True,
    ) -> None:
        super().__init__(fmax, wmin, pval, fdrmax, relative)
        self.equal_variance = equal_variance

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        test = pooled_t_test if self.equal_variance else welch_t_test
        tests = [test(pair) for pair in one_against_rest(class_samples(X, y, n_classes))]
        return strongest([t for t, _ in tests], [pvalue for _, pvalue in tests])


@public
class ZFilterRanker(Ranker):
    """Ranks by the number of values that are not zero, for sparse tables; the target is not used."""

    needs_target = False

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        return Ranking.by(np.count_nonzero(X, axis=0).astype(np.float64))


@public
class SignalToNoiseRanker(Ranker):
    """Ranks by the distance between the means of a class and of the rest, divided by the mean of both standard
    deviations (Golub et al., 1999)."""

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        scores = []
        for pair in one_against_rest(class_samples(X, y, n_classes)):
            deviation = np.sqrt(pair.squares / pair.count)
            rest_deviation = np.sqrt(pair.rest_squares / pair.rest_count)
            scores.append(ratio(2.0 * pair.distance, deviation + rest_deviation))
        return Ranking.by(np.max(scores, axis=0))


@public
class AucRanker(SignificanceRanker):
    """Ranks by the distance of the area under the ROC curve from 0.5, in its standard errors.

    That is the absolute z of the Mann-Whitney U test, in the normal approximation with corrections for ties and
    continuity.
    """

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        n_rows = len(X)
        rank_sums, ties = class_rank_sums(X, y, n_classes)
        counts = np.bincount(y, minlength=n_classes).astype(np.float64)
        pairs = counts * (n_rows - counts)
        distance = np.abs(rank_sums - counts * (counts + 1) / 2 - pairs / 2)
        spread = np.sqrt(pairs / 12 * (n_rows + 1 - ties / max(n_rows * (n_rows - 1.0), 1.0))[:, np.newaxis])
        z = np.zeros_like(distance)
        np.divide(np.maximum(distance - 0.5, 0.0), spread, out=z, where=spread > 0.0)
        first = 1 if n_classes == 2 else 0
        return strongest(z.T[first:], 2.0 * ndtr(-z).T[first:])


@public
class ForestImportanceRanker(Ranker):
    """Ranks by the importance in a random forest of `units` trees (Breiman, 2001): the decrease in impurity by the
    splits of a feature, times the number of rows, in the mean tree. A numeric target is standardized first."""

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
        relative: bool = False,
    ) -> None:
        super().__init__(fmax, wmin, relative)
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
        growth = TreeGrowth(rows, target, n_present, root_of_features(X.shape[1]), None, self.random_state)
        decreases = [tree.compute_feature_importances(normalize=False) for tree in growth.grown([], self.units)]
        return Ranking.by(len(X) * np.mean(decreases, axis=0))


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


def pooled_t_test(pair: TwoSamples) -> tuple[Floats, Floats]:
    """The absolute t statistic of two samples of equal variance, and its two-sided p-value."""
    if pair.freedom <= 0:
        return np.zeros_like(pair.distance), np.ones_like(pair.distance)
    t = ratio(pair.distance, pair.pooled_error())
    return t, 2.0 * stdtr(np.full_like(t, pair.freedom), -t)


def welch_t_test(pair: TwoSamples) -> tuple[Floats, Floats]:
    """The absolute t statistic of two samples, each with a variance of its own, and its two-sided p-value."""
    if pair.freedom <= 0 or min(pair.count, pair.rest_count) < 2:
        return pooled_t_test(pair)
    variance = pair.squares / (pair.count - 1) / pair.count
    rest_variance = pair.rest_squares / (pair.rest_count - 1) / pair.rest_count
    t = ratio(pair.distance, np.sqrt(variance + rest_variance))
    freedom = np.full_like(t, pair.freedom)
    scatter = variance**2 / (pair.count - 1) + rest_variance**2 / (pair.rest_count - 1)
    np.divide((variance + rest_variance) ** 2, scatter, out=freedom, where=scatter > 0.0)
    return t, 2 * stdtr(freedom, -t)


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


# --- by the odds ratio between a class and a feature above its threshold ----------------------------------------------


@public
class OddsRatioRanker(SignificanceRanker):
    """Ranks by the absolute log odds ratio between a class and the feature being above a threshold (Wald's p-value).

    The threshold of a feature with two values is between them. For any other it is that of a classifier of this
    feature alone: `naive`, which orders rows as the feature does, followed by `bias`. Half a row is added to each cell
    of the contingency table. The rate of false discoveries counts features by the odds ratio in its standard errors.
    """

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        first = 1 if n_classes == 2 else 0
        inside, total = np.zeros((2, n_classes - first, X.shape[1]))
        for row, code in enumerate(range(first, n_classes)):
            positive = y == code
            for column, values in enumerate(X.T):
                above = above_threshold(values, positive)
                inside[row, column], total[row, column] = above[positive].sum(), above.sum()
        counts = np.bincount(y, minlength=n_classes)[first:, np.newaxis].astype(np.float64)
        scores, errors = log_odds(inside, total, counts, len(X))
        evidence = scores / errors
        return strongest(scores, 2.0 * ndtr(-evidence), evidence)


def above_threshold(values: Floats, positive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows a classifier of this feature alone assigns to one side; all to one if the class means are equal."""
    low, high = values.min(), values.max()
    if ((values == low) | (values == high)).all():
        return (values == high) & (low < high)
    scaled = values / max(abs(low), abs(high))
    distance = scaled[positive].mean() - scaled[~positive].mean()
    if distance == 0.0:
        return np.zeros(len(values), dtype=np.bool_)
    outputs = scaled if distance > 0.0 else -scaled
    return outputs > balanced_threshold(outputs, positive)


def log_odds(inside: Floats, total: Floats, counts: Floats, n_rows: int) -> tuple[Floats, Floats]:
    """The absolute log odds ratios and their standard errors.

    `inside` rows of a class with `counts` rows are on one side, as are `total` rows of all classes.
    """
    cells = [inside + 0.5, counts - inside + 0.5, total - inside + 0.5, n_rows - total - (counts - inside) + 0.5]
    a, b, c, d = (np.log(cell) for cell in cells)
    # The half rows alone would give a constant feature an odds ratio.
    scores = np.where((total == 0) | (total == n_rows), 0.0, np.abs(a + d - b - c))
    return scores, np.sqrt(sum(1.0 / cell for cell in cells))


@public
class MedianOddsRanker(SignificanceRanker):
    """Ranks by the absolute log odds ratio between a class and the feature being above its median (Wald's p-value).

    Half a row is added to each cell of the contingency table. If no value is above the median, as for a flag that is
    mostly on, the feature is split into values at and below the median.
    """

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        first = 1 if n_classes == 2 else 0
        above = counts_above_median(X, y, n_classes).T
        counts = np.bincount(y, minlength=n_classes)[first:, np.newaxis].astype(np.float64)
        scores, errors = log_odds(above[first:], above.sum(axis=0), counts, len(X))
        return strongest(scores, 2.0 * ndtr(-scores / errors))


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
