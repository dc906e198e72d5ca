"""Objectives with options: what is wrong with them is said where it is."""

from __future__ import annotations

import pytest

from msl.space.formulas import Facts
from specs import only_error, sound, underlined

TABLE = Facts(n_samples=99, n_features=3, n_classes=2, task="classification", classes=("ill", "well"))


def spec(goal: str) -> str:
    return f"use sbm\nchain m = knn\nminimize {goal} by cv(folds = 3)\n"


@pytest.mark.parametrize(
    ("goal", "where", "says"),
    [
        ("cost", "cost", "not said what each error costs"),
        ("cost()", "cost()", "not said what each error costs"),
        ("cost(5)", "5", "list of lists"),
        ("cost([])", "[]", "list of lists"),
        ("cost([[0, 1], 5])", "5", "list of lists"),
        ("cost([[0, 1], [5]])", "[5]", "this row has 1"),
        ("cost([[0, 1], [-5, 0]])", "-5", "not negative"),
        ("cost([[0, 1], [none, 0]])", "none", "number"),
        ("cost([[ill, well]])", "[ill, well]", "the true class, the predicted class, and the cost"),
        ("cost([[ill, 1, 2]])", "[ill, 1, 2]", "the true class, the predicted class, and the cost"),
        ("cost([[ill, well, 2], [ill, well, 3]])", "[ill, well, 3]", "twice"),
    ],
)
def test_costs_that_cannot_be_read(goal: str, where: str, says: str) -> None:
    found = only_error(spec(goal))
    assert (found.code, underlined(found)) == ("MSL156", where)
    assert says in found.message


@pytest.mark.parametrize(
    ("goal", "where", "says", "helps"),
    [
        ("cost([[ill, wel, 2]])", "wel", "not a class", "well"),
        ("cost([[0, 1, 1], [1, 0, 1], [1, 1, 0]])", "[[0, 1, 1], [1, 0, 1], [1, 1, 0]]", "3 classes", "`ill`, `well`"),
    ],
)
def test_costs_that_do_not_fit_the_table(goal: str, where: str, says: str, helps: str) -> None:
    sound(spec(goal))
    found = only_error(spec(goal), facts=TABLE)
    assert (found.code, underlined(found)) == ("MSL156", where)
    assert says in found.message
    assert helps in (found.help or "")


def test_options_of_metrics_are_checked_like_those_of_estimates() -> None:
    regression = "data(task = regression)\n"
    assert underlined(only_error(regression + spec("pinball(quantile = 2)"))) == "2"
    assert underlined(only_error(regression + spec("pinball(quantil = 0.2)"))) == "quantil"
    assert underlined(only_error(spec("error(quantile = 0.2)"))) == "quantile"
    assert only_error(spec("cost([[0, 1], [5, 0]], beta = 2)")).primary is not None


def test_metrics_with_options_are_part_of_arithmetic_and_of_several_objectives() -> None:
    one = sound(spec("0.9 * cost([[0, 1], [5, 0]]) + 0.1 * feature_share"))
    assert len(one.objectives) == 1
    two = "use sbm\nchain m = keep >> knn\nminimize cost([[0, 1], [5, 0]]), cost([[0, 2], [5, 0]])\nsearch cmdpso"
    assert len(sound(two).objectives) == 2
    twice = two.replace("0, 2", "0, 1.0")
    assert only_error(twice).code == "MSL155"
