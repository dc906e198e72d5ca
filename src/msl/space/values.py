"""Values of parameters, the blocks that steps and values are made of, and models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from msl.diagnostics.source import Span
from msl.record import record


@record
class Fidelity:
    """The parameter of a block that is its resource, such as the number of trees; at least `low`, `whole` or real."""

    parameter: str
    low: float
    whole: bool


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
    fidelity: Fidelity | None = field(default=None, compare=False, repr=False)

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
    """A named alternative with parameters of its own, all fixed.

    With `own` names the class gets it as one value, `{"name": "conv", "width": 3}`; else its parameters beside it.
    """

    name: str
    params: tuple[tuple[str, Value], ...]
    own: bool = False


def symbol_value(name: str, params: tuple[tuple[str, Value], ...], own: bool = False) -> Value:
    """A named alternative in its one form: without parameters it is its name, unless these would be its own."""
    return SymbolValue(name, params, own) if params or own else name


@record
class BlockValue:
    """A block with every parameter fixed: a step of a model, or the value of a parameter."""

    block: BlockType
    params: tuple[tuple[str, Value], ...]


@record
class PipelineValue:
    """Several steps as the value of a parameter: what prepares the rows of a learner, the learner, what follows it.

    A single block is never one of these: it is itself.
    """

    steps: tuple[Step, ...]


Value = int | float | bool | str | None | SymbolValue | BlockValue | PipelineValue | tuple["Value", ...]


def is_number(value: object) -> bool:
    """Whether a value is a number: to Python, true and false are integers too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


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


def pipeline_value(steps: tuple[Step, ...]) -> BlockValue | PipelineValue:
    """Steps as a value in its one form: a single block is itself."""
    only = steps[0] if len(steps) == 1 else None
    return only if isinstance(only, BlockValue) else PipelineValue(steps)


def steps_of_value(value: BlockValue | PipelineValue) -> tuple[Step, ...]:
    """The steps that a block, or a pipeline, has as the value of a parameter."""
    return (value,) if isinstance(value, BlockValue) else value.steps


@record
class Model:
    """One point of a space with nothing left open: the steps in their order."""

    steps: tuple[Step, ...]
