"""Strategy fronts: `nspso` and `cmdpso` against NSGA-II of pymoo, by hypervolume at equal evaluations."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np

from msl.search.base import SearchSpace, Vector
from msl.search.operators.pareto import hypervolume, losses_of
from msl.search.stages import load_strategy
from msl.testing.conformance import options_of, play
from msl.testing.toy_problems import Problem

Figure = tuple[str, float, float | None, str]

#: The papers' swarms, and `nspso` with the mutation that `cmdpso` has.
_CALLS = ("nspso", "nspso(mutation = auto)", "cmdpso")
_SIZES = ((30, 100), (100, 250))
_CORNER = (1.1, 1.1)


def front_figures(seeds: int, sizes: tuple[tuple[int, int], ...] = _SIZES) -> Iterator[Figure]:
    """The median volume below (1.1, 1.1) of what each answers with, as a multiple of NSGA-II's."""
    for size, iterations in sizes:
        for number in (1, 2, 3):
            problem = zdt(number)
            theirs = statistics.median(_nsga2(problem, size, iterations + 1, seed) for seed in range(seeds))
            for call in _CALLS:
                ours = statistics.median(_ours(call, problem, size, iterations, seed) for seed in range(seeds))
                name = f"{call} {size} × {iterations} on {problem.name}: volume {ours:.4f}, NSGA-II {theirs:.4f}"
                # Where NSGA-II has not come below the corner at all, so much is as good.
                ratio = ours / theirs if theirs > 0 else 1.0 + ours
                yield name, ratio, 1.0, "times as much volume as NSGA-II"


def zdt(number: int, dimensions: int = 30) -> Problem:
    """ZDT1 to ZDT3 (Zitzler, Deb and Thiele, 2000)."""

    def losses(point: Vector) -> tuple[float, ...]:
        f = float(point[0])
        g = 1.0 + 9.0 * float(np.mean(point[1:]))
        ratio = f / g
        shape = {
            1: 1.0 - ratio**0.5,
            2: 1.0 - ratio**2,
            3: 1.0 - ratio**0.5 - ratio * float(np.sin(10 * np.pi * f)),
        }[number]
        return f, g * shape

    return Problem(f"zdt{number}", SearchSpace.continuous(dimensions), losses, 0.0, reference=_CORNER)


def _ours(call: str, problem: Problem, size: int, iterations: int, seed: int) -> float:
    options = {**options_of(call), "swarm": size, "iterations": iterations}
    played = play(load_strategy(call.partition("(")[0]), options, problem, seed, limit=10**6)
    return hypervolume(losses_of(played.events[-1].chosen), _CORNER)


def _nsga2(problem: Problem, size: int, generations: int, seed: int) -> float:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem as PymooProblem
    from pymoo.optimize import minimize

    class Wrapped(PymooProblem):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(n_var=problem.search_space.n_dimensions, n_obj=2, xl=0.0, xu=1.0)

        def _evaluate(self, x: Any, out: Any, *args: Any, **kwargs: Any) -> None:
            out["F"] = np.array([problem.losses(point) for point in x])

    result = minimize(Wrapped(), NSGA2(pop_size=size), ("n_gen", generations), seed=seed, verbose=False)
    return hypervolume(np.atleast_2d(result.F), _CORNER)
