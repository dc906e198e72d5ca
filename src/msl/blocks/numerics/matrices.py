"""Cholesky: symmetric positive definite matrices, solved and inverted through the root that they have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv, dpotrf, dtrtri

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.safe_scaling import BLOCK


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


# --- Principal axes: the orthogonal directions in which rows vary most, exact for any data and fast for most. ---------


#: Products of columns or rows give the components to eight digits while their variances differ by less than this.
CONDITION = 1e8
#: Axes are found in packs of so many, or of this many times a smaller pack.
PACK = 16
GROWTH = 4


class PrincipalAxes:
    """The axes of some rows, found when asked for and kept for siblings.

    A few of many axes cost less than all of them. What is found for one count comes from the smallest pack that holds
    it, whatever was asked before: the last digits of an axis depend on its pack.
    """

    def __init__(self, X: Floats, mean: Floats) -> None:
        self._by_columns = len(X) > X.shape[1]
        # Of wide tables the centred rows are needed twice.
        self._rows = X if self._by_columns else X - mean
        self._mean = mean if self._by_columns else None
        self._products = products_of_columns(X, mean) if self._by_columns else products_of_rows(self._rows)
        self._packs: dict[int, tuple[Floats, Floats]] = {}
        self._all: tuple[Floats, Floats] | None = None

    @property
    def available(self) -> int:
        """The number of axes that there are at most; centring has taken one direction from the rows."""
        return max(min(len(self._rows) - 1, self._rows.shape[1]), 1)

    @property
    def spread(self) -> float:
        """The root of the sum of squares of the centred rows, which no projection exceeds."""
        return float(np.sqrt(self._products.trace()))

    def first(self, count: int | None = None) -> tuple[Floats, Floats]:
        """Singular values, largest first, and right singular vectors, one a column, of the centred rows.

        There are `count` of them, or all, but only where rows vary, and one at least. The largest entry of each vector
        is positive.
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
        """The largest eigenvalues of the products, in falling order, and their vectors, one a column."""
        last = len(self._products) - 1
        if 2 * count <= last:
            few = eigh(self._products, subset_by_index=[last - count + 1, last], check_finite=False)
            return few[0][::-1], few[1][:, ::-1]
        if self._all is None:  # half of them cost as much as all
            squares, vectors = np.linalg.eigh(self._products)
            self._all = squares[::-1], vectors[:, ::-1]
        return self._all[0][:count], self._all[1][:, :count]

    def _centred(self) -> Floats:
        return self._rows if self._mean is None else self._rows - self._mean


def pack_size(count: int, available: int) -> int:
    """The smallest pack for so many axes."""
    size = PACK
    while size < count:
        size *= GROWTH
    return min(size, available)


def products_of_columns(X: Floats, mean: Floats) -> Floats:
    """The products of all centred columns."""
    n_features = X.shape[1]
    products = np.zeros((n_features, n_features))
    # Blocks high enough for fast products, and low enough to be centred inside the cache.
    height = max(BLOCK // n_features, 8 * n_features)
    for start in range(0, len(X), height):
        rows = X[start : start + height] - mean
        products += rows.T @ rows
    return products


def products_of_rows(centred: Floats) -> Floats:
    products: Floats = centred @ centred.T
    return products


def axes_by_decomposition(centred: Floats) -> tuple[Floats, Floats]:
    """The axes by singular value decomposition: slower, and exact for any data."""
    # The triangle of a QR decomposition has the axes of the whole matrix, at a fraction of the rows.
    matrix = np.linalg.qr(centred, mode="r") if len(centred) > centred.shape[1] else centred
    _, lengths, transposed = np.linalg.svd(matrix, full_matrices=False)
    return lengths, transposed.T


# --- Candidates: the few smallest entries of each row of a large matrix, found without sorting it. --------------------


Mask = NDArray[np.bool_]


def upper_bounds(values: Floats, k: int) -> Floats:
    """For each row a number that at least k of its values do not exceed, and few others as long as k is small.

    Columns are put in groups; the k-th smallest of the groups' smallest values is such a number, and finding it needs
    one pass at memory speed.
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
    """Rows and columns of the true entries, row by row. Much faster than `np.nonzero` when they are few."""
    rows, columns = np.divmod(np.flatnonzero(mask), mask.shape[1])
    return rows, columns


def sorted_lines(rows: Codes, columns: Codes, values: Floats, n_rows: int) -> tuple[Codes, Floats]:
    """Chosen entries, given row by row, as one line a row: columns and values in ascending order of the values, padded
    with column 0 and infinity."""
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
