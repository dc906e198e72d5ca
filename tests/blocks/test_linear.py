"""Zarbi by hand."""

from __future__ import annotations

import numpy as np
import pytest

from msl.blocks.learners.zarbi import LARGEST_WEIGHT, Zarbi


def test_two_classes_by_hand():
    X = np.array([[0.0, 1.0], [2.0, 1.0], [5.0, 4.0], [9.0, 0.0]])
    y = np.array(["no", "no", "yes", "yes"])
    # no: means (1, 1), deviations (1, 0); yes: means (7, 2), deviations (2, 2)
    weights = np.array([6 / 3, 1 / 2])
    middle = np.array([4.0, 1.5])
    model = Zarbi().fit(X, y)
    new = np.array([[3.0, 3.0], [4.0, 1.5], [10.0, 10.0]])
    expected = (new - middle) @ weights
    np.testing.assert_allclose(model.outputs(new), np.column_stack([-expected, expected]), rtol=1e-14)
    np.testing.assert_allclose(model.decision_function(new), 2 * expected, rtol=1e-14)
    assert model.predict(new).tolist() == ["no", "no", "yes"]
    assert model.complexity() == 2.0


def test_more_classes_are_each_set_against_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) + 10.0
    y = np.arange(30) % 3
    outputs = Zarbi().fit(X, y).outputs(X)
    for code in range(3):
        ours, rest = X[y == code], X[y != code]
        weights = (ours.mean(axis=0) - rest.mean(axis=0)) / (ours.std(axis=0) + rest.std(axis=0))
        expected = (X - (ours.mean(axis=0) + rest.mean(axis=0)) / 2) @ weights
        np.testing.assert_allclose(outputs[:, code], expected, rtol=1e-12, atol=1e-12)


def test_a_feature_constant_within_classes_weighs_much_but_finitely():
    X = np.array([[0.1, 1.0], [0.1, 2.0], [0.3, 1.5], [0.3, 2.0]])
    model = Zarbi().fit(X, [0, 0, 1, 1])
    assert model.coef_[0, 0] == pytest.approx(LARGEST_WEIGHT)
    assert model.predict([[0.29, 0.0], [0.11, 9.0]]).tolist() == [1, 0]


def test_a_constant_feature_weighs_nothing():
    X = np.column_stack([np.full(9, 0.1), np.arange(9.0)])
    model = Zarbi().fit(X, np.arange(9) // 5)
    assert model.coef_[0, 0] == 0.0
    assert model.predict([[1e9, 0.0], [-1e9, 8.0]]).tolist() == [0, 1]


def test_tiny_numbers_keep_their_signal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = (X[:, 0] > 0).astype(int)
    np.testing.assert_array_equal(Zarbi().fit(X * 2.0**-900, y).coef_, Zarbi().fit(X, y).coef_)
