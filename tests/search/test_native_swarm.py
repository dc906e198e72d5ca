"""The swarm in native units: its step, its walls, dimensions that alternatives share, and where it goes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from strategy_options import options

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.runner.search_space import ModelSearchSpace, space_to_search_space
from msl.search.base import SearchSpace, Vector
from msl.search.operators.native_units import NativeUnits, clipped, reflected
from msl.search.strategies.pso import pso
from msl.space.formulas import Facts
from msl.space.values import Model
from msl.testing.conformance import play
from msl.testing.toy_problems import Problem

PROGRAM = "units = native, vmax = 2, wall = absolute, start_velocity = unit, leader = present"

# --- a learner of 1..10, a real 0..100 and a whole number 0..6 ---

LOW, HIGH, IS_WHOLE = np.array([1.0, 0.0, 0.0]), np.array([10.0, 100.0, 6.0]), np.array([True, False, True])
SPACE = SearchSpace.of([10, 0, 7], lows=[0.5, 0.0, -0.5], highs=[10.5, 100.0, 6.5], ordered=[False, True, True])


def numbers(point: Vector) -> NDArray[np.float64]:
    """What a model gets: the learner counted from 1, the real, the whole number."""
    learner, real, whole = SPACE.cells(point)
    return np.array([learner + 1.0, 100.0 * real, whole])


def bumpy(given: NDArray[np.float64]) -> float:
    learner, real, whole = given
    loss = np.sin(3.7 * learner) + abs(real - 61.0) / 50.0 + 0.2 * (whole - 2.0) ** 2
    return round(float(loss), 9)  # numbers that are computed in another order differ in the last digits


PROBLEM = Problem("learners", SPACE, lambda point: (bumpy(numbers(point)),), -1.0)


def by_the_description(seed: int, particles: int, iterations: int) -> list[NDArray[np.float64]]:
    """The program's swarm in a few lines: velocities and positions in native numbers, at most 2 a step; the absolute
    value below, the upper wall above; rounded numbers stay rounded; all follow the particle with the best memory."""
    rng = np.random.default_rng(seed)
    share = rng.random((particles, 3))
    x = np.where(IS_WHOLE, np.floor(LOW + share * (HIGH - LOW + 1)), LOW + share * (HIGH - LOW))
    fitness = np.array([bumpy(one) for one in x])
    memory, memory_fitness = x.copy(), fitness.copy()
    v = rng.random(x.shape)
    swarms = [x.copy()]
    for t in range(iterations):
        w = max(1.2 - t * 0.8 / (iterations / 2), 0.4)
        leader = x[memory_fitness.argmin()]
        r1, r2 = rng.random(x.shape), rng.random(x.shape)
        v = np.clip(w * v + 2 * r1 * (memory - x) + 2 * r2 * (leader - x), -2, 2)
        x = np.clip(np.abs(x + v), LOW, HIGH)
        x = np.where(IS_WHOLE, np.floor(x + 0.5), x)
        fitness = np.array([bumpy(one) for one in x])
        better = fitness < memory_fitness
        memory[better], memory_fitness[better] = x[better], fitness[better]
        swarms.append(x.copy())
    return swarms


@pytest.mark.parametrize("seed", range(4))
def test_every_step_is_that_of_the_description_with_the_same_random_numbers(seed: int) -> None:
    call = f"pso(swarm = 6, iterations = 20, {PROGRAM}, inertia = ramp(1.2, 0.4, over = 0.5))"
    played = play(pso, options(call), PROBLEM, seed=seed)
    expected = np.concatenate(by_the_description(seed, 6, 20))
    found = np.array([numbers(query.vector) for query in played.queries])
    assert len(found) == 6 * 21
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_no_particle_leaves_the_walls_or_moves_by_more_than_the_fastest() -> None:
    for seed in range(5):
        played = play(pso, options(f"pso(swarm = 6, iterations = 30, {PROGRAM})"), PROBLEM, seed=seed)
        swarms = np.array([numbers(query.vector) for query in played.queries]).reshape(31, 6, 3)
        assert (swarms >= LOW).all()
        assert (swarms <= HIGH).all()
        assert np.abs(np.diff(swarms, axis=0)).max() <= 2.0 + 1e-9


@pytest.mark.parametrize("wall", ["clip", "reflect", "absolute"])
def test_walls_in_native_units(wall: str) -> None:
    played = play(pso, options(f"pso(swarm = 6, iterations = 20, units = native, wall = {wall})"), PROBLEM, seed=1)
    points = np.array([query.vector for query in played.queries])
    assert ((points >= 0.0) & (points <= 1.0)).all()


def share_of_the_most_frequent(call: str) -> tuple[float, float]:
    """Of all models, those with the learner that is tried most, and those with the first or the last learner."""
    most, on_walls = [], []
    for seed in range(5):
        played = play(pso, options(call), PROBLEM, seed=seed)
        learners = Counter(int(numbers(query.vector)[0]) for query in played.queries)
        most.append(max(learners.values()) / len(played.queries))
        on_walls.append((learners[1] + learners[10]) / len(played.queries))
    return float(np.mean(most)), float(np.mean(on_walls))


def test_a_bound_in_native_units_keeps_the_swarm_off_the_walls() -> None:
    """As printed, without a bound, an inertia above 1 throws particles on the walls and keeps them there, so that the
    first and the last learner are most of what is tried. The paper's figure 2 shows nothing of the kind."""
    size = "swarm = 10, iterations = 100"
    most, on_walls = share_of_the_most_frequent(f"pso({size}, {PROGRAM})")
    printed_most, printed_on_walls = share_of_the_most_frequent(f"pso({size})")
    assert on_walls < 0.15
    assert printed_on_walls > 0.5
    assert most < printed_most - 0.1


