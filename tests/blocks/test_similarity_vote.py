"""The vote and its tie rules, case by case."""

import numpy as np
import pytest

from msl.blocks.similarity.neighbour_search import Neighbourhood
from msl.blocks.similarity.weightings import InverseWeighting, UniformWeighting, class_outputs, number_outputs


def hood(lengths, members=None):
    lengths = np.atleast_2d(np.array(lengths, dtype=float))
    members = np.ones(lengths.shape, dtype=bool) if members is None else np.atleast_2d(members)
    return Neighbourhood(np.tile(np.arange(lengths.shape[1]), (len(lengths), 1)), lengths, members, lengths.max(axis=1))


def decide(lengths, classes, frequency, risk=None, weighting=None):
    near = hood(lengths)
    outputs = class_outputs(
        near,
        (weighting or UniformWeighting()).shares(near),
        np.eye(len(frequency))[classes],
        np.array(frequency, dtype=float),
        risk,
    )
    np.testing.assert_allclose(outputs.sum(axis=1), 1.0, rtol=1e-12)
    assert np.all(outputs >= 0)
    return int(outputs[0].argmax()), outputs[0]


def test_the_majority_wins():
    winner, outputs = decide([1, 2, 3], [0, 1, 1], [9, 1])
    assert winner == 1
    np.testing.assert_allclose(outputs, [1 / 3, 2 / 3])


def test_a_tie_goes_to_the_class_of_the_nearest_row():
    assert decide([1, 2], [1, 0], [9, 1])[0] == 1
    assert decide([1, 2], [0, 1], [1, 9])[0] == 0


def test_the_nearest_rows_of_other_classes_do_not_decide_a_tie():
    # Class 2 is nearest but not tied; among the tied ones, class 1 is nearer.
    assert decide([1, 2, 3, 4, 5], [2, 1, 0, 1, 0], [9, 1, 1])[0] == 1


def test_several_nearest_rows_vote_on_a_tie():
    assert decide([1, 1, 1, 2], [1, 0, 1, 0], [9, 1])[0] == 1


def test_then_the_more_frequent_class_wins():
    assert decide([1, 1], [0, 1], [3, 5])[0] == 1
    assert decide([1, 1], [0, 1], [5, 3])[0] == 0


def test_one_row_more_is_not_more_frequent():
    assert decide([1, 1], [0, 1], [3, 4])[0] == 0
    assert decide([1, 1], [0, 1], [4, 3])[0] == 0


def test_a_tie_moves_probabilities_by_next_to_nothing():
    outputs = decide([1, 1], [0, 1], [3, 5])[1]
    assert outputs[1] > outputs[0]
    np.testing.assert_allclose(outputs, 0.5, atol=1e-8)


def test_rounding_noise_in_weighted_votes_is_a_tie():
    # 1/3 + 1/6 and 1/2 differ in the last digit or not at all.
    winner, _ = decide([2, 3, 6], [0, 1, 1], [1, 9], weighting=InverseWeighting())
    assert winner == 0


def test_risk_decides_by_the_lowest_expected_cost():
    risk = np.array([[0.0, 1.0], [5.0, 0.0]])
    assert decide([1, 2, 3], [0, 0, 1], [5, 5], risk)[0] == 1
    assert decide([1, 2, 3], [0, 0, 1], [5, 5])[0] == 0


def test_equal_costs_give_the_probabilities():
    risk = 1.0 - np.eye(3)
    np.testing.assert_allclose(decide([1, 2, 3, 4], [0, 0, 1, 2], [1, 1, 1], risk)[1], [0.5, 0.25, 0.25], atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_risk_against_explicit_expectation(seed):
    rng = np.random.default_rng(seed)
    risk, classes = rng.random((4, 4)), rng.integers(0, 4, 7)
    winner, _ = decide(rng.random(7), classes, [1, 1, 1, 1], risk)
    shares = np.bincount(classes, minlength=4) / 7
    assert winner == (shares @ risk).argmin()


def test_no_cost_at_all_follows_the_class_frequencies():
    np.testing.assert_allclose(decide([1, 1, 1], [0, 0, 1], [1, 3], np.zeros((2, 2)))[1], [0.25, 0.75])


def test_non_members_do_not_vote():
    near = hood([[1, 2, 2]], [[True, False, False]])
    outputs = class_outputs(near, UniformWeighting().shares(near), np.eye(2)[[0, 1, 1]], np.ones(2), None)
    assert outputs.tolist() == [[1, 0]]


def test_numbers_are_averaged_by_votes():
    near = hood([1, 2])
    uniform, inverse = UniformWeighting().shares(near), InverseWeighting().shares(near)
    assert number_outputs(near, uniform, np.array([1.0, 4.0])).tolist() == [2.5]
    np.testing.assert_allclose(number_outputs(near, inverse, np.array([1.0, 4.0])), [2.0])
    assert number_outputs(near, uniform, np.array([1e308, 1e308])).tolist() == [1e308]
