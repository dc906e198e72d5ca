"""What strategies are written with: queries and observations, and the search space that they may know.

A strategy is a generator: `observations = yield queries`. It has no I/O, no clock and no random state except the one in
its setting, and knows nothing of models, so it also runs on mathematical functions. Its queries depend only on its
setting and on the observations so far: a run is resumed by giving it the stored observations again.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]
Vectors = NDArray[np.float64]

#: Repeats from here on are for strategies that evaluate models again: no search has used their splits.
FIRST_CONFIRMING_REPEAT = 1 << 32
#: The kind of the events in which these strategies report the mean losses over their repeats.
CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A point of the unit cube to evaluate.

    cutoff  losses at or above it are of no interest, so that evaluation may stop early
    share   the share of the rows to evaluate on
    less    what the share is of: `rows`, or the `fidelity` of the model where it has one
    repeat  which split to use, where splits are random: equal repeats have equal splits
    stage   the strategy of the search that the query is from, which says which search space the point is in
    """

    vector: Vector
    cutoff: float | None = None
    share: float = 1.0
    repeat: int = 0
    stage: int = 0
    less: Literal["rows", "fidelity"] = "rows"


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The result of an evaluation: one loss per objective, infinite for a point that failed or is not in the space.

    `vector` is the point as it was decoded: clipped and rounded. `bound` says that the losses are only lower bounds. A
    loss of NaN or minus infinity counts as infinite.
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

    `chosen` is the result if it stopped here: the best point, or a front. `kept` is what it continues from: personal
    bests, a population, an archive. `stands` says that the chosen points are the result even if lower losses were
    observed, because they are simpler, or because those losses were on other splits.
    """

    kind: str
    figures: Mapping[str, Any]
    chosen: tuple[Observation, ...] = ()
    kept: tuple[Observation, ...] = ()
    stands: bool = False


def best_of(observations: Sequence[Observation]) -> Observation | None:
    """The one with the lowest loss; the simpler on ties, then the earlier."""
    exact = [one for one in observations if one.is_exact]
    return min(exact, key=lambda one: (one.loss, one.complexity)) if exact else None


def worse_than(loss: float) -> float | None:
    """The cutoff with which a loss equal to this one is still computed, so that the simpler of two equals can win."""
    return math.nextafter(loss, math.inf) if math.isfinite(loss) else None


def ended(why: str) -> Event:
    """The event that says why a strategy ends."""
    return Event("end", {"why": why})


# --- the search space ---


Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp] | slice
ALL = slice(None)


@dataclass(frozen=True, slots=True, eq=False)
class SearchSpace:
    """The dimensions of the unit cube, and what its points stand for.

    This class itself is a plain product of dimensions, as mathematical functions have it: the values of a dimension are
    bins of equal width. A space of models overrides the methods.

    levels    the number of values of each dimension, 0 if it is continuous
    ordered   whether neighbouring values are similar, as with numbers
    groups    the number of the step, or of the unit of a network, that each dimension belongs to
    heads     the dimensions that decide which alternative their group is, or whether it is present
    lows      the native number at the lower wall of each dimension: that of the value itself, decades on a logarithmic
    highs     scale, the place of an option; at the upper wall. Where alternatives share a dimension, those of all
    varied    whether alternatives that share the dimension have different ranges
    absent    the value of a dimension that means "not present"; -1 if there is none
    optional  whether that value is beside a whole choice (`part?`), not one of its alternatives
    families  the number of a set of switches of which at least one stays on, such as the units of a network; else -1
    labels    the names of the dimensions
    channels  named groups of dimensions, in the order in which best-first search tries them
    start     the reference model: the first and simplest alternative everywhere
    size      the number of different models; None if it is infinite, or if evaluations of one model differ
    """

    levels: Integers
    lows: Vector
    highs: Vector
    varied: Flags
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
        lows: ArrayLike | None = None,
        highs: ArrayLike | None = None,
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
        """The search space of dimensions with this many values each; by default they are unrelated numbers.

        Their values are counted from 0, or lie in [0, 1] if they are continuous, unless `lows` and `highs` are given.
        """
        count = np.asarray(levels, dtype=np.int64)
        d = len(count)
        names = tuple(labels) or tuple(f"x{dimension}" for dimension in range(d))
        return cls(
            levels=count,
            lows=np.where(count > 0, -0.5, 0.0) if lows is None else np.asarray(lows, dtype=np.float64),
            highs=np.where(count > 0, count - 0.5, 1.0) if highs is None else np.asarray(highs, dtype=np.float64),
            varied=np.zeros(d, dtype=np.bool_),
            ordered=np.ones(d, dtype=np.bool_) if ordered is None else np.asarray(ordered, dtype=np.bool_),
            groups=np.arange(d) if groups is None else np.asarray(groups, dtype=np.int64),
            heads=np.isin(np.arange(d), heads),
            absent=np.array([(absent or {}).get(dimension, -1) for dimension in range(d)], dtype=np.int64),
            optional=np.isin(np.arange(d), optional),
            families=np.array([(families or {}).get(dimension, -1) for dimension in range(d)], dtype=np.int64),
            labels=names,
            channels={name: (dimension,) for dimension, name in enumerate(names)} if channels is None else channels,
            start=np.where(count > 0, 0.5 / np.maximum(count, 1), 0.0) if start is None else start,
            size=math.prod(count.tolist()) if (count > 0).all() else None,
        )

    @classmethod
    def continuous(cls, n_dimensions: int) -> Self:
        """A plain cube."""
        return cls.of(np.zeros(n_dimensions))

    @property
    def n_dimensions(self) -> int:
        return len(self.levels)

    @property
    def bits(self) -> Flags:
        """The dimensions with two values."""
        return np.asarray(self.levels == 2)

    @property
    def switches(self) -> Flags:
        """The dimensions that turn something off or on."""
        return np.asarray(self.absent >= 0)

    def cells(self, vectors: Vectors, dimensions: Indices = ALL) -> Vectors:
        """The number of the value in each dimension, or in some; continuous dimensions as they are."""
        points, levels = vectors[..., dimensions], self.levels[dimensions]
        numbers = points * levels
        np.minimum(np.floor(numbers, out=numbers), levels - 1.0, out=numbers)
        numbers = numbers if levels.all() else np.where(levels > 0, numbers, points)
        numbers += 0.0  # no value is minus zero
        return numbers

    def centres(self, cells: Vectors) -> Vectors:
        """The points in the middle of the values with these numbers."""
        return np.where(self.levels > 0, (cells + 0.5) / np.maximum(self.levels, 1), cells)

    def decode(self, vector: Vector) -> Hashable | None:
        """The model of a point, equal for points of the same model; None if there is none."""
        return self.cells(vector).tobytes()

    def encode(self, model: Hashable) -> Vector | None:
        """The point of a model, as decoding would round it; None if the model is not in this space."""
        if not isinstance(model, bytes) or len(model) != 8 * self.n_dimensions:
            return None
        return self.centres(np.frombuffer(model, dtype=np.float64))

    @property
    def references(self) -> Sequence[Vector]:
        """The models worth trying before any other: each learner with its defaults, in the order of the space."""
        return (self.start,)

    def cost(self, vector: Vector) -> float:
        """What an evaluation of the point takes, as declared; 0 where nothing is declared."""
        return 0.0

    @property
    def most_cost(self) -> float:
        """The cost from which on strategies that know of costs do not propose a point."""
        return math.inf

    def ends_here(self, vector: Vector) -> tuple[Vector, Vector]:
        """The native numbers at the walls, given the alternatives at a point; those of all where it has no effect."""
        return self.lows, self.highs

    def values(self, dimension: int, vector: Vector, steps: int) -> Vector:
        """The positions of the values of a dimension, given the other dimensions; `steps` even ones if continuous."""
        count = int(self.levels[dimension])
        return (np.arange(count) + 0.5) / count if count else np.linspace(0.0, 1.0, steps)

    def dimensions_here(self, channel: str, vector: Vector) -> tuple[int, ...]:
        """The dimensions of this channel at a point: alternatives may share a dimension and use it differently."""
        return self.channels[channel]

    @property
    def is_steered(self) -> bool:
        """Whether priors or weights steer draws."""
        return False

    def steered(self, points: Vectors, fresh: Flags | None = None) -> Vectors:
        """Uniform points as priors and weights would draw them; only the `fresh` numbers, if they are given."""
        return points

    def draw(self, rng: np.random.Generator, size: int) -> Vectors:
        """Points whose models are equally likely, or as likely as priors and weights make them."""
        return rng.random((size, self.n_dimensions))

    def walk(self, steps: int) -> Iterator[Vector]:
        """A point for every model, continuous dimensions at `steps` values; the last dimension changes fastest."""
        axes = [self.values(dimension, self.start, steps).tolist() for dimension in range(self.n_dimensions)]
        point, places = np.array([axis[0] for axis in axes]), [0] * len(axes)
        while True:
            yield point.copy()
            for dimension in reversed(range(len(axes))):
                places[dimension] = (places[dimension] + 1) % len(axes[dimension])
                point[dimension] = axes[dimension][places[dimension]]
                if places[dimension]:
                    break
            else:
                return

    def describe(self, vector: Vector, dimensions: Sequence[int]) -> str:
        """The values of some dimensions as text."""
        cells = self.cells(vector)
        return ", ".join(f"{self.labels[dimension]} = {cells[dimension]:.4g}" for dimension in dimensions)


# --- channels: named groups of dimensions that best-first search optimises together ---


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """Continuous dimensions take `steps` even values; `patience` is how often selection may fail in a row."""

    name: str
    dimensions: tuple[int, ...]
    search_space: SearchSpace
    steps: int
    patience: int

    def here(self, at: Vector) -> Channel | None:
        """The channel with its dimensions at a point; None if the model there has none of them."""
        dimensions = self.search_space.dimensions_here(self.name, at)
        return replace(self, dimensions=dimensions) if dimensions else None

    @property
    def is_numbers(self) -> bool:
        """Whether all dimensions are ordered or binary, such as weights, and features that are in or out."""
        can_be = self.search_space.ordered | self.search_space.bits
        return bool(can_be[list(self.dimensions)].all())

    def values(self, dimension: int, at: Vector) -> list[float]:
        return [float(value) for value in self.search_space.values(dimension, at, self.steps)]

    def combinations(self, at: Vector) -> int:
        return math.prod(len(self.values(dimension, at)) for dimension in self.dimensions)

    def off(self, dimension: int, at: Vector) -> float:
        """The value that means absent, else the first."""
        values = self.values(dimension, at)
        return values[
            max(int(self.search_space.absent[dimension]), 0) if self.search_space.absent[dimension] < len(values) else 0
        ]

    def on(self, dimension: int, at: Vector) -> float:
        """The last value, or the first if the last means absent."""
        values = self.values(dimension, at)
        return values[-1] if values[-1] != self.off(dimension, at) else values[0]

    def put(self, at: Vector, dimensions: Iterable[int], values: Iterable[float]) -> Vector:
        """The point with other values of some dimensions."""
        changed = at.copy()
        for dimension, value in zip(dimensions, values, strict=True):
            changed[dimension] = value
        return changed

    def changes(self, at: Vector, dimensions: Iterable[int]) -> Iterator[Vector]:
        """All points that differ in one of these dimensions."""
        return (
            self.put(at, (dimension,), (value,)) for dimension in dimensions for value in self.values(dimension, at)
        )

    def other_models(self, at: Vector, points: Iterable[Vector]) -> Iterator[Vector]:
        """Those points that are models other than the one here."""
        model = self.search_space.decode(at)
        return (point for point in points if self.search_space.decode(point) not in (None, model))


def channels_of(search_space: SearchSpace, steps: int, patience: int) -> list[Channel]:
    """The channels of the search space that have dimensions."""
    return [
        Channel(name, dimensions, search_space, steps, patience)
        for name, dimensions in search_space.channels.items()
        if dimensions
    ]
