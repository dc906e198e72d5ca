"""Shape: a space in the form in which it is laid out — one choice where choices nest, nothing that has no effect."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from msl.space.nodes import Arrange, Choice, Empty, Marked, Node, Permute, Repeat, Sequence, Subset, Union, rebuilt


def shaped(root: Node) -> Node:
    """The same models from fewer nodes: `(a | b)?` is one choice of three, a choice of one is no choice."""
    return rebuilt(root, _shaped)


def _shaped(node: Node) -> Node:
    match node:
        case Choice(options=options):
            flat = tuple(inner for option in options for inner in _options(option))
            return flat[0] if len(flat) == 1 else Choice(flat)
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


def _options(option: Node) -> Iterator[Node]:
    """An option, or the options inside it; what a part chooses is then chosen inside the part."""
    match option:
        case Choice(options=options):
            yield from options
        case Marked(mark=mark, node=Choice(options=options)):
            yield from (Marked(mark, inner) for inner in options)
        case _:
            yield option


def _with_steps(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(node for node in nodes if not isinstance(node, Empty))


def _one_or_all(nodes: tuple[Node, ...], kind: type[Sequence] | type[Union] | type[Permute]) -> Node:
    if not nodes:
        return Empty()
    return nodes[0] if len(nodes) == 1 else kind(nodes)


# --- Layout: what each dimension of the unit cube means, for which alternative, and which dimensions belong together.


Encoding = Literal["shared", "separate"]
#: Of a dimension: which option, which number of a row of numbers, which members, in which order, which of them in which
#: order, how often; a number, yes or no; whether a region's unit is on, and where it is placed. `mixed` is a dimension
#: that alternatives share and use for unlike things.
Kind = Literal[
    "choice", "ordered", "subset", "order", "arrangement", "count", "int", "real", "bool", "unit", "place", "mixed"
]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What `width` slots from `slot` on mean where `alternative` is chosen; None where the table decides.

    `path` is how the parameter is called; `names` are all names that it can be found by. `levels` is the number of
    values, None for an open real or while bounds depend on the table. `unit` numbers the units of regions.
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


@dataclass(frozen=True, slots=True)
class Group:
    """One step of the chain with its parameters: what is inherited, tried or shown together."""

    index: int
    label: str
    dimensions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension: all that it can mean. `levels` is the most values that any meaning has, None if one is open."""

    index: int
    kind: Kind
    group: int
    levels: int | None
    names: frozenset[str]
    meanings: tuple[Meaning, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """The dimensions of a space; `dimensions` is None where a vector's size depends on the table."""

    encoding: Encoding
    n_dimensions: int | None
    meanings: tuple[Meaning, ...]
    groups: tuple[Group, ...]
    dimensions: tuple[Dimension, ...] = field(repr=False)

    def dimensions_of(self, name: str) -> tuple[int, ...]:
        """The dimensions that a path, a part, a block or a parameter name stands for."""
        return tuple(dimension.index for dimension in self.dimensions if name in dimension.names)


def layout_of(encoding: Encoding, n_dimensions: int | None, meanings: Iterable[Meaning], labels: list[str]) -> Layout:
    """The layout of some meanings; groups without a dimension are left out and the others numbered anew."""
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
    """Those dimensions whose place is known."""
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
