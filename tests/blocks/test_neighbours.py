"""Neighbours against a brute-force search, with and without ties."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from msl.blocks.numerics.matrices import sorted_lines, upper_bounds
from msl.blocks.similarity.distances import DISTANCES, Difference, Euclidean
from msl.blocks.similarity.fitted_distance import fit_metric
from msl.blocks.similarity.neighbour_search import Neighbours


def metric_on(X, distance, importance=None):
    importance = np.ones(X.shape[1]) if importance is None else importance
    return fit_metric(X, np.zeros(len(X), dtype=int), 1, distance, importance, Difference(), Difference(), ())


def neighbours(X, Q, distance=None, **options):
    metric = metric_on(X, distance or Euclidean())
    return Neighbours(metric, metric.place(Q), metric.place(X), **options)


def members(hood, row):
    return set(hood.references[row][hood.members[row]].tolist())


def brute_force(lengths, k, tolerance=1e-7):
    """On a grid, distances are equal or far from it; the tolerance is for rounding near opposite directions."""
    kth = np.sort(lengths)[k - 1]
    return {place for place, length in enumerate(lengths) if length <= kth * (1 + tolerance)}


@settings(max_examples=80)
@given(
    X=arrays(np.float64, (9, 3), elements=st.integers(-2, 2).map(float)),
    Q=arrays(np.float64, (5, 3), elements=st.integers(-2, 2).map(float)),
    k=st.integers(1, 12),
    name=st.sampled_from(sorted(DISTANCES)),
    product_work=st.sampled_from([0, 1 << 40]),
)
def test_all_rows_at_the_kth_distance_are_neighbours(X, Q, k, name, product_work):
    distance = DISTANCES[name]()
    with patch("msl.blocks.similarity.neighbour_search.PRODUCT_WORK", product_work):
        hood = neighbours(X, Q, distance).nearest(k)
    lengths = distance.pairwise(Q, X)
    for row in range(len(Q)):
        assert members(hood, row) == brute_force(lengths[row], min(k, 9))
        found = hood.lengths[row][hood.members[row]]
        assert np.all(np.diff(found) >= 0)
        np.testing.assert_allclose(found, np.sort(lengths[row])[: len(found)], rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(hood.reach[row], found[-1], rtol=1e-6, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DISTANCES))
@pytest.mark.parametrize("shape", [(700, 1), (700, 3), (700, 40)])
def test_large_tables_are_searched_in_parts(name, shape, monkeypatch):
    monkeypatch.setattr("msl.blocks.similarity.neighbour_search.CHUNK", 1 << 15)
    rng = np.random.default_rng(2)
    X, Q = rng.normal(size=shape), rng.normal(size=(300, shape[1]))
    distance = DISTANCES[name]()
    lengths = distance.pairwise(Q, X)
    query = neighbours(X, Q, distance)
    for k in (1, 7, 60):
        hood = query.nearest(k)
        expected = [brute_force(lengths[row], k, tolerance=1e-12) for row in range(300)]
        assert [members(hood, row) for row in range(300)] == expected


def test_siblings_get_the_same_as_alone():
    rng = np.random.default_rng(0)
    X, Q = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, 4, (20, 3)).astype(float)
    shared = neighbours(X, Q)
    for k in (5, 2, 40, 11, 60, 1000):
        alone = neighbours(X, Q).nearest(k)
        together = shared.nearest(k)
        assert [members(alone, row) for row in range(20)] == [members(together, row) for row in range(20)]
        np.testing.assert_array_equal(alone.reach, together.reach)


@pytest.mark.parametrize("name", sorted(DISTANCES))
@pytest.mark.parametrize("product_work", [0, 1 << 40])
def test_leaving_one_out_leaves_out_the_row_itself_and_no_equal_row(name, product_work, monkeypatch):
    monkeypatch.setattr("msl.blocks.similarity.neighbour_search.PRODUCT_WORK", product_work)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (30, 2)).astype(float)
    lengths = DISTANCES[name]().pairwise(X, X)
    np.fill_diagonal(lengths, np.inf)
    hood = neighbours(X, X, DISTANCES[name](), leave_one_out=True).nearest(3)
    assert [members(hood, row) for row in range(30)] == [brute_force(lengths[row], 3) for row in range(30)]


def test_equal_rows_are_at_distance_zero_even_far_from_the_origin(monkeypatch):
    monkeypatch.setattr("msl.blocks.similarity.neighbour_search.PRODUCT_WORK", 0)
    rng = np.random.default_rng(0)
    X = 1e8 + rng.normal(size=(50, 10))
    X[25:] = X[:25]
    hood = neighbours(X, X).nearest(2)
    assert np.all(hood.lengths[:, :2] == 0)
    assert [members(hood, row) for row in range(25)] == [{row, row + 25} for row in range(25)]


def test_close_rows_far_from_the_origin_keep_their_order(monkeypatch):
    monkeypatch.setattr("msl.blocks.similarity.neighbour_search.PRODUCT_WORK", 0)
    X = np.zeros((8, 6))
    X[:, 0] = 1e7 + np.arange(8) * 1e-3
    X[0] = -1e7
    hood = neighbours(X, X[3:4]).nearest(3)
    assert members(hood, 0) == {2, 3, 4}


def test_clusters_far_from_each_other_are_searched_exactly(monkeypatch):
    monkeypatch.setattr("msl.blocks.similarity.neighbour_search.PRODUCT_WORK", 0)
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 4)) * 1e-3 + shift for shift in (1e6, -1e6, 0.0)])
    lengths = Euclidean().pairwise(X, X)
    for k in (1, 5):
        hood = neighbours(X, X).nearest(k)
        expected = [brute_force(lengths[row], k, tolerance=1e-12) for row in range(180)]
        assert [members(hood, row) for row in range(180)] == expected


def test_all_within_a_radius_and_the_nearest_where_there_is_none():
    X = np.array([[0.0], [1.0], [3.0], [3.0]])
    hood = neighbours(X, np.array([[0.5], [3.0], [10.0], [2.0]])).within(1.0)
    assert [members(hood, row) for row in range(4)] == [{0, 1}, {2, 3}, {2, 3}, {1, 2, 3}]
    assert hood.reach.tolist() == [1.0, 1.0, 7.0, 1.0]


@given(arrays(np.float64, (3, 37), elements=st.integers(0, 9).map(float)), st.integers(1, 37))
def test_upper_bounds_hold_at_least_k(values, k):
    bounds = upper_bounds(values, k)
    assert np.all((values <= bounds[:, None]).sum(axis=1) >= k)
    assert np.all(np.isin(bounds, values))


def test_lines_are_sorted_and_padded():
    rows, columns = np.array([0, 0, 0, 2]), np.array([4, 5, 6, 1])
    lined, values = sorted_lines(rows, columns, np.array([2.0, 1.0, 2.0, 7.0]), 3)
    assert lined[0].tolist() == [5, 4, 6]
    assert lined[2, 0] == 1
    assert values.tolist() == [[1, 2, 2], [np.inf] * 3, [7, np.inf, np.inf]]
