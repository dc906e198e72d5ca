"""Coordinates in which differences between rows neither overflow nor underflow.

A distance is computed between placed rows. A placement is fitted to the training rows and applied to them and to new
rows. Scaling is by powers of two, which is exact and changes no comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from msl.blocks.base.block import Floats
from msl.blocks.public import public

#: The largest exponent of two in a sum of powers: far from overflow (1023) even for a million features.
EXPONENT_LIMIT = 900
#: Columns whose spread, to the power of the distance, is within 2^±EASY_EXPONENT are not scaled.
EASY_EXPONENT = 256
#: The largest exponent of a power of two whose inverse is a normal floating-point number.
LARGEST_EXPONENT = 1022
#: Angles and whitened distances are rounded: equal rows may differ by this fraction of the range.
ROUNDING = 1e-13


class Placement(Protocol):
    """A map from rows to coordinates; `unit` is the length of one unit of the coordinates."""

    @property
    def weights(self) -> Floats: ...

    @property
    def unit(self) -> float: ...

    @property
    def floor(self) -> float:
        """Sums of powers up to this are rounding errors between equal rows."""
        ...

    def place(self, X: Floats) -> Floats: ...


@public
@dataclass(frozen=True, slots=True)
class Scaled:
    """The columns themselves, times a power of two if their spread is extreme.

    New rows are clipped to within 2^(900/power) spreads of the training rows; beyond that, the differences between
    training rows are lost to rounding in any case.
    """

    weights: Floats
    low: Floats
    high: Floats
    factor: float
    unit: float
    floor: float = 0.0

    @classmethod
    def fitted(cls, X: Floats, weights: Floats, power: float, least_spread: float = 0.0) -> Self:
        low, high = X.min(axis=0), X.max(axis=0)
        half_spread = float((high / 2 - low / 2).max(initial=least_spread / 2))
        power = max(power, 1.0)
        exponent = min(max(int(np.frexp(half_spread)[1]) + 1, -LARGEST_EXPONENT), LARGEST_EXPONENT)
        factor = 1.0 if abs(exponent) * power <= EASY_EXPONENT or half_spread == 0 else 2.0**-exponent
        with np.errstate(over="ignore"):
            margin = np.float64(2.0 ** (EXPONENT_LIMIT / power)) / factor
            return cls(weights, low - margin, high + margin, factor, 1.0 / factor)

    def place(self, X: Floats) -> Floats:
        placed: Floats = np.clip(X, self.low, self.high)
        if self.factor != 1.0:
            placed *= self.factor
        return placed


@public
@dataclass(frozen=True, slots=True)
class Quartered:
    """A quarter of each column, so that |x| + |z| does not overflow. For distances that do not depend on scale."""

    weights: Floats
    unit: float = 1.0
    floor: float = 0.0

    def place(self, X: Floats) -> Floats:
        return X * 0.25


@public
@dataclass(frozen=True, slots=True)
class Directions:
    """Rows of length one. A row of zeros has no direction: it is orthogonal to all others."""

    roots: Floats
    weights: Floats
    unit: float = 1.0
    floor: float = ROUNDING**2

    @classmethod
    def fitted(cls, weights: Floats) -> Self:
        return cls(np.sqrt(weights), np.ones(len(weights) + 1))

    def place(self, X: Floats) -> Floats:
        largest = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
        rows = X / np.where(largest == 0, 1.0, largest) * self.roots
        norms = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        zero = norms == 0
        return np.hstack([rows / np.where(zero, 1.0, norms), zero])


@public
@dataclass(frozen=True, slots=True)
class Whitened:
    """Columns divided by their standard deviation and decorrelated; constant columns are dropped."""

    largest: Floats
    mean: Floats
    matrix: Floats
    weights: Floats
    floor: float
    unit: float = 1.0

    @classmethod
    def fitted(cls, X: Floats, weights: Floats, ridge: float) -> Self:
        largest = np.abs(X).max(axis=0)
        largest[largest == 0] = 1.0
        rows = X / largest
        mean = rows.mean(axis=0)
        rows -= mean
        deviation = np.sqrt(np.square(rows).sum(axis=0) / max(len(X) - 1, 1))
        varies = deviation > ROUNDING
        deviation[~varies] = 1.0
        rows /= deviation
        correlation = rows.T @ rows / max(len(X) - 1, 1)
        eigenvalues, vectors = np.linalg.eigh(correlation)
        shrunk = vectors / np.sqrt(np.maximum(eigenvalues, 0.0) + ridge)
        matrix = (np.sqrt(weights) * varies / deviation)[:, None] * shrunk
        placed = rows * deviation @ matrix
        floor = ROUNDING**2 * float(np.square(placed).sum(axis=1).max(initial=0.0))
        return cls(largest, mean, matrix, np.ones(len(weights)), floor)

    def place(self, X: Floats) -> Floats:
        limit = 2.0 ** (EXPONENT_LIMIT / 4)
        with np.errstate(over="ignore"):
            placed: Floats = (np.clip(X / self.largest, -limit, limit) - self.mean) @ self.matrix
        return placed
