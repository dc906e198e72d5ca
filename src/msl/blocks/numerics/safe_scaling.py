"""A frame: the shift and the exact scale in which numbers of any magnitude are safe to square and sum.

Columns may hold values near 1e300, near 1e-300, or 1e9 plus a little noise. A frame moves the middle of their range to
zero and, far from one, multiplies by a power of two, which is exact. Constants become exact zeros, so that no statistic
mistakes rounding for information.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.diagnostics.user_error import UserError

#: Magnitudes outside these bounds are scaled; within them the squares of even the smallest differences stay normal.
SMALLEST, LARGEST = 1e-100, 1e100
#: Differences up to this part of the magnitude are what rounding leaves of equal numbers.
ROUNDING = 8 * np.finfo(np.float64).eps
#: Powers of two whose inverse is a normal number too.
LARGEST_EXPONENT = 1022
#: How many numbers are worked on at a time.
BLOCK = 1 << 15


@dataclass(frozen=True, slots=True)
class Frame:
    """What `frame_of` found; its arrays broadcast against the rows."""

    factor: Floats
    middle: Floats
    span: Floats
    plain: bool  # every factor is one

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Where there is nothing but one value."""
        constant: NDArray[np.bool_] = self.span == 0.0
        return constant

    def apply(self, rows: Floats) -> Floats:
        """A fresh array of the rows in this frame: half a span to both sides of zero for the rows it was made of."""
        if self.plain:
            return rows - self.middle
        framed = rows * self.factor
        framed -= self.middle
        return framed


def frame_of(X: Floats, axis: int | None) -> Frame:
    """The frame of each column (`axis=0`), of each row (`axis=1`) or of the whole matrix (`None`)."""
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
    # A factor of zero makes the zeros of a constant exact whatever rounding did to its values.
    factor[constant] = 0.0
    span[constant] = 0.0
    middle = np.where(constant, 0.0, (low + high) / 2)
    return Frame(factor, middle, span, plain=bool((factor == 1.0).all()))


def unit_range(X: Floats) -> Floats:
    """Columns with a range of one around zero; constant ones are zero."""
    frame = frame_of(X, axis=0)
    columns = frame.apply(X)
    columns /= np.where(frame.constant, 1.0, frame.span)
    return columns


def row_blocks(X: Floats) -> Iterator[slice]:
    """Some rows at a time, few enough to stay in the cache from one operation on them to the next."""
    height = max(1, BLOCK // X.shape[1])
    for start in range(0, len(X), height):
        yield slice(start, start + height)


def framed_sums(X: Floats, frame: Frame, weights: Floats) -> tuple[Floats, Floats]:
    """Sums of the columns in their frame, weighted by each row of `weights`, and sums of their squares.

    Means can be taken out of these squares later without harm: within its range around zero, a column's squared
    deviations are never less than about one n-th of its squares.
    """
    sums, squares = np.zeros((len(weights), X.shape[1])), np.zeros(X.shape[1])
    for block in row_blocks(X):
        rows = frame.apply(X[block])
        sums += weights[:, block] @ rows
        squares += np.einsum("ij,ij->j", rows, rows)
    return sums, squares


def mean_and_deviation(X: Floats, frame: Frame) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the columns in their frame; one stands for the deviation of a constant."""
    sums, squares = framed_sums(X, frame, np.ones((1, len(X))))
    mean = sums[0] / len(X)
    return mean, np.where(frame.constant[0], 1.0, np.sqrt(squares / len(X) - mean**2))


def standard_columns(X: Floats) -> Floats:
    """Columns with mean zero and deviation one; constant ones are zero."""
    frame = frame_of(X, axis=0)
    mean, deviation = mean_and_deviation(X, frame)
    columns = frame.apply(X)
    columns -= mean
    columns /= deviation
    return columns


# --- The magnitude of numbers: powers of two that bring it near one, where squares neither overflow nor vanish. -------


#: Beyond this, sums of products of features leave the range of floating point.
LARGEST_FEATURE = 1e100


def unit_scale(X: Floats, axis: int | None = None) -> Floats:
    """The power of two that brings the largest magnitude, of all or of each column (`axis=0`), into [1/2, 1).

    Multiplying by a power of two is exact, so nothing is lost by it. Zeros keep their scale, and the very ends of the
    floating-point range come as near as a power of two with a finite inverse brings them.
    """
    _, exponent = np.frexp(np.abs(X).max(axis=axis))
    scale: Floats = np.ldexp(1.0, np.clip(-exponent, -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return scale


def reject_huge(X: Floats, name: str) -> None:
    """Refuses features with which the sums inside a learner would overflow."""
    largest = np.abs(X).max()
    if largest > LARGEST_FEATURE:
        raise UserError(
            f"{name} cannot work with features as large as {largest:.0e}: their sums overflow; standardize them first"
        )


# --- Moments of rows that are used up: of many rows, the deviations that variances are made of would be one more copy.


def spent_moments(rows: Floats, axis: int | None = 0) -> tuple[Any, Any]:
    """Mean and variance of the columns, or of all numbers (`axis=None`), just as NumPy has them; the rows are lost."""
    mean = rows.mean(axis=axis)
    rows -= mean
    rows *= rows
    return mean, rows.mean(axis=axis)


def scaled_moments(rows: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the columns times a scale; the rows are lost."""
    rows *= scale
    return spent_moments(rows)
