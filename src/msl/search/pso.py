"""Particle swarm optimisation: Algorithm 1 of Escalante, Montes and Sucar (2009)."""

from __future__ import annotations

import numpy as np

from msl.search.ask import Ask, ended
from msl.search.flight import Flight, scattered, written_back
from msl.search.inertia import inertia_schedule
from msl.search.setting import Setting, Strategy
from msl.search.swarm import Bests, Patience


def pso(setting: Setting) -> Strategy:
    """v ← W·v + c1·r1·(p − x) + c2·r2·(g − x), x ← x + v; the leaders are found after all particles have moved.

    Beyond the paper, `wall = reflect` throws particles back from the walls of the cube instead of stopping them there,
    and `idle = scatter` sends a particle anywhere that would ask for the model it has just had.
    """
    options = setting.options
    iterations = int(options["iterations"])
    inertia = inertia_schedule(options["inertia"], iterations)
    flight = Flight(options["c1"], options["c2"], options["vmax"], setting.rng, options["wall"])
    patience = Patience(options["stall"])

    x = setting.first_points(int(options["swarm"]))
    v = np.zeros_like(x)
    told = yield [Ask(position) for position in x]
    x = written_back(told)
    bests = Bests(x, told, options["topology"])
    setting.note(bests.event(0, None, told))

    for t in range(1, iterations + 1):
        before = x
        v = flight.velocity(inertia(t), v, x, own=bests.positions, leaders=bests.leaders())
        x, v = flight.moved(x, v)
        if options["idle"] == "scatter":
            x, v = scattered(setting.terrain, before, x, v, setting.rng)
        told = yield bests.challenges(x)
        x = written_back(told)
        improved = bests.update(x, told)
        setting.note(bests.event(t, inertia(t), told))
        if patience.is_over(improved):
            setting.note(ended(f"no better point in {options['stall']} iterations"))
            return
