"""Distances against SciPy and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from sklearn.base import clone

from msl.blocks.similarity.distances import (
    DISTANCES,
    FEATURE_DISTANCES,
    Angle,
    Canberra,
    Chebyshev,
    Euclidean,
    Mahalanobis,
    Manhattan,
    Minkowski,
    Overlap,
    ValueDifference,
)

DECOMPOSABLE = [Euclidean(), Manhattan(), Minkowski(0.5), Minkowski(1), Minkowski(2), Minkowski(3.3), Canberra()]


@pytest.fixture(name="tables")
def fixture_tables():
    rng = np.random.default_rng(3)
    weights = rng.random(5)
    weights[2] = 0.0
    return rng.normal(size=(13, 5)) * 10, rng.normal(size=(11, 5)) * 10, weights


@pytest.mark.parametrize(
    ("distance", "scipy_name", "options"),
    [
        (Euclidean(), "euclidean", {}),
        (Manhattan(), "cityblock", {}),
        (Canberra(), "canberra", {}),
        (Minkowski(0.5), "minkowski", {"p": 0.5}),
        (Minkowski(1), "minkowski", {"p": 1}),
        (Minkowski(2), "minkowski", {"p": 2}),
        (Minkowski(3.3), "minkowski", {"p": 3.3}),
    ],
)
def test_weighted_distances_are_those_of_scipy(distance, scipy_name, options, tables):
    A, B, weights = tables
    np.testing.assert_allclose(distance.pairwise(A, B), cdist(A, B, scipy_name, **options), rtol=1e-12)
    expected = cdist(A, B, scipy_name, w=weights, **options)
    np.testing.assert_allclose(distance.pairwise(A, B, weights), expected, rtol=1e-12)


def test_chebyshev_weights_shrink_differences(tables):
    A, B, weights = tables
    np.testing.assert_allclose(Chebyshev().pairwise(A, B), cdist(A, B, "chebyshev"), rtol=1e-12)
    expected = (np.abs(A[:, None] - B[None]) * weights).max(axis=2)
    np.testing.assert_allclose(Chebyshev().pairwise(A, B, weights), expected, rtol=1e-12)


def test_angle_is_the_arc_cosine(tables):
    A, B, weights = tables
    np.testing.assert_allclose(Angle().pairwise(A, B), np.arccos(1 - cdist(A, B, "cosine")), rtol=1e-9)
    roots = np.sqrt(weights)
    expected = np.arccos(1 - cdist(A * roots, B * roots, "cosine"))
    np.testing.assert_allclose(Angle().pairwise(A, B, weights), expected, rtol=1e-9)


def test_angle_of_parallel_opposite_and_zero_rows():
    rows = np.array([[1.0, 2.0, 3.0], [1e-200, 2e-200, 3e-200], [-3.0, -6.0, -9.0], [0.0, 0.0, 0.0]])
    angles = Angle().pairwise(rows, rows)
    half = np.pi / 2
    expected = np.array([[0, 0, np.pi, half], [0, 0, np.pi, half], [np.pi, np.pi, 0, half], [half, half, half, 0]])
    np.testing.assert_allclose(angles, expected, atol=1e-7)
    assert np.all(angles[expected == 0] == 0), "rows that differ in length alone have angle 0, not rounding noise"


def test_directions_of_scaled_rows_are_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    angles = Angle().pairwise(X * rng.uniform(0.1, 10, (200, 1)), X)
    assert np.all(np.diagonal(angles) == 0)
    assert np.all(angles[~np.eye(200, dtype=bool)] > 0)


def test_mahalanobis_is_that_of_scipy(tables):
    A, B, weights = tables
    B = B * np.array([1e-6, 1.0, 1e6, 3.0, 2.0]) + 7
    A = A * np.array([1e-6, 1.0, 1e6, 3.0, 2.0]) + 7
    deviations = B.std(axis=0, ddof=1)
    correlation = np.corrcoef(B.T)
    for ridge in (1e-3, 0.5):
        scale = np.diag(np.sqrt(weights) / deviations)
        inverse = scale @ np.linalg.inv(correlation + ridge * np.eye(5)) @ scale
        expected = cdist(A, B, "mahalanobis", VI=inverse)
        np.testing.assert_allclose(Mahalanobis(ridge).pairwise(A, B, weights), expected, rtol=1e-9)


def test_mahalanobis_ignores_constant_and_survives_collinear_columns():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(20, 3))
    wide = np.column_stack([B, np.full(20, 1e6), B[:, 0] * 2 - B[:, 1]])
    distances = Mahalanobis(1e-6).pairwise(wide, wide)
    assert np.all(np.isfinite(distances))
    np.testing.assert_allclose(distances, distances.T, atol=1e-9)
    without = Mahalanobis(1e-6).pairwise(np.delete(wide, 3, axis=1), np.delete(wide, 3, axis=1))
    np.testing.assert_allclose(distances, without, rtol=1e-6, atol=1e-9)
    assert np.all(np.diagonal(distances) == 0)


@pytest.mark.parametrize("distance", DECOMPOSABLE, ids=repr)
@given(
    rows=arrays(np.float64, (4, 3), elements=st.integers(-6, 6).map(float)),
    weights=arrays(np.float64, 3, elements=st.integers(0, 10).map(lambda tenths: tenths / 10)),
)
def test_terms_sum_to_powers(distance, rows, weights):
    placement = distance.placement(rows, weights)
    placed = placement.place(rows)
    total = sum(weight * distance.terms(column, column) for weight, column in zip(weights, placed.T, strict=True))
    np.testing.assert_allclose(total, distance.powers(placed, placed, placement.weights), rtol=1e-12, atol=1e-300)
    lengths = distance.lengths(np.asarray(total))
    np.testing.assert_allclose(lengths, distance.pairwise(rows, rows, weights), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("distance", [kind() for kind in DISTANCES.values()], ids=repr)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_order_does_not_depend_on_scale(distance, scale):
    rng = np.random.default_rng(5)
    A, B = rng.normal(size=(6, 4)), rng.normal(size=(9, 4))
    plain, scaled = distance.pairwise(A, B), distance.pairwise(A * scale, B * scale)
    assert np.all(np.isfinite(scaled))
    if isinstance(distance, Angle | Canberra | Mahalanobis):
        np.testing.assert_allclose(scaled, plain, rtol=1e-9)
    else:
        np.testing.assert_allclose(scaled / scale, plain, rtol=1e-9)


def test_the_whole_range_of_numbers():
    rows = np.array([[1.7e308], [-1.7e308], [0.0]])
    for kind in DISTANCES.values():
        distances = kind().pairwise(rows, rows)
        assert np.all(np.isfinite(distances))
        assert np.all(np.diagonal(distances) == 0)
        assert distances[0, 1] > 0
    tiny = np.array([[5e-324], [0.0]])
    assert Manhattan().pairwise(tiny, tiny)[0, 1] == 5e-324


def test_a_constant_huge_column_does_not_hide_the_others():
    rows = np.array([[1e300, 1.0], [1e300, 2.0], [1e300, 4.0]])
    expected = np.abs(np.subtract.outer(rows[:, 1], rows[:, 1]))
    np.testing.assert_allclose(Euclidean().pairwise(rows, rows), expected, rtol=1e-12)


def test_a_query_far_outside_the_table_has_finite_distances():
    table = np.array([[0.0, 1.0], [2.0, 3.0]])
    for kind in DISTANCES.values():
        assert np.all(np.isfinite(kind().pairwise(np.array([[1e308, -1e308]]), table)))


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_are_parameter_objects(name):
    distance = DISTANCES[name]()
    assert repr(clone(distance)) == repr(distance)
    assert clone(distance).identity() == distance.identity()


def test_identity_tells_parameters_apart():
    assert Minkowski(2).identity() != Minkowski(3).identity()
    assert Minkowski(2).identity() == Minkowski(2).identity()
    assert Euclidean().identity() != Manhattan().identity()


@pytest.mark.parametrize("distance", [Minkowski(0), Minkowski(-1.0), Mahalanobis(0.0)], ids=repr)
def test_parameters_out_of_range_are_named(distance):
    with pytest.raises(ValueError, match=r"alpha|ridge"):
        distance.pairwise([[0.0]], [[1.0]])


def test_distances_that_are_no_sums_have_no_terms():
    with pytest.raises(TypeError, match="Chebyshev"):
        Chebyshev().terms(np.zeros(2), np.zeros(2))


def test_overlap_counts_differing_symbols():
    gaps = Overlap().gaps(np.array([0.0, 1.0]), np.array([0, 1]), 2)
    assert gaps.between(np.array([0.0, 5.0]), np.array([0.0, 1.0, 5.0])).tolist() == [[0, 1, 1], [1, 1, 0]]


def test_value_difference_is_that_of_class_probabilities():
    rng = np.random.default_rng(1)
    column, y = rng.integers(0, 4, 60).astype(float), rng.integers(0, 3, 60)
    gaps = ValueDifference().gaps(column, y, 3)
    queries = np.array([0.0, 3.0, 17.0])

    def profile(symbol):
        rows = column == symbol if symbol in column else np.full(60, True)
        return np.array([(y[rows] == code).mean() for code in range(3)])

    expected = [[np.abs(profile(a) - profile(b)).sum() / 2 for b in np.unique(column)] for a in queries]
    np.testing.assert_allclose(gaps.between(queries, np.unique(column)), expected, atol=1e-12)


def test_value_difference_of_numbers_is_that_of_means():
    column, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([1.0, 3.0, 5.0, 9.0])
    gaps = ValueDifference().gaps(column, y, 0)
    expected = [[0, 5 / 8], [5 / 8, 0]]
    np.testing.assert_allclose(gaps.between(np.array([0.0, 1.0]), np.array([0.0, 1.0])), expected)


def test_feature_distances_by_name():
    assert set(FEATURE_DISTANCES) == {"difference", "overlap", "value_difference"}
