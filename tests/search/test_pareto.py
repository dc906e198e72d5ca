"""Dominance against brute force: fronts, crowding, hypervolume, archives."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from msl.search.base import Observation
from msl.search.operators.pareto import (
    EpsilonArchive,
    Losses,
    best_places,
    by_rank,
    crowding,
    dominance,
    front_of,
    fronts,
    hypervolume,
    losses_of,
    non_dominated,
)

Rows = list[tuple[float, ...]]


def rows(objectives: int, most: int = 12, low: int = 0, high: int = 6) -> st.SearchStrategy[Losses]:
    """Small whole numbers: many are equal, and volumes can be counted cube by cube."""
    shapes = st.integers(1, most).map(lambda size: (size, objectives))
    return arrays(np.float64, shapes, elements=st.integers(low, high).map(float))


several = st.integers(2, 4).flatmap(rows)


def beats(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True)) and a != b


def told(losses: tuple[float, ...], complexity: float = 0.0, bound: bool = False) -> Observation:
    return Observation(np.zeros(1), losses, complexity, bound)


@settings(max_examples=200)
@given(several)
def test_dominance_and_fronts(losses: Losses) -> None:
    points: Rows = [tuple(row) for row in losses.tolist()]
    assert dominance(losses).tolist() == [[beats(a, b) for b in points] for a in points]
    left = set(range(len(points)))
    for front in fronts(losses):
        expected = {i for i in left if not any(beats(points[j], points[i]) for j in left)}
        assert set(front.tolist()) == expected
        left -= expected
    assert not left
    assert set(non_dominated(losses).tolist()) == set(next(iter(fronts(losses))).tolist())


@settings(max_examples=200)
@given(several, st.integers(1, 12))
def test_the_best_are_whole_fronts_and_a_part_of_one(losses: Losses, size: int) -> None:
    size = min(size, len(losses))
    kept = best_places(losses, size)
    assert len(set(kept.tolist())) == size
    last = None
    for front in fronts(losses):
        inside = set(front.tolist()) & set(kept.tolist())
        assert last is None or not inside, "a front is kept behind one that is not kept whole"
        if inside != set(front.tolist()):
            last = front
            room = dict(zip(front.tolist(), crowding(losses[front]).tolist(), strict=True))
            outside = set(front.tolist()) - inside
            assert not inside or min(room[i] for i in inside) >= max(room[i] for i in outside)


@settings(max_examples=200)
@given(several)
def test_crowding(losses: Losses) -> None:
    """By its definition: in each objective the distance of both neighbours over the spread, infinite at the ends."""
    expected = np.zeros(len(losses))
    for column in losses.T:
        order = sorted(range(len(column)), key=lambda i: (column[i], i))
        expected[order[0]] = expected[order[-1]] = math.inf
        spread = column.max() - column.min()
        for before, here, after in zip(order, order[1:], order[2:], strict=False):
            expected[here] += (column[after] - column[before]) / spread if spread else 0.0
    np.testing.assert_allclose(crowding(losses), expected)


def test_failed_points_have_no_room_and_no_front() -> None:
    points = [told((1.0, 2.0)), told((math.inf, 0.0)), told((2.0, 1.0)), told((math.nan, 0.0)), told((math.inf,) * 2)]
    losses = losses_of(points)
    assert [front.tolist() for front in fronts(losses)] == [[0, 2], [1, 3, 4]]
    assert crowding(losses[[1, 3, 4]]).tolist() == [0, 0, 0]
    assert front_of(points) == (points[0], points[2])
    assert [points.index(one) for one in by_rank(points)][:2] == [0, 2]
    assert front_of([told((math.inf, 1.0))]) == ()
    assert front_of([told((1.0, 1.0), bound=True)]) == ()


def test_of_equal_points_the_front_has_the_simplest() -> None:
    complex_one, simple, other = told((1.0, 2.0), 5.0), told((1.0, 2.0), 3.0), told((2.0, 1.0))
    assert front_of([complex_one, simple, other, told((2.0, 2.0))]) == (simple, other)


@pytest.mark.slow
@pytest.mark.parametrize(("objectives", "high"), [(1, 6), (2, 6), (3, 5), (4, 3)])
def test_hypervolume_counts_cubes(objectives: int, high: int) -> None:
    @settings(max_examples=60)
    @given(rows(objectives, most=8, high=high + 1))
    def check(losses: Losses) -> None:
        reference = (float(high),) * objectives
        corners = product(range(high), repeat=objectives)
        covered = sum(
            any(all(p <= c for p, c in zip(row, corner, strict=True)) for row in losses) for corner in corners
        )
        assert hypervolume(losses, reference) == pytest.approx(covered)

    check()


def test_hypervolume_of_nothing() -> None:
    assert hypervolume(np.empty((0, 2)), (1.0, 1.0)) == 0.0
    assert hypervolume(np.array([[2.0, 2.0]]), (1.0, 1.0)) == 0.0
    assert hypervolume(np.array([[math.inf, 0.0]]), (1.0, 1.0)) == 0.0


@settings(max_examples=200)
@given(
    arrays(np.float64, st.integers(1, 30).map(lambda n: (n, 2)), elements=st.floats(0, 1)), st.sampled_from([0.05, 0.3])
)
def test_epsilon_archive(losses: Losses, epsilon: float) -> None:
    """Every point is ε-dominated by one that is kept; no kept box dominates another; the kept are points that came. The
    second objective is a count, of which ε is a share as well. In several batches the boxes grow with the range."""
    losses = losses * (1.0, 200.0)
    points = [told(tuple(row)) for row in losses.tolist()]
    for size in (len(points), 1, 4):
        archive = EpsilonArchive(epsilon)
        for start in range(0, len(points), size):
            archive.add(points[start : start + size])
        kept = [one.losses for one in archive.observations]
        assert set(kept) <= {tuple(row) for row in losses.tolist()}
        sides = epsilon * (losses.max(axis=0) - losses.min(axis=0))
        for row in losses:
            near_enough = np.array(kept) <= row + sides * (1 + 1e-9)
            assert size < len(points) or near_enough.all(axis=1).any()
        boxes = [tuple(math.floor(a / side) if side else a for a, side in zip(one, sides, strict=True)) for one in kept]
        assert len(set(boxes)) == len(boxes)
        assert not any(beats(a, b) for a in boxes for b in boxes)


def test_an_archive_thins_a_count_as_it_thins_a_share() -> None:
    """Forty numbers of features, each with a lower error than the one before: a tenth of the range is four of them."""
    front = [(1.0 - features / 40, float(features)) for features in range(41)]
    sizes = []
    for epsilon in (0.0, 0.05, 0.1, 0.5):
        archive = EpsilonArchive(epsilon)
        archive.add([told(losses) for losses in front])
        sizes.append(len(archive.observations))
    assert sizes[0] == 41
    assert 10 <= sizes[2] <= 21
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 4


def test_an_archive_without_epsilon_is_the_front() -> None:
    rng = np.random.default_rng(0)
    points = [told(tuple(row)) for row in rng.integers(0, 8, size=(60, 2)).astype(float).tolist()]
    archive = EpsilonArchive(0.0)
    archive.add(points)
    assert {one.losses for one in archive.observations} == {one.losses for one in front_of(points)}


def test_an_archive_takes_no_failures() -> None:
    archive = EpsilonArchive(0.1)
    archive.add([told((math.inf, 0.0)), told((0.0, math.nan)), told((0.5, 0.5), bound=True)])
    assert archive.observations == ()
