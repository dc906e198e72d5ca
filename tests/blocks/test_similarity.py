"""Similarity-based learners: scikit-learn's own checks, its nearest neighbours, and the slots one by one."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.similarity.distances import DISTANCES, Minkowski
from msl.blocks.similarity.knn import KNNClassifier, KNNRegressor, SimilarityClassifier, SimilarityRegressor
from msl.blocks.similarity.reference_points import LVQ, REFERENCES, FarthestFirst
from msl.blocks.similarity.weightings import WEIGHTINGS, GaussianWeighting


@pytest.mark.slow
@parametrize_with_checks(
    [
        SimilarityClassifier(),
        SimilarityClassifier(k=3, weighting="gaussian", references="kmeans", probabilities="soft"),
        SimilarityRegressor(),
        SimilarityRegressor(k=3, references="fft", n_references=150, distance="manhattan", radius=2.0),
        KNNClassifier(),
        KNNRegressor(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(name="wine", scope="module")
def fixture_wine():
    """Real numbers, scaled, with a little noise so that no two distances are equal."""
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    X = (X - X.mean(axis=0)) / X.std(axis=0) + rng.normal(size=X.shape) * 1e-6
    return X[order[:100]], y[order[:100]], X[order[100:]]


@pytest.mark.parametrize("k", [1, 3, 5, 12, 50])
@pytest.mark.parametrize(
    ("distance", "theirs"),
    [
        ("euclidean", {"metric": "euclidean"}),
        ("manhattan", {"metric": "manhattan"}),
        ("chebyshev", {"metric": "chebyshev"}),
        ("canberra", {"metric": "canberra"}),
        (Minkowski(3), {"metric": "minkowski", "p": 3}),
    ],
)
@pytest.mark.parametrize(("weighting", "weights"), [("uniform", "uniform"), ("inverse", "distance")])
def test_knn_is_that_of_scikit_learn(wine, k, distance, theirs, weighting, weights):
    X, y, T = wine
    ours = KNNClassifier(k, distance, weighting).fit(X, y).predict_proba(T)
    expected = KNeighborsClassifier(k, weights=weights, algorithm="brute", **theirs).fit(X, y).predict_proba(T)
    np.testing.assert_allclose(ours, expected, atol=1e-8)


@pytest.mark.parametrize("k", [1, 4, 20])
@pytest.mark.parametrize(("weighting", "weights"), [("uniform", "uniform"), ("inverse", "distance")])
def test_knn_regression_is_that_of_scikit_learn(k, weighting, weights):
    X, y = load_diabetes(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape) * 1e-9
    ours = KNNRegressor(k, weighting=weighting).fit(X[:300], y[:300]).predict(X[300:])
    expected = KNeighborsRegressor(k, weights=weights).fit(X[:300], y[:300]).predict(X[300:])
    np.testing.assert_allclose(ours, expected, rtol=1e-8)


def test_similarity_with_default_slots_is_knn(wine):
    X, y, T = wine
    np.testing.assert_allclose(
        SimilarityClassifier(k=7, weighting="triangular").fit(X, y).predict_proba(T),
        KNNClassifier(k=7, weighting="triangular").fit(X, y).predict_proba(T),
    )


def test_feature_weights_and_mask(wine):
    X, y, T = wine
    rng = np.random.default_rng(1)
    weights, features = rng.random(13), rng.random(13) > 0.4
    ours = SimilarityClassifier(features, weights, k=5).fit(X, y).predict_proba(T)
    scale = np.sqrt(weights * features)
    expected = KNeighborsClassifier(5).fit(X * scale, y).predict_proba(T * scale)
    np.testing.assert_allclose(ours, expected, atol=1e-8)


def monk_problem(target):
    """One of the Monk's problems by its definition: all 432 rows, and 124 of them to learn from."""
    grid = np.stack(np.meshgrid(*[np.arange(1.0, n + 1) for n in (3, 3, 2, 3, 4, 2)], indexing="ij"), axis=-1)
    X = grid.reshape(-1, 6)
    rows = np.random.default_rng(0).permutation(432)[:124]
    y = target(X).astype(int)
    return X[rows], y[rows], X, y


