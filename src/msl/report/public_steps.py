"""Public steps: what scikit-learn does as well as the blocks of ours that a table makes necessary.

Encoding symbols, filling in what is missing and routing columns are in every model of a table with symbols or gaps: a
model of public classes alone should not need this package because of them.
"""

from __future__ import annotations

from typing import Any

from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from msl.blocks.columns import Columns, Passthrough
from msl.blocks.keep import KeepFeatures
from msl.blocks.prepare import MOST_COLUMNS, Prepare
from msl.report.estimator_code import EstimatorCode
from msl.report.python_code import Code, literal, template


def has_public_form(step: Any) -> bool:
    """Whether a block of ours, which is fitted, can be written with scikit-learn alone."""
    if type(step) is Prepare:
        if step.encode:
            return all(len(symbols) <= MOST_COLUMNS for symbols in step.symbols_)
        return not len(step.symbolic_)
    return type(step) in (Passthrough, Columns, KeepFeatures)


def public_form(code: EstimatorCode, step: Any, depth: int) -> Code:
    """The expression that does what the block does."""
    if type(step) is Prepare:
        return _prepare(code, step, depth)
    if type(step) is Passthrough:
        return literal("passthrough")
    kept = step.kept_ if isinstance(step, Columns) else step.selected_
    return _columns(code, [(literal("passthrough"), kept.tolist())], depth)


def _prepare(code: EstimatorCode, step: Prepare, depth: int) -> Code:
    numbers = literal("passthrough")
    if step.impute:
        arguments = [template('strategy="median"'), template("keep_empty_features=True")]
        numbers = code.call(code.imported(SimpleImputer), arguments, depth)
    if not len(step.symbolic_):
        return numbers
    parts = [(numbers, step.numeric_.tolist())] if len(step.numeric_) else []
    # A column without a symbol becomes no column at all.
    known = [(place, symbols.tolist()) for place, symbols in zip(step.symbolic_.tolist(), step.symbols_, strict=True)]
    known = [(place, symbols) for place, symbols in known if symbols]
    if known:
        arguments = [
            template("categories={{symbols}}", symbols=literal([symbols for _, symbols in known])),
            template('handle_unknown="ignore"'),
            template("sparse_output=False"),
        ]
        parts.append((code.call(code.imported(OneHotEncoder), arguments, depth + 1), [place for place, _ in known]))
    return _columns(code, parts, depth)


def _columns(code: EstimatorCode, parts: list[tuple[Code, list[int]]], depth: int) -> Code:
    """Columns side by side, each through a transformer of its own."""
    pairs = [
        template("({{transformer}}, {{places}})", transformer=transformer, places=literal(places))
        for transformer, places in parts
    ]
    return code.call(code.imported(make_column_transformer), pairs, depth)
