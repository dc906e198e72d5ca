"""The nodes that a space is made of: values and ranges, blocks with their parameters, and how steps combine.

A space is a tree of nodes. A piece that is written once and used twice is shared, so walks must not assume a tree. Two
nodes that describe the same set need not be equal: `canonical/normal_form.py` decides that.

What is the same for every kind is here, so that a new kind is declared in few places:

- `children`, `with_children`, `bottom_up`, `rebuilt`: walk and rebuild without naming kinds.
- `fold`: compute something from the leaves up, each shared node once.
- `Algebra`, `combined`: the same for what is defined by "one of", "all of", "some of" and "so many times".
- `alternatives`, `bounds`, `is_whole`, `amounts`, `follows_table`, `can_be_empty`: facts of one node.

The interpretations that differ for every kind are text (`to_text`), normal form (`canonical`), enumeration
(`enumerate`), membership (`membership`) and encoding (`msl.encode`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Sequence_
from dataclasses import field, replace
from itertools import repeat
from typing import Generic, TypeVar

from msl.record import record
from msl.space.conditions import Condition, Term
from msl.space.formulas import FACTS, Amount, Formula, depends_on
from msl.space.values import BlockType, Value

# --- values of a parameter ------------------------------------------------------------------------


@record
class Const:
    """One value: nothing is open. A formula stands for a default that follows the table."""

    value: Value | Formula


@record
class Prior:
    """Where values are drawn: `normal(mean, sd)`, or `lognormal(median, sigma)` with the normal of their logarithm."""

    kind: str
    centre: Amount
    spread: Amount


@record
class IntRange:
    """Whole numbers `low`, `low + step`, … up to `high`. The prior is no part of the set, and not compared."""

    low: Amount
    high: Amount
    log: bool = False
    step: int = 1
    prior: Prior | None = field(default=None, compare=False)


@record
class RealRange:
    """Numbers from `low` to `high`, or only those at multiples of `step` above `low`."""

    low: Amount
    high: Amount
    log: bool = False
    step: float | None = None
    prior: Prior | None = field(default=None, compare=False)


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
class Sized:
    """A list as long as `length` says, which is computed from siblings: all there is of a parameter, never a part."""

    length: Term
    element: Node


@record
class Symbol:
    """A named alternative with parameters of its own: `rbf(gamma: …)`, or with `own` names `conv { width: … }`."""

    name: str
    params: tuple[Param, ...] = ()
    own: bool = False


@record
class Computed:
    """A value that follows from the parameters of the part around it: one of them alone, or a formula over them.

    `within` is the domain that it must lie in: models for which it does not are not in the space.
    """

    formula: Formula
    within: Node


@record
class Param:
    """A parameter: what it may be, its declared default, and the condition under which it exists at all.

    `best` says how it is searched, not what it may be: all values are tried within one evaluation.
    """

    name: str
    node: Node
    default: Value | Formula | None = field(default=None, compare=False)
    has_default: bool = field(default=False, compare=False)
    condition: Condition | None = None
    #: What a use may give besides what the domain lists: "learner" where it was declared as `any learner`.
    takes: str | None = field(default=None, compare=False)
    #: Whether every value is tried within one evaluation.
    best: bool = field(default=False, compare=False)


# --- steps ------------------------------------------------------------------------------------------


@record
class BlockUse:
    """One occurrence of a block, as a step or as the value of a parameter."""

    block: BlockType
    params: tuple[Param, ...] = ()


@record
class Pipeline:
    """Steps as the value of a parameter: each row of steps is one value, and a row of one block is that block."""

    node: Node


@record
class Choice:
    """One of the options; of steps or of values. Neither the weights, empty if all are 1, nor the order are part of the
    set: if it is `ordered`, neighbours are close."""

    options: tuple[Node, ...]
    weights: tuple[float, ...] = field(default=(), compare=False)
    ordered: bool = field(default=False, compare=False)


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
    """A part: `mark` is its name in requirements, `params` are its own parameters (`part_parameters`)."""

    mark: str
    node: Node
    params: tuple[Param, ...] = ()


Node = (
    Const
    | IntRange
    | RealRange
    | Bool
    | Vector
    | Regions
    | Listing
    | Sized
    | Symbol
    | Computed
    | BlockUse
    | Pipeline
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
    """The nodes directly below one, in order; a repeated member once, a part's steps before its parameters."""
    match node:
        case Symbol(params=params) | BlockUse(params=params):
            yield from (param.node for param in params)
        case Const() | IntRange() | RealRange() | Bool():  # most nodes, so they are told soon
            return
        case Listing(elements=below) | Choice(options=below) | Sequence(steps=below) | Union(branches=below):
            yield from below
        case Subset(members=below) | Permute(members=below) | Arrange(members=below):
            yield from below
        case Repeat(member=child) | Pipeline(node=child) | Sized(element=child) | Computed(within=child):
            yield child
        case Marked(node=child, params=params):
            yield child
            yield from (param.node for param in params)