def test_monk_1_with_the_weights_of_the_paper():
    X, y, T, t = monk_problem(lambda X: (X[:, 0] == X[:, 1]) | (X[:, 4] == 1))
    weights = [1, 1, 0.1, 0, 0.9, 0]
    plain = SimilarityClassifier().fit(X, y).score(T, t)
    assert SimilarityClassifier(weights=weights).fit(X, y).score(T, t) > max(plain, 0.97)
    assert SimilarityClassifier(features=[1, 1, 0, 0, 1, 0]).fit(X, y).score(T, t) > 0.97


def test_monk_1_decisions_by_an_explicit_loop_over_ties():
    X, y, T, _ = monk_problem(lambda X: (X[:, 0] == X[:, 1]) | (X[:, 4] == 1))
    for k in (1, 3, 10):
        distances = cdist(T, X, "cityblock")
        frequency = np.bincount(y)
        decided = SimilarityClassifier(k=k, distance="manhattan").fit(X, y).predict(T)
        for row, decision in zip(distances, decided, strict=True):
            votes = y[row <= np.sort(row)[k - 1]]
            counts = np.bincount(votes, minlength=2)
            if counts[0] != counts[1]:
                expected = counts.argmax()
            else:
                nearest = np.bincount(y[row == row.min()], minlength=2)
                if nearest[0] != nearest[1]:
                    expected = nearest.argmax()
                else:
                    expected = frequency.argmax() if abs(frequency[0] - frequency[1]) > 1 else 0
            assert decision == expected


def test_a_radius_takes_all_within():
    X, y = np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([0, 1, 1, 0])
    learner = SimilarityClassifier(radius=1.0).fit(X, y)
    np.testing.assert_allclose(learner.predict_proba([[0.9], [50.0]]), [[0.5, 0.5], [1, 0]], atol=1e-8)
    gaussian = SimilarityClassifier(radius=2.0, weighting="gaussian").fit(X, y)
    raw = np.exp(-(np.array([0.0, 1.0, 2.0]) ** 2) / 4)
    np.testing.assert_allclose(gaussian.predict_proba([[0.0]])[0, 0], raw[0] / raw.sum())


