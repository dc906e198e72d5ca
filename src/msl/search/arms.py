"""Arms: the small searches among which `auto` shares its evaluations; all of them know the best point of all.

None of them lets an evaluation stop early: the forest learns from every loss.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from msl.search.anywhere import anywhere
from msl.search.ask import Ask, Told, Vector, Vectors
from msl.search.flight import Flight, scattered, written_back
from msl.search.foresight import foreseen
from msl.search.fresh import Fresh
from msl.search.pareto import by_rank
from msl.search.setting import Setting
from msl.search.swarm import Bests
from msl.search.terrain import Terrain

#: Points that an arm asks for at once.
WIDTH = 5
#: The constants of Clerc and Kennedy (2002), with which a swarm comes to rest by itself.
_INERTIA, _PULL = 0.7298, 1.49618
#: The pattern starts again with large steps when its steps are smaller than this.
_SMALLEST_STEP = 0.01
#: How many changes the pattern looks at to find new models before it lets the other arms go first.
_LOOKED_AT = 64


class Arm(Protocol):
    """Asks for points and learns what they came to; asks for none when it knows no new ones."""

    def asks(self, centre: Told) -> list[Ask]: ...
    def learn(self, told: list[Told]) -> None: ...


class RandomArm:
    """New models anywhere."""

    def __init__(self, setting: Setting, fresh: Fresh) -> None:
        self._setting, self._fresh = setting, fresh

    def asks(self, centre: Told) -> list[Ask]:
        return [Ask(point) for point in self.points(WIDTH)]

    def points(self, size: int) -> list[Vector]:
        return self._fresh.draws(lambda more: anywhere(self._setting.terrain, more, self._setting.rng), size)

    def learn(self, told: list[Told]) -> None:
        pass


class SwarmArm:
    """Particles that follow the best point of all arms; walls throw them back, and idle ones are scattered."""

    def __init__(self, setting: Setting, first: list[Told]) -> None:
        self._terrain: Terrain = setting.terrain
        self._flight = Flight(_PULL, _PULL, None, setting.rng, "reflect")
        self._x: Vectors = written_back(first)
        self._v = np.zeros_like(self._x)
        self._bests = Bests(self._x, first)

    @property
    def bests(self) -> tuple[Told, ...]:
        """Each particle's best point."""
        return tuple(self._bests.told)

    def asks(self, centre: Told) -> list[Ask]:
        leaders = np.broadcast_to(centre.vector, self._x.shape)
        v = self._flight.velocity(_INERTIA, self._v, self._x, self._bests.positions, leaders)
        x, v = self._flight.moved(self._x, v)
        x, self._v = scattered(self._terrain, self._x, x, v, self._flight.rng)
        return [Ask(point) for point in x]

    def learn(self, told: list[Told]) -> None:
        """When the evaluations end in the middle of a swarm, only its first particles have moved."""
        x = written_back(told)
        self._bests.update(x, told)
        self._x[: len(x)] = x


class ForestArm:
    """What a forest that has learnt from all arms expects the most of."""

    def __init__(self, setting: Setting, fresh: Fresh, seen: list[Told]) -> None:
        self._setting, self._fresh, self._seen = setting, fresh, seen

    def asks(self, centre: Told) -> list[Ask]:
        return [Ask(point) for point in foreseen(self._setting, self._fresh, by_rank(self._seen), WIDTH)]

    def learn(self, told: list[Told]) -> None:
        pass


class PatternArm:
    """Changes of one gene of the best point, in a random order: smaller ones after each sweep, and large ones again."""

    def __init__(self, setting: Setting, fresh: Fresh) -> None:
        self._terrain, self._rng, self._fresh = setting.terrain, setting.rng, fresh
        self._step = 1.0
        self._moves: list[tuple[int, float]] = []

    def asks(self, centre: Told) -> list[Ask]:
        points: list[Vector] = []
        for _ in range(_LOOKED_AT):
            if not self._moves:
                self._begin_sweep(centre.vector)
            if not self._moves:  # a single model has no genes
                break
            points.extend(self._fresh.of([self._changed(centre.vector, *self._moves.pop())]))
            if len(points) == WIDTH:
                break
        return [Ask(point) for point in points]

    def learn(self, told: list[Told]) -> None:
        pass

    def _begin_sweep(self, centre: Vector) -> None:
        """A step up and one down for numbers, half as large as in the last sweep; every value for alternatives."""
        self._step = self._step / 2 if self._step > _SMALLEST_STEP else 0.5
        moves: list[tuple[int, float]] = []
        for gene, is_number in enumerate(self._terrain.ordered):
            to = (self._step, -self._step) if is_number else self._terrain.values(gene, centre, WIDTH)
            moves.extend((gene, float(move)) for move in to)
        self._moves = [moves[place] for place in self._rng.permutation(len(moves))]

    def _changed(self, centre: Vector, gene: int, move: float) -> Vector:
        changed = centre.copy()
        changed[gene] = min(max(centre[gene] + move, 0.0), 1.0) if self._terrain.ordered[gene] else move
        return changed
