"""Particle swarm optimisation: Algorithm 1 of Escalante, Montes and Sucar (2009)."""

from __future__ import annotations

import numpy as np

from msl.search.base import Query, ended
from msl.search.operators.swarm import (
    Bests,
    Patience,
    Restarts,
    VelocityRule,
    best_swarm,
    first_swarm,
    inertia_schedule,
    scattered,
    written_back,
)
from msl.search.setting import Setting, Strategy


def pso(setting: Setting) -> Strategy:
    """v ← W·v + c1·r1·(p − x) + c2·r2·(g − x), x ← x + v; the leaders are found after all particles have moved.

    Beyond the paper: `wall = reflect` reflects particles at the walls of the cube instead of stopping them there.
    `idle = scatter` moves a particle that would query its last model again to a uniform position. With `floor = n` the
    swarm is the best of a first batch in which each alternative of a step has n models. With `restart = n` a swarm that
    has queried no new model in n iterations starts again.
    """
    options = setting.options
    iterations = int(options["iterations"])
    inertia = inertia_schedule(options["inertia"], iterations)
    rule = VelocityRule(options["c1"], options["c2"], options["vmax"], setting.rng, options["wall"])
    patience = Patience(options["stall"])
    restarts = Restarts(setting, options["restart"])

    size = int(options["swarm"])
    first = yield [Query(position) for position in first_swarm(setting, size, int(options["floor"]))]
    observations = best_swarm(first, size)
    x = written_back(observations)
    restarts.saw(written_back(first))
    v = np.zeros_like(x)
    bests = Bests(x, observations, options["topology"])
    setting.note(bests.event(0, None, observations))

    for t in range(1, iterations + 1):
        before = x
        v = rule.velocity(inertia(t), v, x, own=bests.positions, leaders=bests.leaders())
        x, v = rule.moved(x, v)
        if options["idle"] == "scatter":
            x, v = scattered(setting.search_space, before, x, v, setting.rng)
        anew = restarts.new_swarm(x)
        if anew is not None and not len(anew):
            setting.note(ended(restarts.why_none))
            return
        observations = yield bests.challenges(x) if anew is None else [Query(position) for position in anew]
        x = written_back(observations)
        if anew is None:
            improved = bests.update(x, observations)
        else:
            improved, v = bests.start_again(x, observations), np.zeros_like(x)
        setting.note(bests.event(t, inertia(t), observations))
        if patience.is_over(improved):
            setting.note(ended(f"no better point in {options['stall']} iterations"))
            return
