"""How strategies are compared: ranks, what counts within a cost, and the made-up problems."""

import numpy as np
import pytest
from scipy.stats import rankdata

from benchmarks.strategy_adaptive import adaptive_calls, best_within, mean_ranks, single_calls
from benchmarks.strategy_problems import Arena, made_up, pipelines
from msl.search.base import Observation
from msl.testing.conformance import exact, options_of
from msl.testing.toy_problems import sphere


def test_mean_ranks_share_places_among_equals() -> None:
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 4, (5, 3, 7)).astype(float)
    found = {f"strategy {number}": each.tolist() for number, each in enumerate(losses)}
    expected = np.mean(rankdata(losses.reshape(5, -1), axis=0), axis=1)
    assert list(mean_ranks(found).values()) == pytest.approx(expected)


def test_only_losses_on_all_rows_count_and_only_within_the_cost() -> None:
    told = iter([0.9, 0.1, 0.5, 0.05])

    def answer(problem, ask, number):
        return Observation(ask.vector, (next(told),))

    assert best_within(Arena(sphere(), answer), "random(evaluations = 4)", 3, seed=0) == 0.1
    told = iter(np.linspace(0.9, 0.1, 500))
    few_rows_first = best_within(Arena(sphere(), answer), "halving(evaluations = 300)", 5, seed=0)
    assert few_rows_first > 0.1


@pytest.mark.parametrize("call", [*single_calls(100).values(), *adaptive_calls(100).values()])
def test_every_contestant_is_a_call_that_can_be_made(call: str) -> None:
    options_of(call)
    assert best_within(Arena(sphere(3), exact), call, 100, seed=1) < 1.0


def test_problems_are_the_same_each_time_and_have_losses_of_whole_rows() -> None:
    names = []
    for opened in made_up():
        with opened as arena:
            names.append(arena.problem.name)
    assert len(set(names)) == len(names) == 12
    first, second, other = pipelines(1), pipelines(1), pipelines(2)
    points = np.random.default_rng(2).random((50, 8))
    losses = [first.losses(point)[0] for point in points]
    assert losses == [second.losses(point)[0] for point in points]
    assert losses != [other.losses(point)[0] for point in points]
    assert np.allclose(np.array(losses) * 200, np.round(np.array(losses) * 200))
    assert 0.0 < min(losses) < max(losses) <= 0.5
