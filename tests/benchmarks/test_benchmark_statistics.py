"""The statistics, against values from tables and against the same computed another way."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fronts import average_front, best_front, dominated_share, volume
from benchmarks.growth import slope
from benchmarks.ranks import average_ranks, critical_difference, friedman
from benchmarks.significance import compare_pairs, standard_error, trimmed_mean, verdict_on

#: Demšar (2006), table 5: critical values of the Nemenyi test at 0.05.
NEMENYI = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}


@pytest.mark.parametrize("methods", NEMENYI)
def test_critical_differences_are_those_of_the_table(methods: int) -> None:
    expected = NEMENYI[methods] * math.sqrt(methods * (methods + 1) / (6 * 14))
    assert critical_difference(methods, 14) == pytest.approx(expected, abs=0.002)


def test_ranks_share_ties_and_leave_out_what_not_all_have() -> None:
    scores = {"a": {"x": 1.0, "y": 2.0, "z": 0.0}, "b": {"x": 1.0, "y": 1.0}, "c": {"x": 3.0, "y": 3.0}}
    assert average_ranks(scores) == {"a": 1.75, "b": 1.25, "c": 3.0}


def test_means_that_rounding_tells_apart_are_ties() -> None:
    one, other = (0.1 + 0.2) + 0.3, 0.1 + (0.2 + 0.3)
    assert one != other
    scores = {"a": {"x": one, "y": one}, "b": {"x": other, "y": other}, "c": {"x": 1.0, "y": 1.0}}
    assert average_ranks(scores) == {"a": 1.5, "b": 1.5, "c": 3.0}


def test_friedman_sees_a_method_that_always_wins() -> None:
    rng = np.random.default_rng(0)
    names = [f"d{place}" for place in range(20)]
    even = {method: dict(zip(names, rng.random(20), strict=True)) for method in "abc"}
    ahead = {**even, "a": dict.fromkeys(names, -1.0)}
    assert friedman(ahead) < 0.001 < friedman(even)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_wins_ties_and_losses_make_up_all(pairs: list[tuple[int, int]]) -> None:
    ours, theirs = zip(*pairs, strict=True)
    compared = compare_pairs([0.1 + 0.2 + place for place in ours], [0.3 + place for place in theirs])
    assert compared.wins == sum(a < b for a, b in pairs)
    assert compared.ties == sum(a == b for a, b in pairs)
    assert compared.losses == sum(a > b for a, b in pairs)


def test_pairs_that_all_go_one_way_are_significant() -> None:
    assert compare_pairs(range(10), range(1, 11)).p_value == pytest.approx(2 / 2**10)
    assert math.isnan(compare_pairs([1.0] * 10, [1.0] * 10).p_value)


def test_verdicts_by_one_standard_error() -> None:
    values = [9.0, 10.0, 11.0, 12.0]
    error = standard_error(values)
    assert error == pytest.approx(math.sqrt(np.var(values, ddof=1) / 4))
    assert verdict_on(values, 10.5) == "reached"
    assert verdict_on(values, 10.5 - error + 1e-9) == "within 1 s.e."
    assert verdict_on(values, 10.5 - error - 1e-9) == "above"
    assert verdict_on([3.0], 2.0) == "above (one split)"


def test_a_trimmed_mean_forgets_outliers_at_both_ends() -> None:
    assert trimmed_mean([*[5.0] * 18, 1e9, -1e9]) == 5.0


def test_fronts_are_joined_as_in_the_paper() -> None:
    runs = [[(1, 0.5), (3, 0.1)], [(1, 0.3), (2, 0.4)]]
    assert average_front(runs) == [(1, 0.4), (2, 0.4), (3, 0.1)]
    assert best_front(runs) == [(1, 0.3), (3, 0.1)]
    assert dominated_share([(3, 0.1), (1, 0.2), (9, 0.9)], best_front(runs)) == pytest.approx(2 / 3)
    assert best_front([]) == []


@given(st.lists(st.tuples(st.integers(0, 10), st.integers(0, 20)), max_size=8))
def test_a_volume_is_the_share_of_points_that_a_front_dominates(points: list[tuple[int, int]]) -> None:
    front = [(features, error / 20) for features, error in points]
    cells = [(x, y) for x in range(10) for y in range(20)]
    covered = sum(any(f <= x and e <= y for f, e in points) for x, y in cells)
    assert volume(front, 10) == pytest.approx(covered / len(cells))


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_slope_is_the_power(power: float) -> None:
    sizes = [1.0, 2.0, 8.0]
    assert slope(sizes, [3 * size**power for size in sizes]) == pytest.approx(power)
