"""Boxes: uses of one block as domains for its parameters, drawn so that unions of them are often the same set.

Their values are listed another way than by the normal form or the automaton: reals at the ends of all ranges and
between them, each number with its scale.
"""

from __future__ import annotations

from itertools import product

from example_spaces import seq, use
from hypothesis import strategies as st

from msl.space.nodes import Bool, Choice, Const, IntRange, Node, RealRange
from msl.space.numbers import level_count, level_value
from msl.space.spec import Space

Box = tuple[Node, ...]

#: All ends of ranges are multiples of a half, so these tell all ranges apart.
_QUARTERS = [quarter / 4 for quarter in range(13)]
_halves = st.sampled_from([0.0, 0.5, 1.0, 1.5])
_small = st.integers(1, 5)


def _ordered(pair: tuple[float, float]) -> tuple[float, float]:
    return min(pair), max(pair)


_whole_ends, _real_ends = st.tuples(_small, _small).map(_ordered), st.tuples(_halves, _halves).map(_ordered)
_whole = st.one_of(
    _small.map(Const),
    _whole_ends.map(lambda ends: IntRange(*ends)),
    _whole_ends.map(lambda ends: IntRange(*ends, step=2)),
    _whole_ends.map(lambda ends: IntRange(*ends, log=True)),
)
_real = st.one_of(
    _halves.map(Const),
    _real_ends.map(lambda ends: RealRange(*ends)),
    _real_ends.map(lambda ends: RealRange(*ends, step=0.5)),
    _real_ends.map(lambda ends: RealRange(ends[0] + 1, ends[1] + 1, log=True)),
)
_mixed = st.sampled_from([Bool(), Const(True), Const("x"), Const("y"), Const(None), Const(1), IntRange(1, 2)])


def _domains(pieces: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return st.lists(pieces, min_size=1, max_size=3).map(
        lambda found: found[0] if len(found) == 1 else Choice(tuple(found))
    )


kinds = st.lists(st.sampled_from([_whole, _real, _mixed]), min_size=1, max_size=3)


def boxes_of(pieces: list[st.SearchStrategy[Node]]) -> st.SearchStrategy[list[Box]]:
    """Some boxes with one domain of each kind."""
    return st.lists(st.tuples(*map(_domains, pieces)), min_size=1, max_size=4)


@st.composite
def cut_otherwise(draw: st.DrawFn, boxes: list[Box]) -> list[Box]:
    """Boxes with the same values: some cut in two, some repeated, in another order."""
    found = list(boxes)
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(found) - 1))
        axis = draw(st.integers(0, len(found[number]) - 1))
        halves = draw(_halved(found[number][axis]))
        cut = [(*found[number][:axis], half, *found[number][axis + 1 :]) for half in halves]
        found = [*found[:number], *cut, *found[number + 1 :]]
    return list(draw(st.permutations(found)))


@st.composite
def _halved(draw: st.DrawFn, domain: Node) -> tuple[Node, ...]:
    match domain:
        case IntRange(low=int(low), high=int(high), step=1, log=False) if low < high:
            middle = draw(st.integers(low, high - 1))
            return IntRange(low, middle), IntRange(middle + 1, high)
        case RealRange(low=float(low), high=float(high), step=None, log=log) if high - low >= 0.5:
            between = draw(st.sampled_from([quarter for quarter in _QUARTERS if low < quarter < high]))
            return RealRange(low, between, log), RealRange(between, high, log)
        case Bool():
            return Const(False), Const(True)
        case Choice(options=(first, *rest)):
            return first, rest[0] if len(rest) == 1 else Choice(tuple(rest))
    return domain, domain


def space_of(boxes: list[Box]) -> Space:
    uses = [use("a", **dict(zip("uvw", box, strict=False))) for box in boxes]
    return Space(seq(use("b"), uses[0] if len(uses) == 1 else Choice(tuple(uses))))


def values_of(boxes: list[Box]) -> frozenset[object]:
    """What the boxes hold, each value with its kind and its scale."""
    return frozenset(setting for box in boxes for setting in product(*map(_values, box)))


def without_scales(values: frozenset[object]) -> frozenset[object]:
    return frozenset(tuple(value[:2] for value in setting) for setting in values)  # type: ignore[attr-defined]


def _values(domain: Node) -> list[tuple[str, object, bool]]:
    match domain:
        case Choice(options=options):
            return [value for option in options for value in _values(option)]
        case Const(value=value):
            return [(type(value).__name__, value, False)]
        case Bool():
            return [("bool", False, False), ("bool", True, False)]
        case IntRange(low=int(low), high=int(high), step=step, log=log):
            return [("int", value, log and low < high) for value in range(low, high + 1, step)]
        case RealRange(step=float()):
            return [("float", level_value(domain, level), False) for level in range(level_count(domain) or 0)]
        case RealRange(low=float(low), high=float(high), log=log):
            return [("float", x, log and low < high) for x in _QUARTERS if low <= x <= high]
    raise TypeError(f"{domain} is not among the domains of these boxes")