# --- facts of one node ---


def alternatives(node: Node) -> tuple[Node, ...]:
    """The options of a choice; of anything else, the node itself."""
    return node.options if isinstance(node, Choice) else (node,)


def weighted_options(node: Node) -> Iterator[tuple[Node, float]]:
    """The options of a choice with their weights; of anything else, the node itself with 1."""
    options = alternatives(node)
    weights = node.weights if isinstance(node, Choice) else ()
    yield from zip(options, weights or repeat(1.0, len(options)), strict=True)


def choice_of(options: Iterable[tuple[Node, float]], ordered: bool = False) -> Choice:
    """A choice of options with their weights."""
    nodes, weights = zip(*options, strict=True)
    return Choice(nodes, () if all(weight == 1 for weight in weights) else weights, ordered)


def is_ordered(choice: Choice) -> bool:
    """Whether the options have an order: as they are written, or as numbers, which sort."""
    return choice.ordered or all(
        isinstance(option, Const) and isinstance(option.value, int | float) and not isinstance(option.value, bool)
        for option in choice.options
    )


def bounds(node: Node) -> tuple[Amount, Amount] | None:
    """The least and the largest value of a number; None for what is no number, or a formula."""
    match node:
        case IntRange(low=low, high=high) | RealRange(low=low, high=high):
            return low, high
        case Const(value=int() | float() as value) if not isinstance(value, bool):
            return value, value
    return None


def is_whole(node: Node) -> bool:
    """Whether a node has whole numbers alone."""
    return isinstance(node, IntRange) or (isinstance(node, Const) and isinstance(node.value, int))


def amounts(node: Node) -> tuple[Amount, ...]:
    """The numbers of a node that may depend on the table: bounds, sizes, and a value that is a formula."""
    match node:
        case IntRange(low=low, high=high) | RealRange(low=low, high=high):
            return low, high
        case Const(value=Formula() as value):
            return (value,)
        case Computed(formula=formula):
            return (formula,) if depends_on(formula, FACTS) else ()
        case Vector(size=size, element=element):
            return size, *amounts(element)
        case Regions(count=count, width=width):
            return count, width
    return ()


def follows_table(node: Node) -> bool:
    """Whether a bound, a size or a value of this node, apart from those below it, depends on the table."""
    return any(isinstance(amount, Formula) for amount in amounts(node))


# --- walks ---


def bottom_up(root: Node) -> Iterator[Node]:
    """Every node at or below one, each once however often it is shared, and after all nodes that it is made of.

    Without recursion, since parts of parts may nest deeper than Python's stack.
    """
    return _upwards(root, children)


def steps_up(root: Node) -> Iterator[Node]:
    """Like `bottom_up`, of steps alone: parameters are not entered."""
    return _upwards(root, step_children)


def step_children(node: Node) -> Iterable[Node]:
    """The steps directly below a step, without parameters."""
    match node:
        case BlockUse():
            return ()
        case Marked(node=inner):
            return (inner,)
    return children(node)


