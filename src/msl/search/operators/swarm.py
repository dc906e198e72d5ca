"""Points: where particles are and what they were told there, as arrays of one row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from msl.search.base import Event, Flags, Observation, Query, SearchSpace, Vectors, best_of, worse_than
from msl.search.operators.initialise import UnseenPoints, points_for_rare
from msl.search.operators.pareto import Losses, Places, losses_of
from msl.search.setting import Setting
from msl.space.values import SymbolValue


@dataclass(frozen=True, slots=True, eq=False)
class SwarmPoints:
    """Positions differ from the points that were asked for where a position is only the readiness for a bit."""

    positions: Vectors
    losses: Losses
    told: tuple[Observation, ...]

    @classmethod
    def of(cls, positions: Vectors, told: list[Observation]) -> Self:
        return cls(positions, losses_of(told), tuple(told))

    def __len__(self) -> int:
        return len(self.told)

    def at(self, places: Places) -> SwarmPoints:
        return SwarmPoints(self.positions[places], self.losses[places], tuple(self.told[place] for place in places))

    def joined(self, other: SwarmPoints, places: Places) -> SwarmPoints:
        """Some of both: those of the other are numbered after these."""
        here, there = split(places, len(self))
        return SwarmPoints(
            np.concatenate([self.positions[here], other.positions[there]]),
            np.concatenate([self.losses[here], other.losses[there]]),
            tuple(self.told[place] for place in here) + tuple(other.told[place] for place in there),
        )

    def replaced(self, where: NDArray[np.bool_], other: SwarmPoints) -> SwarmPoints:
        """The other's points where it says so."""
        return SwarmPoints(
            np.where(where[:, None], other.positions, self.positions),
            np.where(where[:, None], other.losses, self.losses),
            tuple(new if take else old for take, new, old in zip(where, other.told, self.told, strict=True)),
        )


def split(places: Places, size: int) -> tuple[Places, Places]:
    """Places among two rows of points as places in the first, which is so long, and in the second."""
    return places[places < size], places[places >= size] - size


# --- Reading: how a swarm's positions are read as features that are in or out — bits, or readiness above a threshold.


@dataclass(frozen=True, slots=True, eq=False)
class FeatureReading:
    """Of genes with two values. Binary: bits that velocities toss. Continuous: on above the threshold."""

    bits: Flags
    readiness: Flags
    threshold: float

    @classmethod
    def of(cls, search_space: SearchSpace, encoding: Any, threshold: float) -> FeatureReading:
        nothing = np.zeros(search_space.dimensions, dtype=np.bool_)
        if encoding == "binary":
            return cls(search_space.bits, nothing, threshold)
        return cls(nothing, search_space.bits, threshold)

    def positions(self, points: Vectors) -> Vectors:
        """Where particles start."""
        return as_bits(points, self.bits)

    def moved(self, flight: VelocityRule, x: Vectors, v: Vectors) -> tuple[Vectors, Vectors]:
        return flight.tossed(x, v, self.bits) if self.bits.any() else flight.moved(x, v)

    def asks(self, positions: Vectors) -> list[Query]:
        """With several objectives every loss matters, so none may be cut short."""
        if self.readiness.any():
            positions = np.where(self.readiness, positions > self.threshold, positions)
        return [Query(point) for point in positions]

    def points(self, positions: Vectors, told: list[Observation]) -> SwarmPoints:
        """As the decoder wrote them back, but for readiness, which is more than the bit that it gives."""
        back = written_back(told)
        if self.readiness.any():
            return SwarmPoints.of(np.where(self.readiness, positions, back), told)
        return SwarmPoints.of(as_bits(back, self.bits), told)


# --- Inertia: how much of its speed a particle keeps, constant or falling in a straight line. -------------------------


