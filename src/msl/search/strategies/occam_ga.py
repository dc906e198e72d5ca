"""Genetic algorithm with Occam elitism: of the κ best the simplest is kept (de Lacerda, de Carvalho and Ludermir)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from msl.search.base import Event, Observation, Vectors
from msl.search.operators.mutation_and_crossover import (
    cluster_crossover,
    median_of,
    minimal,
    occam_elite,
    occam_front,
    plain_elite,
    plain_front,
    uniform,
    with_added,
    with_deleted,
)
from msl.search.operators.pareto import dominators, losses_of
from msl.search.operators.swarm import queries, written_back
from msl.search.strategy_context import Setting, Strategy


def occam_ga(setting: Setting) -> Strategy:
    """Tournament selection, cluster crossover, mutation, addition and deletion; the elite survives unchanged.

    With `shuffle` every evaluation has its own split, and the elite is evaluated again in each generation. With `grow`
    the first population consists of minimal models. With two objectives the elite is the simplest of the Pareto set.
    """
    options, rng = setting.options, setting.rng
    size = int(options["population"])
    repeats = count(1) if options["shuffle"] else None

    points = setting.first_points(size)
    if options["grow"]:
        sown = len(setting.seeds(size))
        points[sown:] = minimal(setting.search_space, points[sown:], rng)
    now = Generation.of(setting, (yield queries(points, repeats)))
    setting.note(now.event(0))

    for number in range(1, int(options["generations"]) + 1):
        parents, fitness = written_back(now.population), _fitness(now.population)
        births = size - len(now.elite)
        mothers, fathers = (_tournament(fitness, births, int(options["tournament"]), rng) for _ in range(2))
        children = _children(setting, parents[mothers], parents[fathers])
        if options["shuffle"]:
            observations = yield queries(np.array([*written_back(now.elite), *children]), repeats)
        else:
            observations = now.elite + (yield queries(children, repeats))
        now = Generation.of(setting, observations)
        setting.note(now.event(number))


def _children(setting: Setting, mothers: Vectors, fathers: Vectors) -> Vectors:
    options, search_space, rng = setting.options, setting.search_space, setting.rng
    mate = rng.random(len(mothers)) < options["crossover"]
    children = mothers.copy()
    children[mate] = cluster_crossover(search_space, mothers[mate], fathers[mate], rng)
    on_or_off = search_space.switches & search_space.bits
    children = uniform(search_space, children, options["mutation"], ~on_or_off, rng)
    children = with_added(search_space, children, options["add"], rng)
    return with_deleted(search_space, children, options["delete"], rng)


def _fitness(population: list[Observation]) -> NDArray[np.float64]:
    """What a tournament minimises: the loss, or the number of individuals that dominate this one."""
    losses = losses_of(population)
    if losses.shape[1] == 1:
        return np.asarray(losses[:, 0])
    return dominators(losses).astype(np.float64)


def _tournament(fitness: NDArray[np.float64], number: int, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The winners of `number` tournaments, each the best of `size` drawn with replacement."""
    drawn = rng.integers(0, len(fitness), size=(number, size))
    return np.asarray(drawn[np.arange(number), fitness[drawn].argmin(axis=1)])


@dataclass(frozen=True, slots=True, eq=False)
class Generation:
    """A population, its elite, and its result."""

    population: list[Observation]
    elite: list[Observation]
    chosen: tuple[Observation, ...]
    #: Occam's choice may not have the lowest loss, and losses on different splits are not comparable.
    stands: bool

    @classmethod
    def of(cls, setting: Setting, population: list[Observation]) -> Generation:
        """With several objectives the elite is at most half of the population, so that something is always new."""
        is_occam, kappa = setting.options["elitism"] == "occam", int(setting.options["kappa"])
        stands = is_occam or bool(setting.options["shuffle"])
        if setting.objectives == 1:
            elite = occam_elite(population, kappa) if is_occam else plain_elite(population)
            return cls(population, elite, tuple(elite), stands)
        front = (occam_front if is_occam else plain_front)(population, setting.search_space)
        elite = front[: max(len(population) // 2, 1)]
        simplest = median_of(front)
        chosen = tuple(front) if not is_occam or simplest is None else (simplest,)
        return cls(population, elite, chosen, stands)

    def event(self, number: int) -> Event:
        finite = [one for one in self.population if one.is_finite]
        figures = {
            "generation": number,
            "best": min((one.loss for one in finite), default=math.inf),
            "units": [one.complexity for one in self.chosen],
            "mean_units": float(np.mean([one.complexity for one in finite])) if finite else math.nan,
            "feasible": len(finite),
        }
        return Event("generation", figures, self.chosen, tuple(self.population), self.stands)
