"""Channel: a named group of genes that best-first search optimises together, and what they can be changed to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from msl.search.ask import Vector
from msl.search.terrain import Terrain


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """Continuous genes take `steps` even values; `patience` is how often selection may fail in a row."""

    name: str
    genes: tuple[int, ...]
    terrain: Terrain
    steps: int
    patience: int

    def here(self, at: Vector) -> Channel | None:
        """The channel with the genes that are its own at a point; None where the model there has no such thing."""
        genes = self.terrain.genes_here(self.name, at)
        return replace(self, genes=genes) if genes else None

    @property
    def is_numbers(self) -> bool:
        """Whether all genes can be more or less, as weights can, and features that are in or out."""
        can_be = self.terrain.ordered | self.terrain.bits
        return bool(can_be[list(self.genes)].all())

    def values(self, gene: int, at: Vector) -> list[float]:
        return [float(value) for value in self.terrain.values(gene, at, self.steps)]

    def combinations(self, at: Vector) -> int:
        return math.prod(len(self.values(gene, at)) for gene in self.genes)

    def off(self, gene: int, at: Vector) -> float:
        """The value that means absent, else the first."""
        values = self.values(gene, at)
        return values[max(int(self.terrain.absent[gene]), 0) if self.terrain.absent[gene] < len(values) else 0]

    def on(self, gene: int, at: Vector) -> float:
        """The last value, or the first if the last means absent."""
        values = self.values(gene, at)
        return values[-1] if values[-1] != self.off(gene, at) else values[0]

    def put(self, at: Vector, genes: Iterable[int], values: Iterable[float]) -> Vector:
        """The point with other values of some genes."""
        changed = at.copy()
        for gene, value in zip(genes, values, strict=True):
            changed[gene] = value
        return changed

    def changes(self, at: Vector, genes: Iterable[int]) -> Iterator[Vector]:
        """All points that differ in one of these genes."""
        return (self.put(at, (gene,), (value,)) for gene in genes for value in self.values(gene, at))

    def other_models(self, at: Vector, points: Iterable[Vector]) -> Iterator[Vector]:
        """Those points that are models, and not the one here."""
        model = self.terrain.decode(at)
        return (point for point in points if self.terrain.decode(point) not in (None, model))


def channels_of(terrain: Terrain, steps: int, patience: int) -> list[Channel]:
    """The channels that the terrain names; those without genes have nothing to optimise."""
    return [Channel(name, genes, terrain, steps, patience) for name, genes in terrain.channels.items() if genes]
