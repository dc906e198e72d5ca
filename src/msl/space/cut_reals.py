"""Cut the range of a real where something changes that follows from it, such as `floor(20 * p)`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from msl.space.formulas import Formula, substituted
from msl.space.nodes import Computed, Node, RealRange, alternatives, bottom_up, bounds, follows_table
from msl.space.numbers import ends, tidy
from msl.space.values import Value


def pieces(
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
    """What a formula comes to; all that lies below a domain, or above it, is the same."""
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
