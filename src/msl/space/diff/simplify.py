"""Nodes without what has no meaning (marks, nesting, lists of one), and names for their places in a diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import chain

from msl.space.canonical.normal_conditions import block_identity
from msl.space.names_to_text import part_name
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Permute,
    Pipeline,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
    Vector,
    bottom_up,
)

_LONGEST_ROW = 4_096

Group = Sequence | Union | Subset | Permute | Arrange | Repeat
_WORDS: dict[type[Group], str] = {
    Sequence: "in sequence",
    Union: "side by side",
    Subset: "any subset",
    Permute: "in any order",
    Arrange: "some in any order",
    Repeat: "repeated",
}


def bare(node: Node) -> Node:
    """The node inside marks, pipelines and lists of one."""
    while True:
        match node:
            case Marked(node=inner) | Pipeline(node=inner) | Repeat(low=1, high=1, member=inner):
                node = inner
            case Sequence(steps=(only,)) | Union(branches=(only,)) | Choice(options=(only,)) | Permute(members=(only,)):
                node = only
            case Subset(members=(only,)) | Arrange(low=0, members=(only,)):
                return Choice((only, Empty()))
            case Sequence(steps=()) | Union(branches=()) | Subset(members=()) | Permute(members=()):
                return Empty()
            case _:
                return node


def options(node: Node) -> list[Node]:
    """The alternatives of a node, nested ones included and `none` once at most; what is no choice is its only one."""
    found: list[Node] = []
    met: set[int] = set()
    pending = [node]
    while pending:
        current = bare(pending.pop())
        if id(current) in met:
            continue
        met.add(id(current))
        if isinstance(current, Choice):
            pending.extend(reversed(current.options))
        elif not (isinstance(current, Empty) and any(isinstance(option, Empty) for option in found)):
            found.append(current)
    return found


def steps(node: Node) -> list[Node]:
    """The steps of a node in their order, nested ones included, still with their marks; up to a length."""
    row = [node]
    while len(row) <= _LONGEST_ROW and any(isinstance(bare(step), Sequence | Empty) for step in row):
        row = list(chain.from_iterable(_opened(step) for step in row))
    return row


def _opened(step: Node) -> tuple[Node, ...]:
    match bare(step):
        case Sequence(steps=inner):
            return inner
        case Empty():
            return ()
    return (step,)


def members(group: Group) -> list[Node]:
    """What a group is made of."""
    match group:
        case Sequence():
            return steps(group)
        case Union(branches=inner) | Subset(members=inner) | Permute(members=inner) | Arrange(members=inner):
            return [member for member in inner if not isinstance(bare(member), Empty)]
        case Repeat(member=inner_member):
            return [inner_member]


def are_groups(one: Node, other: Node) -> bool:
    """Whether two nodes compare by their members: one is a group, and the other no choice with groups in it."""
    if not isinstance(one, Group) and not isinstance(other, Group):
        return False
    choices = [node for node in (one, other) if isinstance(node, Choice)]
    return not any(isinstance(option, Group) for choice in choices for option in options(choice))


def as_group(node: Node) -> Group:
    """A lone step is a sequence of one."""
    return node if isinstance(node, Group) else Sequence((node,))


def in_words(group: Group) -> str:
    """How a group puts its members together."""
    return _WORDS[type(group)]


def noun(group: Sequence | Union | Subset) -> str:
    """What people call a member of such a group."""
    return "step" if isinstance(group, Sequence) else "branch" if isinstance(group, Union) else "member"


def head(node: Node) -> Hashable:
    """What identifies an alternative: two with the same head are one alternative that changed inside."""
    match bare(node):
        case BlockUse(block=block):
            return block_identity(block)
        case Symbol(name=name, own=True):
            return "own", name
        case Symbol(name=name) | Const(value=str(name)):
            return name
        case IntRange():
            return "int"
        case RealRange():
            return "real"
        case Bool() | Vector() | Sized() | Regions() | Empty() as simple:
            return type(simple).__name__
        case Listing(elements=elements):
            return "Listing", len(elements)
        case Sequence() | Union() | Subset() | Permute() | Arrange() | Repeat() as group:
            first = next(classes(group), None)
            return None if first is None else (type(group).__name__, first)
    return None


def family(node: Node) -> Hashable:
    """Numbers, however they are written; None for all else."""
    match bare(node):
        case IntRange() | RealRange():
            return "number"
        case Const(value=value) if isinstance(value, int | float) and not isinstance(value, bool):
            return "number"
    return None


def classes(node: Node) -> Iterator[tuple[str, str | None, str]]:
    """The blocks below a node, as what they are."""
    return (block_identity(piece.block) for piece in bottom_up(node) if isinstance(piece, BlockUse))


def place(node: Node) -> str | None:
    """What people would call this place: its part's name, its block, or the role that its alternatives share."""
    match node:
        case Marked(mark=mark):
            return part_name(mark)
        case BlockUse(block=block):
            return block.name
        case Symbol(name=name):
            return name
        case Choice(options=written):
            present = [option for option in written if not isinstance(option, Empty)]
            if len(present) == 1:
                return place(present[0])
            steps_of_it = [option for option in options(node) if not isinstance(option, Empty)]
            roles = {option.block.role if isinstance(option, BlockUse) else None for option in steps_of_it}
            return roles.pop() if len(roles) == 1 else None
        case Repeat(member=member):
            return place(member)
    return None


def places(row: list[Node], noun: str) -> list[str]:
    """A name for each of several places: its own where that is clear, its position otherwise."""
    names = [place(node) for node in row]
    times = Counter(names)
    return [
        name if name is not None and times[name] == 1 else f"{noun} {position}"
        for position, name in enumerate(names, 1)
    ]
