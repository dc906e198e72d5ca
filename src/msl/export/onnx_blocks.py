"""Build ONNX graphs, and translate blocks of msl to ONNX operators."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from msl.blocks.calibration import Bias, EqualPriors
from msl.blocks.learners.linear_classifiers import LEAST_PROBABILITY, LinearLogistic, LinearRule, PooledBayes, Zarbi
from msl.blocks.preprocessing.prepare import (
    MISSING_SYMBOL,
    MOST_COLUMNS,
    Columns,
    MergeRare,
    Passthrough,
    Prepare,
    TableColumns,
)
from msl.blocks.preprocessing.scalers import LEAST_ARGUMENT, Normalize, RangeScale, ShiftScale, Standardize
from msl.blocks.selection.orthogonal import PrincipalComponents
from msl.blocks.selection.selectors import FeatureSelector

#: Operators of these sets; runtimes of several years know them.
OPSETS = {"": 17, "ai.onnx.ml": 3}
_IR_VERSION = 8
_TYPES = {"float": TensorProto.FLOAT, "double": TensorProto.DOUBLE, "int64": TensorProto.INT64}


class Graph:
    """A graph that grows; every tensor has a name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._numbers = count()

    def constant(self, value: Any) -> str:
        """An array; texts are one of objects."""
        array = np.asarray(value)
        name = self._fresh("constant")
        self._constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one output, whose name is given back."""
        output = self._fresh(operator.lower())
        self._nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output

    def cast(self, tensor: str, to: str) -> str:
        return self.add("Cast", tensor, to=_TYPES[to])

    def named(self, tensor: str, name: str) -> None:
        """Gives a tensor a name for the outside."""
        self._nodes.append(helper.make_node("Identity", [tensor], [name]))

    def embed(self, model: Any, tensor: str) -> list[str]:
        """Puts a model with one input here; the names of its outputs."""
        inner = onnx.compose.add_prefix(model, f"{self._fresh('part')}_").graph
        self.named(tensor, inner.input[0].name)
        self._nodes.extend(inner.node)
        self._constants.extend(inner.initializer)
        return [output.name for output in inner.output]

    def model(self, n_features: int, outputs: dict[str, tuple[str, list[Any]]], notes: dict[str, str]) -> bytes:
        """The file: rows of numbers come in as `X`; `outputs` says the kind and shape of each tensor that goes out."""
        kinds = {**_TYPES, "string": TensorProto.STRING}
        given = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, n_features])
        made = [helper.make_tensor_value_info(name, kinds[kind], shape) for name, (kind, shape) in outputs.items()]
        graph = helper.make_graph(self._nodes, self._name, [given], made, initializer=self._constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="msl")
        helper.set_model_props(model, notes)
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content

    def _fresh(self, kind: str) -> str:
        return f"{kind}_{next(self._numbers)}"


# --- ONNX blocks: those of our own blocks that are arithmetic, as operators that compute the same. --------------------


#: Adds a block to a graph; from the name of what comes in to that of what goes out.
Translation = Callable[[Graph, Any, str], str]


def translation_of(block: Any) -> Translation | None:
    """How a fitted block is translated, or None where ONNX has nothing for it."""
    if isinstance(block, FeatureSelector):
        return lambda graph, block, rows: _columns(graph, block.selected_, rows)
    if isinstance(block, Prepare) and any(len(symbols) > MOST_COLUMNS for symbols in block.symbols_):
        return None
    if isinstance(block, LinearRule | LinearLogistic) and len(block.present_) != block.n_classes_:
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


def _range_scale(graph: Graph, block: RangeScale, rows: str) -> str:
    rows = _shifted(graph, rows, block.factor_, block.shift_, block.range_)
    if block.take_log:
        above = graph.add("Greater", rows, graph.constant(np.zeros(1)))
        rows = graph.add("Log", graph.add("Where", above, rows, graph.constant(np.array([LEAST_ARGUMENT]))))
    return rows


def _shift_scale(graph: Graph, block: ShiftScale, rows: str) -> str:
    rows = _shifted(graph, rows, block.factor_, block.shift_, block.deviation_)
    if block.take_log:
        rows = graph.add("Max", rows, graph.constant(np.zeros(1)))
        rows = graph.add("Log", graph.add("Add", rows, graph.constant(np.ones(1))))
    return rows


def _shifted(graph: Graph, rows: str, factor: float, shift: float, divisor: float) -> str:
    rows = graph.add("Mul", rows, graph.constant(np.array([factor])))
    rows = graph.add("Sub", rows, graph.constant(np.array([shift])))
    return graph.add("Div", rows, graph.constant(np.array([divisor])))


def _components(graph: Graph, block: PrincipalComponents, rows: str) -> str:
    factor = graph.constant(np.array([block.factor_]))
    centred = graph.add("Sub", graph.add("Mul", rows, factor), graph.constant(block.mean_))
    return graph.add("MatMul", centred, graph.constant(block.loadings_))


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


def _linear_rule(graph: Graph, block: LinearRule, rows: str) -> str:
    scores = _linear(graph, block, rows)
    return graph.add("Concat", graph.add("Neg", scores), scores, axis=1) if block.coef_.shape[1] == 1 else scores


def _linear_logistic(graph: Graph, block: LinearLogistic, rows: str) -> str:
    shares = graph.add("Sigmoid", _linear(graph, block, rows))
    if block.coef_.shape[1] == 1:
        return graph.add("Concat", graph.add("Sub", graph.constant(np.ones(1)), shares), shares, axis=1)
    shares = graph.add("Max", shares, graph.constant(np.array([LEAST_PROBABILITY])))
    return _shares_of(graph, shares, block.coef_.shape[1])


def _linear(graph: Graph, block: LinearRule | LinearLogistic, rows: str) -> str:
    return graph.add("Add", graph.add("MatMul", rows, graph.constant(block.coef_)), graph.constant(block.intercept_))


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
    MergeRare: lambda graph, block, rows: rows,  # only before learners that split on symbols, which are refused
    Columns: lambda graph, block, rows: _columns(graph, block.kept_, rows),
    TableColumns: lambda graph, block, rows: _columns(graph, block.kept_, rows),
    Standardize: _standardize,
    Normalize: _normalize,
    ShiftScale: _shift_scale,
    RangeScale: _range_scale,
    PrincipalComponents: _components,
    Prepare: _prepare,
    Zarbi: _linear_rule,
    PooledBayes: _linear_rule,
    LinearLogistic: _linear_logistic,
    Bias: _bias,
    EqualPriors: _equal_priors,
}
