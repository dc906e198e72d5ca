"""Wilcoxon's test against brute force over all signs and against SciPy, the effect size by counting, Holm by hand."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from msl.report.paired_tests import holm, least_p, signed_rank

#: Whole numbers make ties and zeros, and their ranks are exact.
whole = st.lists(st.integers(-6, 6), min_size=1, max_size=9)


def ranks_of(values: list[int]) -> dict[int, float]:
    """The mean place of each size among the sizes, by counting."""
    sizes = [abs(value) for value in values]
    return {size: sum(other < size for other in sizes) + (sizes.count(size) + 1) / 2 for size in sizes}


@given(whole)
def test_p_is_the_share_of_signs_that_are_as_extreme(differences: list[int]) -> None:
    signed = [value for value in differences if value]
    found = signed_rank([value / 8 for value in differences])
    ranks = ranks_of(signed)
    total = sum(ranks[abs(value)] for value in signed)
    observed = abs(sum(ranks[abs(value)] * np.sign(value) for value in signed))
    sums = [
        abs(sum(sign * ranks[abs(value)] for sign, value in zip(signs, signed, strict=True)))
        for signs in product((-1, 1), repeat=len(signed))
    ]
    assert found.p == pytest.approx(np.mean([one >= observed - 1e-9 for one in sums]))
    assert (found.n, found.zeros) == (len(signed), len(differences) - len(signed))
    assert found.higher == sum(value > 0 for value in signed)
    assert found.lower == sum(value < 0 for value in signed)
    if total:
        assert abs(found.effect) == pytest.approx(observed / total)


@given(st.lists(st.floats(-1, 1).filter(lambda value: abs(value) > 1e-3), min_size=1, max_size=40, unique_by=abs))
def test_without_ties_scipy_says_the_same(differences: list[float]) -> None:
    largest = max(map(abs, differences))
    steps = sorted(abs(value) / largest for value in differences)
    if any(b - a < 1e-8 for a, b in pairwise(steps)):
        return  # what is closer than the tolerance is a tie here
    found = signed_rank(differences)
    assert found.p == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)
    assert min(found.rank_sum, found.n * (found.n + 1) / 2 - found.rank_sum) == pytest.approx(
        stats.wilcoxon(differences, method="exact").statistic
    )


def test_many_pairs_with_ties_are_taken_for_normal_as_scipy_does() -> None:
    differences = np.random.default_rng(3).integers(-9, 11, 600) / 10
    told = stats.wilcoxon(differences, method="asymptotic", correction=False)
    assert signed_rank(differences.tolist()).p == pytest.approx(told.pvalue, rel=1e-9)


def test_the_exact_value_is_kept_up_to_many_pairs_and_the_normal_one_is_close() -> None:
    differences = np.random.default_rng(4).normal(0.15, 1.0, 201)
    exact, normal = signed_rank(differences[:200].tolist()).p, signed_rank(differences.tolist()).p
    assert exact == pytest.approx(stats.wilcoxon(differences[:200], method="exact").pvalue)
    assert normal == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue, rel=0.05)


@given(whole)
def test_the_other_way_round_only_the_effect_turns(differences: list[int]) -> None:
    there = signed_rank([float(value) for value in differences])
    back = signed_rank([-float(value) for value in differences])
    assert there.p == back.p
    assert there.effect == pytest.approx(-back.effect)
    assert (there.lower, there.higher) == (back.higher, back.lower)


def test_what_rounding_leaves_is_no_difference_and_no_rank() -> None:
    exact = [0.1, 0.1, 0.05, 0.0]
    rounded = [0.3 - 0.2, 0.4 - 0.3, 0.25 - 0.2, 0.1 + 0.2 - 0.3]
    assert rounded != exact
    assert signed_rank(rounded) == signed_rank(exact)
    assert signed_rank(rounded).zeros == 1


def test_nothing_but_zeros_is_no_difference() -> None:
    found = signed_rank([0.0, 0.0, 0.0])
    assert (found.n, found.zeros, found.p, found.effect) == (0, 3, 1.0, 0.0)


def test_one_direction_gives_the_least_p_and_the_full_effect() -> None:
    for pairs in range(1, 12):
        found = signed_rank([float(place + 1) for place in range(pairs)])
        assert found.p == pytest.approx(least_p(pairs)) == pytest.approx(2 / 2**pairs)
        assert found.effect == 1.0
    assert least_p(5) > 0.05 > least_p(6)


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a number"):
        signed_rank([0.1, float("nan")])


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_rejects_what_its_stepwise_rule_rejects(ps: list[float]) -> None:
    corrected = holm(ps)
    for level in (0.01, 0.05, 0.2):
        rejected = set()
        for place, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
            if ps[index] * (len(ps) - place) > level:
                break
            rejected.add(index)
        assert {index for index, p in enumerate(corrected) if p <= level} == rejected
