"""Weightings over all references, and references with spheres of their own, against their formulas in plain numpy."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from msl.blocks.similarity.knn import SimilarityClassifier, SimilarityRegressor
from msl.blocks.similarity.reference_points import Coulomb
from msl.blocks.similarity.weightings import HardSphereWeighting, RBFWeighting, SoftGaussianWeighting


@pytest.fixture(name="iris")
def fixture_iris():
    """The two flowers that overlap, in a random order: training rows, their classes, and new rows."""
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(np.flatnonzero(y > 0))
    return X[order[:60]], y[order[:60]] - 1, X[order[60:]]


def distances(A, B):
    return np.sqrt(((A[:, None] - B[None]) ** 2).sum(axis=2))


def test_the_gaussian_classifier_sums_gaussians_over_all_rows(iris):
    X, y, new = iris
    kernel = np.exp(-((distances(new, X) / 0.7) ** 2))
    expected = kernel @ np.eye(2)[y] / kernel.sum(axis=1, keepdims=True)
    found = SimilarityClassifier(weighting=SoftGaussianWeighting(0.7), k=1).fit(X, y).predict_proba(new)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_soft_weighting_ignores_the_number_of_neighbours_and_the_radius(iris):
    X, y, new = iris
    plain = SimilarityClassifier(weighting="soft_gaussian", k=1).fit(X, y).predict_proba(new)
    for k, radius in [(30, None), (1, 0.1)]:
        other = SimilarityClassifier(weighting="soft_gaussian", k=k, radius=radius).fit(X, y).predict_proba(new)
        np.testing.assert_array_equal(other, plain)


def test_kernel_regression_is_the_mean_under_gaussians(iris):
    X, _, new = iris
    y = X.sum(axis=1)
    kernel = np.exp(-((distances(new, X) / 0.3) ** 2))
    found = SimilarityRegressor(weighting=SoftGaussianWeighting(0.3)).fit(X, y).predict(new)
    np.testing.assert_allclose(found, kernel @ y / kernel.sum(axis=1), rtol=1e-12)


def test_a_row_far_from_all_gaussians_has_the_class_of_the_nearest(iris):
    X, y, _ = iris
    far = X + np.array([0.0, 0.0, 0.0, 1e200])
    found = SimilarityClassifier(weighting=SoftGaussianWeighting(1e-3)).fit(X, y).predict_proba(far)
    assert np.isfinite(found).all()
    narrow = SimilarityClassifier(weighting=SoftGaussianWeighting(1e-3)).fit(X, y)
    assert narrow.score(X, y) == SimilarityClassifier(k=1).fit(X, y).score(X, y)


def test_radial_basis_widths_are_the_gaps_between_references(iris):
    X, y, new = iris
    learner = SimilarityClassifier(
        weighting=RBFWeighting(1.5), references="kmeans", n_references=8, probabilities="soft"
    ).fit(X, y)
    centres = learner.references_
    gaps = distances(centres, centres)
    np.fill_diagonal(gaps, np.inf)
    kernel = np.exp(-((distances(new, centres) / (1.5 * gaps.min(axis=1))) ** 2))
    nearest = distances(X, centres).argmin(axis=1)
    shares = np.array([np.bincount(y[nearest == centre], minlength=2) for centre in range(len(centres))])
    shares = shares / shares.sum(axis=1, keepdims=True)
    expected = kernel @ shares / kernel.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learner.predict_proba(new), expected, rtol=1e-9)


def test_equal_references_do_not_have_a_width_of_zero():
    X = np.array([[0.0], [0.0], [2.0]])
    learner = SimilarityClassifier(weighting="radial_basis").fit(X, np.array([0, 0, 1]))
    assert learner.sizes_.tolist() == [2.0, 2.0, 2.0]
    alone = SimilarityClassifier(weighting="radial_basis").fit(np.zeros((3, 1)), np.array([0, 0, 1]))
    np.testing.assert_allclose(alone.predict_proba([[5.0]]), [[2 / 3, 1 / 3]])


def test_hard_spheres_count_the_references_around_a_row(iris):
    X, y, new = iris
    inside = distances(new, X) <= 0.8
    assert inside.any(axis=1).all()
    expected = inside @ np.eye(2)[y] / inside.sum(axis=1, keepdims=True)
    found = SimilarityClassifier(weighting=HardSphereWeighting(0.8)).fit(X, y).predict_proba(new)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_row_in_no_sphere_has_the_class_of_the_nearest_reference():
    X, y = np.array([[0.0], [3.0]]), np.array([0, 1])
    learner = SimilarityClassifier(weighting=HardSphereWeighting(0.5)).fit(X, y)
    assert learner.predict([[-9.0], [1.4], [1.6], [99.0]]).tolist() == [0, 0, 1, 1]


# --- restricted Coulomb energy ----------------------------------------------------------------------------------------


def coulomb_by_hand(X, y, largest):
    """The algorithm of Reilly, Cooper and Elbaum, with lists."""
    spheres = []
    while True:
        before = [tuple(sphere) for sphere in spheres]
        for row, (x, own) in enumerate(zip(X, y, strict=True)):
            covered = False
            for sphere in spheres:
                gap = np.sqrt(((X[sphere[0]] - x) ** 2).sum())
                if y[sphere[0]] == own:
                    covered = covered or gap <= sphere[1]
                elif gap <= sphere[1]:
                    sphere[1] = gap * (1 - 1e-6)
            if not covered:
                spheres.append([row, largest])
        if before == [tuple(sphere) for sphere in spheres]:
            return [row for row, _ in spheres], [radius for _, radius in spheres]


@pytest.mark.parametrize("largest", [0.31, 1.0, 5.0])
def test_spheres_grow_and_shrink_as_rows_are_presented(iris, largest):
    X, y, _ = iris
    learner = SimilarityClassifier(references=Coulomb(largest), weighting="hard_sphere").fit(X, y)
    rows, radii = coulomb_by_hand(X, y, largest)
    np.testing.assert_array_equal(learner.references_, X[rows])
    np.testing.assert_allclose(learner.sizes_, radii, rtol=1e-9)


def test_each_radius_reaches_to_the_nearest_row_of_another_class(iris):
    X, y, _ = iris
    learner = SimilarityClassifier(references=Coulomb(1.0), weighting="hard_sphere").fit(X, y)
    own = learner.probabilities_.argmax(axis=1)
    gaps = np.where(own[:, None] == y, np.inf, distances(learner.references_, X)).min(axis=1)
    np.testing.assert_allclose(learner.sizes_, np.minimum(gaps, 1.0), rtol=1e-5)
    assert len(np.unique(learner.sizes_)) > 5
    assert learner.score(X, y) == 1.0
    assert len(learner.references_) < len(X)


def test_a_row_in_spheres_of_two_classes_is_divided_between_them():
    X, y = np.array([[0.0], [3.0]]), np.array([0, 1])
    learner = SimilarityClassifier(references=Coulomb(2.0), weighting="hard_sphere").fit(X, y)
    np.testing.assert_allclose(learner.predict_proba([[0.5], [1.5], [2.5]]), [[1, 0], [0.5, 0.5], [0, 1]], atol=1e-8)


def test_equal_rows_of_two_classes_end_the_search_for_spheres():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    learner = SimilarityClassifier(references=Coulomb(2.0), weighting="hard_sphere").fit(X, y)
    assert sorted(learner.sizes_.tolist())[0] == 0.0
    assert learner.predict([[1.0]]).tolist() == [1]
