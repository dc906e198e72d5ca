"""Encode categorical columns, impute missing values, and select columns by kind or place.

In the language and in parameter names categorical columns are called symbolic, and their values symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_matrix, csr_matrix, hstack
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from msl.blocks.base.block import BlockTransformer, Codes, Floats
from msl.blocks.base.check_outputs import has_missing, is_sparse
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

N_FOLDS = 5
#: Since 1.9 the folds are passed as `cv`, and `random_state` is deprecated.
_TAKES_SEED = getattr(signature(TargetEncoder).parameters.get("random_state"), "default", "deprecated") is None


@public
class TargetEncode(TransformerMixin, BaseEstimator):
    """Replaces a symbol by the mean target, or by the frequency of each class, of the rows with this symbol.

    `fit_transform` encodes the rows of each of five shuffled folds from the other four, so that the target of a row
    does not leak into its features (Micci-Barreca, 2001); `transform` uses all training rows. `smooth` is the weight of
    the overall mean, in rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "target_type": [StrOptions({"auto", "continuous", "binary", "multiclass"})],
        "smooth": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, target_type: str = "auto", smooth: float | str = "auto", random_state: Any = None) -> None:
        self.target_type = target_type
        self.smooth = smooth
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        self._new_encoder(y).fit(X, y)
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        encoded: NDArray[Any] = self._new_encoder(y).fit_transform(X, y)
        return encoded

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        encoded: NDArray[Any] = self.encoder_.transform(X)
        return encoded

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        check_is_fitted(self)
        names: NDArray[Any] = self.encoder_.get_feature_names_out(input_features)
        return names

    def _new_encoder(self, y: ArrayLike) -> TargetEncoder:
        self._validate_params()
        if _TAKES_SEED:
            folds: dict[str, Any] = {"cv": N_FOLDS, "random_state": self.random_state}
        else:
            kind = type_of_target(y) if self.target_type == "auto" else self.target_type
            splitter = KFold if str(kind).startswith("continuous") else StratifiedKFold
            folds = {"cv": splitter(N_FOLDS, shuffle=True, random_state=self.random_state)}
        self.encoder_ = TargetEncoder(target_type=self.target_type, smooth=self.smooth, **folds)
        return self.encoder_

    @property
    def n_features_in_(self) -> int:
        return int(self.encoder_.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


#: The largest number of columns that one categorical column becomes; rarer symbols share the last one.
MOST_COLUMNS = 100
#: The code of a missing symbol where symbols are not encoded: one more symbol.
MISSING_SYMBOL = -1.0


@public
class Prepare(BlockTransformer):
    """One-hot encodes categorical columns and imputes missing values.

    The numeric columns come first, in their order; then, for each categorical column, one column of 0 and 1 for each
    symbol in the training rows (for the 99 most frequent and one for the others if there are more than 100). A missing
    or unknown symbol is 0 in all of them. A missing number becomes the median of the training rows, or 0 if all are
    missing.

    Parameters
    ----------
    symbolic_columns : sequence of int, or None
        The positions of the categorical columns.
    encode : bool
        Whether categorical columns are one-hot encoded; otherwise they stay as they are.
    impute : bool
        Whether missing values are imputed. A missing symbol that is not encoded becomes -1.
    sparse : bool
        Whether encoded rows are sparse (CSR): for what takes them, where there are many symbols.
    """

    takes_missing = True
    takes_sparse = True
    sparse = False  # models that were saved before this was a parameter have none of their own
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "symbolic_columns": ["array-like", None],
        "encode": ["boolean"],
        "impute": ["boolean"],
        "sparse": ["boolean"],
    }

    def __init__(
        self,
        symbolic_columns: Sequence[int] | None = None,
        encode: bool = True,
        impute: bool = True,
        sparse: bool = False,
    ) -> None:
        self.symbolic_columns = symbolic_columns
        self.encode = encode
        self.impute = impute
        self.sparse = sparse

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        symbolic = np.zeros(X.shape[1], dtype=bool)
        symbolic[list(self.symbolic_columns or ())] = True
        self.numeric_: Codes = np.flatnonzero(~symbolic)
        self.symbolic_: Codes = np.flatnonzero(symbolic)
        self.symbols_ = [_symbols(X[:, column]) for column in self.symbolic_] if self.encode else []
        by_column: Any = csc_matrix(X) if is_sparse(X) else X
        self.medians_ = (
            np.array([_median(_column(by_column, place)) for place in self.numeric_]) if self.impute else None
        )

    @property
    def sources_(self) -> Codes:
        """For each output column, the input column that it comes from."""
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
        if getattr(self, "sparse", False):  # absent in models that older versions saved
            parts = [csr_matrix(numbers), *(_sparsely_encoded(X[:, column], symbols) for column, symbols in columns)]
            return hstack(parts, format="csr", dtype=np.float64)
        return np.hstack([numbers, *(_encoded(X[:, column], symbols) for column, symbols in columns)])

    def _filled(self, X: Floats) -> Floats:
        if self.medians_ is None or not has_missing(X):
            return X
        replacements = np.full(X.shape[1], MISSING_SYMBOL)
        replacements[self.numeric_] = self.medians_
        filled: Any = X.copy()
        if is_sparse(X):
            gaps = np.isnan(filled.data)
            filled.data[gaps] = replacements[filled.indices[gaps]]
        else:
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
    """The symbols of a column: sorted, or the most frequent first if there are too many."""
    symbols, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    if len(symbols) <= MOST_COLUMNS:
        return symbols
    return symbols[np.argsort(-counts, kind="stable")]


