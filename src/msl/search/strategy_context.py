"""What a strategy is given, its first points, and small parts of strategies: incumbents, fronts, inner searches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from msl.search.base import Event, Observation, Query, SearchSpace, Vector, Vectors, best_of, worse_than
from msl.search.operators.pareto import by_rank, front_of, hypervolume, losses_of

Queries = list[Query]
Strategy = Generator[Queries, list[Observation], None]

#: How often a first point that is not a model is drawn again.
_REDRAWS = 20


@dataclass(frozen=True, slots=True)
class Setting:
    """What a strategy is given: the search space, its options, a random generator, the observations of earlier stages,
    the number of objectives, a point to start from, the points of given models, and a function that takes its events.
    """

    search_space: SearchSpace
    options: Mapping[str, Any]
    rng: np.random.Generator
    known: Sequence[Observation] = ()
    objectives: int = 1
    start: Vector | None = None
    points: Sequence[Vector] = ()
    note: Callable[[Event], None] = lambda event: None

    def seeds(self, size: int) -> list[Vector]:
        """The given start, then the best different points so far; with several objectives, the front first."""
        seeds: dict[bytes, Vector] = {} if self.start is None else {self.start.tobytes(): self.start}
        for one in by_rank([one for one in self.known if one.is_exact]):
            if len(seeds) >= size:
                break
            seeds.setdefault(one.vector.tobytes(), one.vector)
        return list(seeds.values())[:size]

    def first_point(self) -> Vector:
        """The first point of a local search: the given start, the best so far, or a random one."""
        return np.asarray(self.first_points(1)[0])

    def first_points(self, size: int) -> Vectors:
        """The seeds, then uniform or steered points of the cube, redrawn where they are not models."""
        points = self.search_space.steered(self.rng.random((size, self.search_space.n_dimensions)))
        seeds = self.seeds(size)
        for position in range(len(seeds), size):
            for _ in range(_REDRAWS):
                if self.search_space.decode(points[position]) is not None:
                    break
                points[position] = self.search_space.steered(self.rng.random((1, self.search_space.n_dimensions)))[0]
        if seeds:
            points[: len(seeds)] = seeds
        return points


StrategyFunction = Callable[[Setting], Strategy]


# --- the best so far ---


class Incumbent:
    """The best point so far, or the front with several objectives, and the cutoff for new points."""

    def __init__(self, objectives: int) -> None:
        self._objectives = objectives
        self.chosen: tuple[Observation, ...] = ()

    def update(self, observations: Sequence[Observation]) -> None:
        if self._objectives > 1:
            self.chosen = front_of([*self.chosen, *observations])
        elif (best := best_of([*self.chosen, *observations])) is not None:
            self.chosen = (best,)

    @property
    def loss(self) -> float:
        """The lowest loss of the first objective."""
        return self.chosen[0].loss if self.chosen else float("inf")

    @property
    def cutoff(self) -> float | None:
        """None with several objectives, where every loss matters."""
        return worse_than(self.loss) if self._objectives == 1 else None


class Front:
    """Notes the front of each iteration, with its hypervolume from the worst losses of the first swarm."""

    def __init__(self, setting: Setting) -> None:
        self._note = setting.note
        self._reference: tuple[float, ...] | None = None

    def update(self, iteration: int, swarm: Sequence[Observation], chosen: Sequence[Observation] | None = None) -> None:
        """The front of the swarm is chosen unless other points are given."""
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


# --- inner searches ---


#: A search that is part of another one and returns the best point that it found.
Inner = Generator[Queries, list[Observation], Observation]
#: No further search is started while a batch has this many points: one of a large space would not fit into memory.
_AT_ONCE = 512


def interleave(searches: Sequence[Inner]) -> Generator[Queries, list[Observation], list[Observation]]:
    """Runs several searches side by side, so that many workers are busy, and returns their results in order.

    A batch holds the next queries of all searches that are running.
    """
    found: dict[int, Observation] = {}
    pending: dict[int, Queries] = {}
    waiting = deque(enumerate(searches))
    answers: dict[int, list[Observation]] = {}
    while True:
        for number, answer in answers.items():
            try:
                pending[number] = searches[number].send(answer)
            except StopIteration as end:
                found[number] = end.value
                del pending[number]
        while waiting and sum(map(len, pending.values())) < _AT_ONCE:
            number, search = waiting.popleft()
            try:
                pending[number] = next(search)
            except StopIteration as end:
                found[number] = end.value
        if not pending:
            return [found[number] for number in range(len(searches))]
        observations = iter((yield [query for queries in pending.values() for query in queries]))
        answers = {number: [next(observations) for _ in queries] for number, queries in pending.items()}
