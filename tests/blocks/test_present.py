"""Classes that a fold has lost, and what their scores become."""

from __future__ import annotations

import numpy as np

from msl.blocks.numerics.class_statistics import (
    balanced_weights,
    present_classes,
    probabilities_of_all,
    scores_of_all,
    signed_targets,
)


def test_codes_among_the_present():
    present, codes = present_classes(np.array([4, 1, 4, 0]), 6)
    assert present.tolist() == [0, 1, 4]
    assert codes.tolist() == [2, 1, 2, 0]


def test_targets_are_signs():
    assert signed_targets(np.array([0, 1, 0]), 2).tolist() == [[-1], [1], [-1]]
    assert signed_targets(np.array([0, 2, 1]), 3).tolist() == [[1, -1, -1], [-1, -1, 1], [-1, 1, -1]]
    assert signed_targets(np.array([0, 0]), 1).tolist() == [[1], [1]]


def test_balanced_weights_give_classes_equal_sums_and_a_mean_of_one():
    codes = np.array([0, 0, 0, 1, 2, 2])
    weights = balanced_weights(codes, 3)
    np.testing.assert_allclose(np.bincount(codes, weights), 2.0)
    np.testing.assert_allclose(weights.mean(), 1.0)


def test_scores_spread_over_all_classes():
    one_column = np.array([[2.0], [-3.0]])
    assert scores_of_all(one_column, np.array([0, 1]), 2).tolist() == [[-2, 2], [3, -3]]
    assert scores_of_all(one_column, np.array([0, 2]), 3).tolist() == [[-2, -3, 2], [3, -4, -3]]
    assert scores_of_all(one_column, np.array([1]), 2).tolist() == [[1, 2], [-4, -3]]


def test_probabilities_spread_over_all_classes():
    assert probabilities_of_all(np.array([[0.25, 0.75]]), np.array([0, 2]), 3).tolist() == [[0.25, 0.0, 0.75]]
