"""Count: how large a space is — models, structures and structural codes — exactly, without listing them.

A space is a set, so a model that can be come by in two ways counts once. Requirements are honoured. Where telling
cases apart would take too long, the count says so and gives an interval instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from msl.space.cell import TooCostly
from msl.space.collector import paused_collector
from msl.space.derive import Deriver, NotInSpace
from msl.space.formula import Amount, Formula, limits
from msl.space.models import MOST_WORK, Models, accepted
from msl.space.node import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    IntRange,
    Listing,
    Marked,
    Node,
    Permute,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
    bottom_up,
    children,
    rebuilt,
    steps_up,
)
from msl.space.number import known, level_count, whole_numbers
from msl.space.share import share_interval
from msl.space.space import Space
from msl.space.value import Model

#: How many models are drawn where the share that meets the requirements is estimated, and how sure the interval is.
_DRAWS = 2_000
_CONFIDENCE = 0.99
#: Stands for no bound at all where a bound depends on the table.
_FAR = 10**15


@dataclass(frozen=True, slots=True)
class Interval:
    """Between these two, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Count:
    """The size of a space.

    `models` is None where there are infinitely many (a real is open) or the table decides; `reason` says which. A
    structure is which blocks in which order; blocks that are values of parameters do not count. Codes are the settings
    of the structural choices as they are encoded, requirements aside, so the same structure may have several.
    `open_reals` is the most reals that one model leaves open, None where the table decides that. Where `exact` is
    false, `models` or `structures` is an estimate, and its interval says how far off it may be.
    """

    models: int | None
    structures: int
    codes: int
    open_reals: int | None = 0
    exact: bool = True
    models_interval: Interval | None = None
    structures_interval: Interval | None = None
    reason: str = ""


@paused_collector()
def count(space: Space, work: int = MOST_WORK) -> Count:
    """The size of a space; without a table, as far as no table is needed. `work` bounds what exactness may cost."""
    follows_table = any(_follows_table(node) for node in bottom_up(space.root))
    has_open_size = any(_has_open_size(node) for node in bottom_up(space.root))
    if follows_table:
        space = Space(rebuilt(space.root, _widened), space.requirements, space.facts)
    structures, structures_interval, why = _structures(space, work)
    models, reals, interval = 0, 0, None
    if structures_interval is None:
        try:
            found = Models(space, work=work)
            models, reals = found.number, found.reals
        except TooCostly as reason:
            why = str(reason)
    if why:  # what tells structures apart also tells models apart, so it is not tried in vain
        models, reals, interval = _estimate(space, work)
    exact = not why
    open_reals = None if reals and has_open_size else reals
    codes = code_count(space.root)
    if reals or follows_table:
        why = why or (f"infinitely many: {_in_words(open_reals)}" if reals else "depends on the data")
        return Count(None, structures, codes, open_reals, exact, None, structures_interval, why)
    return Count(models, structures, codes, open_reals, exact, interval, structures_interval, why)


def _in_words(open_reals: int | None) -> str:
    if open_reals is None:
        return "reals are open, and how many depends on the data"
    return f"up to {open_reals} real{'s are' if open_reals > 1 else ' is'} open in one model"


# --- structures and codes -----------------------------------------------------------------------------


def _structures(space: Space, work: int) -> tuple[int, Interval | None, str]:
    """How many structures there are; where that is too costly, how many at most, an interval, and why."""
    try:
        cell = accepted(space, None, False, True, work)
        return (0 if cell is None else cell.weight), None, ""
    except TooCostly as reason:
        most = _most_structures(space, work)
        return most, Interval(0, most), str(reason)


def _most_structures(space: Space, work: int) -> int:
    """How many structures there are at most: those without requirements."""
    try:
        cell = accepted(space, None, True, True, work)
    except TooCostly:
        return code_count(space.root)
    return 0 if cell is None else cell.weight


def code_count(root: Node) -> int:
    """The settings of the structural choices of a space, those that are in use."""
    codes: dict[int, int] = {}
    for node in steps_up(root):
        below = [] if isinstance(node, BlockUse) else [codes[id(child)] for child in children(node)]
        codes[id(node)] = _ways(node, below)
    return codes[id(root)]


