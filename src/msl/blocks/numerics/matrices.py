"""Linear algebra: Cholesky solutions, principal axes, and the smallest entries of the rows of a matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh
from scipy.linalg.lapack import dtrtri

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.safe_scaling import BLOCK


def solve_positive_definite(matrix: Floats, right_sides: Floats) -> Floats:
    """Solves matrix · solutions = right sides, one column each; the matrix is overwritten."""
    # The transpose is the same matrix in Fortran order, on which LAPACK works in place.
    factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(cho_solve(factor, right_sides, check_finite=False))


def inverse_root(matrix: Floats) -> Floats:
    """The triangular T with Tᵀ T the inverse of the matrix, which is overwritten.

    The diagonal of the inverse is the sum of squares of each column of T, at a quarter of the cost of the inverse.
    """
    root = cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
    inverse, _ = dtrtri(root, lower=True, overwrite_c=True)  # it fails for zeros on the diagonal, which a root has not
    return np.asarray(inverse)


def inverse_diagonal(root: Floats) -> Floats:
    """The diagonal of the inverse, from the result of `inverse_root`."""
    diagonal: Floats = np.einsum("ij,ij->j", root, root)
    return diagonal


# --- Principal axes ---------------------------------------------------------------------------------------------------


#: Eigenvectors of products give the axes to eight digits as long as their variances differ by less than this.
CONDITION = 1e8
#: Axes are computed in packs: the smallest has PACK axes, each other GROWTH times as many as the one before.
PACK = 16
GROWTH = 4


class PrincipalAxes:
    """The principal axes of some rows, computed when needed and kept for other numbers of components.

    A few of many axes cost less than all of them. The axes for a given count always come from the smallest pack that
    contains it, since their last digits depend on the pack: earlier calls change no result. scikit-learn's PCA fits
    one number of components at a time, by a randomised method for few of many components.
    """

    def __init__(self, X: Floats, mean: Floats) -> None:
        self._by_columns = len(X) > X.shape[1]
        # For wide tables the centred rows are needed twice.
        self._rows = X if self._by_columns else X - mean
        self._mean = mean if self._by_columns else None
        self._products = products_of_columns(X, mean) if self._by_columns else products_of_rows(self._rows)
        self._packs: dict[int, tuple[Floats, Floats]] = {}
        self._all: tuple[Floats, Floats] | None = None

    @property
    def available(self) -> int:
        """The largest possible number of axes; centring takes away one direction."""
        return max(min(len(self._rows) - 1, self._rows.shape[1]), 1)

    @property
    def spread(self) -> float:
        """The root of the sum of squares of the centred rows, an upper bound of every projection."""
        return float(np.sqrt(self._products.trace()))

    def first(self, count: int | None = None) -> tuple[Floats, Floats]:
        """The first singular values, largest first, and right singular vectors, as columns, of the centred rows.

        There are `count` of them, or all. Those with zero variance are dropped, except the first. The largest entry of
        each vector is positive.
        """
        size = pack_size(self.available if count is None else count, self.available)
        if size not in self._packs:
            self._packs[size] = self._pack(size)
        lengths, axes = self._packs[size]
        return lengths[:count], axes[:, :count]

    def _pack(self, size: int) -> tuple[Floats, Floats]:
        squares, vectors = self._largest(size)
        if squares[0] < CONDITION * squares[-1]:
            lengths = np.sqrt(squares)
            axes = vectors if self._by_columns else self._rows.T @ (vectors / lengths)
        else:
            lengths, axes = axes_by_decomposition(self._centred())
        varies = lengths > lengths[0] * max(self._rows.shape) * np.finfo(np.float64).eps
        varies[0] = True
        lengths, axes = lengths[varies][:size], axes[:, varies][:, :size]
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[np.newaxis], axis=0)
        return lengths, axes * np.where(largest < 0.0, -1.0, 1.0)

    def _largest(self, count: int) -> tuple[Floats, Floats]:
        """The largest eigenvalues of the products, in descending order, and their eigenvectors as columns."""
        last = len(self._products) - 1
        if 2 * count <= last:
            few = eigh(self._products, subset_by_index=[last - count + 1, last], check_finite=False)
            return few[0][::-1], few[1][:, ::-1]
        if self._all is None:  # computing half of them costs as much as all
            squares, vectors = np.linalg.eigh(self._products)
            self._all = squares[::-1], vectors[:, ::-1]
        return self._all[0][:count], self._all[1][:, :count]

    def _centred(self) -> Floats:
        return self._rows if self._mean is None else self._rows - self._mean


def pack_size(count: int, available: int) -> int:
    """The size of the smallest pack with `count` axes."""
    size = PACK
    while size < count:
        size *= GROWTH
    return min(size, available)


def products_of_columns(X: Floats, mean: Floats) -> Floats:
    """The products of all centred columns."""
    n_features = X.shape[1]
    products = np.zeros((n_features, n_features))
    # Blocks with enough rows for fast products, and few enough to be centred in the cache.
    height = max(BLOCK // n_features, 8 * n_features)
    for start in range(0, len(X), height):
        rows = X[start : start + height] - mean
        products += rows.T @ rows
    return products


def products_of_rows(centred: Floats) -> Floats:
    products: Floats = centred @ centred.T
    return products


def axes_by_decomposition(centred: Floats) -> tuple[Floats, Floats]:
    """The axes by singular value decomposition: slower, but accurate for any data."""
    # R of a QR decomposition has the same axes as the whole matrix, with fewer rows.
    matrix = np.linalg.qr(centred, mode="r") if len(centred) > centred.shape[1] else centred
    _, lengths, transposed = np.linalg.svd(matrix, full_matrices=False)
    return lengths, transposed.T


# --- The smallest entries of each row of a large matrix, without sorting it -------------------------------------------


Mask = NDArray[np.bool_]


def upper_bounds(values: Floats, k: int) -> Floats:
    """For each row an upper bound of its k-th smallest value, which few other values lie below if k is small.

    Columns are split into groups; the k-th smallest of the minima of the groups is such a bound. It takes one pass over
    the matrix.
    """
    if k == 1:
        return np.asarray(values.min(axis=1))
    n_rows, n_columns = values.shape
    groups = max(8 * k, n_columns // 8)
    depth = n_columns // groups
    if depth > 1:
        values = values[:, : depth * groups].reshape(n_rows, depth, groups).min(axis=1)
    return np.asarray(np.partition(values, k - 1, axis=1)[:, k - 1])


def chosen_places(mask: Mask) -> tuple[Codes, Codes]:
    """Rows and columns of the true entries, in row order; much faster than `np.nonzero` if they are few."""
    rows, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return rows, columns


def sorted_lines(rows: Codes, columns: Codes, values: Floats, n_rows: int) -> tuple[Codes, Floats]:
    """Entries given in row order, as one line a row: columns and values, sorted by value and padded with column 0 and
    infinity."""
    counts = np.bincount(rows, minlength=n_rows)
    width = int(counts.max())
    places = np.arange(len(rows)) + (np.arange(n_rows) * width - np.cumsum(counts) + counts)[rows]
    line_columns = np.zeros(n_rows * width, dtype=np.intp)
    line_values = np.full(n_rows * width, np.inf)
    line_columns[places] = columns
    line_values[places] = values
    order = line_values.reshape(n_rows, width).argsort(axis=1, kind="stable")
    order += np.arange(0, n_rows * width, width)[:, None]
    return line_columns[order], line_values[order]
