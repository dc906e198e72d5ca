"""ONNX graph: nodes added one after the other, and whole models of others put in between."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

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
