"""Linear logistic regression against its likelihood equations, scikit-learn and classes that a plane separates."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from msl.blocks.learners import linear_classifiers
from msl.blocks.learners.linear_classifiers import LinearLogistic


def overlapping(n_classes: int = 2, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    y = np.arange(150) % n_classes
    return rng.normal(size=(150, 4)) + 0.7 * rng.normal(size=(n_classes, 4))[y], y


@pytest.mark.parametrize("scales", [np.ones(4), np.array([1e-6, 1.0, 1e5, 1e-150])])
def test_the_gradient_of_the_likelihood_is_zero(scales: NDArray[np.float64]) -> None:
    X, y = overlapping()
    model = LinearLogistic().fit(X * scales, y)
    design = np.column_stack([np.ones(len(X)), X])
    residuals = y - expit(X @ (model.coef_[:, 0] * scales) + model.intercept_[0])
    np.testing.assert_allclose(design.T @ residuals, 0.0, atol=1e-6)
    assert model.complexity() == 4.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn_without_a_penalty(n_classes: int) -> None:
    X, y = overlapping(n_classes)
    new = overlapping(n_classes, seed=1)[0]
    shares = []
    for code in range(1, 2) if n_classes == 2 else range(n_classes):
        theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y == code)
        shares.append(theirs.predict_proba(new)[:, 1])
    expected = np.column_stack(shares if n_classes > 2 else [1 - shares[0], shares[0]])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(LinearLogistic().fit(X, y).predict_proba(new), expected, atol=1e-5)


def test_separable_classes_end_in_certainty_without_a_warning() -> None:
    rng = np.random.default_rng(0)
    for shape in ((40, 3), (30, 100)):
        X = rng.normal(size=shape)
        y = (X[:, 0] > 0).astype(int)
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            model = LinearLogistic().fit(X, y)
        assert np.isfinite(model.coef_).all()
        assert np.abs(model.predict_proba(X)[:, 1] - y).max() < 1e-6


def test_the_number_of_steps_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    y = np.array([0, 0, 1, 1])
    long = LinearLogistic().fit(X, y).coef_[0, 0]
    monkeypatch.setattr(linear_classifiers, "MOST_STEPS", 5)
    short = LinearLogistic().fit(X, y).coef_[0, 0]
    # Every step adds about as much to the slope as separates the nearest rows by one more unit of log odds.
    assert 1.0 < short < long / 3


def test_columns_that_depend_on_others_get_a_weight_of_zero() -> None:
    X, y = overlapping()
    copies = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X)), 2 * X[:, 2]])
    model = LinearLogistic().fit(copies, y)
    assert model.complexity() == 4.0
    np.testing.assert_allclose(model.predict_proba(copies), LinearLogistic().fit(X, y).predict_proba(X), atol=1e-7)
