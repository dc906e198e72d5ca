"""Strategy cost: what a step of each strategy takes beside the evaluations, in a large cube with a large swarm."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import numpy as np

from msl.search.base import Observation, SearchSpace
from msl.search.stages import load_strategy
from msl.search.strategy_context import Setting
from msl.testing.conformance import options_of

Figure = tuple[str, float, float | None, str]

DIMENSIONS, POPULATION, TARGET = 1_000, 100, 5.0
_STEPS = "swarm = 100, iterations = 1_000"
#: Calls, how many objectives, and whether the dimensions are switches.
_CALLS = (
    (f"pso({_STEPS})", 1, False),
    (f"bpso({_STEPS})", 1, True),
    (f"nspso({_STEPS})", 2, False),
    (f"nspso({_STEPS}, mutation = auto, encoding = binary)", 2, True),
    (f"cmdpso({_STEPS})", 2, False),
    (f"cmdpso({_STEPS}, encoding = binary)", 2, True),
    ("occam_ga(population = 100)", 1, True),
    ("occam_ga(population = 100)", 2, True),
    ("pattern(evaluations = 1_000_000)", 1, False),
    ("random(evaluations = 1_000_000)", 1, False),
    ("grid", 1, False),
    ("best_first", 1, True),
    ("halving(evaluations = 1_000_000)", 1, False),
    ("auto(evaluations = 10_000)", 1, False),
)


def cost_figures(steps: int) -> Iterator[Figure]:
    """The time of a step of a hundred points, or of as many as the strategy asks for at once if these are more."""
    for call, objectives, is_switches in _CALLS:
        search_space = _switches() if is_switches else SearchSpace.continuous(DIMENSIONS)
        per_step = _milliseconds(call, objectives, search_space, steps)
        kind = "switches" if is_switches else "reals"
        goal = "" if objectives == 1 else f", {objectives} objectives"
        yield f"{call} in {DIMENSIONS:,} {kind}{goal}, {POPULATION} points", per_step, TARGET, "ms"


def _switches() -> SearchSpace:
    dimensions = range(DIMENSIONS)
    none = dict.fromkeys(dimensions, 0)
    return SearchSpace.of(
        np.full(DIMENSIONS, 2), heads=dimensions, absent=none, families=none, channels={"all": tuple(dimensions)}
    )


def _milliseconds(call: str, objectives: int, search_space: SearchSpace, steps: int) -> float:
    """The median of the quietest ten steps in a row: others use the machine too.

    A batch of fewer points than the population is counted as a share of one.
    """
    rng = np.random.default_rng(0)
    setting = Setting(search_space, options_of(call), np.random.default_rng(0), objectives=objectives)
    running = load_strategy(call.partition("(")[0])(setting)
    asks = next(running)
    spent = []
    for _ in range(steps):
        told = [Observation(ask.vector, tuple(rng.random(objectives)), float(rng.random())) for ask in asks]
        begin = time.process_time()
        asks = running.send(told)
        spent.append((time.process_time() - begin) * max(POPULATION / len(asks), 1.0))
    return 1000 * min(statistics.median(spent[first : first + 10]) for first in range(len(spent) - 9))
