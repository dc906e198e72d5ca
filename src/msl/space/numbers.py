"""Which numbers a range holds, how large they may be, and the decimal grid that open reals are rounded to.

A real in a model has at most twelve digits that matter: of the range where the scale is linear, of the number itself
where it is logarithmic. So a model prints short and reads back as itself, and between a model and its vector nothing
is lost to the last bit, which the plain inverse of a logarithm would not give.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from msl.diagnostics.user_error import UserError
from msl.space.formulas import Amount, Formula, substituted
from msl.space.nodes import (
    Bool,
    Computed,
    IntRange,
    Node,
    RealRange,
    Regions,
    Vector,
    alternatives,
    bottom_up,
    bounds,
    follows_table,
)
from msl.space.values import Value

#: How many decimal digits of a real matter.
DIGITS = 12
#: How many a double always holds.
_MOST_DIGITS = 15
#: By how much of a step the last value of a stepped range may miss the high end, being a decimal fraction.
_SLACK = 1e-9


def known(amount: Amount) -> int | float:
    """An amount that no longer depends on a table."""
    if isinstance(amount, Formula):
        raise UserError(f"`{amount}` depends on the table: resolve the space against one first")
    return amount


def whole_numbers(node: IntRange) -> range:
    """The numbers of a range of integers."""
    return range(math.ceil(known(node.low)), math.floor(known(node.high)) + 1, node.step)


def ends(node: RealRange) -> tuple[float, float]:
    """The low and the high end of a range of reals."""
    return float(known(node.low)), float(known(node.high))


def level_count(node: RealRange) -> int | None:
    """How many values a range of reals has, None where it is open."""
    low, high = ends(node)
    if low == high:
        return 1
    if node.step is None:
        return None
    steps = (high - low) / node.step
    return 1 + math.floor(steps + _SLACK * max(1.0, steps))


def value_count(node: Node) -> int | None:
    """How many values a domain has; an open real counts as one. None for what is no range."""
    match node:
        case Computed():
            return 1
        case IntRange():
            return len(whole_numbers(node))
        case RealRange():
            return level_count(node) or 1
        case Bool():
            return 2
        case Vector(size=size, element=element):
            each = value_count(element)
            return 1 if each is None else int(each ** int(known(size)))
    return None


def level_value(node: RealRange, level: int) -> float:
    """The value that is `level` steps above the low end."""
    low, _ = ends(node)
    if node.step is None:
        return low
    value, places = low + level * node.step, decimals(node)
    return value if node.step < 10.0**-places else rounded(value, places) + 0.0


def decimals(node: RealRange) -> int:
    """How many places after the point a real of a linear range keeps; negative rounds to tens, hundreds, …"""
    low, high = ends(node)
    size, width = max(abs(low), abs(high)), high - low
    if width <= 0:
        return _MOST_DIGITS
    return min(DIGITS - math.ceil(math.log10(width)), _MOST_DIGITS - math.ceil(math.log10(size)))


def rounded(value: float, places: int) -> float:
    """To so many places after the point, as the double nearest to that decimal number."""
    power = 10.0 ** abs(places)
    return round(value * power) / power if places >= 0 else round(value / power) * power


def tidy(node: RealRange, value: float) -> float:
    """The number of the grid nearest to a value of an open range; its ends stay what they are."""
    low, high = ends(node)
    if low < value < high:
        value = float(f"{value:.{DIGITS - 1}e}") if node.log else rounded(value, decimals(node))
    return min(max(value, low), high) + 0.0


def evenly_spaced(node: RealRange, count: int) -> list[float]:
    """`count` values from the low end to the high end, evenly on the scale of the range; the middle where it is one."""
    low, high = ends(node)
    if low == high:
        return [low]
    shares = [0.5] if count == 1 else [i / (count - 1) for i in range(count)]
    return list(dict.fromkeys(tidy(node, between(node, share)) for share in shares))


def between(node: RealRange, share: float) -> float:
    """The value at a share of the way from the low end to the high end, on the scale of the range."""
    low, high = ends(node)
    if node.log:
        return math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    return low + share * (high - low)


# --- The largest numbers, lists and vectors ---------------------------------------------------------------------------


#: More levels than this and a double in [0, 1] no longer tells them apart.
MOST_LEVELS = 2**48
#: The same for whole numbers on a logarithmic scale, whose bins at the high end are narrower.
MOST_LOG = 2**40
#: Whole numbers up to here are exact as doubles.
LARGEST_WHOLE = 2**53
#: Reals, 0 apart, have a size between these: there is room on both sides to multiply, divide and round.
SMALLEST_REAL, LARGEST_REAL = 1e-250, 1e250
#: Elements of one list or vector; a model is printed with all of them.
MOST_ELEMENTS = 100_000
#: Elements of a list of which some are open.
MOST_OPEN_ELEMENTS = 1_000
#: Alternatives of one parameter.
MOST_ALTERNATIVES = 20_000


def excess(node: Node) -> str | None:
    """What is too much about a domain whose bounds are known, in words; None where nothing is, or a table decides."""
    match node:
        case IntRange() | RealRange():
            return _excess_of_range(node)
        case Vector(size=int() as size) if size > MOST_ELEMENTS:
            return f"a vector has at most {MOST_ELEMENTS:,} elements"
        case Vector(element=element):
            return excess(element)
        case Regions(count=int() as count, width=width):
            wide = 1 if isinstance(width, Formula) else width
            if count * (1 + wide) > MOST_ELEMENTS:
                return f"the points of `regions` have at most {MOST_ELEMENTS:,} numbers together"
    return None


def _excess_of_range(node: IntRange | RealRange) -> str | None:
    known = [end for end in (node.low, node.high) if not isinstance(end, Formula)]
    step = node.step
    if isinstance(node, IntRange):
        if any(abs(end) > LARGEST_WHOLE for end in known):
            return f"whole numbers of a range lie within ±{LARGEST_WHOLE:,}"
        if node.log and any(end > MOST_LOG for end in known):
            return f"whole numbers with `log` go up to {MOST_LOG:,}"
    else:
        sizes = [*known, *([] if step is None else [step])]
        if any(size != 0 and not SMALLEST_REAL <= abs(size) <= LARGEST_REAL for size in sizes):
            return f"reals of a range are 0, or have a size between {SMALLEST_REAL:g} and {LARGEST_REAL:g}"
    if step is None or len(known) < 2:
        return None
    return _levels((known[1] - known[0]) / step)


def _levels(steps: float) -> str | None:
    if math.isfinite(steps) and steps < MOST_LEVELS:
        return None
    return f"a range has at most {MOST_LEVELS:,} values"


# --- Pieces of a range on which formulas are constant -----------------------------------------------------------------


def constant_pieces(
    domain: RealRange, name: str, computed: list[Computed], known: Mapping[str, Value], most: int
) -> Iterator[float]:
    """One value for each piece of a range on which all formulas, which rise or fall throughout, are constant.

    One more than `most` where there are more.
    """
    hulls = [_hull(node.within) for node in computed]

    def seen(value: float) -> tuple[object, ...]:
        values = {**known, name: value}
        return tuple(_outcome(node.formula, values, hull) for node, hull in zip(computed, hulls, strict=True))

    low, high = ends(domain)
    waiting = [(low, seen(low), high, seen(high))]
    if any(_is_farther(one, other, most) for one, other in zip(waiting[0][1], waiting[0][3], strict=True)):
        grid = {seen(point): point for point in (low + (high - low) * i / (2 * most) for i in range(2 * most))}
        if len(grid) > most:
            yield from grid.values()
            return
    yield low
    count = 1
    while waiting and count <= most:
        low, at_low, high, at_high = waiting.pop()
        if at_low == at_high:
            continue
        middle = tidy(domain, math.sqrt(low * high) if domain.log else (low + high) / 2)
        if not low < middle < high:
            count += 1
            yield high
            continue
        at_middle = seen(middle)
        waiting.append((middle, at_middle, high, at_high))
        waiting.append((low, at_low, middle, at_middle))


def _is_farther(one: object, other: object, distance: int) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float) and abs(one - other) > distance


def _outcome(formula: Formula, values: Mapping[str, Value | float], hull: tuple[float, float]) -> object:
    """The value of a formula; all values below a domain count as the same, and so do all above it."""
    try:
        amount = substituted(formula, values)
    except (ArithmeticError, ValueError):
        return None
    if isinstance(amount, Formula) or hull[0] <= amount <= hull[1]:
        return amount
    return math.copysign(math.inf, amount - hull[0])


def _hull(within: Node) -> tuple[float, float]:
    """The least and the largest number of a domain; infinite where they depend on a table."""
    found = [limit for option in alternatives(within) for limit in bounds(option) or ()]
    if any(map(follows_table, bottom_up(within))) or not found:
        return -math.inf, math.inf
    return min(found), max(found)  # type: ignore[type-var,return-value]
