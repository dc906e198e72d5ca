"""Principal axes: the orthogonal directions in which rows vary most, exact for any data and fast for most."""

from __future__ import annotations

import numpy as np

from msl.blocks.base import Floats
from msl.blocks.frame import BLOCK

#: Products of columns or rows give the components to eight digits while their variances differ by less than this.
CONDITION = 1e8


def principal_axes(X: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """Singular values, largest first, and right singular vectors, one a column, of the centred rows, where they vary.

    There is one at least, and the largest entry of each vector is positive.
    """
    by_products = axes_by_columns(X, mean) if len(X) > X.shape[1] else axes_by_rows(X - mean)
    lengths, axes = by_products or axes_by_decomposition(X - mean)
    varies = lengths > lengths[0] * max(X.shape) * np.finfo(np.float64).eps
    varies[0] = True
    lengths, axes = lengths[varies], axes[:, varies]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[np.newaxis], axis=0)
    return lengths, axes * np.where(largest < 0.0, -1.0, 1.0)


def axes_by_columns(X: Floats, mean: Floats) -> tuple[Floats, Floats] | None:
    """The axes from the products of the columns, unless that would not be exact enough."""
    n_features = X.shape[1]
    products = np.zeros((n_features, n_features))
    # Blocks high enough for fast products, and low enough to be centred inside the cache.
    height = max(BLOCK // n_features, 8 * n_features)
    for start in range(0, len(X), height):
        rows = X[start : start + height] - mean
        products += rows.T @ rows
    squares, axes = np.linalg.eigh(products)
    return (np.sqrt(squares[::-1]), axes[:, ::-1]) if squares[-1] < CONDITION * squares[0] else None


def axes_by_rows(centred: Floats) -> tuple[Floats, Floats] | None:
    """The axes from the products of the rows, unless that would not be exact enough."""
    squares, scores = np.linalg.eigh(centred @ centred.T)
    # Centring has taken one direction from the rows: its square, the first, is zero but for rounding.
    squares, scores = squares[:0:-1], scores[:, :0:-1]
    if not (len(squares) and squares[0] < CONDITION * squares[-1]):
        return None
    lengths = np.sqrt(squares)
    return lengths, centred.T @ (scores / lengths)


def axes_by_decomposition(centred: Floats) -> tuple[Floats, Floats]:
    """The axes by singular value decomposition: slower, and exact for any data."""
    # The triangle of a QR decomposition has the axes of the whole matrix, at a fraction of the rows.
    matrix = np.linalg.qr(centred, mode="r") if len(centred) > centred.shape[1] else centred
    _, lengths, transposed = np.linalg.svd(matrix, full_matrices=False)
    return lengths, transposed.T
