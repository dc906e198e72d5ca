"""The genetic algorithm: elitism, crossover and mutation on their own, and what they come to together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategy_options import options

from msl.search.base import Observation, Query, SearchSpace, Vector
from msl.search.operators.mutation_and_crossover import (
    agreement,
    blend,
    cluster_crossover,
    flipped,
    median_of,
    minimal,
    non_uniform,
    occam_elite,
    occam_front,
    plain_elite,
    plain_front,
    uniform,
    with_added,
    with_deleted,
)
from msl.search.strategies.occam_ga import occam_ga
from msl.testing.conformance import Played, exact, play
from msl.testing.toy_problems import Problem, bits, features_against_error, sphere

SMALL = "occam_ga(population = 20, generations = 6)"


def told(*losses: float, complexity: float = 0.0, at: float = 0.0, bound: bool = False) -> Observation:
    return Observation(np.array([at]), losses, complexity, bound)


def network(units: int = 4, inputs: int = 2) -> SearchSpace:
    """An overlap, and units with a flag and a place each."""
    size = 1 + units * (1 + inputs)
    flags = [1 + unit * (1 + inputs) for unit in range(units)]
    return SearchSpace.of(
        [0 if dimension not in flags else 2 for dimension in range(size)],
        groups=[0, *(1 + unit for unit in range(units) for _ in range(1 + inputs))],
        heads=flags,
        absent=dict.fromkeys(flags, 0),
        families=dict.fromkeys(flags, 0),
    )


def is_on(search_space: SearchSpace, points: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return search_space.cells(points)[:, search_space.switches] > 0


# --- elitism --------------------------------------------------------------------------------------------


def test_occam_keeps_the_simplest_of_the_best() -> None:
    population = [told(0.3, complexity=2), told(0.1, complexity=9), told(0.2, complexity=4), told(0.9, complexity=1)]
    assert plain_elite(population) == [population[1]]
    assert occam_elite(population, 1) == [population[1]]
    assert occam_elite(population, 2) == [population[2]]
    assert occam_elite(population, 3) == [population[0]]
    assert occam_elite(population, 9) == [population[3]]


def test_failures_and_bounds_are_never_elite() -> None:
    population = [told(math.inf, complexity=1), told(0.5, complexity=9), told(0.1, complexity=1, bound=True)]
    assert plain_elite(population) == occam_elite(population, 5) == [population[1]]
    assert plain_elite(population[:1]) == occam_elite(population[:1], 5) == []


def test_the_simplest_of_the_pareto_set() -> None:
    search_space = SearchSpace.continuous(1)
    front = [told(1, 5, complexity=3, at=0.1), told(2, 4, complexity=2, at=0.2), told(3, 3, complexity=2, at=0.3)]
    front += [told(4, 2, complexity=2, at=0.4), told(5, 1, complexity=7, at=0.5)]
    dominated = [told(5, 5, complexity=1, at=0.6), told(math.inf, math.inf, at=0.7)]
    copy = told(3, 3, complexity=2, at=0.3)
    assert plain_front([*front, *dominated, copy], search_space) == front, "the same model once"
    simplest = occam_front([*front, *dominated, copy], search_space)
    assert simplest == front[1:4]
    assert median_of(simplest) is front[2]
    assert median_of(front[1:3]) is front[1], "of an even number the lower one"
    assert median_of([]) is None


# --- crossover ------------------------------------------------------------------------------------------


def test_parents_agree_on_units_that_both_have_and_always_on_the_overlap() -> None:
    search_space = network(units=3, inputs=1)
    first = np.array([[0.5, 0.75, 0.1, 0.75, 0.1, 0.25, 0.1]])
    second = np.array([[0.5, 0.75, 0.9, 0.25, 0.9, 0.25, 0.9]])
    assert agreement(search_space, first, second).tolist() == [[True, True, False, False]]


def test_a_group_agrees_only_with_all_of_its_heads() -> None:
    search_space = SearchSpace.of([3, 3, 0], groups=[0, 0, 0], heads=[0, 1])
    same, other = np.array([[0.1, 0.9, 0.5]]), np.array([[0.1, 0.5, 0.5]])
    assert agreement(search_space, same, same).tolist() == [[True]]
    assert agreement(search_space, same, other).tolist() == [[False]]


def test_blending_reaches_half_the_distance_beyond_the_parents() -> None:
    first, second = np.full((4000, 1), 0.4), np.full((4000, 1), 0.6)
    children = blend(first, second, np.random.default_rng(0))
    assert 0.3 <= children.min() < 0.301
    assert 0.699 < children.max() <= 0.7
    assert abs(children.mean() - 0.5) < 0.01
    edge = blend(np.zeros((4000, 1)), np.ones((4000, 1)), np.random.default_rng(0))
    assert edge.min() == 0.0
    assert edge.max() == 1.0


def test_units_are_inherited_whole_unless_both_parents_have_them() -> None:
    search_space = network(units=3, inputs=2)
    rng = np.random.default_rng(0)
    first, second = (np.repeat(rng.random((1, search_space.n_dimensions)), 400, axis=0) for _ in range(2))
    first[:, search_space.switches] = [0.75, 0.75, 0.25]
    second[:, search_space.switches] = [0.75, 0.25, 0.25]
    children = cluster_crossover(search_space, first, second, rng)
    unit = [np.flatnonzero(search_space.groups == group) for group in range(4)]
    assert len(np.unique(children[:, 0])) > 100, "the overlap is blended"
    assert (children[:, unit[1][0]] == 0.75).all()
    assert len(np.unique(children[:, unit[1][1]])) > 100, "both have the first unit"
    for group in (2, 3):
        from_first = (children[:, unit[group]] == first[:, unit[group]]).all(axis=1)
        from_second = (children[:, unit[group]] == second[:, unit[group]]).all(axis=1)
        assert (from_first ^ from_second).all()
        assert 0.4 < from_first.mean() < 0.6


def test_what_has_no_order_is_never_blended() -> None:
    search_space = SearchSpace.of([3, 5, 0], ordered=[False, False, True], groups=[0, 0, 0], heads=[0])
    first, second = np.tile([0.1, 0.1, 0.2], (200, 1)), np.tile([0.1, 0.9, 0.8], (200, 1))
    children = cluster_crossover(search_space, first, second, np.random.default_rng(0))
    assert set(children[:, 1].tolist()) == {0.1, 0.9}
    assert len(np.unique(children[:, 2])) > 100


# --- mutation -------------------------------------------------------------------------------------------


def test_uniform_mutation_hits_its_genes_at_its_rate() -> None:
    dimensions = np.array([True, False, True])
    points = np.full((5000, 3), 0.5)
    mutated = uniform(SearchSpace.continuous(3), points, 0.05, dimensions, np.random.default_rng(0))
    changed = mutated != points
    assert not changed[:, 1].any()
    assert 0.04 < changed[:, [0, 2]].mean() < 0.06
    assert mutated[changed].min() < 0.05
    assert mutated[changed].max() > 0.95
    assert (points == 0.5).all(), "the parents are left as they are"


def test_non_uniform_mutation_narrows() -> None:
    points = np.full((2000, 1), 0.3)
    everything = np.array([True])
    spread = [
        np.abs(non_uniform(points, 1.0, everything, done, np.random.default_rng(0)) - 0.3).mean()
        for done in (0.0, 0.5, 0.9)
    ]
    assert spread[0] > 5 * spread[1] > 25 * spread[2]
    end = non_uniform(points, 1.0, everything, 1.0, np.random.default_rng(0))
    assert np.array_equal(end, points)


def test_flipped_bits() -> None:
    points = np.tile([0.0, 1.0, 0.3], (1000, 1))
    mutated = flipped(points, 0.5, np.array([True, True, False]), np.random.default_rng(0))
    assert set(mutated[:, 0].tolist()) == set(mutated[:, 1].tolist()) == {0.0, 1.0}
    assert (mutated[:, 2] == 0.3).all()


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.integers(1, 5))
def test_adding_and_deleting(seed: int, units: int) -> None:
    """One unit more or less at most; never none."""
    search_space = network(units)
    rng = np.random.default_rng(seed)
    points = rng.random((12, search_space.n_dimensions))
    points[~is_on(search_space, points).any(axis=1), 1] = 0.75
    before = is_on(search_space, points)
    more = is_on(search_space, with_added(search_space, points, 1.0, rng))
    fewer = is_on(search_space, with_deleted(search_space, points, 1.0, rng))
    np.testing.assert_array_equal(more.sum(axis=1), np.minimum(before.sum(axis=1) + 1, units))
    np.testing.assert_array_equal(fewer.sum(axis=1), np.maximum(before.sum(axis=1) - 1, 1))
    assert (more >= before).all()
    assert (fewer <= before).all()
    untouched = ~search_space.switches
    np.testing.assert_array_equal(with_added(search_space, points, 1.0, rng)[:, untouched], points[:, untouched])
    assert np.array_equal(with_added(search_space, points, 0.0, rng), points)


def test_an_optional_step_is_added_as_any_of_its_alternatives_and_may_go_alone() -> None:
    search_space = SearchSpace.of([4], absent={0: 3}, heads=[0])
    off = np.full((300, 1), 3.5 / 4)
    added = with_added(search_space, off, 1.0, np.random.default_rng(0))
    assert {float(cell) for cell in search_space.cells(added)[:, 0]} == {0.0, 1.0, 2.0}
    np.testing.assert_array_equal(with_deleted(search_space, added, 1.0, np.random.default_rng(0)), off)


def test_minimal_models_have_one_unit_and_no_optional_step() -> None:
    search_space = SearchSpace.of([2, 0, 2, 0, 3], absent={0: 0, 2: 0, 4: 2}, families={0: 0, 2: 0})
    rng = np.random.default_rng(0)
    least = search_space.cells(minimal(search_space, rng.random((200, 5)), rng))
    np.testing.assert_array_equal(least[:, [0, 2]].sum(axis=1), 1)
    assert 60 < least[:, 0].sum() < 140
    assert (least[:, 4] == 2).all()


# --- together -------------------------------------------------------------------------------------------


def generations(played: Played) -> list[list[Observation]]:
    return [list(event.kept) for event in played.events if event.kind == "generation"]


def test_the_elite_lives_on_and_is_not_asked_again() -> None:
    played = play(occam_ga, options(SMALL), bits())
    assert [len(batch) for batch in played.batches] == [20] + [19] * 6
    for before, after in zip(generations(played), generations(played)[1:], strict=False):
        assert occam_elite(before, 5)[0] is after[0]


def test_shuffling_gives_every_evaluation_a_turn_of_its_own_and_the_elite_another_one() -> None:
    """Losses that depend on the turn: the elite's is a new one in every generation."""

    def answer(problem: Problem, ask: Query, number: int) -> Observation:
        honest = exact(problem, ask, number)
        return Observation(honest.vector, (honest.loss + 0.01 * (ask.repeat % 7),), honest.complexity)

    played = play(occam_ga, options(SMALL.replace(")", ", shuffle = true)")), bits(), answer=answer)
    assert [ask.repeat for ask in played.queries] == list(range(1, 141))
    assert [len(batch) for batch in played.batches] == [20] * 7
    for before, after, batch in zip(generations(played), generations(played)[1:], played.batches[1:], strict=False):
        elite = occam_elite(before, 5)[0]
        assert np.array_equal(batch[0].vector, elite.vector)
        assert after[0] is not elite
    assert all(ask.repeat == 0 for ask in play(occam_ga, options(SMALL), bits()).queries)


