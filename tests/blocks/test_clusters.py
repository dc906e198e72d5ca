"""k-means against scikit-learn and its own conditions."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from msl.blocks.numerics.kmeans import k_means, spread_rows


@pytest.mark.parametrize("seed", range(4))
def test_it_ends_where_lloyd_ends_from_the_same_start(seed):
    X = np.random.default_rng(seed).normal(size=(120, 3))
    start = X[spread_rows(X, 6, np.random.default_rng(seed))]
    ours = k_means(X, 6, np.random.default_rng(seed))
    theirs = KMeans(6, init=start, n_init=1, algorithm="lloyd", tol=0).fit(X)
    np.testing.assert_array_equal(ours.labels, theirs.labels_)
    np.testing.assert_allclose(ours.centroids, theirs.cluster_centers_, rtol=1e-9)


def test_rows_are_nearest_to_their_own_centroid():
    X = np.random.default_rng(0).normal(size=(200, 2))
    clusters = k_means(X, 7, np.random.default_rng(1))
    np.testing.assert_array_equal(cdist(X, clusters.centroids).argmin(axis=1), clusters.labels)
    for label in range(7):
        np.testing.assert_allclose(clusters.centroids[label], X[clusters.labels == label].mean(axis=0))


def test_separated_groups_are_found():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)) + shift for shift in ([0, 0], [100, 0], [0, 100])])
    labels = k_means(X, 3, rng).labels.reshape(3, 30)
    assert len({int(group[0]) for group in labels}) == 3
    assert np.all(labels == labels[:, :1])


def test_equal_rows_make_fewer_clusters_and_none_is_empty():
    X = np.repeat(np.array([[0.0], [1.0], [5.0]]), 4, axis=0)
    clusters = k_means(X, 8, np.random.default_rng(0))
    assert sorted(clusters.centroids[:, 0].tolist()) == [0, 1, 5]
    assert set(clusters.labels.tolist()) == {0, 1, 2}


def test_more_clusters_than_rows_are_one_for_each_row():
    X = np.arange(4.0)[:, None]
    assert sorted(k_means(X, 9, np.random.default_rng(0)).centroids[:, 0].tolist()) == [0, 1, 2, 3]


def test_an_empty_cluster_takes_a_far_row(monkeypatch):
    X = np.array([[100.0], [101.0], [102.0], [150.0]])
    monkeypatch.setattr("msl.blocks.numerics.kmeans.spread_rows", lambda rows, k, rng: np.array([3, 3, 0]))
    clusters = k_means(X, 3, np.random.default_rng(0))
    assert set(clusters.labels.tolist()) == {0, 1, 2}


def test_the_seed_decides():
    X = np.random.default_rng(0).normal(size=(60, 2))
    same = [k_means(X, 5, np.random.default_rng(3)).labels for _ in range(2)]
    np.testing.assert_array_equal(*same)
