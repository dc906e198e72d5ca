"""Successive halving: who goes on when models fail, and what its forest learns from: who got how far."""

import math

import numpy as np
import pytest
from strategy_options import options

from msl.search.base import Observation, Query
from msl.search.strategies.halving import _farthest_first, halving
from msl.testing.conformance import Played, exact, play
from msl.testing.toy_problems import Problem, sphere


def test_models_are_ranked_by_how_far_they_got_and_failures_come_last() -> None:
    a, b, c, d = (np.array([place / 10]) for place in range(4))
    got_to = {
        0.1: [Observation(a, (0.3,)), Observation(b, (0.1,)), Observation(c, (0.2,)), Observation(d, (0.9,))],
        1.0: [Observation(b, (0.5,)), Observation(c, (float("inf"),)), Observation(a, (0.4,))],
    }
    ranked = _farthest_first(got_to)
    assert [one.vector[0] for one in ranked] == [a[0], b[0], d[0], c[0]]
    assert [one.loss for one in ranked] == [0.4, 0.5, 0.9, float("inf")]


def _failing_on_few_rows(failures: int) -> Played:
    """A round of 27 models in which the first ones cannot be judged on a tenth of the rows."""

    def answer(problem: Problem, ask: Query, number: int) -> Observation:
        told = exact(problem, ask, number)
        return Observation(told.vector, (math.inf,)) if number < failures else told

    return play(halving, options("halving(evaluations = 39)"), sphere(), answer=answer)


@pytest.mark.parametrize(
    ("failures", "rungs"),
    [
        (0, [27, 9, 3]),
        (9, [27, 9, 3]),
        (18, [27, 9, 3]),
        (20, [27, 7, 2]),  # all that are left go on
        (26, [27, 1, 1]),
    ],
)
def test_failures_do_not_cost_others_their_places_on_the_next_rung(failures: int, rungs: list[int]) -> None:
    """One in `factor` of those that were tried goes on, not of those that did not fail: their evaluations are paid."""
    played = _failing_on_few_rows(failures)
    assert [len(batch) for batch in played.batches[:3]] == rungs
    alive = sorted(played.observations[failures:27], key=lambda one: one.loss)
    assert [ask.vector.tolist() for ask in played.batches[1]] == [one.vector.tolist() for one in alive[: rungs[1]]]


def test_none_that_failed_goes_on() -> None:
    played = _failing_on_few_rows(27)
    assert played.batches[1][0].share == played.batches[0][0].share, "a new round begins"
