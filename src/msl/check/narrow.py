"""Narrow: the arguments of a use, each inside the domain that its declaration gives.

Names are looked up in that domain; `lo..hi` without a kind inherits kind, scale and step. To go outside, a user derives
a block, and the help shows the line to write.
"""

from __future__ import annotations

from dataclasses import field, replace

from msl.check.bounds import Bounds
from msl.check.declare import Declarer, choice, listing_of
from msl.check.report import Report
from msl.space.defaults import default_node, fit_default
from msl.space.formula import Amount, Formula, limits
from msl.space.node import (
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
    Symbol,
    Vector,
)
from msl.syntax import ast
from msl.text.diagnostic import Label
from msl.text.record import record
from msl.text.source import Source, Span
from msl.text.suggest import did_you_mean, listing

_FOREIGN_VALUES = {"True": "true", "False": "false", "None": "none", "yes": "true", "no": "false"}


@record
class Owner:
    """What the arguments belong to: how people call it, and where its parameters are declared."""

    name: str
    what: str
    declared: dict[str, Label] = field(default_factory=dict)

    def also(self, parameter: str) -> tuple[Label, ...]:
        return (self.declared[parameter],) if parameter in self.declared else ()


@record
class Narrower:
    """Reads the arguments of uses in one file."""

    declarer: Declarer

    def params(
        self, declared: tuple[Param, ...], arguments: tuple[ast.Argument, ...], owner: Owner, span: Span
    ) -> tuple[Param, ...] | None:
        """The parameters of one use: those given narrowed, the others as declared; None if an argument is wrong."""
        given = self._by_name(declared, arguments, owner)
        if given is None:
            return None
        closes_rest = self._closes_rest(arguments)
        params, sound = [], True
        for param in declared:
            argument = given.get(param.name)
            if argument is None:
                params.append(replace(param, node=default_node(param)) if closes_rest else param)
                continue
            node = self.argument(param, argument, owner)
            sound = sound and node is not None
            if node is not None:
                params.append(fit_default(replace(param, node=node)))
        return tuple(params) if sound else None

    def _by_name(
        self, declared: tuple[Param, ...], arguments: tuple[ast.Argument, ...], owner: Owner
    ) -> dict[str, ast.Argument] | None:
        names = [param.name for param in declared]
        given: dict[str, ast.Argument] = {}
        sound = True
        for position, argument in enumerate(arguments):
            if self._is_rest(argument):
                continue
            name = self._name(names, arguments, position, owner)
            if name is None:
                sound = False
            elif name in given:
                message = f"`{name}` is given twice"
                first = Label(self._source, given[name].span, "first given here")
                self._report.error("MSL092", self._source, argument.span, message, "again", "remove one", (first,))
                sound = False
            else:
                given[name] = argument
        return given if sound else None

    def _name(self, names: list[str], arguments: tuple[ast.Argument, ...], position: int, owner: Owner) -> str | None:
        argument = arguments[position]
        if argument.key is not None:
            name = argument.key.text
            if name in names:
                return name
            message = f"`{owner.name}` has no {owner.what} `{name}`"
            help = did_you_mean(name, names) or self._takes(owner, names)
            self._report.error("MSL096", self._source, argument.key.span, message, "", help)
            return None
        if self._thousands(arguments, position):
            return None
        if any(before.key is not None for before in arguments[:position]):
            text = self._source.slice(argument.span)
            message = f"`{text}` has no name, and stands after arguments that have one"
            self._report.error("MSL094", self._source, argument.span, message, "", f"write `name = {text}`")
            return None
        if position >= len(names):
            message = f"`{owner.name}` takes {len(names)} {owner.what}{'s' if len(names) != 1 else ''} at most"
            help = self._takes(owner, names)
            self._report.error("MSL097", self._source, argument.span, message, "one too many", help)
            return None
        return names[position]

    def _thousands(self, arguments: tuple[ast.Argument, ...], position: int) -> bool:
        """`5,000` is read as 5 and 000: the comma of a thousand."""
        if position == 0:
            return False
        before, argument = arguments[position - 1].value, arguments[position].value
        if not (isinstance(before, ast.Number) and isinstance(argument, ast.Number)):
            return False
        if len(argument.text) != 3 or not argument.text.isdigit() or argument.span.start - before.span.end != 1:
            return False
        span = before.span.to(argument.span)
        message = "a comma separates arguments, not thousands"
        self._report.error("MSL012", self._source, span, message, "", f"write `{before.text}_{argument.text}`")
        return True

    def _takes(self, owner: Owner, names: list[str]) -> str:
        return f"it takes {listing(names)}" if names else f"`{owner.name}` takes none"

    def _is_rest(self, argument: ast.Argument) -> bool:
        if argument.key is None or argument.key.text != "rest":
            return False
        if isinstance(argument.value, ast.Default) and not argument.opens:
            return True
        message = "`rest` only takes `default`"
        self._report.error("MSL098", self._source, argument.span, message, "", "write `rest = default`")
        return True

    @staticmethod
    def _closes_rest(arguments: tuple[ast.Argument, ...]) -> bool:
        return any(a.key is not None and a.key.text == "rest" and isinstance(a.value, ast.Default) for a in arguments)

    # --- one argument ---

    def argument(self, param: Param, argument: ast.Argument, owner: Owner) -> Node | None:
        """The node of one argument, inside the declared one."""
        if argument.default is not None or argument.condition is not None:
            span = (argument.default or argument.condition).span  # type: ignore[union-attr]
            message = "`default` and `if` stand in a declaration, not in a use"
            self._report.error("MSL098", self._source, span, message, "", "remove it")
            return None
        place = _Place(param.name, owner, param.node)
        if not argument.opens:
            if isinstance(argument.value, ast.Choice | ast.Range | ast.Bool | ast.AnyOf | ast.Vector):
                self.declarer.several_values(argument.value)
                return None
            return self._one(param.node, argument.value, place)
        match argument.value:
            case ast.Choice(items=items):
                options = [self._open(param.node, item, place) for item in items]
                if any(option is None for option in options):
                    return None
                return choice([option for option in options if option is not None])
            case ast.ListOf() as written if not _is_open(written):
                self.declarer.list_as_domain(written)
                return None
            case ast.Range() | ast.Bool() | ast.Vector() | ast.AnyOf() | ast.ListOf():
                return self._open(param.node, argument.value, place)
            case ast.Call() as call if call.path.text == "regions":
                return self._open(param.node, call, place)
        self.declarer.single_value(argument)
        return None

    def _open(self, declared: Node, expression: ast.Expression, place: _Place) -> Node | None:
        """One domain or alternative after `:`."""
        match expression:
            case ast.Range():
                return self._range(declared, expression, place)
            case ast.Bool():
                if isinstance(declared, Bool) or all(self._holds(declared, flag) for flag in (False, True)):
                    return Bool()
                return self._outside(expression, place, "yes or no")
            case ast.Vector():
                return self._vector(declared, expression, place)
            case ast.AnyOf(role=role):
                return self._any(declared, expression, role, place)
        return self._one(declared, expression, place)

    def _one(self, declared: Node, expression: ast.Expression, place: _Place) -> Node | None:
        """One value or one alternative, inside the declared domain."""
        match expression:
            case ast.Path():
                return self._named(declared, expression, (), place)
            case ast.Call() if expression.path.text == "regions" and _options_of(declared, Regions):
                return self.declarer.regions(expression)
            case ast.Call() if self._option(declared, expression.path.text) is not None:
                return self._named(declared, expression.path, expression.arguments, place, called=expression)
            case ast.ListOf():
                return self._list(declared, expression, place)
            case ast.String(value=text) if (option := self._option(declared, text)) is not None:
                return option
            case ast.Sequence() | ast.Union() | ast.Optional() | ast.Choice() | ast.Default():
                return self._outside(expression, place, "that")
        constant = self.declarer.literal(expression)
        return None if constant is None else self._constant(declared, constant, expression, place)

    def _constant(self, declared: Node, constant: Const, where: ast.Node, place: _Place) -> Node | None:
        value = constant.value
        for option in _options(declared):
            if isinstance(option, Const) and _same(option.value, value):
                return option
            if isinstance(option, Bool) and isinstance(value, bool):
                return constant
            if isinstance(option, IntRange | RealRange) and (fitted := _inside(option, value)) is not None:
                return Const(fitted)
        return self._outside(where, place, _shown(value))

    def _named(
        self,
        declared: Node,
        path: ast.Path,
        arguments: tuple[ast.Argument, ...],
        place: _Place,
        called: ast.Call | None = None,
    ) -> Node | None:
        text = path.names[-1].text if len(path.names) > 1 else path.text
        option = self._option(declared, text)
        if option is None and called is None and (amount := self._fact(path)) is not None:
            return self._constant(declared, Const(amount), path, place)
        if option is None:
            self._unknown_alternative(declared, path, text, place)
            return None
        if isinstance(option, Const):
            if called is not None and arguments:
                message = f"`{text}` has no parameters"
                self._report.error("MSL096", self._source, called.span, message, "", f"write `{text}`")
                return None
            return option
        assert isinstance(option, Symbol | BlockUse)
        inner = Owner(text, "parameter")
        params = self.params(option.params, arguments, inner, path.span)
        return None if params is None else replace(option, params=params)

    def _fact(self, path: ast.Path) -> Formula | None:
        return Formula(path.text) if path.text in ("n_features", "n_samples", "n_classes") else None

    def _option(self, declared: Node, name: str) -> Const | Symbol | BlockUse | None:
        for option in _options(declared):
            if isinstance(option, Const) and option.value == name:
                return option
            if isinstance(option, Symbol) and option.name == name:
                return option
            if isinstance(option, BlockUse) and option.block.name == name:
                return option
        return None

    def _holds(self, declared: Node, value: bool) -> bool:
        return any(isinstance(option, Const) and option.value is value for option in _options(declared))

    def _unknown_alternative(self, declared: Node, path: ast.Path, text: str, place: _Place) -> None:
        names = [name for option in _options(declared) if (name := _name_of(option)) is not None]
        if text in _FOREIGN_VALUES:
            help: str | None = f"write `{_FOREIGN_VALUES[text]}`"
        elif names:
            help = did_you_mean(text, names) or f"it is one of {listing(names)}"
        else:
            help = f"it is {_domain_in_words(declared)}"
        message = f"`{text}` is not a value of `{place.parameter}`"
        code = "MSL090" if text in _FOREIGN_VALUES else "MSL100"
        self._report.error(code, self._source, path.span, message, "", help, place.owner.also(place.parameter))

    def _range(self, declared: Node, written: ast.Range, place: _Place) -> Node | None:
        ranges = _options_of(declared, IntRange) + _options_of(declared, RealRange)
        if not ranges:
            numbers = [o.value for o in _options(declared) if isinstance(o, Const) and _is_number(o.value)]
            if numbers and written.kind != "real":
                return self._listed_numbers(declared, written, place)
            return self._outside(written, place, "a range")
        inherited = ranges[0]
        assert isinstance(inherited, IntRange | RealRange)
        node = self.declarer.range(written, inherited)
        if node is None:
            return None
        if isinstance(node, RealRange) and isinstance(inherited, IntRange):
            message = f"`{place.parameter}` takes whole numbers"
            also = place.owner.also(place.parameter)
            self._report.error("MSL086", self._source, written.span, message, "", "write `int`", also)
            return None
        if isinstance(node, IntRange) and isinstance(inherited, RealRange):
            node = RealRange(node.low, node.high, node.log, float(node.step))
        for amount, end in ((node.low, written.low), (node.high, written.high)):
            if not _may_lie_inside(amount, inherited):
                self._outside(end, place, _shown(amount), written)
                return None
        return node

    def _listed_numbers(self, declared: Node, written: ast.Range, place: _Place) -> Node | None:
        """A range over alternatives that are numbers: those of them inside it."""
        bounds = Bounds(self.declarer.module, self._report)
        low, high = bounds.amount(written.low), bounds.amount(written.high)
        if low is None or high is None or isinstance(low, Formula) or isinstance(high, Formula):
            return None if low is None or high is None else self._outside(written, place, "a formula")
        inside = [
            o
            for o in _options(declared)
            if isinstance(o, Const) and _is_number(o.value) and low <= o.value <= high  # type: ignore[operator]
        ]
        return choice(list(inside)) if inside else self._outside(written, place, "a range without any of its values")

    def _vector(self, declared: Node, written: ast.Vector, place: _Place) -> Node | None:
        vectors = _options_of(declared, Vector)
        if not vectors:
            return self._outside(written, place, "a vector")
        mother = vectors[0]
        assert isinstance(mother, Vector)
        size = Bounds(self.declarer.module, self._report).amount(written.size)
        element = self._open(mother.element, written.element, place)
        if size is None or element is None:
            return None
        if size != mother.size:
            return self._outside(written.size, place, f"a vector of size {size}")
        if not isinstance(element, IntRange | RealRange | Bool):
            return self._outside(written.element, place, "that element")
        return Vector(size, element)

    def _any(self, declared: Node, where: ast.AnyOf, role: ast.Path, place: _Place) -> Node | None:
        of_role = [o for o in _options(declared) if isinstance(o, BlockUse) and o.block.role == role.names[-1].text]
        if not of_role:
            return self._outside(where, place, f"any {role.text}")
        return choice(list(of_role))

    def _list(self, declared: Node, written: ast.ListOf, place: _Place) -> Node | None:
        """A list in brackets: the value of a vector, of regions, or one of the declared lists."""
        for mother in _options(declared):
            if isinstance(mother, Vector):
                return self._elements(written, mother.element, mother.size, place)
            if isinstance(mother, Regions):
                return self._points(written, mother, place)
            if isinstance(mother, Listing) and len(mother.elements) == len(written.items):
                pairs = zip(mother.elements, written.items, strict=True)
                elements = [self._open(inner, item, place) for inner, item in pairs]
                if any(element is None for element in elements):
                    return None
                return listing_of([element for element in elements if element is not None])
        node = self.declarer.listing(written.items, written)
        if not isinstance(node, Const):
            return None if node is None else self._outside(written, place, "an open list")
        if any(isinstance(option, Const) and option.value == node.value for option in _options(declared)):
            return node
        return self._outside(written, place, "this list")

    def _elements(self, written: ast.ListOf, element: Node, size: Amount, place: _Place) -> Node | None:
        if isinstance(size, int) and size != len(written.items):
            return self._outside(written, place, f"a list of {len(written.items)}, where {size} are wanted,")
        nodes = [self._one(element, item, place) for item in written.items]
        if any(node is None for node in nodes):
            return None
        return listing_of([node for node in nodes if node is not None])

    def _points(self, written: ast.ListOf, mother: Regions, place: _Place) -> Node | None:
        """Regions written out: a list of numbers for a unit that is on, `none` for one that is off."""
        points: list[Node] = []
        for item in written.items:
            if isinstance(item, ast.Nothing):
                points.append(Const(None))
                continue
            if not isinstance(item, ast.ListOf):
                return self._outside(item, place, "this point")
            point = self._elements(item, RealRange(0, 1), mother.width, place)
            if point is None:
                return None
            points.append(point)
        return listing_of(points)

    # --- what to say ---

    def _outside(self, where: ast.Node, place: _Place, what: str, written: ast.Node | None = None) -> None:
        """Outside the declared domain: what it is, and how to derive a block that goes there."""
        parameter, owner = place.parameter, place.owner
        if isinstance(place.declared, Const):
            message = f"`{parameter}` of `{owner.name}` is fixed to {_shown(place.declared.value)}"
        else:
            message = f"{what} is outside what `{owner.name}` declares for `{parameter}`"
        domain = self._source.slice((written or where).span)
        if not isinstance(written or where, ast.Range | ast.Choice):
            domain = f"… | {domain}"
        derived = f"block my_{owner.name} = {owner.name} {{ {parameter}: {domain} }}"
        help = f"it is {_domain_in_words(place.declared)}"
        if owner.what == "parameter" and owner.declared:
            help += f"; to go outside, derive a block: `{derived}`"
        self._report.error("MSL091", self._source, where.span, message, "", help, owner.also(parameter))

    @property
    def _source(self) -> Source:
        return self.declarer.module.source

    @property
    def _report(self) -> Report:
        return self.declarer.report


