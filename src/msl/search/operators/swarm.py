"""The parts of particle swarms: positions, velocities, personal bests, leaders, restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from msl.search.base import Event, Flags, Observation, Query, SearchSpace, Vectors, best_of, worse_than
from msl.search.operators.initialise import UnseenPoints, points_for_rare
from msl.search.operators.native_units import CubeUnits, Units, clipped, reflected
from msl.search.operators.pareto import Losses, Places, losses_of
from msl.search.strategy_context import Setting
from msl.space.values import SymbolValue


@dataclass(frozen=True, slots=True, eq=False)
class SwarmPoints:
    """The positions of particles with their losses, one row each.

    Where a bit is on if its coordinate is above a threshold, the position is that coordinate, and the query the bit.
    """

    positions: Vectors
    losses: Losses
    observations: tuple[Observation, ...]

    @classmethod
    def of(cls, positions: Vectors, observations: list[Observation]) -> Self:
        return cls(positions, losses_of(observations), tuple(observations))

    def __len__(self) -> int:
        return len(self.observations)

    def at(self, places: Places) -> SwarmPoints:
        return SwarmPoints(
            self.positions[places], self.losses[places], tuple(self.observations[place] for place in places)
        )

    def joined(self, other: SwarmPoints, places: Places) -> SwarmPoints:
        """Some of both; the other's points are numbered after these."""
        here, there = split(places, len(self))
        return SwarmPoints(
            np.concatenate([self.positions[here], other.positions[there]]),
            np.concatenate([self.losses[here], other.losses[there]]),
            tuple(self.observations[place] for place in here) + tuple(other.observations[place] for place in there),
        )

    def replaced(self, where: NDArray[np.bool_], other: SwarmPoints) -> SwarmPoints:
        """The other's points where the mask is set."""
        return SwarmPoints(
            np.where(where[:, None], other.positions, self.positions),
            np.where(where[:, None], other.losses, self.losses),
            tuple(
                new if take else old
                for take, new, old in zip(where, other.observations, self.observations, strict=True)
            ),
        )


def split(places: Places, size: int) -> tuple[Places, Places]:
    """Places among two arrays, one after the other, as places in the first, of this size, and in the second."""
    return places[places < size], places[places >= size] - size


# --- dimensions with two values ---


@dataclass(frozen=True, slots=True, eq=False)
class FeatureReading:
    """How positions give the values of binary dimensions.

    With the encoding `binary` they are bits, drawn with the probability that the velocity gives; with `continuous`
    they are on above the threshold.
    """

    bits: Flags
    readiness: Flags
    threshold: float

    @classmethod
    def of(cls, search_space: SearchSpace, encoding: Any, threshold: float) -> FeatureReading:
        nothing = np.zeros(search_space.n_dimensions, dtype=np.bool_)
        if encoding == "binary":
            return cls(search_space.bits, nothing, threshold)
        return cls(nothing, search_space.bits, threshold)

    def positions(self, points: Vectors) -> Vectors:
        """The positions of particles that start at these points."""
        return as_bits(points, self.bits)

    def moved(self, rule: VelocityRule, x: Vectors, v: Vectors) -> tuple[Vectors, Vectors]:
        return rule.tossed(x, v, self.bits) if self.bits.any() else rule.moved(x, v)

    def queries(self, positions: Vectors) -> list[Query]:
        """The queries at these positions; with several objectives every loss matters, so there is no cutoff."""
        if self.readiness.any():
            positions = np.where(self.readiness, positions > self.threshold, positions)
        return [Query(point) for point in positions]

    def points(self, positions: Vectors, observations: list[Observation]) -> SwarmPoints:
        """The decoded points, except for coordinates that are only compared with the threshold."""
        back = written_back(observations)
        if self.readiness.any():
            return SwarmPoints.of(np.where(self.readiness, positions, back), observations)
        return SwarmPoints.of(as_bits(back, self.bits), observations)


# --- velocity ---


def inertia_schedule(option: Any, iterations: int) -> Callable[[int], float]:
    """The inertia of iteration t = 1, 2, …: a constant, or `ramp(first, last, over)` over that share of iterations."""
    if not isinstance(option, SymbolValue):
        return lambda t: float(option)
    given = dict(option.params)
    first, last, over = float(given["first"]), float(given["last"]), float(given["over"])  # type: ignore[arg-type]
    length = max(iterations * over, 1.0)
    return lambda t: first - (first - last) * min((t - 1) / length, 1.0)


