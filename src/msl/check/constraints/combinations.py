"""Worlds: which of the blocks and parts that a requirement speaks of can stand together in one model.

Found from the structure, piece by piece, without listing models: what a piece can come to is a set of outcomes, each
the facts that hold and the shape of its steps, and there are few of either.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from msl.record import record
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Empty,
    Marked,
    Node,
    Permute,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    bottom_up,
    children,
)

Key = tuple[str, str]
#: What some steps are: none, one block, or more than that.
Shape = tuple[Key, ...] | str
MANY = "several steps"
_OTHER: Key = ("", "another block")


@record
class Has:
    """The model has a block, inside a part where one is named."""

    part: str | None
    block: Key


@record
class Came:
    """A part has come to this."""

    part: str
    shape: Shape


Fact = Has | Came
World = frozenset[Fact]
_Outcomes = frozenset[tuple[World, Shape]]

_NOTHING: _Outcomes = frozenset({(frozenset(), ())})
_MOST_OUTCOMES = 200


class _TooMany(Exception):
    """There are more outcomes than it is worth to tell apart."""


@record
class Mentioned:
    """What a requirement speaks of: blocks, inside parts or anywhere, and parts by what they come to."""

    blocks: frozenset[Has]
    parts: frozenset[str]


class Worlds:
    """A space, seen through what requirements mention.

    What a node comes to when nothing in it is mentioned is found once; a requirement only looks again at the nodes
    above what it mentions, and at no more than a fixed number of them in all.
    """

    def __init__(self, root: Node, most_looks: int = 1_000_000) -> None:
        self._looks_left = most_looks
        #: The nodes that hold blocks, with the places of those below each (None for mere values), lowest first.
        self._nodes: list[tuple[Node, list[int | None]]] = []
        self._above: list[list[int]] = []
        self._places: dict[Key | str, list[int]] = {}
        met: dict[int, int] = {}
        for node in bottom_up(root):
            below = [met.get(id(child)) for child in children(node)]
            if isinstance(node, BlockUse | Empty | Marked) or any(place is not None for place in below):
                met[id(node)] = len(self._nodes)
                self._add(node, below)
        nothing = Mentioned(frozenset(), frozenset())
        self._plain: list[_Outcomes] = []
        for node, below in self._nodes:
            inner = [_NOTHING if place is None else self._plain[place] for place in below]
            self._plain.append(_outcomes(node, inner, nothing, frozenset()))

    def _add(self, node: Node, below: list[int | None]) -> None:
        here = len(self._nodes)
        self._nodes.append((node, below))
        self._above.append([])
        for place in {place for place in below if place is not None}:
            self._above[place].append(here)
        if isinstance(node, BlockUse):
            self._places.setdefault(node.block.key, []).append(here)
        elif isinstance(node, Marked):
            self._places.setdefault(node.mark, []).append(here)

    def of(self, mentioned: Mentioned) -> set[World] | None:
        """Every set of facts that some model has, or None where there are too many to tell apart."""
        keys = frozenset(fact.block for fact in mentioned.blocks)
        marks = mentioned.parts | {fact.part for fact in mentioned.blocks if fact.part is not None}
        done: dict[int, _Outcomes] = {}
        try:
            for here in self._touched([*keys, *marks]):
                node, below = self._nodes[here]
                self._looks_left -= len(below) + 1
                if self._looks_left < 0:
                    return None
                inner = [_NOTHING if p is None else done[p] if p in done else self._plain[p] for p in below]
                done[here] = _outcomes(node, inner, mentioned, keys)
        except _TooMany:
            return None
        last = len(self._nodes) - 1
        return {facts for facts, _ in done.get(last, self._plain[last])}

    def _touched(self, mentioned: list[Key | str]) -> list[int]:
        """The places of what is mentioned and of all that is above it, lowest first."""
        pending = [place for name in mentioned for place in self._places.get(name, [])]
        found: set[int] = set()
        while pending:
            place = pending.pop()
            if place not in found:
                found.add(place)
                pending.extend(self._above[place])
        return sorted(found)


def _outcomes(node: Node, below: list[_Outcomes], mentioned: Mentioned, keys: frozenset[Key]) -> _Outcomes:
    match node:
        case BlockUse(block=block):
            named = block.key in keys
            own: World = frozenset({Has(None, block.key)}) if named else frozenset()
            shape: Shape = (block.key if named else _OTHER,)
            return frozenset((facts | own, shape) for facts, _ in _of_params(node, below))
        case Symbol():
            return _of_params(node, below)
        case Choice():
            return _limited(frozenset().union(*below))
        case Sequence() | Permute() | Union():
            return _all(below)
        case Subset():
            return _all([outcomes | _NOTHING for outcomes in below])
        case Arrange(low=low, high=high):
            return _some(below, low, high)
        case Repeat(low=low, high=high):
            return _repeated(below[0], low, high)
        case Marked(mark=mark):
            return frozenset(_inside(mark, facts, shape, mentioned) for facts, shape in below[0])
    return _all(below)


def _of_params(node: BlockUse | Symbol, below: list[_Outcomes]) -> _Outcomes:
    """Blocks that fill slots; a conditional parameter may not be there."""
    pairs = zip(node.params, below, strict=True)
    return _all(outcomes if param.condition is None else outcomes | _NOTHING for param, outcomes in pairs)


def _inside(mark: str, facts: World, shape: Shape, mentioned: Mentioned) -> tuple[World, Shape]:
    """What a part adds: its blocks are inside it, and it has come to something."""
    inner = {Has(mark, fact.block) for fact in facts if isinstance(fact, Has) and fact.part is None}
    came: World = frozenset({Came(mark, shape)}) if mark in mentioned.parts else frozenset()
    return facts | (inner & mentioned.blocks) | came, shape


def _joined(one: _Outcomes, other: _Outcomes) -> _Outcomes:
    if one is _NOTHING:
        return other
    if other is _NOTHING:
        return one
    return _limited(frozenset((f1 | f2, _both(s1, s2)) for f1, s1 in one for f2, s2 in other))


def _both(one: Shape, other: Shape) -> Shape:
    if isinstance(one, str) or isinstance(other, str) or (one and other):
        return MANY
    return one or other


def _limited(outcomes: _Outcomes) -> _Outcomes:
    if len(outcomes) > _MOST_OUTCOMES:
        raise _TooMany
    return outcomes


def _all(sets: Iterable[_Outcomes]) -> _Outcomes:
    return reduce(_joined, sets, _NOTHING)


def _some(sets: list[_Outcomes], low: int, high: int) -> _Outcomes:
    """Some of the members, by how many were taken so far."""
    taken: list[_Outcomes] = [_NOTHING] + [frozenset()] * high
    for outcomes in sets:
        for count in reversed(range(high)):
            taken[count + 1] = _limited(taken[count + 1] | _joined(taken[count], outcomes))
    return frozenset().union(*taken[low:])


def _repeated(member: _Outcomes, low: int, high: int) -> _Outcomes:
    """A member several times; where once more brings nothing new, no number of times does."""
    current, found = _NOTHING, _NOTHING if low == 0 else frozenset()
    for count in range(1, high + 1):
        current = _joined(current, member)
        if count > low and current <= found:
            break
        if count >= low:
            found = _limited(found | current)
    return found
