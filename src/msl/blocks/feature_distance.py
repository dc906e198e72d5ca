"""Distances between the values of one feature: numbers and symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Codes, Floats
from msl.blocks.public import public
from msl.blocks.slot import Filling


class Gaps(Protocol):
    """The fitted distances between the values of one feature."""

    def between(self, a: Floats, b: Floats) -> Floats:
        """Δ of all pairs."""
        ...


class FeatureDistance(Filling):
    """How far two values of one feature are from each other."""

    #: The gaps are fitted to the training rows.
    fitted_to_rows: ClassVar[bool] = False

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        """The distances between the values of a training column; `None` for the plain difference of numbers."""
        raise NotImplementedError


@public
class Difference(FeatureDistance):
    """The difference of two numbers."""

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        return None


@public
class Overlap(FeatureDistance):
    """0 when two symbols are equal, 1 when they differ."""

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        return OverlapGaps()


@public
class ValueDifference(FeatureDistance):
    """The difference of the class probabilities of two symbols: ½ Σ_c |p(c | a) - p(c | b)|, from 0 to 1.

    For numbers, the difference of the target's means in units of its range. An unseen symbol has the probabilities
    (or the mean) of the whole table.
    """

    fitted_to_rows = True

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        symbols, codes = np.unique(column, return_inverse=True)
        counts = np.bincount(codes)[:, None]
        if n_classes:
            cells = np.bincount(codes * n_classes + y, minlength=len(symbols) * n_classes)
            sums: Floats = cells.reshape(-1, n_classes) / 2.0
        else:
            low, high = y.min() / 2, y.max() / 2
            share = (y / 2 - low) / (high - low if high > low else 1.0)
            sums = np.bincount(codes, weights=share).astype(np.float64)[:, None]
        profiles = np.vstack([sums / counts, sums.sum(axis=0) / counts.sum()])
        return ValueGaps(symbols, np.abs(profiles[:, None, :] - profiles[None, :, :]).sum(axis=2))


@public
@dataclass(frozen=True, slots=True)
class OverlapGaps:
    def between(self, a: Floats, b: Floats) -> Floats:
        return np.not_equal.outer(a, b).astype(np.float64)


@public
@dataclass(frozen=True, slots=True)
class ValueGaps:
    """A table of the distances between known symbols; its last row and column are for unknown ones."""

    symbols: Floats
    table: Floats

    def between(self, a: Floats, b: Floats) -> Floats:
        return self.table[np.ix_(self.codes(a), self.codes(b))]

    def codes(self, values: Floats) -> Codes:
        places = np.minimum(np.searchsorted(self.symbols, values), len(self.symbols) - 1)
        return np.where(self.symbols[places] == values, places, len(self.symbols))


FEATURE_DISTANCES: Mapping[str, type[FeatureDistance]] = {
    "difference": Difference,
    "overlap": Overlap,
    "value_difference": ValueDifference,
}
