"""Calls: strategies, estimates and ensembles, whose options are checked like those of blocks."""

from __future__ import annotations

from dataclasses import replace

from msl.check.blocks import Blocks, Declared
from msl.check.foreign import call_meant
from msl.check.library import Library, Module
from msl.check.offers import FILE, Offer, offers
from msl.check.outside import Owner
from msl.check.report import Report
from msl.space.defaults import default_node
from msl.space.node import BlockUse, Const, Listing, Node, Param, Symbol
from msl.space.spec import Call
from msl.space.truth import holds
from msl.space.value import BlockValue, Value, symbol_value
from msl.syntax import ast
from msl.text.suggest import did_you_mean, listing

#: How people call what a role gives, one of it and several, and the code of a name that is none.
_WORDS = {
    "strategy": ("a strategy", "strategies", "MSL141"),
    "estimate": ("an estimate", "estimates", "MSL142"),
    "combiner": ("an ensemble", "ensembles", "MSL143"),
}


class Calls:
    """Resolves calls of the engine's own roles."""

    def __init__(self, library: Library, blocks: Blocks, report: Report) -> None:
        self.library, self.blocks, self.report = library, blocks, report

    def call(
        self, role: str, written: ast.Path | ast.Call, module: Module, skip: frozenset[str] = frozenset()
    ) -> Call | None:
        """A call with all options filled in; `skip` are arguments that the caller reads itself."""
        path = written if isinstance(written, ast.Path) else written.path
        declared = self.declared(role, path, module)
        if declared is None:
            return None
        arguments = written.arguments if isinstance(written, ast.Call) else ()
        plain = tuple(argument for argument in arguments if argument.key is None or argument.key.text not in skip)
        owner = Owner(path.text, "option", declared.labels, closed=True)
        params = self.blocks.narrower(module).params(declared.params, plain, owner, written.span)
        if params is None:
            return None
        options = tuple((p.name, node_value(p.node if _closed(p.node) else default_node(p))) for p in params)
        return Call(path.text, declared.block.target, options)

    def task(self, role: str, name: str) -> str | None:
        """The only task that a strategy, estimate or ensemble serves, or None."""
        declared = self.blocks.declared(self.library.implied(role).declarations[name])
        return None if declared is None else declared.block.task

    def declared(self, role: str, path: ast.Path, module: Module) -> Declared | None:
        catalogue = self.library.implied(role)
        declaration = catalogue.declarations.get(path.text)
        if declaration is not None:
            return self.blocks.declared(declaration)
        names = list(catalogue.declarations)
        if role == "strategy":
            offered = offers()
            if path.text in offered:
                return self._offered(offered[path.text], path, module)
            names += offered
        one, several, code = _WORDS[role]
        help = did_you_mean(path.text, names) or f"{several} are {listing(names)}"
        help = call_meant(role, path.names[-1].text) or help
        self.report.error(code, module.source, path.span, f"`{path.text}` is not {one}", "", help)
        return None

    def _offered(self, offer: Offer, path: ast.Path, module: Module) -> Declared | None:
        """A strategy of another package, as a file of that package declares it."""
        told = len(self.report.diagnostics)
        file = offer.declarations()
        declaration = None if file is None else self.library.offered(file).declarations.get(offer.name)
        declared = None if declaration is None else self.blocks.declared(declaration)
        if declared is not None and (declared.block.role, declared.block.target) == ("strategy", offer.target):
            return declared
        if len(self.report.diagnostics) == told:  # nothing is wrong with what the file says, but this is not in it
            message = f"the package `{offer.package}` offers the strategy `{offer.name}`, but does not declare it"
            help = f'its `{FILE}` has to say `block {offer.name}: strategy "{offer.target}" {{ … }}`'
            self.report.error("MSL141", module.source, path.span, message, "", help)
        return None


def node_value(node: Node) -> Value:
    """The value of a node with nothing open."""
    match node:
        case Const(value=value):
            return value  # type: ignore[return-value]
        case Symbol(name=name, params=params):
            closed = tuple(p if _closed(p.node) else replace(p, node=default_node(p)) for p in params)
            return symbol_value(name, _values(closed))
        case BlockUse(block=block, params=params):
            return BlockValue(block, _values(params))
        case Listing(elements=elements):
            return tuple(node_value(element) for element in elements)
    raise TypeError(f"{type(node).__name__} is still open")


def _values(params: tuple[Param, ...]) -> tuple[tuple[str, Value], ...]:
    """The values of parameters, without those whose condition does not hold."""
    values: dict[str, Value] = {}
    for param in params:
        if param.condition is None or holds(param.condition, values):
            values[param.name] = node_value(param.node)
    return tuple(values.items())


def _closed(node: Node) -> bool:
    return isinstance(node, Const | Symbol | BlockUse)