# --- alternatives that share dimensions ---


def models(text: str) -> ModelSearchSpace:
    facts = Facts(100, 20, 2, "classification")
    checked = check_source(Source("spec.msl", text), facts=facts)
    assert checked.spec is not None, checked.diagnostics
    return space_to_search_space(checked.spec.space)


SHARED = """
block random_forest: learner for classification "sklearn.ensemble:RandomForestClassifier" {
  n_estimators: int 10..1000, max_depth: int 1..5,
}
block svc_rbf: learner for classification "sklearn.svm:SVC" { C: real 0.5..2, gamma: real 0.001..10 log }
block gaussian_nb: learner for classification "sklearn.naive_bayes:GaussianNB" {}
chain m = random_forest | svc_rbf | gaussian_nb
"""


def params(space: ModelSearchSpace, point: Vector) -> tuple[str, dict[str, object]]:
    model = space.decode(point)
    assert isinstance(model, Model)
    (step,) = model.steps
    return step.block.name, dict(step.params)


def test_positions_are_the_numbers_that_models_get() -> None:
    space = models(SHARED)
    units = NativeUnits(space)
    rng = np.random.default_rng(0)
    points = rng.random((50, 3))
    for point, position in zip(points, units.positions(points), strict=True):
        name, given = params(space, point)
        assert round(position[0]) == 1 + ["random_forest", "svc_rbf", "gaussian_nb"].index(name)
        if name == "random_forest":
            assert (round(position[1]), round(position[2])) == (given["n_estimators"], given["max_depth"])
        if name == "svc_rbf":
            assert position[1] == pytest.approx(given["C"])
            assert 10 ** position[2] == pytest.approx(given["gamma"])
    for wall in (clipped, reflected):
        np.testing.assert_allclose(units.shares(units.positions(points), wall), points, atol=1e-12)


def test_a_number_is_kept_when_the_alternative_changes_and_put_into_its_range() -> None:
    """As in the program: 120 trees become the largest C when the next learner reads them, and stay so."""
    space = models(SHARED)
    units = NativeUnits(space)

    def given(*position: float) -> dict[str, object]:
        return params(space, clipped(units.shares(np.array([position]), clipped))[0])[1]

    assert (given(1, 120, 3)["n_estimators"], given(1, 120, 3)["max_depth"]) == (120, 3)
    assert given(2, 120, 3)["C"] == 2.0
    assert given(2, 120, 3)["gamma"] == 10.0
    assert given(1, 1.5, 3)["n_estimators"] == 10
    assert given(2, 1.5, -2)["C"] == 1.5
    assert given(2, 1.5, -2)["gamma"] == pytest.approx(0.01)
    # A learner without parameters leaves the numbers as they are, for the next one.
    through = clipped(units.shares(np.array([[3.0, 120.0, 3.0]]), clipped))
    np.testing.assert_allclose(units.positions(through), [[3.0, 120.0, 3.0]])


def test_what_alternatives_share_starts_between_0_and_1_in_native_units() -> None:
    space = models(SHARED)
    assert space.varied.tolist() == [False, True, True]
    problem = Problem("shared", space, lambda point: (0.5,), 0.5)
    call = "pso(swarm = 300, iterations = 1, shared_start = unit)"
    first = play(pso, options(call), problem).queries[:300]
    found = [params(space, query.vector) for query in first]
    forests = [given for name, given in found if name == "random_forest"]
    assert 70 < len(forests) < 130
    assert {one["n_estimators"] for one in forests} == {10}
    assert {one["max_depth"] for one in forests} == {1}
    costs = [float(str(given["C"])) for name, given in found if name == "svc_rbf"]
    assert (min(costs), max(costs) <= 1.0) == (0.5, True)
    assert np.mean(costs) == pytest.approx(0.625, abs=0.05)  # of max(0.5, U[0, 1])


def test_the_dimensions_of_full_model_selection_have_the_ranges_of_the_program() -> None:
    text = """use clop
part preprocess = subset(normalize, standardize, shift_scale)
part learn = zarbi | naive | rf(units: 10..1000, rest = default) | lssvm(gamma: 0..10, rest = default)
chain m = preprocess >> learn
"""
    space = models(text)
    ends = dict(zip(space.labels, zip(space.lows.tolist(), space.highs.tolist(), strict=True), strict=True))
    assert ends["preprocess"] == (0.5, 8.5)
    assert ends["learn"] == (0.5, 4.5)
    assert ends["preprocess.normalize.center"] == (-0.5, 1.5)
    assert space.varied.sum() == 1, "the units of one learner and the gamma of the other"
