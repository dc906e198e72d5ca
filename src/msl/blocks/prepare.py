"""Prepare: makes a table fit for blocks that take neither symbols nor missing values, from the training rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from msl.blocks.base import BlockTransformer, Codes, Floats
from msl.blocks.public import public

#: Columns that one feature may become; the rarer symbols beyond share the last of them.
MOST_COLUMNS = 100
#: What stands for a missing symbol where symbols are not encoded: one more symbol.
MISSING_SYMBOL = -1.0


@public
class Prepare(BlockTransformer):
    """Encodes symbols as columns of 0 and 1, and fills in missing values.

    The numeric columns come first, in their order; then, for each symbolic column, one column for each symbol that the
    training rows have (the 99 most frequent and one for the others where there are more than 100). A missing symbol,
    or one that the training rows do not have, is 0 in all of them. A missing number becomes the median of the training
    rows, 0 where they have none.

    Parameters
    ----------
    symbolic_columns : sequence of int, or None
        The positions of the columns that hold symbols.
    encode : bool
        Whether symbols become columns of 0 and 1; else they stay in their place.
    impute : bool
        Whether missing values are filled in. A missing symbol that is not encoded becomes a symbol of its own, -1.
    """

    takes_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "symbolic_columns": ["array-like", None],
        "encode": ["boolean"],
        "impute": ["boolean"],
    }

    def __init__(self, symbolic_columns: Sequence[int] | None = None, encode: bool = True, impute: bool = True) -> None:
        self.symbolic_columns = symbolic_columns
        self.encode = encode
        self.impute = impute

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        symbolic = np.zeros(X.shape[1], dtype=bool)
        symbolic[list(self.symbolic_columns or ())] = True
        self.numeric_: Codes = np.flatnonzero(~symbolic)
        self.symbolic_: Codes = np.flatnonzero(symbolic)
        self.symbols_ = [_symbols(X[:, column]) for column in self.symbolic_] if self.encode else []
        self.medians_ = np.array([_median(X[:, column]) for column in self.numeric_]) if self.impute else None

    @property
    def sources_(self) -> Codes:
        """For each column made, the column it was made of."""
        if not self.encode:
            return np.arange(len(self.numeric_) + len(self.symbolic_))
        widths = [min(len(symbols), MOST_COLUMNS) for symbols in self.symbols_]
        return np.concatenate([self.numeric_, np.repeat(self.symbolic_, widths)])

    def transform_arrays(self, X: Floats) -> Floats:
        if not self.encode:
            return self._filled(X)
        numbers = X[:, self.numeric_]
        if self.medians_ is not None:
            _fill(numbers, self.medians_)
        columns = zip(self.symbolic_, self.symbols_, strict=True)
        return np.hstack([numbers, *(_encoded(X[:, column], symbols) for column, symbols in columns)])

    def _filled(self, X: Floats) -> Floats:
        if self.medians_ is None or not np.isnan(X).any():
            return X
        replacements = np.full(X.shape[1], MISSING_SYMBOL)
        replacements[self.numeric_] = self.medians_
        filled = X.copy()
        _fill(filled, replacements)
        return filled

    def complexity(self) -> float:
        return 0.0

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        check_is_fitted(self)
        n_columns = len(self.numeric_) + len(self.symbolic_)
        given = [f"x{place}" for place in range(n_columns)] if input_features is None else input_features
        names = np.asarray(given, dtype=object)
        if not self.encode:
            return names
        encoded = [
            f"{names[column]}={'other' if place == MOST_COLUMNS - 1 else f'{symbol:g}'}"
            for column, symbols in zip(self.symbolic_, self.symbols_, strict=True)
            for place, symbol in enumerate(symbols[:MOST_COLUMNS])
        ]
        return np.array([*names[self.numeric_], *encoded], dtype=object)


def _symbols(column: Floats) -> Floats:
    """The symbols of a column: all in their order, or the most frequent first where they are too many."""
    symbols, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    if len(symbols) <= MOST_COLUMNS:
        return symbols
    return symbols[np.argsort(-counts, kind="stable")]


def _encoded(column: Floats, symbols: Floats) -> Floats:
    """A column of 0 and 1 for each symbol; those beyond the limit share the last."""
    width = min(len(symbols), MOST_COLUMNS)
    encoded = np.zeros((len(column), width))
    if not width:
        return encoded
    order = np.argsort(symbols)
    places = order[np.minimum(np.searchsorted(symbols, column, sorter=order), len(symbols) - 1)]
    known = np.flatnonzero(symbols[places] == column)
    encoded[known, np.minimum(places[known], width - 1)] = 1.0
    return encoded


def _median(column: Floats) -> float:
    present = column[~np.isnan(column)]
    return float(np.median(present)) if len(present) else 0.0


def _fill(rows: Floats, replacements: Floats) -> None:
    """Puts the replacement of its column wherever a value is missing."""
    lines, columns = np.nonzero(np.isnan(rows))
    rows[lines, columns] = replacements[columns]
