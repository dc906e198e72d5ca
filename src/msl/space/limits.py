"""The largest numbers, lists and vectors that a space may have; larger ones could not be encoded, drawn or printed."""

from __future__ import annotations

import math

from msl.space.formulas import Formula
from msl.space.nodes import IntRange, Node, RealRange, Regions, Vector

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
