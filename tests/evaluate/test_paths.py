"""One fit for all values of a path parameter: every outcome equals that of a fit of its own, to the last digit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from evaluation_cases import bundled, models_of, numbers, objectives, only_model, two_moons
from hypothesis import given, settings
from hypothesis import strategies as st

from msl.blocks.base.learner_paths import _STAGES, learner_path
from msl.blocks.learners import logitboost
from msl.blocks.learners.boosting_libraries import (
    LightGBMClassifier,
    LightGBMRegressor,
    XGBoostClassifier,
    XGBoostRegressor,
)
from msl.evaluate.cross_validate import EvaluationRequest, PathRequest
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.outcome import Effort, Outcome
from msl.space.fit_costs import _PATHS, path_of, path_parameter
from msl.space.spec import Objective
from msl.space.values import BlockValue, Model

#: A learner for each class with a path, with the options that its members depend on.
CLASSES = [
    "knn(weighting: any weighting)",
    "sbm(weighting: uniform | gaussian)",
    "k_neighbors(rest = default)",
    "k_neighbors(weights = distance, p: 1 | 2, rest = default)",
    "rf(mtry: 1..3, balance: bool)",
    "logitboost(depth: 1..3, shrinkage: 0.1..1)",
    "random_forest(max_depth: 2..6, bootstrap: bool)",
    "extra_trees(min_samples_leaf: 1..4)",
    "bagging(max_samples: 0.3..1, max_features: 0.4..1)",
    "bagging(estimator = linear_svc(rest = default), max_samples: 0.5..1)",
    "ada_boost(learning_rate: 0.1..2)",
    "ada_boost(estimator = decision_tree(rest = default), learning_rate: 0.1..2)",
    "gradient_boosting(subsample: 0.4..1, max_features: 0.3..1, max_depth: 1..4)",
    "hist_gradient_boosting(max_features: 0.3..1, min_samples_leaf: 2..9)",
    "hist_boosting(max_features: 0.3..1, min_samples_leaf: 2..9, early_stopping = none)",
    "lightgbm(subsample: 0.5..1, colsample_bytree: 0.3..1, min_child_samples: 2..9, early_stopping = none)",
    "xgboost(subsample: 0.5..1, colsample_bytree: 0.3..1, early_stopping = none)",
    "catboost(depth: 4..5, early_stopping = none)",
]
#: Learners of packages that need not be installed.
PACKAGES = ("lightgbm", "xgboost", "catboost")
NUMBERS = [one for one in CLASSES if not any(name in one for name in ("logitboost", "ada_boost", "linear_svc"))]


def with_value(model: Model, parameter: str, value: int) -> Model:
    learner = model.steps[-1]
    assert isinstance(learner, BlockValue)
    params = tuple((name, value if name == parameter else given) for name, given in learner.params)
    return Model((*model.steps[:-1], replace(learner, params=params)))


def plain(outcome: Outcome) -> Outcome:
    """Without what an evaluation cost. Of warnings, which repeat fit after fit, those about the model count."""
    told = tuple(warning for warning in outcome.warnings if "weights" in warning)
    return replace(outcome, effort=Effort(), warnings=told)


def compare(dataset: Dataset, models: list[Model], goal: str, cutoff: float | None = None, **request: Any) -> int:
    """Compares a path with single evaluations, each by an evaluator of its own; the number of fits of the path."""
    parameter = path_of(models[0], dataset.task)
    assert parameter is not None
    requests = tuple(EvaluationRequest(model, cutoff, **request) for model in models)
    wanted = stated(goal, dataset.task)
    together = Evaluator(dataset, wanted).evaluate_path(PathRequest(requests, parameter))
    for one, outcome in zip(requests, together, strict=True):
        alone = Evaluator(dataset, wanted).evaluate(one.model, one.cutoff, one.share, one.repeat)
        assert plain(alone) == plain(outcome), one.model
    return sum(outcome.effort.fits for outcome in together)


@cache
def stated(goal: str, task: str) -> tuple[Objective, ...]:
    """Reading a spec takes longer than a path on a small table."""
    return objectives(goal, numbers() if task == "regression" else two_moons())


@cache
def drawn(learner: str, task: str) -> list[Model]:
    if (package := learner.partition("(")[0]) in PACKAGES:
        pytest.importorskip(package)
    dataset = numbers(48, 4) if task == "regression" else two_moons(48, 4)
    return models_of(f"use sbm, clop, sklearn, boosting\nchain m = {learner}\n", dataset, 8)


def path_models(text: str, dataset: Dataset, values: list[int], seed: int = 0) -> list[Model]:
    found = drawn(text, dataset.task)
    model = found[seed % len(found)]
    parameter = path_of(model, dataset.task)
    assert parameter is not None
    return [with_value(model, parameter, value) for value in values]


values = st.lists(st.integers(1, 25), min_size=2, max_size=4, unique=True).map(sorted)


@pytest.mark.parametrize("learner", CLASSES)
@settings(max_examples=5)
@given(values=values, seed=st.integers(0, 99), rounded=st.booleans(), kinds=st.integers(2, 4))
def test_paths_of_classifiers(learner: str, values: list[int], seed: int, rounded: bool, kinds: int) -> None:
    dataset = table(seed, rounded, kinds)
    models = path_models(learner, dataset, values, seed)
    goal = "minimize ber, brier, complexity by cv(folds = 2)" if seed % 2 else "minimize error by holdout"
    fits = compare(dataset, models, goal)
    assert fits <= 2 or "k_neighbors" in learner, "of k_neighbors some are fitted alone, where rows are equally near"


@pytest.mark.parametrize("learner", NUMBERS)
@settings(max_examples=5)
@given(values=values, seed=st.integers(0, 99), rounded=st.booleans())
def test_paths_of_regressors(learner: str, values: list[int], seed: int, rounded: bool) -> None:
    dataset = table(seed, rounded, 0)
    fits = compare(dataset, path_models(learner, dataset, values, seed), "minimize mse by cv(folds = 2)")
    assert fits <= 2 or "k_neighbors" in learner


@pytest.mark.parametrize("learner", CLASSES)
def test_rows_with_weights(learner: str) -> None:
    for seed in range(2):
        dataset = table(seed, seed > 0, 2)
        weighed = replace(dataset, weights=np.random.default_rng(seed).uniform(0.1, 5.0, len(dataset.y)))
        compare(weighed, path_models(learner, weighed, [1, 4, 12], seed), "minimize brier by cv(folds = 2)")


def table(seed: int, rounded: bool, kinds: int) -> Dataset:
    """A random table, with few different values if they are rounded."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(48, 4))
    z = X @ rng.normal(size=4) + rng.normal(size=48)
    X = np.ascontiguousarray(X.round(0 if rounded else 9))
    y = z if kinds == 0 else np.searchsorted(np.quantile(z, np.arange(1, kinds) / kinds), z)
    return Dataset.of_arrays(X, y, kinds)


