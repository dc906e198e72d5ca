"""Outcome: what the evaluation of one model came to — losses, or a failure with its cause."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a model has no loss: the kind of trouble, the block it came from, and the words of whoever complained.

    Causes: `block` (cannot be built), `exception`, `memory`, `shape` (outputs of the wrong shape), `not a number`
    (outputs or losses that are none), `prediction` (no class, number or probability), `estimate` (cannot be judged in
    this way).
    """

    cause: str
    message: str
    step: str = ""
    peak_memory: int | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """What an evaluation cost, and what caches and early stops saved; `remembered` when it had been done before."""

    seconds: float = 0.0
    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0
    remembered: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """`losses` has one number an objective, infinite after a failure; with `bound` they are only lower bounds.

    `measures` are what the losses were made of; one that two estimates give is named after its estimate, as in
    `mse by gcv`. `complexity` is that of the first fit, or the mean over all fits where it is an objective. `product`
    is what a task asked for instead of losses: outputs, or a fitted model.
    """

    losses: tuple[float, ...]
    measures: dict[str, float] = field(default_factory=dict)
    complexity: float = 0.0
    bound: bool = False
    failure: Failure | None = None
    effort: Effort = Effort()
    warnings: tuple[str, ...] = ()
    product: Any = None
