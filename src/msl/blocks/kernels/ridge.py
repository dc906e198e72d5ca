"""Kernel ridge regression (kridge), least-squares support vector machines (lssvm) and self-tuning ridge (gkridge).

Classes are fitted as targets of ±1, one against the rest if there are more than two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from msl.blocks.base.block import Block, BlockClassifier, BlockRegressor, Floats
from msl.blocks.kernels.kernel_machine import (
    KernelMachine,
    gaussian,
    median_squared_distance,
    ridge_solve,
    ridged,
    safe_ridge,
    squared_distances,
)
from msl.blocks.numerics.class_statistics import class_shares, present_classes, scores_of_all, signed_targets
from msl.blocks.numerics.matrices import inverse_diagonal, inverse_root
from msl.blocks.numerics.safe_scaling import unit_scale
from msl.blocks.public import public

__all__ = [
    "LSSVM",
    "RIDGES",
    "ROWS_FOR_WIDTH",
    "WIDTHS",
    "GKRidge",
    "GKRidgeClassifier",
    "GKRidgeRegressor",
    "KRidgeClassifier",
    "KRidgeRegressor",
    "LSSVMClassifier",
    "LSSVMRegressor",
    "Solutions",
    "Spectrum",
    "best_gamma",
]


class KRidge(KernelMachine):
    """f(x) = Σ α K(x, row), with (K + shrinkage · I) α = targets. There is no intercept; `coef0 = 1` has its effect.

    As scikit-learn's KernelRidge, with the kernel of `KernelMachine`. Learners that differ in `shrinkage` share the
    kernel matrix but not an eigendecomposition of it: on 350 rows that takes twenty times as long as one Cholesky
    factorisation, and searches rarely try two ridges with the same kernel. `gkridge` compares thirty ridges by one
    decomposition.
    """

    def __init__(self, coef0: float = 1, degree: int = 1, gamma: float = 0.0, shrinkage: float = 0.01) -> None:
        self.coef0 = coef0
        self.degree = degree
        self.gamma = gamma
        self.shrinkage = shrinkage

    takes_weights = True

    def _solve(self, kernel: Floats, X: Floats, targets: Floats, weights: Floats | None = None) -> None:
        self.rows_ = X
        self.ridge_ = self.shrinkage if weights is None else self.shrinkage / weights
        self.dual_coef_ = ridge_solve(kernel, self.ridge_, targets)

    def complexity(self) -> float:
        """The effective degrees of freedom, trace K (K + shrinkage · I)⁻¹."""
        kernel = self._kernel.matrix(self.rows_, self.rows_)
        ridge = getattr(self, "ridge_", self.shrinkage)  # models that were saved before there were weights have none
        inverse = inverse_diagonal(inverse_root(ridged(kernel, ridge)))
        return float(len(kernel) - (safe_ridge(kernel, ridge) * inverse).sum())


@public
class KRidgeRegressor(KRidge, BlockRegressor):
    """Kernel ridge regression with the kernel (coef0 + x·z)^degree · exp(-gamma ‖x - z‖²)."""

    def fit_prepared(self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._solve(prepared, X, y)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self._solve(self.prepare(X, y, n_classes), X, y, weights)

    def outputs_prepared(self, query: Floats) -> Floats:
        return query @ self.dual_coef_


@public
class KRidgeClassifier(KRidge, BlockClassifier):
    """Kernel ridge regression on targets of ±1, one against the rest beyond two classes."""

    def fit_prepared(
        self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None
    ) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        self._solve(prepared, X, signed_targets(codes, len(self.present_)), weights)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self.fit_prepared(self.prepare(X, y, n_classes), X, y, n_classes, weights)

    def outputs_prepared(self, query: Floats) -> Floats:
        return scores_of_all(query @ self.dual_coef_, self.present_, self.n_classes_)


# --- Least-squares support vector machines ----------------------------------------------------------------------------


class LSSVM(KernelMachine):
    """f(x) = b + Σ α K(x, row), with (K + shrinkage · V⁻¹) α + b = targets and Σ α = 0; V holds the row weights.

    Kernel ridge regression with an intercept; `balance` multiplies the ridge of a row by the share of its class, so
    that all classes have the same total weight. Suykens and Vandewalle (1999), Least squares support vector machine
    classifiers, Neural Processing Letters 9.
    """

    takes_weights = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelMachine._parameter_constraints,
        "balance": ["boolean"],
    }

    def __init__(
        self,
        coef0: float = 0,
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
        """Solves for the targets and for a constant target of one; the intercept makes the sum of α zero."""
        self.rows_ = X
        self.ridge_ = ridge
        right_sides = np.column_stack([np.ones(len(X)), targets])
        solutions = ridge_solve(kernel, ridge, right_sides)
        of_one, of_targets = solutions[:, :1], solutions[:, 1:]
        self.intercept_: Floats = of_targets.sum(axis=0) / of_one.sum()
        self.dual_coef_: Floats = of_targets - of_one * self.intercept_

    def complexity(self) -> float:
        """The effective degrees of freedom: the trace of the hat matrix."""
        kernel = self._kernel.matrix(self.rows_, self.rows_)
        root = inverse_root(ridged(kernel, self.ridge_))
        sums = root.T @ root.sum(axis=1)  # the row sums of the inverse
        residual_freedom = safe_ridge(kernel, self.ridge_) * (inverse_diagonal(root) - sums**2 / sums.sum())
        return float(len(kernel) - residual_freedom.sum())


@public
class LSSVMRegressor(LSSVM, BlockRegressor):
    """The least-squares support vector machine for regression, where `balance` has no effect."""

    def fit_prepared(self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._solve(prepared, X, y, self.shrinkage)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self._solve(self.prepare(X, y, n_classes), X, y, self.shrinkage / weights)

    def outputs_prepared(self, query: Floats) -> Floats:
        return (query @ self.dual_coef_ + self.intercept_)[:, 0]


@public
class LSSVMClassifier(LSSVM, BlockClassifier):
    """The least-squares support vector machine for classification."""

    def fit_prepared(
        self, prepared: Floats, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None
    ) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        ridge: float | Floats = self.shrinkage
        if self.balance:
            ridge = self.shrinkage * class_shares(codes, n_present, weights)
        if weights is not None:
            ridge = ridge / weights
        self._solve(prepared, X, signed_targets(codes, n_present), ridge)

    def outputs_prepared(self, query: Floats) -> Floats:
        return scores_of_all(query @ self.dual_coef_ + self.intercept_, self.present_, self.n_classes_)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self.fit_prepared(self.prepare(X, y, n_classes), X, y, n_classes, weights)


# --- Kernel ridge that chooses its ridge and kernel width by leave-one-out --------------------------------------------
#
# No refits are needed: the leave-one-out residual of a row is its multiplier divided by a diagonal entry of an inverse,
# and one eigendecomposition gives both for any number of ridges.


#: From little more than the mean of the targets to interpolation; the strongest first, so that it wins ties.
RIDGES: Floats = np.logspace(3, -6, 30)
#: gamma times the median squared distance, the widest kernel first.
WIDTHS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)
#: Each width costs an eigendecomposition, so widths are compared on at most this many rows, ridges on all.
ROWS_FOR_WIDTH = 200


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The eigendecomposition of a kernel, to solve (K + ridge · I) α + b = targets, Σ α = 0 for any ridge."""

    eigenvalues: Floats
    eigenvectors: Floats

    @classmethod
    def of(cls, kernel: Floats) -> Spectrum:
        eigenvalues, eigenvectors = eigh(kernel, check_finite=False, driver="evd")
        return cls(np.maximum(eigenvalues, 0.0), eigenvectors)

    def solve(self, targets: Floats, ridges: Floats) -> Solutions:
        n_rows, n_columns = targets.shape
        shrunk = 1.0 / (self.eigenvalues[:, np.newaxis] + ridges)
        right_sides = np.column_stack([np.ones(n_rows), targets])
        rotated = self.eigenvectors.T @ right_sides
        inverses = self.eigenvectors @ (rotated[:, :, np.newaxis] * shrunk[:, np.newaxis, :]).reshape(n_rows, -1)
        inverses = inverses.reshape(n_rows, 1 + n_columns, len(ridges))
        of_one, of_targets = inverses[:, 0], inverses[:, 1:]
        sum_of_one = of_one.sum(axis=0)
        offsets = of_targets.sum(axis=0) / sum_of_one
        multipliers = of_targets - of_one[:, np.newaxis, :] * offsets
        diagonal = self.eigenvectors**2 @ shrunk - of_one**2 / sum_of_one
        return Solutions(multipliers, offsets, diagonal)


