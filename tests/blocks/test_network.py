"""The neural networks: gradient against finite differences, value against its formula, fits against an optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import make_classification, make_moons

from msl.blocks.learners.neural import NetworkObjective, NetworkShape, NeuralClassifier, NeuralRegressor


def signs(y):
    return np.where(y == 1, 1.0, -1.0)[:, np.newaxis]


def objective(n_outputs, seed=0):
    rng = np.random.default_rng(seed)
    shape = NetworkShape(3, 5, n_outputs)
    X, targets, row_weights = rng.normal(size=(12, 3)), rng.normal(size=(12, n_outputs)), rng.random(12) + 0.5
    return NetworkObjective(shape, X, targets, row_weights, 0.3), rng.normal(size=shape.n_weights)


@pytest.mark.parametrize("n_outputs", [1, 4])
def test_the_gradient_matches_finite_differences(n_outputs):
    function, weights = objective(n_outputs)
    _, gradient = function(weights)
    numerical = approx_fprime(weights, lambda w: function(w)[0], 1e-7)
    np.testing.assert_allclose(gradient, numerical, atol=1e-6)
    assert np.abs(gradient).max() > 0.01


@pytest.mark.parametrize("n_outputs", [1, 4])
def test_the_value_is_its_formula(n_outputs):
    function, weights = objective(n_outputs)
    hidden, hidden_bias, output, output_bias = function.shape.layers(weights)
    total = 0.0
    for x, target, weight in zip(function.X, function.targets, function.row_weights, strict=True):
        values = output_bias + sum(np.tanh(hidden_bias[u] + x @ hidden[:, u]) * output[u] for u in range(5))
        total += weight * ((values - target) ** 2).sum() / 2
    total += 0.3 / 2 * sum((layer**2).sum() for layer in (hidden, hidden_bias, output, output_bias))
    assert function(weights)[0] == pytest.approx(total / 12, rel=1e-12)


def test_initial_weights_have_the_variance_of_one_over_the_inputs_of_a_unit():
    shape = NetworkShape(99, 24, 50)
    hidden, _, output, _ = shape.layers(shape.initial(np.random.RandomState(0)))
    assert hidden.std() == pytest.approx(1 / 10, rel=0.05)
    assert output.std() == pytest.approx(1 / 5, rel=0.05)


def test_classes_are_numbers_of_plus_and_minus_one():
    X, y = make_moons(60, noise=0.2, random_state=0)
    model = NeuralClassifier(units=4, shrinkage=1.0, maxiter=2000, random_state=0).fit(X, y)
    function = NetworkObjective(model.shape_, X, signs(y), np.ones(60), 1.0)
    polished = minimize(function, model.weights_, jac=True, method="BFGS", options={"gtol": 1e-7})
    assert function(model.weights_)[0] == pytest.approx(polished.fun, abs=1e-4)
    assert model.outputs(X).shape == (60, 2)
    np.testing.assert_array_equal(model.outputs(X)[:, 0], -model.outputs(X)[:, 1])


def test_more_than_two_classes_are_one_against_the_rest():
    X, y = make_classification(80, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
    model = NeuralClassifier(units=6, maxiter=200, random_state=0).fit(X, y)
    expected = np.where(y[:, np.newaxis] == np.arange(3), 1.0, -1.0)
    assert model.outputs(X).shape == (80, 3)
    assert ((model.outputs(X) - expected) ** 2).mean() < 0.3


def test_more_steps_lower_the_loss():
    X, y = make_moons(100, noise=0.2, random_state=0)
    losses = []
    for steps in (1, 10, 100):
        model = NeuralClassifier(maxiter=steps, random_state=0).fit(X, y)
        losses.append(NetworkObjective(model.shape_, X, signs(y), np.ones(100), 1e-4)(model.weights_)[0])
    assert losses[0] > losses[1] > losses[2]


def test_decay_shrinks_the_weights():
    X, y = make_moons(100, noise=0.2, random_state=0)
    sizes = [np.abs(NeuralClassifier(shrinkage=s, random_state=0).fit(X, y).weights_).sum() for s in (1e-4, 0.1, 2.0)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_balance_helps_the_small_class():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 2)), rng.normal(size=(10, 2)) + 1.0])
    y = np.repeat([0, 1], [200, 10])
    plain, balanced = (
        NeuralClassifier(units=2, shrinkage=2.0, balance=b, random_state=0).fit(X, y).predict(X) for b in (False, True)
    )
    assert (balanced[y == 1] == 1).mean() > (plain[y == 1] == 1).mean()


def test_numbers_are_learned_on_any_scale_of_the_target():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(200, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    for scale, offset in ((1.0, 0.0), (1e-6, 5.0), (1e6, -3e7), (1e300, 0.0)):
        model = NeuralRegressor(maxiter=250, random_state=0).fit(X[:100], y[:100] * scale + offset)
        predicted = (model.predict(X[100:]) - offset) / scale
        assert 1 - ((predicted - y[100:]) ** 2).mean() / y[100:].var() > 0.95


def test_a_constant_target_is_predicted_as_such():
    X = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(NeuralRegressor(random_state=0).fit(X, np.full(20, 0.1)).predict(X), 0.1, atol=1e-6)


def test_complexity_counts_weights():
    X, y = make_moons(20, random_state=0)
    assert NeuralClassifier(units=5, random_state=0).fit(X, y).complexity() == (2 + 1) * 5 + (5 + 1) * 1
