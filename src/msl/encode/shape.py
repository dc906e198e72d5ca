"""Shape: a space in the form in which it is laid out — one choice where choices nest, nothing that has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from msl.space.node import (
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
    rebuilt,
)


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
