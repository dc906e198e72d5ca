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
from scipy.linalg.lapack import dposv
from sklearn.utils._param_validation import Interval

from msl.blocks.base import Block, Floats
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
    """Solves (kernel + ridge on its diagonal) · solutions = right sides, one column each.

    A ridge below the rounding errors of the kernel's values cannot be told from them; it is raised to their size.
    """
    ridged = kernel.copy()
    diagonal = np.einsum("ii->i", ridged)
    diagonal += np.maximum(ridge, len(kernel) * np.finfo(np.float64).eps * diagonal.max())
    # The transpose is the same matrix in the order that LAPACK works on in place.
    _, solutions, failure = dposv(ridged.T, right_sides, lower=True, overwrite_a=True)
    if failure:
        raise np.linalg.LinAlgError("the kernel with its ridge is not positive definite")
    return np.asarray(solutions)