def _upwards(root: Node, below: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    met: set[int] = set()
    pending = [(root, False)]
    while pending:
        node, is_ready = pending.pop()
        if is_ready:
            yield node
        elif id(node) not in met:
            met.add(id(node))
            inner = list(below(node))
            if inner:
                pending.append((node, True))
                pending.extend([(child, False) for child in reversed(inner)])
            else:
                yield node


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
            return replace(node, options=tuple(below))
        case Sequence():
            return Sequence(tuple(below))
        case Union():
            return Union(tuple(below))
        case Subset() | Permute() | Arrange():
            return replace(node, members=tuple(below))
        case Sized():
            return replace(node, element=below[0])
        case Repeat():
            return replace(node, member=below[0])
        case Pipeline():
            return replace(node, node=below[0])
        case Computed():
            return replace(node, within=below[0])
        case Marked(params=params):
            own = tuple(replace(param, node=inner) for param, inner in zip(params, below[1:], strict=True))
            return replace(node, node=below[0], params=own)
    return node


def blocks_in(root: Node) -> list[BlockType]:
    """The block of each use, parameters included; one that is used twice is there twice."""
    return [node.block for node in bottom_up(root) if isinstance(node, BlockUse)]


def rebuilt(root: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every node changed, those below first; what was shared stays shared."""
    return fold(root, lambda node, below: change(with_children(node, below)))


# --- folds ---


T = TypeVar("T")


def fold(root: Node, step: Callable[[Node, list[T]], T], parameters: bool = True) -> T:
    """`step(node, results of its children)` for every node from the leaves up, each shared node once.

    Without `parameters`, blocks have no children: of steps alone.
    """
    below = children if parameters else step_children
    results: dict[int, T] = {}
    for node in _upwards(root, below):
        results[id(node)] = step(node, [results[id(child)] for child in below(node)])
    return results[id(root)]


class Algebra(Generic[T]):
    """How a result for a node follows from those of its children, for results that depend on no kind of node."""

    #: The result for no step.
    nothing: T

    def one_of(self, options: list[T]) -> T:
        raise NotImplementedError

    def all_of(self, members: list[T]) -> T:
        raise NotImplementedError

    def some_of(self, members: list[T], low: int, high: int) -> T:
        """`low` to `high` of the members."""
        raise NotImplementedError

    def repeated(self, member: T, low: int, high: int) -> T:
        raise NotImplementedError

    def optional(self, member: T) -> T:
        return self.one_of([member, self.nothing])

    def in_any_order(self, members: list[T]) -> T:
        """All members; overridden where the order matters."""
        return self.all_of(members)


def combined(node: Node, below: list[T], algebra: Algebra[T]) -> T:
    """The result for a node, given those of its children; a node that only holds others has all of them."""
    match node:
        case Choice():
            return algebra.one_of(below)
        case Subset():
            return algebra.all_of([algebra.optional(member) for member in below])
        case Permute():
            return algebra.in_any_order(below)
        case Arrange(low=low, high=high):
            return algebra.some_of(below, low, high)
        case Repeat(low=low, high=high):
            return algebra.repeated(below[0], low, high)
    return algebra.all_of(below)


class _Emptiness(Algebra[bool]):
    nothing = True

    def one_of(self, options: list[bool]) -> bool:
        return any(options)

    def all_of(self, members: list[bool]) -> bool:
        return all(members)

    def some_of(self, members: list[bool], low: int, high: int) -> bool:
        return sum(members) >= low

    def repeated(self, member: bool, low: int, high: int) -> bool:
        return low == 0 or member


_EMPTINESS = _Emptiness()
_STEPS = Choice | Empty | Sequence | Union | Subset | Permute | Arrange | Repeat | Marked


def can_be_empty(node: Node) -> bool:
    """Whether a step may turn out to be no step at all."""
    return fold(node, lambda one, below: isinstance(one, _STEPS) and combined(one, below, _EMPTINESS), parameters=False)
