"""Degenerate tables: every learner and every filling of a slot gives finite numbers or a clear error."""

import numpy as np
import pytest

from msl.blocks.kernels.kernel_map import KERNELS, KernelMap
from msl.blocks.similarity.distances import DISTANCES
from msl.blocks.similarity.knn import KNNClassifier, KNNRegressor, SimilarityClassifier, SimilarityRegressor
from msl.blocks.similarity.reference_points import REFERENCES
from msl.blocks.similarity.weightings import WEIGHTINGS

RNG = np.random.default_rng(0)
CLASSES = np.array([0, 1] * 10)
TABLES = {
    "constant": np.ones((20, 3)),
    "constant_feature": np.column_stack([RNG.normal(size=20), np.full(20, 7.0)]),
    "one_feature": RNG.normal(size=(20, 1)),
    "duplicates": np.repeat(RNG.normal(size=(4, 3)), 5, axis=0),
    "zeros_and_one_row": np.vstack([np.zeros((19, 3)), np.ones((1, 3))]),
    "wide": RNG.normal(size=(20, 60)),
    "tiny": RNG.normal(size=(20, 3)) * 1e-300,
    "huge": RNG.normal(size=(20, 3)) * 1e300,
    "mixed": RNG.normal(size=(20, 3)) * np.array([1e-300, 1.0, 1e300]),
    "integers": RNG.integers(0, 2, (20, 4)).astype(float),
}

#: Their widths and radii are in units of the neighbourhood, or of the gaps between references.
SCALE_FREE = sorted(set(WEIGHTINGS) - {"soft_gaussian", "hard_sphere"})


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_distances_and_weightings(table, distance, weighting):
    X = TABLES[table]
    Q = np.vstack([X[::3], X[:2] * 3, np.zeros((1, X.shape[1]))])
    for k in (1, 4, 500):
        outputs = KNNClassifier(k, distance, weighting).fit(X, CLASSES).predict_proba(Q)
        assert np.all(outputs >= 0)
        np.testing.assert_allclose(outputs.sum(axis=1), 1)
        numbers = KNNRegressor(k, distance, weighting).fit(X, CLASSES * 1e300).predict(Q)
        assert np.all((numbers >= 0) & (numbers <= 1e300 * (1 + 1e-9)))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("references", REFERENCES)
@pytest.mark.parametrize("distance", ["euclidean", "canberra", "angle"])
def test_references(table, references, distance):
    X = TABLES[table]
    for probabilities in ("hard", "soft"):
        learner = SimilarityClassifier(
            distance=distance, references=references, n_references=6, k=2, probabilities=probabilities
        )
        outputs = learner.fit(X, CLASSES).predict_proba(X)
        assert np.all(outputs >= 0)
        np.testing.assert_allclose(outputs.sum(axis=1), 1)
        assert learner.complexity() > 0
    if not REFERENCES[references].needs_classes:
        numbers = SimilarityRegressor(references=references, n_references=6, radius=0.5).fit(X, CLASSES * 1.0)
        assert np.all(np.isfinite(numbers.predict(X)))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("references", REFERENCES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_maps(table, references, kernel):
    X = TABLES[table]
    for points in ("centers", "centroids"):
        for distance in ("euclidean", "angle"):
            mapped = KernelMap(references, 6, points, distance, kernel).fit(X, CLASSES).transform(X)
            assert np.all(np.isfinite(mapped))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scale_does_not_change_decisions(scale):
    X, Q = RNG.normal(size=(40, 5)), RNG.normal(size=(30, 5))
    y = RNG.integers(0, 3, 40)
    for distance in DISTANCES:
        for weighting in SCALE_FREE:
            plain = KNNClassifier(6, distance, weighting).fit(X, y).predict_proba(Q)
            scaled = KNNClassifier(6, distance, weighting).fit(X * scale, y).predict_proba(Q * scale)
            np.testing.assert_allclose(scaled, plain, atol=1e-7)


def test_fifty_classes():
    centres = RNG.normal(size=(50, 4)) * 100
    X = np.repeat(centres, 4, axis=0) + RNG.normal(size=(200, 4))
    y = np.repeat(np.arange(50), 4)
    for learner in (KNNClassifier(3), SimilarityClassifier(references="kmeans", n_references=50, k=1)):
        outputs = learner.fit(X, y).predict_proba(X)
        assert outputs.shape == (200, 50)
        assert np.mean(outputs.argmax(axis=1) == y) > 0.9


@pytest.mark.parametrize("references", REFERENCES)
def test_a_class_missing_from_a_fold_has_no_probability(references):
    X, y = RNG.normal(size=(20, 2)), np.array([0, 2] * 10)
    learner = SimilarityClassifier(references=references, n_references=5, k=3)
    learner.fit_arrays(X, y, 4)
    outputs = learner.outputs(X)
    assert outputs.shape == (20, 4)
    assert np.all(outputs[:, [1, 3]] == 0)
    np.testing.assert_allclose(outputs.sum(axis=1), 1)


def test_a_fold_with_one_class_or_one_row():
    X = RNG.normal(size=(5, 2))
    for references in REFERENCES:
        learner = SimilarityClassifier(references=references, n_references=3, k=3)
        learner.fit_arrays(X, np.ones(5, dtype=int), 2)
        assert np.all(learner.outputs(X) == [0, 1])
        learner.fit_arrays(X[:1], np.ones(1, dtype=int), 2)
        assert np.all(learner.outputs(X) == [0, 1])


def test_all_features_off_is_the_majority():
    X, y = RNG.normal(size=(9, 2)), np.array([0] * 3 + [1] * 6)
    learner = SimilarityClassifier(features=[False, False]).fit(X, y)
    np.testing.assert_allclose(learner.predict_proba(X), [[1 / 3, 2 / 3]] * 9)


@pytest.mark.parametrize(
    "learner", [KNNClassifier(), KNNRegressor(), SimilarityClassifier(), SimilarityRegressor(), KernelMap()], ids=repr
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_values_are_named(learner, value):
    X = RNG.normal(size=(20, 2))
    bad = X.copy()
    bad[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        learner.fit(bad, CLASSES)
    learner.fit(X, CLASSES)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        (learner.transform if isinstance(learner, KernelMap) else learner.predict)(bad)
