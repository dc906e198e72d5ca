"""Ask and Told: the two sides of a search — a strategy asks for points of the unit cube, and is told their losses.

A strategy is a generator: `told = yield asks`. It holds no I/O, no clock and no random state but the one it is given,
and knows nothing of models, so it runs on mathematical functions as well. What it asks depends only on what it was
told, which is why feeding it stored answers brings it back to where it was.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Vectors = NDArray[np.float64]

#: Repeats from here on are for strategies that evaluate models again: no search has used their splits.
FIRST_TURN = 1 << 32
#: The kind of the events in which these strategies report the mean losses over their repeats.
CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A point to evaluate.

    `cutoff` is the loss that would matter: at or above it the exact value is of no use, and evaluation may stop early.
    `share` is the share of the rows to judge on. `repeat` tells evaluations of one point apart where each draws its own
    split: the same turn is the same split. `stage` says which strategy of a search asks, and so whose cube it means.
    """

    vector: Vector
    cutoff: float | None = None
    share: float = 1.0
    repeat: int = 0
    stage: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
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
    chosen: tuple[Observation, ...] = ()
    kept: tuple[Observation, ...] = ()
    stands: bool = False


def best_of(told: Sequence[Observation]) -> Observation | None:
    """The one with the lowest loss; the simpler on ties, then the earlier."""
    exact = [one for one in told if one.is_exact]
    return min(exact, key=lambda one: (one.loss, one.complexity)) if exact else None


def worse_than(loss: float) -> float | None:
    """What to beat if a loss as low as this one still matters, so that the simpler of two equals can be told."""
    return math.nextafter(loss, math.inf) if math.isfinite(loss) else None


def ended(why: str) -> Event:
    """Says why a strategy has nothing more to ask."""
    return Event("end", {"why": why})


# --- Terrain: all that a strategy may know of the space behind the cube, gene by gene. --------------------------------


Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Genes = NDArray[np.intp] | slice
ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class SearchSpace:
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


# --- Channel: a named group of genes that best-first search optimises together, and what they can be changed to. ------


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """Continuous genes take `steps` even values; `patience` is how often selection may fail in a row."""

    name: str
    genes: tuple[int, ...]
    search_space: SearchSpace
    steps: int
    patience: int

    def here(self, at: Vector) -> Channel | None:
        """The channel with the genes that are its own at a point; None where the model there has no such thing."""
        genes = self.search_space.genes_here(self.name, at)
        return replace(self, genes=genes) if genes else None

    @property
    def is_numbers(self) -> bool:
        """Whether all genes can be more or less, as weights can, and features that are in or out."""
        can_be = self.search_space.ordered | self.search_space.bits
        return bool(can_be[list(self.genes)].all())

    def values(self, gene: int, at: Vector) -> list[float]:
        return [float(value) for value in self.search_space.values(gene, at, self.steps)]

    def combinations(self, at: Vector) -> int:
        return math.prod(len(self.values(gene, at)) for gene in self.genes)

    def off(self, gene: int, at: Vector) -> float:
        """The value that means absent, else the first."""
        values = self.values(gene, at)
        return values[
            max(int(self.search_space.absent[gene]), 0) if self.search_space.absent[gene] < len(values) else 0
        ]

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
        model = self.search_space.decode(at)
        return (point for point in points if self.search_space.decode(point) not in (None, model))


def channels_of(search_space: SearchSpace, steps: int, patience: int) -> list[Channel]:
    """The channels that the terrain names; those without genes have nothing to optimise."""
    return [
        Channel(name, genes, search_space, steps, patience) for name, genes in search_space.channels.items() if genes
    ]
