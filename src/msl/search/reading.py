"""Reading: how a swarm's positions are read as features that are in or out — bits, or readiness above a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from msl.search.ask import Ask, Told, Vectors
from msl.search.flight import Flight, as_bits, written_back
from msl.search.points import Points
from msl.search.terrain import Flags, Terrain


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Of genes with two values. Binary: bits that velocities toss. Continuous: on above the threshold."""

    bits: Flags
    readiness: Flags
    threshold: float

    @classmethod
    def of(cls, terrain: Terrain, encoding: Any, threshold: float) -> Reading:
        nothing = np.zeros(terrain.dimensions, dtype=np.bool_)
        if encoding == "binary":
            return cls(terrain.bits, nothing, threshold)
        return cls(nothing, terrain.bits, threshold)

    def positions(self, points: Vectors) -> Vectors:
        """Where particles start."""
        return as_bits(points, self.bits)

    def moved(self, flight: Flight, x: Vectors, v: Vectors) -> tuple[Vectors, Vectors]:
        return flight.tossed(x, v, self.bits) if self.bits.any() else flight.moved(x, v)

    def asks(self, positions: Vectors) -> list[Ask]:
        """With several objectives every loss matters, so none may be cut short."""
        if self.readiness.any():
            positions = np.where(self.readiness, positions > self.threshold, positions)
        return [Ask(point) for point in positions]

    def points(self, positions: Vectors, told: list[Told]) -> Points:
        """As the decoder wrote them back, but for readiness, which is more than the bit that it gives."""
        back = written_back(told)
        if self.readiness.any():
            return Points.of(np.where(self.readiness, positions, back), told)
        return Points.of(as_bits(back, self.bits), told)
