"""Narrow the parameters of a block to the arguments of a use, each within its declared domain.

Names are looked up in that domain; `lo..hi` without a kind inherits kind, scale and step. For values outside, a block
must be derived, and the help shows the line to write.
"""

from __future__ import annotations

from dataclasses import replace

from msl.check.domains.alternatives import Orders, in_declared_order, written_alternatives
from msl.check.domains.arguments import Naming, is_rest
from msl.check.domains.computed_values import ComputedValues, parameters_in
from msl.check.domains.contains import (
    Outside,
    Owner,
    Place,
    domain_in_words,
    fitted,
    name_of,
    options_of_kind,
)
from msl.check.domains.declared import Declarer, has_open
from msl.check.domains.learners import LearnerReader, kept
from msl.check.domains.narrow_structured import StructuredNarrower
from msl.check.domains.vector_lengths import Lengths
from msl.check.lints import closed_silently
from msl.check.names.names_of_other_tools import domain_meant, value_meant
from msl.check.names.resolve_names import find, peek
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Source, Span
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.language.literals import name_text
from msl.record import record
from msl.space.defaults import default_node, fit_default, is_closed
from msl.space.formulas import FACTS, FUNCTIONS, Formula
from msl.space.nodes import (
    BlockUse,
    Bool,
    Const,
    IntRange,
    Listing,
    Node,
    Param,
    RealRange,
    Regions,
    Sized,
    Symbol,
    Vector,
    alternatives,
)

_SEVERAL = (ast.Choice, ast.Range, ast.Bool, ast.AnyOf, ast.Vector)


