"""Read the domains that the declaration of a block gives to its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar

from msl.check.domains.alternatives import Orders, called_twice, choice, identity, written_alternatives
from msl.check.domains.arguments import cut_number, listed_alternatives
from msl.check.domains.number_ranges import Bounds, Priors, Ranges
from msl.check.domains.vector_lengths import Lengths, names_parameter
from msl.check.names.library import Module
from msl.check.names.names_of_other_tools import domain_meant, value_meant
from msl.diagnostics.diagnostic import Label, Report
from msl.language import ast
from msl.record import record
from msl.space.conditions import Condition
from msl.space.defaults import default_node, is_closed
from msl.space.formulas import Amount, Formula
from msl.space.nodes import (
    BlockUse,
    Bool,
    Choice,
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
from msl.space.numbers import MOST_ALTERNATIVES, MOST_ELEMENTS, MOST_OPEN_ELEMENTS, excess

D = TypeVar("D", Vector, Regions)


class Context(Protocol):
    """What domains need from the rest of the check."""

    def blocks_of_role(self, module: Module, role: ast.Path) -> tuple[Node, ...] | None: ...

    def blocks_meant(self, module: Module, items: list[ast.Expression]) -> dict[int, BlockUse]: ...

    def sibling_condition(
        self, module: Module, condition: ast.Condition, siblings: tuple[Param, ...]
    ) -> Condition | None: ...

    def learner_space(self, module: Module, written: ast.Expression, closes: bool, where: str) -> Node | None: ...


@record
class Declarer:
    """Reads the domains of one file's declarations; what is wrong is reported and returned as None."""

    module: Module
    report: Report
    context: Context

    def params(self, arguments: tuple[ast.Argument, ...], owner: str) -> tuple[Param, ...]:
        """The fields of a declaration, or the parameters of an alternative; broken ones are left out."""
        params: list[Param] = []
        seen: dict[str, ast.Argument] = {}
        for position, argument in enumerate(arguments):
            if argument.key is None:
                source = self.module.source
                if not cut_number(arguments, position, source, self.report) and not listed_alternatives(
                    arguments, position, source, self.report
                ):
                    self.unnamed(argument)
                continue
            name = argument.key.text
            if position + 1 < len(arguments) and listed_alternatives(
                arguments, position + 1, self.module.source, Report()
            ):
                continue  # reported with the next
            if not self._may_be_called(argument.key):
                continue
            if name in seen:
                message = f"`{name}` is declared twice in `{owner}`"
                first = Label(self.module.source, seen[name].span, "first declared here")
                span = argument.key.span
                self.report.error("MSL092", self.module.source, span, message, "again", "remove one of them", (first,))
                continue
            seen[name] = argument
            if (param := self.param(argument, tuple(params))) is not None:
                params.append(param)
        return tuple(params)

    def unnamed(self, argument: ast.Argument) -> None:
        """A field that is a domain without a name, or a name without a domain."""
        text = self.module.source.slice(argument.span)
        if isinstance(argument.value, ast.Path) and len(argument.value.names) == 1:
            message = f"`{text}` has no domain: a declaration lists parameters as `name: domain` or `name = value`"
            self._error("MSL094", argument, message, f"write `{text}: int 1..10`, or another domain")
            return
        message = f"`{text}` has no name: a declaration lists parameters as `name: domain` or `name = value`"
        self._error("MSL094", argument, message, f"write `name: {text}`")

    def _may_be_called(self, name: ast.Name) -> bool:
        if name.text == "":
            self._error("MSL094", name, "a parameter needs a name", "write the name of the parameter in the class")
        elif name.text == "rest":
            message = "`rest` is built into the language: `rest = default` closes what is not mentioned"
            self._error("MSL028", name, message, "leave it out: the class keeps its own default")
        return name.text not in ("", "rest")

    def param(self, argument: ast.Argument, siblings: tuple[Param, ...]) -> Param | None:
        assert argument.key is not None
        takes = taken_role(argument)
        value = argument.value
        if takes == "learner" and isinstance(argument.default, ast.Nothing):
            node: Node | None = Const(None)  # what `any learner` stands for is decided where the block is used
        elif argument.opens and isinstance(value, ast.Vector) and names_parameter(value.size):
            node = self._sized(value, argument.key.text, siblings)
        else:
            node = self.opened(argument) if argument.opens else self.closed(argument)
        if node is None:
            return None
        condition = None
        if argument.condition is not None:
            condition = self.context.sibling_condition(self.module, argument.condition, siblings)
        best = argument.best is not None and self.tries(argument, node)
        return Param(argument.key.text, node, condition=condition, takes=takes, best=best)

    def tries(self, argument: ast.Argument, node: Node) -> bool:
        """Whether all values of a domain can be tried, as `best` says."""
        from msl.space.best import takes_numbers

        assert argument.key is not None
        assert argument.best is not None
        if takes_numbers(node):
            return True
        text = self.module.source.slice(argument.value.span)
        message = (
            f"`best` tries the values of a range or of a choice between numbers, and `{shortened(text)}` is neither"
        )
        help = "remove it: the search then chooses the value"
        self.report.error("MSL286", self.module.source, argument.best.span, message, "", help)
        return False

    def opened(self, argument: ast.Argument) -> Node | None:
        """The domain after `:`."""
        value = argument.value
        match value:
            case ast.Choice():
                items = list(written_alternatives(value))
                if self._is_loose(items, value):
                    return None
                if value.ordered or any(isinstance(item, ast.Choice) and item.ordered for item in value.items):
                    return Orders(self).choice(value, self.option)
                blocks = self.context.blocks_meant(self.module, items)
                options = [blocks.get(id(item)) or self.option(item) for item in items]
                sound = [option for option in options if option is not None]
                if len(sound) < len(options):
                    return None
                self.repeated(sound, items)
                return self.of_alternatives(sound, value)
            case ast.ListOf() if not has_open(value):
                self.list_as_domain(value)
                return None
            case ast.Range() | ast.Bool() | ast.Vector() | ast.AnyOf() | ast.ListOf():
                return self.option(value)
            case ast.Call() if value.path.text == "regions" or value.braces:
                return self.option(value)
            case ast.Sequence() | ast.Union() | ast.Optional() | ast.Default():
                self.not_a_value(value)
                return None
        block = self.context.blocks_meant(self.module, [value]).get(id(value))
        if block is not None and not is_closed(block):
            return block
        self.single_value(argument)
        return None

    def _is_loose(self, items: list[ast.Expression], whole: ast.Choice) -> bool:
        """Whether `vector(n) of a | b` lacks the parentheses that make its elements alternatives; reported."""
        first = items[0]
        if not isinstance(first, ast.Vector) or isinstance(first.element, ast.Range | ast.Bool):
            return False
        if not names_parameter(first.size) and not isinstance(first.size, ast.Number):
            return False
        text = self.module.source.slice(whole.span)
        start = first.element.span.start - whole.span.start
        help = f"write `{text[:start]}({shortened(text[start:])})`"
        sign = "<" if whole.ordered else "|"
        self._error("MSL188", whole, f"`{sign}` ends the vector: only its first alternative is in it", help)
        return True

    def of_alternatives(self, options: list[Node], where: ast.Choice, ordered: bool = False) -> Node | None:
        """The alternatives as one domain, unless there are too many."""
        weights = Priors(self.module, self.report).weights(where)
        if weights is None:
            return None
        node = choice(options, weights, ordered)
        if isinstance(node, Choice) and len(node.options) > MOST_ALTERNATIVES:
            message = f"a parameter has at most {MOST_ALTERNATIVES:,} alternatives, but these are {len(node.options):,}"
            self._error("MSL017", where, message, "write a range, or fewer alternatives")
            return None
        if (twice := called_twice(node)) is not None:
            if any(isinstance(option, Symbol) and option.own for option in alternatives(node)):
                message = f"two of these alternatives are called `{twice}`, and only one has its parameters in braces"
                self._error("MSL193", where, message, f"write `{twice} {{ … }}` once, with all its parameters")
                return None
            message = f"two of these alternatives are called `{twice}`, and one of them is a block"
            self._error("MSL103", where, message, "derive a block with another name, or keep one of them")
            return None
        return node

    def repeated(self, options: list[Node], items: list[ast.Expression]) -> None:
        """Warn of alternatives that are listed twice."""
        first: dict[object, ast.Expression] = {}
        for option, item in zip(options, items, strict=True):
            before = first.setdefault(identity(option), item)
            if before is not item:
                label = f"the same as `{shortened(self.module.source.slice(before.span))}`"
                message = "this alternative is listed already"
                self.report.warning("MSL224", self.module.source, item.span, message, label, "remove it")

    def single_value(self, argument: ast.Argument) -> None:
        assert argument.key is not None
        source = self.module.source
        text, key = shortened(source.slice(argument.value.span)), source.slice(argument.key.span)
        help = f"write `{key} = {text}` to fix it, or give a range or alternatives"
        if (meant := domain_meant(argument.value, source)) is not None:
            help = f"for a domain write `{key}: {meant}`"
        match argument.value:
            case ast.Call(path=path, arguments=(ast.Argument(key=None, value=inner),)) if path.text == "best":
                help = f"write `{key}: best {source.slice(inner.span)}`, without parentheses"
            case ast.Path(names=(ast.Name(text="best"),)):
                help = f"write the domain after it, as in `{key}: best int 1..9`"
            case ast.Path() if key == "fidelity":
                help = f"the resource is named after the braces: `{{ … }} fidelity {text}`"
            case ast.Arithmetic(operators=("*",), operands=(ast.ListOf(items=(item,)), size)):
                help = f"write `{key}: vector({source.slice(size.span)}) of {source.slice(item.span)}`"
        message = f"`:` opens a dimension, but `{text}` is one value"
        span = argument.value.span if argument.best is None else argument.best.span.to(argument.value.span)
        self.report.error("MSL087", source, span, message, "nothing to search here", help)

    def list_as_domain(self, value: ast.ListOf) -> None:
        items = " | ".join(self.module.source.slice(item.span) for item in value.items[:8])
        message = "a list in brackets is one value, not alternatives"
        help = f"write `{items}`" if value.items else "write alternatives with `|`"
        if len(value.items) == 2 and all(isinstance(item, ast.Number) for item in value.items):
            low, high = (self.module.source.slice(item.span) for item in value.items)
            help = f"for a range write `{low}..{high}`, for alternatives `{items}`"
        self._error("MSL088", value, message, help)

    def closed(self, argument: ast.Argument) -> Node | None:
        """What follows `=`: one value, whose alternative may have open parameters."""
        if isinstance(argument.value, ast.Choice | ast.Range | ast.Bool | ast.AnyOf | ast.Vector):
            self.several_values(argument)
            return None
        block = self.context.blocks_meant(self.module, [argument.value]).get(id(argument.value))
        return self.option(argument.value) if block is None else self._closed_block(block, argument.value)

    def _closed_block(self, block: BlockUse, written: ast.Expression) -> BlockUse:
        """A block after `=`: only what its arguments open is open."""
        given = (
            {argument.key.text for argument in written.arguments if argument.key}
            if isinstance(written, ast.Call)
            else ()
        )
        params = (p if p.name in given else replace(p, node=default_node(p)) for p in block.params)
        return replace(block, params=tuple(params))

    def several_values(self, argument: ast.Argument) -> None:
        source = self.module.source
        text = shortened(source.slice(argument.value.span))
        message = "`=` takes one value; `:` opens a dimension"
        name = source.slice(argument.key.span) if argument.key is not None else "name"
        self._error("MSL089", argument.value, message, f"write `{name}: {text}`")

    def option(self, expression: ast.Expression) -> Node | None:
        """One alternative, or one domain."""
        match expression:
            case ast.Range():
                return self.range(expression)
            case ast.Bool():
                return Bool()
            case ast.Vector():
                return self.vector(expression)
            case ast.AnyOf(role=role):
                options = self.context.blocks_of_role(self.module, role)
                return None if options is None else choice(list(options))
            case ast.Call() if expression.path.text == "regions":
                return self.regions(expression)
            case ast.Call():
                if len(expression.path.names) > 1:
                    return self.not_a_value(expression)
                return self._alternative(expression)
            case ast.Path():
                return self.symbol(expression)
            case ast.ListOf(items=items):
                return self.listing(items, expression)
            case ast.Choice() | ast.Sequence() | ast.Union() | ast.Optional() | ast.Default():
                return self.not_a_value(expression)
        return self.literal(expression)

    def _alternative(self, call: ast.Call) -> Symbol | None:
        """A named alternative with its parameters, in parentheses or, with names of their own, in braces."""
        name = call.path.text
        if call.braces:
            named = next((a for a in call.arguments if a.key is not None and a.key.text == "name"), None)
            if named is not None:
                message = f"`name` tells the class which alternative it is: here `{name}`"
                self._error("MSL192", named, message, "give the parameter another name")
                return None
        return Symbol(name, self.params(call.arguments, name), call.braces)

    def literal(self, expression: ast.Expression) -> Const | None:
        """A number, string, boolean or `none`; a formula if it depends on the table."""
        match expression:
            case ast.String(value=text):
                return Const(text)
            case ast.Boolean(value=flag):
                return Const(flag)
            case ast.Nothing():
                return Const(None)
        amount = Bounds(self.module, self.report).amount(expression)
        return None if amount is None else Const(amount)

    def symbol(self, path: ast.Path) -> Const | None:
        if len(path.names) > 1:
            self.not_a_value(path)
            return None
        if (meant := value_meant(path.text, is_new=True)) is not None:
            message = f"`{path.text}` is a name here, not a value"
            self._error("MSL090", path, message, f"write `{meant}`")
            return None
        return Const(path.text)

    def listing(self, items: tuple[ast.Expression, ...], whole: ast.Expression) -> Node | None:
        if len(items) > MOST_ELEMENTS:
            self._error("MSL017", whole, f"a list has at most {MOST_ELEMENTS:,} elements", "search a smaller one")
            return None
        elements = [self.option(item) for item in items]
        if any(element is None for element in elements):
            return None
        node = listing_of([element for element in elements if element is not None])
        if isinstance(node, Listing) and len(items) > MOST_OPEN_ELEMENTS:
            message = f"a list with open elements has at most {MOST_OPEN_ELEMENTS:,} of them"
            self._error("MSL017", whole, message, "write a vector, or search a smaller one")
            return None
        return node

    def regions(self, call: ast.Call) -> Regions | None:
        if len(call.arguments) != 1 or call.arguments[0].key is not None:
            self._error("MSL093", call, "`regions` takes one number, the number of regions", "write `regions(15)`")
            return None
        count = Bounds(self.module, self.report).amount(call.arguments[0].value)
        if count is None:
            return None
        if not isinstance(count, Formula) and (not isinstance(count, int) or count < 1):
            self._error("MSL086", call.arguments[0], "`regions` takes an integer from 1", "write `regions(15)`")
            return None
        return self._within_reason(Regions(count, Formula("n_features")), call)

    def vector(self, vector: ast.Vector) -> Vector | Listing | None:
        if names_parameter(vector.size):
            text = self.module.source.slice(vector.size.span)
            message = f"a vector of length `{text}` is all there is of a parameter, not an alternative or an element"
            self._error("MSL188", vector, message, "give it a parameter of its own, perhaps with `if`")
            return None
        size = Bounds(self.module, self.report).amount(vector.size)
        if not isinstance(vector.element, ast.Range | ast.Bool):
            return self._listed_vector(vector, size)
        element = self.option(vector.element)
        if size is None or element is None:
            return None
        if not isinstance(size, Formula) and (not isinstance(size, int) or size < 1):
            self._error("MSL086", vector.size, "the size of a vector is an integer from 1", "write `n_features`")
            return None
        assert isinstance(element, IntRange | RealRange | Bool)
        return self._within_reason(Vector(size, element), vector)

    def _listed_vector(self, vector: ast.Vector, size: Amount | None) -> Listing | None:
        """A vector of alternatives: as many elements as a number says."""
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= MOST_OPEN_ELEMENTS:
            message = "a vector over the table is `of bool`, or of numbers from a range"
            self._error("MSL095", vector, message, "write `vector(n_features) of real 0..1`")
            return None
        element = self._element(vector.element)
        return None if element is None else Listing((element,) * size)

    def _sized(self, vector: ast.Vector, owner: str, siblings: tuple[Param, ...]) -> Sized | None:
        """A vector whose length is a parameter before it."""
        length = Lengths(self.module.source, self.report).declared(vector.size, owner, siblings)
        element = self._element(vector.element)
        return None if length is None or element is None else Sized(length, element)

    def _element(self, written: ast.Expression) -> Node | None:
        """What each element of a vector may be: a range, alternatives or a list, with something to search."""
        argument = ast.Argument(ast.Name("name", span=written.span), True, written, span=written.span)
        alone = isinstance(written, ast.Call) and written.braces
        node = self.option(written) if alone else self.opened(argument)
        for option in () if node is None else alternatives(node):
            if isinstance(option, Symbol) and option.params and not option.own:
                text = shortened(self.module.source.slice(written.span))
                message = f"an element has nothing beside it: where would the parameters of `{option.name}` go?"
                self._error("MSL190", written, message, f"write them in braces: `{option.name} {{ … }}`, not `{text}`")
                return None
        return node

    def _within_reason(self, node: D, where: ast.Node) -> D | None:
        """The node, unless it exceeds the limits of the language."""
        too_much = excess(node)
        if too_much is not None:
            self._error("MSL017", where, f"this is too large: {too_much}", "search a smaller one")
        return None if too_much is not None else node

    def range(self, written: ast.Range, inherited: IntRange | RealRange | None = None) -> IntRange | RealRange | None:
        """A range; without a kind it inherits the kind, scale and step of the declared one."""
        return Ranges(self.module, self.report).range(written, inherited)

    def not_a_value(self, expression: ast.Expression) -> None:
        text = shortened(self.module.source.slice(expression.span))
        message = f"`{text}` is not a value of a parameter"
        help = "a parameter takes numbers, names, strings, `true`, `none`, lists"
        if isinstance(expression, ast.Optional):
            inner = shortened(self.module.source.slice(expression.item.span))
            help = f"for a parameter that may have no value write `none | {inner}`"
        if isinstance(expression, ast.Sequence | ast.Union):
            help = "declare it as `any learner`, and write the pipeline where the block is used"
        self._error("MSL093", expression, message, help)

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


