"""Radial basis function networks against NumPy's least squares."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.learners.rbf import (
    BASES,
    CentreLayout,
    CentreRegions,
    MultiquadricBasis,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
)
from msl.blocks.numerics.kmeans import k_means


@pytest.mark.slow
@parametrize_with_checks(
    [
        RBFNetworkClassifier(),
        RBFNetworkRegressor(),
        RBFNetworkRegressor("all_rows", ridge=1e-3),
        RBFNetworkClassifier(units=4, basis="thin_plate", ridge=0.1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def curve(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-4, 4, (n, 1))
    return X, 1.1 * (1 - X[:, 0] + 2 * X[:, 0] ** 2) * np.exp(-(X[:, 0] ** 2) / 2)


def explicit_design(X, centers, overlap, name):
    between = cdist(centers, centers)
    np.fill_diagonal(between, np.inf)
    sigma = overlap * 5 * between.min(axis=1)
    v = cdist(X, centers)
    z = {
        "gaussian": lambda: np.exp(-(v**2) / sigma**2),
        "thin_plate": lambda: v**2 * np.log(np.maximum(v, 1e-300)),
        "multiquadric": lambda: np.sqrt(v**2 + sigma**2),
        "inverse_multiquadric": lambda: 1 / np.sqrt(v**2 + sigma**2),
    }[name]()
    return np.hstack([np.ones((len(X), 1)), z])


@pytest.mark.parametrize("name", BASES)
def test_least_squares_on_kmeans_centres(name):
    X, y = curve()
    T = np.linspace(-4, 4, 50)[:, None]
    centers = k_means(X, 8, np.random.default_rng(2)).centroids
    weights = np.linalg.lstsq(explicit_design(X, centers, 0.2, name), y, rcond=None)[0]
    network = RBFNetworkRegressor(units=8, overlap=0.2, basis=name, random_state=2).fit(X, y)
    np.testing.assert_allclose(network.predict(T), explicit_design(T, centers, 0.2, name) @ weights, rtol=1e-6)


def test_classes_are_fitted_one_by_one():
    X, y = load_iris(return_X_y=True)
    network = RBFNetworkClassifier(units=10, overlap=0.3).fit(X, y)
    centers = k_means(X, 10, np.random.default_rng(0)).centroids
    design = explicit_design(X, centers, 0.3, "gaussian")
    for code in range(3):
        weights = np.linalg.lstsq(design, (y == code).astype(float), rcond=None)[0]
        np.testing.assert_allclose(network.outputs(X)[:, code], design @ weights, atol=1e-8)
    assert network.score(X, y) > 0.95


@pytest.mark.parametrize("ridge", [1e-3, 0.5, 10.0])
def test_ridge_by_its_normal_equations(ridge):
    X, y = curve()
    centers = k_means(X, 8, np.random.default_rng(0)).centroids
    Z = explicit_design(X, centers, 0.2, "gaussian")
    weights = np.linalg.solve(Z.T @ Z + ridge * np.eye(9), Z.T @ (y - y.mean()))
    network = RBFNetworkRegressor(units=8, overlap=0.2, ridge=ridge).fit(X, y)
    np.testing.assert_allclose(network.predict(X), Z @ weights + y.mean(), rtol=1e-9)


def test_a_ridge_pulls_to_the_mean_not_to_zero():
    X, y = curve()
    plain = RBFNetworkRegressor(units=8, ridge=1.0).fit(X, y).predict(X)
    shifted = RBFNetworkRegressor(units=8, ridge=1.0).fit(X, y + 1e6).predict(X)
    np.testing.assert_allclose(shifted - 1e6, plain, atol=1e-6)


def test_centres_lie_in_the_boxes_of_their_regions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    low, high = CentreLayout.of(X).regions.boxes(3)
    ordered = np.unique(X, axis=0)
    clusters = k_means(ordered, 3, np.random.default_rng(0))
    for region in range(3):
        rows = ordered[clusters.labels == region]
        np.testing.assert_array_equal(low[region], rows.min(axis=0))
        np.testing.assert_array_equal(high[region], rows.max(axis=0))
    network = RBFNetworkRegressor([[0.0, 0.25], None, [1.0, 0.5]]).fit(X, y)
    expected = [low[0] + [0, 0.25] * (high[0] - low[0]), low[2] + [1, 0.5] * (high[2] - low[2])]
    np.testing.assert_allclose(network.centers_, expected)
    assert network.complexity() == 2


def test_regions_do_not_depend_on_the_seed():
    X, y = curve()
    centers = [[0.3], None, [0.9], [0.5]]
    first, second = (RBFNetworkRegressor(centers, random_state=seed).fit(X, y).predict(X) for seed in (1, 2))
    np.testing.assert_array_equal(first, second)


def test_one_unit_always_stays():
    X, y = curve()
    network = RBFNetworkRegressor([None, None, None]).fit(X, y)
    low, high = CentreLayout.of(X).regions.boxes(3)
    np.testing.assert_allclose(network.centers_, (low[:1] + high[:1]) / 2)
    spread = np.sqrt(np.mean((X - network.centers_) ** 2))
    np.testing.assert_allclose(network.widths_, 0.5 * 5 * spread)


def test_equal_centres_look_past_each_other():
    X, y = curve()
    network = RBFNetworkRegressor([[0.5], [0.0]]).fit(X, y)
    distance = abs(network.centers_[0, 0] - network.centers_[1, 0])
    np.testing.assert_allclose(network.widths_, 2.5 * distance)
    X = np.array([[0.0], [0.0], [4.0], [4.0]])
    again = RBFNetworkRegressor([[0.5]] * 5).fit(X, np.arange(4.0))
    np.testing.assert_allclose(again.widths_, 2.5 * 4)
    assert np.all(np.isfinite(again.predict(X)))


def test_all_rows_interpolate():
    X, y = curve(20)
    np.testing.assert_allclose(RBFNetworkRegressor("all_rows", overlap=0.1).fit(X, y).predict(X), y, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("overlap", [0.0, 1.0])
@pytest.mark.parametrize("centers", ["kmeans", "all_rows", [[0.2, 0.2, 0.2], None, [1.0, 1.0, 1.0]]])
@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_degenerate_tables_give_finite_numbers(name, overlap, centers, scale):
    rng = np.random.default_rng(0)
    tables = [
        np.ones((12, 3)),
        np.repeat(rng.normal(size=(3, 3)), 4, axis=0),
        rng.normal(size=(12, 3)) * [1, 0, 1],
        rng.normal(size=(2, 3)),
    ]
    for X in tables:
        X = X * scale
        Q = np.vstack([X, X * 5, np.zeros((1, 3))])
        y = rng.normal(size=len(X))
        classes = np.arange(len(X)) % 2
        assert np.all(np.isfinite(RBFNetworkRegressor(centers, overlap, name).fit(X, y).predict(Q)))
        network = RBFNetworkClassifier(centers, overlap, name, ridge=0.1)
        network.fit_arrays(X, classes, 5)
        outputs = network.outputs(Q)
        assert outputs.shape == (len(Q), 5)
        assert np.all(np.isfinite(outputs))


@pytest.mark.parametrize("name", ["gaussian", "multiquadric", "inverse_multiquadric"])
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scale_does_not_matter(name, scale):
    X, y = curve(30)
    plain = RBFNetworkRegressor(units=5, basis=name, overlap=0.2).fit(X, y).predict(X)
    scaled = RBFNetworkRegressor(units=5, basis=name, overlap=0.2).fit(X * scale, y).predict(X * scale)
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)


def test_siblings_share_the_layout():
    X, y = curve()
    prepared = RBFNetworkRegressor().prepare(X, y, 0)
    for network in (
        RBFNetworkRegressor([[0.5], None, [0.1]]),
        RBFNetworkRegressor(units=3, basis=MultiquadricBasis()),
        RBFNetworkRegressor(units=3, random_state=4),
        RBFNetworkRegressor("all_rows", ridge=1.0),
    ):
        network.fit_prepared(prepared, X, y, 0)
        together = network.outputs(X)
        np.testing.assert_array_equal(together, network.fit(X, y).predict(X))


@pytest.mark.parametrize("centers", [[], [[0.5, 0.5]], [[0.5], [0.1, 0.2]], [["a"]], [0.5], [[[0.5]]]])
def test_wrong_centres_are_explained(centers):
    X, y = curve()
    with pytest.raises(ValueError, match="centers must"):
        RBFNetworkRegressor(centers).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "name"), [({"centers": "grid"}, "centers"), ({"units": 0}, "units"), ({"ridge": -1.0}, "ridge")]
)
def test_parameters_out_of_range_are_named(parameters, name):
    with pytest.raises(ValueError, match=name):
        RBFNetworkRegressor(**parameters).fit(*curve())


def test_regions_depend_neither_on_the_order_of_rows_nor_on_how_often_one_comes():
    X = np.random.default_rng(3).normal(size=(30, 2))
    shuffled = np.random.default_rng(4).permutation(np.repeat(X, 2, axis=0))
    for one, other in zip(CentreRegions.of(X).boxes(4), CentreRegions.of(shuffled).boxes(4), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_network_in_the_regions_of_a_table_has_the_same_centres_on_any_part_of_it():
    X, y = curve()
    network = RBFNetworkRegressor([[0.2], None, [0.7], [0.5]])
    whole = network.fit(X, y).centers_
    regions = network.fit_coordinates(X)
    part = slice(None, None, 3)
    network.fit_prepared(network.prepare_with(regions, X[part], y[part], 0), X[part], y[part], 0)
    np.testing.assert_array_equal(network.centers_, whole)
    network.fit_arrays(X[part], y[part], 0)
    assert not np.array_equal(network.centers_, whole), "left to itself it has the regions of its own rows"
