"""Swarm: the best points that particles remember, and whom they follow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.search.ask import Ask, Event, Told, Vectors, best_of, worse_than
from msl.space.value import SymbolValue


class Bests:
    """Each particle's best point, and the leader that it follows: the swarm's best, or its neighbours'."""

    def __init__(self, x: Vectors, told: list[Told], topology: Any = "global") -> None:
        self.told = list(told)
        self.positions: Vectors = x.copy()
        self.losses: NDArray[np.float64] = np.array([one.loss for one in told])
        self._reach = int(dict(topology.params)["k"]) if isinstance(topology, SymbolValue) else None  # type: ignore[arg-type]

    def update(self, x: Vectors, told: list[Told]) -> bool:
        """Takes what is better; whether the swarm's best loss fell."""
        before = self.losses.min()
        for particle, one in enumerate(told):
            if not one.bound and one.loss < self.losses[particle]:
                self.told[particle] = one
                self.positions[particle], self.losses[particle] = x[particle], one.loss
        return bool(self.losses.min() < before)

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
            "best": float(self.losses.min()),
        }
        best = best_of(self.told)
        return Event("iteration", figures, () if best is None else (best,), tuple(self.told))


class Patience:
    """Counts iterations without improvement; gives up after `stall` of them."""

    def __init__(self, stall: int | None) -> None:
        self._stall, self._stalled = stall, 0

    def is_over(self, improved: bool) -> bool:
        self._stalled = 0 if improved else self._stalled + 1
        return self._stall is not None and self._stalled >= self._stall
