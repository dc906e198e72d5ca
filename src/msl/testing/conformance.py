"""Checks of what a search relies on, for any strategy.

    from msl.testing.conformance import Subject, check_strategy

    check_strategy(Subject(annealing, {"evaluations": 100}, at_most=100))

or, with pytest, one test for each of `CHECKS`. A check raises AssertionError with what is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.search.base import Event, Observation, Query, best_of
from msl.search.operators.pareto import front_of, hypervolume, losses_of
from msl.search.strategy_context import Setting, StrategyFunction
from msl.testing.toy_problems import (
    Problem,
    bits,
    conditional,
    features_against_error,
    mixed,
    sphere,
    two_bowls,
)

#: Gives the observation of the n-th query of a run.
Answer = Callable[[Problem, Query, int], Observation]


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """A run: its batches of queries, the observations in the same order, the events, and whether it ended by itself."""

    problem: Problem
    batches: list[list[Query]] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ended: bool = False

    @property
    def queries(self) -> list[Query]:
        return [query for batch in self.batches for query in batch]

    @property
    def result(self) -> float:
        """The lowest loss, or minus the hypervolume of the front, so that lower is better."""
        whole = [one for query, one in zip(self.queries, self.observations, strict=True) if query.share == 1.0]
        if self.problem.reference is None:
            best = best_of(whole)
            return float("inf") if best is None else best.loss
        front = front_of(whole)
        return -hypervolume(losses_of(front), self.problem.reference) if front else 0.0

    @property
    def is_solved(self) -> bool:
        goal = self.problem.good if self.problem.reference is None else -self.problem.good
        return self.result <= goal


def exact(problem: Problem, query: Query, number: int) -> Observation:
    """The true losses."""
    point = problem.written_back(query.vector)
    return Observation(point, problem.losses(point), problem.complexity(point))


def play(
    strategy: StrategyFunction,
    options: Mapping[str, Any],
    problem: Problem,
    seed: int = 0,
    answer: Answer = exact,
    limit: int = 20_000,
    stored: Sequence[Observation] = (),
    known: Sequence[Observation] = (),
) -> Played:
    """Runs a strategy until it ends or has made `limit` queries; the first observations are the stored ones."""
    events: list[Event] = []
    setting = Setting(
        problem.search_space,
        options,
        np.random.default_rng(seed),
        known=known,
        objectives=problem.objectives,
        note=events.append,
    )
    running = strategy(setting)
    batches: list[list[Query]] = []
    observations: list[Observation] = []
    try:
        queries = next(running)
        while True:
            batches.append(queries)
            if len(observations) + len(queries) > limit:
                running.close()
                del batches[-1]
                return Played(problem, batches, observations, events, ended=False)
            first = len(observations)
            answers = [
                stored[number] if number < len(stored) else answer(problem, query, number)
                for number, query in enumerate(queries, first)
            ]
            observations.extend(answers)
            queries = running.send(answers)
    except StopIteration:
        return Played(problem, batches, observations, events, ended=True)


# --- options, with the defaults of their declaration ---


#: A spec that any strategy can search; some take one objective, some several.
_SPEC = "msl 1\nuse sbm\nchain model = knn\nminimize {objectives}\nsearch {call}\nbudget(time = 1h)\n"
_OBJECTIVES = ("error by cv(folds = 2)", "error by cv(folds = 2), features")


@cache
def options_of(call: str) -> Mapping[str, Any]:
    """The options of a call such as `pso(swarm = 3)`, also of a strategy of another package."""
    for objectives, search in product(_OBJECTIVES, (call, f"random then {call}")):
        checked = check_source(Source("spec.msl", _SPEC.format(objectives=objectives, call=search)))
        if checked.spec is not None:
            return dict(checked.spec.search[-1].call.options)
    raise ValueError("; ".join(diagnostic.message for diagnostic in checked.diagnostics))


#: No strategy may make more queries on these small problems, whatever it observes.
ENDLESS = 20_000
ONE_OBJECTIVE = (sphere(), mixed(), conditional(), bits())
SEVERAL_OBJECTIVES = (two_bowls(), features_against_error())


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A strategy to check.

    `at_most` is the number of evaluations that its options allow; None if only the space limits it. `solves` names the
    problems whose optimum it should find with these options. `objectives` are the numbers of objectives that it takes.
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
    """The same seed gives the same queries, whatever the state of the global random generator."""
    for problem in subject.problems:
        first = subject.play(problem, seed=3)
        np.random.seed(12345)  # noqa: NPY002 - a strategy must not depend on it
        second = subject.play(problem, seed=3)
        _same_queries(first, second, f"two runs on `{problem.name}` with one seed")


def check_respects_evaluations(subject: Subject) -> None:
    """It ends by itself, makes no more queries than its options allow, and has no empty batch."""
    for problem in subject.problems:
        played = subject.play(problem)
        assert played.ended, f"it does not end on `{problem.name}`"
        assert all(played.batches), f"it asks for an empty batch on `{problem.name}`"
        if subject.at_most is not None:
            asked = len(played.observations)
            assert asked <= subject.at_most, (
                f"it makes {asked} queries on `{problem.name}`, and {subject.at_most} are allowed"
            )


def check_stays_in_the_cube(subject: Subject) -> None:
    """Every query is a point of the cube with a valid share and cutoff, whatever the observations."""
    for problem in subject.problems:
        for answer in (exact, _sometimes_failing, _always_failing):
            for query in subject.play(problem, answer=answer).queries:
                where = f"on `{problem.name}`"
                assert query.vector.shape == (problem.search_space.n_dimensions,), (
                    f"it asks for {query.vector.shape} {where}"
                )
                assert np.isfinite(query.vector).all(), f"it asks for {query.vector} {where}"
                assert (query.vector >= 0).all(), f"it asks for {query.vector} {where}, outside the cube"
                assert (query.vector <= 1).all(), f"it asks for {query.vector} {where}, outside the cube"
                assert 0 < query.share <= 1, f"it asks for a share of {query.share} {where}"
                assert query.cutoff is None or math.isfinite(query.cutoff), f"it has a cutoff of {query.cutoff} {where}"


def check_resumes_by_replay(subject: Subject, cuts: int = 50) -> None:
    """Started again with the stored observations, it makes the same queries, wherever it was cut, even in a batch."""
    rng = np.random.default_rng(0)
    for problem in subject.problems:
        whole = subject.play(problem, seed=1)
        for cut in rng.integers(0, len(whole.observations) + 1, size=-(-cuts // len(subject.problems))):
            again = subject.play(problem, seed=1, stored=whole.observations[:cut])
            _same_queries(whole, again, f"a run on `{problem.name}`, cut after {cut} evaluations and resumed,")


def check_does_not_touch_the_answers(subject: Subject) -> None:
    """It does not change the arrays of its queries and observations."""
    for problem in subject.problems:
        copies: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], Query, Observation]] = []

        def answer(problem: Problem, query: Query, number: int, copies: list[Any] = copies) -> Observation:
            observation = exact(problem, query, number)
            copies.append((query.vector.copy(), observation.vector.copy(), query, observation))
            return observation

        subject.play(problem, answer=answer)
        for asked, back, query, observation in copies:
            assert np.array_equal(asked, query.vector), f"it changes the point of a query, on `{problem.name}`"
            assert np.array_equal(back, observation.vector), f"it changes an observed point, on `{problem.name}`"


def check_survives_failures(subject: Subject) -> None:
    """Failures do not end it early where its evaluations are limited, nor keep it from the optimum."""
    for problem in subject.problems:
        flat = subject.play(problem, answer=_flat)
        failing = subject.play(problem, answer=_always_failing)
        assert failing.ended, f"it does not end on `{problem.name}` when everything fails"
        if subject.at_most is not None:
            assert len(failing.observations) >= len(flat.observations), (
                f"it makes {len(failing.observations)} queries on `{problem.name}` when everything fails, "
                f"and {len(flat.observations)} when all losses are equal"
            )
        for answer in (_sometimes_failing, _failing_at_first):
            played = subject.play(problem, answer=answer)
            assert played.ended, f"it does not end on `{problem.name}` when some points fail"
            if problem.name in subject.solves:
                reached = min(subject.play(problem, answer=answer, seed=seed).result for seed in range(3))
                goal = problem.good if problem.reference is None else -problem.good
                # The optimum itself may fail, so twice the goal is enough.
                allowed = 2 * goal + 0.05 if goal >= 0 else goal / 2
                assert reached <= allowed, f"it reaches {reached:.4g} on `{problem.name}` when some points fail"


def check_bounds_change_nothing(subject: Subject) -> None:
    """Where a query has a cutoff, a bound above it instead of the loss leads to the same queries."""
    for problem in subject.problems:
        whole = subject.play(problem, seed=2)
        for answer in (_lowest_bound, _middle_bound):
            raced = subject.play(problem, seed=2, answer=answer)
            _same_queries(whole, raced, f"a run on `{problem.name}` that observes bounds")


def check_finds_optima(subject: Subject) -> None:
    """Small problems are solved with at least two of three seeds."""
    for problem in subject.problems:
        if problem.name in subject.solves:
            results = [subject.play(problem, seed=seed) for seed in range(3)]
            reached = [round(played.result, 4) for played in results]
            assert sum(played.is_solved for played in results) >= 2, (
                f"it reaches {reached} on `{problem.name}`, where {problem.good} is good"
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


def _failed(problem: Problem, query: Query) -> Observation:
    return Observation(problem.written_back(query.vector), (math.inf,) * problem.objectives)


def _always_failing(problem: Problem, query: Query, number: int) -> Observation:
    return _failed(problem, query)


def _flat(problem: Problem, query: Query, number: int) -> Observation:
    return Observation(problem.written_back(query.vector), (1.0,) * problem.objectives)


def _failing_at_first(problem: Problem, query: Query, number: int) -> Observation:
    return _failed(problem, query) if number < 7 else exact(problem, query, number)


def _sometimes_failing(problem: Problem, query: Query, number: int) -> Observation:
    """A fifth of the models fails, always the same ones; of several losses, some are NaN."""
    point = problem.written_back(query.vector)
    lot = crc32(repr(problem.search_space.decode(point)).encode())
    if lot % 5 != 0:
        return exact(problem, query, number)
    return Observation(point, (0.1,) * (problem.objectives - 1) + (math.nan if lot % 2 else math.inf,))


def _lowest_bound(problem: Problem, query: Query, number: int) -> Observation:
    return _raced(problem, query, number, share=0.0)


def _middle_bound(problem: Problem, query: Query, number: int) -> Observation:
    return _raced(problem, query, number, share=0.5)


def _raced(problem: Problem, query: Query, number: int, share: float) -> Observation:
    """A bound between the cutoff and the true loss, if that is not below the cutoff."""
    observation = exact(problem, query, number)
    if query.cutoff is None or observation.loss < query.cutoff or not observation.is_finite:
        return observation
    bound = query.cutoff + share * (observation.loss - query.cutoff)
    return Observation(observation.vector, (bound, *observation.losses[1:]), observation.complexity, bound=True)


def _same_queries(first: Played, second: Played, what: str) -> None:
    assert [len(batch) for batch in first.batches] == [len(batch) for batch in second.batches], (
        f"{what} has other batches"
    )
    for number, (a, b) in enumerate(zip(first.queries, second.queries, strict=True)):
        assert _is_same(a, b), f"{what} differs from query {number} on: {a.vector} and {b.vector}"


def _is_same(a: Query, b: Query) -> bool:
    same_place = np.array_equal(a.vector, b.vector)
    return same_place and (a.share, a.repeat, a.stage, a.cutoff) == (b.share, b.repeat, b.stage, b.cutoff)


def ids(checks: Sequence[Check] = CHECKS) -> list[str]:
    """Names for pytest."""
    return [check.__name__.removeprefix("check_") for check in checks]
