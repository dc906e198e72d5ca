"""Bias: offsets on the outputs of a classifier that lower the balanced error rate on the training rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import BlockPost, Codes, Floats
from msl.blocks.base.chain import shares, sum_to_one
from msl.blocks.public import public

#: Offsets closer than this part of the outputs' magnitude to a row's margin could be lost in rounding.
ROUNDING = 8 * np.finfo(np.float64).eps
#: Balanced errors that differ by no more than this are equal.
EQUAL = 1e-12
#: A bound on the rounds over the classes; a few are enough.
ROUNDS = 50


@public
class Bias(BlockPost):
    """Adds to the outputs the offsets with the lowest balanced error on the training rows, one offset a class.

    For two classes that is the best of all thresholds on the difference of the outputs, in one sweep. For more, one
    class after the other gets the best of all offsets given the others', until no class gains. Where nothing is gained
    the offset stays as it is, so the training error is never worse than without. Columns are classes: those without
    training rows keep their outputs.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        n_columns = X.shape[1]
        counts = np.bincount(y, minlength=n_columns)
        present = np.flatnonzero(counts)
        shares = 1.0 / (np.maximum(counts, 1) * len(present))
        self.offsets_ = np.zeros(n_columns)
        if len(present) > 1:
            self._search(X, y, shares, present[1:] if n_columns == 2 else present)

    def _search(self, outputs: Floats, y: Codes, shares: Floats, classes: Codes) -> None:
        """Coordinate search; two classes need one coordinate, whose sweep is complete."""
        error = balanced_error(outputs, y, shares)
        for _ in range(ROUNDS):
            before = error
            for code in classes:
                trial = self.offsets_.copy()
                trial[code] = best_offset(outputs, self.offsets_, y, shares, int(code))
                trial_error = balanced_error(outputs + trial, y, shares)
                if trial_error < error - EQUAL:
                    self.offsets_, error = trial, trial_error
            if error == before or len(classes) == 1:
                return

    def transform_arrays(self, X: Floats) -> Floats:
        return X + self.offsets_

    def complexity(self) -> float:
        return 0.0


def balanced_error(outputs: Floats, y: Codes, shares: Floats) -> float:
    """The balanced error rate; `shares` is what one wrong row of each class adds to it."""
    return float(shares[y[outputs.argmax(axis=1) != y]].sum())


def best_offset(outputs: Floats, offsets: Floats, y: Codes, shares: Floats, code: int) -> float:
    """The offset of one class with the lowest balanced error, the nearest to the present one of equally good ones.

    A row goes to the class when the offset passes the row's margin. In order of their margins, each row that goes over
    gains its share of the error rate or loses it.
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


# --- Equal priors: the outputs of a classifier as if all classes were equally frequent. -------------------------------


@public
class EqualPriors(BlockPost):
    """Divides the probability of each class by its share of the training rows.

    The balanced error rate is lowest where each row goes to the class with the largest quotient, as far as the
    probabilities are right; nothing is fitted to the training errors. Outputs that do not sum to 1 are taken for the
    logarithms of probabilities. A class without training rows keeps what it has.
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
