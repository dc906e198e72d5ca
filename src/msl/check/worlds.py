"""Worlds: which of the blocks and parts that a requirement speaks of can stand together in one model.

Found from the structure, piece by piece, without listing models: what a piece can come to is a set of outcomes, each
the facts that hold and the shape of its steps, and there are few of either.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from msl.space.node import (
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
from msl.text.record import record

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
    """A space, seen through what requirements mention."""

    def __init__(self, root: Node) -> None:
        self._root = root
        met: set[int] = set()
        #: The nodes that hold blocks; what only holds values has no part in this.
        self._nodes: list[tuple[Node, list[int | None]]] = []
        for node in bottom_up(root):
            below = [id(child) if id(child) in met else None for child in children(node)]
            if isinstance(node, BlockUse | Empty | Marked) or any(child is not None for child in below):
                met.add(id(node))
                self._nodes.append((node, below))

    @property
    def size(self) -> int:
        return len(self._nodes)

    def of(self, mentioned: Mentioned) -> set[World] | None:
        """Every set of facts that some model has, or None where there are too many to tell apart."""
        keys = frozenset(fact.block for fact in mentioned.blocks)
        done: dict[int, _Outcomes] = {}
        try:
            for node, below in self._nodes:
                inner = [_NOTHING if child is None else done[child] for child in below]
                done[id(node)] = _outcomes(node, inner, mentioned, keys)
        except _TooMany:
            return None
        return {facts for facts, _ in done[id(self._root)]}


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
