"""Values of parameters, the blocks that steps and values are made of, and models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from msl.diagnostics.source import Span
from msl.record import record


@record
class BlockType:
    """A declared block. Two blocks are the same to a model when the class behind them is; names are for people.

    `origin` is the catalogue or file that declares it, as `use` would name it; `span` is where.
    """

    name: str = field(compare=False)
    origin: str = field(compare=False)
    role: str
    task: str | None
    target: str
    span: Span = field(default=Span(0, 0), compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str]:
        """What a requirement means when it names this block."""
        return self.origin, self.name


def part_as_block(mark: str) -> BlockType:
    """A part with parameters as requirements see it: like a block, with the parameters that it declares."""
    name = mark.rpartition(":")[2]
    return BlockType(name, mark, "part", None, name)


@record
class SymbolValue:
    """A named alternative with parameters of its own, all fixed."""

    name: str
    params: tuple[tuple[str, Value], ...]


def symbol_value(name: str, params: tuple[tuple[str, Value], ...]) -> Value:
    """A named alternative in its one form: without parameters it is its name."""
    return SymbolValue(name, params) if params else name


@record
class BlockValue:
    """A block with every parameter fixed: a step of a model, or the value of a parameter."""

    block: BlockType
    params: tuple[tuple[str, Value], ...]


Value = int | float | bool | str | None | SymbolValue | BlockValue | tuple["Value", ...]


@record
class Branches:
    """Steps side by side: each branch on the same input, their columns joined.

    There are two or more; none is empty, and none is itself nothing but branches.
    """

    branches: tuple[tuple[Step, ...], ...]


Step = BlockValue | Branches


def side_by_side(branches: Iterable[tuple[Step, ...]]) -> tuple[Step, ...]:
    """Branches as steps, in their one form: empty ones vanish, a single one is its steps, nested ones are spread."""
    flat: list[tuple[Step, ...]] = []
    for branch in branches:
        only = branch[0] if len(branch) == 1 else None
        if isinstance(only, Branches):
            flat.extend(only.branches)
        elif branch:
            flat.append(branch)
    if len(flat) < 2:
        return flat[0] if flat else ()
    return (Branches(tuple(flat)),)


@record
class Model:
    """One point of a space with nothing left open: the steps in their order."""

    steps: tuple[Step, ...]
