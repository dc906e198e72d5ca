"""Tasks: what a task leaves of a space before any table is known — blocks may serve one task alone."""

from __future__ import annotations

from msl.space.node import (
    Arrange,
    BlockUse,
    Choice,
    Node,
    Repeat,
    Subset,
    bottom_up,
    children,
)
from msl.space.value import BlockType


def left_out(root: Node, task: str) -> tuple[bool, list[BlockType]]:
    """Whether a task leaves anything of a space, and the blocks that it leaves out because they serve another."""
    alive: dict[int, bool] = {}
    removed: dict[tuple[str, str], BlockType] = {}
    for node in bottom_up(root):
        below = [alive[id(child)] for child in children(node)]
        match node:
            case BlockUse(block=block):
                serves = block.task in (None, task)
                if not serves:
                    removed.setdefault(block.key, block)
                answer = serves and all(below)
            case Choice():
                answer = any(below)
            case Subset():
                answer = True
            case Arrange(low=low):
                answer = sum(below) >= low
            case Repeat(low=low):
                answer = low == 0 or all(below)
            case _:
                answer = all(below)
        alive[id(node)] = answer
    return alive[id(root)], list(removed.values())
