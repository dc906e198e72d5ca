"""Kernel ridge regression: numbers by least squares with a ridge, classes by one target of ±1 for each."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from msl.blocks.base import BlockClassifier, BlockRegressor, Floats
from msl.blocks.cholesky import inverse_diagonal, inverse_root
from msl.blocks.kernel_machine import KernelMachine, ridge_solve, ridged, safe_ridge
from msl.blocks.least_squares_svm import LSSVMClassifier, LSSVMRegressor
from msl.blocks.present import present_classes, scores_of_all, signed_targets
from msl.blocks.public import public
from msl.blocks.virtual_ridge import GKRidgeClassifier, GKRidgeRegressor

__all__ = [
    "GKRidgeClassifier",
    "GKRidgeRegressor",
    "KRidgeClassifier",
    "KRidgeRegressor",
    "LSSVMClassifier",
    "LSSVMRegressor",
]


class KRidge(KernelMachine):
    """f(x) = Σ α K(x, row), (K + shrinkage · I) α = targets; no offset, which `coef0 = 1` stands in for.

    Siblings that differ in `shrinkage` share the kernel, and on purpose no eigendecomposition of it: on 350 rows that
    takes twenty times as long as one Cholesky factorisation, and of the kernels that swarms over full models meet (58
    in four runs of 300 models) not one was met with a second ridge. Whoever wants many ridges for one kernel has
    `gkridge`, which chooses among thirty by one decomposition.
    """

    def __init__(self, coef0: float = 1, degree: int = 1, gamma: float = 0.0, shrinkage: float = 0.01) -> None:
        self.coef0 = coef0
        self.degree = degree
        self.gamma = gamma
        self.shrinkage = shrinkage

    def _solve(self, kernel: Floats, X: Floats, targets: Floats) -> None:
        self.rows_ = X
        self.dual_coef_ = ridge_solve(kernel, self.shrinkage, targets)

    def complexity(self) -> float:
        """The effective degrees of freedom, tr K (K + shrinkage · I)⁻¹."""
        kernel = self._kernel.matrix(self.rows_, self.rows_)
        inverse = inverse_diagonal(inverse_root(ridged(kernel, self.shrinkage)))
        return float(len(kernel) - (safe_ridge(kernel, self.shrinkage) * inverse).sum())


@public
class KRidgeRegressor(KRidge, BlockRegressor):
    """Kernel ridge regression with the kernel (coef0 + x·z)^degree · exp(-gamma ‖x - z‖²)."""

    def fit_prepared(self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._solve(prepared, X, y)

    def outputs_prepared(self, query: Floats) -> Floats:
        return query @ self.dual_coef_


@public
class KRidgeClassifier(KRidge, BlockClassifier):
    """Kernel ridge regression on targets of ±1, one against the rest beyond two classes."""

    def fit_prepared(self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        self._solve(prepared, X, signed_targets(codes, len(self.present_)))

    def outputs_prepared(self, query: Floats) -> Floats:
        return scores_of_all(query @ self.dual_coef_, self.present_, self.n_classes_)
