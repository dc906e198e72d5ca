"""Particle swarm with crowding, mutation and dominance (Sierra and Coello, 2005; Xue, Zhang and Browne, 2012)."""

from __future__ import annotations

import numpy as np

from msl.search.operators.mutation_and_crossover import by_thirds, mutation_rate
from msl.search.operators.pareto import EpsilonArchive, Places, crowding, dominates, non_dominated
from msl.search.operators.swarm import FeatureReading, SwarmPoints, VelocityRule
from msl.search.strategy_context import Front, Setting, Strategy


def cmdpso(setting: Setting) -> Strategy:
    """Leaders are the least crowded non-dominated points, selected by binary tournament; the result is an ε-archive,
    with ε as a share of the range of each objective.

    Bits mutate by flips; with `encoding = continuous` the first third of the swarm does not mutate, the second does so
    uniformly, and the last non-uniformly.
    """
    options, search_space, rng = setting.options, setting.search_space, setting.rng
    size, iterations = int(options["swarm"]), int(options["iterations"])
    rate = mutation_rate(options["mutation"], search_space.n_dimensions)
    rule = VelocityRule(options["c1"], options["c2"], options["vmax"], rng)
    reading = FeatureReading.of(search_space, options["encoding"], options["threshold"])
    archive = EpsilonArchive(float(options["epsilon"]))
    front = Front(setting)

    x = reading.positions(setting.first_points(size))
    v = np.zeros_like(x)
    swarm = reading.points(x, (yield reading.queries(x)))
    own = swarm
    leaders = _leader_set(swarm, size)
    archive.add(swarm.observations)
    front.update(0, swarm.observations, archive.observations)

    for t in range(1, iterations + 1):
        followed = leaders.positions[_tournament(leaders, size, rng)]
        v = rule.velocity(options["inertia"], v, swarm.positions, own.positions, followed)
        x, v = reading.moved(rule, swarm.positions, v)
        x = by_thirds(setting.search_space, x, rate, reading.bits, t / iterations, rng)
        swarm = reading.points(x, (yield reading.queries(x)))
        own = own.replaced(~dominates(own.losses, swarm.losses), swarm)
        leaders = _leader_set(leaders.joined(swarm, np.arange(len(leaders) + size)), size)
        archive.add(swarm.observations)
        front.update(t, swarm.observations, archive.observations)


def _leader_set(points: SwarmPoints, size: int) -> SwarmPoints:
    """The non-dominated points; if they are too many, the least crowded."""
    first = points.at(non_dominated(points.losses))
    if len(first) <= size:
        return first
    return first.at(np.argsort(-crowding(first.losses), kind="stable")[:size])


def _tournament(leaders: SwarmPoints, size: int, rng: np.random.Generator) -> Places:
    """For each particle, the less crowded of two random leaders."""
    room = crowding(leaders.losses)
    one, other = rng.integers(0, len(leaders), size=(2, size))
    return np.asarray(np.where(room[other] > room[one], other, one))