def test_growing_starts_from_one_unit() -> None:
    played = play(occam_ga, options(SMALL.replace(")", ", grow = true)")), bits())
    assert {one.complexity for one in generations(played)[0]} == {1.0}
    assert max(one.complexity for one in generations(played)[-1]) > 1.0


def hermite(seed: int, regions: int = 15) -> Problem:
    """Networks of Gaussian units for forty noisy points of the paper's curve, judged on the half held out."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-4, 4, 40))
    y = 1.1 * (1 - x + 2 * x**2) * np.exp(-(x**2) / 2) + rng.normal(0, 0.1, 40)
    boxes = [(part.min(), part.max()) for part in np.array_split(x, regions)]
    train = np.isin(np.arange(40), rng.permutation(40)[:20])
    search_space = network(regions, inputs=1)

    def losses(point: Vector) -> tuple[float, ...]:
        on = np.flatnonzero(is_on(search_space, point[None, :])[0])
        if not len(on):
            return (math.inf,)
        centres = np.array(
            [
                low + point[2 + 2 * unit] * (high - low)
                for unit, (low, high) in zip(on, np.array(boxes)[on], strict=True)
            ]
        )
        apart = np.abs(centres[:, None] - centres) + np.diag(np.full(len(on), 8.0))
        widths = 5 * point[0] * apart.min(axis=1) + 1e-3
        design = np.column_stack([np.ones(40), np.exp(-(((x[:, None] - centres) / widths) ** 2))])
        weights, *_ = np.linalg.lstsq(design[train], y[train], rcond=None)
        return (float(np.mean((design[~train] @ weights - y[~train]) ** 2)),)

    return Problem("hermite", search_space, losses, 0.0, lambda point: float(is_on(search_space, point[None, :]).sum()))


@pytest.mark.slow
def test_occam_ends_with_smaller_networks_than_plain_elitism() -> None:
    call = "occam_ga(population = 40, generations = 20, elitism = {})"
    sizes = {
        elitism: [
            play(occam_ga, options(call.format(elitism)), hermite(seed), seed).events[-1].chosen[0].complexity
            for seed in range(4)
        ]
        for elitism in ("occam", "plain")
    }
    assert np.mean(sizes["occam"]) < np.mean(sizes["plain"]) - 0.5, sizes


def test_two_objectives_keep_the_simplest_of_the_front_and_answer_with_their_median() -> None:
    problem = features_against_error()
    played = play(occam_ga, options(SMALL), problem)
    for before, after in zip(generations(played), generations(played)[1:], strict=False):
        kept = occam_front(before, problem.search_space)[:10]
        assert after[: len(kept)] == kept
    last = played.events[-1]
    assert last.chosen == (median_of(occam_front(list(last.kept), problem.search_space)),)
    plain = play(occam_ga, options(SMALL.replace(")", ", elitism = plain)")), problem).events[-1]
    assert list(plain.chosen) == plain_front(list(plain.kept), problem.search_space)


def test_seeds_are_in_the_first_population() -> None:
    known = [Observation(np.full(2, 0.1 * step), (1.0 - 0.1 * step,)) for step in range(1, 6)]
    played = play(occam_ga, options("occam_ga(population = 4, generations = 1)"), sphere(), known=known)
    np.testing.assert_allclose([ask.vector[0] for ask in played.batches[0]], [0.5, 0.4, 0.3, 0.2])
    grown = play(occam_ga, options("occam_ga(population = 9, generations = 1, grow = true)"), sphere(), known=known)
    np.testing.assert_allclose([ask.vector[0] for ask in grown.batches[0][:5]], [0.5, 0.4, 0.3, 0.2, 0.1])


def test_a_tournament_prefers_the_better_and_the_larger_one_more_so() -> None:
    from msl.search.strategies.occam_ga import _tournament

    fitness = np.array([0.0, 1.0, 2.0, np.inf])
    rng = np.random.default_rng(0)
    shares = [np.mean(_tournament(fitness, 4000, size, rng) == 0) for size in (2, 4)]
    assert shares == pytest.approx([1 - (3 / 4) ** 2, 1 - (3 / 4) ** 4], abs=0.03)
    assert np.mean(_tournament(fitness, 4000, 2, rng) == 3) == pytest.approx(1 / 16, abs=0.02)