def test_every_class_that_is_declared_a_path_is_tested_and_has_one() -> None:
    tested = {
        block.block.target.partition(":")[2].removesuffix("*")
        for learner in CLASSES
        if learner.partition("(")[0] not in PACKAGES
        for block in [drawn(learner, "classification")[0].steps[-1]]
        if isinstance(block, BlockValue)
    } | {"CatBoost", "LightGBM", "XGBoost"}
    assert tested == {name for names in _PATHS.values() for name in names}
    known = {kind.__name__ for kind in _STAGES} | {"KNeighborsClassifier", "KNeighborsRegressor"}
    assert known == {
        name + ending
        for name in _PATHS["sklearn"]
        for ending in ("Classifier", "Regressor")
        if path_parameter(f"sklearn.ensemble:{name}{ending}") is not None
    }


def test_early_stopping_ends_at_the_same_round() -> None:
    dataset = bundled("breast_cancer")
    declared = 'block boost: learner "sklearn.ensemble:HistGradientBoosting*" { max_iter: int 1..90 default 30, '
    declared += "early_stopping = true, n_iter_no_change = 2, learning_rate = 0.5 }\n"
    model = only_model(f"use sklearn\n{declared}chain m = boost(max_iter = 5)", dataset)
    models = [with_value(model, "max_iter", value) for value in (2, 5, 12, 40, 90)]
    assert compare(dataset, models, "minimize brier by holdout") == 1


