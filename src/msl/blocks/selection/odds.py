"""Rank features by the odds ratio between a class and what a feature says about it: above a threshold or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.thresholds import balanced_threshold
from msl.blocks.public import public
from msl.blocks.selection.selectors import Ranking, SignificanceRanker, feature_blocks, strongest


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
