"""Incumbent: the best point so far, or the front with several objectives."""

from __future__ import annotations

from collections.abc import Sequence

from msl.search.ask import Told, best_of, worse_than
from msl.search.pareto import front_of


class Incumbent:
    """What a strategy would answer now, and what a new point has to beat."""

    def __init__(self, objectives: int) -> None:
        self._objectives = objectives
        self.chosen: tuple[Told, ...] = ()

    def update(self, told: Sequence[Told]) -> None:
        if self._objectives > 1:
            self.chosen = front_of([*self.chosen, *told])
        elif (best := best_of([*self.chosen, *told])) is not None:
            self.chosen = (best,)

    @property
    def loss(self) -> float:
        """The lowest loss; of the first objective, with several."""
        return self.chosen[0].loss if self.chosen else float("inf")

    @property
    def beat(self) -> float | None:
        """With several objectives every loss matters."""
        return worse_than(self.loss) if self._objectives == 1 else None
