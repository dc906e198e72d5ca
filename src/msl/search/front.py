"""Front: the trace of a search with several objectives — the front of each iteration and its hypervolume."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from msl.search.ask import Event, Told
from msl.search.pareto import front_of, hypervolume, losses_of
from msl.search.setting import Setting


class Front:
    """Notes what a swarm would answer. The hypervolume is measured from the worst losses of the first swarm."""

    def __init__(self, setting: Setting) -> None:
        self._note = setting.note
        self._reference: tuple[float, ...] | None = None

    def update(self, iteration: int, swarm: Sequence[Told], chosen: Sequence[Told] | None = None) -> None:
        """What is chosen is the front of the swarm unless something else is said."""
        front = front_of(swarm) if chosen is None else tuple(chosen)
        finite = [one for one in swarm if one.is_exact]
        if self._reference is None and finite:
            self._reference = tuple(np.max(losses_of(finite), axis=0).tolist())
        volume = hypervolume(losses_of(front), self._reference) if front and self._reference is not None else 0.0
        figures = {
            "iteration": iteration,
            "front": [one.losses for one in front],
            "hypervolume": volume,
            "reference": self._reference,
            "feasible": len(finite),
        }
        self._note(Event("front", figures, front, tuple(swarm)))
