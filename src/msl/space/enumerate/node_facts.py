"""Facts about nodes for the automaton: how many steps they always have, which read alike, the leaves of a value."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import repeat
from typing import Any

from msl.space.formulas import Formula
from msl.space.model_traits import (
    Params,
)
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
    Param,
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
    children,
    step_children,
    steps_up,
)
from msl.space.numbers import known
from msl.space.values import (
    BlockValue,
    Branches,
    PipelineValue,
    Step,
    SymbolValue,
)


class NodeFacts:
    """Facts about nodes, each found once; the nodes are kept, so that no other gets the same id."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[Node, int]] = {}
        self._by_content: dict[Hashable, int] = {}
        self._lengths: dict[int, tuple[Node, int | None]] = {}

    def number(self, letter: Node) -> int:
        """The same number for nodes that are written alike; a piece that they share is read once."""
        if id(letter) not in self._numbers:
            for node in bottom_up(letter):
                if id(node) not in self._numbers:
                    content = _own_text(node), *(self._numbers[id(child)][1] for child in children(node))
                    self._numbers[id(node)] = node, self._by_content.setdefault(content, len(self._by_content))
        return self._numbers[id(letter)][1]

    def length(self, node: Node) -> int | None:
        """The number of steps that a node always has; None if it varies."""
        if id(node) not in self._lengths:
            for inner in steps_up(node):
                if id(inner) not in self._lengths:
                    below = [self._lengths[id(child)][1] for child in step_children(inner)]
                    self._lengths[id(inner)] = inner, _length(inner, below)
        return self._lengths[id(node)][1]


def _length(node: Node, below: list[int | None]) -> int | None:
    """The number of steps that a node always has, given those of the nodes below; None if it varies or is a value."""
    match node:
        case BlockUse():
            return 1
        case Empty():
            return 0
        case Marked():
            return below[0]
        case Choice():
            return below[0] if len(set(below)) == 1 else None
        case Sequence() | Permute():
            return None if None in below else sum(length for length in below if length is not None)
        case Union() if len(below) > 1 and None not in below and 0 not in below:
            return 1
    return None


def _own_text(node: Node) -> str:
    """How a node is written, apart from the nodes below it."""
    match node:
        case Symbol(name=name, params=params, own=True):
            return repr((type(node), name, True, [(param.name, param.condition) for param in params]))
        case Sized(length=length):
            return repr((type(node), length))
        case BlockUse(block=head, params=params) | Symbol(name=head, params=params):
            return repr((type(node), head, [(param.name, param.condition) for param in params]))
        case Repeat(low=low, high=high) | Arrange(low=low, high=high):
            return repr((type(node), low, high))
        case Marked(mark=mark, params=params):
            return repr((type(node), mark, [param.name for param in params]))
        case Listing() | Choice() | Pipeline() | Sequence() | Union() | Subset() | Permute():
            return repr(type(node))
    return repr(node)


# --- The leaves of a value: its alternatives, without choices ---------------------------------------------------------

#: What all pipelines agree in.
PIPELINE = ("pipeline",)


def leaves_of(node: Node) -> Iterator[Node]:
    """The alternatives of a value, without choices; values that are written out become nodes."""
    match node:
        case Choice(options=options):
            for option in options:
                yield from leaves_of(option)
        case Marked(node=inner):
            yield from leaves_of(inner)
        case Const(value=BlockValue(block=block, params=params)):
            yield BlockUse(block, _fixed(params))
        case Const(value=SymbolValue(name=name, params=params, own=own)):
            yield Symbol(name, _fixed(params), own)
        case Const(value=PipelineValue(steps=steps)):
            yield Pipeline(_row_of(steps))
        case Const(value=str() as name):
            yield Symbol(name)
        case Const(value=tuple() as items):
            yield Listing(tuple(Const(item) for item in items))
        case _:
            yield node


def _row_of(steps: tuple[Step, ...]) -> Node:
    return Sequence(tuple(map(_node_of, steps)))


def _node_of(step: Step) -> Node:
    if isinstance(step, Branches):
        return Union(tuple(map(_row_of, step.branches)))
    return BlockUse(step.block, _fixed(step.params))


def _fixed(params: Params) -> tuple[Param, ...]:
    return tuple(Param(name, Const(value)) for name, value in params)


def sort_of(leaf: Node) -> tuple[Any, ...]:
    """What two leaves must agree in to have a value in common."""
    match leaf:
        case IntRange():
            return ("int",)
        case RealRange():
            return ("real",)
        case Bool() | Const(value=bool()):
            return ("bool",)
        case Const(value=int()):
            return ("int",)
        case Const(value=float()):
            return ("real",)
        case Const(value=Formula() as formula):
            return "formula", formula
        case Const(value=value):
            return "plain", value
        case BlockUse(block=block):
            return "block", block
        case Pipeline():
            return PIPELINE
        case Symbol(name=name, own=own):
            return "symbol", name, own
        case Listing(elements=elements):
            return "tuple", len(elements)
        case Vector(size=size):
            return "tuple", known(size)
        case Regions(count=count, width=width):
            return "regions", known(count), known(width)
    raise TypeError(f"{type(leaf).__name__} is a step, not a value")


def is_logarithmic(leaf: Node) -> bool:
    return isinstance(leaf, IntRange | RealRange) and leaf.log and leaf.low != leaf.high


def elements_of(node: Node, size: int) -> Iterable[Node]:
    return repeat(node.element, size) if isinstance(node, Vector) else node.elements  # type: ignore[union-attr]
