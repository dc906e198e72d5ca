"""The thresholds on outputs with the lowest balanced error rate, and that error rate itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import are_probabilities

#: Numbers closer than this, relative to the largest, are not separated by a threshold: rounding could undo it.
ROUNDING = 8 * np.finfo(np.float64).eps


def balanced_threshold(values: Floats, positive: NDArray[np.bool_]) -> float:
    """The median of the thresholds with the lowest balanced error; rows above the threshold are called positive.

    The candidates are the midpoints between neighbouring values, and the two ends, which call all rows the same. The
    median of an even number of candidates is the mean of the two in the middle, as in CLOP, and may itself be worse
    than they are. Both classes must have rows.
    """
    order = np.argsort(values, kind="stable")
    ordered, is_positive = values[order], positive[order]
    n_positive = int(is_positive.sum())
    n_negative = len(values) - n_positive
    ends = np.flatnonzero(np.diff(ordered) > ROUNDING * np.abs(ordered[[0, -1]]).max())
    candidates = np.concatenate([ordered[:1], ordered[ends] / 2.0 + ordered[ends + 1] / 2.0, ordered[-1:]])
    below = np.concatenate([[0], ends + 1, [len(values)]])
    missed = np.concatenate([[0], np.cumsum(is_positive)])[below]
    # Twice the balanced error rate times both counts: whole numbers, so that equal rates are equal.
    error = missed * n_negative + (n_negative - (below - missed)) * n_positive
    return float(np.median(candidates[error == error.min()]))


# --- The balanced error rate of outputs at their best threshold, or at the best offsets of several classes ------------

# A model is then ranked by how well its outputs separate the classes, not by where its own threshold lies. The
# threshold is fitted to the rows that are scored: a figure to search by, and no estimate of the error on new rows.

#: Error rates that differ by no more than this are equal: sums in another order differ in the last digits.
_EQUAL = 1e-12
#: The largest number of passes over the classes; a few are usually enough.
_PASSES = 50


def least_ber(y: NDArray[Any], outputs: Floats, weights: Floats) -> float:
    """With two classes the minimum over all thresholds. With more it is found as the block `bias` finds its offsets:
    that of one class after the other is set to the best value given the others, until none lowers the error."""
    costs = _costs(y, weights, outputs.shape[1])
    if outputs.shape[1] != 2:
        return _descend(y, outputs, costs)
    # Small probabilities would be lost in the rounding of the difference.
    scores = outputs[:, 1:] if are_probabilities(outputs) else outputs
    margins = -scores[:, 0] if scores.shape[1] == 1 else scores[:, 0] - scores[:, 1]
    is_second = y == 1
    _, gains = _sweep(margins, np.where(is_second, costs, -costs), np.abs(scores).max(axis=1))
    return max(0.0, float(costs[is_second].sum() - gains.max()))


def _costs(y: NDArray[Any], weights: Floats, n_classes: int) -> Floats:
    """What each row adds to the balanced error rate when it is classified wrongly."""
    totals = np.bincount(y, weights, n_classes)
    return np.asarray(weights / (totals[y] * np.count_nonzero(totals)))


def _sweep(margins: Floats, gains: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """The thresholds that tell margins apart, below all, between two, above all, and what the rows below each gain.

    `sizes` are those of the outputs behind each margin, to which its rounding is relative.
    """
    order = np.argsort(margins, kind="stable")
    levels, sizes = margins[order], sizes[order]
    total = np.concatenate([[0.0], np.cumsum(gains[order])])
    beyond = 1.0 + np.abs(levels[[0, -1]]).max()
    cuts = np.concatenate([[levels[0] - beyond], levels[:-1] / 2 + levels[1:] / 2, [levels[-1] + beyond]])
    is_step = np.diff(levels) > ROUNDING * np.maximum(sizes[1:], sizes[:-1])
    apart = np.concatenate([[True], is_step, [True]])
    return cuts[apart], total[apart]


def _descend(y: NDArray[Any], outputs: Floats, costs: Floats) -> float:
    offsets = np.zeros(outputs.shape[1])
    error = _error(y, outputs, costs)
    for _ in range(_PASSES):
        before = error
        for code in range(len(offsets)):
            trial = offsets.copy()
            trial[code] = _best_offset(y, outputs, offsets, costs, code)
            trial_error = _error(y, outputs + trial, costs)
            if trial_error < error - _EQUAL:
                offsets, error = trial, trial_error
        if error == before:
            break
    return error


def _error(y: NDArray[Any], outputs: Floats, costs: Floats) -> float:
    return float(costs[outputs.argmax(axis=1) != y].sum())


def _best_offset(y: NDArray[Any], outputs: Floats, offsets: Floats, costs: Floats, code: int) -> float:
    """The offset of one class with the lowest error, the median of equally good ones. A row is of this class once the
    offset exceeds its margin."""
    rivals = outputs + offsets
    rivals[:, code] = -np.inf
    margins = rivals.max(axis=1) - outputs[:, code]
    lost = np.where(rivals.argmax(axis=1) == y, -costs, 0.0)
    sizes = np.abs(outputs).max(axis=1) + np.abs(offsets).max()
    cuts, gains = _sweep(margins, np.where(y == code, costs, lost), sizes)
    best = cuts[gains >= gains.max() - _EQUAL]
    return float(best[len(best) // 2])
