"""Every strategy that ships, with several sets of options, passes the conformance suite; broken ones do not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from strategy_options import options

from msl.check.names.catalogues import shipped_strategies
from msl.search.base import Observation, Query
from msl.search.stages import load_strategy
from msl.search.strategy_context import Setting, Strategy
from msl.testing.conformance import CHECKS, Check, Subject, ids

FRONTS = ("two bowls", "features")
SUBJECTS: dict[str, tuple[str, int | None, tuple[str, ...], tuple[int, ...]]] = {
    "pso": ("pso(swarm = 8, iterations = 25, idle = scatter)", 208, ("sphere", "mixed", "conditional", "bits"), (1,)),
    "pso, as in the paper": ("pso(iterations = 15)", 80, (), (1,)),
    "pso on a ring": (
        "pso(swarm = 6, iterations = 20, topology = ring(1), wall = reflect, vmax = 0.5)",
        126,
        ("sphere",),
        (1,),
    ),
    "pso, as in the program": (
        "pso(swarm = 8, iterations = 25, units = native, vmax = 2, wall = absolute, start_velocity = unit, "
        "shared_start = unit, leader = present, shuffle = true)",
        208,
        ("sphere", "mixed", "conditional"),
        (1,),
    ),
    "bpso": ("bpso(swarm = 10, iterations = 15)", 160, ("sphere", "bits"), (1,)),
    "pattern": ("pattern(evaluations = 150)", 150, ("sphere", "mixed", "bits"), (1,)),
    "pattern, complete": (
        "pattern(evaluations = 150, poll = complete, halve = failed)",
        150,
        ("sphere", "mixed", "bits"),
        (1,),
    ),
    "pattern, shuffled": ("pattern(evaluations = 150, shuffle = true)", 150, ("sphere", "mixed", "bits"), (1,)),
    "pattern, complete and shuffled": (
        # A complete poll of all bits leaves room for three steps only.
        "pattern(evaluations = 150, poll = complete, shuffle = true)",
        150,
        ("sphere",),
        (1,),
    ),
    "random": ("random(evaluations = 150)", 150, ("mixed", "conditional"), (1, 2)),
    "grid": ("grid(steps = 7, evaluations = 500)", 500, ("sphere", "mixed", "conditional"), (1, 2)),
    "best_first": ("best_first()", None, ("sphere", "bits"), (1,)),
    "best_first, a beam and a simplex": ("best_first(beam = 3, inner = simplex, levels = 2)", None, ("sphere",), (1,)),
    "best_first, by coordinates": ("best_first(inner = coordinate, gain = 1%)", None, ("sphere", "bits"), (1,)),
    "occam_ga": (
        "occam_ga(population = 16, generations = 10, kappa = 2)",
        176,
        ("sphere", "mixed", "conditional", "bits", "features"),
        (1, 2),
    ),
    "occam_ga, shuffled and grown": (
        "occam_ga(population = 12, generations = 8, shuffle = true, grow = true, elitism = plain)",
        108,
        (),
        (1, 2),
    ),
    "nspso": ("nspso(swarm = 12, iterations = 12)", 156, FRONTS, (2,)),
    "nspso, binary": ("nspso(swarm = 12, iterations = 12, encoding = binary, mutation = auto)", 156, FRONTS, (2,)),
    "cmdpso": ("cmdpso(swarm = 12, iterations = 12)", 156, FRONTS, (2,)),
    "cmdpso, binary": ("cmdpso(swarm = 12, iterations = 12, encoding = binary)", 156, FRONTS, (2,)),
    "halving": ("halving(evaluations = 150)", 150, ("mixed", "conditional"), (1, 2)),
    "auto, rows": ("auto(evaluations = 150, resource = rows)", 150, ("mixed", "conditional"), (1, 2)),
    "auto": ("auto(evaluations = 150)", 150, ("sphere", "mixed", "conditional", "bits", *FRONTS), (1, 2)),
}


def subject(name: str) -> Subject:
    call, at_most, solves, objectives = SUBJECTS[name]
    return Subject(load_strategy(call.split("(")[0]), options(call), at_most, solves, objectives)


def test_every_strategy_is_checked() -> None:
    # `confirm` and `start` find nothing by themselves: they have tests of their own.
    assert {call.split("(")[0] for call, *_ in SUBJECTS.values()} == set(shipped_strategies()) - {
        "confirm",
        "start",
        "portfolio",
    }


@pytest.mark.parametrize("check", CHECKS, ids=ids())
@pytest.mark.parametrize("name", SUBJECTS)
def test_strategies_that_ship(name: str, check: Check) -> None:
    check(subject(name))


# --- each check finds the strategy that it is there for -------------------------------------------------


def _uniform(setting: Setting, size: int = 20) -> list[Query]:
    return [Query(point) for point in setting.rng.random((size, setting.search_space.n_dimensions))]


def ignores_its_seed(setting: Setting) -> Strategy:
    yield [Query(point) for point in np.random.default_rng().random((20, setting.search_space.n_dimensions))]


def uses_global_randomness(setting: Setting) -> Strategy:
    yield [Query(np.random.random(setting.search_space.n_dimensions)) for _ in range(20)]  # noqa: NPY002


def never_ends(setting: Setting) -> Strategy:
    while True:
        yield _uniform(setting)


def asks_too_much(setting: Setting) -> Strategy:
    yield _uniform(setting, 21)


def asks_for_nothing(setting: Setting) -> Strategy:
    yield _uniform(setting, 10)
    yield []


def leaves_the_cube(setting: Setting) -> Strategy:
    yield [Query(setting.rng.normal(size=setting.search_space.n_dimensions)) for _ in range(20)]


def is_poisoned(setting: Setting) -> Strategy:
    """The mean of points weighted by losses, one of which may be infinite."""
    told = yield _uniform(setting, 10)
    losses = np.array([one.loss for one in told])
    with np.errstate(invalid="ignore"):
        weights = losses / losses.sum()
    yield [Query(np.clip(weights @ np.array([one.vector for one in told]), 0, 1))] * 10


def gives_up(setting: Setting) -> Strategy:
    told = yield _uniform(setting, 10)
    if any(math.isfinite(one.loss) for one in told):
        yield _uniform(setting, 10)


class Remembers:
    """Keeps a state between runs, so that a replay meets another strategy than the run did."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, setting: Setting) -> Strategy:
        self.runs += 1
        yield [Query(ask.vector / self.runs) for ask in _uniform(setting)]


