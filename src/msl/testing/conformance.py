"""Conformance of strategies: what a search relies on, as checks that any strategy can be put through.

    from msl.testing.conformance import Subject, check_strategy

    check_strategy(Subject(annealing, {"evaluations": 100}, at_most=100))

or one test for each of `CHECKS` with pytest. A check raises AssertionError with what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from msl.search.base import Observation, Query
from msl.search.setting import StrategyFunction
from msl.testing.play import Played, exact, play
from msl.testing.toy_problems import (
    Problem,
    bits,
    conditional,
    features_against_error,
    mixed,
    sphere,
    two_bowls,
)

#: No strategy may ask more on these small problems, whatever it is told.
ENDLESS = 20_000
ONE_OBJECTIVE = (sphere(), mixed(), conditional(), bits())
SEVERAL_OBJECTIVES = (two_bowls(), features_against_error())


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A strategy to check.

    `at_most` is how many evaluations its options allow; None if only the space limits them. `solves` names the problems
    whose optimum it is expected to find with these options. `objectives` are the numbers of objectives that it takes.
    """

    strategy: StrategyFunction
    options: Mapping[str, Any]
    at_most: int | None = None
    solves: tuple[str, ...] = ("sphere", "mixed", "conditional", "bits", "two bowls", "features")
    objectives: tuple[int, ...] = (1,)

    @property
    def problems(self) -> list[Problem]:
        return [problem for problem in (*ONE_OBJECTIVE, *SEVERAL_OBJECTIVES) if problem.objectives in self.objectives]

    def play(self, problem: Problem, **more: Any) -> Played:
        return play(self.strategy, self.options, problem, limit=ENDLESS, **more)


Check = Callable[[Subject], None]


def check_strategy(subject: Subject) -> None:
    """All checks, one after the other."""
    for check in CHECKS:
        check(subject)


def check_is_deterministic(subject: Subject) -> None:
    """The same seed asks the same, the process's own randomness set aside; another seed may ask something else."""
    for problem in subject.problems:
        first = subject.play(problem, seed=3)
        np.random.seed(12345)  # noqa: NPY002 - a strategy must not notice
        second = subject.play(problem, seed=3)
        _same_asks(first, second, f"two runs on `{problem.name}` with one seed")


def check_respects_evaluations(subject: Subject) -> None:
    """It ends by itself, and never asks for more than its options allow; a batch is never empty."""
    for problem in subject.problems:
        played = subject.play(problem)
        assert played.ended, f"it does not end on `{problem.name}`"
        assert all(played.batches), f"it asks for an empty batch on `{problem.name}`"
        if subject.at_most is not None:
            asked = len(played.told)
            assert asked <= subject.at_most, f"it asks {asked} times on `{problem.name}`, and may {subject.at_most}"


def check_stays_in_the_cube(subject: Subject) -> None:
    """Every point asked for is in the cube, whatever the answers were; shares are shares."""
    for problem in subject.problems:
        for answer in (exact, _sometimes_failing, _always_failing):
            for ask in subject.play(problem, answer=answer).asks:
                where = f"on `{problem.name}`"
                assert ask.vector.shape == (problem.search_space.dimensions,), f"it asks for {ask.vector.shape} {where}"
                assert np.isfinite(ask.vector).all(), f"it asks for {ask.vector} {where}"
                assert (ask.vector >= 0).all(), f"it asks for {ask.vector} {where}, outside the cube"
                assert (ask.vector <= 1).all(), f"it asks for {ask.vector} {where}, outside the cube"
                assert 0 < ask.share <= 1, f"it asks for a share of {ask.share} {where}"
                assert ask.cutoff is None or math.isfinite(ask.cutoff), f"it says to beat {ask.cutoff} {where}"


def check_resumes_by_replay(subject: Subject, cuts: int = 50) -> None:
    """Started again and told what was stored, it asks the same, wherever it was cut, inside a batch too."""
    rng = np.random.default_rng(0)
    for problem in subject.problems:
        whole = subject.play(problem, seed=1)
        for cut in rng.integers(0, len(whole.told) + 1, size=-(-cuts // len(subject.problems))):
            again = subject.play(problem, seed=1, stored=whole.told[:cut])
            _same_asks(whole, again, f"a run on `{problem.name}`, cut after {cut} evaluations and resumed,")


def check_does_not_touch_the_answers(subject: Subject) -> None:
    """Points that were asked for and told belong to others: it changes neither, later on."""
    for problem in subject.problems:
        copies: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Query, Observation]] = []

        def answer(problem: Problem, ask: Query, number: int, copies: list[Any] = copies) -> Observation:
            told = exact(problem, ask, number)
            copies.append((ask.vector.copy(), told.vector.copy(), ask, told))
            return told

        subject.play(problem, answer=answer)
        for asked, back, ask, told in copies:
            assert np.array_equal(asked, ask.vector), f"it changes a point after asking for it, on `{problem.name}`"
            assert np.array_equal(back, told.vector), f"it changes a point that it was told, on `{problem.name}`"


