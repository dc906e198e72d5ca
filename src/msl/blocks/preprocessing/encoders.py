"""Encode columns as numbers: places on a circle or on a scale, how common symbols are, and buckets of symbols."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import BlockTransformer, Floats
from msl.blocks.public import public

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class _Encoder(BlockTransformer):
    """An encoder does not count in the complexity of a model."""

    takes_missing = True

    def complexity(self) -> float:
        return 0.0


@public
class Cycle(_Encoder):
    """Replaces each column by the sine and the cosine of its place in a cycle, so that December is next to January.

    First come the sines of all columns, then the cosines. What is missing stays missing.

    Parameters
    ----------
    period : float
        The length of the cycle in the unit of the columns: 12 for months, 7 for weekdays, 24 for hours.
    """

    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"period": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, period: float = 1.0) -> None:
        self.period = period

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Each value is transformed on its own, so there is nothing to fit."""

    def transform_arrays(self, X: Floats) -> Floats:
        angles = X * (2.0 * np.pi / self.period)
        return np.hstack([np.sin(angles), np.cos(angles)])


@public
class Thermometer(_Encoder):
    """Replaces each column by columns of 0 and 1: whether it is at least the second, third … value in training.

    A linear model can then give every step from one level to the next a weight of its own, where the plain number of
    the level has the same weight for all of them. A level between two that were in the training rows counts as the
    lower one. Of more than `most` levels, as many are used that split the training rows evenly. What is missing stays
    missing.

    Parameters
    ----------
    most : int
        The largest number of columns that a column becomes.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"most": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, most: int = 50) -> None:
        self.most = most

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.steps_ = [self._steps(column[~np.isnan(column)]) for column in X.T]

    def _steps(self, values: Floats) -> Floats:
        levels = np.unique(values)[1:]
        if len(levels) <= self.most:
            return levels
        even = np.sort(values)[np.linspace(0, len(values) - 1, self.most + 2).astype(np.intp)[1:-1]]
        steps: Floats = np.unique(even)
        return steps

    def transform_arrays(self, X: Floats) -> Floats:
        columns = [np.zeros((len(X), 0))]
        for column, steps in zip(X.T, self.steps_, strict=True):
            reached = (column[:, None] >= steps).astype(np.float64)
            reached[np.isnan(column)] = np.nan
            columns.append(reached)
        return np.hstack(columns)


@public
class SymbolShares(_Encoder):
    """Replaces each symbol by the share of the training rows that have it: 0 for one that none has.

    What is missing counts as one more symbol.
    """

    takes_symbols = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        counted = [np.unique(column, return_counts=True) for column in _with_missing(X).T]
        self.symbols_ = [symbols for symbols, _ in counted]
        self.shares_ = [counts / len(X) for _, counts in counted]

    def transform_arrays(self, X: Floats) -> Floats:
        encoded = np.zeros(X.shape)
        columns = zip(_with_missing(X).T, self.symbols_, self.shares_, strict=True)
        for place, (column, symbols, shares) in enumerate(columns):
            at = np.minimum(np.searchsorted(symbols, column), len(symbols) - 1)
            encoded[:, place] = np.where(symbols[at] == column, shares[at], 0.0)
        return encoded


@public
class SymbolBuckets(_Encoder):
    """Deals the symbols of all columns to a few columns by a hash, and counts the symbols of a row in each of them.

    Symbols of different columns are different. A missing symbol is counted nowhere (Weinberger et al., 2009).

    Parameters
    ----------
    n_buckets : int
        The number of columns.
    """

    takes_symbols = True
    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"n_buckets": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, n_buckets: int = 32) -> None:
        self.n_buckets = n_buckets

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """A symbol has its bucket whatever the training rows are, so there is nothing to fit."""

    def transform_arrays(self, X: Floats) -> Floats:
        encoded = np.zeros((len(X), self.n_buckets))
        for place, column in enumerate(X.T):
            known = np.flatnonzero(~np.isnan(column))
            own = np.uint64((place + 1) * int(_MULTIPLIER) % 2**64)
            keys = column[known].view(np.uint64) ^ own
            mixed = (keys ^ (keys >> np.uint64(29))) * _MULTIPLIER
            buckets = ((mixed >> np.uint64(32)) % np.uint64(self.n_buckets)).astype(np.intp)
            encoded[known, buckets] += 1.0  # a row has one symbol in a column, so that no place is met twice
        return encoded


def _with_missing(X: Floats) -> Floats:
    """The codes of symbols, where what is missing is a symbol of its own."""
    return np.where(np.isnan(X), -1.0, X + 0.0)
