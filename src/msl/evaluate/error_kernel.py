"""The kernel K of the total cost: how much the error of each row counts (Duch and Grudzinski, 2001).

An estimate with `kernel = border(width)` counts errors near the border between classes more than errors inside a class:
K = exp(-(d / w)²), where d is the distance of a row to the nearest row of another class, and w is `width` times the
median of these distances. Distances are Euclidean, over numbers in units of their standard deviation and symbols that
are equal or not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from msl.blocks.base.block import Floats
from msl.evaluate.dataset import Dataset
from msl.space.spec import Estimate
from msl.space.values import SymbolValue

#: The weights of rows are relative; none is smaller than this, so that some part of every fold counts.
_LEAST = 1e-6


def row_weights(estimate: Estimate, dataset: Dataset) -> Floats | None:
    """The weight of the error of each row, with a mean of one; None where all rows count the same."""
    kernel = dict(estimate.options).get("kernel")
    if not isinstance(kernel, SymbolValue) or not dataset.n_classes:
        return None
    gaps = gaps_to_other_classes(coordinates(dataset), dataset.y)
    middle = float(np.median(gaps))
    if middle <= 0.0:
        return None
    width = float(dict(kernel.params)["width"])  # type: ignore[arg-type]
    weights = np.maximum(np.exp(-np.square(gaps / (width * middle))), _LEAST)
    return np.asarray(weights / weights.mean())


def coordinates(dataset: Dataset) -> Floats:
    """Rows as points: numbers in units of their standard deviation, and a coordinate for each symbol of a column.

    A missing number is at the mean, a missing symbol equal to none.
    """
    symbolic = set(dataset.columns.symbolic)
    columns: list[Floats] = []
    for place, values in enumerate(np.asarray(dataset.X, dtype=np.float64).T):
        known = ~np.isnan(values)
        if place in symbolic:
            # Two symbols differ in two coordinates, which makes a distance of one.
            columns.extend((values == symbol) * np.sqrt(0.5) for symbol in np.unique(values[known]))
        elif known.any() and (spread := float(values[known].std())) > 0.0:
            columns.append(np.where(known, values - values[known].mean(), 0.0) / spread)
    return np.column_stack(columns) if columns else np.zeros((len(dataset.y), 1))


def gaps_to_other_classes(points: Floats, y: NDArray[np.intp]) -> Floats:
    """The distance of each row to the nearest row of another class."""
    gaps = np.zeros(len(points))
    for code in np.unique(y):
        own = y == code
        if own.all():
            break
        found = NearestNeighbors(n_neighbors=1).fit(points[~own]).kneighbors(points[own])[0]
        gaps[own] = found[:, 0]
    return gaps
