"""Scalers: rows to unit length, columns to unit deviation, the whole matrix by one shift and one scale."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from msl.blocks.base.block import BlockTransformer, Floats
from msl.blocks.numerics.safe_scaling import Frame, frame_of, mean_and_deviation, spent_moments
from msl.blocks.public import public

#: Outside these bounds the square of a length may have lost what its smallest parts add, or overflowed.
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-200, 1e200


class Scaler(OneToOneFeatureMixin, BlockTransformer):
    """A transformer that keeps every column and adds nothing to a model's complexity."""

    def complexity(self) -> float:
        return 0.0


@public
class Normalize(Scaler):
    """Scales each row to unit length, after subtracting the row's mean with `center`; a row of zeros stays one."""

    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"center": ["boolean"]}

    def __init__(self, center: bool = False) -> None:
        self.center = center

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Each row is scaled by itself: nothing to learn."""

    def transform_arrays(self, X: Floats) -> Floats:
        if not self.center:
            return unit_length(X)
        rows = frame_of(X, axis=1).apply(X)
        rows -= rows.mean(axis=1, keepdims=True)
        return unit_length(rows)


def unit_length(rows: Floats) -> Floats:
    """Rows of length one, or zero."""
    squares = np.einsum("ij,ij->i", rows, rows)
    far = ~((squares > SMALLEST_SQUARE) & (squares < LARGEST_SQUARE))
    if far.any():
        peaks = np.abs(rows[far]).max(axis=1, keepdims=True)
        rows = rows.copy()
        rows[far] /= np.where(peaks > 0.0, peaks, 1.0)
        squares[far] = np.einsum("ij,ij->i", rows[far], rows[far])
    lengths = np.sqrt(squares)
    scaled: Floats = rows / np.where(lengths > 0.0, lengths, 1.0)[:, np.newaxis]
    return scaled


@public
class Standardize(Scaler):
    """Divides each column by its standard deviation, after subtracting its mean with `center`.

    A column that was constant becomes zero with `center`, whatever it holds later, and stays as it is without.
    """

    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"center": ["boolean"]}

    def __init__(self, center: bool = True) -> None:
        self.center = center

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> tuple[Frame, Floats, Floats]:
        """The frame of the columns with their means and deviations in it."""
        frame = frame_of(X, axis=0)
        return frame, *mean_and_deviation(X, frame)

    def fit_prepared(self, prepared: tuple[Frame, Floats, Floats], X: Floats, y: NDArray[Any], n_classes: int) -> None:
        frame, mean, self.deviation_ = prepared
        factor = frame.factor[0]
        if self.center:
            self.shift_ = frame.middle[0] + mean
        else:
            self.shift_ = None
            factor = np.where(frame.constant[0], 1.0, factor)
        self.factor_ = None if (factor == 1.0).all() else factor

    def transform_arrays(self, X: Floats) -> Floats:
        scaled = X if self.factor_ is None else X * self.factor_
        if self.shift_ is not None:
            scaled = scaled - self.shift_
        if scaled is X:
            return X / self.deviation_
        scaled /= self.deviation_
        return scaled


@public
class ShiftScale(Scaler):
    """Subtracts the smallest value of the whole matrix and divides by its standard deviation.

    `take_log` then takes log(1 + x), where values below the smallest one seen count as that one.
    """

    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"take_log": ["boolean"]}

    def __init__(self, take_log: bool = False) -> None:
        self.take_log = take_log

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> tuple[float, float, float]:
        """Factor, shift and deviation of the whole matrix."""
        frame = frame_of(X, axis=None)
        if frame.constant.all():
            return 1.0, float(X.min()), 1.0
        factor = float(frame.factor.item())
        return factor, float(X.min()) * factor, float(np.sqrt(spent_moments(frame.apply(X), axis=None)[1]))

    def fit_prepared(self, prepared: tuple[float, float, float], X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.factor_, self.shift_, self.deviation_ = prepared

    def transform_arrays(self, X: Floats) -> Floats:
        scaled = X * self.factor_ - self.shift_
        scaled /= self.deviation_
        if self.take_log:
            np.maximum(scaled, 0.0, out=scaled)
            np.log1p(scaled, out=scaled)
        return scaled
