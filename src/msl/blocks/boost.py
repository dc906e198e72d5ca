"""Boosting: LogitBoost on shallow regression trees."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils._param_validation import Interval

from msl.blocks.base import Codes, Floats, ProbabilisticClassifier
from msl.blocks.present import present_classes, probabilities_of_all
from msl.blocks.public import public
from msl.blocks.shallow_tree import ShallowTrees, SortedRows

#: The authors' limit of a working response, against rows that are all but certainly wrong.
LARGEST_RESPONSE = 4.0
#: Rows that are all but certainly right keep this weight.
LEAST_WEIGHT = 1e-10


@public
class LogitBoost(ProbabilisticClassifier):
    """Additive logistic regression by Newton steps, each a regression tree of at most `depth` levels of splits.

    Two classes take one tree a round (algorithm 3), more take one a class (algorithm 6) of Friedman, Hastie and
    Tibshirani (2000), Additive logistic regression, Annals of Statistics 28.
    """

    #: The sorted rows depend on no parameter at all.
    shared_parameters = frozenset()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "units": [Interval(Integral, 1, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
        "depth": [Interval(Integral, 1, 16, closed="both")],
    }

    def __init__(self, units: int = 100, shrinkage: float = 0.3, depth: int = 2) -> None:
        self.units = units
        self.shrinkage = shrinkage
        self.depth = depth

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> SortedRows:
        return SortedRows.of(X)

    def fit_prepared(self, prepared: SortedRows, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        if n_present == 1:
            self.trees_ = ShallowTrees.empty(0, self.depth)
        elif n_present == 2:
            self.trees_ = self._fit_two(prepared, codes)
        else:
            self.trees_ = self._fit_many(prepared, codes, n_present)

    def _fit_two(self, rows: SortedRows, codes: Codes) -> ShallowTrees:
        trees = ShallowTrees.empty(self.units, self.depth)
        score = np.zeros(len(codes))
        for tree in range(self.units):
            score += self.shrinkage / 2.0 * grow_tree(trees, tree, rows, codes == 1, expit(2.0 * score))
        return trees

    def _fit_many(self, rows: SortedRows, codes: Codes, n_present: int) -> ShallowTrees:
        trees = ShallowTrees.empty(self.units * n_present, self.depth)
        is_class = codes[:, np.newaxis] == np.arange(n_present)
        sums = np.zeros(is_class.shape)
        for first_tree in range(0, self.units * n_present, n_present):
            probability = softmax(self._symmetric(sums), axis=1)
            for code in range(n_present):
                sums[:, code] += grow_tree(trees, first_tree + code, rows, is_class[:, code], probability[:, code])
        return trees

    def _symmetric(self, sums: Floats) -> Floats:
        """Scores out of the sums of trees: they sum to zero over the classes, as the authors' symmetric model asks."""
        n_present = sums.shape[1]
        scores: Floats = self.shrinkage * (n_present - 1) / n_present * (sums - sums.mean(axis=1, keepdims=True))
        return scores

    def outputs(self, X: Floats) -> Floats:
        n_present = len(self.present_)
        if n_present == 1:
            probabilities = np.ones((len(X), 1))
        elif n_present == 2:
            second = expit(self.shrinkage * self.trees_.sums(X, 1))
            probabilities = np.hstack([1.0 - second, second])
        else:
            probabilities = softmax(self._symmetric(self.trees_.sums(X, n_present)), axis=1)
        return probabilities_of_all(probabilities, self.present_, self.n_classes_)

    def complexity(self) -> float:
        """The number of leaves of all trees."""
        return float(self.trees_.n_leaves())


def grow_tree(trees: ShallowTrees, tree: int, rows: SortedRows, is_class: NDArray[np.bool_], p: Floats) -> Floats:
    """One Newton step: a tree fitted to the working response of a class that has the probability `p` now."""
    weights = np.maximum(p * (1.0 - p), LEAST_WEIGHT)
    response = np.clip((is_class - p) / weights, -LARGEST_RESPONSE, LARGEST_RESPONSE)
    return trees.grow(tree, rows, weights, response)