#: With an inertia above 1 a velocity can grow without limit; this keeps it finite, and is far above any that matters.
_FASTEST = 1e9


@dataclass(frozen=True, slots=True)
class VelocityRule:
    """v ← w·v + c1·r1·(own best − x) + c2·r2·(leader − x), with r1 and r2 uniform in [0, 1] for each dimension."""

    c1: float
    c2: float
    vmax: float | None
    rng: np.random.Generator
    wall: str = "clip"
    #: What positions and velocities are in.
    units: Units = field(default_factory=CubeUnits)

    def velocity(self, inertia: float, v: Vectors, x: Vectors, own: Vectors, leaders: Vectors) -> Vectors:
        v = inertia * v
        for pull, towards in ((self.c1, own), (self.c2, leaders)):
            step = self.rng.random(x.shape)  # in place: arrays of a large swarm cost more to make than to fill
            step *= pull
            step *= towards - x
            v += step
        fastest = _FASTEST if self.vmax is None else self.vmax
        return np.clip(v, -fastest, fastest, out=v)

    def moved(self, x: Vectors, v: Vectors) -> tuple[Vectors, Vectors]:
        """The point of the cube at x + v, and the velocity after it: a wall stops a particle, or reflects it; with
        `absolute` a number below 0 loses its sign before the walls stop it."""
        beyond = x + v
        if self.wall == "absolute":
            beyond = np.abs(beyond)
        if self.wall != "reflect":
            return clipped(self.units.shares(beyond, clipped)), v
        shares = self.units.shares(beyond, reflected)
        return reflected(shares), np.where(shares == clipped(shares), v, -v)

    def tossed(self, x: Vectors, v: Vectors, bits: Flags) -> tuple[Vectors, Vectors]:
        """A bit is on with probability 1 / (1 + e^−v); other dimensions move by x ← x + v."""
        chance = np.exp(-v)
        chance += 1.0
        np.reciprocal(chance, out=chance)
        drawn = self.rng.random(x.shape) < chance
        if bits.all():
            return drawn.astype(np.float64), v
        moved, after = self.moved(x, v)
        return np.where(bits, drawn, moved), np.where(bits, v, after)


def as_bits(x: Vectors, bits: Flags) -> Vectors:
    """Binary dimensions as 0 and 1, the others as they are."""
    return np.where(bits, x >= 0.5, x) if bits.any() else x


def written_back(observations: Sequence[Observation]) -> Vectors:
    """The positions as decoding clipped and rounded them, from which the next step is taken."""
    return np.array([one.vector for one in observations])


def scattered(
    search_space: SearchSpace, before: Vectors, x: Vectors, v: Vectors, rng: np.random.Generator
) -> tuple[Vectors, Vectors]:
    """Particles that would stay at their model restart at a uniform position with velocity 0."""
    is_idle = np.array(
        [search_space.decode(old) == search_space.decode(new) for old, new in zip(before, x, strict=True)]
    )
    anew = search_space.steered(rng.random(x.shape))
    return np.where(is_idle[:, None], anew, x), np.where(is_idle[:, None], 0.0, v)


# --- personal bests and leaders ---


#: The most additional points of a first swarm for alternatives that it lacks.
_MOST_RARE = 1_000