def writes_on_answers(setting: Setting) -> Strategy:
    told = yield _uniform(setting, 10)
    told[0].vector[:] = 0.5
    yield _uniform(setting, 10)


def trusts_bounds(setting: Setting) -> Strategy:
    told = yield _uniform(setting, 10)
    best = min(told, key=lambda one: one.loss)
    told = yield [Query(ask.vector, cutoff=best.loss) for ask in _uniform(setting, 9)]
    worst: Observation = max(told, key=lambda one: one.loss)
    yield [Query(worst.vector)]


def does_not_search(setting: Setting) -> Strategy:
    yield [Query(np.zeros(setting.search_space.n_dimensions))] * 20


@pytest.mark.parametrize(
    ("strategy", "check"),
    [
        (ignores_its_seed, "is_deterministic"),
        (uses_global_randomness, "is_deterministic"),
        (never_ends, "respects_evaluations"),
        (asks_too_much, "respects_evaluations"),
        (asks_for_nothing, "respects_evaluations"),
        (leaves_the_cube, "stays_in_the_cube"),
        (is_poisoned, "stays_in_the_cube"),
        (Remembers(), "resumes_by_replay"),
        (writes_on_answers, "does_not_touch_the_answers"),
        (gives_up, "survives_failures"),
        (trusts_bounds, "bounds_change_nothing"),
        (does_not_search, "finds_optima"),
    ],
)
def test_broken_strategies_are_found(strategy: Callable[[Setting], Strategy], check: str) -> None:
    broken = Subject(strategy, {}, at_most=20, solves=("sphere",))
    with pytest.raises(AssertionError, match=r"it|run"):
        dict(zip(ids(), CHECKS, strict=True))[check](broken)
