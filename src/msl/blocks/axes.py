"""Principal axes: the orthogonal directions in which rows vary most, exact for any data and fast for most."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from msl.blocks.base import Floats
from msl.blocks.frame import BLOCK

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
        self._X, self._mean = X, mean
        self._products = products_of_columns(X, mean) if self._by_columns else products_of_rows(X - mean)
        self._packs: dict[int, tuple[Floats, Floats]] = {}

    @property
    def _by_columns(self) -> bool:
        return len(self._X) > self._X.shape[1]

    @property
    def available(self) -> int:
        """The number of axes that there are at most; centring has taken one direction from the rows."""
        return max(min(len(self._X) - 1, self._X.shape[1]), 1)

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
        squares, vectors = largest_eigenvectors(self._products, size)
        if squares[0] < CONDITION * squares[-1]:
            lengths = np.sqrt(squares)
            axes = vectors if self._by_columns else (self._X - self._mean).T @ (vectors / lengths)
        else:
            lengths, axes = axes_by_decomposition(self._X - self._mean)
        varies = lengths > lengths[0] * max(self._X.shape) * np.finfo(np.float64).eps
        varies[0] = True
        lengths, axes = lengths[varies][:size], axes[:, varies][:, :size]
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[np.newaxis], axis=0)
        return lengths, axes * np.where(largest < 0.0, -1.0, 1.0)


def pack_size(count: int, available: int) -> int:
    """The smallest pack for so many axes; half of all axes cost as much as all."""
    size = PACK
    while size < count:
        size *= GROWTH
    return size if 2 * size <= available else available


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


def largest_eigenvectors(products: Floats, count: int) -> tuple[Floats, Floats]:
    """The largest eigenvalues, in falling order, and their vectors, one a column."""
    if 2 * count > len(products):
        squares, vectors = np.linalg.eigh(products)
    else:
        last = len(products) - 1
        squares, vectors = eigh(products, subset_by_index=[last - count + 1, last], check_finite=False)
    return squares[::-1][:count], vectors[:, ::-1][:, :count]


def axes_by_decomposition(centred: Floats) -> tuple[Floats, Floats]:
    """The axes by singular value decomposition: slower, and exact for any data."""
    # The triangle of a QR decomposition has the axes of the whole matrix, at a fraction of the rows.
    matrix = np.linalg.qr(centred, mode="r") if len(centred) > centred.shape[1] else centred
    _, lengths, transposed = np.linalg.svd(matrix, full_matrices=False)
    return lengths, transposed.T
