"""Leave-one-out without refits against explicit refits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msl.blocks.similarity.distances import DISTANCES, Minkowski
from msl.blocks.similarity.knn import KNNClassifier, KNNRegressor, SimilarityClassifier, SimilarityRegressor
from msl.blocks.similarity.leave_one_out import LeaveOneOut
from msl.blocks.similarity.weightings import WEIGHTINGS, GaussianWeighting


def refitted(learner, X, y, n_classes):
    outputs = []
    for row in range(len(X)):
        others = np.arange(len(X)) != row
        learner.fit_arrays(X[others], y[others], n_classes)
        outputs.append(learner.outputs(X[row : row + 1])[0])
    return np.array(outputs)


def grid_table(n_rows=26, n_features=7, n_classes=3, seed=0):
    """Integers, so that ties are everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_rows, n_features)).astype(float)
    return X, rng.integers(0, n_classes, n_rows)


CLASS_TABLE = grid_table()
CLASS_LOO = LeaveOneOut(*CLASS_TABLE, 3)
NUMBER_TABLE = CLASS_TABLE[0], np.random.default_rng(1).normal(size=26)
NUMBER_LOO = LeaveOneOut(*NUMBER_TABLE, 0)

SETTINGS = st.fixed_dictionaries(
    {
        "features": st.none() | st.lists(st.booleans(), min_size=7, max_size=7),
        "weights": st.none() | st.lists(st.integers(0, 10).map(lambda tenths: tenths / 10), min_size=7, max_size=7),
        "distance": st.sampled_from([*sorted(set(DISTANCES) - {"mahalanobis"}), Minkowski(0.7), Minkowski(2.5)]),
        "k": st.integers(1, 30),
        "weighting": st.sampled_from([*sorted(WEIGHTINGS), GaussianWeighting(0.2)]),
    }
)