def test_rounds_of_lightgbm_that_find_no_split_count_and_add_no_tree() -> None:
    pytest.importorskip("lightgbm")
    declared = 'block odd: learner "msl.blocks:LightGBM*" { n_estimators: int 1..90 default 9, extra_trees = true, '
    declared += "subsample = 0.7, colsample_bytree = 0.4, min_child_samples = 10 }\n"
    model = only_model(f"use sklearn\n{declared}chain m = odd(n_estimators = 5)", numbers(48, 4))
    models = [with_value(model, "n_estimators", value) for value in (1, 2, 5, 9, 20, 41, 90)]
    for seed in range(3):
        dataset = table(seed, True, 0)
        assert compare(dataset, models, "minimize mse by cv(folds = 3)") == 3


@pytest.mark.parametrize("options", ["", ", weights = distance"])
def test_neighbours_of_scikit_learn_share_a_search_unless_some_are_equally_near(options: str) -> None:
    text = f"k_neighbors(n_neighbors = 3{options}, rest = default)"
    values = [1, 2, 5, 9, 14]
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    apart = Dataset.of_arrays(X, y, 2)
    assert compare(apart, path_models(text, apart, values), "minimize error by holdout") == 1
    tied = Dataset.of_arrays(X.round(), y, 2)
    assert compare(tied, path_models(text, tied, values), "minimize error by holdout") == 1 + len(values)
    wide = Dataset.of_arrays(rng.normal(size=(90, 20)), y, 2)
    assert compare(wide, path_models(text, wide, values), "minimize error by holdout") == 1
    many = path_models(text, apart, [2, 50])
    compare(apart, many, "minimize error by holdout")  # with 50 of 60 rows, `auto` compares all
    compare(apart, path_models(text, apart, [2, 80]), "minimize error by holdout")  # more than there are rows


@pytest.mark.parametrize("cutoff", [0.02, 0.1, 0.3])
def test_a_race_ends_where_it_would_alone(cutoff: float) -> None:
    dataset = two_moons()
    models = path_models("standard_scaler >> gradient_boosting(rest = default)", dataset, [1, 4, 9, 20])
    assert compare(dataset, models, "minimize error by cv(folds = 4)", cutoff) <= 8


@pytest.mark.parametrize(
    "goal",
    [
        "minimize ber by cv(folds = 3, repeats = 2)",
        "minimize ber by loo",
        "minimize error by cv(folds = 3, kernel = border)",
        "minimize error + 0.1 * feature_share by bootstrap632(samples = 3)",
        "minimize error by cv(folds = 2, shuffle = true)",
        "minimize fit_time by cv(folds = 2)",
    ],
)
def test_whatever_the_estimate(goal: str) -> None:
    dataset = two_moons(36)
    models = path_models("ftest(fmax = 4, rest = default) >> knn(rest = default)", dataset, [1, 3, 9, 40])
    if "time" in goal:
        parameter = path_of(models[0], dataset.task)
        assert parameter is not None
        requests = tuple(map(EvaluationRequest, models))
        timed = Evaluator(dataset, stated(goal, dataset.task)).evaluate_path(PathRequest(requests, parameter))
        assert [outcome.effort.fits for outcome in timed] == [4] * 4, "each has fits of its own"
        return
    compare(dataset, models, goal)


def test_shares_of_rows_and_repeats() -> None:
    models = path_models("pca >> random_forest(rest = default)", dataset := two_moons(), [1, 5, 8])
    assert compare(dataset, models, "minimize ber by cv(folds = 2)", share=0.5, repeat=3) == 4


def test_a_value_that_fails_alone_fails_and_no_other() -> None:
    """Bagging draws from more columns than there are, whatever its size."""
    dataset = two_moons()
    models = path_models("bagging(estimator = svc_rbf(rest = default), rest = default)", dataset, [0, 2, 4])
    compare(dataset, models, "minimize ber by cv(folds = 2)")


