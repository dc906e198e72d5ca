"""The kernel machine: what learners with the shared kernel have in common, above all the kernel matrix itself.

The matrix does not depend on the ridge, so siblings that differ in `shrinkage` alone share it, both between the
training rows and towards the rows to predict. A factorisation for each ridge is then cheaper than one
eigendecomposition for all, unless there are dozens.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from msl.blocks.base import Block, Floats
from msl.blocks.cholesky import solved
from msl.blocks.kernels import Kernel


class KernelMachine(Block):
    """A learner whose outputs are linear in the kernel values towards the training rows."""

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
    """Solves (kernel + ridge on its diagonal) · solutions = right sides, one column each."""
    return solved(ridged(kernel, ridge), right_sides)


def ridged(kernel: Floats, ridge: float | Floats) -> Floats:
    """A copy of the kernel with the ridge on its diagonal."""
    matrix = kernel.copy()
    diagonal = np.einsum("ii->i", matrix)
    diagonal += safe_ridge(kernel, ridge)
    return matrix


def safe_ridge(kernel: Floats, ridge: float | Floats) -> Floats:
    """A ridge below the rounding errors of the kernel's values cannot be told from them: it is raised to their size."""
    least = len(kernel) * np.finfo(np.float64).eps * kernel.diagonal().max()
    return np.maximum(ridge, least)
