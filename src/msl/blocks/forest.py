"""Random forests: scikit-learn's own, with the number of features a split tries as a multiple of their square root."""

from __future__ import annotations

from math import sqrt
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils._param_validation import Interval

from msl.blocks.base import Block, BlockRegressor, Floats, ProbabilisticClassifier
from msl.blocks.magnitude import unit_scale
from msl.blocks.present import present_classes, probabilities_of_all

#: Trees compare in single precision: columns larger than this are scaled down, columns smaller than one up.
LARGEST_SINGLE = 2.0**100


class Forest(Block):
    """The parameters of both forests, and their trees run without further ado."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "units": [Interval(Integral, 1, None, closed="left")],
        "mtry": [Interval(Integral, 1, None, closed="left")],
        "balance": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self, units: int = 100, mtry: int = 1, balance: bool = False, random_state: int | RandomState | None = None
    ) -> None:
        self.units = units
        self.mtry = mtry
        self.balance = balance
        self.random_state = random_state

    def _fit_forest(self, kind: type, X: Floats, y: NDArray[Any], **settings: Any) -> None:
        self.scale_ = single_scale(X)
        self.forest_ = kind(
            n_estimators=self.units,
            max_features=min(X.shape[1], int(self.mtry * sqrt(X.shape[1]))),
            n_jobs=1,
            random_state=self.random_state,
            **settings,
        )
        with config_context(assume_finite=True, skip_parameter_validation=True):
            self.forest_.fit(in_single(X, self.scale_), y)

    def _mean_of_trees(self, X: Floats) -> Floats:
        rows = in_single(X, self.scale_)
        trees = self.forest_.estimators_
        total: Floats = sum(tree.tree_.predict(rows) for tree in trees)
        return total / len(trees)

    def complexity(self) -> float:
        """The number of leaves of all trees."""
        return float(sum(tree.tree_.n_leaves for tree in self.forest_.estimators_))


class ForestRegressor(Forest, BlockRegressor):
    """A random forest for numbers (Breiman, 2001); there is nothing for `balance` to weigh."""

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._fit_forest(RandomForestRegressor, X, y)

    def outputs(self, X: Floats) -> Floats:
        return self._mean_of_trees(X)[:, 0]


class ForestClassifier(Forest, ProbabilisticClassifier):
    """A random forest for classes (Breiman, 2001); `balance` weighs classes by their inverse frequency."""

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        weight = "balanced" if self.balance else None
        self._fit_forest(RandomForestClassifier, X, codes, class_weight=weight)

    def outputs(self, X: Floats) -> Floats:
        return probabilities_of_all(self._mean_of_trees(X), self.present_, self.n_classes_)


def single_scale(X: Floats) -> Floats:
    """Powers of two that bring columns beyond single precision into it; splits do not depend on a column's scale."""
    scale = unit_scale(X, axis=0)
    return np.where(scale < 1.0 / LARGEST_SINGLE, np.minimum(scale, 1.0) * LARGEST_SINGLE, np.maximum(scale, 1.0))


def in_single(X: Floats, scale: Floats) -> NDArray[np.float32]:
    limit = np.finfo(np.float32).max
    with np.errstate(over="ignore"):
        return np.clip(X * scale, -limit, limit).astype(np.float32)
