"""The adaptive strategy: its arms, its shares, and that it does not lose to those it is made of."""

from __future__ import annotations

import math

import numpy as np
import pytest
from strategy_options import options

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.search.base import Observation, SearchSpace, Vector
from msl.search.operators.initialise import UnseenPoints
from msl.search.stages import Limits, Stage, then
from msl.search.strategies.auto import WIDTH, PatternArm, Shares, SwarmArm, auto
from msl.search.strategies.halving import halving
from msl.search.strategies.pattern import pattern
from msl.search.strategies.pso import pso
from msl.search.strategies.random import random
from msl.search.strategy_context import Setting, StrategyFunction
from msl.testing.conformance import play
from msl.testing.toy_problems import Problem, bits, conditional, mixed, rastrigin, sphere, two_bowls


def arms_used(problem: Problem, evaluations: int = 200, seed: int = 0) -> list[str]:
    played = play(auto, options(f"auto(evaluations = {evaluations})"), problem, seed)
    return [event.figures["arm"] for event in played.events if event.kind == "arm"]


def test_it_starts_at_random_with_the_reference_and_ends_with_the_pattern() -> None:
    played = play(auto, options("auto(evaluations = 100)"), sphere(4))
    assert len(played.batches[0]) == 20
    assert played.batches[0][0].vector.tolist() == [0.0] * 4
    assert len(played.queries) == 100
    arms = arms_used(sphere(4), 100)
    assert arms[0] == "start"
    assert set(arms[-6:]) == {"pattern"}


def test_it_goes_on_from_what_earlier_stages_have_evaluated_and_asks_for_none_of_it_again() -> None:
    known = [Observation(np.array([0.3, 0.4]), (0.1,)), Observation(np.array([0.9, 0.9]), (0.8,))]
    played = play(auto, options("auto(evaluations = 50)"), sphere(), known=known)
    asked = [ask.vector.tolist() for ask in played.queries]
    assert asked[0] == [0.0, 0.0], "the reference comes first"
    assert len(asked) == 50
    assert all(one.vector.tolist() not in asked for one in known)
    first = next(event for event in played.events if event.kind == "arm")
    assert first.figures["best"] <= 0.1


def test_without_a_number_of_evaluations_it_goes_on_until_the_budget_ends_it() -> None:
    problem = sphere()
    stage = Stage(auto, options("auto(evaluations = none)"), problem.search_space)
    search, asked = then([stage], seed=0, limits=Limits(evaluations=333)), 0
    queries = next(search, None)
    while queries is not None:
        asked += len(queries)
        answers = [Observation(query.vector, problem.losses(query.vector)) for query in queries]
        try:
            queries = search.send(answers)
        except StopIteration:
            break
    assert asked == 333


def test_arms_get_what_they_gain() -> None:
    shares = Shares()
    assert sum(shares.now().values()) == pytest.approx(1.0)
    shares.add("swarm", 5, 0.2)
    shares.add("pattern", 5, 0.0)
    shares.add("random", 5, 0.0)
    shares.add("forest", 10, 0.0)
    now = shares.now()
    assert sum(now.values()) == pytest.approx(1.0)
    assert now["swarm"] > 0.4
    assert min(now.values()) > 0
    assert shares.order(is_finish=False)[0] == "swarm"
    assert shares.order(is_finish=True)[0] == "pattern"
    for _ in range(20):
        shares.add("swarm", 5, 0.0)
        shares.add("pattern", 5, 0.001)
    assert shares.now()["pattern"] > shares.now()["swarm"], "old gains are forgotten"
    shares.add("random", 5, math.inf)
    shares.add("random", 5, math.nan)
    assert all(math.isfinite(share) for share in shares.now().values())


def test_the_arm_that_gains_is_used_more() -> None:
    """On a bowl every arm gains more than chance does."""
    arms = [arm for seed in range(5) for arm in arms_used(sphere(6), 300, seed)[1:40]]
    for name in ("forest", "swarm", "pattern"):
        assert arms.count(name) > arms.count("random") > 0


def test_the_pattern_tries_every_alternative_and_then_smaller_steps() -> None:
    search_space = SearchSpace.of([0, 4], ordered=[True, False])
    setting = Setting(search_space, {}, np.random.default_rng(0))
    centre = Observation(np.array([0.5, 0.125]), (1.0,))
    arm = PatternArm(setting, UnseenPoints(search_space, [centre]))
    points = [ask.vector.tolist() for ask in arm.queries(centre)]
    assert sorted(points) == [[0.0, 0.125], [0.5, 0.375], [0.5, 0.625], [0.5, 0.875], [1.0, 0.125]]
    finer = [ask.vector.tolist() for ask in arm.queries(centre)]
    assert sorted(finer[:2]) == [[0.25, 0.125], [0.75, 0.125]]
    assert sorted(finer[2:4]) == [[0.375, 0.125], [0.625, 0.125]]


