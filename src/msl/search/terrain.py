"""Terrain: all that a strategy may know of the space behind the cube, gene by gene."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.search.ask import Vector, Vectors

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Genes = NDArray[np.intp] | slice
ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """The genes of a cube, and what the points of it stand for.

    This class itself is the terrain of a plain product of genes, as mathematical functions have it: the values of a
    gene lie in bins of equal width. A space of models overrides the methods.

    levels    the number of values of a gene, 0 where it is continuous
    ordered   whether neighbouring values are alike, as those of numbers are
    groups    numbers the steps of the chain and the units of a network: genes that belong together
    heads     the genes that decide which alternative their group is, or whether it is there
    absent    which value of the gene means that nothing is there; -1 where none does
    optional  whether that value stands beside a choice as a whole (`part?`), not among its alternatives
    families  numbers switches of which one at least stays on, as the units of one network; -1 for those on their own
    labels    what the genes are called
    channels  named groups of genes, in the order in which best-first search tries them
    start     the reference model: the first and simplest alternative everywhere
    size      how many different models there are; None if without end, or if they are not judged alike each time
    """

    levels: Integers
    ordered: Flags
    groups: Integers
    heads: Flags
    absent: Integers
    optional: Flags
    families: Integers
    labels: tuple[str, ...]
    channels: Mapping[str, tuple[int, ...]]
    start: Vector
    size: int | None

    @classmethod
    def of(
        cls,
        levels: ArrayLike,
        *,
        ordered: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        heads: ArrayLike = (),
        absent: Mapping[int, int] | None = None,
        optional: ArrayLike = (),
        families: Mapping[int, int] | None = None,
        labels: Sequence[str] = (),
        channels: Mapping[str, tuple[int, ...]] | None = None,
        start: Vector | None = None,
    ) -> Self:
        """The terrain of genes with so many values; what is not said is as for numbers that have nothing in common."""
        count = np.asarray(levels, dtype=np.int64)
        d = len(count)
        names = tuple(labels) or tuple(f"x{gene}" for gene in range(d))
        return cls(
            levels=count,
            ordered=np.ones(d, dtype=np.bool_) if ordered is None else np.asarray(ordered, dtype=np.bool_),
            groups=np.arange(d) if groups is None else np.asarray(groups, dtype=np.int64),
            heads=np.isin(np.arange(d), heads),
            absent=np.array([(absent or {}).get(gene, -1) for gene in range(d)], dtype=np.int64),
            optional=np.isin(np.arange(d), optional),
            families=np.array([(families or {}).get(gene, -1) for gene in range(d)], dtype=np.int64),
            labels=names,
            channels={name: (gene,) for gene, name in enumerate(names)} if channels is None else channels,
            start=np.where(count > 0, 0.5 / np.maximum(count, 1), 0.0) if start is None else start,
            size=math.prod(count.tolist()) if (count > 0).all() else None,
        )

    @classmethod
    def continuous(cls, dimensions: int) -> Self:
        """A plain cube."""
        return cls.of(np.zeros(dimensions))

    @property
    def dimensions(self) -> int:
        return len(self.levels)

    @property
    def bits(self) -> Flags:
        """Genes with two values."""
        return np.asarray(self.levels == 2)

    @property
    def switches(self) -> Flags:
        """Genes that turn something off or on."""
        return np.asarray(self.absent >= 0)

    def cells(self, vectors: Vectors, genes: Genes = ALL) -> Vectors:
        """The number of each gene's value, or of some genes'; continuous genes as they are."""
        points, levels = vectors[..., genes], self.levels[genes]
        numbers = points * levels
        np.minimum(np.floor(numbers, out=numbers), levels - 1.0, out=numbers)
        numbers = numbers if levels.all() else np.where(levels > 0, numbers, points)
        numbers += 0.0  # no value is minus zero
        return numbers

    def centres(self, cells: Vectors) -> Vectors:
        """The points in the middle of values with these numbers."""
        return np.where(self.levels > 0, (cells + 0.5) / np.maximum(self.levels, 1), cells)

    def decode(self, vector: Vector) -> Hashable | None:
        """What the point stands for: equal for points that are the same model, None where there is no model."""
        return self.cells(vector).tobytes()

    def encode(self, model: Hashable) -> Vector | None:
        """A point that stands for a model, as the decoder would write it back; None if it has none here."""
        if not isinstance(model, bytes) or len(model) != 8 * self.dimensions:
            return None
        return self.centres(np.frombuffer(model, dtype=np.float64))

    def values(self, gene: int, vector: Vector, steps: int) -> Vector:
        """Where the values of a gene lie, given the other genes; `steps` even ones where it is continuous."""
        count = int(self.levels[gene])
        return (np.arange(count) + 0.5) / count if count else np.linspace(0.0, 1.0, steps)

    def genes_here(self, channel: str, vector: Vector) -> tuple[int, ...]:
        """The genes that are this channel's at a point: alternatives may share one and mean different things by it."""
        return self.channels[channel]

    def draw(self, rng: np.random.Generator, size: int) -> Vectors:
        """Points whose models are equally likely."""
        return rng.random((size, self.dimensions))

    def walk(self, steps: int) -> Iterator[Vector]:
        """A point for every model, continuous genes at so many values; the last gene changes fastest."""
        axes = [self.values(gene, self.start, steps).tolist() for gene in range(self.dimensions)]
        point, places = np.array([axis[0] for axis in axes]), [0] * len(axes)
        while True:
            yield point.copy()
            for gene in reversed(range(len(axes))):
                places[gene] = (places[gene] + 1) % len(axes[gene])
                point[gene] = axes[gene][places[gene]]
                if places[gene]:
                    break
            else:
                return

    def describe(self, vector: Vector, genes: Sequence[int]) -> str:
        """The values of some genes in words."""
        cells = self.cells(vector)
        return ", ".join(f"{self.labels[gene]} = {cells[gene]:.4g}" for gene in genes)
