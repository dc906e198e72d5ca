"""Of two models that are as good the simpler one is to be found, though evaluations end once they cannot matter."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategy_options import options

from msl.search.base import Observation, Query, SearchSpace, Vector, best_of, worse_than
from msl.search.stages import load_strategy
from msl.testing.conformance import Played, exact, play
from msl.testing.toy_problems import Problem


def plateaus() -> Problem:
    """Few different losses, and on each plateau some points that are simpler than others."""
    search_space = SearchSpace.of([3, 40], ordered=[True, True])

    def losses(point: Vector) -> tuple[float, ...]:
        return (0.1 + 0.2 * float(search_space.cells(point)[0]),)

    return Problem("plateaus", search_space, losses, 0.1, lambda point: 40.0 - float(search_space.cells(point)[1]))


def raced(problem: Problem, ask: Query, number: int) -> Observation:
    """What is told of a race: whoever has not come below `cutoff` is at least that bad, and no more is known."""
    told = exact(problem, ask, number)
    if ask.cutoff is not None and told.loss >= ask.cutoff:
        return Observation(told.vector, (ask.cutoff,), told.complexity, bound=True)
    return told


def chosen(played: Played) -> Observation:
    best = best_of(played.observations)
    assert best is not None
    return best


@pytest.mark.parametrize(
    "call",
    [
        "random(evaluations = 200)",
        "grid",
        "pso(swarm = 6, iterations = 20)",
        "bpso(swarm = 6, iterations = 20)",
        "pattern(evaluations = 60)",
        "best_first",
        "best_first(inner = coordinate)",
    ],
)
def test_races_do_not_hide_a_model_that_is_as_good_and_simpler(call: str) -> None:
    strategy = load_strategy(call.partition("(")[0])
    openly, in_races = (play(strategy, options(call), plateaus(), answer=answer) for answer in (exact, raced))
    best = chosen(openly)
    first = next(one for one in openly.observations if one.loss == best.loss)
    assert best.complexity < first.complexity, "it was found after one that is as good"
    assert any(ask.cutoff is not None for ask in in_races.queries)
    assert (chosen(in_races).loss, chosen(in_races).complexity) == (best.loss, best.complexity)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False))
def test_what_is_to_beat_parts_those_as_good_from_those_worse(loss: float, other: float) -> None:
    cutoff = worse_than(loss)
    assert cutoff is not None
    assert (other < cutoff) == (other <= loss)
    assert loss < cutoff


def test_before_there_is_a_loss_there_is_nothing_to_beat() -> None:
    assert worse_than(math.inf) is None
