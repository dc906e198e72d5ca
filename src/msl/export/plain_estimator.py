"""The winner of a search as an estimator that takes the rows as they are: a plain pipeline of scikit-learn if possible.

It is made anew by the code that an exported file would have, fitted on the same rows, and compared with the winner. A
winner with blocks of this package, an ensemble, and tables with dates or text keep the form that they have here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder

from msl.blocks.base.block import Floats
from msl.blocks.base.load import estimator_code
from msl.blocks.base.row_weights import counts_rows, fit_with_weights
from msl.data.read import read_like
from msl.data.table import Schema
from msl.export.python_code import EstimatorCode, Unwritable
from msl.export.python_file import Exportable, is_public_model, needs_more_than_rows, pipeline_code
from msl.runner.trained_model import Trained

#: The rows on which the two forms are compared.
_COMPARED = 1_000


class ReadRows(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Reads rows, an array or a frame, as the table was read that a model was trained on: symbols become numbers."""

    def __init__(self, schema: Schema, names: Sequence[str] | None = None) -> None:
        self.schema = schema
        self.names = names

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        return self

    def transform(self, X: Any) -> Floats:
        return read_like(self.schema, X, names=self.names).X

    def __sklearn_is_fitted__(self) -> bool:
        return True


def best_estimator(
    trained: Trained,
    X: Any,
    y: NDArray[Any],
    weights: Floats | None,
    labels: NDArray[Any] | None,
    names: Sequence[str] | None,
    predict: Callable[[Any], NDArray[Any]],
) -> Any:
    """The winner for rows as they are, fitted.

    `labels` are those of the classes in the order of their codes, `names` those of the columns if the rows are a frame,
    and `predict` gives the predictions that it has to repeat.
    """
    plain = _plain(trained, names)
    if plain is not None:
        with estimator_code:
            if _says_the_same(plain, X, y, weights, predict):
                return plain
    return _own_form(trained, labels, names)


def _says_the_same(
    plain: Any, X: Any, y: NDArray[Any], weights: Floats | None, predict: Callable[[Any], NDArray[Any]]
) -> bool:
    """Fits the pipeline, and compares its predictions."""
    try:
        if counts_rows(plain, weights):
            fit_with_weights(plain, X, y, weights)
        else:
            plain.fit(X, y)
        few = X[:_COMPARED] if len(X) > _COMPARED else X
        said, expected = np.asarray(plain.predict(few)), predict(few)
    except Exception:  # rows that scikit-learn cannot take as they are, such as a frame with odd types
        return False
    if expected.dtype.kind == "f" and said.dtype.kind == "f":
        return bool(np.allclose(said, expected, rtol=1e-6, atol=1e-9))
    return bool(said.tolist() == expected.tolist())


def _plain(trained: Trained, names: Sequence[str] | None) -> Pipeline | None:
    """The pipeline of scikit-learn, not yet fitted; None if there is none."""
    schema, chain = trained.schema, trained.estimator
    if schema.derived or not is_public_model(chain) or needs_more_than_rows(chain):
        return None
    code = EstimatorCode(("np",))
    try:
        outline = _outline(trained)
        written = pipeline_code(code, chain, outline, outline.probes())
    except Unwritable:
        return None
    scope: dict[str, Any] = {"np": np, "dense": dense, "COLUMNS": list(schema.names)}
    exec(code.imports().text, scope)  # what an exported file has, with every value written as a literal
    made = eval(written.text, scope)
    inner = made.steps if isinstance(made, Pipeline) else [("model", made)]
    return Pipeline([*_reading(schema, names), *inner])


def _outline(trained: Trained) -> Exportable:
    schema = trained.schema
    return Exportable(
        "", "", trained.estimator, schema.names, schema.symbols, schema.target, schema.classes, (), None, trained.ranges
    )


def dense(columns: Any) -> Floats:
    """Columns as a plain array of numbers, whatever a step makes of them."""
    return np.ascontiguousarray(columns.toarray() if hasattr(columns, "toarray") else columns, dtype=np.float64)


def _reading(schema: Schema, names: Sequence[str] | None) -> list[tuple[str, Any]]:
    """The steps that bring the columns of a frame into the order of the table, and its symbols into numbers."""
    kinds = [column.kind for column in schema.columns]
    if names is None or (list(names) == list(schema.names) and set(kinds) == {"numeric"}):
        return []
    parts: list[tuple[str, Any, list[str]]] = []
    for kind, group in groupby(schema.columns, key=lambda column: column.kind):
        columns = list(group)
        made: Any = "passthrough"
        if kind != "numeric":
            made = OrdinalEncoder(
                categories=[np.array(column.categories, dtype=object) for column in columns],
                handle_unknown="use_encoded_value",
                unknown_value=np.nan,
            )
        parts.append((f"{kind}_{len(parts) + 1}", made, [column.name for column in columns]))
    return [("columns", ColumnTransformer(parts))]


def _own_form(trained: Trained, labels: NDArray[Any] | None, names: Sequence[str] | None) -> Any:
    """The fitted winner itself, behind a step that reads rows where they are a frame."""
    model = copy.copy(trained.estimator)
    model.n_features_in_ = len(trained.schema.names)
    if labels is not None:
        model.classes_ = labels
    if names is None:
        return model
    return Pipeline([("rows", ReadRows(trained.schema, tuple(names))), ("model", model)])
