"""Swarms: topologies, walls, stalls, and how far they get on functions with a known lowest point."""

from __future__ import annotations

import math

import numpy as np
import pytest
from strategy_options import options

from msl.search.base import Observation, Query, SearchSpace, Vector, best_of
from msl.search.operators.swarm import Bests, VelocityRule, scattered
from msl.search.strategies.bpso import bpso
from msl.search.strategies.pattern import pattern
from msl.search.strategies.pso import pso
from msl.search.strategies.random import random
from msl.space.values import SymbolValue
from msl.testing.conformance import play
from msl.testing.toy_problems import Problem, bits, conditional, mixed, rastrigin, rosenbrock, sphere


def swarm(losses: list[float], topology: object = "global") -> Bests:
    told = [Observation(np.array([float(place)]), (loss,)) for place, loss in enumerate(losses)]
    return Bests(np.array([one.vector for one in told]), told, topology)


def test_all_follow_the_best_or_the_best_of_their_neighbours() -> None:
    losses = [5.0, 1.0, 7.0, 3.0, 2.0, 6.0]
    assert swarm(losses).leaders()[:, 0].tolist() == [1] * 6
    assert swarm(losses, SymbolValue("ring", (("k", 1),))).leaders()[:, 0].tolist() == [1, 1, 1, 4, 4, 4]
    assert swarm(losses, SymbolValue("ring", (("k", 2),))).leaders()[:, 0].tolist() == [1, 1, 1, 1, 4, 1]
    assert swarm(losses, SymbolValue("ring", (("k", 9),))).leaders()[:, 0].tolist() == [1] * 6


def test_only_what_is_lower_and_exact_is_a_best() -> None:
    bests = swarm([0.5, 0.5, 0.5, 0.5])
    new = [0.5, 0.4, 0.1, math.inf]
    told = [Observation(np.array([9.0]), (loss,), bound=place == 2) for place, loss in enumerate(new)]
    assert bests.update(np.full((4, 1), 9.0), told)
    assert bests.losses.tolist() == [0.5, 0.4, 0.5, 0.5]
    assert bests.positions[:, 0].tolist() == [0, 9, 2, 3]
    assert not bests.update(np.full((4, 1), 9.0), told)


def test_walls_stop_particles_or_throw_them_back() -> None:
    x, v = np.array([[0.9, 0.1, 0.5, 0.5]]), np.array([[0.3, -0.4, 0.2, 1.7]])
    rng = np.random.default_rng(0)
    stopped, after = VelocityRule(2, 2, None, rng).moved(x, v)
    np.testing.assert_allclose(stopped, [[1.0, 0.0, 0.7, 1.0]])
    np.testing.assert_allclose(after, v)
    back, after = VelocityRule(2, 2, None, rng, "reflect").moved(x, v)
    np.testing.assert_allclose(back, [[0.8, 0.3, 0.7, 0.2]])
    np.testing.assert_allclose(after, [[-0.3, 0.4, 0.2, -1.7]])


def test_velocities_are_clamped_and_stay_numbers() -> None:
    """With an inertia above 1 and no clamp, velocities grow for ever; positions stay in the cube."""
    rng = np.random.default_rng(0)
    slow = VelocityRule(2, 2, 0.1, rng).velocity(1.0, np.full((1, 3), 5.0), *np.zeros((3, 1, 3)))
    assert slow.tolist() == [[0.1, 0.1, 0.1]]
    played = play(pso, options("pso(swarm = 3, iterations = 4000, inertia = 5)"), sphere(2))
    assert np.isfinite([ask.vector for ask in played.queries]).all()


