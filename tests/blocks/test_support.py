"""The support vector classifier against scikit-learn's on the kernel with the ridge, and against its conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import svm
from sklearn.datasets import load_iris, make_classification, make_moons

from msl.blocks.kernels.kernel_machine import Kernel
from msl.blocks.kernels.svm import SVC, widest_margin

KERNELS = [(1, 1, 1e-4), (0, 1, 0.1), (1, 2, 0.1), (1, 3, 1.0), (1, 1, 100.0)]


def reference(gram, y, shrinkage):
    """A hard margin on the kernel with its ridge, to as many digits as libsvm's single precision gives."""
    ridged = gram + shrinkage * np.eye(len(gram))
    return svm.SVC(C=1e10, kernel="precomputed", tol=1e-6, break_ties=True, decision_function_shape="ovr").fit(
        ridged, y
    )


@pytest.fixture(params=["libsvm", "newton"])
def solver(request, monkeypatch):
    """Each of the two solvers alone."""
    monkeypatch.setattr("msl.blocks.kernels.svm.STEPS_A_ROW", 0)
    monkeypatch.setattr("msl.blocks.kernels.svm.STEPS", 0 if request.param == "newton" else 10_000_000)


def test_the_solvers_take_turns(monkeypatch):
    """Few steps are allowed: they do where the rows are easy to tell apart, and Newton's method where they are not."""
    used = []
    monkeypatch.setattr(
        "msl.blocks.kernels.svm.widest_margin", lambda *args: used.append("newton") or widest_margin(*args)
    )
    X, y = load_iris(return_X_y=True)
    SVC(gamma=1.0, shrinkage=1.0).fit(X, y)
    assert not used
    noisy = np.random.default_rng(0).integers(2, size=len(X))
    SVC(gamma=1e-3, shrinkage=1e-4).fit(X, noisy)
    assert used == ["newton"]


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize(("coef0", "degree", "gamma"), KERNELS)
@pytest.mark.parametrize("shrinkage", [0.05, 2.0])
def test_two_classes_are_scikit_learns(coef0, degree, gamma, shrinkage):
    X, y = make_moons(80, noise=0.3, random_state=0)
    new = make_moons(30, noise=0.3, random_state=1)[0]
    kernel = Kernel(coef0, degree, gamma)
    expected = reference(kernel.matrix(X, X), y, shrinkage).decision_function(kernel.matrix(new, X))
    ours = SVC(coef0, degree, gamma, shrinkage).fit(X, y)
    np.testing.assert_allclose(ours.outputs(new)[:, 1], expected, rtol=1e-3, atol=2e-3)
    np.testing.assert_array_equal(ours.outputs(new)[:, 0], -ours.outputs(new)[:, 1])


@pytest.mark.usefixtures("solver")
def test_support_vectors_are_scikit_learns():
    X, y = make_moons(80, noise=0.3, random_state=0)
    model = SVC(gamma=1.0, shrinkage=0.1).fit(X, y)
    expected = reference(Kernel(1, 1, 1.0).matrix(X, X), y, 0.1).support_
    assert set(np.flatnonzero(model.dual_coef_[:, 0])) == set(expected)
    assert model.complexity() == len(expected)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("n_classes", [3, 5])
def test_more_classes_are_scikit_learns_pairs(n_classes):
    X, y = make_classification(120, 6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=0)
    kernel = Kernel(1, 1, 0.1)
    theirs = reference(kernel.matrix(X, X), y, 0.1)
    ours = SVC(gamma=0.1, shrinkage=0.1).fit(X, y)
    margins = kernel.matrix(X, X) @ ours.dual_coef_ + ours.intercept_
    theirs.decision_function_shape = "ovo"
    np.testing.assert_allclose(margins, theirs.decision_function(kernel.matrix(X, X)), rtol=1e-3, atol=2e-3)
    theirs.decision_function_shape = "ovr"
    np.testing.assert_allclose(ours.outputs(X), theirs.decision_function(kernel.matrix(X, X)), rtol=1e-3, atol=2e-3)
    assert (ours.predict(X) == theirs.predict(kernel.matrix(X, X))).all()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 60),
    st.integers(1, 3),
    st.floats(-4, 2).map(lambda exponent: 10.0**exponent),
    st.floats(-4, 0.3).map(lambda exponent: 10.0**exponent),
)
@settings(max_examples=150)
def test_the_conditions_of_the_optimum_hold(seed, n_rows, degree, gamma, ridge):
    """Only rows that fall short of the margin have multipliers, as large as the shortfall over the ridge."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    signs = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    kernel = Kernel(1, degree, gamma).matrix(X, X)
    margin = widest_margin(kernel, signs, ridge)
    np.testing.assert_allclose(margin.values, kernel @ margin.multipliers + margin.offset, atol=1e-6)
    shortfall = np.maximum(1.0 - signs * margin.values, 0.0)
    np.testing.assert_allclose(ridge * margin.multipliers * signs, shortfall, atol=1e-6)
    assert abs(margin.multipliers.sum()) * ridge < 1e-6


@pytest.mark.usefixtures("solver")
def test_the_margin_is_hard_where_the_ridge_is_small():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    model = SVC(degree=1, gamma=1e-4, shrinkage=1e-4).fit(X, y)
    margins = np.where(y == 1, 1.0, -1.0) * model.outputs(X)[:, 1]
    assert margins.min() > 0.99
    assert model.complexity() < 10


def test_a_large_margin_beats_noise_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 100))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, 3.0, -3.0)
    assert SVC(gamma=1e-4, shrinkage=1.0).fit(X[:30], y[:30]).score(X[30:], y[30:]) > 0.8


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("shrinkage", [1e-4, 2.0])
def test_contradicting_duplicates_get_no_margin(shrinkage):
    X = np.zeros((4, 1))
    outputs = SVC(shrinkage=shrinkage).fit(X, [0, 1, 0, 1]).outputs(X)
    np.testing.assert_allclose(outputs, 0.0, atol=1e-9)
