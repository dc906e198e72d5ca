"""Node: the pieces that a space is made of — values and ranges, blocks with their parameters, and how steps combine.

A space is a tree of these (pieces that are written once and used twice are shared, so it is a graph to those who walk
it). Two nodes that describe the same set are not always equal here: `normal.py` says when they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Sequence_
from dataclasses import field, replace

from msl.record import record
from msl.space.conditions import Condition
from msl.space.formulas import Amount, Formula
from msl.space.values import BlockType, Value

# --- values of a parameter ------------------------------------------------------------------------


@record
class Const:
    """One value: nothing is open. A formula stands for a default that follows the table."""

    value: Value | Formula


@record
class IntRange:
    """Whole numbers `low`, `low + step`, … up to `high`."""

    low: Amount
    high: Amount
    log: bool = False
    step: int = 1


@record
class RealRange:
    """Numbers from `low` to `high`, or only those at multiples of `step` above `low`."""

    low: Amount
    high: Amount
    log: bool = False
    step: float | None = None


@record
class Bool:
    """False or true."""


@record
class Vector:
    """`size` values of one kind, such as a weight for each feature; of a constant until its size is known."""

    size: Amount
    element: IntRange | RealRange | Bool | Const


@record
class Regions:
    """`count` points, each switched on or off and placed inside a region of the inputs, `width` numbers in [0, 1]."""

    count: Amount
    width: Amount


@record
class Listing:
    """A list whose elements may be open."""

    elements: tuple[Node, ...]


@record
class Symbol:
    """A named alternative with parameters of its own, such as `rbf(gamma: …)`."""

    name: str
    params: tuple[Param, ...] = ()


@record
class Param:
    """A parameter: what it may be, its declared default, and the condition under which it exists at all."""

    name: str
    node: Node
    default: Value | Formula | None = field(default=None, compare=False)
    has_default: bool = field(default=False, compare=False)
    condition: Condition | None = None


# --- steps ------------------------------------------------------------------------------------------


@record
class BlockUse:
    """One occurrence of a block, as a step or as the value of a parameter."""

    block: BlockType
    params: tuple[Param, ...] = ()


@record
class Choice:
    """One of the options; of steps or of values."""

    options: tuple[Node, ...]


@record
class Empty:
    """No step."""


@record
class Sequence:
    """One after the other."""

    steps: tuple[Node, ...]


@record
class Union:
    """Each on the same input, columns side by side."""

    branches: tuple[Node, ...]


@record
class Subset:
    """Any of the members, in this order: one choice."""

    members: tuple[Node, ...]


@record
class Permute:
    """All members in any order; an empty member has no position."""

    members: tuple[Node, ...]


@record
class Arrange:
    """`low` to `high` distinct members in any order."""

    low: int
    high: int
    members: tuple[Node, ...]


@record
class Repeat:
    """The member `low` to `high` times, each time an occurrence of its own."""

    low: int
    high: int
    member: Node


@record
class Marked:
    """A part that a requirement speaks of: `mark` is how the requirement calls this place."""

    mark: str
    node: Node


Node = (
    Const
    | IntRange
    | RealRange
    | Bool
    | Vector
    | Regions
    | Listing
    | Symbol
    | BlockUse
    | Choice
    | Empty
    | Sequence
    | Union
    | Subset
    | Permute
    | Arrange
    | Repeat
    | Marked
)


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below one, in order; a repeated member once."""
    match node:
        case Symbol(params=params) | BlockUse(params=params):
            yield from (param.node for param in params)
        case Listing(elements=below) | Choice(options=below) | Sequence(steps=below) | Union(branches=below):
            yield from below
        case Subset(members=below) | Permute(members=below) | Arrange(members=below):
            yield from below
        case Repeat(member=child) | Marked(node=child):
            yield child


def is_ordered(choice: Choice) -> bool:
    """Whether the options are numbers, which sort and keep their order."""
    return all(
        isinstance(option, Const) and isinstance(option.value, int | float) and not isinstance(option.value, bool)
        for option in choice.options
    )


def bottom_up(root: Node) -> Iterator[Node]:
    """Every node at or below one, each once however often it is shared, and after all nodes that it is made of.

    Without recursion, since parts of parts may nest deeper than Python's stack.
    """
    return _upwards(root, children)


def steps_up(root: Node) -> Iterator[Node]:
    """Like `bottom_up`, of steps alone: parameters are not entered."""
    return _upwards(root, _steps_of)


def _steps_of(node: Node) -> Iterable[Node]:
    return () if isinstance(node, BlockUse) else children(node)


def _upwards(root: Node, below: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    met: set[int] = set()
    pending = [(root, False)]
    while pending:
        node, is_ready = pending.pop()
        if is_ready:
            yield node
        elif id(node) not in met:
            met.add(id(node))
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(list(below(node))))


def with_children(node: Node, below: Sequence_[Node]) -> Node:
    """The node with other nodes directly below it, as many as `children` gives and in that order."""
    if not below or all(old is new for old, new in zip(children(node), below, strict=True)):
        return node
    match node:
        case Symbol(params=params) | BlockUse(params=params):
            pairs = zip(params, below, strict=True)
            return replace(node, params=tuple(replace(param, node=inner) for param, inner in pairs))
        case Listing():
            return Listing(tuple(below))
        case Choice():
            return Choice(tuple(below))
        case Sequence():
            return Sequence(tuple(below))
        case Union():
            return Union(tuple(below))
        case Subset() | Permute() | Arrange():
            return replace(node, members=tuple(below))
        case Repeat():
            return replace(node, member=below[0])
        case Marked():
            return replace(node, node=below[0])
    return node


def blocks_in(root: Node) -> list[BlockType]:
    """The block of each use, parameters included; one that is used twice is there twice."""
    return [node.block for node in bottom_up(root) if isinstance(node, BlockUse)]


def rebuilt(root: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every node changed, those below first; what was shared stays shared."""
    done: dict[int, Node] = {}
    for node in bottom_up(root):
        done[id(node)] = change(with_children(node, [done[id(child)] for child in children(node)]))
    return done[id(root)]


def can_be_empty(node: Node) -> bool:
    """Whether a step may turn out to be no step at all."""
    answers: dict[int, bool] = {}
    for current in steps_up(node):
        below = [answers[id(child)] for child in _steps_of(current)]
        match current:
            case Empty() | Subset():
                answer = True
            case Choice() | Marked():
                answer = any(below)
            case Sequence() | Union() | Permute():
                answer = all(below)
            case Arrange(low=low):
                answer = sum(below) >= low
            case Repeat(low=low):
                answer = low == 0 or any(below)
            case _:
                answer = False
        answers[id(current)] = answer
    return answers[id(node)]
