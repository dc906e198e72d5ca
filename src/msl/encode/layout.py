"""What each dimension of the unit cube means, and which dimensions belong together; simplify a space before that."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from msl.space.nodes import (
    Arrange,
    Choice,
    Empty,
    Marked,
    Node,
    Permute,
    Repeat,
    Sequence,
    Subset,
    Union,
    choice_of,
    rebuilt,
    weighted_options,
)


def shaped(root: Node) -> Node:
    """The same models with fewer nodes: `(a | b)?` becomes one choice of three, a choice of one its only option."""
    return rebuilt(root, _shaped)


def _shaped(node: Node) -> Node:
    match node:
        case Choice():
            pairs = [
                (inner, weight * own) for option, weight in weighted_options(node) for inner, own in _options(option)
            ]
            return pairs[0][0] if len(pairs) == 1 else choice_of(pairs, node.ordered)
        case Sequence(steps=steps):
            row = tuple(inner for step in steps for inner in (step.steps if isinstance(step, Sequence) else (step,)))
            return _one_or_all(_with_steps(row), Sequence)
        case Union(branches=branches):
            flat = tuple(
                inner for branch in branches for inner in (branch.branches if isinstance(branch, Union) else (branch,))
            )
            return _one_or_all(_with_steps(flat), Union)
        case Permute(members=members):
            return _one_or_all(_with_steps(members), Permute)
        case Subset(members=members):
            kept = _with_steps(members)
            return Subset(kept) if kept else Empty()
        case Arrange(high=0) | Repeat(high=0):
            return Empty()
        case Arrange(low=1, high=1, members=(member,)) | Repeat(low=1, high=1, member=member):
            return member
    return node


def _options(option: Node) -> Iterator[tuple[Node, float]]:
    """An option, or the options of a nested choice, each marked with the part that the choice was in."""
    match option:
        case Choice():
            yield from weighted_options(option)
        case Marked(mark=mark, node=Choice() as choice, params=()):
            yield from ((Marked(mark, inner), weight) for inner, weight in weighted_options(choice))
        case _:
            yield option, 1.0


def _with_steps(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(node for node in nodes if not isinstance(node, Empty))


def _one_or_all(nodes: tuple[Node, ...], kind: type[Sequence] | type[Union] | type[Permute]) -> Node:
    if not nodes:
        return Empty()
    return nodes[0] if len(nodes) == 1 else kind(nodes)


# --- the layout ---


Encoding = Literal["shared", "separate"]
#: What a dimension decides: which option (`ordered` if the options are numbers), which members, their order, which of
#: them in which order, the number of repetitions; a number, a boolean; whether a unit of a region is on, and its place.
#: `mixed` is a dimension that alternatives share for different kinds.
Kind = Literal[
    "choice", "ordered", "subset", "order", "arrangement", "count", "int", "real", "bool", "unit", "place", "mixed"
]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What `width` dimensions from `slot` on mean if `alternative` is chosen; None where it depends on the table.

    `path` is the name of the parameter, `names` are all names by which it can be found. `levels` is the number of
    values, None for a continuous real or if bounds depend on the table. `unit` numbers the units of regions. `ends` are
    the numbers at the walls of the cube in native units, as `Scale` has them; None if they depend on the table.
    """

    slot: int | None
    width: int | None
    alternative: str
    path: str
    kind: Kind
    range: str
    scale: Literal["", "linear", "log"]
    levels: int | None
    group: int
    names: frozenset[str]
    unit: int | None = None
    ends: tuple[float, float] | None = None
    #: The alternatives of a choice, in the order of their levels.
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """The dimensions of one step of the chain and its parameters."""

    index: int
    label: str
    dimensions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension and all its meanings; `levels` is the most values of any of them, None if one is continuous."""

    index: int
    kind: Kind
    group: int
    levels: int | None
    names: frozenset[str]
    meanings: tuple[Meaning, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The dimensions of a space; `n_dimensions` is None if the size of a vector depends on the table."""

    encoding: Encoding
    n_dimensions: int | None
    meanings: tuple[Meaning, ...]
    groups: tuple[Group, ...]
    dimensions: tuple[Dimension, ...] = field(repr=False)

    def dimensions_of(self, name: str) -> tuple[int, ...]:
        """The dimensions of a path, a part, a block or a parameter."""
        return tuple(dimension.index for dimension in self.dimensions if name in dimension.names)


def layout_of(encoding: Encoding, n_dimensions: int | None, meanings: Iterable[Meaning], labels: list[str]) -> Layout:
    """The layout of some meanings; groups without a dimension are left out, and the others renumbered."""
    found = sorted(meanings, key=lambda meaning: math.inf if meaning.slot is None else meaning.slot)
    kept = sorted({meaning.group for meaning in found})
    numbers = {group: number for number, group in enumerate(kept)}
    renumbered = tuple(replace(meaning, group=numbers[meaning.group]) for meaning in found)
    dimensions = _dimensions(renumbered)
    members: dict[int, list[int]] = defaultdict(list)
    for dimension in dimensions:
        members[dimension.group].append(dimension.index)
    groups = tuple(Group(numbers[group], labels[group], tuple(members[numbers[group]])) for group in kept)
    return Layout(encoding, n_dimensions, renumbered, groups, dimensions)


def _dimensions(meanings: tuple[Meaning, ...]) -> tuple[Dimension, ...]:
    """The dimensions whose position is known."""
    by_slot: dict[int, list[Meaning]] = defaultdict(list)
    for meaning in meanings:
        if meaning.slot is not None and meaning.width is not None:
            for slot in range(meaning.slot, meaning.slot + meaning.width):
                by_slot[slot].append(meaning)
    return tuple(_dimension(slot, tuple(by_slot[slot])) for slot in sorted(by_slot))


def _dimension(slot: int, meanings: tuple[Meaning, ...]) -> Dimension:
    kinds = {meaning.kind for meaning in meanings}
    levels = [meaning.levels for meaning in meanings]
    return Dimension(
        slot,
        kinds.pop() if len(kinds) == 1 else "mixed",
        meanings[0].group,
        None if None in levels else max(count for count in levels if count is not None),
        frozenset().union(*(meaning.names for meaning in meanings)),
        meanings,
    )
