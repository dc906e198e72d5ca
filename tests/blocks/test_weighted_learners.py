"""Weights of rows: a row of weight w counts as w equal rows, in every learner of ours that takes weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from msl.blocks.base.block import Floats
from msl.blocks.base.row_weights import takes_weights
from msl.blocks.kernels.ridge import KRidgeClassifier, KRidgeRegressor, LSSVMClassifier, LSSVMRegressor
from msl.blocks.kernels.svm import SVC
from msl.blocks.learners.forest import ForestClassifier, ForestRegressor
from msl.blocks.learners.linear_classifiers import LinearLogistic, PooledBayes, Zarbi
from msl.blocks.learners.logitboost import LogitBoost
from msl.blocks.learners.naive_bayes import GaussianBayes, NaiveBayes
from msl.blocks.similarity.knn import KNNClassifier

CLASSIFIERS = [
    GaussianBayes(),
    NaiveBayes(),
    PooledBayes(),
    Zarbi(),
    LinearLogistic(),
    KRidgeClassifier(gamma=0.3),
    LSSVMClassifier(),
    LSSVMClassifier(gamma=0.5, degree=0, balance=True),
    SVC(gamma=0.2, shrinkage=0.1),
    SVC(degree=2, shrinkage=5.0),
    LogitBoost(units=20),
]
REGRESSORS = [KRidgeRegressor(gamma=0.1), LSSVMRegressor(degree=2)]


def _rows(n_classes: int, has_switch: bool = True) -> tuple[Floats, NDArray[Any], Floats]:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(90, 4))
    if has_switch:
        X[:, 3] = X[:, 3] > 0.3
    signal = X[:, 0] + 0.7 * X[:, 1] - X[:, 3] + 0.8 * rng.normal(size=len(X))
    y = signal if not n_classes else np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return X, y, rng.integers(1, 5, len(X)).astype(float)


def _compared(
    learner: Any, X: Floats, y: NDArray[Any], weights: Floats, n_classes: int
) -> tuple[Floats, Floats, Floats]:
    """The outputs of fits with weights, with repeated rows, and with neither."""
    new = np.random.default_rng(9).normal(size=(40, X.shape[1]))
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))
    learner.fit_weighted(X.copy(), y, n_classes, weights)
    weighed = learner.outputs(new)
    learner.fit_arrays(X[repeated], y[repeated], n_classes)
    counted = learner.outputs(new)
    learner.fit_arrays(X.copy(), y, n_classes)
    return weighed, counted, learner.outputs(new)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", CLASSIFIERS, ids=repr)
def test_a_weight_counts_as_that_many_equal_rows(learner: Any, n_classes: int) -> None:
    weighed, counted, plain = _compared(learner, *_rows(n_classes), n_classes)
    # libsvm stops within a tolerance of its own.
    assert np.allclose(weighed, counted, rtol=1e-3, atol=2e-3 if isinstance(learner, SVC) else 1e-6)
    assert not np.allclose(weighed, plain, atol=1e-3)


@pytest.mark.parametrize("learner", REGRESSORS, ids=repr)
def test_a_weight_counts_as_that_many_equal_rows_for_numbers(learner: Any) -> None:
    weighed, counted, plain = _compared(learner, *_rows(0), 0)
    assert np.allclose(weighed, counted, rtol=1e-6, atol=1e-6)
    assert not np.allclose(weighed, plain, atol=1e-3)


def test_the_naive_bayes_of_two_values_counts_weights() -> None:
    X, y, weights = _rows(2)
    weighed, counted, plain = _compared(PooledBayes(), (X > 0).astype(float), y, weights, 2)
    assert np.allclose(weighed, counted)
    assert not np.allclose(weighed, plain, atol=1e-3)


@pytest.mark.parametrize("learner", [*CLASSIFIERS, *REGRESSORS], ids=repr)
def test_equal_weights_are_none(learner: Any) -> None:
    n_classes = 0 if learner in REGRESSORS else 2
    X, y, weights = _rows(n_classes)
    weighed, _, plain = _compared(learner, X, y, np.ones_like(weights), n_classes)
    assert np.allclose(weighed, plain, rtol=1e-6, atol=1e-8)


def test_forests_draw_rows_by_their_weights() -> None:
    X, y, _ = _rows(2, has_switch=False)
    weights = np.where(y == 1, 20.0, 1.0)
    forest = ForestClassifier(units=60, random_state=0)
    forest.fit_weighted(X, y, 2, weights)
    new = np.random.default_rng(3).normal(size=(400, 4))
    weighed = forest.outputs(new)
    theirs = RandomForestClassifier(60, max_features=2, random_state=0).fit(X, y, sample_weight=weights)
    assert np.allclose(weighed, theirs.predict_proba(new))
    forest.fit_arrays(X, y, 2)
    assert weighed[:, 1].mean() > forest.outputs(new)[:, 1].mean() + 0.1
    balanced = ForestClassifier(units=60, random_state=0, balance=True)
    balanced.fit_weighted(X, y, 2, weights)
    assert abs(balanced.outputs(new)[:, 1].mean() - 0.5) < 0.1
    X, y, _ = _rows(0)
    numbers = ForestRegressor(units=40, random_state=0)
    numbers.fit_weighted(X, y, 0, np.where(y > 0, 50.0, 1.0))
    assert numbers.outputs(new).mean() > y.mean() + 0.3


def test_learners_without_weights_say_so() -> None:
    assert takes_weights(NaiveBayes())
    assert not takes_weights(KNNClassifier())
