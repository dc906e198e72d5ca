"""Facts about nodes that the automaton of chains needs: the fixed number of their steps, and which read alike."""

from __future__ import annotations

from collections.abc import Hashable

from msl.space.nodes import (
    Arrange,
    BlockUse,
    Choice,
    Empty,
    Listing,
    Marked,
    Node,
    Permute,
    Pipeline,
    Repeat,
    Sequence,
    Sized,
    Subset,
    Symbol,
    Union,
    bottom_up,
    children,
    step_children,
    steps_up,
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
