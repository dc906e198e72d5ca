"""Take logarithms; scale rows to unit length, columns to unit deviation, or the whole matrix by one shift and scale."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from msl.blocks.base.block import BlockTransformer, Floats
from msl.blocks.numerics.safe_scaling import RangeScaling, mean_and_deviation, moments_in_place, range_scaling
from msl.blocks.public import public

#: Outside these bounds a squared length may have overflowed or lost its smallest terms to underflow.
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-200, 1e200


class Scaler(OneToOneFeatureMixin, BlockTransformer):
    """A transformer that keeps every column and does not count in the complexity of a model."""

    def complexity(self) -> float:
        return 0.0


@public
class Log1p(Scaler):
    """The logarithm of 1 + x; of a negative number, minus that of its absolute value. Missing values stay missing."""

    takes_missing = True
    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Each value is transformed on its own, so there is nothing to fit."""

    def transform_arrays(self, X: Floats) -> Floats:
        logarithms: Floats = np.copysign(np.log1p(np.abs(X)), X)
        return logarithms


@public
class Normalize(Scaler):
    """Scales each row to Euclidean length 1; with `center`, after subtracting the mean of the row. Zero rows stay zero.

    As scikit-learn's Normalizer, for values of any size.
    """

    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"center": ["boolean"]}

    def __init__(self, center: bool = False) -> None:
        self.center = center

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Each row is scaled on its own, so there is nothing to fit."""

    def transform_arrays(self, X: Floats) -> Floats:
        if not self.center:
            return unit_length(X)
        rows = range_scaling(X, axis=1).apply(X)
        rows -= rows.mean(axis=1, keepdims=True)
        return unit_length(rows)


def unit_length(rows: Floats) -> Floats:
    """Rows scaled to length 1; zero rows stay zero."""
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
    """Divides each column by its standard deviation; with `center`, after subtracting its mean.

    As scikit-learn's StandardScaler, for values of any size. A column that is constant in training becomes zero with
    `center`, also for new values, and stays unchanged without.
    """

    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"center": ["boolean"]}

    def __init__(self, center: bool = True) -> None:
        self.center = center

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> tuple[RangeScaling, Floats, Floats]:
        """The scaling of the columns, and the means and standard deviations of the scaled columns."""
        scaling = range_scaling(X, axis=0)
        return scaling, *mean_and_deviation(X, scaling)

    def fit_prepared(
        self, prepared: tuple[RangeScaling, Floats, Floats], X: Floats, y: NDArray[Any], n_classes: int
    ) -> None:
        scaling, mean, self.deviation_ = prepared
        factor = scaling.factor[0]
        if self.center:
            self.shift_ = scaling.middle[0] + mean
        else:
            self.shift_ = None
            factor = np.where(scaling.constant[0], 1.0, factor)
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

    With `take_log`, takes log(1 + x) of the result; values below the smallest of training count as the smallest.
    """

    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"take_log": ["boolean"]}

    def __init__(self, take_log: bool = False) -> None:
        self.take_log = take_log

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> tuple[float, float, float]:
        """Factor, shift and standard deviation of the whole matrix."""
        scaling = range_scaling(X, axis=None)
        if scaling.constant.all():
            return 1.0, float(X.min()), 1.0
        factor = float(scaling.factor.item())
        return factor, float(X.min()) * factor, float(np.sqrt(moments_in_place(scaling.apply(X), axis=None)[1]))

    def fit_prepared(self, prepared: tuple[float, float, float], X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.factor_, self.shift_, self.deviation_ = prepared

    def transform_arrays(self, X: Floats) -> Floats:
        scaled = X * self.factor_ - self.shift_
        scaled /= self.deviation_
        if self.take_log:
            np.maximum(scaled, 0.0, out=scaled)
            np.log1p(scaled, out=scaled)
        return scaled


#: What the logarithm is taken of where a value is not above the smallest of training.
LEAST_ARGUMENT = float(np.finfo(np.float64).eps)


@public
class RangeScale(Scaler):
    """Subtracts the smallest value of the whole matrix and divides by its range, so that training rows are in [0, 1].

    With `take_log`, takes the logarithm of the result; values of zero and less count as the smallest difference from 1
    that numbers have, 2.2e-16. A constant matrix is only shifted.
    """

    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"take_log": ["boolean"]}

    def __init__(self, take_log: bool = False) -> None:
        self.take_log = take_log

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> tuple[float, float, float]:
        """Factor of the whole matrix, and its smallest value and range after multiplying by that."""
        scaling = range_scaling(X, axis=None)
        if scaling.constant.all():
            return 1.0, float(X.min()), 1.0
        factor = float(scaling.factor.item())
        return factor, float(X.min()) * factor, float(scaling.span.item())

    def fit_prepared(self, prepared: tuple[float, float, float], X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.factor_, self.shift_, self.range_ = prepared

    def transform_arrays(self, X: Floats) -> Floats:
        scaled = X * self.factor_ - self.shift_
        scaled /= self.range_
        if self.take_log:
            scaled[scaled <= 0.0] = LEAST_ARGUMENT
            np.log(scaled, out=scaled)
        return scaled