@record
class _Place:
    """Which parameter of what is being given, and what it is declared as."""

    parameter: str
    owner: Owner
    declared: Node


def _options(declared: Node) -> tuple[Node, ...]:
    return declared.options if isinstance(declared, Choice) else (declared,)


def _options_of(declared: Node, kind: type) -> list[Node]:
    return [option for option in _options(declared) if isinstance(option, kind)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(declared: object, value: object) -> bool:
    """Equal, where 1 and 1.0 are the same number but true is not 1."""
    return isinstance(declared, bool) == isinstance(value, bool) and declared == value


def _inside(declared: IntRange | RealRange, value: object) -> int | float | Formula | None:
    """The value in the declared kind if it may lie in the range, else None."""
    if isinstance(value, Formula):
        return value if _may_lie_inside(value, declared) else None
    if not isinstance(value, int | float) or isinstance(value, bool) or not _may_lie_inside(value, declared):
        return None
    if isinstance(declared, RealRange):
        return float(value)
    if value != int(value):
        return None
    on_grid = not isinstance(declared.low, int) or (int(value) - declared.low) % declared.step == 0
    return int(value) if on_grid else None


def _may_lie_inside(amount: Amount, declared: IntRange | RealRange) -> bool:
    """Whether some table puts the amount inside the range: ends that follow the table count as far as they can go."""
    low, high = limits(amount)
    return high >= limits(declared.low)[0] and low <= limits(declared.high)[1]


def _is_open(written: ast.ListOf) -> bool:
    return any(isinstance(item, ast.Range | ast.Bool | ast.Choice | ast.AnyOf | ast.Vector) for item in written.items)


def _name_of(option: Node) -> str | None:
    match option:
        case Const(value=str(name)) | Symbol(name=name):
            return name
        case BlockUse(block=block):
            return block.name
        case Const(value=None):
            return "none"
    return None


def _shown(value: object) -> str:
    match value:
        case None:
            return "`none`"
        case bool():
            return f"`{str(value).lower()}`"
        case tuple():
            return "a list"
    return f"`{value}`"


def _domain_in_words(declared: Node) -> str:
    match declared:
        case IntRange(low=low, high=high, step=step):
            return f"a whole number in {low}..{high}" + (f", step {step}" if step != 1 else "")
        case RealRange(low=low, high=high):
            return f"a number in {low}..{high}"
        case Bool():
            return "`true` or `false`"
        case Vector(size=size):
            return f"a vector of {size}"
        case Regions():
            return "`regions(n)`, or the points themselves"
        case Choice(options=options):
            words = [_domain_in_words(o) if _name_of(o) is None else f"`{_name_of(o)}`" for o in options[:12]]
            return ", ".join(words[:-1]) + f" or {words[-1]}" + (" …" if len(options) > 12 else "")
        case Const(value=value):
            return _shown(value)
    return "another kind of value"
