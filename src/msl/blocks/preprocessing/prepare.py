"""Prepare: makes a table fit for blocks that take neither symbols nor missing values, from the training rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from msl.blocks.base.block import BlockTransformer, Codes, Floats
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

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


# --- Columns: transformers that route the columns of a table to the branches of `&` without changing a value. ---------


@public
class Passthrough(OneToOneFeatureMixin, BlockTransformer):
    """Hands on its input as it is, missing values included."""

    takes_symbols = True
    takes_missing = True
    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        pass

    def transform_arrays(self, X: Floats) -> Floats:
        return X

    def complexity(self) -> float:
        return 0.0


@public
class Columns(Passthrough):
    """Keeps the columns of one kind, in their order; none at all when the table has none of that kind.

    Parameters
    ----------
    kind : "numeric", "symbolic" or "all"
        Which columns stay.
    symbolic_columns : sequence of int, or None
        The positions of the columns that hold symbols, as the table knows them; None when there are none. They count
        in the columns that reach this step, so a step that changes the columns may not come before it.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions({"numeric", "symbolic", "all"})],
        "symbolic_columns": ["array-like", None],
    }

    def __init__(
        self,
        kind: Literal["numeric", "symbolic", "all"] = "numeric",
        symbolic_columns: Sequence[int] | None = None,
    ) -> None:
        self.kind = kind
        self.symbolic_columns = symbolic_columns

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        symbolic = np.zeros(X.shape[1], dtype=bool)
        symbolic[self._positions(X.shape[1])] = True
        stays = {"numeric": ~symbolic, "symbolic": symbolic, "all": np.ones_like(symbolic)}[self.kind]
        self.kept_: NDArray[np.intp] = np.flatnonzero(stays)

    def _positions(self, n_columns: int) -> NDArray[np.intp]:
        """The symbolic columns' positions, all of them inside the table."""
        positions = np.asarray([] if self.symbolic_columns is None else self.symbolic_columns)
        if positions.size == 0:
            return np.empty(0, dtype=np.intp)
        if positions.ndim != 1 or not np.issubdtype(positions.dtype, np.integer):
            raise UserError(
                f"symbolic_columns takes the positions of columns, as in [0, 3], not {self.symbolic_columns!r}"
            )
        if positions.min() < 0 or positions.max() >= n_columns:
            raise UserError(
                f"symbolic_columns names the column {positions.max() if positions.min() >= 0 else positions.min()}, "
                f"but the columns here are 0 to {n_columns - 1}; put `columns` before the steps that change columns"
            )
        return positions.astype(np.intp)

    def transform_arrays(self, X: Floats) -> Floats:
        return X[:, self.kept_]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)
        return names[self.kept_]