@settings(max_examples=60)
@given(SETTINGS)
def test_classes_are_those_of_explicit_refits(setting):
    expected = refitted(SimilarityClassifier(**setting), *CLASS_TABLE, 3)
    np.testing.assert_allclose(CLASS_LOO.outputs(**setting), expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(CLASS_LOO.outputs(**setting).argmax(axis=1), expected.argmax(axis=1))


@settings(max_examples=30)
@given(SETTINGS)
def test_numbers_are_those_of_explicit_refits(setting):
    expected = refitted(SimilarityRegressor(**setting), *NUMBER_TABLE, 0)
    np.testing.assert_allclose(NUMBER_LOO.outputs(**setting), expected, rtol=0, atol=1e-9)


@settings(max_examples=40)
@given(SETTINGS, st.none() | st.floats(0.1, 3.0))
def test_what_was_asked_before_leaves_no_trace(setting, radius):
    for table, n_classes, used, kind in (
        (CLASS_TABLE, 3, CLASS_LOO, SimilarityClassifier),
        (NUMBER_TABLE, 0, NUMBER_LOO, SimilarityRegressor),
    ):
        learner = kind(radius=radius, **setting)
        np.testing.assert_array_equal(used.outputs_of(learner), LeaveOneOut(*table, n_classes).outputs_of(learner))


@pytest.mark.slow
@pytest.mark.parametrize("distance", ["euclidean", "manhattan", "canberra"])
@pytest.mark.parametrize("k", [1, 4])
def test_a_search_over_weights_stays_exact(distance, k):
    """The settings that a coordinate search visits: each weight in turn, up and down, the best kept."""
    X, y = grid_table(20, 5, 2, seed=3)
    loo = LeaveOneOut(X, y, 2)
    weights = np.ones(5)
    rng = np.random.default_rng(0)
    for feature in range(5):
        for tenths in [0, 3, 7, 10, 1, 0]:
            weights[feature] = tenths / 10
            learner = SimilarityClassifier(weights=weights.copy(), distance=distance, k=k)
            np.testing.assert_allclose(loo.outputs_of(learner), refitted(learner, X, y, 2), rtol=0, atol=1e-9)
        weights[feature] = rng.integers(0, 11) / 10


@pytest.mark.parametrize(
    "slots",
    [
        {"radius": 1.5, "weighting": "triangular"},
        {"radius": 0.01},
        {"k": 5, "risk": [[0, 1, 2], [4, 0, 1], [1, 1, 0]]},
        {"k": 1, "class_similarity": [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]},
        {"k": 3, "symbolic_columns": [0, 2], "distance": "manhattan", "weights": [0.5, 1, 0.3, 1, 1, 1, 1]},
        {"k": 3, "symbolic_columns": [0, 2], "symbols": "value_difference"},
        {"k": 2, "numbers": "overlap"},
        {"k": 3, "distance": "mahalanobis"},
    ],
)
def test_other_slots(slots):
    learner = SimilarityClassifier(**slots)
    assert LeaveOneOut.serves(learner)
    np.testing.assert_allclose(CLASS_LOO.outputs_of(learner), refitted(learner, *CLASS_TABLE, 3), rtol=0, atol=1e-9)


def test_plain_nearest_neighbours():
    np.testing.assert_allclose(
        CLASS_LOO.outputs_of(KNNClassifier(4)), refitted(KNNClassifier(4), *CLASS_TABLE, 3), atol=1e-9
    )
    np.testing.assert_allclose(
        NUMBER_LOO.outputs_of(KNNRegressor(4)), refitted(KNNRegressor(4), *NUMBER_TABLE, 0), atol=1e-9
    )


@pytest.mark.parametrize("memory", [0, 1, 2 * 7 * 26 * 26 * 8, 5 * 7 * 26 * 26 * 8])
def test_little_memory_changes_nothing(memory):
    loo = LeaveOneOut(*CLASS_TABLE, 3, memory=memory)
    for distance in ("euclidean", "manhattan", "canberra", "euclidean"):
        for k in (1, 3):
            expected = CLASS_LOO.outputs(distance=distance, k=k)
            np.testing.assert_allclose(loo.outputs(distance=distance, k=k), expected, rtol=0, atol=1e-9)
    assert sum(terms.sums.nbytes for terms in loo._terms.values()) <= memory


def test_one_extreme_feature_does_not_spoil_the_others():
    X, y = grid_table(20, 3, 2)
    X[:, 1] *= 1e200
    loo = LeaveOneOut(X, y, 2)
    for weights in ([1, 1, 1], [1, 0, 1]):
        expected = refitted(SimilarityClassifier(weights=weights, k=3), X, y, 2)
        np.testing.assert_allclose(loo.outputs(weights=weights, k=3), expected, rtol=0, atol=1e-9)


def test_a_class_of_one_row_and_a_class_of_none():
    X, _ = grid_table(12, 3)
    y = np.array([0] * 8 + [1] * 3 + [3])
    loo = LeaveOneOut(X, y, 5)
    for k in (1, 3):
        expected = refitted(SimilarityClassifier(k=k), X, y, 5)
        np.testing.assert_allclose(loo.outputs(k=k), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [1, 2])
def test_class_frequencies_are_those_of_the_other_rows(k):
    # Row 0 lies between both classes. Without it the second class has one row more, which is not more frequent.
    X = np.array([[1.0], [0.0], [2.0], *[[100.0 * (1 + place)] for place in range(7)]])
    y = np.array([1, 0, 1, 0, 0, 0, 1, 1, 1, 1])
    expected = refitted(SimilarityClassifier(k=k), X, y, 2)
    assert expected[0].argmax() == 0
    np.testing.assert_allclose(LeaveOneOut(X, y, 2).outputs(k=k), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(LeaveOneOut(X, y, 2, memory=0).outputs(k=k), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("slots", [{"references": "kmeans"}, {"references": "edited"}, {"probabilities": "soft"}])
def test_learners_that_change_without_a_row_are_refused(slots):
    assert not LeaveOneOut.serves(SimilarityClassifier(**slots))
    with pytest.raises(ValueError, match="on all rows"):
        CLASS_LOO.outputs_of(SimilarityClassifier(**slots))


def test_one_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="two rows"):
        LeaveOneOut(np.zeros((1, 2)), np.zeros(1, dtype=int), 2)
