"""Strategy swarms: `pso` against the global best swarm of pyswarms, at equal evaluations on five kinds of problems."""

from __future__ import annotations

import logging
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from msl.search.stages import load_strategy
from msl.testing.conformance import options_of, play
from msl.testing.toy_problems import Problem, conditional, mixed, rastrigin, rosenbrock, sphere

Figure = tuple[str, float, float | None, str]

#: As the pages of pyswarms set its constants, and as Clerc and Kennedy do.
_THEIR_OWN = {"c1": 0.5, "c2": 0.3, "w": 0.9}
_CONSTRICTION = {"c1": 1.49618, "c2": 1.49618, "w": 0.7298}
_CONSTANTS = "inertia = 0.7298, c1 = 1.49618, c2 = 1.49618"
#: What is compared: the swarm's size and iterations, our call, their constants.
_MATCHES: tuple[tuple[str, int, int, str, Mapping[str, float]], ...] = (
    ("defaults of both", 5, 50, "", _THEIR_OWN),
    ("ours with walls and scattering", 5, 50, "wall = reflect, idle = scatter", _THEIR_OWN),
    ("one set of constants", 30, 100, _CONSTANTS, _CONSTRICTION),
)
#: Ours counts as at least as good unless chance explains a worse median with less than this probability.
_LEVEL = 0.05


def swarm_figures(seeds: int) -> Iterator[Figure]:
    """For each match and problem, the probability (Wilcoxon) of what is seen if ours is no worse."""
    for what, size, iterations, more, constants in _MATCHES:
        call = f"pso(swarm = {size}, iterations = {iterations}{', ' if more else ''}{more})"
        for problem in (sphere(10), rosenbrock(10), rastrigin(10), mixed(), conditional()):
            ours = [play(load_strategy("pso"), options_of(call), problem, seed).result for seed in range(seeds)]
            theirs = [_pyswarms(problem, size, iterations + 1, constants, seed) for seed in range(seeds)]
            medians = f"median {statistics.median(ours):.3g}, pyswarms {statistics.median(theirs):.3g}"
            name = f"pso {size} × {iterations} on {problem.name}, {what}: {medians}"
            yield name, chance_if_no_worse(ours, theirs), _LEVEL, "p of being no worse, at least"


def chance_if_no_worse(ours: list[float], theirs: list[float]) -> float:
    """Of differences as large as these in favour of the others; lower is better."""
    differences = np.array(ours) - np.array(theirs)
    return 1.0 if not differences.any() else float(wilcoxon(differences, alternative="greater").pvalue)


def _pyswarms(problem: Problem, size: int, iterations: int, constants: Mapping[str, float], seed: int) -> float:
    from pyswarms.single import GlobalBestPSO

    logging.disable(logging.INFO)
    np.random.seed(seed)  # noqa: NPY002 - pyswarms knows no other
    d = problem.search_space.n_dimensions
    swarm = GlobalBestPSO(n_particles=size, dimensions=d, options=dict(constants), bounds=(np.zeros(d), np.ones(d)))

    def cost(points: Any) -> Any:
        return np.array([problem.losses(problem.written_back(point))[0] for point in points])

    best, _ = swarm.optimize(cost, iters=iterations, verbose=False)
    return float(best)