def inertia_schedule(option: Any, iterations: int) -> Callable[[int], float]:
    """The inertia of iteration t = 1, 2, …: `ramp(first, last, over)` falls over that share of the iterations."""
    if not isinstance(option, SymbolValue):
        return lambda t: float(option)
    given = dict(option.params)
    first, last, over = float(given["first"]), float(given["last"]), float(given["over"])  # type: ignore[arg-type]
    length = max(iterations * over, 1.0)
    return lambda t: first - (first - last) * min((t - 1) / length, 1.0)


# --- Flight: how particles move — the rule of their velocity, and the ways in which a velocity moves a gene. ----------


#: With an inertia above 1 a velocity can grow without end; this keeps it a number, and is far above any that matters.
_FASTEST = 1e9


@dataclass(frozen=True, slots=True)
class VelocityRule:
    """v ← w·v + c1·r1·(own best − x) + c2·r2·(leader − x), with r1 and r2 uniform in [0, 1] for each gene."""

    c1: float
    c2: float
    vmax: float | None
    rng: np.random.Generator
    wall: str = "clip"

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
        """x ← x + v, and the velocity after it: a wall of the cube stops a particle, or throws it back."""
        beyond = x + v
        inside = np.clip(beyond, 0.0, 1.0)
        if self.wall == "clip":
            return inside, v
        return 1.0 - np.abs(beyond % 2.0 - 1.0), np.where(beyond == inside, v, -v)

    def tossed(self, x: Vectors, v: Vectors, bits: Flags) -> tuple[Vectors, Vectors]:
        """A bit is on with probability 1 / (1 + e^−v); genes with other values move as always."""
        chance = np.exp(-v)
        chance += 1.0
        np.reciprocal(chance, out=chance)
        drawn = self.rng.random(x.shape) < chance
        if bits.all():
            return drawn.astype(np.float64), v
        moved, after = self.moved(x, v)
        return np.where(bits, drawn, moved), np.where(bits, v, after)


def as_bits(x: Vectors, bits: Flags) -> Vectors:
    """Genes with two values as 0 and 1, the others as they are."""
    return np.where(bits, x >= 0.5, x) if bits.any() else x


def written_back(told: Sequence[Observation]) -> Vectors:
    """The positions as the decoder clipped and rounded them, from which the next step is taken."""
    return np.array([one.vector for one in told])


def scattered(
    search_space: SearchSpace, before: Vectors, x: Vectors, v: Vectors, rng: np.random.Generator
) -> tuple[Vectors, Vectors]:
    """Particles that would not leave their model start again, at rest and anywhere."""
    is_idle = np.array(
        [search_space.decode(old) == search_space.decode(new) for old, new in zip(before, x, strict=True)]
    )
    return np.where(is_idle[:, None], rng.random(x.shape), x), np.where(is_idle[:, None], 0.0, v)


# --- Swarm: the best points that particles remember, and whom they follow. --------------------------------------------


#: Points beyond the first swarm, for alternatives that it lacks.
_MOST_RARE = 1_000


