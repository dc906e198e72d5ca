"""Strategies against their peers: swarms against pyswarms, fronts against pymoo's NSGA-II, and the cost of a step.

    python -m benchmarks.strategies swarm|fronts|adaptive|cost [--seeds N]

pyswarms and pymoo are needed for the first two, and are no dependency of the project.
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from msl.search.ask import Told
from msl.search.pareto import hypervolume, losses_of
from msl.search.registry import load_strategy
from msl.search.setting import Setting
from msl.search.terrain import Terrain
from msl.space.value import SymbolValue
from msl.testing.play import play
from msl.testing.problems import Problem, conditional, mixed, rastrigin, rosenbrock, sphere

RAMP = SymbolValue("ramp", (("first", 1.2), ("last", 0.4), ("over", 0.5)))
CONSTRICTION = {"inertia": 0.7298, "c1": 1.49618, "c2": 1.49618}
PSO = {
    "c1": 2.0,
    "c2": 2.0,
    "inertia": RAMP,
    "vmax": None,
    "topology": "global",
    "stall": None,
    "wall": "clip",
    "idle": "stay",
}
FRONTS = {**CONSTRICTION, "vmax": 6.0, "threshold": 0.6, "encoding": "continuous"}


# --- swarms -----------------------------------------------------------------------------------------------


def swarm_table(seeds: int) -> None:
    """The best loss at equal evaluations: ours and theirs with the same constants, and theirs as their pages set it."""
    problems = [sphere(10), rosenbrock(10), rastrigin(10), mixed(), conditional()]
    sizes = [(5, 50, "the papers'", PSO, None), (30, 100, "constriction", {**PSO, **CONSTRICTION}, CONSTRICTION)]
    print(f"{'problem':12} {'swarm':>9} {'constants':13} {'ours':>11} {'pyswarms':>11} {'p(less)':>8} {'p(more)':>8}")
    for m, iterations, name, options, constants in sizes:
        for problem in problems:
            ours = [
                play(load_strategy("pso"), {**options, "swarm": m, "iterations": iterations}, problem, seed).result
                for seed in range(seeds)
            ]
            theirs = [_pyswarms(problem, m, iterations + 1, constants, seed) for seed in range(seeds)]
            less, more = _p_values(ours, theirs)
            print(
                f"{problem.name:12} {m:4} x{iterations:4} {name:13} {statistics.median(ours):11.4g} "
                f"{statistics.median(theirs):11.4g} {less:8.3f} {more:8.3f}"
            )


def _pyswarms(problem: Problem, m: int, iterations: int, constants: Mapping[str, float] | None, seed: int) -> float:
    from pyswarms.single import GlobalBestPSO

    logging.disable(logging.INFO)
    np.random.seed(seed)  # noqa: NPY002 - pyswarms knows no other
    d = problem.terrain.dimensions
    options = (
        {"c1": 0.5, "c2": 0.3, "w": 0.9}
        if constants is None
        else {"c1": constants["c1"], "c2": constants["c2"], "w": constants["inertia"]}
    )
    optimizer = GlobalBestPSO(n_particles=m, dimensions=d, options=options, bounds=(np.zeros(d), np.ones(d)))

    def cost(points: Any) -> Any:
        return np.array([problem.losses(problem.written_back(point))[0] for point in points])

    best, _ = optimizer.optimize(cost, iters=iterations, verbose=False)
    return float(best)


def _p_values(ours: list[float], theirs: list[float]) -> tuple[float, float]:
    if ours == theirs:
        return 1.0, 1.0
    differences = np.array(ours) - np.array(theirs)
    return tuple(float(wilcoxon(differences, alternative=side).pvalue) for side in ("less", "greater"))  # type: ignore[return-value]


# --- fronts -----------------------------------------------------------------------------------------------


def zdt(number: int, dimensions: int = 30) -> Problem:
    """ZDT1 to ZDT3 (Zitzler, Deb and Thiele, 2000)."""

    def losses(point: Any) -> tuple[float, ...]:
        f = float(point[0])
        g = 1.0 + 9.0 * float(np.mean(point[1:]))
        ratio = f / g
        shape = {
            1: 1.0 - ratio**0.5,
            2: 1.0 - ratio**2,
            3: 1.0 - ratio**0.5 - ratio * float(np.sin(10 * np.pi * f)),
        }[number]
        return f, g * shape

    return Problem(f"zdt{number}", Terrain.continuous(dimensions), losses, 0.0, reference=(1.1, 1.1))


def front_table(seeds: int, sizes: tuple[tuple[int, int], ...] = ((30, 100), (100, 250))) -> None:
    """The hypervolume below (1.1, 1.1) of what each reports, at equal evaluations."""
    print(f"{'problem':8} {'swarm':>10} {'NSGA-II':>9} {'nspso':>9} {'cmdpso':>9}   p(nspso<) p(cmdpso<)")
    for m, iterations in sizes:
        for number in (1, 2, 3):
            problem = zdt(number)
            ns = [
                _ours("nspso", {"leaders": 0.2, "mutation": None}, problem, m, iterations, seed)
                for seed in range(seeds)
            ]
            cmd = [
                _ours("cmdpso", {"mutation": "auto", "epsilon": 0.01}, problem, m, iterations, seed)
                for seed in range(seeds)
            ]
            theirs = [_nsga2(problem, m, iterations + 1, seed) for seed in range(seeds)]
            print(
                f"{problem.name:8} {m:4} x{iterations:4} {statistics.median(theirs):9.4f} "
                f"{statistics.median(ns):9.4f} {statistics.median(cmd):9.4f}   "
                f"{_p_values(ns, theirs)[0]:9.3f} {_p_values(cmd, theirs)[0]:10.3f}"
            )


def _ours(name: str, more: Mapping[str, Any], problem: Problem, m: int, iterations: int, seed: int) -> float:
    options = {**FRONTS, **more, "swarm": m, "iterations": iterations}
    played = play(load_strategy(name), options, problem, seed, limit=10**6)
    assert problem.reference is not None
    return hypervolume(losses_of(played.events[-1].chosen), problem.reference)


def _nsga2(problem: Problem, m: int, generations: int, seed: int) -> float:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem as PymooProblem
    from pymoo.optimize import minimize

    class Wrapped(PymooProblem):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(n_var=problem.terrain.dimensions, n_obj=2, xl=0.0, xu=1.0)

        def _evaluate(self, x: Any, out: Any, *args: Any, **kwargs: Any) -> None:
            out["F"] = np.array([problem.losses(point) for point in x])

    result = minimize(Wrapped(), NSGA2(pop_size=m), ("n_gen", generations), seed=seed, verbose=False)
    assert problem.reference is not None
    return hypervolume(np.atleast_2d(result.F), problem.reference)


# --- cost -------------------------------------------------------------------------------------------------


def cost_table(dimensions: int = 1_000, population: int = 100, steps: int = 30) -> None:
    """What a step of each strategy costs beside the evaluations, in milliseconds: the median of many."""
    for name, options, objectives, terrain in _costly(dimensions, population, steps):
        rng = np.random.default_rng(0)
        running = load_strategy(name)(Setting(terrain, options, np.random.default_rng(0), objectives=objectives))
        asks = next(running)
        spent = []
        for _ in range(steps - 2):
            told = [Told(ask.vector, tuple(rng.random(objectives)), float(rng.random())) for ask in asks]
            begin = time.process_time()
            asks = running.send(told)
            spent.append(time.process_time() - begin)
        print(f"{name:12} {1000 * min(spent):7.2f} {1000 * statistics.median(spent):7.2f} ms   {len(asks)} asks")


def _costly(d: int, m: int, steps: int) -> list[tuple[str, dict[str, Any], int, Terrain]]:
    plain = Terrain.continuous(d)
    features = Terrain.of(
        np.full(d, 2), heads=np.arange(d), absent=dict.fromkeys(range(d), 0), families=dict.fromkeys(range(d), 0)
    )
    fronts = {**FRONTS, "swarm": m, "iterations": steps, "leaders": 0.2, "mutation": "auto", "epsilon": 0.01}
    ga = {"population": m, "generations": steps, "kappa": 5, "crossover": 0.6, "mutation": 0.05, "add": 0.3}
    ga = {**ga, "delete": 0.3, "tournament": 2, "elitism": "occam", "shuffle": False, "grow": False}
    return [
        ("pso", {**PSO, "swarm": m, "iterations": steps}, 1, plain),
        ("bpso", {**PSO, **CONSTRICTION, "vmax": 6.0, "swarm": m, "iterations": steps}, 1, features),
        ("nspso", fronts, 2, plain),
        ("nspso", {**fronts, "encoding": "binary"}, 2, features),
        ("cmdpso", fronts, 2, plain),
        ("cmdpso", {**fronts, "encoding": "binary"}, 2, features),
        ("occam_ga", ga, 1, features),
        ("occam_ga", ga, 2, features),
        ("random", {"evaluations": 10**6, "draw": "choices"}, 1, plain),
    ]


TABLES: dict[str, Callable[[int], None]] = {
    "swarm": swarm_table,
    "fronts": front_table,
    "cost": lambda seeds: cost_table(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--seeds", type=int, default=30)
    arguments = parser.parse_args()
    TABLES[arguments.table](arguments.seeds)


if __name__ == "__main__":
    main()