def _encoded(column: Floats, symbols: Floats) -> Floats:
    """A column of 0 and 1 for each symbol; symbols beyond the limit share the last."""
    encoded = np.zeros((len(column), min(len(symbols), MOST_COLUMNS)))
    encoded[_places(column, symbols)] = 1.0
    return encoded


def _sparsely_encoded(column: Floats, symbols: Floats) -> csr_matrix:
    """The same, without its zeros."""
    rows, places = _places(column, symbols)
    return csr_matrix((np.ones(len(rows)), (rows, places)), shape=(len(column), min(len(symbols), MOST_COLUMNS)))


def _places(column: Floats, symbols: Floats) -> tuple[Codes, Codes]:
    """The rows with a known symbol, and the column of each of these symbols."""
    if not len(symbols):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    order = np.argsort(symbols)
    places = order[np.minimum(np.searchsorted(symbols, column, sorter=order), len(symbols) - 1)]
    known = np.flatnonzero(symbols[places] == column)
    return known, np.minimum(places[known], MOST_COLUMNS - 1)


def _column(X: Any, place: Any) -> Floats:
    column: Floats = X[:, [place]].toarray().ravel() if is_sparse(X) else X[:, place]
    return column


def _median(column: Floats) -> float:
    present = column[~np.isnan(column)]
    return float(np.median(present)) if len(present) else 0.0


def _fill(rows: Floats, replacements: Floats) -> None:
    """Replaces missing values, in place, by the replacement of their column."""
    lines, columns = np.nonzero(np.isnan(rows))
    rows[lines, columns] = replacements[columns]


# --- For learners that take symbols as categories ---------------------------------------------------------------------


@public
class MergeRare(OneToOneFeatureMixin, BlockTransformer):
    """Gives the rarest symbols of a column with very many a common code, which leaves at most `most` codes.

    It is for learners that take symbols as categories, and only so many a column. In columns where symbols were merged,
    those that the training rows do not have become missing; all others stay as they are. Of symbols in equally many
    rows those with the lower codes are merged, as scikit-learn's `OrdinalEncoder(max_categories=most)` does.

    Parameters
    ----------
    symbolic_columns : sequence of int, or None
        The positions of the categorical columns.
    most : int
        The largest number of codes of a column, the common one included.
    """

    takes_missing = True
    makes_missing = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "symbolic_columns": ["array-like", None],
        "most": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, symbolic_columns: Sequence[int] | None = None, most: int = 255) -> None:
        self.symbolic_columns = symbolic_columns
        self.most = most

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_columns_ = X.shape[1]
        self.merged_: dict[int, tuple[Floats, Floats]] = {}
        for column in self.symbolic_columns or ():
            symbols, counts = np.unique(X[~np.isnan(X[:, column]), column], return_counts=True)
            if len(symbols) > self.most:
                kept = np.sort(np.argsort(counts, kind="stable")[-(self.most - 1) :])
                codes = np.full(len(symbols), symbols[-1] + 1.0)
                codes[kept] = symbols[kept]
                self.merged_[int(column)] = (symbols, codes)

    def transform_arrays(self, X: Floats) -> Floats:
        if not self.merged_:
            return X
        merged = X.copy()
        for column, (symbols, codes) in self.merged_.items():
            places = np.minimum(np.searchsorted(symbols, X[:, column]), len(symbols) - 1)
            merged[:, column] = np.where(symbols[places] == X[:, column], codes[places], np.nan)
        return merged

    def complexity(self) -> float:
        return 0.0


# --- Selecting columns for the branches of `&` ------------------------------------------------------------------------


@public
class Passthrough(OneToOneFeatureMixin, BlockTransformer):
    """Returns its input unchanged, missing values included."""

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
    """Keeps the columns of one kind, in their order; no columns if the table has none of that kind.

    Parameters
    ----------
    kind : "numeric", "symbolic" or "all"
        Which columns are kept.
    symbolic_columns : sequence of int, or None
        The positions of the categorical columns in the input of this step, so that no step that changes the columns
        may come before it; None if there are none.
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
        """The positions of the categorical columns; raises ValueError if one is outside the table."""
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


@public
class TableColumns(Columns):
    """Keeps the columns at some positions of the input, in the order of the table: the step behind `on [age] (…)`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"columns": ["array-like"]}

    def __init__(self, columns: Sequence[int] = ()) -> None:
        self.columns = columns

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        kept = np.asarray(self.columns, dtype=np.intp)
        if kept.size and (kept.min() < 0 or kept.max() >= X.shape[1]):
            raise UserError(f"the columns here are 0 to {X.shape[1] - 1}, and column {kept.max()} is asked for")
        self.kept_ = kept
