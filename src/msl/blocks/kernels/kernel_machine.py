"""The kernel of all kernel machines here, squared distances, and the base class of learners that share its matrix."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Block, Floats
from msl.blocks.numerics.matrices import solve_positive_definite
from msl.blocks.numerics.safe_scaling import unit_scale
from msl.diagnostics.user_error import UserError

#: The largest kernel value: sums and products of such values do not overflow.
LARGEST_VALUE = 1e150
#: The exponentials of smaller numbers are set to zero: subnormal numbers are very slow to compute with.
LEAST_EXPONENT = -100.0


@dataclass(frozen=True, slots=True)
class Kernel:
    """K(x, z) = (coef0 + x·z)^degree · exp(-gamma ‖x - z‖²), positive semi-definite for coef0 ≥ 0."""

    coef0: float
    degree: int
    gamma: float

    def matrix(self, X: Floats, Z: Floats) -> Floats:
        """One row of kernel values for each row of X, one column for each row of Z; symmetric if Z is X."""
        if self.gamma == 0.0:
            return self._polynomial(X, Z)
        gaussian = self._gaussian(X, Z)
        if self.degree > 0:
            gaussian *= self._polynomial(X, Z)
        return gaussian

    def _polynomial(self, X: Floats, Z: Floats) -> Floats:
        if self.degree == 0:
            return np.ones((len(X), len(Z)))
        self._reject_overflow(X, Z)
        base = X @ Z.T
        if self.coef0:
            base += self.coef0
        power = base
        for _ in range(self.degree - 1):
            power = power * base
        return power

    def _reject_overflow(self, X: Floats, Z: Floats) -> None:
        largest_X, largest_Z = np.abs(X).max(), np.abs(Z).max()
        with np.errstate(over="ignore"):
            overflows = (self.coef0 + largest_X * largest_Z * X.shape[1]) ** self.degree > LARGEST_VALUE
        if overflows:
            raise UserError(
                f"the kernel (coef0 + x·z)^{self.degree} overflows with features as large as "
                f"{max(largest_X, largest_Z):.0e}; standardize them first"
            )

    def _gaussian(self, X: Floats, Z: Floats) -> Floats:
        scale = min(float(unit_scale(Z)), 1.0)  # against overflow only
        scaled_Z = Z * scale
        distances = squared_distances(scaled_Z if X is Z else X * scale, scaled_Z)
        with np.errstate(over="ignore"):
            gamma = min(self.gamma / scale / scale, LARGEST_VALUE)  # finite, so that a distance of zero gives one
        return gaussian(distances, gamma, out=distances)


def squared_lengths(X: Floats) -> Floats:
    lengths: Floats = np.einsum("ij,ij->i", X, X)
    return lengths


def squared_distances(X: Floats, Z: Floats) -> Floats:
    """‖x - z‖² for rows Z scaled to about one; rows of X whose squares overflow are infinitely far.

    As scikit-learn's `euclidean_distances`, but around the mean of Z, which loses fewer digits to cancellation, and
    with an exact zero from a row to itself.
    """
    centre = Z.mean(axis=0)
    around_Z: Floats = Z - centre
    with np.errstate(over="ignore", invalid="ignore"):
        around_X = around_Z if X is Z else X - centre
        distances: Floats = around_X @ around_Z.T
        # Taken from the diagonal, so that the distance of a row to itself is exactly zero.
        lengths_Z = distances.diagonal().copy() if X is Z else squared_lengths(around_Z)
        lengths_X = lengths_Z if X is Z else squared_lengths(around_X)
        distances *= -2.0
        distances += lengths_X[:, np.newaxis]
        distances += lengths_Z
    np.maximum(distances, 0.0, out=distances)
    if not np.isfinite(lengths_X).all():
        distances[~np.isfinite(lengths_X)] = np.inf
    return distances


def gaussian(distances: Floats, gamma: float, out: Floats | None = None) -> Floats:
    """exp(-gamma · squared distance), exactly zero where it would be tiny."""
    values: Floats = np.multiply(distances, -gamma, out=out)
    values[values < LEAST_EXPONENT] = -np.inf
    np.exp(values, out=values)
    return values


def median_squared_distance(distances: Floats) -> float:
    """The median squared distance between two rows, a common width of a Gaussian kernel; never zero."""
    pairs = distances[np.tri(len(distances), k=-1, dtype=bool)]
    if len(pairs) == 0:
        return 1.0
    median = float(np.median(pairs))
    if median > 0.0:
        return median
    return float(pairs.mean()) or 1.0


# --- Learners that share the kernel matrix ----------------------------------------------------------------------------
#
# The matrix does not depend on the ridge, so learners that differ only in `shrinkage` share it, both between the
# training rows and with the rows to predict. One factorisation for each ridge is then cheaper than one
# eigendecomposition for all, unless there are dozens of ridges.


class KernelMachine(Block):
    """A learner whose outputs are linear in the kernel values with the training rows.

    The kernel is (coef0 + x·z)^degree · exp(-gamma ‖x - z‖²); `shrinkage` is the ridge added to its diagonal.
    """

    shared_parameters = frozenset({"coef0", "degree", "gamma"})
    query_parameters = shared_parameters

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "coef0": [Interval(Real, 0, None, closed="left")],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [Interval(Real, 0, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
    }

    coef0: float
    degree: int
    gamma: float
    shrinkage: float
    rows_: Floats

    @property
    def _kernel(self) -> Kernel:
        return Kernel(self.coef0, self.degree, self.gamma)

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Floats:
        return self._kernel.matrix(X, X)

    def prepare_query(self, X: Floats) -> Floats:
        return self._kernel.matrix(X, self.rows_)


def ridge_solve(kernel: Floats, ridge: float | Floats, right_sides: Floats) -> Floats:
    """Solves (kernel + ridge · I) · solutions = right sides, one column each."""
    return solve_positive_definite(ridged(kernel, ridge), right_sides)


def ridged(kernel: Floats, ridge: float | Floats) -> Floats:
    """A copy of the kernel with the ridge added to its diagonal."""
    matrix = kernel.copy()
    diagonal = np.einsum("ii->i", matrix)
    diagonal += safe_ridge(kernel, ridge)
    return matrix


def safe_ridge(kernel: Floats, ridge: float | Floats) -> Floats:
    """The ridge, raised to the size of the rounding errors of the kernel matrix if it is smaller."""
    least = len(kernel) * np.finfo(np.float64).eps * kernel.diagonal().max()
    return np.maximum(ridge, least)
