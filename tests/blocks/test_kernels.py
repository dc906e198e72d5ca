"""The kernel against its formula, and the magnitudes that it refuses or survives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from msl.blocks.kernels.kernel_machine import Kernel, gaussian, median_squared_distance, squared_distances
from msl.blocks.numerics.safe_scaling import LARGEST_FEATURE, reject_huge, unit_scale

ordinary = st.floats(-100, 100, allow_subnormal=False)
tables = arrays(np.float64, st.tuples(st.integers(1, 8), st.just(3)), elements=ordinary)


@pytest.mark.parametrize("coef0", [0, 1])
@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("gamma", [0.0, 0.01, 3.0])
def test_kernel_is_its_formula(coef0, degree, gamma):
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(7, 4)), rng.normal(size=(5, 4))
    values = Kernel(coef0, degree, gamma).matrix(X, Z)
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            expected = (coef0 + x @ z) ** degree * np.exp(-gamma * ((x - z) ** 2).sum())
            assert values[i, j] == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_kernel_is_the_product_of_scikit_learns():
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(40, 6)), rng.normal(size=(30, 6))
    expected = polynomial_kernel(X, Z, degree=2, gamma=1, coef0=1) * rbf_kernel(X, Z, gamma=0.2)
    np.testing.assert_allclose(Kernel(1, 2, 0.2).matrix(X, Z), expected, rtol=1e-12)


@given(X=tables, Z=tables)
@settings(max_examples=60)
def test_distances_match_scipy(X, Z):
    size = max(1.0, np.abs(X).max(), np.abs(Z).max())
    np.testing.assert_allclose(squared_distances(X, Z), cdist(X, Z, "sqeuclidean"), atol=1e-13 * size**2)
    own = squared_distances(X, X)
    np.testing.assert_allclose(own, cdist(X, X, "sqeuclidean"), atol=1e-13 * size**2)
    np.testing.assert_allclose(own, own.T, atol=1e-13 * size**2)
    assert (own.diagonal() == 0.0).all()
    assert (own >= 0.0).all()


@given(X=tables, coef0=st.integers(0, 1), degree=st.integers(0, 3), gamma=st.floats(0, 10))
@settings(max_examples=60)
def test_kernel_is_positive_semidefinite(X, coef0, degree, gamma):
    values = Kernel(coef0, degree, gamma).matrix(X, X)
    assert np.linalg.eigvalsh(values).min() >= -1e-12 * max(1.0, np.abs(values).max()) * len(X)


def test_an_offset_costs_no_digits_of_the_distances():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 3))
    np.testing.assert_allclose(Kernel(1, 0, 1.0).matrix(X + 1e5, X + 1e5), Kernel(1, 0, 1.0).matrix(X, X), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_a_gaussian_knows_equal_rows_on_any_scale(scale):
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, -1.0]]) * scale
    expected = [[1, 1, 0], [1, 1, 0], [0, 0, 1]] if scale > 1 else np.ones((3, 3))
    np.testing.assert_array_equal(Kernel(1, 0, 2.0).matrix(X, X), expected)
    np.testing.assert_array_equal(Kernel(1, 0, 2.0).matrix(X.copy(), X)[2], expected[2])


def test_rows_beyond_squaring_are_infinitely_far():
    near, far = np.zeros((2, 3)), np.full((1, 3), 1e300)
    assert (squared_distances(far, near) == np.inf).all()
    assert (Kernel(1, 0, 1.0).matrix(far, near) == 0.0).all()


@pytest.mark.parametrize(("degree", "size"), [(1, 1e80), (3, 1e40)])
def test_a_polynomial_that_overflows_is_refused(degree, size):
    X = np.full((2, 2), size)
    with pytest.raises(ValueError, match=r"overflows with features as large as 1e\+\d+; standardize"):
        Kernel(1, degree, 0.0).matrix(X, X)


def test_vanishing_values_are_nothing_at_all():
    distances = np.array([[0.0, 99.0, 101.0, np.inf]])
    np.testing.assert_array_equal(gaussian(distances, 1.0), [[1.0, np.exp(-99.0), 0.0, 0.0]])


def test_the_median_distance_is_over_pairs_and_never_zero():
    X = np.array([[0.0], [1.0], [3.0]])
    assert median_squared_distance(squared_distances(X, X)) == pytest.approx(4.0)
    mostly_equal = np.array([[0.0], [0.0], [0.0], [2.0]])
    assert median_squared_distance(squared_distances(mostly_equal, mostly_equal)) == pytest.approx(2.0)
    assert median_squared_distance(np.zeros((3, 3))) == 1.0
    assert median_squared_distance(np.zeros((1, 1))) == 1.0


@given(arrays(np.float64, (4, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
@settings(max_examples=200)
def test_unit_scale_is_a_power_of_two_that_brings_numbers_near_one(X):
    for axis in (None, 0):
        scale = np.atleast_1d(unit_scale(X, axis=axis))
        mantissa, _ = np.frexp(scale)
        assert (mantissa == 0.5).all()
        assert np.isfinite(1.0 / scale).all()
        largest = np.atleast_1d(np.abs(X).max(axis=axis))
        normal = largest > 1e-300
        scaled = (largest * scale)[normal]
        assert ((scaled >= 0.5) & (scaled < (1.0 if largest.max() < 1e307 else 4.0))).all()
        assert (largest * scale < 4.0).all()


def test_huge_features_are_refused_by_name():
    reject_huge(np.array([[LARGEST_FEATURE]]), "Someone")
    with pytest.raises(ValueError, match=r"Someone cannot work with features as large as 1e\+200: .* standardize"):
        reject_huge(np.array([[1.0, -1e200]]), "Someone")
