"""Preflight: every class that a space can ask for is loaded and asked for its parameters before anything runs."""

from __future__ import annotations

import inspect
from collections.abc import Collection

from msl.blocks.load import load_class
from msl.blocks.problem import BlockProblem
from msl.space.node import BlockUse, Choice, Node, Param, Symbol, bottom_up
from msl.space.space import Space
from msl.space.value import BlockType
from msl.text.record import record


@record
class Unusable:
    """A block whose class cannot be used, and why."""

    block: BlockType
    code: str
    message: str
    help: str


def block_problems(space: Space, task: str, trusted: Collection[str] = ()) -> list[Unusable]:
    """What is wrong with the blocks of a space: once for each block."""
    problems: dict[tuple[str, str], Unusable] = {}
    for node in bottom_up(space.root):
        if isinstance(node, BlockUse) and node.block.key not in problems:
            try:
                _look_at(node, task, trusted)
            except BlockProblem as problem:
                problems[node.block.key] = Unusable(node.block, problem.code, problem.message, problem.help)
    return list(problems.values())


def _look_at(use: BlockUse, task: str, trusted: Collection[str]) -> None:
    found = load_class(use.block, task, trusted)
    signature = inspect.signature(found.__init__)  # type: ignore[misc]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values()):
        return
    unknown = [name for name in _names(use.params) if name not in signature.parameters]
    if unknown:
        taken = ", ".join(f"`{name}`" for name in list(signature.parameters)[1:]) or "none"
        message = f"`{use.block.name}`: `{use.block.target}` takes no parameter `{unknown[0]}`"
        raise BlockProblem("MSL404", message, f"it takes {taken}", use.block.name)


def _names(params: tuple[Param, ...]) -> list[str]:
    """The parameters that are passed to the class: those of alternatives are passed beside them."""
    names: list[str] = []
    for param in params:
        names.append(param.name)
        for option in _options(param.node):
            if isinstance(option, Symbol):
                names.extend(_names(option.params))
    return names


def _options(node: Node) -> tuple[Node, ...]:
    return node.options if isinstance(node, Choice) else (node,)
