"""Binary particle swarm: a particle's speed is the chance of its bits (Kennedy, Eberhart, 1997; Xue et al., 2012)."""

from __future__ import annotations

import numpy as np

from msl.search.ask import Ask, ended
from msl.search.flight import Flight, as_bits, written_back
from msl.search.inertia import inertia_schedule
from msl.search.setting import Setting, Strategy
from msl.search.swarm import Bests, Patience


def bpso(setting: Setting) -> Strategy:
    """v as in `pso`, clamped to ±vmax; a bit is on with probability 1 / (1 + e^−v).

    Genes with more than two values move as in `pso`, so that the strategy works on any space.
    """
    options, bits = setting.options, setting.terrain.bits
    iterations = int(options["iterations"])
    inertia = inertia_schedule(options["inertia"], iterations)
    flight = Flight(options["c1"], options["c2"], options["vmax"], setting.rng)
    patience = Patience(options["stall"])

    x = as_bits(setting.first_points(int(options["swarm"])), bits)
    v = np.zeros_like(x)
    told = yield [Ask(position) for position in x]
    x = as_bits(written_back(told), bits)
    bests = Bests(x, told)
    setting.note(bests.event(0, None, told))

    for t in range(1, iterations + 1):
        v = flight.velocity(inertia(t), v, x, own=bests.positions, leaders=bests.leaders())
        x, v = flight.tossed(x, v, bits)
        told = yield bests.challenges(x)
        x = as_bits(written_back(told), bits)
        improved = bests.update(x, told)
        setting.note(bests.event(t, inertia(t), told))
        if patience.is_over(improved):
            setting.note(ended(f"no better point in {options['stall']} iterations"))
            return
