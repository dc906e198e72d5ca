"""Generalised cross-validation of many networks against explicit hat matrices and refits."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from msl.blocks.learners.rbf import BASES, RBFNetworkClassifier, RBFNetworkRegressor
from msl.blocks.learners.rbf_batch import NetworkBatch, batch_gcv, design_gcv


def curve(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-4, 4, (n, 1))
    noise = rng.normal(size=n) * 0.1
    return X, 1.1 * (1 - X[:, 0] + 2 * X[:, 0] ** 2) * np.exp(-(X[:, 0] ** 2) / 2) + noise


def population(n, n_regions=15, n_features=1, seed=0, share_on=0.6):
    """Networks as a search makes them: any units on, any overlap."""
    rng = np.random.default_rng(seed)
    networks = []
    for _ in range(n):
        centers = [rng.random(n_features).tolist() if rng.random() < share_on else None for _ in range(n_regions)]
        networks.append(RBFNetworkRegressor(centers, overlap=rng.random()))
    return networks


def explicit_gcv(Z, targets, ridge):
    """(1/p)|(I - A) y|² / ((1/p) tr(I - A))² with the hat matrix A written out."""
    rows = len(Z)
    inverse = np.linalg.pinv(Z) if ridge == 0 else np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T)
    rest = np.eye(rows) - Z @ inverse
    return np.square(rest @ targets).sum() / rows / (np.trace(rest) / rows) ** 2


@pytest.mark.slow
@pytest.mark.parametrize("share_on", [0.6, 1.0])
def test_random_populations_by_loop_over_lstsq(share_on):
    X, y = curve()
    networks = population(60, share_on=share_on)
    scores = NetworkBatch(X, y, 0).gcv(networks)
    for network, score in zip(networks, scores, strict=True):
        network.fit(X, y)
        squares = cdist(X, network.centers_, "sqeuclidean")
        Z = np.hstack([np.ones((40, 1)), np.exp(-squares / network.widths_**2)])
        weights, _, rank, _ = np.linalg.lstsq(Z, y, rcond=None)
        assert score == pytest.approx(40 * np.sum((y - Z @ weights) ** 2) / (40 - rank) ** 2, rel=1e-9)
        np.testing.assert_allclose(network.predict(X), Z @ weights, atol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 1e-6, 0.1, 10.0])
@pytest.mark.parametrize("name", BASES)
def test_hat_matrix_written_out(ridge, name):
    X, y = curve(30)
    y = y - y.mean()
    rng = np.random.default_rng(1)
    centers, overlaps = rng.uniform(-4, 4, (7, 4, 1)), rng.uniform(0.05, 0.3, 7)
    scores = batch_gcv(X, y[:, None], centers, overlaps, BASES[name](), ridge)
    for place in range(7):
        between = cdist(centers[place], centers[place])
        np.fill_diagonal(between, np.inf)
        widths = overlaps[place] * 5 * between.min(axis=1)
        Z = np.hstack([np.ones((30, 1)), BASES[name]().values(cdist(X, centers[place]) ** 2, widths)])
        assert scores[place] == pytest.approx(explicit_gcv(Z, y[:, None], ridge), rel=1e-8)


def test_several_outputs_are_summed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    networks = [RBFNetworkClassifier(units=units) for units in (1, 4, 9)]
    scores = NetworkBatch(X, y, 3).gcv(networks)
    for network, score in zip(networks, scores, strict=True):
        network.fit(X, y)
        errors = np.square(network.outputs(X) - np.eye(3)[y]).sum()
        units = network.complexity()
        assert score == pytest.approx(30 * errors / (30 - units - 1) ** 2, rel=1e-9)


def test_networks_of_all_kinds_at_once():
    X, y = curve()
    networks = [
        RBFNetworkRegressor(units=4, basis="multiquadric"),
        RBFNetworkRegressor([[0.5], None, [0.2]], ridge=0.1),
        RBFNetworkRegressor(units=4, ridge=0.1, basis="thin_plate"),
        RBFNetworkRegressor([None] * 4),
        RBFNetworkRegressor("all_rows"),
    ]
    together = NetworkBatch(X, y, 0).gcv(networks)
    alone = [NetworkBatch(X, y, 0).gcv([network])[0] for network in networks]
    np.testing.assert_array_equal(together, alone)


def test_dependent_columns_count_once():
    X, y = curve(20)
    responses = np.stack([np.hstack([X, X**2, X + X**2]), np.hstack([X, X**2, X**3])])
    scores = design_gcv(responses, (y - y.mean())[:, None], 0.0)
    for place in range(2):
        Z = np.hstack([np.ones((20, 1)), responses[place]])
        assert scores[place] == pytest.approx(explicit_gcv(Z, (y - y.mean())[:, None], 0.0), rel=1e-9)


def test_almost_dependent_columns_count_as_lstsq_counts_them():
    X, y = curve(20)
    y = y - y.mean()
    other = np.random.default_rng(5).normal(size=(20, 1))
    for difference, rank in ((1e-9, 3), (1e-17, 2)):
        responses = np.hstack([X, X + difference * other])
        Z = np.hstack([np.ones((20, 1)), responses])
        weights, _, found, _ = np.linalg.lstsq(Z, y, rcond=None)
        assert found == rank
        expected = 20 * np.sum((y - Z @ weights) ** 2) / (20 - rank) ** 2
        assert design_gcv(responses[None], y[:, None], 0.0)[0] == pytest.approx(expected, rel=1e-5)


def test_nothing_left_to_judge_by_is_infinite():
    X, y = curve(6)
    assert NetworkBatch(X, y, 0).gcv([RBFNetworkRegressor("all_rows", overlap=0.01)])[0] == np.inf


def test_more_columns_than_rows_with_a_ridge():
    X, y = curve(6)
    network = RBFNetworkRegressor("all_rows", overlap=0.1, ridge=0.3)
    score = NetworkBatch(X, y, 0).gcv([network])[0]
    network.fit(X, y)
    squares = cdist(X, network.centers_, "sqeuclidean")
    Z = np.hstack([np.ones((6, 1)), np.exp(-squares / network.widths_**2)])
    assert score == pytest.approx(explicit_gcv(Z, (y - y.mean())[:, None], 0.3), rel=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("basis", BASES)
def test_a_score_does_not_depend_on_the_other_networks(ridge, basis):
    X, y = curve(200)
    networks = population(150, n_regions=4, seed=3, share_on=0.4)
    for network in networks:
        network.set_params(ridge=ridge, basis=basis)
    batch = NetworkBatch(X, y, 0)
    whole = batch.gcv(networks)
    np.testing.assert_array_equal(whole, [batch.gcv([network])[0] for network in networks])