def test_particles_follow_the_best_of_all_arms() -> None:
    search_space = SearchSpace.continuous(2)
    first = [Observation(np.full(2, 0.1 + 0.05 * place), (1.0,)) for place in range(WIDTH)]
    arm = SwarmArm(Setting(search_space, {}, np.random.default_rng(0)), first)
    centre = Observation(np.full(2, 0.9), (0.1,))
    asks = arm.queries(centre)
    assert np.mean([ask.vector for ask in asks]) > 0.3
    assert all(ask.cutoff is None for ask in asks), "the forest learns from every loss"


def test_a_small_space_ends_it() -> None:
    played = play(auto, options("auto(evaluations = 5000)"), bits(5))
    assert (
        len(played.queries) < 5000 or len({played.problem.search_space.decode(a.vector) for a in played.queries}) == 32
    )
    assert played.result == 0.0


class Costly(SearchSpace):
    """The first number of a point is what it costs."""

    def cost(self, vector: Vector) -> float:
        return float(vector[0]) + 0.01

    @property
    def most_cost(self) -> float:
        return 0.4


@pytest.mark.parametrize("strategy", [auto, halving])
def test_what_would_take_too_long_is_not_proposed(strategy: StrategyFunction) -> None:
    """The lowest losses are where points cost too much."""
    problem = Problem("costly", Costly.continuous(3), lambda point: (1.0 - float(point[0]),), 0.6)
    call = f"{strategy.__name__}(evaluations = 100)"
    played = play(strategy, options(call), problem)
    costs = [problem.search_space.cost(ask.vector) for ask in played.queries]
    assert len(costs) == 100
    assert max(costs) <= 0.4
    assert max(costs) > 0.35, "up to there it looks everywhere"


def test_several_objectives() -> None:
    played = play(auto, options("auto(evaluations = 300)"), two_bowls())
    assert 200 < len(played.queries) <= 300
    assert played.events[-1].kind == "front"
    chance = min(play(random, options("random(evaluations = 300)"), two_bowls(), seed).result for seed in range(3))
    assert played.result < chance


@pytest.mark.parametrize("strategy", ["auto", "halving"])
def test_a_spec_may_give_it_several_objectives(strategy: str) -> None:
    text = f"use clop\nchain m = svc\nminimize ber by cv(folds = 2), features\nsearch {strategy}"
    assert check_source(Source("spec.msl", text)).spec is not None


@pytest.mark.parametrize("evaluations", [1, 2, 5, 11])
def test_few_evaluations(evaluations: int) -> None:
    assert len(play(auto, options(f"auto(evaluations = {evaluations})"), sphere()).queries) == evaluations


def menu(seed: int) -> Problem:
    """Six methods with two numbers each, as a choice of learners; how good one can get shows only near its best."""
    rng = np.random.default_rng(seed)
    bottom, best, width = rng.uniform(0.1, 0.4, 6), rng.random((6, 2)), rng.uniform(0.05, 0.3, 6)
    search_space = SearchSpace.of([6, *[0] * 12], ordered=[False, *[True] * 12])

    def losses(point: Vector) -> tuple[float, ...]:
        method = int(search_space.cells(point)[0])
        off = np.sum((point[1 + 2 * method : 3 + 2 * method] - best[method]) ** 2)
        return (float(0.5 - (0.5 - bottom[method]) * np.exp(-off / width[method])),)

    return Problem("menu", search_space, losses, 0.0)


def mean_ranks(problems: list[Problem], seeds: int) -> list[float]:
    """How many of the others are better, on average: auto, random, swarm, pattern."""
    calls = {
        auto: "auto(evaluations = 200)",
        random: "random(evaluations = 200)",
        pso: "pso(swarm = 5, iterations = 39)",
        pattern: "pattern(evaluations = 200)",
    }
    ranks = []
    for problem in problems:
        for seed in range(seeds):
            results = [play(strategy, options(call), problem, seed).result for strategy, call in calls.items()]
            ranks.append([sum(other < mine for other in results) for mine in results])
    return [float(rank) for rank in np.mean(ranks, axis=0)]


def test_it_beats_chance_and_the_swarm_on_unlike_problems() -> None:
    """On bowls, where one dimension has nothing to do with another, the pattern alone is hard to beat."""
    ranks = mean_ranks([mixed(), conditional(), bits(20), rastrigin(3), sphere(5)], seeds=3)
    assert ranks[0] < min(ranks[1:3])


def test_it_beats_all_that_it_is_made_of_where_methods_have_numbers_of_their_own() -> None:
    ranks = mean_ranks([menu(seed) for seed in range(10)], seeds=2)
    assert ranks[0] < min(ranks[1:])
