"""Scales: bins, logarithms and the decimal grid, against plain formulas and decimal arithmetic."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msl.encode.scale import Scale, Steps, scale_of, significant
from msl.encode.step_plan import arrangement, arrangement_count, arrangement_number
from msl.space.nodes import Bool, IntRange, RealRange
from msl.space.numbers import decimals, evenly_spaced, level_count, level_value, tidy

shares = st.floats(0, 1)


def _read(scale: Scale, *units: float) -> list[object]:
    return list(scale.read(np.array(units))[0].tolist())


# --- levels -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 2**48), shares)
def test_levels_are_bins_of_equal_width(levels: int, share: float) -> None:
    scale = Steps(levels)
    (level,), (centre,) = scale.read(np.array([share]))
    assert level == min(math.floor(share * levels), levels - 1)
    assert scale.read(np.array([centre]))[0][0] == level
    assert scale.share(int(level)) == centre


def test_whole_numbers() -> None:
    assert _read(scale_of(IntRange(1, 3)), 0, 0.33, 0.34, 0.67, 1) == [1, 1, 2, 3, 3]
    assert _read(scale_of(IntRange(1, 15, step=2)), 0, 0.5, 1) == [1, 9, 15]
    assert _read(scale_of(IntRange(1, 14, step=2)), 1) == [13]


def test_yes_from_one_half() -> None:
    assert _read(scale_of(Bool()), 0, 0.4999, 0.5, 1) == [False, False, True, True]


@given(st.integers(1, 10**6), st.integers(0, 10**6), shares)
def test_logarithmic_whole_numbers(low: int, more: int, share: float) -> None:
    scale = scale_of(IntRange(low, low + more, log=True))
    assert _read(scale, 0.0, 1.0) == [low, low + more]
    (value,), (centre,) = scale.read(np.array([share]))
    assert _read(scale, centre) == [value]
    assert scale.share(int(value)) == pytest.approx(centre, abs=1e-12)
    expected = math.exp(math.log(low - 0.5) + share * (math.log(low + more + 0.5) - math.log(low - 0.5)))
    assert abs(value - expected) <= 0.5 + 1e-6 * value


def test_every_logarithmic_whole_number_is_reachable() -> None:
    scale = scale_of(IntRange(1, 3_000, log=True))
    shares = np.array([scale.share(value) for value in range(1, 3_001)])
    values, snapped = scale.read(shares)
    np.testing.assert_array_equal(values, np.arange(1, 3_001))
    np.testing.assert_allclose(snapped, shares, atol=1e-12)


def test_logarithmic_bins_are_as_wide_as_the_logarithm_says() -> None:
    values, _ = scale_of(IntRange(1, 1_000, log=True)).read(np.linspace(0, 1, 200_001))
    share = np.mean(values <= 31)
    assert share == pytest.approx(math.log(31.5 / 0.5) / math.log(1_000.5 / 0.5), abs=1e-3)


# --- reals ------------------------------------------------------------------------------------------------------------


def test_stepped_reals_are_decimal_numbers() -> None:
    node = RealRange(0, 1, step=0.1)
    assert level_count(node) == 11
    assert [level_value(node, level) for level in range(11)] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert _read(scale_of(node), 0, 0.3, 1) == [0.0, 0.3, 1.0]
    assert level_count(RealRange(0, 1, step=0.3)) == 4
    assert level_count(RealRange(-1, 1, step=0.5)) == 5
    assert [level_value(RealRange(-1, 1, step=0.5), level) for level in range(5)] == [-1.0, -0.5, 0.0, 0.5, 1.0]


ranges = st.one_of(
    st.tuples(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9)).map(lambda p: RealRange(p[0], p[0] + p[1])),
    st.tuples(st.floats(1e-200, 1e50), st.floats(1.5, 1e100)).map(lambda p: RealRange(p[0], p[0] * p[1], log=True)),
    st.sampled_from([RealRange(0, 1), RealRange(1e-4, 100, log=True), RealRange(-1e-15, 1e-15), RealRange(0, 1e300)]),
)


@settings(max_examples=300)
@given(ranges, shares)
def test_an_open_real_comes_back_to_the_last_bit(node: RealRange, share: float) -> None:
    scale = scale_of(node)
    (value,) = _read(scale, share)
    assert isinstance(value, float)
    assert node.low <= value <= node.high  # type: ignore[operator]
    assert _read(scale, scale.share(value)) == [value]
    assert tidy(node, value) == value
    assert _read(scale, 0.0, 1.0) == [float(node.low), float(node.high)]  # type: ignore[arg-type]


@given(shares.filter(lambda share: 0 < share < 1))
def test_a_linear_real_is_the_nearest_decimal_number(share: float) -> None:
    node = RealRange(0, 10)
    (value,) = _read(scale_of(node), share)
    grid = Decimal(1).scaleb(-decimals(node))
    assert decimals(node) == 11
    assert Decimal(repr(value)) % grid == 0
    assert abs(value - 10 * share) <= 0.5000001 * float(grid)


@given(st.floats(1e-300, 1e300))
def test_twelve_digits(value: float) -> None:
    (rounded,) = significant(np.array([value]))
    exact = Decimal(value)
    unit = Decimal(1).scaleb(exact.adjusted() - 11)
    nearest = exact.quantize(unit, rounding=ROUND_HALF_EVEN)
    assert abs(Decimal(repr(float(rounded))) - nearest) <= unit * (Decimal("1e-3") + (rounded != float(nearest)))
    assert len(Decimal(repr(float(rounded))).normalize().as_tuple().digits) <= 12
    assert significant(np.array([rounded]))[0] == rounded


def test_logarithmic_reals_are_uniform_on_their_scale() -> None:
    values, snapped = scale_of(RealRange(1e-4, 100, log=True)).read(np.array([0, 1 / 6, 0.5, 1]))
    np.testing.assert_allclose(values, [1e-4, 1e-3, 0.1, 100], rtol=1e-11)
    np.testing.assert_array_equal(snapped, [0, 1 / 6, 0.5, 1])


def test_evenly_spaced() -> None:
    assert evenly_spaced(RealRange(0, 1), 5) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert evenly_spaced(RealRange(1e-4, 1, log=True), 3) == [1e-4, 0.01, 1.0]
    assert evenly_spaced(RealRange(0, 1), 1) == [0.5]
    assert evenly_spaced(RealRange(2, 2), 4) == [2.0]


# --- neighbouring values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "value", "others"),
    [
        (IntRange(1, 5), 1, [2]),
        (IntRange(1, 5), 3, [2, 4]),
        (IntRange(1, 1_000, log=True), 1_000, [999]),
        (RealRange(0, 1, step=0.1), 0.3, [0.2, 0.4]),
        (Bool(), True, [False]),
        (RealRange(0, 1), 0.95, [0.85, 1.0]),
    ],
)
def test_near(node: IntRange | RealRange | Bool, value: object, others: list[object]) -> None:
    scale = scale_of(node)
    assert _read(scale, *scale.near(scale.share(value), 0.1)) == pytest.approx(others)


# --- orders -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("members", "low", "high"), [(3, 3, 3), (4, 0, 2), (4, 2, 4), (1, 0, 1), (5, 1, 5)])
def test_arrangements_by_number(members: int, low: int, high: int) -> None:
    every = [row for size in range(low, high + 1) for row in permutations(range(members), size)]
    assert arrangement_count(members, low, high) == len(every)
    assert [arrangement(number, members, low, high) for number in range(len(every))] == every
    assert [arrangement_number(row, members, low) for row in every] == list(range(len(every)))
    with pytest.raises(ValueError, match="not so many"):
        arrangement(len(every), members, low, high)
