"""Outside: what to say of a value that a parameter does not take — what it takes, and how to derive a block."""

from __future__ import annotations

from dataclasses import field, replace

from msl.check.inside import fitted, is_number, is_on_grid, may_lie_inside, nearest, options_of, options_of_kind
from msl.check.report import Report
from msl.space.formula import Formula, limits
from msl.space.node import BlockUse, Bool, Choice, Const, IntRange, Node, RealRange, Regions, Symbol
from msl.syntax import ast
from msl.text.diagnostic import Label
from msl.text.record import record
from msl.text.source import Source

_LONGEST_DOMAIN = 90
_MOST_OPTIONS = 12


@record
class Owner:
    """What arguments belong to: how people call it, how the spec names it, and where its parameters are declared.

    What is `closed`, the options of a strategy and its like, is never searched.
    """

    name: str
    what: str
    declared: dict[str, Label] = field(default_factory=dict)
    called: str = ""
    closed: bool = False

    def also(self, parameter: str) -> tuple[Label, ...]:
        return (self.declared[parameter],) if parameter in self.declared else ()


@record
class Place:
    """Which parameter of what is being given, and what it is declared as."""

    parameter: str
    owner: Owner
    declared: Node
    is_element: bool = False


@record
class Outside:
    """Says that something is outside a declared domain."""

    source: Source
    report: Report

    def value(self, where: ast.Node, place: Place, value: object) -> None:
        """A value that is none of the declared ones."""
        ranges = [o for o in options_of(place.declared) if isinstance(o, IntRange | RealRange)]
        text = self.source.slice(where.span)
        if self._is_fixed(where, place, text):
            return
        if ranges and isinstance(value, str):
            self._another_kind(where, place, f"`{text}` is a text", _number_in_text(ranges, value))
        elif ranges and isinstance(value, bool):
            self._another_kind(where, place, f"`{text}` is yes or no")
        elif options_of_kind(place.declared, Bool) and is_number(value):
            flag = {0: "write `false`", 1: "write `true`"}.get(value)  # type: ignore[call-overload]
            self._another_kind(where, place, f"`{text}` is a number", flag)
        elif ranges and is_number(value) and self._between_steps(where, place, ranges[0], text, value):
            return
        else:
            message = f"`{text}` is outside what `{place.owner.name}` declares for `{place.parameter}`"
            self._error(where, place, message, _percent(ranges, value, text), self._widened(place, value, text))

    def range_end(self, end: ast.Node, place: Place, written: ast.Range) -> None:
        """An end of a range that goes beyond the declared ends."""
        message = (
            f"`{self.source.slice(end.span)}` is outside what `{place.owner.name}` declares for `{place.parameter}`"
        )
        self._error(end, place, message, None, self.source.slice(written.span))

    def steps(self, where: ast.Node, place: Place, declared: IntRange | RealRange, written: ast.Range) -> None:
        """A range with values between the declared steps."""
        message = f"`{place.parameter}` is declared in steps of {declared.step} from {declared.low}, and this is not"
        low, high = self.source.slice(written.low.span), self.source.slice(written.high.span)
        text = self.source.slice(written.span)
        if where is written:
            advice: str | None = f"write `{low}..{high}`, which keeps the step"
        else:
            number = float(low) if low.replace(".", "", 1).isdigit() else None
            advice = _close_values(declared, number) if number is not None else None
        self._error(where, place, message, advice, text if written.kind is not None else None)

    def other(self, where: ast.Node, place: Place, what: str, domain: str | None = None) -> None:
        """Something of another kind: a range where names are declared, a list of another length."""
        text = self.source.slice(where.span)
        if self._is_fixed(where, place, text):
            return
        message = f"{what} is outside what `{place.owner.name}` declares for `{place.parameter}`"
        self._error(where, place, message, None, domain)

    def _is_fixed(self, where: ast.Node, place: Place, text: str) -> bool:
        if not isinstance(place.declared, Const):
            return False
        message = f"`{place.parameter}` of `{place.owner.name}` is fixed to {_shown(place.declared.value)}"
        help = "leave it out"
        if self._derivable(place):
            sign = ":" if isinstance(where, ast.Range | ast.Choice) else " ="
            help += f", or derive a block: {self._derived(place, f'{place.parameter}{sign} {text}')}"
        self.report.error("MSL091", self.source, where.span, message, "", help, place.owner.also(place.parameter))
        return True

    def _another_kind(self, where: ast.Node, place: Place, what: str, advice: str | None = None) -> None:
        message = f"{what}, and `{place.parameter}` is {domain_in_words(place.declared)}"
        advice = advice or "give it one of its own values"
        self.report.error("MSL091", self.source, where.span, message, "", advice, place.owner.also(place.parameter))

    def _between_steps(self, where: ast.Node, place: Place, declared: Node, text: str, value: object) -> bool:
        """A number inside the ends and between the values: a half for whole numbers, or off the steps."""
        assert isinstance(declared, IntRange | RealRange)
        assert isinstance(value, int | float)
        whole = isinstance(declared, RealRange) or value == int(value)
        if not may_lie_inside(value, declared) or (whole and is_on_grid(value, declared)):
            return False
        if whole:
            message = f"`{text}` lies between the steps of `{place.parameter}`"
        else:
            message = f"`{text}` is not a whole number, and `{place.parameter}` takes whole numbers"
        self._error(where, place, message, _close_values(declared, value), None)
        return True

    def _error(self, where: ast.Node, place: Place, message: str, advice: str | None, domain: str | None) -> None:
        help = advice or f"it is {domain_in_words(place.declared)}"
        if domain is not None and self._derivable(place):
            help += f"; to go outside, derive a block: {self._derived(place, f'{place.parameter}: {domain}')}"
        self.report.error("MSL091", self.source, where.span, message, "", help, place.owner.also(place.parameter))

    def _derivable(self, place: Place) -> bool:
        return place.owner.what == "parameter" and bool(place.owner.declared) and not place.is_element

    def _derived(self, place: Place, field: str) -> str:
        return f"`block my_{place.owner.name} = {place.owner.called or place.owner.name} {{ {field} }}`"

    def _widened(self, place: Place, value: object, text: str) -> str:
        """The declared domain and the value, as a spec would write them."""
        from msl.space.spell import spell_node

        declared = place.declared
        if isinstance(declared, IntRange | RealRange) and isinstance(value, int | float) and _may_end(declared, value):
            low, high = limits(declared.low)[0], limits(declared.high)[1]
            low_end = value if value < low else declared.low
            high_end = value if value > high else declared.high
            return spell_node(replace(declared, low=low_end, high=high_end))
        spelt = spell_node(declared)
        return f"{spelt} | {text}" if len(spelt) <= _LONGEST_DOMAIN else f"… | {text}"


