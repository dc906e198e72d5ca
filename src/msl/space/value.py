"""Value: what a parameter can be set to, and the blocks that steps and values are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from msl.text.source import Span


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class SymbolValue:
    """A named alternative with parameters of its own, all fixed."""

    name: str
    params: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class BlockValue:
    """A block with every parameter fixed: a step of a model, or the value of a parameter."""

    block: BlockType
    params: tuple[tuple[str, Value], ...]


Value = int | float | bool | str | None | SymbolValue | BlockValue | tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Branches:
    """Steps side by side: each branch on the same input, their columns joined. No branch is empty."""

    branches: tuple[tuple[Step, ...], ...]


Step = BlockValue | Branches


@dataclass(frozen=True, slots=True)
class Model:
    """One point of a space with nothing left open: the steps in their order."""

    steps: tuple[Step, ...]
