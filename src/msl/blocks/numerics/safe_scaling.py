"""Scale numbers so that squares and sums neither overflow nor underflow, nor lose digits to a large mean.

Columns may hold values near 1e300, near 1e-300, or 1e9 plus a little noise. A RangeScaling moves the middle of the
range to zero and, if values are very large or very small, multiplies by a power of two, which is exact. Constant
columns become exact zeros, so that no statistic mistakes rounding errors for information.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.diagnostics.user_error import UserError

#: Ranges whose largest absolute value is outside these bounds are scaled; inside, squares of differences are safe.
SMALLEST, LARGEST = 1e-100, 1e100
#: Numbers that differ by less than this, relative to the largest, are taken as equal.
ROUNDING = 8 * np.finfo(np.float64).eps
#: The largest exponent of a power of two whose inverse is a normal floating-point number.
LARGEST_EXPONENT = 1022
#: The number of values processed at a time.
BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class RangeScaling:
    """x · factor - middle, with the range of the training values; the arrays broadcast against the rows."""

    factor: Floats
    middle: Floats
    span: Floats
    plain: bool  # whether every factor is one

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Whether all values are equal, for each range."""
        constant: NDArray[np.bool_] = self.span == 0.0
        return constant

    def apply(self, rows: Floats) -> Floats:
        """The scaled rows, as a new array; training rows lie within half a span of zero."""
        if self.plain:
            return rows - self.middle
        scaled = rows * self.factor
        scaled -= self.middle
        return scaled


def range_scaling(X: Floats, axis: int | None) -> RangeScaling:
    """Fits the scaling of each column (`axis=0`), of each row (`axis=1`) or of the whole matrix (`None`)."""
    low, high = X.min(axis=axis, keepdims=True), X.max(axis=axis, keepdims=True)
    peak = np.maximum(np.abs(low), np.abs(high))
    factor = np.ones_like(peak)
    far = (peak > 0.0) & ((peak < SMALLEST) | (peak > LARGEST))
    if far.any():
        exponent = np.clip(-np.frexp(peak[far])[1], -LARGEST_EXPONENT, LARGEST_EXPONENT)
        factor[far] = np.ldexp(1.0, exponent)
    low, high = low * factor, high * factor
    span = high - low
    constant = span <= ROUNDING * peak * factor
    # A factor of zero makes a constant exactly zero, whatever rounding did to its values.
    factor[constant] = 0.0
    span[constant] = 0.0
    middle = np.where(constant, 0.0, (low + high) / 2)
    return RangeScaling(factor, middle, span, plain=bool((factor == 1.0).all()))


def unit_range(X: Floats) -> Floats:
    """Columns scaled to the range from -1/2 to 1/2; constant ones are zero."""
    scaling = range_scaling(X, axis=0)
    columns = scaling.apply(X)
    columns /= np.where(scaling.constant, 1.0, scaling.span)
    return columns


def row_blocks(X: Floats) -> Iterator[slice]:
    """Slices of rows, small enough to stay in the cache between operations."""
    height = max(1, BLOCK // X.shape[1])
    for start in range(0, len(X), height):
        yield slice(start, start + height)


def scaled_sums(X: Floats, scaling: RangeScaling, weights: Floats) -> tuple[Floats, Floats]:
    """Sums of the scaled columns, weighted by each row of `weights`, and sums of their squares.

    Subtracting the squared mean from these sums later loses few digits: zero is the middle of the range, so that the
    squared deviations are at least about one n-th of the squares.
    """
    sums, squares = np.zeros((len(weights), X.shape[1])), np.zeros(X.shape[1])
    for block in row_blocks(X):
        rows = scaling.apply(X[block])
        sums += weights[:, block] @ rows
        squares += np.einsum("ij,ij->j", rows, rows)
    return sums, squares


def mean_and_deviation(X: Floats, scaling: RangeScaling) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the scaled columns; the deviation of a constant column is given as 1."""
    sums, squares = scaled_sums(X, scaling, np.ones((1, len(X))))
    mean = sums[0] / len(X)
    return mean, np.where(scaling.constant[0], 1.0, np.sqrt(squares / len(X) - mean**2))


def standard_columns(X: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1; constant ones are zero."""
    scaling = range_scaling(X, axis=0)
    mean, deviation = mean_and_deviation(X, scaling)
    columns = scaling.apply(X)
    columns -= mean
    columns /= deviation
    return columns


# --- Scaling by a power of two ----------------------------------------------------------------------------------------


#: Sums of products of larger features could overflow.
LARGEST_FEATURE = 1e100


def unit_scale(X: Floats, axis: int | None = None) -> Floats:
    """The power of two that brings the largest absolute value, of all or of each column (`axis=0`), into [1/2, 1).

    Multiplying by a power of two is exact. Zeros keep their scale; values at the ends of the floating-point range come
    as close to [1/2, 1) as a power of two with a finite inverse brings them.
    """
    _, exponent = np.frexp(np.abs(X).max(axis=axis))
    scale: Floats = np.ldexp(1.0, np.clip(-exponent, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return scale


def reject_huge(X: Floats, name: str) -> None:
    """Raises ValueError for features so large that sums inside a learner would overflow."""
    largest = np.abs(X).max()
    if largest > LARGEST_FEATURE:
        raise UserError(
            f"{name} cannot work with features as large as {largest:.0e}: their sums overflow; standardize them first"
        )


# --- Means and variances computed in place, which saves a copy of the rows --------------------------------------------


def moments_in_place(rows: Floats, axis: int | None = 0) -> tuple[Any, Any]:
    """Mean and variance of the columns, or of all values (`axis=None`), equal to NumPy's; `rows` is overwritten."""
    mean = rows.mean(axis=axis)
    rows -= mean
    rows *= rows
    return mean, rows.mean(axis=axis)


def weighted_moments(rows: Floats, scale: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """As `scaled_moments_in_place`, with a weight for each row: those of rows that stand there so many times."""
    if weights is None:
        return scaled_moments_in_place(rows, scale)
    shares = weights / weights.sum()
    scaled = rows * scale
    mean = shares @ scaled
    return mean, shares @ (scaled - mean) ** 2


def scaled_moments_in_place(rows: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the columns times a scale; `rows` is overwritten."""
    rows *= scale
    return moments_in_place(rows)
