"""Read the defaults that declarations give to parameters: one value within the domain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msl.check.domains.alternatives import written_alternatives
from msl.check.domains.contains import Owner
from msl.check.domains.narrow import Narrower
from msl.check.names.library import Module
from msl.diagnostics.diagnostic import Label, Report
from msl.language import ast
from msl.record import record
from msl.space.formulas import Formula
from msl.space.nodes import BlockUse, Choice, Const, Listing, Node, Param, Sized, Symbol, Vector
from msl.space.values import BlockValue, SymbolValue, Value


@record
class Defaults:
    """Reads the defaults of one file's declarations."""

    module: Module
    report: Report
    narrower: Narrower

    def of(self, params: tuple[Param, ...], fields: tuple[ast.Argument, ...], owner: str) -> tuple[Param, ...]:
        """The parameters with the defaults of their fields, including parameters inside alternatives."""
        written = {field.key.text: field for field in fields if field.key is not None}
        result = []
        for param in params:
            field = written.get(param.name)
            if field is None:
                result.append(param)
                continue
            calls = {call.path.text: call for call in _calls(field.value)}
            param = replace(param, node=self._inner_defaults(param.node, calls)) if calls else param
            if field.default is not None and self._one_default(field.default):
                closing = ast.Argument(field.key, False, field.default, span=field.default.span)
                label = Label(self.module.source, field.value.span, "declared here")
                node = self._default(param, closing, Owner(owner, "default", {param.name: label}))
                if node is not None:
                    param = replace(param, default=_value_of(node), has_default=True)
            result.append(param)
        return tuple(result)

    def _one_default(self, written: ast.Expression) -> bool:
        """Whether a default is one value with nothing open."""
        source = self.module.source
        if isinstance(written, ast.Choice | ast.Range | ast.Bool | ast.AnyOf | ast.Vector):
            first = written.items[0] if isinstance(written, ast.Choice) else None
            first = written.low if isinstance(written, ast.Range) else first
            help = "write one of the values" if first is None else f"write `{source.slice(first.span)}`"
            self.report.error("MSL089", source, written.span, "a default must be one value", "", help)
            return False
        opened = next(_opened(written), None)
        if opened is not None:
            assert opened.key is not None
            help = f"write `{source.slice(opened.key.span)} = …` with one value"
            self.report.error("MSL089", source, opened.span, "a default cannot have open parameters", "", help)
        return opened is None

    def _default(self, param: Param, closing: ast.Argument, owner: Owner) -> Node | None:
        """The default as a node inside the domain; a vector's default may be one value for all its elements."""
        node = param.node
        if isinstance(node, Sized) and isinstance(closing.value, ast.ListOf):
            message = f"the default of `{param.name}` must suit every length"
            help = "write one value, which every element then has"
            self.report.error("MSL189", self.module.source, closing.value.span, message, "", help)
            return None
        if isinstance(node, Sized) or (isinstance(node, Vector) and not isinstance(closing.value, ast.ListOf)):
            param = replace(param, node=node.element)
        return self.narrower.default(param, closing, owner)

    def _inner_defaults(self, node: Node, calls: dict[str, ast.Call]) -> Node:
        """Set the defaults of parameters inside alternatives."""
        if isinstance(node, Symbol) and node.name in calls:
            return replace(node, params=self.of(node.params, calls[node.name].arguments, node.name))
        if isinstance(node, Sized):
            return replace(node, element=self._inner_defaults(node.element, calls))
        if isinstance(node, Listing):
            return Listing(tuple(self._inner_defaults(element, calls) for element in node.elements))
        if isinstance(node, Choice):
            return replace(node, options=tuple(self._inner_defaults(option, calls) for option in node.options))
        return node


def _calls(expression: ast.Expression) -> list[ast.Call]:
    if isinstance(expression, ast.Vector):
        return _calls(expression.element)
    items = written_alternatives(expression) if isinstance(expression, ast.Choice) else (expression,)
    return [item for item in items if isinstance(item, ast.Call)]


def _value_of(node: Node) -> Value | Formula:
    """The value of a closed node; what it leaves open keeps its own default."""
    match node:
        case Const(value=value):
            return value
        case Symbol(name=name, params=params, own=own):
            given = tuple((p.name, _value_of(p.node)) for p in params if isinstance(p.node, Const))
            return SymbolValue(name, given, own) if params or own else name  # type: ignore[arg-type]
        case BlockUse(block=block, params=params):
            given = tuple((p.name, _value_of(p.node)) for p in params if isinstance(p.node, Const))
            return BlockValue(block, given)  # type: ignore[arg-type]
    return None


def _opened(expression: ast.Expression) -> Iterator[ast.Argument]:
    """The arguments that a value leaves open."""
    if isinstance(expression, ast.Call):
        for argument in expression.arguments:
            if argument.opens:
                yield argument
            yield from _opened(argument.value)