def test_sums_of_trees_are_added_in_the_same_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logitboost, "PAIRS_AT_ONCE", 7 * 60)
    for dataset in (two_moons(), bundled("iris")):
        models = path_models("logitboost(rest = default)", dataset, [1, 6, 7, 8, 13, 14, 15, 29])
        compare(dataset, models, "minimize brier by cv(folds = 2)")


@pytest.mark.parametrize(
    "text",
    [
        "random_forest(rest = default) >> bias",
        "naive_bayes(rest = default)",
        "one_vs_rest(estimator = knn(rest = default))",
        "forest_of_two_threads(rest = default)",
        "hist_boosting(early_stopping = 10, rest = default)",
        "foreign >> knn(rest = default)",
    ],
)
def test_other_models_are_no_path(text: str) -> None:
    declared = (
        'block forest_of_two_threads: learner "sklearn.ensemble:RandomForest*" { n_jobs = 2, n_estimators = 9 }\n'
    )
    declared += 'block foreign: transformer "elsewhere:Scaler" {}\n'
    model = only_model(f"use sbm, clop, sklearn, kms, compose, boosting\n{declared}chain m = {text}", two_moons())
    assert path_of(model, "classification") is None


def test_ada_boost_has_a_path_for_classes_only() -> None:
    assert path_parameter("sklearn.ensemble:AdaBoost*", "classification") == "n_estimators"
    assert path_parameter("sklearn.ensemble:AdaBoost*", "regression") is None
    assert path_parameter("sklearn.ensemble:AdaBoostRegressor") is None
    assert path_parameter("other.ensemble:AdaBoostClassifier") is None
    model = only_model("use sklearn\nchain m = ada_boost(rest = default)", numbers())
    assert path_of(model, "regression") is None


@pytest.mark.parametrize("kinds", [0, 2, 3])
def test_margins_of_xgboost_grow_to_the_digits_of_a_prediction_of_its_own(kinds: int) -> None:
    pytest.importorskip("xgboost")
    X, y = with_gaps(kinds)
    learner = (XGBoostClassifier if kinds else XGBoostRegressor)(n_estimators=60, symbolic_columns=[4])
    learner.fit_arrays(X[:600], y[:600], kinds)
    rows = X[600:]
    path = learner_path(learner, "n_estimators", rows)
    assert path is not None
    for value in (3, 20, 20, 60, 20):
        alone = type(learner).outputs(learner.with_less("n_estimators", value), rows)
        np.testing.assert_array_equal(path.at(value).outputs(rows), alone)


def with_gaps(kinds: int) -> tuple[np.ndarray, np.ndarray]:
    """900 rows with symbols in the last column, and gaps."""
    rng = np.random.default_rng(kinds)
    X = np.column_stack([rng.normal(size=(900, 4)), rng.integers(0, 9, 900)])
    X[rng.random(X.shape) < 0.1] = np.nan
    z = np.nan_to_num(X) @ rng.normal(size=5) + rng.normal(size=900)
    return X, z if kinds == 0 else np.searchsorted(np.quantile(z, np.arange(1, kinds) / kinds), z)


@pytest.mark.parametrize("kinds", [0, 2, 3])
def test_trees_of_lightgbm_are_walked_once_for_all_of_a_path(kinds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sums grow by the trees between two values, with symbols and gaps, to the digits that it gives itself."""
    lightgbm = pytest.importorskip("lightgbm")
    X, y = with_gaps(kinds)
    learner = (LightGBMClassifier if kinds else LightGBMRegressor)(n_estimators=60, symbolic_columns=[4])
    learner.fit_arrays(X[:600], y[:600], kinds)
    rows = X[600:]
    path = learner_path(learner, "n_estimators", rows)
    assert path is not None
    expected = {value: type(learner).outputs(learner.with_less("n_estimators", value), rows) for value in (3, 20, 60)}
    walked = []
    predict = lightgbm.Booster.predict
    monkeypatch.setattr(
        lightgbm.Booster,
        "predict",
        lambda *args, **more: walked.append(more["num_iteration"]) or predict(*args, **more),
    )
    for value in (3, 20, 60, 20):
        np.testing.assert_array_equal(path.at(value).outputs(rows), expected[value])
    assert walked == [3, 17, 40, 20], "each tree once, but for a value that is less than the one before"
