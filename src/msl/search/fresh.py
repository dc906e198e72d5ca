"""Fresh: points whose models nobody has asked for yet."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator

from msl.search.ask import Told, Vector, Vectors
from msl.search.terrain import Terrain

#: After so many draws in a row that gave nothing new, there is nothing new.
PATIENCE = 1_000


class Fresh:
    """Remembers models, and lets through the points of new ones; those that are no model never."""

    def __init__(self, terrain: Terrain, known: Iterable[Told] = ()) -> None:
        self._terrain = terrain
        self._seen: set[Hashable] = {terrain.decode(one.vector) for one in known}
        self._seen.discard(None)

    @property
    def has_all(self) -> bool:
        return self._terrain.size is not None and len(self._seen) >= self._terrain.size

    def of(self, points: Iterable[Vector]) -> Iterator[Vector]:
        for point in points:
            model = self._terrain.decode(point)
            if model is not None and model not in self._seen:
                self._seen.add(model)
                yield point

    def forget(self, points: Iterable[Vector]) -> None:
        """Points that were let through and not asked for after all."""
        self._seen.difference_update(self._terrain.decode(point) for point in points)

    def draws(self, draw: Callable[[int], Vectors], size: int) -> list[Vector]:
        """Up to `size` new points; fewer where all models are known, or next to none is left to be drawn."""
        found: list[Vector] = []
        in_vain = 0
        while len(found) < size and in_vain < PATIENCE and not self.has_all:
            new = list(self.of(draw(size - len(found))))
            in_vain = 0 if new else in_vain + size - len(found)
            found.extend(new)
        return found
