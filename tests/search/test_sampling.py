"""Random search, grid search and successive halving: which models they ask for, and when they end."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import numpy as np
import pytest
from strategy_options import options

from msl.search.base import Observation, SearchSpace, Vector, Vectors
from msl.search.operators.initialise import UnseenPoints
from msl.search.strategies.grid import grid
from msl.search.strategies.halving import halving, largest_round, rungs
from msl.search.strategies.random import random
from msl.search.strategy_context import Setting
from msl.testing.conformance import Played, play
from msl.testing.toy_problems import Problem, bits, mixed, sphere, two_bowls


def models(played: Played) -> list[Hashable | None]:
    return [played.problem.search_space.decode(ask.vector) for ask in played.queries]


# --- random ---------------------------------------------------------------------------------------------


def test_random_asks_for_no_model_twice_and_ends_with_the_last() -> None:
    played = play(random, options("random(evaluations = 1000)"), bits(6))
    assert len(set(models(played))) == len(played.queries) == 64
    assert played.events[-1].figures["why"] == "all models are known"


def test_random_asks_for_no_model_that_is_known() -> None:
    problem = bits(6)
    first = play(random, options("random(evaluations = 50)"), problem, seed=1)
    second = play(random, options("random(evaluations = 50)"), problem, seed=2, known=first.observations)
    assert len(second.queries) == 14
    assert not set(models(first)) & set(models(second))


def test_random_is_uniform_in_the_cube() -> None:
    played = play(random, options("random(evaluations = 2000)"), sphere(3))
    points = np.array([ask.vector for ask in played.queries])
    assert np.abs(points.mean(axis=0) - 0.5).max() < 0.03
    assert np.abs(points.std(axis=0) - 12**-0.5).max() < 0.02


class Lopsided(SearchSpace):
    """The first value of the first dimension is one model, the second one a thousand."""

    __slots__ = ()

    def decode(self, vector: Vector) -> Hashable | None:
        method, depth = self.cells(vector)
        return (0, 0) if method == 0 else (1, int(depth))

    def draw(self, rng: np.random.Generator, size: int) -> Vectors:
        number = rng.integers(0, 1001, size=size)
        cells = np.stack([(number > 0).astype(float), np.maximum(number - 1.0, 0.0)], axis=1)
        return self.centres(cells)


def test_random_draws_choices_or_models() -> None:
    search_space = Lopsided.of([2, 1000])
    problem = Problem("lopsided", search_space, lambda point: (float(point[1]),), 0.0)

    def share_of_first(draw: str) -> float:
        rng = np.random.default_rng(0)
        if draw == "models":
            return float(np.mean(search_space.cells(search_space.draw(rng, 2000))[:, 0] == 0))
        return float(np.mean(search_space.cells(rng.random((2000, 2)))[:, 0] == 0))

    assert share_of_first("choices") == pytest.approx(0.5, abs=0.05)
    assert share_of_first("models") == pytest.approx(0.001, abs=0.003)
    uneven = play(random, options("random(evaluations = 40)"), problem)
    even = play(random, options("random(evaluations = 40, draw = models)"), problem)
    assert (0, 0) in models(uneven)
    assert (0, 0) not in models(even)


def test_random_answers_with_the_best_or_the_front() -> None:
    single = play(random, options("random(evaluations = 80)"), sphere())
    assert single.events[-1].chosen[0].loss == single.result
    several = play(random, options("random(evaluations = 80)"), two_bowls())
    losses = [one.losses for one in several.events[-1].chosen]
    assert len(losses) > 1
    assert not any(a[0] <= b[0] and a[1] <= b[1] for a in losses for b in losses if a != b)


def test_what_the_best_so_far_makes_useless_is_said() -> None:
    played = play(random, options("random(evaluations = 80)"), sphere())
    beats = [batch[0].cutoff for batch in played.batches]
    assert beats[0] is None
    bests = [event.figures["best"] for event in played.events]
    assert beats[1:] == [np.nextafter(best, np.inf) for best in bests[:-1]]
    assert all(ask.cutoff is None for ask in play(random, options("random(evaluations = 80)"), two_bowls()).queries)


# --- grid -----------------------------------------------------------------------------------------------


def test_grid_is_every_model_once_in_order() -> None:
    problem = mixed()
    played = play(grid, options("grid(steps = 3)"), problem)
    cells = [problem.search_space.cells(ask.vector).tolist() for ask in played.queries]
    assert len(cells) == 4 * 7 * 2 * 3
    assert cells == sorted(cells)
    assert sorted({cell[3] for cell in cells}) == [0.0, 0.5, 1.0]
    assert played.events[-1].figures["why"] == "every model of the grid is known"


class Walked(Lopsided):
    """Walks over the whole cube, where many points are one model."""

    __slots__ = ()

    def walk(self, steps: int) -> Iterator[Vector]:
        return (self.centres(np.array([method, depth])) for method in (0.0, 1.0) for depth in range(1000))


def test_grid_asks_for_no_model_twice() -> None:
    problem = Problem("lopsided", Walked.of([2, 1000]), lambda point: (float(point[1]),), 0.0)
    played = play(grid, options("grid"), problem)
    assert len(models(played)) == len(set(models(played))) == 1001


def test_grid_leaves_out_what_is_known() -> None:
    problem = bits(5)
    first = play(grid, options("grid(evaluations = 12)"), problem)
    second = play(grid, options("grid"), problem, known=first.observations)
    assert len(first.queries) == 12
    assert len(second.queries) == 20
    assert len({*models(first), *models(second)}) == 32


# --- halving --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "factor", "shares"),
    [
        (0.1, 3, [0.1, 0.1**0.5, 1.0]),
        (0.125, 2, [0.125, 0.25, 0.5, 1.0]),
        (0.01, 10, [0.01, 0.1, 1.0]),
        (1.0, 3, [1.0]),
        (0.9, 3, [1.0]),
    ],
)
def test_rungs(first: float, factor: int, shares: list[float]) -> None:
    assert rungs(first, factor, 99) == pytest.approx(shares)
    assert rungs(first, factor, 1) == [1.0]


@pytest.mark.parametrize("evaluations", [1, 2, 3, 7, 40, 100, 255])
@pytest.mark.parametrize("factor", [2, 3, 5])
def test_a_round_uses_as_many_evaluations_as_fit(evaluations: int, factor: int) -> None:
    def cost(size: int, number: int) -> int:
        sizes = [size]
        for _ in range(number - 1):
            sizes.append(max(sizes[-1] // factor, 1))
        return sum(sizes)

    for number in range(1, min(evaluations, 4) + 1):
        size = largest_round(evaluations, number, factor)
        assert cost(size, number) <= evaluations < cost(size + 1, number)


def test_halving_keeps_the_best_third() -> None:
    played = play(halving, options("halving(evaluations = 39)"), sphere())
    assert [(len(batch), round(batch[0].share, 3)) for batch in played.batches][:3] == [(27, 0.1), (9, 0.316), (3, 1.0)]
    first = played.observations[:27]
    best = sorted(first, key=lambda one: one.loss)[:9]
    assert [ask.vector.tolist() for ask in played.batches[1]] == [one.vector.tolist() for one in best]
    assert played.events[2].chosen[0].loss == min(one.loss for one in first)


def test_only_losses_on_all_rows_are_answers() -> None:
    played = play(halving, options("halving(evaluations = 39)"), sphere())
    assert [bool(event.chosen) for event in played.events] == [False, False, True]


def test_halving_starts_with_what_is_known_and_goes_on_with_new_models() -> None:
    known = [Observation(np.array([0.2, 0.3]), (0.5,)), Observation(np.array([0.6, 0.7]), (0.1,))]
    played = play(halving, options("halving(evaluations = 60)"), sphere(), known=known)
    assert played.batches[0][0].vector.tolist() == [0.6, 0.7]
    assert played.batches[0][1].vector.tolist() == [0.2, 0.3]
    assert len(played.queries) == 60


def test_later_rounds_of_halving_are_bred_from_the_best() -> None:
    problem = sphere(6)
    played = play(halving, options("halving(evaluations = 400)"), problem)
    rounds = [batch for batch in played.batches if batch[0].share < 0.2]
    assert len(rounds) > 8, "a round is never larger than what ends with `factor` models on all rows"
    losses = [np.mean([problem.losses(ask.vector)[0] for ask in batch]) for batch in rounds]
    assert np.mean(losses[-3:]) < 0.6 * losses[0]
    chance = [play(random, options("random(evaluations = 400)"), problem, seed).result for seed in range(3)]
    assert played.result < min(chance)


def test_halving_ends_when_there_is_nothing_new() -> None:
    played = play(halving, options("halving(evaluations = 500)"), bits(5))
    assert played.events[-1].figures["why"] == "all models are known"
    fully = {played.problem.search_space.decode(ask.vector) for ask in played.queries if ask.share < 1.0}
    assert len(fully) == 32


# --- fresh ----------------------------------------------------------------------------------------------


class Empty(SearchSpace):
    """No models at all."""

    __slots__ = ()

    def decode(self, vector: Vector) -> Hashable | None:
        return None


def test_nothing_is_fresh_where_there_are_no_models() -> None:
    search_space = Empty.continuous(2)
    fresh = UnseenPoints(search_space)
    rng = np.random.default_rng(0)
    assert fresh.draws(lambda size: rng.random((size, 2)), 10) == []
    assert not fresh.has_all
    for name, strategy in (("random", random), ("halving", halving)):
        assert next(strategy(Setting(search_space, options(name), rng)), None) is None
