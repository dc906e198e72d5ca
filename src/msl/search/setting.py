"""Setting: what a strategy starts with, and where it starts from."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from msl.search.ask import Ask, Event, Told, Vector, Vectors
from msl.search.pareto import by_rank
from msl.search.terrain import Terrain

Asks = list[Ask]
Strategy = Generator[Asks, list[Told], None]

#: How often a first point that is no model is drawn again.
_REDRAWS = 20


@dataclass(frozen=True, slots=True)
class Setting:
    """The terrain, the options, the randomness, what stages before this one found, and where to note events."""

    terrain: Terrain
    options: Mapping[str, Any]
    rng: np.random.Generator
    known: Sequence[Told] = ()
    objectives: int = 1
    start: Vector | None = None
    note: Callable[[Event], None] = lambda event: None

    def seeds(self, size: int) -> list[Vector]:
        """The start that was asked for, then the best different points so far; the front first if it is one."""
        seeds: dict[bytes, Vector] = {} if self.start is None else {self.start.tobytes(): self.start}
        for one in by_rank([one for one in self.known if one.is_exact]):
            if len(seeds) >= size:
                break
            seeds.setdefault(one.vector.tobytes(), one.vector)
        return list(seeds.values())[:size]

    def first_point(self) -> Vector:
        """Where a point strategy starts: as asked for, at the best so far, or anywhere."""
        return np.asarray(self.first_points(1)[0])

    def first_points(self, size: int) -> Vectors:
        """Uniform in the cube, and models where that can be told; the seeds come first."""
        points = self.rng.random((size, self.terrain.dimensions))
        seeds = self.seeds(size)
        for position in range(len(seeds), size):
            for _ in range(_REDRAWS):
                if self.terrain.decode(points[position]) is not None:
                    break
                points[position] = self.rng.random(self.terrain.dimensions)
        if seeds:
            points[: len(seeds)] = seeds
        return points


StrategyFunction = Callable[[Setting], Strategy]
