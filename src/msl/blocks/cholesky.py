"""Cholesky: symmetric positive definite matrices, solved and inverted through the root that they have."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dposv, dpotrf, dtrtri

from msl.blocks.base import Floats


def solved(matrix: Floats, right_sides: Floats) -> Floats:
    """The solutions of matrix · solutions = right sides, one column each; the matrix is overwritten."""
    # The transpose is the same matrix in the order that LAPACK works on in place.
    _, solutions, failure = dposv(matrix.T, right_sides, lower=True, overwrite_a=True)
    _reject(failure)
    return np.asarray(solutions)


def inverse_root(matrix: Floats) -> Floats:
    """The triangle T with Tᵀ T the inverse of the matrix, which is overwritten.

    Its sums of squares by column are the diagonal of the inverse: a quarter of the work of the whole inverse.
    """
    root, failure = dpotrf(matrix.T, lower=True, clean=True, overwrite_a=True)
    _reject(failure)
    inverse, failure = dtrtri(root, lower=True, overwrite_c=True)
    _reject(failure)
    return np.asarray(inverse)


def inverse_diagonal(root: Floats) -> Floats:
    """The diagonal of the inverse of a matrix, out of the inverse's root."""
    diagonal: Floats = np.einsum("ij,ij->j", root, root)
    return diagonal


def _reject(failure: int) -> None:
    if failure:
        raise np.linalg.LinAlgError("the matrix is not positive definite")
