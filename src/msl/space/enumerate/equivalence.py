"""Prove whether two spaces have the same models, or one has all of the other's, without listing them.

The chains of both are followed together through one automaton. Each of its ends stands for models that look the same
to both spaces, so it is enough to test once, for each end, which of the two has them. Ranges of reals are cut where
either space or a requirement cuts them. Ends that follow the table are compared as far as that holds for every table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cmp_to_key
from itertools import pairwise

from msl.record import paused_collector, record
from msl.space.canonical.normal_conditions import block_identity
from msl.space.conditions import Condition, FactTerm, Parameter, Sibling, nested_terms, terms
from msl.space.enumerate.chain_automaton import ChainAutomaton
from msl.space.enumerate.count import MOST_WORK
from msl.space.enumerate.disjoint_sets import TooCostly, WorkLimit
from msl.space.formulas import Amount, Formula, at_most
from msl.space.model_traits import Abstraction
from msl.space.nodes import (
    BlockUse,
    Choice,
    Computed,
    Const,
    IntRange,
    Listing,
    Marked,
    Node,
    RealRange,
    Sized,
    Symbol,
    Vector,
    bottom_up,
    children,
    follows_table,
    rebuilt,
    with_children,
)
from msl.space.part_parameters import expanded
from msl.space.spec import Space


class Relation(StrEnum):
    """What became of a set of models."""

    SAME = "same"
    WIDENED = "widened"
    NARROWED = "narrowed"
    CHANGED = "changed"
    UNDECIDED = "undecided"


@record
class Verdict:
    """How a space relates to an older one; `reason` says why that could not be decided.

    `same_scales` tells, of two that hold the same models, whether also all numbers are on the same scales.
    """

    relation: Relation
    same_scales: bool = True
    reason: str = ""


_ASK_FOR_TABLE = "it depends on the data: give a table with --data"


@paused_collector()
def relate(old: Space, new: Space, limit: WorkLimit | None = None) -> Verdict:
    """How the models of one space relate to those of another. `limit` bounds what a proof may cost."""
    limit = WorkLimit(MOST_WORK) if limit is None else limit
    try:
        relation = _relation(old, new, limit, scales=False)
    except TooCostly as reason:
        return Verdict(Relation.UNDECIDED, reason=str(reason))
    if relation is not Relation.SAME or not any(
        _is_logarithmic(node) for s in (old, new) for node in bottom_up(s.root)
    ):
        return Verdict(relation)
    try:
        return Verdict(relation, _relation(old, new, limit, scales=True) is Relation.SAME)
    except TooCostly:
        return Verdict(relation, same_scales=False)


def _is_logarithmic(node: Node) -> bool:
    if isinstance(node, Vector):
        node = node.element
    return isinstance(node, IntRange | RealRange) and node.log


def _relation(old: Space, new: Space, limit: WorkLimit, scales: bool) -> Relation:
    if old.facts != new.facts:
        raise TooCostly("the two are for different tables")
    if old.facts is None and any(isinstance(term, FactTerm) for space in (old, new) for term in _terms(space)):
        raise TooCostly(_ASK_FOR_TABLE)
    abstractions = (
        Abstraction(old.requirements, old.facts, others=new.requirements),
        Abstraction(new.requirements, new.facts, others=old.requirements),
    )
    old, new = (_without_parameters(space, abstractions[0].observed_settings) for space in (old, new))
    automaton = ChainAutomaton(abstractions[0], old.facts, limit, scales=scales)
    try:
        roots, is_exact = _for_every_table(old, new, scales)
        ends = automaton.chains_of_all(roots)
    except RecursionError:
        raise TooCostly("branches or parameters nest too deep") from None
    holders = {
        frozenset(number for number, traits in seen if abstractions[number].first_broken(traits) is None)
        for seen, paths in ends.items()
        if paths.weight
    }
    lost, gained = frozenset({0}) in holders, frozenset({1}) in holders
    if not lost and not gained:
        return Relation.SAME
    if not is_exact:
        raise TooCostly(_ASK_FOR_TABLE)
    if lost and gained:
        return Relation.CHANGED
    return Relation.NARROWED if lost else Relation.WIDENED


def _without_parameters(space: Space, observed: frozenset[str]) -> Space:
    root = expanded(space.root, observed)
    if any(isinstance(node, Computed) for node in bottom_up(root)):
        raise TooCostly(_ASK_FOR_TABLE)
    return replace(space, root=root)


def _terms(space: Space) -> Iterator[object]:
    for condition in _conditions(space):
        yield from terms(condition)
    for node in bottom_up(space.root):
        if isinstance(node, Sized):
            yield from nested_terms(node.length)


def _conditions(space: Space) -> Iterator[Condition]:
    for requirement in space.requirements:
        yield requirement.condition
        if requirement.when is not None:
            yield requirement.when
    for node in bottom_up(space.root):
        if isinstance(node, BlockUse | Symbol):
            yield from (param.condition for param in node.params if param.condition is not None)


# --- ends that follow the table -----------------------------------------------------------------------


#: A parameter of a block or of an alternative, or an element of a list: values can only be the same in the same place.
_Place = tuple[object, ...]


def _for_every_table(old: Space, new: Space, scales: bool) -> tuple[tuple[Node, Node], bool]:
    """Both spaces with symbols in place of what depends on the table, and whether different symbols differ for sure.

    Ranges of which each holds the one before, whatever the table, share the symbols of that one. What is the same in
    symbols is the same for every table.
    """
    if not any(follows_table(node) for space in (old, new) for node in bottom_up(space.root)):
        return (old.root, new.root), True
    leaves: dict[_Place, dict[str, Node]] = defaultdict(dict)
    for space in (old, new):
        for owner in bottom_up(space.root):
            for place, value in _places(owner):
                leaves[place].update((repr(leaf), leaf) for leaf in _leaves(value))
    waiting = {place: found for place, found in leaves.items() if any(map(follows_table, found.values()))}
    observed = {term.name for s in (old, new) for term in _terms(s) if isinstance(term, Parameter | Sibling)}
    if any(place[-1] in observed for place in waiting):
        raise TooCostly(_ASK_FOR_TABLE)
    symbols = {place: _Symbols(found, scales) for place, found in waiting.items()}

    def change(owner: Node) -> Node:
        below = [_mapped(value, symbols[place]) if place in symbols else value for place, value in _places(owner)]
        return with_children(owner, below) if below else owner

    roots = rebuilt(old.root, change), rebuilt(new.root, change)
    return roots, all(found.is_exact for found in symbols.values())


def _places(owner: Node) -> Iterator[tuple[_Place, Node]]:
    match owner:
        case BlockUse(block=block, params=params):
            yield from ((("block", block_identity(block), param.name), param.node) for param in params)
        case Symbol(name=name, params=params):
            yield from ((("symbol", name, param.name), param.node) for param in params)
        case Sized(element=element):
            yield ("sized",), element
        case Listing(elements=elements):
            yield from ((("list", len(elements), place), element) for place, element in enumerate(elements))


def _leaves(value: Node) -> Iterator[Node]:
    if isinstance(value, Choice | Marked):
        for child in children(value):
            yield from _leaves(child)
    else:
        yield value


def _mapped(value: Node, symbols: _Symbols) -> Node:
    if isinstance(value, Choice | Marked):
        return with_children(value, [_mapped(child, symbols) for child in children(value)])
    return symbols.instead_of(value)


class _Symbols:
    """What stands for the values of one place that depend on the table, and for those that may be among them.

    Nodes are known by their texts, since to Python 1 is 1.0 and true.
    """

    def __init__(self, leaves: Mapping[str, Node], scales: bool) -> None:
        self._of: dict[str, Node] = {}
        self.is_exact = True
        families: dict[str, dict[str, Node]] = defaultdict(dict)
        for text, leaf in leaves.items():
            families[_family(leaf, scales)][text] = leaf
        for family, members in families.items():
            if family != "formula" and any(map(follows_table, members.values())):
                self._stand_in(family, members)
        numbers = [text for family, members in families.items() if family in _NUMBERS for text in members]
        if "formula" in families and len(numbers) > 1:
            self.is_exact = False

    def instead_of(self, leaf: Node) -> Node:
        return self._of.get(repr(leaf), leaf)

    def _stand_in(self, family: str, members: Mapping[str, Node]) -> None:
        spans = {text: span for text, leaf in members.items() if (span := _span(leaf)) is not None}
        ordered = sorted(spans.items(), key=cmp_to_key(_order))
        is_nested = all(_holds(outer, inner) for (_, inner), (_, outer) in pairwise(ordered))
        if len(spans) == len(members) and is_nested:
            self._nest(family, ordered)
        else:
            self._of |= {text: Symbol(f"{family}: {text}") for text in members}
            self.is_exact = self.is_exact and len(members) == 1

    def _nest(self, family: str, ordered: list[tuple[str, _Span]]) -> None:
        """Ranges from the innermost out: each has the symbols of the one before, and one more if it is larger."""
        symbols: list[Node] = []
        before: _Span | None = None
        for text, span in ordered:
            if before is None or not _holds(before, span):
                symbols.append(Symbol(f"{family}: {len(symbols)}"))
            before = span
            self._of[text] = Choice(tuple(symbols))


#: Families of which a formula may be a member.
_NUMBERS = ("int", "int log", "real", "real log", "formula")


def _family(leaf: Node, scales: bool) -> str:
    """Values of different families are never the same."""
    match leaf:
        case IntRange(log=log):
            return "int log" if log and scales else "int"
        case RealRange(log=log):
            return "real log" if log and scales else "real"
        case Const(value=bool()):
            return "bool"
        case Const(value=int()):
            return "int"
        case Const(value=float()):
            return "real"
        case Const(value=Formula()):
            return "formula"
        case Vector() | Listing() | Const(value=tuple()):
            return "list"
    return type(leaf).__name__


_Span = tuple[Amount, Amount, int | float | None]


def _span(leaf: Node) -> _Span | None:
    match leaf:
        case IntRange(low=low, high=high, step=step):
            return low, high, None if step == 1 else step
        case RealRange(low=low, high=high, step=real_step):
            return low, high, real_step
        case Const(value=int() | float() as value):
            return value, value, None
    return None


def _holds(outer: _Span, inner: _Span) -> bool:
    """Whether one range holds another whatever the table, as far as can be told."""
    if not (at_most(outer[0], inner[0]) and at_most(inner[1], outer[1])):
        return False
    return outer[2] is None or (outer[2] == inner[2] and outer[0] == inner[0])


def _order(one: tuple[str, _Span], other: tuple[str, _Span]) -> int:
    return _holds(one[1], other[1]) - _holds(other[1], one[1])
