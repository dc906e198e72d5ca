"""Least-squares support vector machines: kernel ridge with a free offset, and classes that may weigh the same."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import BlockClassifier, BlockRegressor, Floats
from msl.blocks.cholesky import inverse_diagonal, inverse_root
from msl.blocks.kernel_machine import KernelMachine, ridge_solve, ridged, safe_ridge
from msl.blocks.present import balanced_weights, present_classes, scores_of_all, signed_targets
from msl.blocks.public import public


class LSSVM(KernelMachine):
    """f(x) = b + Σ α K(x, row), (K + shrinkage · V⁻¹) α + b = targets, Σ α = 0; V the weights of the rows.

    Suykens and Vandewalle (1999), Least squares support vector machine classifiers, Neural Processing Letters 9.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "balance": ["boolean"],
    }

    def __init__(
        self,
        coef0: float = 1,
        degree: int = 1,
        gamma: float = 0.0,
        shrinkage: float = 0.01,
        balance: bool = False,
    ) -> None:
        self.coef0 = coef0
        self.degree = degree
        self.gamma = gamma
        self.shrinkage = shrinkage
        self.balance = balance

    def _solve(self, kernel: Floats, X: Floats, targets: Floats, ridge: float | Floats) -> None:
        """The offset is where the multipliers of the targets and of a constant target of one cancel in sum."""
        self.rows_ = X
        self.ridge_ = ridge
        right_sides = np.column_stack([np.ones(len(X)), targets])
        solutions = ridge_solve(kernel, ridge, right_sides)
        of_one, of_targets = solutions[:, :1], solutions[:, 1:]
        self.intercept_: Floats = of_targets.sum(axis=0) / of_one.sum()
        self.dual_coef_: Floats = of_targets - of_one * self.intercept_

    def complexity(self) -> float:
        """The effective degrees of freedom: the trace of the matrix that takes targets to fitted values."""
        kernel = self._kernel.matrix(self.rows_, self.rows_)
        root = inverse_root(ridged(kernel, self.ridge_))
        sums = root.T @ root.sum(axis=1)  # of the rows of the inverse
        residual_freedom = safe_ridge(kernel, self.ridge_) * (inverse_diagonal(root) - sums**2 / sums.sum())
        return float(len(kernel) - residual_freedom.sum())


@public
class LSSVMRegressor(LSSVM, BlockRegressor):
    """The least-squares support vector machine for numbers; there is nothing for `balance` to weigh."""

    def fit_prepared(self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._solve(prepared, X, y, self.shrinkage)

    def outputs_prepared(self, query: Floats) -> Floats:
        return (query @ self.dual_coef_ + self.intercept_)[:, 0]


@public
class LSSVMClassifier(LSSVM, BlockClassifier):
    """The least-squares support vector machine for classes, one against the rest beyond two."""

    def fit_prepared(self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        ridge = self.shrinkage / balanced_weights(codes, n_present) if self.balance else self.shrinkage
        self._solve(prepared, X, signed_targets(codes, n_present), ridge)

    def outputs_prepared(self, query: Floats) -> Floats:
        return scores_of_all(query @ self.dual_coef_ + self.intercept_, self.present_, self.n_classes_)
