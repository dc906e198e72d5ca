"""Decide for the class of the lowest expected cost, by the costs of errors and the probabilities of a classifier."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.blocks.base.block import BlockPost, Floats
from msl.blocks.base.chain import probabilities
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError


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
