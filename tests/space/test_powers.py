"""Powers in formulas: exact for whole numbers, with an error where there is no value."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from msl.space.formulas import Facts, Formula, apply, at_most, evaluate, fold, limits

FACTS = Facts(n_samples=150, n_features=17, n_classes=3, task="classification")


@pytest.mark.parametrize(
    ("base", "exponent", "value"),
    [
        (2, 10, 1024),
        (2, -15, Fraction(1, 32768)),
        (Fraction(2, 3), 3, Fraction(8, 27)),
        (-3, 3, -27),
        (7, 0, 1),
        (0, 0, 1),
        (1, 10**30, 1),
        (-1, 3, -1),
        (2, 0.5, math.sqrt(2)),
        (4, Fraction(1, 2), 2.0),
        (2.0, 3, 8.0),
    ],
)
def test_powers_are_exact_where_they_can_be(base: float, exponent: float, value: float) -> None:
    found = apply("^", [base, exponent])
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("base", "exponent", "error"),
    [(-4, 0.5, ValueError), (0, -1, ZeroDivisionError), (2, 10**9, OverflowError), (2.0, -(10**9), OverflowError)],
)
def test_powers_without_a_value_are_told_at_once(base: float, exponent: float, error: type[Exception]) -> None:
    with pytest.raises(error):
        apply("^", [base, exponent])


def test_powers_of_facts_wait_for_the_table() -> None:
    root = fold("^", [Formula("n_features"), 0.5])
    assert isinstance(root, Formula)
    assert str(root) == "n_features ^ 0.5"
    assert evaluate(root, FACTS) == math.sqrt(17)
    assert str(fold("^", [-2, Formula("n_features")])) == "(-2) ^ n_features"
    assert fold("^", [2, -1]) == 0.5


def test_what_is_known_of_a_power_without_a_table() -> None:
    square = Formula("^", (Formula("n_features"), 2))
    assert limits(square) == (1.0, math.inf)
    assert limits(Formula("^", (Formula("n_features"), -2))) == (-math.inf, math.inf)
    assert at_most(1, square)
    assert not at_most(2, square)
