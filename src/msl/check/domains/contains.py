"""Test whether a value or a range is in a declared domain, without knowing the table, and report if it is not."""

from __future__ import annotations

import math
from dataclasses import field, replace

from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.source import Source
from msl.language import ast
from msl.record import record
from msl.space.formulas import FACTS, Amount, Formula, limits
from msl.space.nodes import BlockUse, Bool, Choice, Const, IntRange, Node, RealRange, Regions, Symbol, alternatives
from msl.space.values import is_number

_SLACK = 1e-9  # of a step: decimal steps such as 0.1 have no exact binary value
_WHOLE_OPERATIONS = frozenset({"min", "max", "+", "-", "*"})


def options_of_kind(declared: Node, kind: type) -> list[Node]:
    return [option for option in alternatives(declared) if isinstance(option, kind)]


def may_lie_inside(amount: Amount, declared: IntRange | RealRange) -> bool:
    """Whether the amount is within the range for some table; formulas count with all values that they can have."""
    low, high = limits(amount)
    return high >= limits(declared.low)[0] and low <= limits(declared.high)[1]


def is_on_grid(amount: Amount, declared: IntRange | RealRange) -> bool:
    """Whether an amount is one of the steps of a range; true if it has none or if this depends on the table."""
    if isinstance(amount, Formula) or isinstance(declared.low, Formula):
        return True
    if isinstance(declared, IntRange):
        return (amount - declared.low) % declared.step == 0
    return declared.step is None or _is_whole((amount - declared.low) / declared.step)


def has_finer_step(narrowed: IntRange | RealRange, declared: IntRange | RealRange) -> bool:
    """Whether a range has values between the steps of the declared one."""
    if isinstance(declared, IntRange):
        return isinstance(narrowed, IntRange) and narrowed.step % declared.step != 0
    if declared.step is None:
        return False
    return narrowed.step is None or not _is_whole(narrowed.step / declared.step)


def fitted(declared: IntRange | RealRange, value: object) -> int | float | Formula | None:
    """The value, converted to the kind of the range, if it may be in the range; otherwise None."""
    if isinstance(value, Formula):
        if not may_lie_inside(value, declared):
            return None
        return value if isinstance(declared, RealRange) or _is_whole_formula(value) else Formula("floor", (value,))
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if not may_lie_inside(value, declared) or not is_on_grid(value, declared):
        return None
    if isinstance(declared, RealRange):
        return float(value)
    return int(value) if value == int(value) else None


def nearest(declared: IntRange | RealRange, value: float) -> list[int | float]:
    """The values of a range just below and above a value between them."""
    if isinstance(declared.low, Formula):
        return []
    step = declared.step or 1
    if not math.isfinite((value - declared.low) / step):
        return []
    below = declared.low + math.floor((value - declared.low) / step) * step
    tidy = [float(f"{x:.12g}") for x in (below, below + step)]
    found = [int(x) if isinstance(declared, IntRange) else x for x in tidy]
    return [x for x in found if may_lie_inside(x, declared)]


def _is_whole(steps: float) -> bool:
    return math.isfinite(steps) and abs(steps - round(steps)) <= _SLACK * max(1.0, abs(steps))


def _is_whole_formula(amount: Amount) -> bool:
    """Whether a formula has a whole value for every table."""
    if not isinstance(amount, Formula):
        return isinstance(amount, int)
    if amount.operation in FACTS or amount.operation in ("floor", "ceil"):
        return True
    if amount.operation == "^":
        base, exponent = amount.operands
        return _is_whole_formula(base) and isinstance(exponent, int) and exponent >= 0
    return amount.operation in _WHOLE_OPERATIONS and all(map(_is_whole_formula, amount.operands))


# --- reports: what the domain is, and how to derive a block with another ----------------------------------------------


_LONGEST_DOMAIN = 90
_MOST_OPTIONS = 12