@record
class Narrower:
    """Reads the arguments of uses in one file; `notes` adds warnings about what a value after `=` closes."""

    declarer: Declarer
    notes: bool = True

    def params(
        self,
        declared: tuple[Param, ...],
        arguments: tuple[ast.Argument, ...],
        owner: Owner,
        span: Span,
        closes: bool = False,
    ) -> tuple[Param, ...] | None:
        """The parameters of one use; None if an argument is wrong.

        Those given are narrowed. The others are as declared, or at their defaults if the use `closes` them.
        """
        given = Naming(self._source, self._report).by_name([param.name for param in declared], arguments, owner)
        if given is None:
            return None
        closes_rest = closes or any(map(is_rest, arguments))
        params, sound = [], True
        for param in declared:
            argument = given.get(param.name)
            if argument is None:
                params.append(replace(param, node=default_node(param)) if closes_rest or kept(param) else param)
                continue
            node = self.argument(param, argument, owner)
            sound = sound and node is not None
            if node is not None:
                best = argument.best is not None and self.declarer.tries(argument, node)
                params.append(fit_default(replace(param, node=node, best=best)))
        if sound and any(isinstance(param.node, Sized) for param in declared):
            spans = {name: argument.value.span for name, argument in given.items()}
            sound = Lengths(self._source, self._report).fit(tuple(params), declared, spans, span)
        return tuple(params) if sound else None

    # --- one argument ---

    def argument(self, param: Param, argument: ast.Argument, owner: Owner) -> Node | None:
        """The node of one argument, within the declared domain."""
        if argument.default is not None or argument.condition is not None:
            span = (argument.default or argument.condition).span  # type: ignore[union-attr]
            message = "`default` and `if` belong in a declaration, not in a use"
            self._report.error("MSL098", self._source, span, message, "", "remove it")
            return None
        place = Place(param.name, owner, param.node)
        value = argument.value
        if param.takes is not None and not isinstance(value, ast.Default):
            return LearnerReader(self.declarer, self).argument(param, argument, place)
        if owner.closed and (argument.opens or isinstance(value, _SEVERAL)):
            self._searched_option(argument, place)
            return None
        if not argument.opens:
            return self._closed(param, argument, place)
        match value:
            case ast.Choice():
                return self.choice(param.node, value, place)
            case ast.ListOf() if not has_open(value) and not _takes_lists(param.node):
                self.declarer.list_as_domain(value)
                return None
            case ast.ListOf() if not has_open(value):
                self.declarer.single_value(argument)
                return None
            case ast.Range() | ast.Bool() | ast.Vector() | ast.AnyOf() | ast.ListOf():
                return self.open(param.node, value, place)
            case ast.Call() if value.path.text == "regions":
                return self.open(param.node, value, place)
            case ast.Sequence() | ast.Union() | ast.Optional():
                self.declarer.not_a_value(value)
                return None
            case ast.Path() | ast.Call() if self._has_parameters(param.node, value):
                return self._opened_alternative(param.node, argument, place)
        self.declarer.single_value(argument)
        return None

    def default(self, param: Param, argument: ast.Argument, owner: Owner) -> Node | None:
        """The node of a declared default. Parameters inside it that are not mentioned keep their own defaults."""
        return self._closed(param, argument, Place(param.name, owner, param.node), closes=False)

    def _closed(self, param: Param, argument: ast.Argument, place: Place, closes: bool = True) -> Node | None:
        """What follows `=`: one value, or the default."""
        if isinstance(argument.value, ast.Default):
            return default_node(param)
        if isinstance(argument.value, _SEVERAL):
            self.declarer.several_values(argument)
            return None
        if not place.owner.closed and self._means_several(param, argument):
            return None
        return self.one(param.node, argument.value, place, closes)

    def _opened_alternative(self, declared: Node, argument: ast.Argument, place: Place) -> Node | None:
        """`: name` and `: name(…)`: one alternative with its parameters open."""
        node = self.one(declared, argument.value, place, closes=False)
        if node is not None and is_closed(node):
            self.declarer.single_value(argument)
            return None
        return node

    def _has_parameters(self, declared: Node, written: ast.Path | ast.Call) -> bool:
        path = written if isinstance(written, ast.Path) else written.path
        option = _called(declared, path.names[-1].text)
        return isinstance(option, Symbol | BlockUse) and bool(option.params)

    def _means_several(self, param: Param, argument: ast.Argument) -> bool:
        """`C = [0.1, 1]`, `C = suggest_float("C", 0.1, 1)`: several values, in the syntax of other tools."""
        value = argument.value
        meant = None
        if (
            isinstance(value, ast.ListOf)
            and len(value.items) > 1
            and not has_open(value)
            and not _takes_lists(param.node)
        ):
            meant = " | ".join(self._source.slice(item.span) for item in value.items[:8])
        elif isinstance(value, ast.Call) and peek(self.declarer.module, value.path.text) is None:
            names = [name_of(option) for option in alternatives(param.node)]
            meant = None if value.path.text in names else domain_meant(value, self._source)
        if meant is None or argument.key is None:
            return False
        message = "`=` takes one value; `:` opens a dimension"
        help = f"write `{self._source.slice(argument.key.span)}: {meant}`"
        self._report.error("MSL089", self._source, value.span, message, "", help)
        return True

    def _searched_option(self, argument: ast.Argument, place: Place) -> None:
        """`swarm: 5..50`: options cannot be searched."""
        message = f"`{place.parameter}` of `{place.owner.name}` takes one value and cannot be searched"
        text = self._source.slice(_first_value(argument.value).span)
        span = argument.span if argument.key is not None else argument.value.span
        self._report.error("MSL140", self._source, span, message, "", f"write `{name_text(place.parameter)} = {text}`")

    def choice(self, declared: Node, written: ast.Choice, place: Place) -> Node | None:
        if written.ordered or any(isinstance(item, ast.Choice) and item.ordered for item in written.items):
            return Orders(self.declarer).choice(written, lambda item: self.open(declared, item, place), declared)
        items = list(written_alternatives(written))
        options = [self.open(declared, item, place) for item in items]
        sound = [option for option in options if option is not None]
        if len(sound) < len(options):
            return None
        self.declarer.repeated(sound, items)
        sound, ordered = in_declared_order(sound, declared)
        return self.declarer.of_alternatives(sound, written, ordered)

    def open(self, declared: Node, expression: ast.Expression, place: Place, closes: bool = False) -> Node | None:
        """One domain or alternative after `:`, or an element of a list; `closes` if it follows `=`."""
        match expression:
            case ast.Range():
                return self._structured.range(declared, expression, place)
            case ast.Bool():
                if isinstance(declared, Bool) or all(_holds(declared, flag) for flag in (False, True)):
                    return Bool()
                self._outside.other(expression, place, "`bool`", "bool")
                return None
            case ast.Vector():
                return self._structured.vector(declared, expression, place)
            case ast.AnyOf(role=role):
                return self._structured.any_of(declared, expression, role, place)
        return self.one(declared, expression, place, closes)

    def one(self, declared: Node, expression: ast.Expression, place: Place, closes: bool) -> Node | None:
        """One value or alternative within the declared domain; `closes` fixes the parameters of the alternative."""
        if used := parameters_in(expression, self.declarer.module):
            return ComputedValues(self.declarer.module, self._report).value(declared, expression, used, place)
        match expression:
            case ast.Path():
                return self._named(declared, expression, (), place, closes)
            case ast.Call() if expression.path.text == "regions" and options_of_kind(declared, Regions):
                return self.declarer.regions(expression)
            case ast.Call() if self._names_alternative(declared, expression.path):
                return self._named(declared, expression.path, expression.arguments, place, closes, called=expression)
            case ast.ListOf():
                return self._structured.list_of(declared, expression, place, closes)
            case ast.String(value=text) if (named := _called(declared, text)) is not None:
                if closes and not place.owner.closed and isinstance(named, Symbol | BlockUse):
                    return self._closed_alternative(named, (), expression, place)
                return named
            case ast.Sequence() | ast.Union() | ast.Optional() | ast.Choice() | ast.Default():
                self.declarer.not_a_value(expression)
                return None
        constant = self.declarer.literal(expression)
        return None if constant is None else self._constant(declared, constant, expression, place)

    def _constant(self, declared: Node, constant: Const, where: ast.Node, place: Place) -> Node | None:
        value = constant.value
        if place.owner.closed and isinstance(value, Formula):
            text = self._source.slice(where.span)
            message = f"`{text}` depends on the table, but an option must be a plain number"
            self._report.error("MSL140", self._source, where.span, message, "", "write a number")
            return None
        for option in alternatives(declared):
            if isinstance(option, Const) and _same(option.value, value):
                return option
            if isinstance(option, Bool) and isinstance(value, bool):
                return constant
            if isinstance(option, IntRange | RealRange) and (number := fitted(option, value)) is not None:
                return Const(number)
        self._outside.value(where, place, value)
        return None

    def _named(
        self,
        declared: Node,
        path: ast.Path,
        arguments: tuple[ast.Argument, ...],
        place: Place,
        closes: bool,
        called: ast.Call | None = None,
    ) -> Node | None:
        text = path.names[-1].text
        if len(path.names) > 1 and not self._is_from(path, place):
            return None
        option = _called(declared, text)
        if option is None and called is None and path.text in FACTS:
            return self._constant(declared, Const(Formula(path.text)), path, place)
        if option is None:
            self._unknown_alternative(declared, path, text, place)
            return None
        if called is not None and not self._is_bracketed(option, called):
            return None
        if isinstance(option, Const):
            if called is not None and arguments:
                message = f"`{text}` has no parameters"
                self._report.error("MSL096", self._source, called.span, message, "", f"write `{text}`")
                return None
            return option
        if closes and not place.owner.closed:
            return self._closed_alternative(option, arguments, called or path, place)
        inner = Owner(text, "parameter", closed=place.owner.closed)
        params = self.params(option.params, arguments, inner, path.span)
        if params is None or not self._complete(option, params, path, inner):
            return None
        return replace(option, params=params)

    def _is_bracketed(self, option: Const | Symbol | BlockUse, called: ast.Call) -> bool:
        """Whether the arguments of an alternative are in the brackets of its declaration."""
        own = isinstance(option, Symbol) and option.own
        if own == called.braces or (isinstance(option, Const) and not called.braces):
            return True
        text = self._source.slice(called.span)
        name = self._source.slice(called.path.span)
        inner = text[len(name) :].strip()[1:-1].strip()
        message = f"`{name}` is declared with its parameters in {'braces' if own else 'parentheses'}"
        if isinstance(option, Const):
            message = f"`{name}` has no parameters"
        written = (
            f"{name} {{ {inner} }}" if own else f"{name}({inner})" if isinstance(option, Symbol | BlockUse) else name
        )
        self._report.error("MSL191", self._source, called.span, message, "", f"write `{written}`")
        return False

    def _closed_alternative(
        self, option: Symbol | BlockUse, arguments: tuple[ast.Argument, ...], where: ast.Node, place: Place
    ) -> Node | None:
        """An alternative after `=`: only what its arguments open is open."""
        name = name_of(option)
        assert name is not None
        params = self.params(option.params, arguments, Owner(name, "parameter"), where.span, closes=True)
        if params is None:
            return None
        if self.notes:
            closed_silently(option, arguments, where, place, self.declarer.module, self._report)
        return replace(option, params=params)

    def _names_alternative(self, declared: Node, path: ast.Path) -> bool:
        """Whether a call is an alternative and not a function of numbers."""
        text = path.names[-1].text
        return _called(declared, text) is not None or (
            text not in FUNCTIONS and any(name_of(option) is not None for option in alternatives(declared))
        )

    def _is_from(self, path: ast.Path, place: Place) -> bool:
        """Whether `sbm.euclidean` is one of the alternatives, and from `sbm`; reported if not."""
        declaration = find(self.declarer.module, path, self._report, "a block")
        if declaration is None:
            return False
        origins = [o.block.key for o in alternatives(place.declared) if isinstance(o, BlockUse)]
        if (declaration.module.origin, declaration.name) in origins:
            return True
        self._unknown_alternative(place.declared, path, path.text, place)
        return False

    def _complete(self, option: Symbol | BlockUse, params: tuple[Param, ...], path: ast.Path, owner: Owner) -> bool:
        """Whether all numbers without a default are given, in the alternative of an option."""
        if not owner.closed or not isinstance(option, Symbol):
            return True
        missing = [p.name for p in params if isinstance(p.node, IntRange | RealRange) and not p.has_default]
        if missing:
            names = " and ".join(f"`{name}`" for name in missing)
            given = ", ".join(f"{name_text(p.name)} = …" for p in option.params if not p.has_default)
            message = f"`{owner.name}` needs {names}"
            self._report.error("MSL101", self._source, path.span, message, "", f"write `{owner.name}({given})`")
        return not missing

    def _unknown_alternative(self, declared: Node, path: ast.Path, text: str, place: Place) -> None:
        options = alternatives(declared)
        names = [name for option in options if (name := name_of(option)) is not None]
        numeric = bool(options_of_kind(declared, IntRange) or options_of_kind(declared, RealRange))
        close = did_you_mean(text, [*names, *FACTS] if numeric and not place.owner.closed else names)
        meant = value_meant(text)
        if meant is not None:
            help: str | None = f"write `{meant}`"
        elif text == "best" and numeric:
            help = f"to try all values and take the best write `{place.parameter}: best {_ends(declared)}`"
        elif place.parameter == "resource" and {"rows", "fidelity"} <= set(names):
            help = f"write `fidelity` if `fidelity {text}` follows the braces of the block, else `rows`"
        elif names and len(names) == len(options):
            help = close or f"it is one of {listing(names)}"
        else:
            help = close or f"it is {domain_in_words(declared)}"
        message = f"`{text}` is not a value of `{place.parameter}`"
        code = "MSL090" if meant is not None else "MSL100"
        self._report.error(code, self._source, path.span, message, "", help, place.owner.also(place.parameter))

    @property
    def _structured(self) -> StructuredNarrower:
        return StructuredNarrower(self.declarer, self)

    @property
    def _source(self) -> Source:
        return self.declarer.module.source

    @property
    def _report(self) -> Report:
        return self.declarer.report

    @property
    def _outside(self) -> Outside:
        return Outside(self._source, self._report)


