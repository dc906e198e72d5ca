"""Swarm: the best points that particles remember, and whom they follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.search.alternatives import points_for_rare
from msl.search.ask import Ask, Event, Told, Vectors, best_of, worse_than
from msl.search.fresh import Fresh
from msl.search.setting import Setting
from msl.space.value import SymbolValue

#: Points beyond the first swarm, for alternatives that it lacks.
_MOST_RARE = 1_000


class Bests:
    """Each particle's best point, and the leader that it follows: the swarm's best, or its neighbours'."""

    def __init__(self, x: Vectors, told: list[Told], topology: Any = "global") -> None:
        self.told = list(told)
        self.positions: Vectors = x.copy()
        self.losses: NDArray[np.float64] = np.array([one.loss for one in told])
        self._before: Told | None = None
        self._reach = int(dict(topology.params)["k"]) if isinstance(topology, SymbolValue) else None  # type: ignore[arg-type]

    def update(self, x: Vectors, told: list[Told]) -> bool:
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

    def start_again(self, x: Vectors, told: list[Told]) -> bool:
        """Forgets where the particles were best, not what was best of all; whether the best loss fell."""
        before = self.lowest
        self._before = self._best
        self.told, self.positions, self.losses = list(told), x.copy(), np.array([one.loss for one in told])
        return self.lowest < before

    @property
    def _best(self) -> Told | None:
        return best_of(self.told if self._before is None else [self._before, *self.told])

    def leaders(self) -> Vectors:
        """The position that each particle is drawn to beside its own."""
        if self._reach is None:
            return np.broadcast_to(self.positions[self.losses.argmin()], self.positions.shape)
        m = len(self.losses)
        neighbours = (np.arange(m)[:, None] + np.arange(-self._reach, self._reach + 1)) % m
        winners = neighbours[np.arange(m), self.losses[neighbours].argmin(axis=1)]
        return np.asarray(self.positions[winners])

    def challenges(self, x: Vectors) -> list[Ask]:
        """Asks for new positions: what is worse than a particle's own best changes nothing."""
        return [Ask(position, beat=worse_than(best)) for position, best in zip(x, self.losses.tolist(), strict=True)]

    def event(self, iteration: int, inertia: float | None, told: list[Told]) -> Event:
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
        self._fresh = None if after is None else Fresh(setting.terrain, setting.known)

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
    rare = points_for_rare(setting.terrain, list(points), floor, setting.rng, _MOST_RARE)
    return np.array([*points, *rare])


def best_swarm(told: list[Told], size: int) -> list[Told]:
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
