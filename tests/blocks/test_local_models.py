"""Local models against a plain computation, and on tables where one model is not enough."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from msl.blocks.similarity.knn import KNNClassifier
from msl.blocks.similarity.local_models import DISTANCES, LocalModelsClassifier, LocalModelsRegressor


def two_regions(seed=0, rows=60):
    """On the left, classes alternate from row to row along a line; on the right, they are noisy halves."""
    rng = np.random.default_rng(seed)
    left = np.column_stack([np.linspace(-9, -5, rows), np.zeros(rows)])
    right = rng.normal(size=(rows, 2)) + np.array([8, 0])
    y_left = (np.arange(rows) // 3) % 2
    y_right = (right[:, 1] > 0).astype(int)
    noise = rng.random(rows) < 0.25
    X, y = np.vstack([left, right]), np.concatenate([y_left, np.where(noise, 1 - y_right, y_right)])
    order = rng.permutation(len(X))
    return X[order], y[order]


def expected(learner, X, y, new, soft):
    """The choice and the interpolation in a few lines, with scikit-learn's leave-one-out."""
    centres = learner.centroids_
    gaps = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=2))
    np.fill_diagonal(gaps, np.inf)
    widths = learner.overlap * gaps.min(axis=1)

    def weights(rows):
        found = np.exp(-(np.sqrt(((rows[:, None] - centres) ** 2).sum(axis=2)) ** 2 / widths**2))
        found /= found.sum(axis=1, keepdims=True)
        return found if soft else np.eye(len(centres))[found.argmax(axis=1)]

    models = [KNNClassifier(k, distance) for distance in DISTANCES for k in range(1, learner.most_neighbours + 1)]
    wrong = np.array([cross_val_predict(model, X, y, cv=LeaveOneOut()) != y for model in models])
    best = (wrong @ weights(X)).argmin(axis=0)
    each = [models[place].fit(X, y).predict_proba(new) for place in best]
    return sum(weights(new)[:, region, None] * each[region] for region in range(len(centres)))


@pytest.mark.parametrize("interpolation", ["soft", "nearest"])
def test_each_region_has_its_best_model_and_their_outputs_are_interpolated(interpolation):
    X, y = two_regions(1, 20)
    new = np.random.default_rng(3).uniform(-10, 10, (25, 2))
    learner = LocalModelsClassifier(3, 4, 0.8, interpolation).fit(X, y)
    np.testing.assert_allclose(
        learner.predict_proba(new), expected(learner, X, y, new, interpolation == "soft"), atol=1e-7
    )


def test_regions_that_need_different_numbers_of_neighbours_get_them():
    X, y = two_regions()
    learner = LocalModelsClassifier(2, 15, interpolation="nearest").fit(X, y)
    left, right = (learner.models_[place] for place in learner.model_of_region_[learner.centroids_[:, 0].argsort()])
    assert left.k < right.k


def test_local_numbers_are_interpolated():
    rng = np.random.default_rng(0)
    X = rng.uniform(-5, 5, (80, 1))
    y = np.where(X[:, 0] < 0, np.sin(6 * X[:, 0]), rng.normal(size=80))
    learner = LocalModelsRegressor(2, 12).fit(X, y)
    assert len(learner.models_) == 2
    at = np.array([[-4.0], [0.0], [4.0]])
    outputs = np.array([model.predict(at) for model in learner.models_])
    assert np.all(learner.predict(at) <= outputs.max(axis=0) + 1e-9)
    assert np.all(learner.predict(at) >= outputs.min(axis=0) - 1e-9)


def test_one_region_is_one_model():
    X, y = two_regions(2, 15)
    learner = LocalModelsClassifier(1, 5).fit(X, y)
    (model,) = learner.models_
    np.testing.assert_allclose(
        learner.predict_proba(X), KNNClassifier(model.k, model.distance).fit(X, y).predict_proba(X)
    )
