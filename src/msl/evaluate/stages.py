"""Stages: what becomes of the rows of a fold on their way through a model."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from msl.blocks.base import Codes, Floats
from msl.evaluate.late_rows import LateRows
from msl.evaluate.splits import Split


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A split with the targets to fit on; `key` names it in the cache, None when nobody else meets it.

    Its rows are not here: who has a fold in hand would hold them until the last step is done. `is_weighed` says that
    the complexity of learners is asked for: it may cost more than their fit.
    """

    key: Hashable | None
    split: Split
    y: NDArray[Any]
    is_weighed: bool

    def key_of(self, *parts: str) -> Hashable | None:
        return None if self.key is None else (self.key, *parts)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """How far some steps have brought the rows of a fold, those to fit on and those to judge on, all of them read-only;
    `seconds` is what the last of the steps took to fit.

    On one fold, stages with the same `identity` have the same rows.
    """

    identity: str
    X: Floats
    X_test: Floats | LateRows
    sources: Codes
    complexity: float = 0.0
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Way:
    """Where some steps have led, and what all of them add to the figures of the fit. The rows of the steps between are
    not held: of a large table they would be many times its memory. It belongs to one evaluation, which takes the end
    away when it has no more use for it."""

    end: Stage
    complexity: float
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """Outputs for the rows to judge on, and for those fitted on where these are needed; and what the block that gave
    them adds to the figures of the fit."""

    identity: str
    outputs: Floats
    training_outputs: Floats | None
    complexity: float
    seconds: float
    features: float = 0.0
