"""Kernel ridge, least-squares support vector machines and the ridge that sets itself, against explicit solutions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification, make_moons
from sklearn.kernel_ridge import KernelRidge

from msl.blocks.kernels.kernel_machine import Kernel
from msl.blocks.kernels.ridge import (
    RIDGES,
    ROWS_FOR_WIDTH,
    WIDTHS,
    GKRidgeClassifier,
    GKRidgeRegressor,
    KRidgeClassifier,
    KRidgeRegressor,
    LSSVMClassifier,
    LSSVMRegressor,
    Spectrum,
)

KERNELS = [(1, 1, 0.0), (0, 1, 0.0), (1, 0, 0.5), (1, 2, 0.1), (0, 3, 0.01), (1, 3, 10.0), (1, 0, 0.0)]
each_kernel = pytest.mark.parametrize(("coef0", "degree", "gamma"), KERNELS)


def numbers(n_rows=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, 5.0 + X[:, 0] - np.cos(X[:, 1]) + 0.1 * rng.normal(size=n_rows)


def classes(n_classes, n_rows=60):
    return make_classification(n_rows, 5, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0)


def explicit_kernel(X, Z, coef0, degree, gamma):
    squared = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    return (coef0 + X @ Z.T) ** degree * np.exp(-gamma * squared)


def signs(y, n_classes):
    return np.where(y[:, None] == np.arange(n_classes), 1.0, -1.0)


@each_kernel
@pytest.mark.parametrize("shrinkage", [1e-4, 0.01, 2.0])
def test_kridge_for_numbers_is_scikit_learns(coef0, degree, gamma, shrinkage):
    X, y = numbers()
    new = numbers(20, seed=1)[0]

    def kernel(x, z):
        return (coef0 + x @ z) ** degree * np.exp(-gamma * ((x - z) ** 2).sum())

    expected = KernelRidge(alpha=shrinkage, kernel=kernel).fit(X, y).predict(new)
    ours = KRidgeRegressor(coef0, degree, gamma, shrinkage).fit(X, y).predict(new)
    np.testing.assert_allclose(ours, expected, rtol=1e-7, atol=1e-7)


@each_kernel
@pytest.mark.parametrize("n_classes", [2, 4])
def test_kridge_for_classes_is_scikit_learns_on_signs(coef0, degree, gamma, n_classes):
    X, y = classes(n_classes)
    gram = explicit_kernel(X, X, coef0, degree, gamma)
    expected = KernelRidge(alpha=0.1, kernel="precomputed").fit(gram, signs(y, n_classes)).predict(gram)
    ours = KRidgeClassifier(coef0, degree, gamma, 0.1).fit(X, y)
    np.testing.assert_allclose(ours.outputs(X), expected, rtol=1e-7, atol=1e-7)
    assert (ours.predict(X) == expected.argmax(axis=1)).all()


def bordered_solution(kernel, ridges, targets):
    """Multipliers and offsets from the whole linear system of the least-squares support vector machine."""
    n = len(kernel)
    system = np.ones((n + 1, n + 1))
    system[0, 0] = 0.0
    system[1:, 1:] = kernel + np.diag(np.broadcast_to(ridges, n))
    solution = np.linalg.solve(system, np.vstack([np.zeros((1, targets.shape[1])), targets]))
    return solution[1:], solution[0]


@each_kernel
def test_lssvm_for_numbers_solves_its_system(coef0, degree, gamma):
    X, y = numbers()
    new = numbers(20, seed=1)[0]
    multipliers, offset = bordered_solution(explicit_kernel(X, X, coef0, degree, gamma), 0.05, y[:, None])
    expected = explicit_kernel(new, X, coef0, degree, gamma) @ multipliers[:, 0] + offset
    ours = LSSVMRegressor(coef0, degree, gamma, 0.05).fit(X, y).predict(new)
    np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_lssvm_for_classes_solves_its_system(balance, n_classes):
    X, y = classes(n_classes)
    keep = np.r_[np.flatnonzero(y == 0)[:5], np.flatnonzero(y != 0)]
    X, y = X[keep], y[keep]
    counts = np.bincount(y)
    share = counts[y] / len(y) if balance else np.ones(len(y))
    gram = explicit_kernel(X, X, 1, 2, 0.1)
    multipliers, offset = bordered_solution(gram, 0.3 * share, signs(y, n_classes))
    ours = LSSVMClassifier(1, 2, 0.1, 0.3, balance).fit(X, y)
    np.testing.assert_allclose(ours.outputs(X), gram @ multipliers + offset, rtol=1e-8, atol=1e-8)


def test_balance_helps_the_small_class():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(8, 2)) + 1.2])
    y = np.repeat([0, 1], [100, 8])
    plain = LSSVMClassifier(shrinkage=2.0).fit(X, y).predict(X)
    balanced = LSSVMClassifier(shrinkage=2.0, balance=True).fit(X, y).predict(X)
    assert (balanced[y == 1] == 1).sum() > (plain[y == 1] == 1).sum()


def test_lssvm_does_not_mind_an_offset_of_the_target():
    X, y = numbers()
    model = LSSVMRegressor(degree=0, gamma=0.2)
    np.testing.assert_allclose(model.fit(X, y + 1000.0).predict(X), model.fit(X, y).predict(X) + 1000.0, rtol=1e-10)


def numerical_trace(learner, X, y):
    """The sum of the derivatives of fitted values by their own targets, one refit each."""
    base = learner.fit(X, y).predict(X)
    trace = 0.0
    for i in range(len(y)):
        moved = y.copy()
        moved[i] += 1.0
        trace += learner.fit(X, moved).predict(X)[i] - base[i]
    return trace


@pytest.mark.parametrize("learner", [KRidgeRegressor(1, 2, 0.1, 0.5), LSSVMRegressor(1, 2, 0.1, 0.5)])
def test_complexity_is_the_trace_of_the_hat_matrix(learner):
    X, y = numbers(30)
    expected = numerical_trace(learner, X, y)
    assert learner.fit(X, y).complexity() == pytest.approx(expected, rel=1e-6)


def test_gkridge_complexity_is_the_trace_at_its_choice():
    X, y = numbers(30)
    model = GKRidgeRegressor().fit(X, y)
    kernel = np.exp(-model.gamma_ * ((model.rows_[:, None] - model.rows_[None]) ** 2).sum(axis=2))
    multipliers, offset = bordered_solution(kernel, model.ridge_, np.eye(30))
    assert model.complexity() == pytest.approx(np.trace(kernel @ multipliers + offset), rel=1e-8)


def test_balanced_lssvm_complexity_is_its_trace():
    X, y = classes(2)
    model = LSSVMClassifier(1, 1, 0.1, 0.5, True).fit(X, y)
    share = np.bincount(y)[y] / len(y)
    gram = explicit_kernel(X, X, 1, 1, 0.1)
    multipliers, offset = bordered_solution(gram, 0.5 * share, np.eye(len(y)))
    assert model.complexity() == pytest.approx(np.trace(gram @ multipliers + offset), rel=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(3, 25), st.integers(1, 3), st.sampled_from([1e-3, 0.1, 1.0, 30.0]))
@settings(max_examples=25)
def test_virtual_leave_one_out_is_explicit_leave_one_out(seed, n_rows, n_columns, gamma):
    rng = np.random.default_rng(seed)
    X, targets = rng.normal(size=(n_rows, 3)), rng.normal(size=(n_rows, n_columns))
    kernel = Kernel(1, 0, gamma).matrix(X, X)
    ridges = np.array([1e-4, 0.03, 5.0])
    virtual = Spectrum.of(kernel).solve(targets, ridges).leave_one_out()
    for place, ridge in enumerate(ridges):
        for row in range(n_rows):
            others = np.arange(n_rows) != row
            multipliers, offset = bordered_solution(kernel[np.ix_(others, others)], ridge, targets[others])
            explicit = targets[row] - kernel[row, others] @ multipliers - offset
            np.testing.assert_allclose(virtual[row, :, place], explicit, rtol=1e-8, atol=1e-8)


def test_spectrum_solves_the_bordered_system():
    X, y = numbers()
    kernel = Kernel(1, 0, 0.1).matrix(X, X)
    kept = kernel.copy()
    solutions = Spectrum.of(kernel).solve(y[:, None], RIDGES)
    np.testing.assert_array_equal(kernel, kept)
    for place in (0, 10, 20):
        multipliers, offset = bordered_solution(kernel, RIDGES[place], y[:, None])
        np.testing.assert_allclose(solutions.multipliers[:, :, place], multipliers, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(solutions.offsets[:, place], offset, rtol=1e-8)


@pytest.mark.slow
def test_gkridge_chooses_the_least_leave_one_out_error():
    """All widths and ridges, each row left out and refitted."""
    X, y = make_moons(40, noise=0.2, random_state=0)
    targets = np.where(y == 1, 1.0, -1.0)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    typical = np.median(squared[np.triu_indices(40, 1)])
    errors = {}
    for width in WIDTHS:
        kernel = np.exp(-width / typical * squared)
        for ridge in RIDGES[::-1][5:]:  # beyond, a direct solution has no digits left to compare
            total = 0.0
            for row in range(40):
                others = np.arange(40) != row
                multipliers, offset = bordered_solution(kernel[np.ix_(others, others)], ridge, targets[others][:, None])
                total += (targets[row] - kernel[row, others] @ multipliers[:, 0] - offset[0]) ** 2
            errors[width / typical, ridge] = total
    model = GKRidgeClassifier().fit(X, y)
    gamma, ridge = min(errors, key=errors.get)
    assert model.gamma_ * model.scale_**2 == pytest.approx(gamma)
    assert model.ridge_ == pytest.approx(ridge)


def test_gkridge_compares_widths_on_evenly_spaced_rows_of_a_large_table():
    X, y = make_moons(3 * ROWS_FOR_WIDTH, noise=0.2, random_state=0)
    whole, part = GKRidgeClassifier().fit(X, y), GKRidgeClassifier().fit(X[::3], y[::3])
    assert whole.gamma_ * whole.scale_**2 == pytest.approx(part.gamma_ * part.scale_**2)
    assert len(whole.rows_) == len(X)


def test_gkridge_does_not_mind_scale_or_offset_of_the_target():
    X, y = numbers()
    expected = GKRidgeRegressor().fit(X, y).predict(X)
    np.testing.assert_allclose(GKRidgeRegressor().fit(X, 2.0**900 * y).predict(X) / 2.0**900, expected, rtol=1e-12)
    np.testing.assert_allclose(GKRidgeRegressor().fit(X, y - 50.0).predict(X) + 50.0, expected, rtol=1e-6)


def test_gkridge_learns_what_it_should():
    X, y = make_moons(300, noise=0.15, random_state=0)
    assert GKRidgeClassifier().fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.95
    X, y = numbers(300)
    assert GKRidgeRegressor().fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.95


def test_a_ridge_lost_in_rounding_is_raised_to_where_it_counts():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(10, 2)) * 1e5, 3, axis=0)
    y = rng.normal(size=30)
    gram = Kernel(1, 3, 0.0).matrix(X, X)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(gram + 1e-4 * np.eye(30))
    for learner in (KRidgeRegressor(1, 3, 0.0, 1e-4), LSSVMRegressor(1, 3, 0.0, 1e-4)):
        predicted = learner.fit(X, y).predict(X)
        assert ((predicted - y) ** 2).sum() < (y**2).sum()
        np.testing.assert_allclose(predicted, np.repeat(predicted[::3], 3), atol=1e-2)


def test_wrong_parameters_are_named():
    with pytest.raises(ValueError, match="'shrinkage' parameter of KRidgeClassifier must be"):
        KRidgeClassifier(shrinkage=0.0).fit(*classes(2))
