"""What steers a search and is no part of the set of models: priors, weights, and orders of alternatives."""

from __future__ import annotations

from msl.space.nodes import (
    BlockUse,
    Choice,
    IntRange,
    Listing,
    Marked,
    Node,
    RealRange,
    Sized,
    Symbol,
    Vector,
    bottom_up,
    children,
)
from msl.space.to_text import BlockNames, NodeWriter, part_name


def priors_to_text(root: Node) -> list[str]:
    """What steers draws and is no part of the set: parameters with priors, choices with weights."""
    writer = NodeWriter(BlockNames(), parameters=False)
    found: dict[str, None] = {}
    for node in bottom_up(root):
        if isinstance(node, Choice) and node.weights:
            found[writer.node(node)] = None
        if not isinstance(node, BlockUse | Symbol):
            continue
        owner = node.block.name if isinstance(node, BlockUse) else node.name
        for param in node.params:
            inner = param.node.element if isinstance(param.node, Vector) else param.node
            if isinstance(inner, IntRange | RealRange) and inner.prior is not None:
                found[f"{owner}.{param.name}: {writer.node(param.node)}"] = None
    return sorted(found)


def orders_to_text(root: Node) -> list[str]:
    """The parameters whose alternatives have an order, which is no part of the set."""
    writer, found = NodeWriter(BlockNames(), parameters=False), set()
    for owner in bottom_up(root):
        for param in owner.params if isinstance(owner, BlockUse | Symbol | Marked) else ():
            inner = (
                next(iter(children(param.node)), param.node) if isinstance(param.node, Sized | Listing) else param.node
            )
            if isinstance(inner, Choice) and inner.ordered:
                name = owner.block.name if isinstance(owner, BlockUse) else getattr(owner, "name", None)
                found.add(f"{name or part_name(owner.mark)}.{param.name}: {writer.node(param.node)}")  # type: ignore[union-attr]
    return sorted(found)
