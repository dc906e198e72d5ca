"""Adjust the outputs of a classifier: for the balanced error rate, or for the costs of errors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.blocks.base.block import BlockPost, Codes, Floats
from msl.blocks.base.chain import are_probabilities, probabilities, shares, sum_to_one
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

#: Balanced error rates that differ by no more than this are equal.
EQUAL = 1e-12
#: The largest number of passes over the classes; a few are usually enough.
ROUNDS = 50


@public
class Bias(BlockPost):
    """Adds an offset to the output of each class, chosen for the lowest balanced error rate on the training rows.

    For two classes this is a threshold on the difference of the outputs: of all midpoints between sorted differences
    with the lowest error, the median. For more classes, the offset of one class after the other is set to the best
    value given the others, the nearest to the present one, until none improves; an offset changes only if that lowers
    the error. Classes without training rows keep their outputs.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        n_columns = X.shape[1]
        counts = np.bincount(y, minlength=n_columns)
        present = np.flatnonzero(counts)
        shares = 1.0 / (np.maximum(counts, 1) * len(present))
        self.offsets_ = np.zeros(n_columns)
        if len(present) == 2 == n_columns:
            self.offsets_[1] = -balanced_threshold(X[:, 1] - X[:, 0], y == 1)
        elif len(present) > 1:
            self._search(X, y, shares, present)

    def _search(self, outputs: Floats, y: Codes, shares: Floats, classes: Codes) -> None:
        """Coordinate descent over the offsets."""
        error = balanced_error(outputs, y, shares)
        for _ in range(ROUNDS):
            before = error
            for code in classes:
                trial = self.offsets_.copy()
                trial[code] = best_offset(outputs, self.offsets_, y, shares, int(code))
                trial_error = balanced_error(outputs + trial, y, shares)
                if trial_error < error - EQUAL:
                    self.offsets_, error = trial, trial_error
            if error == before:
                return

    def transform_arrays(self, X: Floats) -> Floats:
        return X + self.offsets_

    def complexity(self) -> float:
        return 0.0


def balanced_error(outputs: Floats, y: Codes, shares: Floats) -> float:
    """The balanced error rate; `shares` is what one misclassified row of each class adds to it."""
    return float(shares[y[outputs.argmax(axis=1) != y]].sum())


def best_offset(outputs: Floats, offsets: Floats, y: Codes, shares: Floats, code: int) -> float:
    """The offset of one class with the lowest balanced error; of equally good ones, the nearest to the present one.

    A row is assigned to the class once the offset exceeds the margin of the row. In the order of their margins, each
    row that changes its class lowers or raises the error rate by its share.
    """
    rivals = outputs + offsets
    rivals[:, code] = -np.inf
    margins = rivals.max(axis=1) - outputs[:, code]
    gains = np.where(y == code, shares[code], np.where(rivals.argmax(axis=1) == y, -shares[y], 0.0))
    order = np.argsort(margins, kind="stable")
    margins = margins[order]
    gained = np.concatenate([[0.0], np.cumsum(gains[order])])

    magnitude = max(float(np.abs(outputs).max()), float(np.abs(margins).max()), float(np.abs(offsets).max()))
    beyond = float(margins[-1] - margins[0]) + magnitude
    cuts = np.concatenate([[margins[0] - beyond], margins[1:] / 2 + margins[:-1] / 2, [margins[-1] + beyond]])
    apart = np.concatenate([[True], np.diff(margins) > ROUNDING * magnitude, [True]])
    best = np.flatnonzero(apart & (gained >= gained[apart].max() - EQUAL))
    return float(cuts[best[np.abs(cuts[best] - offsets[code]).argmin()]])


# --- Equal priors -----------------------------------------------------------------------------------------------------


@public
class EqualPriors(BlockPost):
    """Divides the probability of each class by its frequency in the training rows.

    If the probabilities are correct, assigning each row to the class with the largest quotient minimises the balanced
    error rate; nothing is fitted to the training errors. Outputs that do not sum to 1 are treated as logarithms of
    probabilities. Classes without training rows keep their outputs.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        counts = np.bincount(y, minlength=X.shape[1])
        self.shares_ = np.where(counts > 0, counts / counts.sum(), 1.0)
        self.takes_probabilities_ = sum_to_one(X)

    def transform_arrays(self, X: Floats) -> Floats:
        if self.takes_probabilities_:
            return shares(X / self.shares_)
        logarithms: Floats = X - np.log(self.shares_)
        return logarithms

    def complexity(self) -> float:
        return 0.0


# --- decisions by the costs of errors ---------------------------------------------------------------------------------


@public
class LeastRisk(BlockPost):
    """Outputs proportional to the highest cost minus the expected cost of predicting each class.

    So the largest output has the lowest expected cost. `costs[i][j]` is the cost of predicting class j where class i is
    true; None stands for 1 for every error, which leaves probabilities as they are. Outputs that are not probabilities
    are turned into some by softmax.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"costs": ["array-like", None]}

    def __init__(self, costs: ArrayLike | None = None) -> None:
        self.costs = costs

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        n_columns = X.shape[1]
        costs = 1.0 - np.eye(n_columns) if self.costs is None else np.asarray(self.costs, dtype=np.float64)
        if costs.shape != (n_columns, n_columns) or not np.isfinite(costs).all():
            raise UserError(f"costs must be a matrix of {n_columns} x {n_columns} finite numbers, a row for each class")
        self.costs_: Floats = costs

    def transform_arrays(self, X: Floats) -> Floats:
        spared = self.costs_.max() - probabilities(X) @ self.costs_
        totals = spared.sum(axis=1, keepdims=True)
        # Where every decision has the highest cost, none is better than another.
        return np.where(totals > 0, spared / np.where(totals > 0, totals, 1.0), 1.0 / X.shape[1])

    def complexity(self) -> float:
        return 0.0


# --- The threshold on outputs with the lowest balanced error rate -----------------------------------------------------

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
