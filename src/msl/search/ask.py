"""Ask and Told: the two sides of a search — a strategy asks for points of the unit cube, and is told their losses.

A strategy is a generator: `told = yield asks`. It holds no I/O, no clock and no random state but the one it is given,
and knows nothing of models, so it runs on mathematical functions as well. What it asks depends only on what it was
told, which is why feeding it stored answers brings it back to where it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ask:
    """A point to evaluate.

    `beat` is the loss that would matter: at or above it the exact value is of no use, and evaluation may stop early.
    `share` is the share of the rows to judge on. `turn` tells evaluations of one point apart where each draws its own
    split: the same turn is the same split. `stage` says which strategy of a search asks, and so whose cube it means.
    """

    vector: Vector
    beat: float | None = None
    share: float = 1.0
    turn: int = 0
    stage: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What an evaluation came to: one loss an objective, infinite for a point that is not in the space or that failed.

    `vector` is the point as the decoder wrote it back: clipped and rounded. `bound` says that the losses are only known
    to be at least this large. A loss that is no number, or minus infinity, counts as infinite: nothing compares.
    """

    vector: Vector
    losses: tuple[float, ...]
    complexity: float = 0.0
    bound: bool = False

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, self.losses)):
            object.__setattr__(self, "losses", tuple(one if math.isfinite(one) else math.inf for one in self.losses))

    @property
    def loss(self) -> float:
        return self.losses[0]

    @property
    def is_finite(self) -> bool:
        return all(math.isfinite(loss) for loss in self.losses)

    @property
    def is_exact(self) -> bool:
        """Whether the losses can be compared with others."""
        return self.is_finite and not self.bound


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """What a strategy did, for the reports: an iteration, a sweep, a level, and its figures.

    `chosen` is what it would answer if it stopped here: the best point, or a front. `kept` is all that it goes on from:
    personal bests, a population, an archive. `stands` says that what is chosen is the answer even where lower losses
    were seen: it is preferred for being simpler, or those losses were of other splits.
    """

    kind: str
    figures: Mapping[str, Any]
    chosen: tuple[Told, ...] = ()
    kept: tuple[Told, ...] = ()
    stands: bool = False


def best_of(told: Sequence[Told]) -> Told | None:
    """The one with the lowest loss; the simpler on ties, then the earlier."""
    exact = [one for one in told if one.is_exact]
    return min(exact, key=lambda one: (one.loss, one.complexity)) if exact else None


def worse_than(loss: float) -> float | None:
    """What to beat if a loss as low as this one still matters, so that the simpler of two equals can be told."""
    return math.nextafter(loss, math.inf) if math.isfinite(loss) else None


def ended(why: str) -> Event:
    """Says why a strategy has nothing more to ask."""
    return Event("end", {"why": why})
