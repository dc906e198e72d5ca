"""Kernel logistic regression against SciPy's optimiser on the same penalised likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import make_classification, make_moons

from msl.blocks.kernels.logistic import PENALTY, KernelLogistic, fit_logistic


def gram(X, Z, X_train):
    squared = ((X_train[:, None] - X_train[None]) ** 2).sum(axis=2)
    typical = np.median(squared[np.triu_indices(len(X_train), 1)])
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2) / typical)


def optimised(kernel, signs, penalty):
    """The objective, multipliers and offset from a general optimiser, in coordinates where the penalty is a sphere."""
    eigenvalues, eigenvectors = np.linalg.eigh(kernel)
    features = eigenvectors * np.sqrt(np.maximum(eigenvalues, 0.0))

    def objective(parameters):
        weights, offset = parameters[:-1], parameters[-1]
        margins = signs * (features @ weights + offset)
        slope = -signs * expit(-margins)
        value = np.logaddexp(0.0, -margins).sum() + penalty / 2 * weights @ weights
        return value, np.append(features.T @ slope + penalty * weights, slope.sum())

    options = {"maxiter": 5000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 50}
    result = minimize(objective, np.zeros(len(kernel) + 1), jac=True, method="L-BFGS-B", options=options)
    weights, offset = result.x[:-1], result.x[-1]
    # Where the gradient vanishes, the multipliers are the slopes of the likelihood over the penalty.
    multipliers = signs * expit(-signs * (features @ weights + offset)) / penalty
    return result.fun, multipliers, offset


def test_two_classes_are_what_scipy_finds():
    X, y = make_moons(60, noise=0.3, random_state=0)
    new = make_moons(20, noise=0.3, random_state=1)[0]
    _, multipliers, offset = optimised(gram(X, X, X), np.where(y == 1, 1.0, -1.0), PENALTY)
    expected = expit(gram(new, X, X) @ multipliers + offset)
    ours = KernelLogistic().fit(X, y).predict_proba(new)
    np.testing.assert_allclose(ours[:, 1], expected, atol=1e-6)
    np.testing.assert_allclose(ours.sum(axis=1), 1.0, rtol=1e-15)


def test_more_classes_are_normalised_ones_against_the_rest():
    X, y = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    columns = []
    for code in range(3):
        _, multipliers, offset = optimised(gram(X, X, X), np.where(y == code, 1.0, -1.0), PENALTY)
        columns.append(expit(gram(X, X, X) @ multipliers + offset))
    expected = np.column_stack(columns)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(KernelLogistic().fit(X, y).predict_proba(X), expected, atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-4, 0.01, 1.0, 100.0]), st.floats(0.05, 0.95))
@settings(max_examples=30)
def test_newton_ends_where_the_gradient_vanishes(seed, penalty, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2))
    signs = np.where(np.arange(25) < max(1, int(25 * share)), 1.0, -1.0)
    kernel = gram(X, X, X) / penalty
    fit = fit_logistic(kernel, signs)
    residual = (signs > 0) - expit(fit.log_odds())
    # At the optimum the multipliers are the residuals and the offset leaves no sum of them.
    assert abs(residual.sum()) < 1e-4
    np.testing.assert_allclose(kernel @ fit.multipliers, kernel @ residual, atol=1e-3 / penalty**0.5)
    value, *_ = optimised(kernel * penalty, signs, penalty)
    assert fit.objective() <= value * (1 + 1e-8) + 1e-8


def test_a_separable_problem_ends():
    X = np.vstack([np.zeros((20, 1)), np.ones((20, 1))])
    y = np.repeat([0, 1], 20)
    probabilities = KernelLogistic().fit(X, y).predict_proba(X)
    assert (probabilities.argmax(axis=1) == y).all()
    assert probabilities.max() < 1.0


def test_complexity_is_the_trace_of_the_last_least_squares_problem():
    X, y = make_moons(40, noise=0.3, random_state=0)
    model = KernelLogistic().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    weights = p * (1 - p)
    smoother = gram(X, X, X) @ np.linalg.inv(gram(X, X, X) + PENALTY * np.diag(1 / weights))
    assert model.complexity() == pytest.approx(np.trace(smoother) + 1.0, rel=1e-6)
