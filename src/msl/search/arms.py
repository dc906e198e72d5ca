"""Arms: the small searches among which `auto` shares its evaluations; all of them start from the best point so far."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from msl.search.ask import Told, Vector, Vectors
from msl.search.flight import Flight, written_back
from msl.search.fresh import Fresh
from msl.search.setting import Setting
from msl.search.swarm import Bests

#: Points that an arm asks for at once.
WIDTH = 5
#: The constants of Clerc and Kennedy (2002), with which a swarm comes to rest by itself.
_INERTIA, _PULL = 0.7298, 1.49618
#: The pattern starts again when its steps are this small.
_SMALLEST_STEP = 0.01


class Arm(Protocol):
    """Proposes points and learns what they came to; no points when it knows no new ones."""

    def propose(self, best: Told) -> list[Vector]: ...
    def learn(self, told: list[Told], improved: bool) -> None: ...


class RandomArm:
    """New models anywhere."""

    def __init__(self, setting: Setting, fresh: Fresh) -> None:
        self._setting, self._fresh = setting, fresh

    def propose(self, best: Told) -> list[Vector]:
        return self.draws(WIDTH)

    def draws(self, size: int) -> list[Vector]:
        rng, d = self._setting.rng, self._setting.terrain.dimensions
        return self._fresh.draws(lambda more: rng.random((more, d)), size)

    def learn(self, told: list[Told], improved: bool) -> None:
        pass


class SwarmArm:
    """Particles that follow the best point of all arms; walls throw them back, and idle ones are scattered."""

    def __init__(self, setting: Setting, first: list[Told]) -> None:
        self._setting = setting
        self._flight = Flight(_PULL, _PULL, None, setting.rng, "reflect")
        self._x: Vectors = written_back(first)
        self._v = np.zeros_like(self._x)
        self._bests = Bests(self._x, first)

    def propose(self, best: Told) -> list[Vector]:
        leaders = np.broadcast_to(best.vector, self._x.shape)
        self._v = self._flight.velocity(_INERTIA, self._v, self._x, self._bests.positions, leaders)
        x, self._v = self._flight.moved(self._x, self._v)
        decode = self._setting.terrain.decode
        for particle, (old, new) in enumerate(zip(self._x, x, strict=True)):
            if decode(old) == decode(new):
                x[particle], self._v[particle] = self._setting.rng.random(len(new)), 0.0
        return list(x)

    def learn(self, told: list[Told], improved: bool) -> None:
        self._x = written_back(told)
        self._bests.update(self._x, told)


class PatternArm:
    """Changes of one gene of the best point, in a random order; smaller ones when none of them helped."""

    def __init__(self, setting: Setting, fresh: Fresh) -> None:
        self._setting, self._fresh = setting, fresh
        self._step = 0.5
        self._moves: list[tuple[int, float]] = []
        self._helped = True

    def propose(self, best: Told) -> list[Vector]:
        found: list[Vector] = []
        for _ in range(64):
            if not self._moves:
                self._next_sweep(best)
            gene, by = self._moves.pop()
            point = best.vector.copy()
            point[gene] = by if not self._setting.terrain.ordered[gene] else min(max(point[gene] + by, 0.0), 1.0)
            found.extend(self._fresh.of([point]))
            if len(found) == WIDTH:
                break
        return found

    def learn(self, told: list[Told], improved: bool) -> None:
        self._helped = self._helped or improved

    def _next_sweep(self, best: Told) -> None:
        """Steps up and down for numbers, all other values for alternatives; halved after a sweep in vain."""
        terrain = self._setting.terrain
        if not self._helped:
            self._step = self._step / 2 if self._step > _SMALLEST_STEP else 0.5
        self._helped = False
        moves = []
        for gene in range(terrain.dimensions):
            if terrain.ordered[gene]:
                moves += [(gene, self._step), (gene, -self._step)]
            else:
                moves += [(gene, float(value)) for value in terrain.values(gene, best.vector, WIDTH)]
        self._moves = [moves[place] for place in self._setting.rng.permutation(len(moves))]
