"""Points: where particles are and what they were told there, as arrays of one row each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from msl.search.ask import Told, Vectors
from msl.search.pareto import Losses, Places, losses_of


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Positions differ from the points that were asked for where a position is only the readiness for a bit."""

    positions: Vectors
    losses: Losses
    told: tuple[Told, ...]

    @classmethod
    def of(cls, positions: Vectors, told: list[Told]) -> Self:
        return cls(positions, losses_of(told), tuple(told))

    def __len__(self) -> int:
        return len(self.told)

    def at(self, places: Places) -> Points:
        return Points(self.positions[places], self.losses[places], tuple(self.told[place] for place in places))

    def joined(self, other: Points, places: Places) -> Points:
        """Some of both: those of the other are numbered after these."""
        here, there = split(places, len(self))
        return Points(
            np.concatenate([self.positions[here], other.positions[there]]),
            np.concatenate([self.losses[here], other.losses[there]]),
            tuple(self.told[place] for place in here) + tuple(other.told[place] for place in there),
        )

    def replaced(self, where: NDArray[np.bool_], other: Points) -> Points:
        """The other's points where it says so."""
        return Points(
            np.where(where[:, None], other.positions, self.positions),
            np.where(where[:, None], other.losses, self.losses),
            tuple(new if take else old for take, new, old in zip(where, other.told, self.told, strict=True)),
        )


def split(places: Places, size: int) -> tuple[Places, Places]:
    """Places among two rows of points as places in the first, which is so long, and in the second."""
    return places[places < size], places[places >= size] - size