def test_idle_particles_are_scattered() -> None:
    search_space = SearchSpace.of([4, 4])
    before = np.array([[0.1, 0.1], [0.1, 0.1]])
    x, v = np.array([[0.2, 0.2], [0.2, 0.3]]), np.ones((2, 2))
    moved, after = scattered(search_space, before, x, v, np.random.default_rng(0))
    assert moved[0].tolist() != [0.2, 0.2], "still the same model"
    assert moved[1].tolist() == [0.2, 0.3]
    assert after.tolist() == [[0.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(("name", "strategy"), [("pso", pso), ("bpso", bpso)])
def test_a_swarm_gives_up_after_iterations_in_vain(name: str, strategy: object) -> None:
    flat = Problem("flat", SearchSpace.of([2, 2, 0]), lambda point: (1.0,), 0.0)
    played = play(strategy, options(f"{name}(swarm = 4, iterations = 99, stall = 3)"), flat)  # type: ignore[arg-type]
    assert len(played.batches) == 1 + 3
    assert played.events[-1].figures["why"] == "no better point in 3 iterations"


def test_progress_starts_the_count_of_a_stall_again() -> None:
    """Better in every second iteration."""

    def answer(problem: Problem, ask: Query, number: int) -> Observation:
        return Observation(ask.vector, (1.0 - 0.01 * (number // 8),))

    played = play(pso, options("pso(swarm = 4, iterations = 20, stall = 2)"), sphere(), answer=answer)
    assert len(played.batches) == 21


def test_an_event_for_each_iteration() -> None:
    played = play(pso, options("pso(swarm = 4, iterations = 5)"), sphere())
    assert [event.figures["iteration"] for event in played.events] == list(range(6))
    assert [event.figures["losses"] for event in played.events] == [
        [one.loss for one in played.observations[4 * t : 4 * t + 4]] for t in range(6)
    ]
    assert [event.chosen for event in played.events][-1] == (best_of(played.observations),)
    assert all(len(event.kept) == 4 for event in played.events), "the personal bests, which an ensemble takes"
    assert [event.figures["inertia"] for event in played.events][:2] == [None, 1.2]


# --- how far they get -----------------------------------------------------------------------------------


def median(strategy: object, call: str, problem: Problem, seeds: int = 5) -> float:
    return float(np.median([play(strategy, options(call), problem, seed).result for seed in range(seeds)]))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "good"), [(sphere(5), 1e-3), (rosenbrock(3), 3.0), (rastrigin(2), 1.5), (mixed(), 0.01)]
)
def test_the_swarm_beats_chance_on_known_functions(problem: Problem, good: float) -> None:
    reached = median(pso, "pso(swarm = 10, iterations = 60, wall = reflect)", problem)
    assert reached <= good
    assert reached <= median(random, "random(evaluations = 610)", problem)


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "good"), [(sphere(8), 1e-6), (rosenbrock(3), 4.0), (mixed(), 1e-6)])
def test_the_pattern_beats_chance_on_known_functions(problem: Problem, good: float) -> None:
    reached = median(pattern, "pattern(evaluations = 400)", problem)
    assert reached <= good
    assert reached <= median(random, "random(evaluations = 400)", problem)


def test_the_papers_swarm_on_conditional_spaces() -> None:
    assert median(pso, "pso(swarm = 20, iterations = 30)", conditional()) <= 0.051


@pytest.mark.slow
def test_bits_are_found_by_the_binary_swarm() -> None:
    assert median(bpso, "bpso(swarm = 20, iterations = 40)", bits(20)) <= 0.05


def test_halving_only_after_failure_follows_a_valley_further() -> None:
    """A narrow valley along the diagonal: it takes many small steps, for which steps that are always halved die out."""

    def valley(point: Vector) -> tuple[float, ...]:
        x, y = point
        return (float(20 * (x - y) ** 2 + (x + y - 1.8) ** 2),)

    problem = Problem("valley", SearchSpace.continuous(2), valley, 0.0)
    start = [Observation(np.array([0.1, 0.13]), (9.0,))]

    def reached(call: str) -> float:
        return play(pattern, options(call), problem, known=start).result

    assert reached("pattern(evaluations = 300, halve = failed)") < 0.1 * reached("pattern(evaluations = 300)")
