"""Which numbers a range with known ends holds, and the decimal grid that open reals are rounded to.

A real in a model has at most twelve digits that matter: of the range where the scale is linear, of the number itself
where it is logarithmic. So a model prints short and reads back as itself, and between a model and its vector nothing
is lost to the last bit, which the plain inverse of a logarithm would not give.
"""

from __future__ import annotations

import math

from msl.diagnostics.user_error import UserError
from msl.space.formulas import Amount, Formula
from msl.space.nodes import Bool, IntRange, Node, RealRange, Vector

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
    """How many values a domain has, an open real being one; None for what is no range."""
    match node:
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