@record
class Owner:
    """What arguments belong to: its name, what its arguments are called, and where they are declared.

    If it is `closed`, as strategies and estimates are, its options cannot be searched.
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
    """The parameter that is given, its owner, and its declared domain."""

    parameter: str
    owner: Owner
    declared: Node
    is_element: bool = False


@record
class Outside:
    """Reports what is outside a declared domain."""

    source: Source
    report: Report

    def value(self, where: ast.Node, place: Place, value: object) -> None:
        """A value outside the domain."""
        ranges = [o for o in alternatives(place.declared) if isinstance(o, IntRange | RealRange)]
        text = self.source.slice(where.span)
        if self._is_fixed(where, place, text):
            return
        if ranges and isinstance(value, str):
            self._another_kind(where, place, f"`{text}` is a string", _number_in_text(ranges, value))
        elif ranges and isinstance(value, bool):
            self._another_kind(where, place, f"`{text}` is a boolean")
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
        message = f"`{place.parameter}` has steps of {declared.step} from {declared.low}, and this range does not"
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
        message = f"{what}, but `{place.parameter}` is {domain_in_words(place.declared)}"
        advice = advice or "write one of its values"
        self.report.error("MSL091", self.source, where.span, message, "", advice, place.owner.also(place.parameter))

    def _between_steps(self, where: ast.Node, place: Place, declared: Node, text: str, value: object) -> bool:
        """A number within the ends that is not a value: a fraction for integers, or between the steps."""
        assert isinstance(declared, IntRange | RealRange)
        assert isinstance(value, int | float)
        whole = isinstance(declared, RealRange) or value == int(value)
        if not may_lie_inside(value, declared) or (whole and is_on_grid(value, declared)):
            return False
        if whole:
            message = f"`{text}` is between the steps of `{place.parameter}`"
        else:
            message = f"`{text}` is not an integer, but `{place.parameter}` takes integers"
        self._error(where, place, message, _close_values(declared, value), None)
        return True

    def _error(self, where: ast.Node, place: Place, message: str, advice: str | None, domain: str | None) -> None:
        help = advice or f"it is {domain_in_words(place.declared)}"
        if domain is not None and self._derivable(place):
            help += f"; for other values, derive a block: {self._derived(place, f'{place.parameter}: {domain}')}"
        self.report.error("MSL091", self.source, where.span, message, "", help, place.owner.also(place.parameter))

    def _derivable(self, place: Place) -> bool:
        return place.owner.what == "parameter" and bool(place.owner.declared) and not place.is_element

    def _derived(self, place: Place, field: str) -> str:
        return f"`block my_{place.owner.name} = {place.owner.called or place.owner.name} {{ {field} }}`"

    def _widened(self, place: Place, value: object, text: str) -> str:
        """The text of the declared domain with the value added."""
        from msl.space.to_text import node_to_text

        declared = place.declared
        if isinstance(declared, IntRange | RealRange) and isinstance(value, int | float) and _may_end(declared, value):
            low, high = limits(declared.low)[0], limits(declared.high)[1]
            low_end = value if value < low else declared.low
            high_end = value if value > high else declared.high
            return node_to_text(replace(declared, low=low_end, high=high_end))
        spelt = node_to_text(declared)
        return f"{spelt} | {text}" if len(spelt) <= _LONGEST_DOMAIN else f"… | {text}"


def domain_in_words(declared: Node) -> str:
    """The domain of a parameter, for the end of a sentence."""
    match declared:
        case IntRange(low=low, high=high, step=step):
            return f"an integer in {_end(low)}..{_end(high)}" + (f", step {step}" if step != 1 else "")
        case RealRange(low=low, high=high, step=real_step):
            steps = f", step {_end(real_step)}" if real_step is not None else ""
            return f"a number in {_end(low)}..{_end(high)}{steps}"
        case Bool():
            return "`true` or `false`"
        case Regions():
            return "`regions(n)`, or a list of points"
        case Choice(options=options):
            words = [_option_in_words(option) for option in options[:_MOST_OPTIONS]]
            more = (
                f" or {len(options) - _MOST_OPTIONS} others" if len(options) > _MOST_OPTIONS else f" or {words.pop()}"
            )
            return ", ".join(words) + more
        case Const(value=value):
            return _shown(value)
    from msl.space.to_text import node_to_text

    return f"`{node_to_text(declared, most=_LONGEST_DOMAIN)}`"


def name_of(option: Node) -> str | None:
    """The name of an alternative in a spec, if it has one."""
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
    from msl.space.names_to_text import amount_to_text

    return amount_to_text(amount).removesuffix(".0")  # type: ignore[arg-type]


def _close_values(declared: IntRange | RealRange, value: float) -> str | None:
    close = " or ".join(f"`{x}`" for x in nearest(declared, value))
    return f"write {close}" if close else None


def _may_end(declared: IntRange | RealRange, value: float) -> bool:
    """Whether a range of this kind, scale and step can end with this number."""
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