def check_survives_failures(subject: Subject) -> None:
    """Points that fail do not end it early where its evaluations are limited, nor keep it from the optimum."""
    for problem in subject.problems:
        flat = subject.play(problem, answer=_flat)
        failing = subject.play(problem, answer=_always_failing)
        assert failing.ended, f"it does not end on `{problem.name}` when everything fails"
        if subject.at_most is not None:
            assert len(failing.told) >= len(flat.told), (
                f"it asks {len(failing.told)} times on `{problem.name}` when everything fails, "
                f"and {len(flat.told)} times when all losses are equal"
            )
        for answer in (_sometimes_failing, _failing_at_first):
            played = subject.play(problem, answer=answer)
            assert played.ended, f"it does not end on `{problem.name}` when some points fail"
            if problem.name in subject.solves:
                reached = min(subject.play(problem, answer=answer, seed=seed).result for seed in range(3))
                goal = problem.good if problem.reference is None else -problem.good
                # A region that fails may hold the optimum itself: twice the goal is asked for.
                allowed = 2 * goal + 0.05 if goal >= 0 else goal / 2
                assert reached <= allowed, f"it comes to {reached:.4g} on `{problem.name}` when some points fail"


def check_bounds_change_nothing(subject: Subject) -> None:
    """Where it says which loss to beat, knowing only that a loss is no lower leads it along the same path."""
    for problem in subject.problems:
        whole = subject.play(problem, seed=2)
        for answer in (_lowest_bound, _middle_bound):
            raced = subject.play(problem, seed=2, answer=answer)
            _same_asks(whole, raced, f"a run on `{problem.name}` that is told bounds")


def check_finds_optima(subject: Subject) -> None:
    """Small problems are solved with at least two of three seeds."""
    for problem in subject.problems:
        if problem.name in subject.solves:
            results = [subject.play(problem, seed=seed) for seed in range(3)]
            reached = [round(played.result, 4) for played in results]
            assert sum(played.is_solved for played in results) >= 2, (
                f"it comes to {reached} on `{problem.name}`, where {problem.good} is good"
            )


CHECKS: tuple[Check, ...] = (
    check_is_deterministic,
    check_respects_evaluations,
    check_stays_in_the_cube,
    check_resumes_by_replay,
    check_does_not_touch_the_answers,
    check_survives_failures,
    check_bounds_change_nothing,
    check_finds_optima,
)


# --- answers --------------------------------------------------------------------------------------------


def _failed(problem: Problem, ask: Query) -> Observation:
    return Observation(problem.written_back(ask.vector), (math.inf,) * problem.objectives)


def _always_failing(problem: Problem, ask: Query, number: int) -> Observation:
    return _failed(problem, ask)


def _flat(problem: Problem, ask: Query, number: int) -> Observation:
    return Observation(problem.written_back(ask.vector), (1.0,) * problem.objectives)


def _failing_at_first(problem: Problem, ask: Query, number: int) -> Observation:
    return _failed(problem, ask) if number < 7 else exact(problem, ask, number)


def _sometimes_failing(problem: Problem, ask: Query, number: int) -> Observation:
    """A fifth of the models fails, the same ones each time; of several losses some are no number."""
    point = problem.written_back(ask.vector)
    lot = crc32(repr(problem.search_space.decode(point)).encode())
    if lot % 5 != 0:
        return exact(problem, ask, number)
    return Observation(point, (0.1,) * (problem.objectives - 1) + (math.nan if lot % 2 else math.inf,))


def _lowest_bound(problem: Problem, ask: Query, number: int) -> Observation:
    return _raced(problem, ask, number, share=0.0)


def _middle_bound(problem: Problem, ask: Query, number: int) -> Observation:
    return _raced(problem, ask, number, share=0.5)


def _raced(problem: Problem, ask: Query, number: int, share: float) -> Observation:
    """A bound between what is to be beaten and the true loss, where that is no lower."""
    told = exact(problem, ask, number)
    if ask.cutoff is None or told.loss < ask.cutoff or not told.is_finite:
        return told
    bound = ask.cutoff + share * (told.loss - ask.cutoff)
    return Observation(told.vector, (bound, *told.losses[1:]), told.complexity, bound=True)


def _same_asks(first: Played, second: Played, what: str) -> None:
    assert [len(batch) for batch in first.batches] == [len(batch) for batch in second.batches], (
        f"{what} asks in other batches"
    )
    for number, (a, b) in enumerate(zip(first.asks, second.asks, strict=True)):
        assert _is_same(a, b), f"{what} differs from ask {number} on: {a.vector} and {b.vector}"


def _is_same(a: Query, b: Query) -> bool:
    same_place = np.array_equal(a.vector, b.vector)
    return same_place and (a.share, a.repeat, a.stage, a.cutoff) == (b.share, b.repeat, b.stage, b.cutoff)


def ids(checks: Sequence[Check] = CHECKS) -> list[str]:
    """Names for pytest."""
    return [check.__name__.removeprefix("check_") for check in checks]
