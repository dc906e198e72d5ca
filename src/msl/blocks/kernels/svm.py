"""Support vector classifiers: the widest margin, softened by a ridge on the kernel's diagonal.

Two solvers share the work. libsvm moves two multipliers at a time, which is fastest where few rows are hard to tell
apart and may take forever where the ridge is small and many are; then a Newton method takes over.
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

#: libsvm's bound of the multipliers: none in effect, for a hard margin.
HARD = 1e30
#: Steps that libsvm gets, and more for each row; about as many as take the time of Newton's method.
STEPS = 2_000
STEPS_A_ROW = 5


@public
class SVC(KernelMachine, BlockClassifier):
    """A hard margin with the kernel (coef0 + x·z)^degree · exp(-gamma ‖x - z‖²) and a ridge of `shrinkage`.

    The ridge is the same as a square penalty on what falls short of the margin (Cortes and Vapnik, 1995). Beyond two
    classes each pair has its own machine; a class's score is the number of its wins, plus less than a half for how
    clear they are.
    """

    def __init__(self, coef0: float = 1, degree: int = 1, gamma: float = 0.1, shrinkage: float = 0.01) -> None:
        self.coef0 = coef0
        self.degree = degree
        self.gamma = gamma
        self.shrinkage = shrinkage

    def fit_prepared(self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.rows_ = X
        self.present_, codes = present_classes(y, n_classes)
        pairs = class_pairs(len(self.present_))
        self.dual_coef_ = np.zeros((len(X), len(pairs)))
        self.intercept_ = np.zeros(len(pairs))
        if pairs and not self._fit_by_libsvm(prepared, codes, pairs):
            self._fit_by_newton(prepared, codes, pairs)

    def _fit_by_libsvm(self, kernel: Floats, codes: Codes, pairs: list[tuple[int, int]]) -> bool:
        """Whether it was done in the steps allowed."""
        ridged = kernel.copy()
        np.einsum("ii->i", ridged)[:] += self.shrinkage
        # libsvm keeps kernels in single precision, which has no room for large ones; the margin is free of scale.
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

    def _fit_by_newton(self, kernel: Floats, codes: Codes, pairs: list[tuple[int, int]]) -> None:
        for column, (winner, loser) in enumerate(pairs):
            rows = np.flatnonzero((codes == winner) | (codes == loser))
            between = kernel if len(rows) == len(kernel) else kernel[rows[:, np.newaxis], rows]
            margin = widest_margin(between, np.where(codes[rows] == winner, 1.0, -1.0), self.shrinkage)
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
    """The class that a positive margin speaks for, and the other: the second of two classes, else the first of each."""
    return [(1, 0)] if n_present == 2 else list(combinations(range(n_present), 2))


def scores_of_wins(margins: Floats, n_present: int) -> Floats:
    """One score for each of the classes out of one margin a pair."""
    winners, losers = np.array(class_pairs(n_present), dtype=np.intp).reshape(-1, 2).T
    speaks_for = (winners[:, np.newaxis] == np.arange(n_present)).astype(np.float64)
    speaks_against = (losers[:, np.newaxis] == np.arange(n_present)).astype(np.float64)
    positive = margins >= 0.0
    wins = positive @ speaks_for + ~positive @ speaks_against
    clarity = margins @ (speaks_for - speaks_against)
    scores: Floats = wins + clarity / (3.0 * (np.abs(clarity) + 1.0))
    return scores


# --- The widest margin with a ridge on the kernel's diagonal: Newton's method on the set of support vectors. ----------
#
# A ridge r on the diagonal of a hard margin is a penalty ξ² / 2r on every row that falls short of the margin by ξ. That
# objective is quadratic as long as the same rows fall short, so each Newton step solves the linear system of those rows
# alone, and when they stay the same the optimum is reached to the last digit. Its cost hardly rises as the ridge falls,
# unlike that of methods that move two multipliers at a time.
#
# Mangasarian (2002), A finite Newton method for classification; Chapelle (2007), Training a support vector machine in
# the primal.


#: Newton steps; a dozen is the rule.
MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Margin:
    """f = K α + b, and its `values` on the training rows; only support vectors have multipliers other than zero."""

    multipliers: Floats
    offset: float
    values: Floats

    def towards(self, other: Margin, part: float) -> Margin:
        return Margin(
            self.multipliers + part * (other.multipliers - self.multipliers),
            self.offset + part * (other.offset - self.offset),
            self.values + part * (other.values - self.values),
        )

    def without_traces(self, short: Codes) -> Margin:
        """Multipliers that are left over from earlier steps, next to nothing, are taken for nothing."""
        multipliers = np.zeros_like(self.multipliers)
        multipliers[short] = self.multipliers[short]
        return Margin(multipliers, self.offset, self.values)


def widest_margin(kernel: Floats, signs: Floats, ridge: float) -> Margin:
    """The machine for two classes, coded ±1, both of them present."""
    short = np.arange(len(signs))
    current = touching(kernel, signs, ridge, short)
    part = 1.0
    for _ in range(MOST_STEPS):
        previous, short = short, np.flatnonzero(signs * current.values < 1.0)
        if part == 1.0 and np.array_equal(short, previous):
            break
        target = touching(kernel, signs, ridge, short)
        part = best_part(current, target, signs, ridge)
        if part == 0.0:  # as far as rounding lets one go
            return current.without_traces(short)
        current = target if part == 1.0 else current.towards(target, part)
    return current


def touching(kernel: Floats, signs: Floats, ridge: float, short: Codes) -> Margin:
    """The optimum if the rows that fall short were exactly these."""
    inside = kernel if len(short) == len(kernel) else kernel[short[:, np.newaxis], short]
    right_sides = np.ones((len(short), 2))
    right_sides[:, 1] = signs[short]
    of_one, of_signs = ridge_solve(inside, ridge, right_sides).T
    offset = of_signs.sum() / of_one.sum()
    multipliers = np.zeros(len(signs))
    multipliers[short] = of_signs - offset * of_one
    return Margin(multipliers, float(offset), kernel @ multipliers + offset)


def best_part(start: Margin, target: Margin, signs: Floats, ridge: float) -> float:
    """The part of the way from start to target, at most all of it, at which the objective is lowest.

    Along the way the objective is convex and smooth, so its lowest point is where its derivative changes sign.
    """
    change = target.values - start.values
    along = change - (target.offset - start.offset)
    slope = float(start.multipliers @ along)
    curvature = float(target.multipliers @ along) - slope
    change *= signs
    shortfall = 1.0 - signs * start.values

    def derivative(part: float) -> float:
        return slope + part * curvature - float(np.maximum(shortfall - part * change, 0.0) @ change) / ridge

    if derivative(1.0) <= 0.0:
        return 1.0
    if derivative(0.0) >= 0.0:
        return 0.0
    return float(brentq(derivative, 0.0, 1.0, xtol=1e-9, rtol=1e-3))
