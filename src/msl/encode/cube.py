"""Cube: some vectors being read, and what reading them leaves behind — shares to write back, and which were used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.encode.column import Flags, Kept, Rows
from msl.encode.scale import Scale, Shares, Values

if TYPE_CHECKING:
    from msl.encode.plan import GenePlan


class Cube:
    """Vectors as columns, since they are read a dimension at a time. What is no number is put in the middle."""

    def __init__(self, vectors: NDArray[np.float64]) -> None:
        self._shares = np.maximum(vectors.T, 0.0, order="C")
        np.minimum(self._shares, 1.0, out=self._shares)
        self._shares[np.isnan(self._shares)] = 0.5
        self._snapped = self._shares.copy()
        self._active = np.zeros(self._shares.shape, dtype=bool)
        self.size = len(vectors)
        #: What each use of a part that requirements speak of came to: its mark, for which rows, and the steps.
        self.parts: list[tuple[str, Rows, Kept]] = []
        #: Which plan read which dimension; only the last row's where they differ.
        self.readers: dict[int, GenePlan] = {}

    @property
    def snapped(self) -> Shares:
        return np.ascontiguousarray(self._snapped.T)

    @property
    def active(self) -> Flags:
        return np.ascontiguousarray(self._active.T)

    def take(self, slots: int | slice, rows: Rows) -> Shares:
        """The shares of one dimension, or of several side by side, for some rows, marked as used."""
        if len(rows) == self.size:
            self._active[slots] = True
            return self._shares[slots].T
        self._active[slots, rows] = True
        return self._shares[slots][..., rows].T

    def read(self, slot: int, rows: Rows, scale: Scale) -> Values:
        """The values of one dimension for some rows, written back and marked as used."""
        if len(rows) == self.size:
            values, self._snapped[slot] = scale.read(self._shares[slot])
            self._active[slot] = True
        else:
            values, self._snapped[slot, rows] = scale.read(self._shares[slot, rows])
            self._active[slot, rows] = True
        return values

    def read_many(self, first: int, width: int, rows: Rows, scale: Scale) -> Values:
        """The same for dimensions side by side on one scale: a row of values for each row."""
        block = slice(first, first + width)
        if len(rows) == self.size:
            values, self._snapped[block] = scale.read(self._shares[block])
            self._active[block] = True
        else:
            values, self._snapped[block, rows] = scale.read(self._shares[block][:, rows])
            self._active[block, rows] = True
        return values.T

    def write_back(self, slot: int, rows: Rows, share: float) -> None:
        """Another share than the one that was read."""
        self._snapped[slot, rows] = share

    def put_out_of_use(self, slot: int, rows: Rows) -> None:
        """A dimension that turned out to have no effect keeps what it was."""
        self._active[slot, rows] = False
        self._snapped[slot, rows] = self._shares[slot, rows]


def all_rows(size: int) -> Rows:
    return np.arange(size, dtype=np.intp)


def as_vectors(vectors: ArrayLike, dimensions: int) -> NDArray[np.float64]:
    """Vectors as an array of one row each; raises ValueError if they do not have that many dimensions."""
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != dimensions:
        raise ValueError(f"vectors of this space have {dimensions} dimensions, and these have the shape {array.shape}")
    return array