def _ends(declared: Node) -> str:
    """The first range of a domain, as a use writes it."""
    node = next((o for o in alternatives(declared) if isinstance(o, IntRange | RealRange)), declared)
    from msl.space.to_text import node_to_text

    return node_to_text(node)


def _called(declared: Node, name: str) -> Const | Symbol | BlockUse | None:
    """The alternative of this name."""
    for option in alternatives(declared):
        if isinstance(option, Const) and option.value == name:
            return option
        if isinstance(option, Symbol) and option.name == name:
            return option
        if isinstance(option, BlockUse) and option.block.name == name:
            return option
    return None


def _holds(declared: Node, value: bool) -> bool:
    return any(isinstance(option, Const) and option.value is value for option in alternatives(declared))


def _takes_lists(declared: Node) -> bool:
    lists = (Vector, Sized, Regions, Listing)
    return any(
        isinstance(o, lists) or (isinstance(o, Const) and isinstance(o.value, tuple)) for o in alternatives(declared)
    )


def _same(declared: object, value: object) -> bool:
    """Equal, where 1 and 1.0 are the same number but true is not 1."""
    return isinstance(declared, bool) == isinstance(value, bool) and declared == value


def _first_value(expression: ast.Expression) -> ast.Expression:
    """The first of several values, as an example for the help."""
    match expression:
        case ast.Choice(items=items):
            return _first_value(items[0])
        case ast.Range(low=low):
            return low
    return expression