def _way_count(root: Node) -> int:
    """In how many ways a model can be put together: at least as many as there are models. An open real counts once."""
    ways: dict[int, int] = {}
    for node in bottom_up(root):
        ways[id(node)] = _ways(node, [ways[id(child)] for child in children(node)])
    return ways[id(root)]


def _ways(node: Node, below: list[int]) -> int:
    """In how many ways a node can be put together, given those of what it is made of."""
    match node:
        case Choice():
            return sum(below)
        case Sequence() | Union() | Marked() | BlockUse() | Symbol() | Listing():
            return math.prod(below)
        case Subset():
            return math.prod(1 + ways for ways in below)
        case Permute():
            return math.factorial(len(below)) * math.prod(below)
        case Arrange(low=low, high=high):
            return sum(math.factorial(size) * ways for size, ways in enumerate(_chosen(below)) if low <= size <= high)
        case Repeat(low=low, high=high):
            return sum(below[0] ** times for times in range(low, high + 1))
        case IntRange():
            return len(whole_numbers(node))
        case RealRange():
            return level_count(node) or 1
        case Bool():
            return 2
        case Vector(size=size, element=element):
            return int(_ways(element, []) ** int(known(size)))
    return 1


def _chosen(ways: list[int]) -> list[int]:
    """For each size, the ways to take so many members, whatever their order (elementary symmetric polynomials)."""
    sums = [1]
    for way in ways:
        sums = [old + way * before for old, before in zip([*sums, 0], [0, *sums], strict=True)]
    return sums


# --- estimates ----------------------------------------------------------------------------------------


def _estimate(space: Space, work: int) -> tuple[int, int, Interval]:
    """The number of models by drawing from those of the structure alone, with the open reals and an interval."""
    try:
        free = Models(space, free=True, work=work)
    except TooCostly:
        most = _way_count(space.root)
        return most, int(any(_is_open_real(node) for node in bottom_up(space.root))), Interval(0, most)
    if free.reals or not free.number:
        return free.number, free.reals, Interval(0, free.number)
    rng, deriver = Random(0), Deriver(space)
    hits = sum(_is_in(deriver, free.draw(rng)) for _ in range(_DRAWS))
    low, high = (Fraction(bound) * free.number for bound in share_interval(hits, _DRAWS, _CONFIDENCE))
    return free.number * hits // _DRAWS, 0, Interval(math.floor(low), math.ceil(high))


def _is_in(deriver: Deriver, model: Model) -> bool:
    try:
        deriver.derive(model)
    except NotInSpace:
        return False
    return True


# --- bounds that follow the table ---------------------------------------------------------------------


def _follows_table(node: Node) -> bool:
    match node:
        case IntRange(low=low, high=high) | RealRange(low=low, high=high):
            return isinstance(low, Formula) or isinstance(high, Formula)
        case Const(value=value):
            return isinstance(value, Formula)
        case Vector(size=size, element=element):
            return isinstance(size, Formula) or _follows_table(element)
        case Regions(count=count, width=width):
            return isinstance(count, Formula) or isinstance(width, Formula)
    return False


def _has_open_size(node: Node) -> bool:
    match node:
        case Vector(size=Formula()) | Regions(count=Formula()) | Regions(width=Formula()):
            return True
    return False


def _is_open_real(node: Node) -> bool:
    return isinstance(node, Regions) or (isinstance(node, RealRange) and level_count(node) is None)


def _widened(node: Node) -> Node:
    """A node with room for every table: what is possible for one of them must not be missed among structures."""
    match node:
        case IntRange(low=low, high=high):
            return replace(node, low=math.ceil(_least(low)), high=math.floor(_most(high)))
        case RealRange(low=low, high=high):
            return replace(node, low=_least(low), high=_most(high))
        case Vector(size=size, element=element):
            widened = _widened(element)
            assert isinstance(widened, IntRange | RealRange | Bool | Const)
            return Vector(1 if isinstance(size, Formula) else size, widened)
        case Regions(count=count, width=width):
            return Regions(1 if isinstance(count, Formula) else count, 1 if isinstance(width, Formula) else width)
    return node


def _least(low: Amount) -> int | float:
    return max(limits(low)[0], -_FAR) if isinstance(low, Formula) else low


def _most(high: Amount) -> int | float:
    return min(limits(high)[1], _FAR) if isinstance(high, Formula) else high
