"""Non-dominated sorting particle swarm (Li, 2003; Algorithm 1 of Xue, Zhang and Browne, 2012)."""

from __future__ import annotations

import numpy as np

from msl.search.operators.mutation_and_crossover import by_thirds, mutation_rate
from msl.search.operators.pareto import Places, best_places, crowding, dominates, non_dominated
from msl.search.operators.swarm import FeatureReading, SwarmPoints, VelocityRule, split
from msl.search.strategy_context import Front, Setting, Strategy


def nspso(setting: Setting) -> Strategy:
    """Moves all particles, joins the old and the new swarm, and keeps the best fronts of both.

    A particle follows a random one of the least crowded non-dominated points, the share `leaders` of them. Beyond the
    paper, which finds that the swarm soon loses its diversity, `mutation` changes two thirds of it as in `cmdpso`.
    """
    options, rng = setting.options, setting.rng
    size, iterations = int(options["swarm"]), int(options["iterations"])
    rate = mutation_rate(options["mutation"], setting.search_space.n_dimensions)
    rule = VelocityRule(options["c1"], options["c2"], options["vmax"], rng)
    reading = FeatureReading.of(setting.search_space, options["encoding"], options["threshold"])
    front = Front(setting)

    x = reading.positions(setting.first_points(size))
    v = np.zeros_like(x)
    swarm = reading.points(x, (yield reading.queries(x)))
    own = swarm
    front.update(0, swarm.observations)

    for t in range(1, iterations + 1):
        leaders = swarm.positions[_leaders(swarm, options["leaders"], size, rng)]
        moved_v = rule.velocity(options["inertia"], v, swarm.positions, own.positions, leaders)
        x, moved_v = reading.moved(rule, swarm.positions, moved_v)
        x = by_thirds(setting.search_space, x, rate, reading.bits, t / iterations, rng) if rate else x
        moved = reading.points(x, (yield reading.queries(x)))
        moved_own = own.replaced(dominates(moved.losses, own.losses), moved)

        kept = best_places(np.concatenate([swarm.losses, moved.losses]), size)
        stay, come = split(kept, size)
        swarm, own = swarm.joined(moved, kept), own.joined(moved_own, kept)
        v = np.concatenate([v[stay], moved_v[come]])
        front.update(t, swarm.observations)


def _leaders(swarm: SwarmPoints, share: float, size: int, rng: np.random.Generator) -> Places:
    """For each particle, one of the least crowded of the swarm's first front."""
    first = non_dominated(swarm.losses)
    roomy = first[np.argsort(-crowding(swarm.losses[first]), kind="stable")]
    best = roomy[: max(1, round(share * len(roomy)))]
    return np.asarray(best[rng.integers(0, len(best), size=size)])
