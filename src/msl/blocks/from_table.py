"""Blocks of one's own that get the columns as they are in the table: a data frame with names and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from msl.blocks.base.block import Floats
from msl.blocks.base.complexity import complexity
from msl.blocks.base.load import BlockProblem
from msl.blocks.base.row_weights import fit_with_weights, takes_weights
from msl.blocks.public import public
from msl.space.values import BlockType, BlockValue, Value


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, method))


def behind_table(
    value: BlockValue,
    frame: object,
    columns: tuple[int, ...] | None,
    names: Sequence[str],
    symbols: Sequence[tuple[str, ...]],
) -> BlockValue:
    """A block whose class says `takes_frame` behind a step that gives it one.

    `columns` are the columns of the table that reach it, None if a step has changed them; `names` and `symbols` are
    those of all columns. Raises BlockProblem where there is nothing of the table to give.
    """
    name = value.block.name
    if frame not in ("pandas", "polars"):
        message = f"the class of `{name}` says `takes_frame = {frame!r}`"
        raise BlockProblem("MSL391", message, 'write "pandas" or "polars"', name)
    if columns is None or not names:
        where = "a step before it changes them" if names else "these rows have no names of columns"
        message = f"`{name}` takes the columns as they are in the table, and {where}"
        raise BlockProblem("MSL391", message, f"put `{name}` at the start of the chain, or of a branch", name)
    params: tuple[tuple[str, Value], ...] = (
        ("estimator", value),
        ("columns", tuple(names[column] for column in columns)),
        ("symbols", tuple(symbols[column] for column in columns)),
        ("frame", str(frame)),
    )
    return BlockValue(BlockType(name, "msl", value.block.role, None, "msl.blocks:FromTable"), params)


@public
class FromTable(BaseEstimator):
    """Gives an estimator a data frame of the columns that reach it, with words instead of the numbers of symbols.

    Parameters
    ----------
    estimator : estimator
        A class that says `takes_frame = "pandas"` or `takes_frame = "polars"`.
    columns : sequence of str
        The names of the columns.
    symbols : sequence of sequences of str
        For each column its symbols, in the order of their numbers; none for a column of numbers.
    frame : "pandas" or "polars"
        The kind of data frame.
    """

    def __init__(
        self,
        estimator: Any = None,
        columns: Sequence[str] = (),
        symbols: Sequence[Sequence[str]] = (),
        frame: str = "pandas",
    ) -> None:
        self.estimator = estimator
        self.columns = columns
        self.symbols = symbols
        self.frame = frame

    @property
    def takes_weights(self) -> bool:
        """Whether the estimator can count rows by weights."""
        return takes_weights(self.estimator)

    @property
    def classes_(self) -> NDArray[Any]:
        classes: NDArray[Any] = self.estimator.classes_
        return classes

    def fit(self, X: Floats, y: Any = None, sample_weight: Floats | None = None) -> Self:
        if sample_weight is None:
            self.estimator.fit(self._rows(X), y)
        else:
            fit_with_weights(self.estimator, self._rows(X), y, sample_weight)
        self.n_features_in_ = X.shape[1]
        return self

    @_has("fit_transform")  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def fit_transform(self, X: Floats, y: NDArray[Any] | None = None) -> Any:
        made = self.estimator.fit_transform(self._rows(X), y)
        self.n_features_in_ = X.shape[1]
        return made

    @_has("transform")  # type: ignore[untyped-decorator]
    def transform(self, X: Floats) -> Any:
        check_is_fitted(self, "n_features_in_")
        return self.estimator.transform(self._rows(X))

    @_has("predict")  # type: ignore[untyped-decorator]
    def predict(self, X: Floats) -> Any:
        return self.estimator.predict(self._rows(X))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Floats) -> Any:
        return self.estimator.predict_proba(self._rows(X))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Floats) -> Any:
        return self.estimator.decision_function(self._rows(X))

    def complexity(self) -> float:
        return complexity(self.estimator)

    def _rows(self, X: Floats) -> Any:
        columns = {
            name: _words(values, known) if len(known) else values
            for name, known, values in zip(self.columns, self.symbols, np.asarray(X).T, strict=True)
        }
        if self.frame == "polars":
            import polars

            return polars.DataFrame(columns)
        import pandas

        return pandas.DataFrame(columns)


def _words(codes: Floats, known: Sequence[str]) -> NDArray[np.object_]:
    words = np.full(len(codes), None, dtype=object)
    there = ~np.isnan(codes)
    words[there] = np.array(known, dtype=object)[codes[there].astype(np.intp)]
    return words