def test_class_similarity_spreads_votes():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    spread = [[0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    learner = SimilarityClassifier(class_similarity=spread).fit(X, y)
    np.testing.assert_allclose(learner.predict_proba([[0.0]]), [[0.8, 0.2, 0.0]])


def test_risk_changes_decisions():
    X, y = np.array([[0.0], [0.1], [0.2], [5.0]]), np.array([0, 0, 1, 1])
    assert SimilarityClassifier(k=3).fit(X, y).predict([[0.1]])[0] == 0
    assert SimilarityClassifier(k=3, risk=[[0, 1], [9, 0]]).fit(X, y).predict([[0.1]])[0] == 1


def test_symbols_are_compared_by_equality():
    X, y = np.array([[0.0], [5.0], [6.0]]), np.array([0, 1, 0])
    assert SimilarityClassifier().fit(X, y).predict([[5.4]])[0] == 1
    learner = SimilarityClassifier(symbolic_columns=[0]).fit(X, y)
    np.testing.assert_allclose(learner.predict_proba([[7.0], [5.0]]), [[2 / 3, 1 / 3], [0, 1]])


def test_references_are_what_is_compared_with(wine):
    X, y, T = wine
    learner = SimilarityClassifier(references=FarthestFirst(), n_references=9, probabilities="soft").fit(X, y)
    assert len(learner.references_) == 9
    assert learner.complexity() == 9 * 13
    points = learner.references_
    cells = cdist(X, points).argmin(axis=1)
    nearest = cdist(T, points).argmin(axis=1)
    expected = [[np.mean(y[cells == cell] == code) for code in range(3)] for cell in nearest]
    np.testing.assert_allclose(learner.predict_proba(T), expected, atol=1e-8)


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("probabilities", ["hard", "soft"])
def test_every_way_to_choose_references_learns(wine, name, probabilities):
    X, y, T = wine
    learner = SimilarityClassifier(references=name, n_references=12, k=1, probabilities=probabilities).fit(X, y)
    outputs = learner.predict_proba(T)
    np.testing.assert_allclose(outputs.sum(axis=1), 1)
    assert learner.score(X, y) > 0.8


def test_regression_with_prototypes():
    X, y = load_diabetes(return_X_y=True)
    learner = SimilarityRegressor(references="kmeans", n_references=30, k=3, weighting="gaussian").fit(X, y)
    assert learner.score(X, y) > 0.3
    assert learner.complexity() == 30 * 10


def test_complexity_counts_the_features_in_use(wine):
    X, y, _ = wine
    assert KNNClassifier().fit(X, y).complexity() == 1300
    mask = [True, False] * 6 + [True]
    weights = [1.0] * 12 + [0.0]
    assert SimilarityClassifier(features=mask).fit(X, y).complexity() == 700
    assert SimilarityClassifier(features=mask, weights=weights).fit(X, y).complexity() == 600


@pytest.mark.parametrize("make", [KNNClassifier, SimilarityClassifier])
def test_siblings_share_what_is_prepared(wine, make):
    X, y, T = wine
    first = make(k=3)
    prepared = first.prepare(X, y, 3)
    first.fit_prepared(prepared, X, y, 3)
    query = first.prepare_query(T)
    for k in (3, 1, 9):
        for weighting in ("uniform", "inverse"):
            sibling = make(k=k, weighting=weighting)
            sibling.fit_prepared(prepared, X, y, 3)
            alone = make(k=k, weighting=weighting).fit(X, y)
            np.testing.assert_array_equal(sibling.outputs_prepared(query), alone.predict_proba(T))


@pytest.mark.parametrize("learner", [KNNClassifier(), SimilarityClassifier()], ids=repr)
def test_shared_parameters_are_parameters(learner):
    names = set(learner.get_params())
    assert learner.shared_parameters <= names
    assert learner.query_parameters <= names
    assert not {"k", "weighting"} & learner.query_parameters


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_every_distance_with_every_weighting(wine, distance, weighting):
    X, y, T = wine
    learner = KNNClassifier(5, distance, weighting).fit(X, y)
    np.testing.assert_allclose(learner.predict_proba(T).sum(axis=1), 1)
    assert learner.score(X, y) > 0.85


def test_learners_survive_cloning_and_pickling(wine):
    X, y, T = wine
    learner = SimilarityClassifier(
        distance=Minkowski(1.5), weighting=GaussianWeighting(0.5), references=LVQ(epochs=3), n_references=9, k=2
    )
    fitted = clone(learner).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(T), fitted.predict_proba(T))
    assert "Minkowski(alpha=1.5)" in repr(learner)


def test_parameters_of_slots_can_be_set_by_path():
    learner = SimilarityClassifier(distance=Minkowski(3.0)).set_params(distance__alpha=1.5)
    assert learner.distance.alpha == 1.5


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ({"distance": "euclid"}, "euclidean"),
        ({"distance": Minkowski(-1)}, "alpha"),
        ({"weighting": GaussianWeighting(0)}, "width"),
        ({"features": [True]}, "one truth value"),
        ({"weights": [-1.0] * 13}, "at least 0"),
        ({"symbolic_columns": [13]}, "columns 0 to 12"),
        ({"risk": [[0, 1], [1, 0]]}, "3 x 3"),
        ({"class_similarity": -np.eye(3)}, "at least 0"),
        ({"probabilities": "maybe"}, "probabilities"),
        ({"k": 0}, "k"),
        ({"radius": -1.0}, "radius"),
    ],
)
def test_wrong_slots_are_explained(wine, slots, message):
    X, y, _ = wine
    with pytest.raises(ValueError, match=message):
        SimilarityClassifier(**slots).fit(X, y)


@pytest.mark.parametrize("slot", ["risk", "class_similarity"])
def test_regression_knows_no_classes(slot):
    with pytest.raises(ValueError, match="must be None for regression"):
        SimilarityRegressor(**{slot: [[0, 1], [1, 0]]}).fit([[0.0], [1.0]], [0.5, 1.5])
