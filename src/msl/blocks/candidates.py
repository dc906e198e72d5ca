"""Candidates: the few smallest entries of each row of a large matrix, found without sorting it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Codes, Floats

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
