"""The threshold on one number a row that separates two classes with the lowest balanced error rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats

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
