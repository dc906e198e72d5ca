"""The metric: features chosen, weighted, and symbols beside numbers."""

import numpy as np
import pytest

from msl.blocks.similarity.distances import DISTANCES, Canberra, Chebyshev, Difference, Euclidean, Minkowski, Overlap
from msl.blocks.similarity.fitted_distance import feature_importance, fit_metric


def metric_on(X, distance, importance, symbolic=()):
    return fit_metric(X, np.zeros(len(X), dtype=int), 1, distance, importance, Difference(), Overlap(), symbolic)


def mixed_table():
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=12), rng.integers(0, 3, 12), rng.normal(size=12), rng.integers(0, 2, 12)])


@pytest.mark.parametrize("distance", [Euclidean(), Minkowski(3.0)], ids=repr)
def test_symbols_beside_numbers(distance):
    X, weights = mixed_table(), np.array([0.5, 0.3, 1.0, 0.9])
    metric = metric_on(X, distance, weights, (1, 3))
    placed = metric.place(X)
    gaps = np.abs(X[:, None] - X[None])
    gaps[:, :, [1, 3]] = X[:, None, [1, 3]] != X[None, :, [1, 3]]
    power = distance.power
    np.testing.assert_allclose(metric.powers(placed, placed), (weights * gaps**power).sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(
        metric.lengths(metric.powers(placed, placed)), (weights * gaps**power).sum(axis=2) ** (1 / power), rtol=1e-12
    )


def test_symbols_in_chebyshev_and_canberra():
    X, weights = mixed_table(), np.array([0.5, 0.3, 1.0, 0.9])
    differ = X[:, None, [1, 3]] != X[None, :, [1, 3]]
    numbers = np.abs(X[:, None, [0, 2]] - X[None, :, [0, 2]])
    sizes = np.abs(X[:, None, [0, 2]]) + np.abs(X[None, :, [0, 2]])
    largest = metric_on(X, Chebyshev(), weights, (1, 3))
    expected = np.concatenate([numbers * weights[[0, 2]], differ * weights[[1, 3]]], axis=2).max(axis=2)
    np.testing.assert_allclose(largest.powers(largest.place(X), largest.place(X)), expected, rtol=1e-12)
    canberra = metric_on(X, Canberra(), weights, (1, 3))
    expected = (numbers / sizes * weights[[0, 2]]).sum(axis=2) + (differ * weights[[1, 3]]).sum(axis=2)
    np.testing.assert_allclose(canberra.powers(canberra.place(X), canberra.place(X)), expected, rtol=1e-12)


def test_tiny_numbers_do_not_outweigh_symbols():
    X = np.array([[1e-300, 0.0], [2e-300, 0.0], [1e-300, 1.0]])
    metric = metric_on(X, Euclidean(), np.ones(2), (1,))
    powers = metric.powers(metric.place(X), metric.place(X))
    np.testing.assert_allclose(metric.lengths(powers), [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-12)


@pytest.mark.parametrize("name", ["angle", "mahalanobis"])
def test_distances_of_numbers_refuse_symbols(name):
    with pytest.raises(ValueError, match="turn the symbols into numbers"):
        metric_on(mixed_table(), DISTANCES[name](), np.ones(4), (1,))


def test_columns_without_weight_take_no_part():
    X = mixed_table()
    metric = metric_on(X, Euclidean(), np.array([0.0, 0.0, 1.0, 0.0]), (1, 3))
    assert metric.n_features == 1
    np.testing.assert_allclose(
        metric.lengths(metric.powers(metric.place(X), metric.place(X))), np.abs(np.subtract.outer(X[:, 2], X[:, 2]))
    )


@pytest.mark.parametrize("name", DISTANCES)
def test_no_feature_at_all_means_no_distance(name):
    X = mixed_table()
    metric = metric_on(X, DISTANCES[name](), np.zeros(4))
    assert np.all(metric.powers(metric.place(X), metric.place(X)) == 0)


def test_importance_joins_mask_and_weights():
    assert feature_importance(None, None, 3).tolist() == [1, 1, 1]
    assert feature_importance([True, False, True], [0.5, 0.7, 0.0], 3).tolist() == [0.5, 0, 0]
    assert feature_importance([1, 0, 1], None, 3).tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("features", "weights", "message"),
    [
        ([True], None, "features must hold one truth value"),
        (None, [1.0, 2.0], "weights must hold one number"),
        (None, [1.0, -1.0, 0.0], "at least 0"),
        (None, [1.0, np.nan, 0.0], "finite"),
    ],
)
def test_wrong_masks_and_weights_are_explained(features, weights, message):
    with pytest.raises(ValueError, match=message):
        feature_importance(features, weights, 3)
