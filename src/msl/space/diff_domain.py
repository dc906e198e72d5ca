"""Diff domains: how one domain of values differs from another — wider, narrower, on another scale, fixed, opened."""

from __future__ import annotations

from itertools import chain

from msl.space.change import Kind
from msl.space.formula import Amount, Formula, at_most
from msl.space.node import Bool, Const, IntRange, Node, RealRange
from msl.space.relation import Relation

_MOST_LISTED = 10_000
_SCALARS = (int, float, str, bool, type(None))

Scalar = tuple[str, object]


def is_scalar_domain(options: list[Node]) -> bool:
    """Whether alternatives are numbers, texts, yes or no, nothing, and ranges: what can be compared as sets."""
    return all(
        isinstance(option, IntRange | RealRange | Bool)
        or (isinstance(option, Const) and isinstance(option.value, _SCALARS))
        for option in options
    )


#: What is said of a domain once it is proven how its values relate to those before.
KIND_OF = {Relation.WIDENED: Kind.WIDENED, Relation.NARROWED: Kind.NARROWED, Relation.SAME: Kind.RESCALED}


def domain_kinds(old: list[Node], new: list[Node], relation: Relation) -> list[Kind]:
    """What happened to a domain, given its alternatives before and after, which are not the same.

    Where the relation of their values is undecided, the ends of ranges are compared as far as they can be.
    """
    old_values, new_values = _listed(old), _listed(new)
    was_open, is_open = _is_open(old, old_values), _is_open(new, new_values)
    if was_open and not is_open:
        return [Kind.FIXED]
    if is_open and not was_open:
        return [Kind.OPENED]
    if len(old) == len(new) == 1 and isinstance(old[0], IntRange | RealRange) and type(old[0]) is type(new[0]):
        return _range_kinds(old[0], new[0], relation)
    return [KIND_OF.get(relation, Kind.CHANGED)]


def ends_kind(old: tuple[Amount, Amount], new: tuple[Amount, Amount]) -> Kind | None:
    """What happened to a range by its ends alone; None when both stayed."""
    lower, higher = at_most(new[0], old[0]), at_most(old[1], new[1])
    raised, lowered = at_most(old[0], new[0]), at_most(new[1], old[1])
    if lower and higher:
        return None if raised and lowered else Kind.WIDENED
    return Kind.NARROWED if raised and lowered else Kind.CHANGED


def _range_kinds(old: IntRange | RealRange, new: IntRange | RealRange, relation: Relation) -> list[Kind]:
    kinds = []
    if old.log != new.log:
        kinds.append(Kind.RESCALED)
    if old.step != new.step:
        kinds.append(Kind.RESTEPPED)
    by_ends = ends_kind((old.low, old.high), (new.low, new.high))
    if relation is Relation.SAME or by_ends is None:
        return kinds
    if relation is not Relation.UNDECIDED:
        return [*kinds, KIND_OF.get(relation, Kind.CHANGED)]
    is_continuous = old.step == new.step and (old.step in (None, 1) or old.low == new.low)
    return [*kinds, by_ends if is_continuous else Kind.CHANGED]


def _is_open(options: list[Node], values: frozenset[Scalar] | None) -> bool:
    return len(options) > 1 or values is None or len(values) > 1


def _listed(options: list[Node]) -> frozenset[Scalar] | None:
    """Every value, with its kind; None for reals, ends that follow the table, and too many to list."""
    parts = [_values(option) for option in options]
    if any(part is None for part in parts):
        return None
    return frozenset(chain.from_iterable(part for part in parts if part is not None))


def _values(option: Node) -> list[Scalar] | None:
    match option:
        case Const(value=value):
            return [(type(value).__name__, value)]
        case Bool():
            return [("bool", False), ("bool", True)]
        case IntRange(low=int(low), high=int(high), step=step, log=False) if high - low < _MOST_LISTED * step:
            return [("int", value) for value in range(low, high + 1, step)]
        case IntRange(low=low, high=high) if low == high and isinstance(low, int):
            return [("int", low)]
        case RealRange(low=low, high=high) if low == high and not isinstance(low, Formula):
            return [("float", float(low))]
    return None
