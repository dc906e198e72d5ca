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


def misplaced(root: Node) -> list[tuple[str, str, str]]:
    """Blocks that search over the table's features behind one that may change them: (block, parameter, changer)."""
    return list(dict.fromkeys(_Walk().found_in(root)))


class _Walk:
    """Goes through a chain in the order of its steps, carrying the first block that may have changed the columns."""

    def __init__(self) -> None:
        self._found: list[tuple[str, str, str]] = []
        self._seen: set[tuple[int, bool]] = set()

    def found_in(self, root: Node) -> list[tuple[str, str, str]]:
        self._walk(root, None)
        return self._found

    def _walk(self, node: Node, changer: str | None) -> str | None:
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
                    self._found.append((use.block.name, param.name, changer))
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
