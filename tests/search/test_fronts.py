"""Swarms for several objectives: what they keep, follow, read and answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from strategy_options import options

from msl.search.base import Observation, Query, SearchSpace, Vector
from msl.search.operators.pareto import crowding, dominance, front_of, losses_of
from msl.search.operators.swarm import FeatureReading, SwarmPoints, VelocityRule, split
from msl.search.strategies.cmdpso import _leader_set, _tournament, cmdpso
from msl.search.strategies.nspso import _leaders, nspso
from msl.search.strategies.random import random
from msl.search.strategy_context import StrategyFunction
from msl.testing.conformance import play
from msl.testing.toy_problems import Problem, features_against_error, two_bowls

BOTH = pytest.mark.parametrize(("name", "strategy"), [("nspso", nspso), ("cmdpso", cmdpso)])


def points(losses: list[tuple[float, ...]]) -> SwarmPoints:
    told = [Observation(np.array([float(place)]), one) for place, one in enumerate(losses)]
    return SwarmPoints.of(np.array([one.vector for one in told]), told)


def on_a_line(size: int) -> list[tuple[float, ...]]:
    return [(float(place), float(size - place)) for place in range(size)]


# --- parts ----------------------------------------------------------------------------------------------


def test_leaders_are_the_least_crowded_non_dominated() -> None:
    """A front of eleven, crowded but for its ends; a dominated point never leads."""
    line = [*on_a_line(10), (9.5, 0.5)]
    swarm = points([*line, (20.0, 20.0), (math.inf, math.inf)])
    rng = np.random.default_rng(0)
    assert set(_leaders(swarm, 0.2, 300, rng).tolist()) == {0, 10}
    assert set(_leaders(swarm, 1.0, 300, rng).tolist()) == set(range(11))
    assert len(set(_leaders(swarm, 0.001, 300, rng).tolist())) == 1


def test_where_all_failed_anyone_leads() -> None:
    swarm = points([(math.inf, math.inf)] * 4)
    assert set(_leaders(swarm, 1.0, 100, np.random.default_rng(0)).tolist()) == {0, 1, 2, 3}
    assert len(_leader_set(swarm, 3)) == 3


def test_the_leader_set_keeps_those_with_room() -> None:
    swarm = points([(0.0, 10.0), (4.9, 5.1), (5.0, 5.0), (5.1, 4.9), (10.0, 0.0), (9.0, 9.0)])
    assert [int(place) for place in _leader_set(swarm, 4).positions[:, 0]] == [0, 4, 1, 3]
    assert len(_leader_set(swarm, 9)) == 5


def test_of_two_leaders_the_one_with_more_room_wins() -> None:
    leaders = points([(0.0, 10.0), (4.9, 5.1), (5.0, 5.0), (5.1, 4.9), (10.0, 0.0)])
    drawn = _tournament(leaders, 5000, np.random.default_rng(0))
    wins = np.bincount(drawn, minlength=5) / 5000
    assert crowding(leaders.losses).argmin() == 2
    assert wins[2] == pytest.approx(1 / 25, abs=0.01), "only against itself"
    assert wins[0] > wins[1] > wins[2]


def test_points_of_two_rows() -> None:
    first, second = points([(1.0,), (2.0,), (3.0,)]), points([(4.0,), (5.0,), (6.0,)])
    here, there = split(np.array([5, 0, 2, 3]), 3)
    assert (here.tolist(), there.tolist()) == ([0, 2], [2, 0])
    assert first.joined(second, np.array([5, 0, 2, 3])).losses[:, 0].tolist() == [1.0, 3.0, 6.0, 4.0]
    mixed = first.replaced(np.array([True, False, True]), second)
    assert mixed.losses[:, 0].tolist() == [4.0, 2.0, 6.0]
    assert [one.loss for one in mixed.observations] == [4.0, 2.0, 6.0]


def test_readiness_above_the_threshold_is_on_and_is_kept_as_it_is() -> None:
    search_space = SearchSpace.of([2, 2, 0, 5])
    reading = FeatureReading.of(search_space, "continuous", 0.6)
    x = np.array([[0.55, 0.61, 0.7, 0.3]])
    (ask,) = reading.queries(x)
    assert ask.vector.tolist() == [0.0, 1.0, 0.7, 0.3]
    back = Observation(np.array([0.25, 0.75, 0.7, 0.3]), (1.0, 1.0))
    assert reading.points(x, [back]).positions.tolist() == [[0.55, 0.61, 0.7, 0.3]]
    exactly = FeatureReading.of(search_space, "continuous", 0.6).queries(np.array([[0.6, 0.6, 0.6, 0.6]]))[0]
    assert exactly.vector[:2].tolist() == [0.0, 0.0], "on above the threshold, not at it"


def test_bits_are_bits() -> None:
    reading = FeatureReading.of(SearchSpace.of([2, 0]), "binary", 0.6)
    assert reading.positions(np.array([[0.55, 0.55], [0.45, 0.45]])).tolist() == [[1.0, 0.55], [0.0, 0.45]]
    back = Observation(np.array([0.75, 0.3]), (1.0, 1.0))
    assert reading.points(np.array([[1.0, 0.3]]), [back]).positions.tolist() == [[1.0, 0.3]]
    flight = VelocityRule(1.0, 1.0, 6.0, np.random.default_rng(0))
    x, _ = reading.moved(flight, np.full((2000, 2), 0.5), np.tile([2.0, 0.1], (2000, 1)))
    assert set(x[:, 0].tolist()) == {0.0, 1.0}
    assert x[:, 0].mean() == pytest.approx(1 / (1 + math.exp(-2)), abs=0.03)
    assert (x[:, 1] == 0.6).all()


# --- strategies -----------------------------------------------------------------------------------------


@pytest.mark.slow
@BOTH
def test_they_reach_further_than_random_points(name: str, strategy: StrategyFunction) -> None:
    for problem in (two_bowls(6), features_against_error(20)):
        found = play(strategy, options(f"{name}(swarm = 15, iterations = 20)"), problem).result
        chance = [play(random, options("random(evaluations = 315)"), problem, seed).result for seed in range(3)]
        assert found < min(chance)


@BOTH
def test_nothing_is_cut_short(name: str, strategy: StrategyFunction) -> None:
    played = play(strategy, options(f"{name}(swarm = 5, iterations = 3)"), two_bowls())
    assert all(ask.cutoff is None for ask in played.queries)
    assert [len(batch) for batch in played.batches] == [5] * 4


def test_nspso_keeps_the_best_of_old_and_new() -> None:
    """The front of the swarm is never worse than before, and no new point that would be on it is lost."""
    played = play(nspso, options("nspso(swarm = 8, iterations = 8)"), two_bowls())
    swarms = [list(event.kept) for event in played.events]
    asked = [played.observations[8 * t : 8 * t + 8] for t in range(9)]
    for before, new, after in zip(swarms, asked[1:], swarms[1:], strict=False):
        joined = [*before, *new]
        front = [
            one for one, beaten in zip(joined, dominance(losses_of(joined)).any(axis=0), strict=True) if not beaten
        ]
        kept = {id(one) for one in after}
        assert len(after) == 8
        assert sum(id(one) in kept for one in front) == min(8, len(front))
    volumes = [event.figures["hypervolume"] for event in played.events]
    assert volumes[-1] > volumes[0]


def test_cmdpso_answers_with_its_archive() -> None:
    played = play(cmdpso, options("cmdpso(swarm = 10, iterations = 10, epsilon = 0.1)"), two_bowls())
    chosen = played.events[-1].chosen
    assert len(chosen) <= 21, "one for each step of a tenth of the range in each objective"
    losses = losses_of(played.observations)
    sides = 0.1 * (losses.max(axis=0) - losses.min(axis=0))
    boxes = {tuple(np.floor(np.array(one.losses) / sides)) for one in chosen}
    assert len(boxes) == len(chosen)
    fine = play(cmdpso, options("cmdpso(swarm = 10, iterations = 10, epsilon = 0)"), two_bowls())
    best = {one.losses for one in front_of(fine.observations)}
    assert {one.losses for one in fine.events[-1].chosen} == best, "without ε, the front of all that was seen"


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("encoding", ["continuous", "binary"])
def test_features_that_do_harm_are_dropped(name: str, strategy: StrategyFunction, encoding: str) -> None:
    problem = features_against_error(15)
    played = play(strategy, options(f"{name}(swarm = 20, iterations = 25, encoding = {encoding})"), problem)
    helps = np.arange(15) % 3 == 0
    chosen = played.events[-1].chosen
    best = min(chosen, key=lambda one: one.losses[0])
    on = best.vector >= 0.5
    assert on[helps].sum() >= 4
    assert on[~helps].sum() <= 2
    assert min(one.losses[1] for one in chosen) < 2.5 / 15, "one or two features are the other end of the front"


@BOTH
def test_points_that_fail_in_one_objective_are_no_part_of_a_front(name: str, strategy: StrategyFunction) -> None:
    honest = two_bowls()

    def losses(point: Vector) -> tuple[float, ...]:
        first, second = honest.losses(point)
        return first, (math.nan if point[0] < 0.3 else second)

    problem = Problem("holes", honest.search_space, losses, 0.0, reference=(1.0, 1.0))
    played = play(strategy, options(f"{name}(swarm = 10, iterations = 10)"), problem)
    assert all(np.isfinite(one.losses).all() for event in played.events for one in event.chosen)
    assert played.events[-1].chosen
    assert all(math.isfinite(event.figures["hypervolume"]) for event in played.events)


@BOTH
def test_a_stage_starts_from_the_front(name: str, strategy: StrategyFunction) -> None:
    front = [Observation(np.full(3, 0.25 + 0.05 * step), (0.1 * step, 1 - 0.1 * step)) for step in range(5)]
    dominated = [Observation(np.full(3, 0.9), (2.0, 2.0))]
    played = play(strategy, options(f"{name}(swarm = 5, iterations = 1)"), two_bowls(), known=dominated + front)
    first = {round(float(ask.vector[0]), 6) for ask in played.batches[0]}
    assert first == {0.25, 0.3, 0.35, 0.4, 0.45}


def test_the_first_third_of_a_swarm_does_not_mutate() -> None:
    """With no velocity at all, only mutation moves particles."""
    still = "cmdpso(swarm = 9, iterations = 1, inertia = 0, c1 = 0, c2 = 0, mutation = 1)"
    played = play(cmdpso, options(still), two_bowls(5))
    moved = [not np.array_equal(before.vector, after.vector) for before, after in zip(*played.batches, strict=True)]
    assert moved[:6] == [False] * 3 + [True] * 3, "the last third moves by nothing in the last iteration"
    asks: list[Query] = played.batches[1]
    assert all((ask.vector >= 0).all() and (ask.vector <= 1).all() for ask in asks)