class Bests:
    """Each particle's best point, and the leader that it follows: the swarm's best, or its neighbours'."""

    def __init__(self, x: Vectors, told: list[Observation], topology: Any = "global") -> None:
        self.told = list(told)
        self.positions: Vectors = x.copy()
        self.losses: NDArray[np.float64] = np.array([one.loss for one in told])
        self._before: Observation | None = None
        self._reach = int(dict(topology.params)["k"]) if isinstance(topology, SymbolValue) else None  # type: ignore[arg-type]

    def update(self, x: Vectors, told: list[Observation]) -> bool:
        """Takes what is better; whether the swarm's best loss fell."""
        before = self.lowest
        for particle, one in enumerate(told):
            if not one.bound and one.loss < self.losses[particle]:
                self.told[particle] = one
                self.positions[particle], self.losses[particle] = x[particle], one.loss
        return self.lowest < before

    @property
    def lowest(self) -> float:
        """The swarm's best loss, also from before it was thrown anew."""
        lowest = float(self.losses.min())
        return lowest if self._before is None else min(lowest, self._before.loss)

    def start_again(self, x: Vectors, told: list[Observation]) -> bool:
        """Forgets where the particles were best, not what was best of all; whether the best loss fell."""
        before = self.lowest
        self._before = self._best
        self.told, self.positions, self.losses = list(told), x.copy(), np.array([one.loss for one in told])
        return self.lowest < before

    @property
    def _best(self) -> Observation | None:
        return best_of(self.told if self._before is None else [self._before, *self.told])

    def leaders(self) -> Vectors:
        """The position that each particle is drawn to beside its own."""
        if self._reach is None:
            return np.broadcast_to(self.positions[self.losses.argmin()], self.positions.shape)
        m = len(self.losses)
        neighbours = (np.arange(m)[:, None] + np.arange(-self._reach, self._reach + 1)) % m
        winners = neighbours[np.arange(m), self.losses[neighbours].argmin(axis=1)]
        return np.asarray(self.positions[winners])

    def challenges(self, x: Vectors) -> list[Query]:
        """Asks for new positions: what is worse than a particle's own best changes nothing."""
        return [
            Query(position, cutoff=worse_than(best)) for position, best in zip(x, self.losses.tolist(), strict=True)
        ]

    def event(self, iteration: int, inertia: float | None, told: list[Observation]) -> Event:
        figures = {
            "iteration": iteration,
            "inertia": inertia,
            "losses": [one.loss for one in told],
            "best": self.lowest,
        }
        best = self._best
        return Event("iteration", figures, () if best is None else (best,), tuple(self.told))


class Restarts:
    """Throws a swarm anew that would ask for nothing new, the `after`-th time in a row; never without that number."""

    def __init__(self, setting: Setting, after: int | None) -> None:
        self._setting, self._after, self._in_vain = setting, after, 0
        self._fresh = None if after is None else UnseenPoints(setting.search_space, setting.known)

    def saw(self, x: Vectors) -> bool:
        """Remembers the models of these points; whether one of them is new."""
        return self._fresh is not None and bool(list(self._fresh.of(x)))

    def new_swarm(self, x: Vectors) -> Vectors | None:
        """Points anywhere, of models that nobody has asked for as far as there are some, instead of these; else None.

        Empty where there are no new models any more.
        """
        if self._fresh is None or self._after is None:
            return None
        self._in_vain = 0 if self.saw(x) else self._in_vain + 1
        if self._in_vain < self._after:
            return None
        self._in_vain = 0
        rng = self._setting.rng
        points = self._fresh.draws(lambda more: rng.random((more, x.shape[1])), len(x))
        if not points:
            return x[:0]
        return np.array([*points, *rng.random((len(x) - len(points), x.shape[1]))])

    @property
    def why_none(self) -> str:
        has_all = self._fresh is not None and self._fresh.has_all
        return "all models are known" if has_all else "draws give no new model any more"


def first_swarm(setting: Setting, size: int, floor: int) -> Vectors:
    """The points that a swarm starts from, and more of them where an alternative has fewer than `floor`."""
    points = setting.first_points(size)
    if not floor:
        return points
    rare = points_for_rare(setting.search_space, list(points), floor, setting.rng, _MOST_RARE)
    return np.array([*points, *rare])


def best_swarm(told: list[Observation], size: int) -> list[Observation]:
    """The best of the first points, in their order."""
    if len(told) == size:
        return told
    ranked = sorted(range(len(told)), key=lambda place: (not told[place].is_exact, told[place].loss))
    return [told[place] for place in sorted(ranked[:size])]


class Patience:
    """Counts iterations without improvement; gives up after `stall` of them."""

    def __init__(self, stall: int | None) -> None:
        self._stall, self._stalled = stall, 0

    def is_over(self, improved: bool) -> bool:
        self._stalled = 0 if improved else self._stalled + 1
        return self._stall is not None and self._stalled >= self._stall
