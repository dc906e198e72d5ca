"""Particle swarm with crowding, mutation and dominance (Sierra and Coello, 2005; Xue, Zhang and Browne, 2012)."""

from __future__ import annotations

import numpy as np

from msl.search.operators.pareto import EpsilonArchive, Places, crowding, dominates, non_dominated
from msl.search.operators.swarm import FeatureReading, SwarmPoints, VelocityRule
from msl.search.operators.variation import by_thirds, mutation_rate
from msl.search.setting import Front, Setting, Strategy


def cmdpso(setting: Setting) -> Strategy:
    """Leaders are the non-dominated ones with the most room, picked by binary tournament; an ε-archive is the answer.

    Bits are flipped; with `encoding = continuous` the first third of the swarm is left as it is, the second mutates
    uniformly, the last by ever less.
    """
    options, search_space, rng = setting.options, setting.search_space, setting.rng
    size, iterations = int(options["swarm"]), int(options["iterations"])
    rate = mutation_rate(options["mutation"], search_space.dimensions)
    flight = VelocityRule(options["c1"], options["c2"], options["vmax"], rng)
    reading = FeatureReading.of(search_space, options["encoding"], options["threshold"])
    archive = EpsilonArchive(float(options["epsilon"]))
    front = Front(setting)

    x = reading.positions(setting.first_points(size))
    v = np.zeros_like(x)
    swarm = reading.points(x, (yield reading.asks(x)))
    own = swarm
    leaders = _leader_set(swarm, size)
    archive.add(swarm.told)
    front.update(0, swarm.told, archive.told)

    for t in range(1, iterations + 1):
        followed = leaders.positions[_tournament(leaders, size, rng)]
        v = flight.velocity(options["inertia"], v, swarm.positions, own.positions, followed)
        x, v = reading.moved(flight, swarm.positions, v)
        x = by_thirds(x, rate, reading.bits, t / iterations, rng)
        swarm = reading.points(x, (yield reading.asks(x)))
        own = own.replaced(~dominates(own.losses, swarm.losses), swarm)
        leaders = _leader_set(leaders.joined(swarm, np.arange(len(leaders) + size)), size)
        archive.add(swarm.at(non_dominated(swarm.losses)).told)
        front.update(t, swarm.told, archive.told)


def _leader_set(points: SwarmPoints, size: int) -> SwarmPoints:
    """The non-dominated points; if they are too many, those with the most room."""
    first = points.at(non_dominated(points.losses))
    if len(first) <= size:
        return first
    return first.at(np.argsort(-crowding(first.losses), kind="stable")[:size])


def _tournament(leaders: SwarmPoints, size: int, rng: np.random.Generator) -> Places:
    """For each particle, the one with more room of two leaders drawn."""
    room = crowding(leaders.losses)
    one, other = rng.integers(0, len(leaders), size=(2, size))
    return np.asarray(np.where(room[other] > room[one], other, one))
