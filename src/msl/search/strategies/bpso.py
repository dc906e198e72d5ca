"""Binary particle swarm: velocities are the log-odds of bits (Kennedy and Eberhart, 1997; Xue et al., 2012)."""

from __future__ import annotations

import numpy as np

from msl.search.base import Query, ended
from msl.search.operators.swarm import (
    Bests,
    Patience,
    Restarts,
    VelocityRule,
    as_bits,
    best_swarm,
    first_swarm,
    inertia_schedule,
    written_back,
)
from msl.search.strategy_context import Setting, Strategy


def bpso(setting: Setting) -> Strategy:
    """v as in `pso`, clamped to ±vmax; a bit is on with probability 1 / (1 + e^−v).

    Dimensions with more than two values move as in `pso`, so that the strategy works on any space. `floor` and
    `restart` are those of `pso`.
    """
    options, bits = setting.options, setting.search_space.bits
    iterations = int(options["iterations"])
    inertia = inertia_schedule(options["inertia"], iterations)
    rule = VelocityRule(options["c1"], options["c2"], options["vmax"], setting.rng)
    patience = Patience(options["stall"])
    restarts = Restarts(setting, options["restart"])

    size = int(options["swarm"])
    first = yield [Query(position) for position in as_bits(first_swarm(setting, size, int(options["floor"])), bits)]
    observations = best_swarm(first, size)
    x = as_bits(written_back(observations), bits)
    restarts.saw(written_back(first))
    v = np.zeros_like(x)
    bests = Bests(x, observations)
    setting.note(bests.event(0, None, observations))

    for t in range(1, iterations + 1):
        v = rule.velocity(inertia(t), v, x, own=bests.positions, leaders=bests.leaders())
        x, v = rule.tossed(x, v, bits)
        anew = restarts.new_swarm(x)
        if anew is not None and not len(anew):
            setting.note(ended(restarts.why_none))
            return
        observations = (
            yield bests.challenges(x) if anew is None else [Query(position) for position in as_bits(anew, bits)]
        )
        x = as_bits(written_back(observations), bits)
        if anew is None:
            improved = bests.update(x, observations)
        else:
            improved, v = bests.start_again(x, observations), np.zeros_like(x)
        setting.note(bests.event(t, inertia(t), observations))
        if patience.is_over(improved):
            setting.note(ended(f"no better point in {options['stall']} iterations"))
            return