def domain_in_words(declared: Node) -> str:
    """What a parameter takes, for the end of a sentence."""
    match declared:
        case IntRange(low=low, high=high, step=step):
            return f"a whole number in {_end(low)}..{_end(high)}" + (f", step {step}" if step != 1 else "")
        case RealRange(low=low, high=high, step=real_step):
            steps = f", step {_end(real_step)}" if real_step is not None else ""
            return f"a number in {_end(low)}..{_end(high)}{steps}"
        case Bool():
            return "`true` or `false`"
        case Regions():
            return "`regions(n)`, or the points themselves"
        case Choice(options=options):
            words = [_option_in_words(option) for option in options[:_MOST_OPTIONS]]
            more = (
                f" or {len(options) - _MOST_OPTIONS} others" if len(options) > _MOST_OPTIONS else f" or {words.pop()}"
            )
            return ", ".join(words) + more
        case Const(value=value):
            return _shown(value)
    from msl.space.spell import spell_node

    return f"`{spell_node(declared, most=_LONGEST_DOMAIN)}`"


def name_of(option: Node) -> str | None:
    """The name by which a spec picks an alternative, if it has one."""
    match option:
        case Const(value=str(name)) | Symbol(name=name):
            return name
        case BlockUse(block=block):
            return block.name
        case Const(value=None):
            return "none"
    return None


def _option_in_words(option: Node) -> str:
    name = name_of(option)
    return domain_in_words(option) if name is None else f"`{name}`"


def _shown(value: object) -> str:
    match value:
        case None:
            return "`none`"
        case bool():
            return f"`{str(value).lower()}`"
        case tuple():
            return "a list"
    return f"`{value}`"


def _end(amount: object) -> str:
    from msl.space.spell_node import spell_amount

    return spell_amount(amount).removesuffix(".0")  # type: ignore[arg-type]


def _close_values(declared: IntRange | RealRange, value: float) -> str | None:
    close = " or ".join(f"`{x}`" for x in nearest(declared, value))
    return f"write {close}" if close else None


def _may_end(declared: IntRange | RealRange, value: float) -> bool:
    """Whether a range of this kind, scale and step could end with this number."""
    if isinstance(value, bool) or (declared.log and value <= 0):
        return False
    return (isinstance(declared, RealRange) or isinstance(value, int)) and is_on_grid(value, declared)


def _number_in_text(ranges: list[IntRange | RealRange], text: str) -> str | None:
    """`"0.5"` for 0.5."""
    try:
        number = float(text)
    except ValueError:
        return None
    return f"write `{text}`, without quotes" if any(fitted(r, number) is not None for r in ranges) else None


def _percent(ranges: list[IntRange | RealRange], value: object, text: str) -> str | None:
    """`30` for 30 percent."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 < value <= 100:
        return None
    shares = [r for r in ranges if isinstance(r, RealRange) and not isinstance(r.high, Formula) and r.high <= 1]
    if not shares or fitted(shares[0], value / 100) is None:
        return None
    return f"it is {domain_in_words(shares[0])}; for {text} percent write `{text}%`"
