"""Declared costs: how they grow, and that every learner that is searched has one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from msl.check.check_spec import check_source
from msl.check.strategies import closed_steps
from msl.diagnostics.source import Source
from msl.space.defaults import closed
from msl.space.fit_costs import Size, declared_seconds
from msl.space.values import Model

SIZE = Size(rows=2_000, predicted=500, columns=20, wide=60)
NAMES = "use sklearn, boosting, clop as c, sbm as s, compose\n"


def seconds(text: str, size: Size = SIZE) -> float:
    """What a model costs whose other parameters have their defaults."""
    found = check_source(Source("m.msl", f"{NAMES}chain m = {text}"))
    assert found.spec is not None, found.diagnostics
    return declared_seconds(Model(closed_steps(closed(found.spec.space.root))), size)


@pytest.mark.parametrize(
    ("less", "more", "times"),
    [
        ("lightgbm(n_estimators = 100)", "lightgbm(n_estimators = 400)", 4.0),
        ("hist_gradient_boosting(max_iter = 50)", "hist_gradient_boosting(max_iter = 200)", 4.0),
        ("xgboost(max_depth = 3)", "xgboost(max_depth = 9)", 3.0),
        ("extra_trees(n_estimators = 20)", "extra_trees(n_estimators = 200)", 10.0),
    ],
)
def test_costs_grow_with_the_parameters_that_they_name(less: str, more: str, times: float) -> None:
    many = replace(SIZE, rows=50_000)
    assert 0.6 * times < seconds(more, many) / seconds(less, many) <= times


@pytest.mark.parametrize(
    ("model", "power"),
    [("svm", 2.0), ("k_neighbors", 2.0), ("logistic", 1.0), ("lightgbm(num_leaves = 255)", 1.0), ("lda", 1.0)],
)
def test_costs_grow_with_the_rows_as_the_algorithm_does(model: str, power: float) -> None:
    many = Size(rows=200_000, predicted=50_000, columns=20, wide=60)
    more = replace(many, rows=10 * many.rows, predicted=10 * many.predicted)
    assert seconds(model, more) / seconds(model, many) == pytest.approx(10.0**power, rel=0.15)


def test_symbols_that_become_many_columns_cost_only_learners_that_need_that() -> None:
    wide = replace(SIZE, wide=6_000)
    assert seconds("lightgbm", wide) == seconds("lightgbm")
    assert seconds("logistic", wide) > 50 * seconds("logistic")
    encoded = "(on symbols (ordinal) & on rest (passthrough)) >> extra_trees(max_features = 1.0)"
    assert seconds(encoded, wide) == seconds(encoded)


def test_leaves_are_no_more_than_the_rows_allow() -> None:
    few = replace(SIZE, rows=60, predicted=15)
    assert seconds("lightgbm(num_leaves = 255)", few) == seconds("lightgbm(num_leaves = 40)", few)


def test_learners_inside_others_count_as_often_as_they_are_fitted() -> None:
    inner = seconds("lightgbm") - seconds("gaussian_nb")
    assert seconds("bagging(estimator = lightgbm, n_estimators = 10)") > 9 * inner


def test_classes_cost_a_model_each() -> None:
    assert seconds("lightgbm", replace(SIZE, classes=5)) == pytest.approx(5 * seconds("lightgbm"), rel=0.1)


def test_what_is_not_listed_costs_something() -> None:
    assert seconds("lightgbm") > 0
    assert seconds("c.zarbi") > seconds("gaussian_nb")
