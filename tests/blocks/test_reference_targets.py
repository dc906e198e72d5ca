"""What references stand for, case by case."""

import numpy as np
import pytest

from msl.blocks.similarity.distances import Difference, Euclidean
from msl.blocks.similarity.fitted_distance import fit_metric
from msl.blocks.similarity.reference_points import ReferencePoints, TrainingRows, class_probabilities, number_values

X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])


def training_of(y, n_classes):
    metric = fit_metric(X, y, n_classes, Euclidean(), np.ones(1), Difference(), Difference(), ())
    return TrainingRows.of(X, y, n_classes, metric)


def probabilities(points, soft, rows=None, classes=None, y=(0, 0, 1, 2, 1)):
    training = training_of(np.array(y), 3)
    points = np.array(points)[:, None]
    chosen = ReferencePoints(points, rows, classes)
    return class_probabilities(training, chosen, training.metric.place(points), soft).tolist()


def test_rows_and_prototypes_have_their_own_class():
    assert probabilities([0.0, 10.0], soft=False, rows=np.array([0, 3])) == [[1, 0, 0], [0, 0, 1]]
    assert probabilities([0.0, 10.0], soft=False, classes=np.array([1, 0])) == [[0, 1, 0], [1, 0, 0]]


def test_points_take_the_majority_of_their_region_then_the_more_frequent_class():
    assert probabilities([1.0, 9.0], soft=False) == [[1, 0, 0], [0, 1, 0]]
    assert probabilities([1.0, 9.0], soft=False, y=(0, 2, 2, 2, 1)) == [[0, 0, 1], [0, 0, 1]]


def test_soft_references_have_the_frequencies_of_their_region():
    third = 1 / 3
    expected = [[2 * third, third, 0], [0, 0.5, 0.5]]
    np.testing.assert_allclose(probabilities([1.0, 10.0], soft=True, rows=np.array([1, 3])), expected)


def test_a_reference_without_rows_looks_at_the_nearest_one():
    # 100 is nearest to no row; its own nearest row is 11.
    for soft in (False, True):
        assert probabilities([1.0, 10.0, 100.0], soft=soft)[2] == [0, 1, 0]


@pytest.mark.parametrize(("soft", "expected"), [(False, [4.0, 8.0]), (True, [3.0, 7.0])])
def test_numbers_of_rows_or_of_their_regions(soft, expected):
    training = training_of(np.array([2.0, 4.0, 3.0, 8.0, 6.0]), 0)
    rows = np.array([1, 3])
    chosen = ReferencePoints(X[rows], rows)
    assert number_values(training, chosen, training.metric.place(X[rows]), soft).tolist() == expected


def test_numbers_of_points_are_means_of_their_regions():
    training = training_of(np.array([2.0, 4.0, 3.0, 8.0, 6.0]), 0)
    points = np.array([[1.0], [10.0], [100.0]])
    chosen = ReferencePoints(points)
    assert number_values(training, chosen, training.metric.place(points), soft=False).tolist() == [3.0, 7.0, 6.0]
