"""Support vector classifiers with a ridge on the diagonal of the kernel, that is, with squared slack.

There are two solvers. libsvm is fastest where the classes are easy to separate, but may take very long where the ridge
is small and they are not; then Newton's method takes over.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from sklearn import config_context, svm
from sklearn.exceptions import ConvergenceWarning

from msl.blocks.base.block import BlockClassifier, Codes, Floats
from msl.blocks.kernels.kernel_machine import KernelMachine, ridge_solve
from msl.blocks.numerics.class_statistics import present_classes, scores_of_all
from msl.blocks.numerics.safe_scaling import unit_scale
from msl.blocks.public import public

#: libsvm's C: no bound in effect, for a hard margin.
HARD = 1e30
#: The most iterations of libsvm, and more for each row: about as long as Newton's method takes.
STEPS = 2_000
STEPS_A_ROW = 5


@public
class SVC(KernelMachine, BlockClassifier):
    """A support vector classifier with the kernel (coef0 + x·z)^degree · exp(-gamma ‖x - z‖²).

    A hard margin with a ridge of `shrinkage` on the diagonal of the kernel, which is the same as a penalty on squared
    slack (Cortes and Vapnik, 1995). More than two classes are compared in pairs; the score of a class is the number of
    pairs that it wins, plus less than one half for the size of its margins.
    """

    takes_weights = True

    def __init__(self, coef0: float = 1, degree: int = 1, gamma: float = 1e-4, shrinkage: float = 0.001) -> None:
        self.coef0 = coef0
        self.degree = degree
        self.gamma = gamma
        self.shrinkage = shrinkage

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        """The penalty on the slack of a row is multiplied by its weight."""
        self.fit_prepared(self.prepare(X, y, n_classes), X, y, n_classes, self.shrinkage / weights)

    def fit_prepared(
        self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int, ridges: Floats | None = None
    ) -> None:
        self.n_classes_ = n_classes
        self.rows_ = X
        self.present_, codes = present_classes(y, n_classes)
        pairs = class_pairs(len(self.present_))
        self.dual_coef_ = np.zeros((len(X), len(pairs)))
        self.intercept_ = np.zeros(len(pairs))
        ridge = self.shrinkage if ridges is None else ridges
        if pairs and not self._fit_by_libsvm(prepared, codes, pairs, ridge):
            self._fit_by_newton(prepared, codes, pairs, ridge)

    def _fit_by_libsvm(self, kernel: Floats, codes: Codes, pairs: list[tuple[int, int]], ridge: float | Floats) -> bool:
        """Whether libsvm converged within its iterations."""
        ridged = kernel.copy()
        np.einsum("ii->i", ridged)[:] += ridge
        # libsvm keeps the kernel in single precision, where large values overflow; its scale does not matter.
        scale = unit_scale(ridged)
        ridged *= scale
        machine = svm.SVC(C=HARD, kernel="precomputed", max_iter=STEPS + STEPS_A_ROW * len(codes))
        with config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(ridged, codes)
        if machine.fit_status_ != 0:
            return False
        # libsvm packs a support vector's multipliers into one column, in the order of the other classes.
        n_present = len(self.present_)
        column_of = np.zeros((n_present, n_present), dtype=np.intp)
        for column, (winner, loser) in enumerate(pairs):
            column_of[winner, loser] = column_of[loser, winner] = column
        class_of_support = codes[machine.support_]
        for ours in range(n_present):
            members = class_of_support == ours
            columns = np.delete(column_of[ours], ours)
            self.dual_coef_[machine.support_[members, np.newaxis], columns] = machine.dual_coef_[:, members].T * scale
        self.intercept_ = machine.intercept_
        return True

    def _fit_by_newton(self, kernel: Floats, codes: Codes, pairs: list[tuple[int, int]], ridge: float | Floats) -> None:
        for column, (winner, loser) in enumerate(pairs):
            rows = np.flatnonzero((codes == winner) | (codes == loser))
            between = kernel if len(rows) == len(kernel) else kernel[rows[:, np.newaxis], rows]
            own = ridge[rows] if isinstance(ridge, np.ndarray) else ridge
            margin = widest_margin(between, np.where(codes[rows] == winner, 1.0, -1.0), own)
            self.dual_coef_[rows, column] = margin.multipliers
            self.intercept_[column] = margin.offset

    def outputs_prepared(self, query: Floats) -> Floats:
        n_present = len(self.present_)
        margins = query @ self.dual_coef_ + self.intercept_
        scores = margins if n_present == 2 else scores_of_wins(margins, n_present)
        return scores_of_all(scores, self.present_, self.n_classes_)

    def complexity(self) -> float:
        """The number of support vectors."""
        return float(self.dual_coef_.any(axis=1).sum())


def class_pairs(n_present: int) -> list[tuple[int, int]]:
    """The class that a positive margin means, and the other: the second of two classes, else the first of each pair."""
    return [(1, 0)] if n_present == 2 else list(combinations(range(n_present), 2))


def scores_of_wins(margins: Floats, n_present: int) -> Floats:
    """One score for each class, from one margin for each pair."""
    winners, losers = np.array(class_pairs(n_present), dtype=np.intp).reshape(-1, 2).T
    speaks_for = (winners[:, np.newaxis] == np.arange(n_present)).astype(np.float64)
    speaks_against = (losers[:, np.newaxis] == np.arange(n_present)).astype(np.float64)
    positive = margins >= 0.0
    wins = positive @ speaks_for + ~positive @ speaks_against
    clarity = margins @ (speaks_for - speaks_against)
    scores: Floats = wins + clarity / (3.0 * (np.abs(clarity) + 1.0))
    return scores


# --- Newton's method in the primal ------------------------------------------------------------------------------------
#
# A ridge r on the diagonal is a penalty ξ² / 2r on the slack ξ of every row. The objective is quadratic as long as the
# same rows have slack, so each Newton step solves the linear system of those rows alone, and once they stay the same
# the optimum is exact. The cost hardly depends on the ridge, unlike that of libsvm.
#
# Mangasarian (2002), A finite Newton method for classification; Chapelle (2007), Training a support vector machine in
# the primal.


#: The most Newton steps; a dozen is usual.
MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Margin:
    """f = K α + b, and its `values` on the training rows; only support vectors have non-zero multipliers α."""

    multipliers: Floats
    offset: float
    values: Floats

    def towards(self, other: Margin, part: float) -> Margin:
        """The machine at a fraction of the step to another one."""
        return Margin(
            self.multipliers + part * (other.multipliers - self.multipliers),
            self.offset + part * (other.offset - self.offset),
            self.values + part * (other.values - self.values),
        )

    def without_traces(self, short: Codes) -> Margin:
        """Sets the tiny multipliers that earlier steps left for other rows to zero."""
        multipliers = np.zeros_like(self.multipliers)
        multipliers[short] = self.multipliers[short]
        return Margin(multipliers, self.offset, self.values)


def widest_margin(kernel: Floats, signs: Floats, ridge: float | Floats) -> Margin:
    """The machine for two classes, coded ±1; the ridge may be one for each row."""
    short = np.arange(len(signs))
    current = touching(kernel, signs, ridge, short)
    part = 1.0
    for _ in range(MOST_STEPS):
        previous, short = short, np.flatnonzero(signs * current.values < 1.0)
        if part == 1.0 and np.array_equal(short, previous):
            break
        target = touching(kernel, signs, ridge, short)
        part = best_part(current, target, signs, ridge)
        if part == 0.0:  # no improvement beyond rounding errors
            return current.without_traces(short)
        current = target if part == 1.0 else current.towards(target, part)
    return current


def touching(kernel: Floats, signs: Floats, ridge: float | Floats, short: Codes) -> Margin:
    """The optimum if exactly these rows had slack."""
    inside = kernel if len(short) == len(kernel) else kernel[short[:, np.newaxis], short]
    right_sides = np.ones((len(short), 2))
    right_sides[:, 1] = signs[short]
    of_one, of_signs = ridge_solve(inside, ridge[short] if isinstance(ridge, np.ndarray) else ridge, right_sides).T
    offset = of_signs.sum() / of_one.sum()
    multipliers = np.zeros(len(signs))
    multipliers[short] = of_signs - offset * of_one
    return Margin(multipliers, float(offset), kernel @ multipliers + offset)


def best_part(start: Margin, target: Margin, signs: Floats, ridge: float | Floats) -> float:
    """The fraction of the step from start to target with the lowest objective: an exact line search.

    Along the line the objective is convex and smooth, so its minimum is where its derivative changes sign.
    """
    change = target.values - start.values
    along = change - (target.offset - start.offset)
    slope = float(start.multipliers @ along)
    curvature = float(target.multipliers @ along) - slope
    change *= signs
    shortfall = 1.0 - signs * start.values

    def derivative(part: float) -> float:
        short = np.maximum(shortfall - part * change, 0.0)
        if isinstance(ridge, np.ndarray):
            return slope + part * curvature - float((short / ridge) @ change)
        return slope + part * curvature - float(short @ change) / ridge

    if derivative(1.0) <= 0.0:
        return 1.0
    if derivative(0.0) >= 0.0:
        return 0.0
    return float(brentq(derivative, 0.0, 1.0, xtol=1e-9, rtol=1e-3))
