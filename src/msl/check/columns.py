"""Columns: vectors over features and regions may not follow a step that can change the columns."""

from __future__ import annotations

from msl.space.formula import Amount, Formula
from msl.space.node import (
    Arrange,
    BlockUse,
    Choice,
    Marked,
    Node,
    Permute,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Union,
    Vector,
    children,
)
from msl.space.value import BlockType


def misplaced(root: Node) -> dict[tuple[BlockType, str], list[str]]:
    """Blocks that search over the table's features, each with what may change them before it: their parameters."""
    found: dict[tuple[BlockType, str], list[str]] = {}
    for block, parameter, changer in dict.fromkeys(_Walk().found_in(root)):
        found.setdefault((block, changer), []).append(parameter)
    return found


class _Walk:
    """Goes through a chain in the order of its steps, carrying the first block that may have changed the columns."""

    def __init__(self) -> None:
        self._found: list[tuple[BlockType, str, str]] = []
        #: What each node was found to do to untouched columns and to changed ones; without this, orders of orders
        #: would be walked again and again.
        self._done: dict[tuple[int, bool], tuple[Node, str | None]] = {}

    def found_in(self, root: Node) -> list[tuple[BlockType, str, str]]:
        self._walk(root, None)
        return self._found

    def _walk(self, node: Node, changer: str | None) -> str | None:
        """The first block that may have changed the columns once the node is done."""
        key = id(node), changer is not None
        if key not in self._done:
            self._done[key] = node, self._walked(node, changer)
        return changer or self._done[key][1]

    def _walked(self, node: Node, changer: str | None) -> str | None:
        match node:
            case BlockUse():
                return self._block(node, changer)
            case Sequence(steps=steps) | Subset(members=steps):
                for step in steps:
                    changer = self._walk(step, changer)
                return changer
            case Choice(options=options):
                changers = [self._walk(option, changer) for option in options]
                return next((c for c in changers if c is not None), None)
            case Union(branches=branches):
                for branch in branches:
                    self._walk(branch, changer)
                return changer or "&"
            case Permute(members=members) | Arrange(members=members):
                return self._any_order(members, changer)
            case Repeat(member=member):
                return self._walk(member, self._walk(member, changer))
            case Marked(node=inner):
                return self._walk(inner, changer)
        return changer

    def _any_order(self, members: tuple[Node, ...], changer: str | None) -> str | None:
        alone = [self._walk(member, changer) for member in members]
        for position, member in enumerate(members):
            others = [c for i, c in enumerate(alone) if i != position and c is not None]
            self._walk(member, changer or (others[0] if others else None))
        return changer or next((c for c in alone if c is not None), None)

    def _block(self, use: BlockUse, changer: str | None) -> str | None:
        if changer is not None:
            for param in use.params:
                if _over_features(param.node):
                    self._found.append((use.block, param.name, changer))
        return changer or (use.block.name if use.block.role == "selector" else None)


def _over_features(node: Node) -> bool:
    match node:
        case Vector(size=size):
            return _mentions_features(size)
        case Regions():
            return True
        case Choice(options=options):
            return any(_over_features(option) for option in options)
    return any(_over_features(child) for child in children(node))


def _mentions_features(amount: Amount) -> bool:
    if not isinstance(amount, Formula):
        return False
    return amount.operation == "n_features" or any(_mentions_features(operand) for operand in amount.operands)
