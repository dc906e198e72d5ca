"""Spec: everything a checked file says — the space, how models are judged, how they are searched."""

from __future__ import annotations

from dataclasses import field

from msl.space.formula import apply, plain
from msl.space.node import Node
from msl.space.space import Space
from msl.space.value import Value
from msl.text.record import record


@record
class Call:
    """A strategy, an estimate or an ensemble with every option filled in."""

    name: str
    target: str
    options: tuple[tuple[str, Value], ...] = ()

    def __getitem__(self, option: str) -> Value:
        return dict(self.options)[option]


@record
class Measured:
    """The value of a measure."""

    name: str


@record
class Weight:
    """A number in an objective."""

    value: float


@record
class Combined:
    """Arithmetic on measures."""

    operation: str
    operands: tuple[Loss, ...]


Loss = Measured | Weight | Combined


def loss_value(loss: Loss, measured: dict[str, float]) -> float:
    """The value of an objective, given those of its measures."""
    match loss:
        case Measured(name=name):
            return measured[name]
        case Weight(value=value):
            return value
        case Combined(operation=operation, operands=operands):
            return float(plain(apply(operation, [loss_value(operand, measured) for operand in operands])))


def measures_of(loss: Loss) -> tuple[str, ...]:
    """The measures that an objective needs."""
    match loss:
        case Measured(name=name):
            return (name,)
        case Combined(operands=operands):
            return tuple(dict.fromkeys(name for operand in operands for name in measures_of(operand)))
    return ()


@record
class Objective:
    """What is minimised (or maximised) and how it is estimated; `text` is as written."""

    text: str
    loss: Loss
    estimate: Call
    minimize: bool = True


@record
class Stage:
    """One strategy of a search; `start` and `channels` are what best-first search takes beside its options."""

    call: Call
    start: Node | None = None
    channels: tuple[str, ...] | None = None


@record
class Budget:
    """Limits of the run and of one evaluation; seconds and bytes. None is no limit."""

    evaluations: int | None = None
    time: float | None = None
    each: float | None = None
    fit: float | None = None
    memory: int | None = None
    until: float | None = None


@record
class DataStatement:
    """What `data(…)` says; None where the table itself is to tell."""

    target: str | None = None
    task: str | None = None
    positive: str | None = None
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    groups: str | None = None
    order: str | None = None
    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    missing_target: str | None = None
    ragged: str | None = None


@record
class Spec:
    """A checked file. Without a table there may be no objectives yet: the default depends on the task."""

    name: str
    space: Space
    objectives: tuple[Objective, ...] = ()
    search: tuple[Stage, ...] = ()
    ensemble: Call | None = None
    budget: Budget = field(default_factory=Budget)
    data: DataStatement = field(default_factory=DataStatement)
    seed: int = 0
