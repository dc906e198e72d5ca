"""ONNX blocks: those of our own blocks that are arithmetic, as operators that compute the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from msl.blocks.bias import Bias
from msl.blocks.columns import Columns, Passthrough
from msl.blocks.equal_priors import EqualPriors
from msl.blocks.keep import FeatureSelector
from msl.blocks.linear import Zarbi
from msl.blocks.orthogonal import PrincipalComponents
from msl.blocks.prepare import MISSING_SYMBOL, MOST_COLUMNS, Prepare
from msl.blocks.scale import Normalize, ShiftScale, Standardize
from msl.report.onnx_graph import Graph

#: Adds a block to a graph; from the name of what comes in to that of what goes out.
Translation = Callable[[Graph, Any, str], str]


def translation_of(block: Any) -> Translation | None:
    """How a fitted block is translated, or None where ONNX has nothing for it."""
    if isinstance(block, FeatureSelector):
        return lambda graph, block, rows: _columns(graph, block.selected_, rows)
    if isinstance(block, Prepare) and any(len(symbols) > MOST_COLUMNS for symbols in block.symbols_):
        return None
    if isinstance(block, Zarbi) and len(block.present_) != block.n_classes_:
        return None
    return _TRANSLATIONS.get(type(block))


def _columns(graph: Graph, chosen: Any, rows: str) -> str:
    return graph.add("Gather", rows, graph.constant(np.asarray(chosen, dtype=np.int64)), axis=1)


def _standardize(graph: Graph, block: Standardize, rows: str) -> str:
    if block.factor_ is not None:
        rows = graph.add("Mul", rows, graph.constant(block.factor_))
    if block.shift_ is not None:
        rows = graph.add("Sub", rows, graph.constant(block.shift_))
    return graph.add("Div", rows, graph.constant(block.deviation_))


def _normalize(graph: Graph, block: Normalize, rows: str) -> str:
    if block.center:
        rows = graph.add("Sub", rows, graph.add("ReduceMean", rows, axes=[1], keepdims=1))
    lengths = graph.add("ReduceL2", rows, axes=[1], keepdims=1)
    zero, one = graph.constant(np.zeros(1)), graph.constant(np.ones(1))
    return graph.add("Div", rows, graph.add("Where", graph.add("Greater", lengths, zero), lengths, one))


def _shift_scale(graph: Graph, block: ShiftScale, rows: str) -> str:
    rows = graph.add("Mul", rows, graph.constant(np.array([block.factor_])))
    rows = graph.add("Sub", rows, graph.constant(np.array([block.shift_])))
    rows = graph.add("Div", rows, graph.constant(np.array([block.deviation_])))
    if block.take_log:
        rows = graph.add("Max", rows, graph.constant(np.zeros(1)))
        rows = graph.add("Log", graph.add("Add", rows, graph.constant(np.ones(1))))
    return rows


def _components(graph: Graph, block: PrincipalComponents, rows: str) -> str:
    factor = graph.constant(np.array([block.factor_]))
    centred = graph.add("Sub", graph.add("Mul", rows, factor), graph.constant(block.mean_))
    return graph.add("Div", graph.add("MatMul", centred, graph.constant(block.loadings_)), factor)


def _prepare(graph: Graph, block: Prepare, rows: str) -> str:
    if not block.encode:
        if block.medians_ is None:
            return rows
        replacements = np.full(len(block.numeric_) + len(block.symbolic_), MISSING_SYMBOL)
        replacements[block.numeric_] = block.medians_
        return _filled(graph, rows, replacements)
    numbers = _columns(graph, block.numeric_, rows)
    if block.medians_ is not None:
        numbers = _filled(graph, numbers, block.medians_)
    encoded = [
        graph.cast(graph.add("Equal", _columns(graph, [column], rows), graph.constant(symbols[None, :])), "double")
        for column, symbols in zip(block.symbolic_, block.symbols_, strict=True)
    ]
    return graph.add("Concat", numbers, *encoded, axis=1) if encoded else numbers


def _filled(graph: Graph, rows: str, replacements: Any) -> str:
    return graph.add("Where", graph.add("IsNaN", rows), graph.constant(replacements), rows)


def _zarbi(graph: Graph, block: Zarbi, rows: str) -> str:
    scores = graph.add("MatMul", rows, graph.constant(block.coef_))
    scores = graph.add("Add", scores, graph.constant(block.intercept_))
    return graph.add("Concat", graph.add("Neg", scores), scores, axis=1) if block.coef_.shape[1] == 1 else scores


def _bias(graph: Graph, block: Bias, outputs: str) -> str:
    return graph.add("Add", outputs, graph.constant(block.offsets_))


def _equal_priors(graph: Graph, block: EqualPriors, outputs: str) -> str:
    if not block.takes_probabilities_:
        return graph.add("Sub", outputs, graph.constant(np.log(block.shares_)))
    given = graph.add("Max", outputs, graph.constant(np.zeros(1)))
    return _shares_of(graph, graph.add("Div", given, graph.constant(block.shares_)), len(block.shares_))


def _shares_of(graph: Graph, values: str, count: int) -> str:
    """Each row over its sum."""
    mean = graph.add("ReduceMean", values, axes=[1], keepdims=1)
    return graph.add("Div", values, graph.add("Mul", mean, graph.constant(np.array([float(count)]))))


_TRANSLATIONS: dict[type, Translation] = {
    Passthrough: lambda graph, block, rows: rows,
    Columns: lambda graph, block, rows: _columns(graph, block.kept_, rows),
    Standardize: _standardize,
    Normalize: _normalize,
    ShiftScale: _shift_scale,
    PrincipalComponents: _components,
    Prepare: _prepare,
    Zarbi: _zarbi,
    Bias: _bias,
    EqualPriors: _equal_priors,
}