def taken_role(argument: ast.Argument) -> str | None:
    """What a use may give besides what is listed: a learner for `any learner`, learners for a list of them."""
    items = argument.value.items if isinstance(argument.value, ast.Choice) else (argument.value,)
    if not argument.opens:
        return None
    if any(map(_is_any_learner, items)):
        return "learner"
    lists = [item.items for item in items if isinstance(item, ast.ListOf)]
    return "learners" if lists and all(_is_any_learner(each) for row in lists for each in row) else None


def _is_any_learner(item: ast.Expression) -> bool:
    return isinstance(item, ast.AnyOf) and item.role.names[-1].text == "learner"


def listing_of(elements: list[Node]) -> Node:
    """A list; a constant if nothing in it is open."""
    if all(isinstance(element, Const) and not isinstance(element.value, Formula) for element in elements):
        return Const(tuple(element.value for element in elements))  # type: ignore[union-attr,misc]
    return Listing(tuple(elements))


def shortened(text: str) -> str:
    """The start of a text, for a message."""
    return text if len(text) <= 40 else text[:37] + "…"


def has_open(value: ast.ListOf) -> bool:
    """Whether a list leaves an element open."""
    return any(isinstance(item, ast.Range | ast.Bool | ast.Choice | ast.AnyOf | ast.Vector) for item in value.items)
