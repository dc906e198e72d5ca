"""Setting: what a strategy starts with, and where it starts from."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from msl.search.base import Event, Observation, Query, SearchSpace, Vector, Vectors, best_of, worse_than
from msl.search.operators.pareto import by_rank, front_of, hypervolume, losses_of

Asks = list[Query]
Strategy = Generator[Asks, list[Observation], None]

#: How often a first point that is no model is drawn again.
_REDRAWS = 20


@dataclass(frozen=True, slots=True)
class Setting:
    """The terrain, the options, the randomness, what stages before this one found, and where to note events."""

    search_space: SearchSpace
    options: Mapping[str, Any]
    rng: np.random.Generator
    known: Sequence[Observation] = ()
    objectives: int = 1
    start: Vector | None = None
    note: Callable[[Event], None] = lambda event: None

    def seeds(self, size: int) -> list[Vector]:
        """The start that was asked for, then the best different points so far; the front first if it is one."""
        seeds: dict[bytes, Vector] = {} if self.start is None else {self.start.tobytes(): self.start}
        for one in by_rank([one for one in self.known if one.is_exact]):
            if len(seeds) >= size:
                break
            seeds.setdefault(one.vector.tobytes(), one.vector)
        return list(seeds.values())[:size]

    def first_point(self) -> Vector:
        """Where a point strategy starts: as asked for, at the best so far, or anywhere."""
        return np.asarray(self.first_points(1)[0])

    def first_points(self, size: int) -> Vectors:
        """Uniform in the cube, and models where that can be told; the seeds come first."""
        points = self.rng.random((size, self.search_space.dimensions))
        seeds = self.seeds(size)
        for position in range(len(seeds), size):
            for _ in range(_REDRAWS):
                if self.search_space.decode(points[position]) is not None:
                    break
                points[position] = self.rng.random(self.search_space.dimensions)
        if seeds:
            points[: len(seeds)] = seeds
        return points


StrategyFunction = Callable[[Setting], Strategy]


# --- Incumbent: the best point so far, or the front with several objectives. ------------------------------------------


class Incumbent:
    """What a strategy would answer now, and what a new point has to beat."""

    def __init__(self, objectives: int) -> None:
        self._objectives = objectives
        self.chosen: tuple[Observation, ...] = ()

    def update(self, told: Sequence[Observation]) -> None:
        if self._objectives > 1:
            self.chosen = front_of([*self.chosen, *told])
        elif (best := best_of([*self.chosen, *told])) is not None:
            self.chosen = (best,)

    @property
    def loss(self) -> float:
        """The lowest loss; of the first objective, with several."""
        return self.chosen[0].loss if self.chosen else float("inf")

    @property
    def cutoff(self) -> float | None:
        """With several objectives every loss matters."""
        return worse_than(self.loss) if self._objectives == 1 else None


# --- Front: the trace of a search with several objectives — the front of each iteration and its hypervolume. ----------


class Front:
    """Notes what a swarm would answer. The hypervolume is measured from the worst losses of the first swarm."""

    def __init__(self, setting: Setting) -> None:
        self._note = setting.note
        self._reference: tuple[float, ...] | None = None

    def update(self, iteration: int, swarm: Sequence[Observation], chosen: Sequence[Observation] | None = None) -> None:
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


# --- Together: several small searches that ask at the same time, so that many workers have something to do. -----------


#: A search that is part of another one: it ends with the best point that it found.
Inner = Generator[Asks, list[Observation], Observation]
#: Searches are not begun while so many points are asked for: a batch of a large space would not fit into memory.
_AT_ONCE = 512


def together(searches: Sequence[Inner]) -> Generator[Asks, list[Observation], list[Observation]]:
    """What each search found, in their order. A batch holds the next asks of all that are under way."""
    found: dict[int, Observation] = {}
    asking: dict[int, Asks] = {}
    waiting = deque(enumerate(searches))
    answers: dict[int, list[Observation]] = {}
    while True:
        for number, answer in answers.items():
            try:
                asking[number] = searches[number].send(answer)
            except StopIteration as end:
                found[number] = end.value
                del asking[number]
        while waiting and sum(map(len, asking.values())) < _AT_ONCE:
            number, search = waiting.popleft()
            try:
                asking[number] = next(search)
            except StopIteration as end:
                found[number] = end.value
        if not asking:
            return [found[number] for number in range(len(searches))]
        told = iter((yield [ask for asks in asking.values() for ask in asks]))
        answers = {number: [next(told) for _ in asks] for number, asks in asking.items()}
