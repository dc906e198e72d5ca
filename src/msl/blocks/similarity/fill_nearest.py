"""Fill in missing values from the most similar rows, by the features that are known of both."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import BlockTransformer, Floats
from msl.blocks.preprocessing.prepare import MISSING_SYMBOL
from msl.blocks.public import public
from msl.blocks.similarity.neighbour_search import CHUNK, TIE


@public
class FillNearest(BlockTransformer):
    """Replaces a missing number by the mean over the `k` nearest training rows that have it, and a missing symbol by
    the most frequent one among them, the smallest code on ties.

    The squared distance of two rows is the mean over the features known of both: of squared differences in units of the
    standard deviation, and of 0 or 1 for symbols. All rows at the distance of the k-th count. A row that shares no
    known feature with another one is filled from all rows.

    Parameters
    ----------
    k : int
        The number of similar rows.
    symbolic_columns : sequence of int, or None
        The positions of the categorical columns, whose values are codes.
    """

    takes_missing = True
    fills_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left")],
        "symbolic_columns": ["array-like", None],
    }

    def __init__(self, k: int = 5, symbolic_columns: Sequence[int] | None = None) -> None:
        self.k = k
        self.symbolic_columns = symbolic_columns

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.symbolic_: NDArray[np.bool_] = np.zeros(X.shape[1], dtype=bool)
        self.symbolic_[list(self.symbolic_columns or ())] = True
        known = ~np.isnan(X)
        counts = np.maximum(known.sum(axis=0), 1)
        means = np.where(known, X, 0.0).sum(axis=0) / counts
        spread = np.sqrt(np.square(np.where(known, X - means, 0.0)).sum(axis=0) / counts)
        self.units_: Floats = np.where((spread > 0) & ~self.symbolic_, spread, 1.0)
        self.rows_: Floats = X

    def transform_arrays(self, X: Floats) -> Floats:
        missing = np.isnan(X)
        incomplete = np.flatnonzero(missing.any(axis=1))
        if not len(incomplete):
            return X
        filled = X.copy()
        step = max(CHUNK // max(self.rows_.size, 1), 1)
        for start in range(0, len(incomplete), step):
            rows = incomplete[start : start + step]
            for row, squares in zip(rows, self._squares(X[rows]), strict=True):
                for column in np.flatnonzero(missing[row]):
                    filled[row, column] = self._value(int(column), squares)
        return filled

    def _squares(self, rows: Floats) -> Floats:
        """The squared distance of each row to each training row; infinite where they share no known feature."""
        gaps = (rows[:, None] - self.rows_) / self.units_
        terms = np.where(self.symbolic_, gaps != 0, np.square(gaps))
        shared = ~np.isnan(gaps)
        sums, counts = np.where(shared, terms, 0.0).sum(axis=2), shared.sum(axis=2)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)

    def _value(self, column: int, squares: Floats) -> float:
        values = self.rows_[:, column]
        usable = ~np.isnan(values)
        values, squares = values[usable], squares[usable]
        if not len(values):
            return MISSING_SYMBOL if self.symbolic_[column] else 0.0
        place = min(self.k, len(values)) - 1
        near = values[squares <= np.partition(squares, place)[place] * (1.0 + TIE)]
        if not self.symbolic_[column]:
            return float(near.mean())
        symbols, counts = np.unique(near, return_counts=True)
        return float(symbols[counts.argmax()])

    def complexity(self) -> float:
        return 0.0
