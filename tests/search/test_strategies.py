"""Every strategy on problems that need no model: it keeps the contract, and finds what there is to find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.search.base import Observation, Query
from msl.search.stages import load_strategy
from msl.testing.conformance import Played, exact, play
from msl.testing.toy_problems import Problem, bits, conditional, features_against_error, mixed, sphere, two_bowls

SHORT = {
    "pso": "swarm = 8, iterations = 25",
    "bpso": "swarm = 8, iterations = 25",
    "pattern": "evaluations = 150",
    "random": "evaluations = 150",
    "grid": "steps = 7",
    "best_first": "",
    "occam_ga": "population = 20, generations = 12",
    "nspso": "swarm = 10, iterations = 15",
    "cmdpso": "swarm = 10, iterations = 15",
    "halving": "evaluations = 150",
    "auto": "evaluations = 150",
}
SEVERAL = ("nspso", "cmdpso")
ONE = tuple(name for name in SHORT if name not in SEVERAL)


def options(name: str) -> dict[str, Any]:
    """The options of a strategy, as a spec fills them in."""
    goal = "minimize ber, features" if name in SEVERAL else "minimize ber"
    text = f"use clop\nchain m = svc\n{goal}\nsearch {name}({SHORT[name]})\n"
    checked = check_source(Source("spec", text))
    assert checked.spec is not None, [d.message for d in checked.diagnostics]
    return dict(checked.spec.search[0].call.options)


def played(name: str, problem: Problem, **arguments: Any) -> Played:
    return play(load_strategy(name), options(name), problem, **arguments)


def problem_for(name: str) -> Problem:
    if name in SEVERAL:
        return two_bowls()
    return bits() if name in ("bpso", "best_first", "grid") else sphere()


def vectors(run: Played) -> list[bytes]:
    return [ask.vector.tobytes() for ask in run.queries]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_the_same_seed_asks_the_same_and_another_seed_something_else(name: str) -> None:
    problem = problem_for(name)
    first = played(name, problem, seed=3)
    assert vectors(first) == vectors(played(name, problem, seed=3))
    if name not in ("grid", "best_first"):
        assert vectors(first) != vectors(played(name, problem, seed=4))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_it_stays_in_the_cube_and_ends(name: str) -> None:
    run = played(name, problem_for(name))
    assert run.ended
    points = np.array([ask.vector for ask in run.queries])
    assert np.isfinite(points).all()
    assert points.min() >= 0
    assert points.max() <= 1


@pytest.mark.parametrize("name", ["pattern", "random", "halving", "auto"])
def test_it_keeps_to_its_evaluations(name: str) -> None:
    assert len(played(name, problem_for(name)).queries) <= 150


@pytest.mark.parametrize("name", SHORT)
def test_it_finds_what_there_is_to_find(name: str) -> None:
    assert played(name, problem_for(name)).is_solved


@pytest.mark.parametrize("name", ["pso", "pattern", "random", "auto", "occam_ga"])
@pytest.mark.parametrize("make", [mixed, conditional])
def test_mixed_and_conditional_spaces(name: str, make: Any) -> None:
    run = played(name, make())
    assert np.isfinite(run.result)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_stored_answers_bring_it_back_to_where_it_was(name: str) -> None:
    """Cut anywhere and fed what was stored, the whole sequence of asks is the same."""
    problem = problem_for(name)
    whole = played(name, problem)
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(whole.observations), 10):
        again = played(name, problem, stored=whole.observations[: int(cut)])
        assert vectors(again) == vectors(whole)


def failing(problem: Problem, ask: Query, number: int) -> Observation:
    """Every third point fails."""
    told = exact(problem, ask, number)
    return Observation(told.vector, (float("inf"),) * len(told.losses)) if number % 3 == 0 else told


def hopeless(problem: Problem, ask: Query, number: int) -> Observation:
    told = exact(problem, ask, number)
    return Observation(told.vector, (float("inf"),) * len(told.losses))


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("answer", [failing, hopeless])
def test_failures_neither_stop_nor_poison_it(name: str, answer: Any) -> None:
    run = played(name, problem_for(name), answer=answer)
    assert run.ended
    assert np.isfinite(np.array([ask.vector for ask in run.queries])).all()


def bounded(problem: Problem, ask: Query, number: int) -> Observation:
    """What racing tells: at or above `cutoff`, only that it is at least so large."""
    told = exact(problem, ask, number)
    if ask.cutoff is not None and told.loss >= ask.cutoff:
        return Observation(told.vector, (ask.cutoff,), told.complexity, bound=True)
    return told


@pytest.mark.slow
@pytest.mark.parametrize("name", ONE)
def test_a_lost_race_changes_nothing(name: str) -> None:
    problem = problem_for(name)
    assert vectors(played(name, problem, answer=bounded)) == vectors(played(name, problem))


@pytest.mark.parametrize("name", SEVERAL)
def test_a_front_of_features_against_error(name: str) -> None:
    assert played(name, features_against_error()).result < 0
