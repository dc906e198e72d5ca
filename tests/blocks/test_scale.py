"""The scalers against scikit-learn's and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.preprocessing import Normalizer, StandardScaler

from msl.blocks.numerics.safe_scaling import mean_and_deviation, range_scaling, standard_columns, unit_range
from msl.blocks.preprocessing.scalers import Normalize, RangeScale, ShiftScale, Standardize

tables = arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.floats(-1e6, 1e6, width=32))
any_tables = arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-1e307, 1e307))


def skewed(n_rows: int = 50, n_columns: int = 6) -> NDArray[np.float64]:
    rng = np.random.default_rng(3)
    return np.exp(rng.normal(size=(n_rows, n_columns))) + 100 * np.arange(n_columns)


@pytest.mark.parametrize("center", [True, False])
def test_standardize_is_the_standard_scaler(center: bool) -> None:
    X = skewed()
    expected = StandardScaler(with_mean=center).fit(X)
    fitted = Standardize(center=center).fit(X)
    new = skewed() + 1.5
    np.testing.assert_allclose(fitted.transform(new), expected.transform(new), rtol=1e-11, atol=1e-11)


def test_what_was_constant_says_nothing_later() -> None:
    X = skewed()
    X[:, 4] = 7.0
    new = skewed()
    assert (Standardize().fit(X).transform(new)[:, 4] == 0.0).all()
    assert np.array_equal(Standardize(center=False).fit(X).transform(new)[:, 4], new[:, 4])


def test_the_scale_of_small_differences_far_from_zero_keeps_its_digits() -> None:
    rng = np.random.default_rng(0)
    noise = np.round(rng.normal(size=(1000, 3)) * 64) / 64
    near, far = Standardize().fit_transform(noise), Standardize().fit_transform(noise + 2.0**40)
    np.testing.assert_allclose(np.diff(far, axis=0), np.diff(near, axis=0), rtol=1e-10, atol=1e-12)


@given(any_tables)
def test_standardized_columns_have_deviation_one_or_zero(X: NDArray[np.float64]) -> None:
    Z = Standardize().fit_transform(X)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-7)
    deviations = Z.std(axis=0)
    constant = range_scaling(X, axis=0).constant[0]
    np.testing.assert_allclose(deviations[~constant], 1.0, rtol=1e-7)
    assert (Z[:, constant] == 0.0).all()


def test_normalize_is_the_normalizer() -> None:
    X = skewed()
    X[3] = 0.0
    np.testing.assert_allclose(Normalize().fit_transform(X), Normalizer().fit_transform(X), rtol=1e-14)


def test_normalize_centres_rows_first() -> None:
    X = skewed()
    centred = X - X.mean(axis=1, keepdims=True)
    expected = Normalizer().fit_transform(centred)
    np.testing.assert_allclose(Normalize(center=True).fit_transform(X), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("center", [True, False])
@given(X=any_tables)
def test_rows_have_length_one_or_zero(center: bool, X: NDArray[np.float64]) -> None:
    Z = Normalize(center=center).fit_transform(X)
    lengths = np.sqrt((Z**2).sum(axis=1))
    zero = range_scaling(X, axis=1).constant[:, 0] if center else ~X.any(axis=1)
    np.testing.assert_allclose(lengths[~zero], 1.0, rtol=1e-12)
    assert (Z[zero] == 0.0).all()


def test_a_row_does_not_depend_on_the_others() -> None:
    X = skewed()
    X[0] *= 1e-250
    X[1] *= 1e250
    for block in (Normalize().fit(X), Normalize(center=True).fit(X)):
        alone = np.vstack([block.transform(row[np.newaxis]) for row in X])
        assert np.array_equal(block.transform(X), alone)


def test_shift_scale_has_one_shift_and_one_scale() -> None:
    X = skewed()
    Z = ShiftScale().fit_transform(X)
    np.testing.assert_allclose(Z, (X - X.min()) / X.std(), rtol=1e-12)
    np.testing.assert_allclose(ShiftScale(take_log=True).fit_transform(X), np.log1p(Z), rtol=1e-12)


def test_the_logarithm_of_smaller_values_than_ever_seen_is_zero() -> None:
    X = skewed()
    block = ShiftScale(take_log=True).fit(X)
    assert (block.transform(X - 1e6) == 0.0).all()
    assert (ShiftScale().fit(X).transform(X - 1e6) < 0.0).all()


def test_range_scale_has_one_shift_and_one_range() -> None:
    X = skewed()
    Z = RangeScale().fit_transform(X)
    np.testing.assert_allclose(Z, (X - X.min()) / (X.max() - X.min()), rtol=1e-12)
    assert (Z.min(), Z.max()) == (0.0, 1.0)
    new = 2 * X
    np.testing.assert_allclose(RangeScale().fit(X).transform(new), (new - X.min()) / np.ptp(X), rtol=1e-12)
    assert (RangeScale().fit(np.full((3, 2), 7.0)).transform([[9.0, 7.0]]) == [[2.0, 0.0]]).all()


def test_the_logarithm_is_taken_of_what_is_shifted_and_scaled() -> None:
    X = skewed()
    Z = (X - X.min()) / np.ptp(X)
    expected = np.log(np.where(Z > 0, Z, 2.0**-52))
    np.testing.assert_allclose(RangeScale(take_log=True).fit_transform(X), expected, rtol=1e-12)


def test_the_logarithm_of_values_as_small_as_the_smallest_is_that_of_the_rounding_of_one() -> None:
    X = skewed()
    block = RangeScale(take_log=True).fit(X)
    assert (block.transform(X - 1e6) == np.log(np.finfo(float).eps)).all()
    assert (RangeScale().fit(X).transform(X - 1e6) < 0.0).all()


@given(tables)
def test_frames_hold_a_range_around_zero(X: NDArray[np.float64]) -> None:
    for axis in (0, 1, None):
        scaling = range_scaling(X, axis=axis)
        Z = scaling.apply(X)
        assert (np.abs(Z) <= scaling.span / 2 * (1 + 1e-12)).all()
        np.testing.assert_allclose(np.ptp(Z, axis=axis, keepdims=True), scaling.span, rtol=1e-9)


@given(tables, st.integers(-900, 900))
def test_frames_do_not_change_with_powers_of_two(X: NDArray[np.float64], exponent: int) -> None:
    # Values below 1e-30 would leave the normal numbers on their way.
    X = np.where(np.abs(X) < 1e-30, 0.0, X)
    assert np.array_equal(unit_range(X), unit_range(np.ldexp(X, exponent)))
    assert np.array_equal(standard_columns(X), standard_columns(np.ldexp(X, exponent)))


def test_values_that_differ_by_rounding_are_constant() -> None:
    X = np.array([[0.3, 1.0], [0.1 + 0.2, 1.0 + 1e-9], [0.3, 1.0]])
    scaling = range_scaling(X, axis=0)
    assert scaling.constant.tolist() == [[True, False]]
    assert (scaling.apply(X)[:, 0] == 0.0).all()


def test_the_mean_and_deviation_survive_an_outlier() -> None:
    column = np.zeros((100_000, 1))
    column[:: 100_000 // 2, 0] = [1.0, 1e-3]
    scaling = range_scaling(column, axis=0)
    mean, deviation = mean_and_deviation(column, scaling)
    assert mean + scaling.middle == pytest.approx(1.001 / 100_000, rel=1e-9)
    assert deviation == pytest.approx(np.std(column), rel=1e-9)