class Bests:
    """Each particle's best point, and the leader that it follows: the swarm's best, or its neighbours'."""

    def __init__(
        self, x: Vectors, observations: list[Observation], topology: Any = "global", stands: bool = False
    ) -> None:
        """`stands` says that the best is the result although other models may have lower losses on other splits."""
        self._stands = stands
        self.observations = list(observations)
        self.positions: Vectors = x.copy()
        self.losses: NDArray[np.float64] = np.array([one.loss for one in observations])
        self._before: Observation | None = None
        self._reach = int(dict(topology.params)["k"]) if isinstance(topology, SymbolValue) else None  # type: ignore[arg-type]

    def update(self, x: Vectors, observations: list[Observation]) -> bool:
        """Updates the personal bests; returns whether the swarm's best loss fell."""
        before = self.lowest
        for particle, one in enumerate(observations):
            if not one.bound and one.loss < self.losses[particle]:
                self.observations[particle] = one
                self.positions[particle], self.losses[particle] = x[particle], one.loss
        return self.lowest < before

    @property
    def lowest(self) -> float:
        """The swarm's best loss, restarts included."""
        lowest = float(self.losses.min())
        return lowest if self._before is None else min(lowest, self._before.loss)

    def start_again(self, x: Vectors, observations: list[Observation]) -> bool:
        """Forgets the personal bests, but not the best of all; returns whether the best loss fell."""
        before = self.lowest
        self._before = self._best
        self.observations, self.positions, self.losses = (
            list(observations),
            x.copy(),
            np.array([one.loss for one in observations]),
        )
        return self.lowest < before

    @property
    def _best(self) -> Observation | None:
        return best_of(self.observations if self._before is None else [self._before, *self.observations])

    def leaders(self, now: Vectors | None = None) -> Vectors:
        """The position that each particle follows beside its own best: that of the lowest best loss among its
        neighbours, or where the particle that had it is `now`."""
        positions = self.positions if now is None else now
        if self._reach is None:
            return np.broadcast_to(positions[self.losses.argmin()], positions.shape)
        m = len(self.losses)
        neighbours = (np.arange(m)[:, None] + np.arange(-self._reach, self._reach + 1)) % m
        winners = neighbours[np.arange(m), self.losses[neighbours].argmin(axis=1)]
        return np.asarray(positions[winners])

    def challenges(self, points: Vectors, repeats: Iterator[int] | None = None) -> list[Query]:
        """Queries at new points; losses above a particle's own best do not matter."""
        cutoffs = map(worse_than, self.losses.tolist())
        return [replace(one, cutoff=cutoff) for one, cutoff in zip(queries(points, repeats), cutoffs, strict=True)]

    def event(self, iteration: int, inertia: float | None, observations: list[Observation]) -> Event:
        figures = {
            "iteration": iteration,
            "inertia": inertia,
            "losses": [one.loss for one in observations],
            "best": self.lowest,
        }
        best = self._best
        return Event("iteration", figures, () if best is None else (best,), tuple(self.observations), self._stands)


def queries(points: Vectors, repeats: Iterator[int] | None = None) -> list[Query]:
    """Queries at these points, each on splits of its own if repeats are numbered."""
    return [Query(point) if repeats is None else Query(point, repeat=next(repeats)) for point in points]


class Restarts:
    """Restarts a swarm that would query no new model for the `after`-th iteration in a row; never if that is None."""

    def __init__(self, setting: Setting, after: int | None) -> None:
        self._setting, self._after, self._in_vain = setting, after, 0
        self._unseen = None if after is None else UnseenPoints(setting.search_space, setting.known)

    def saw(self, x: Vectors) -> bool:
        """Remembers the models of these points; returns whether one of them is new."""
        return self._unseen is not None and bool(list(self._unseen.of(x)))

    def new_swarm(self, x: Vectors) -> Vectors | None:
        """Uniform points if it is time to restart, of new models as far as there are some, else None; may be empty."""
        if self._unseen is None or self._after is None:
            return None
        self._in_vain = 0 if self.saw(x) else self._in_vain + 1
        if self._in_vain < self._after:
            return None
        self._in_vain = 0
        rng = self._setting.rng
        steered = self._setting.search_space.steered
        points = self._unseen.draws(
            lambda more: steered(rng.random((more, x.shape[1]))),
            len(x),
            otherwise=lambda more: rng.random((more, x.shape[1])),
        )
        if not points:
            return x[:0]
        return np.array([*points, *steered(rng.random((len(x) - len(points), x.shape[1])))])

    @property
    def why_none(self) -> str:
        has_all = self._unseen is not None and self._unseen.has_all
        return "all models are known" if has_all else "draws give no new model any more"


def first_swarm(setting: Setting, size: int, floor: int) -> Vectors:
    """The points of the first swarm, and more if an alternative of a step has fewer than `floor` of them."""
    points = setting.first_points(size)
    if not floor:
        return points
    rare = points_for_rare(setting.search_space, list(points), floor, setting.rng, _MOST_RARE)
    return np.array([*points, *rare])


def best_swarm(observations: list[Observation], size: int) -> list[Observation]:
    """The best of the first points, in their order."""
    if len(observations) == size:
        return observations
    ranked = sorted(
        range(len(observations)), key=lambda place: (not observations[place].is_exact, observations[place].loss)
    )
    return [observations[place] for place in sorted(ranked[:size])]


class Patience:
    """Counts iterations without improvement; it is over after `stall` of them in a row."""

    def __init__(self, stall: int | None) -> None:
        self._stall, self._stalled = stall, 0

    def is_over(self, improved: bool) -> bool:
        self._stalled = 0 if improved else self._stalled + 1
        return self._stall is not None and self._stalled >= self._stall
