"""Decisions by the lowest expected cost, against the expectation itself."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from msl.blocks.base.chain import ChainClassifier
from msl.blocks.calibration import LeastRisk
from msl.blocks.similarity.knn import KNNClassifier


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_output_has_the_lowest_expected_cost(seed):
    rng = np.random.default_rng(seed)
    costs, outputs = rng.random((4, 4)), rng.dirichlet(np.ones(4), 50)
    found = LeastRisk(costs).fit(outputs, rng.integers(0, 4, 50) % 4).transform(outputs)
    np.testing.assert_array_equal(found.argmax(axis=1), (outputs @ costs).argmin(axis=1))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_equal_costs_leave_probabilities_as_they_are():
    outputs = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    y = np.arange(20) % 3
    np.testing.assert_allclose(LeastRisk().fit(outputs, y).transform(outputs), outputs)
    np.testing.assert_allclose(LeastRisk(np.zeros((3, 3))).fit(outputs, y).transform(outputs), 1 / 3)


def test_a_costly_error_is_avoided():
    X, y = load_iris(return_X_y=True)
    costs = [[0, 1, 1], [1, 0, 1], [1, 20, 0]]
    plain = ChainClassifier(learner=KNNClassifier(15)).fit(X, y).predict(X)
    cautious = ChainClassifier(learner=KNNClassifier(15), posts=[LeastRisk(costs)]).fit(X, y).predict(X)
    assert ((cautious == 1) & (y == 2)).sum() < ((plain == 1) & (y == 2)).sum()


def test_a_matrix_of_another_size_is_refused():
    with pytest.raises(ValueError, match="3 x 3"):
        LeastRisk([[0, 1], [1, 0]]).fit(np.eye(3), np.arange(3))
