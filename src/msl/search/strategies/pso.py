"""Particle swarm optimisation: Algorithm 1 of Escalante, Montes and Sucar (2009), and the swarm of their program."""

from __future__ import annotations

from itertools import count

import numpy as np

from msl.search.base import ended
from msl.search.operators.native_units import units_named, with_low_shared
from msl.search.operators.swarm import (
    Bests,
    Patience,
    Restarts,
    VelocityRule,
    best_swarm,
    first_swarm,
    inertia_schedule,
    queries,
    scattered,
    written_back,
)
from msl.search.strategy_context import Setting, Strategy


def pso(setting: Setting) -> Strategy:
    """v ← W·v + c1·r1·(p − x) + c2·r2·(g − x), x ← x + v; the leaders are found after all particles have moved.

    As in the authors' program: `units = native` moves in the units of the values, in which `vmax` bounds velocities.
    `wall = absolute` takes the absolute value below 0. With `start_velocity = unit` velocities start in [0, 1], with
    `shared_start = unit` so do numbers that alternatives read differently. With `leader = present` particles follow the
    one with the best memory to where it is now. With `shuffle` every evaluation has splits of its own.

    Beyond the paper: `wall = reflect` reflects particles at the walls of the cube instead of stopping them there.
    `idle = scatter` moves a particle that would query its last model again to a uniform position. With `floor = n` the
    swarm is the best of a first batch in which each alternative of a step has n models. With `restart = n` a swarm that
    has queried no new model in n iterations starts again.
    """
    options = setting.options
    iterations = int(options["iterations"])
    inertia = inertia_schedule(options["inertia"], iterations)
    units = units_named(options["units"], setting.search_space)
    rule = VelocityRule(options["c1"], options["c2"], options["vmax"], setting.rng, options["wall"], units)
    patience = Patience(options["stall"])
    restarts = Restarts(setting, options["restart"])
    repeats = count(1) if options["shuffle"] else None

    size = int(options["swarm"])
    points = first_swarm(setting, size, int(options["floor"]))
    if options["shared_start"] == "unit":
        points = with_low_shared(setting, points)
    first = yield queries(points, repeats)
    observations = best_swarm(first, size)
    here = written_back(observations)
    x = units.positions(here)
    restarts.saw(written_back(first))
    v = setting.rng.random(x.shape) if options["start_velocity"] == "unit" else np.zeros_like(x)
    bests = Bests(x, observations, options["topology"], stands=repeats is not None)
    setting.note(bests.event(0, None, observations))

    for t in range(1, iterations + 1):
        leaders = bests.leaders(x if options["leader"] == "present" else None)
        v = rule.velocity(inertia(t), v, x, own=bests.positions, leaders=leaders)
        points, v = rule.moved(x, v)
        if options["idle"] == "scatter":
            points, v = scattered(setting.search_space, here, points, v, setting.rng)
        anew = restarts.new_swarm(points)
        if anew is not None and not len(anew):
            setting.note(ended(restarts.why_none))
            return
        observations = yield bests.challenges(points, repeats) if anew is None else queries(anew, repeats)
        here = written_back(observations)
        x = units.positions(here)
        if anew is None:
            improved = bests.update(x, observations)
        else:
            improved, v = bests.start_again(x, observations), np.zeros_like(x)
        setting.note(bests.event(t, inertia(t), observations))
        if patience.is_over(improved):
            setting.note(ended(f"no better point in {options['stall']} iterations"))
            return
