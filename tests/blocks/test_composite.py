"""Learners around learners: predictions as columns against scikit-learn's stacking, and every block of `compose`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier, StackingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from msl.blocks import Branch, ChainClassifier, ChainRegressor, OutOfFoldPredictions, Passthrough
from msl.blocks.base.build import ColumnKinds, model_to_chain
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.export.python_code import EstimatorCode
from msl.space.enumerate.count import Models
from msl.space.formulas import Facts
from msl.space.values import Model

IRIS = load_iris(return_X_y=True)
TWO = make_classification(120, 5, random_state=0)
DIABETES = tuple(each[:150] for each in load_diabetes(return_X_y=True))


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("table", [IRIS, TWO], ids=["three classes", "two classes"])
def test_predictions_are_the_columns_of_stacking(table: Any, passthrough: bool) -> None:
    X, y = table
    learners = [
        make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
        GaussianNB(),
        DecisionTreeClassifier(max_depth=2, random_state=0),
    ]
    splits = StratifiedKFold(4, shuffle=True, random_state=7)
    stack = StackingClassifier(
        [(str(i), learner) for i, learner in enumerate(learners)],
        LogisticRegression(max_iter=2000),
        cv=splits,
        passthrough=passthrough,
    ).fit(X[::2], y[::2])
    branches = [[OutOfFoldPredictions(learner, folds=4, random_state=7)] for learner in learners]
    chain = ChainClassifier(
        [Branch([*branches, *([[Passthrough()]] if passthrough else [])])], LogisticRegression(max_iter=2000)
    ).fit(X[::2], y[::2])
    np.testing.assert_allclose(chain.predict_proba(X[1::2]), stack.predict_proba(X[1::2]), rtol=1e-9)


def test_predictions_are_the_columns_of_stacking_for_regression() -> None:
    X, y = DIABETES
    learners = [KNeighborsRegressor(), DecisionTreeRegressor(max_depth=3, random_state=0)]
    splits = KFold(5, shuffle=True, random_state=3)
    stack = StackingRegressor([(str(i), one) for i, one in enumerate(learners)], Ridge(), cv=splits).fit(X, y)
    chain = ChainRegressor([Branch([[OutOfFoldPredictions(one, 5, 3)] for one in learners])], Ridge()).fit(X, y)
    np.testing.assert_allclose(chain.predict(X), stack.predict(X), rtol=1e-9)


def test_training_rows_are_predicted_by_learners_that_have_not_seen_them() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)  # nothing to learn
    step = OutOfFoldPredictions(DecisionTreeClassifier(random_state=0), 5, 0)
    held_out = step.fit_transform(X, y)[:, 0]
    assert 0.3 < np.mean((held_out > 0.5) == y) < 0.7
    assert np.mean((step.transform(X)[:, 0] > 0.5) == y) == 1.0


# --- every block of the catalogue -------------------------------------------------------------------------------------


PREPARED = "(standard_scaler(rest = default) >> {})"
USES = [
    ("classification", "stacking(estimators = [" + PREPARED + ", gaussian_nb], final_estimator = logistic)"),
    ("classification", "voting(estimators = [" + PREPARED + ", gaussian_nb], voting = soft)"),
    ("classification", "bagging(estimator = " + PREPARED + ", n_estimators = 5)"),
    ("classification", "ada_boost(estimator = decision_tree(max_depth = 2), n_estimators = 10)"),
    ("classification", "one_vs_rest(estimator = " + PREPARED + ")"),
    ("classification", "one_vs_one(estimator = " + PREPARED + ")"),
    ("classification", "calibrated(estimator = " + PREPARED + ", cv = 3)"),
    ("classification", "tuned_threshold(estimator = " + PREPARED + ", cv = 3)"),
    ("classification", "predictions(learner = " + PREPARED + ", folds = 3) >> logistic(rest = default)"),
    ("classification", "calibrated(estimator = voting(estimators = [gaussian_nb, lda], voting = soft), cv = 3)"),
    ("classification", "calibrated(estimator = stacking(estimators = [gaussian_nb, lda]), cv = 3)"),
    (
        "classification",
        "select_from_model(estimator = logistic, threshold = median) >> gaussian_nb(var_smoothing = 1e-9)",
    ),
    ("classification", "rfe(estimator = logistic, n_features_to_select = 0.5) >> gaussian_nb(var_smoothing = 1e-9)"),
    ("regression", "select_from_model(estimator = ridge, threshold = mean) >> decision_tree(max_depth = 3)"),
    ("regression", "rfe(n_features_to_select = 0.3) >> ridge(alpha = 1)"),
    ("classification", "bagging(estimator = (pca >> gaussian_nb >> bias), n_estimators = 5)"),
    ("classification", "bagging(estimator = ((pca & standard_scaler) >> gaussian_nb), n_estimators = 5)"),
    ("regression", "stacking(estimators = [" + PREPARED + ", decision_tree], final_estimator = none)"),
    ("regression", "averaging(estimators = [" + PREPARED + ", decision_tree])"),
    ("regression", "bagging(estimator = " + PREPARED + ", n_estimators = 5)"),
    ("regression", "transformed_target(regressor = " + PREPARED + ", transformer = power_transform)"),
    ("regression", "predictions(learner = " + PREPARED + ", folds = 3) >> ridge(rest = default)"),
]


def model_of(text: str, task: str) -> Model:
    closed = text if ">> " in text and "learner" in text else text[:-1] + ", rest = default)"
    facts = Facts(n_samples=100, n_features=5, n_classes=2 if task == "classification" else 0, task=task)
    checked = check_source(Source("spec.msl", f"use sklearn, compose, clop\nchain model = {closed}"), facts)
    assert checked.spec is not None, [each.message for each in checked.diagnostics if each.is_error]
    models: Iterator[Model] = iter(Models(checked.spec.space))
    return next(models)


@pytest.mark.parametrize(("task", "text"), USES, ids=[f"{task}-{text.split('(')[0]}" for task, text in USES])
def test_every_block_fits_predicts_and_is_written_as_code(task: str, text: str) -> None:
    X, y = TWO if task == "classification" else (DIABETES[0][:, :5], DIABETES[1])
    learner = "linear_svc" if task == "classification" and "soft" not in text else "gaussian_nb"
    model = model_of(text.format("ridge" if task == "regression" else learner), task)
    estimator = model_to_chain(model, task)
    said = estimator.fit(X, y).predict(X)
    assert said.shape == y.shape
    if task == "classification":
        assert np.mean(said == y) > 0.7
    code = EstimatorCode()
    expression = code.expression(model_to_chain(model, task)).text
    names: dict[str, Any] = {}
    exec(f"{code.imports().text}\nmade = {expression}", names)
    np.testing.assert_array_equal(names["made"].fit(X, y).predict(X), said)


# --- categorical columns and missing values ---------------------------------------------------------------------------


def test_the_class_receives_a_pipeline_of_scikit_learn() -> None:
    chain = model_to_chain(
        model_of("bagging(estimator = (standard_scaler >> linear_svc))", "classification"), "classification"
    )
    assert isinstance(chain.learner, BaggingClassifier)
    assert isinstance(chain.learner.estimator, Pipeline)
    assert [type(step).__name__ for _, step in chain.learner.estimator.steps] == ["StandardScaler", "LinearSVC"]


@pytest.mark.parametrize(
    "text",
    [
        "bagging(estimator = (standard_scaler >> linear_svc), n_estimators = 5)",  # a scaler takes missing values
        "bagging(estimator = linear_svc, n_estimators = 5)",
        "bagging(estimator = hist_gradient_boosting(max_iter = 20), n_estimators = 5)",
        "bagging(estimator = (impute >> linear_svc), n_estimators = 5)",
        "bagging(estimator = ((columns(kind = numeric) & pca) >> linear_svc), n_estimators = 5)",
        "one_vs_rest(estimator = (standard_scaler >> linear_svc))",
        "stacking(estimators = [(standard_scaler >> linear_svc), hist_gradient_boosting(max_iter = 20)])",
        "predictions(learner = (standard_scaler >> linear_svc), folds = 3) >> logistic(rest = default)",
        "predictions(learner = hist_gradient_boosting(max_iter = 20), folds = 3) >> logistic(rest = default)",
        "predictions(learner = (((columns(kind = symbolic) >> one_hot) & columns(kind = numeric)) >> linear_svc))"
        " >> logistic(rest = default)",
    ],
)
def test_what_reaches_a_learner_inside_is_what_it_can_take(text: str) -> None:
    X, y = TWO
    X = np.column_stack([X, np.arange(len(X)) % 3])
    X[::7, 1] = np.nan
    columns = ColumnKinds(6, symbolic=(5,), incomplete=(1,))
    chain = model_to_chain(model_of(text, "classification"), "classification", columns=columns)
    assert np.mean(chain.fit(X, y).predict(X) == y) > 0.7