@dataclass(frozen=True, slots=True)
class Solutions:
    """The solutions for a list of ridges, which is the last axis of all arrays.

    `diagonal` is that of the inverse of the bordered kernel [K + ridge · I, 1; 1, 0], without its last entry.
    """

    multipliers: Floats
    offsets: Floats
    diagonal: Floats

    def leave_one_out(self) -> Floats:
        """The residual of each row for the fit without it (Cawley and Talbot, 2007)."""
        with np.errstate(invalid="ignore"):  # 0 / 0 for a single row
            residuals: Floats = self.multipliers / self.diagonal[:, np.newaxis, :]
        return residuals

    def squared_errors(self) -> Floats:
        """The sum of squares of the leave-one-out residuals for each ridge."""
        errors: Floats = (self.leave_one_out() ** 2).sum(axis=(0, 1))
        return np.where(np.isnan(errors), np.inf, errors)


def best_gamma(rows: Floats, targets: Floats) -> float:
    distances = squared_distances(rows, rows)
    typical = median_squared_distance(distances)
    candidates = [width / typical for width in WIDTHS]
    errors = [Spectrum.of(gaussian(distances, g)).solve(targets, RIDGES).squared_errors().min() for g in candidates]
    return candidates[int(np.argmin(errors))]


class GKRidge(Block):
    """Kernel ridge regression with an intercept and a Gaussian kernel. It has no parameters.

    The ridge and the width of the kernel are those with the lowest squared leave-one-out error.

    Guyon et al. (2006), Performance prediction challenge, IJCNN; Cawley and Talbot (2007), Preventing over-fitting
    during model selection via Bayesian regularisation of the hyper-parameters, Journal of Machine Learning Research 8.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def _solve(self, X: Floats, targets: Floats) -> None:
        # The choice of width and ridge does not depend on the scale of features and targets.
        self.scale_ = unit_scale(X)
        self.rows_ = X * self.scale_
        target_scale = unit_scale(targets)
        targets = targets * target_scale
        step = -(-len(X) // ROWS_FOR_WIDTH)
        self.gamma_ = best_gamma(self.rows_[::step], targets[::step])
        kernel = gaussian(squared_distances(self.rows_, self.rows_), self.gamma_)
        solutions = Spectrum.of(kernel).solve(targets, RIDGES)
        best = int(solutions.squared_errors().argmin())
        self.ridge_ = float(RIDGES[best])
        self.dual_coef_ = solutions.multipliers[:, :, best] / target_scale
        self.intercept_ = solutions.offsets[:, best] / target_scale
        self.freedom_ = float(len(X) - self.ridge_ * solutions.diagonal[:, best].sum())

    def _values(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            scaled = X * self.scale_
        return gaussian(squared_distances(scaled, self.rows_), self.gamma_) @ self.dual_coef_ + self.intercept_

    def complexity(self) -> float:
        """The effective degrees of freedom."""
        return self.freedom_


@public
class GKRidgeRegressor(GKRidge, BlockRegressor):
    """Self-tuning Gaussian kernel ridge regression."""

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._solve(X, y[:, np.newaxis])

    def outputs(self, X: Floats) -> Floats:
        return self._values(X)[:, 0]


@public
class GKRidgeClassifier(GKRidge, BlockClassifier):
    """Self-tuning Gaussian kernel ridge on targets of ±1, with the same ridge and width for all classes."""

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        self._solve(X, signed_targets(codes, len(self.present_)))

    def outputs(self, X: Floats) -> Floats:
        return scores_of_all(self._values(X), self.present_, self.n_classes_)
