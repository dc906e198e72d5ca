"""Support vector classifiers: the widest margin, softened by a ridge on the kernel's diagonal.

Two solvers share the work. libsvm moves two multipliers at a time, which is fastest where few rows are hard to tell
apart and may take forever where the ridge is small and many are; then a Newton method takes over.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, svm
from sklearn.exceptions import ConvergenceWarning

from msl.blocks.base import BlockClassifier, Codes, Floats
from msl.blocks.kernel_machine import KernelMachine
from msl.blocks.magnitude import unit_scale
from msl.blocks.margin import widest_margin
from msl.blocks.present import present_classes, scores_of_all
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
