"""Weightings against their formulas."""

import numpy as np
import pytest
from sklearn.base import clone

from msl.blocks.similarity.weightings import (
    WEIGHTINGS,
    GaussianWeighting,
    InverseWeighting,
    NeighbourWeighting,
    TriangularWeighting,
    UniformWeighting,
)

LENGTHS = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [5.0, 5.0, 5.0]])
REACH = np.array([4.0, 3.0, 0.0, 5.0])


def shares(weighting, lengths=LENGTHS, reach=REACH):
    votes = weighting.votes(lengths, reach)
    return votes / votes.sum(axis=1, keepdims=True)


def test_uniform():
    np.testing.assert_allclose(shares(UniformWeighting()), 1 / 3)


def test_inverse_with_zero_distances_first():
    third = 1 / 3
    expected = [[4 / 7, 2 / 7, 1 / 7], [0.5, 0.5, 0], [third] * 3, [third] * 3]
    np.testing.assert_allclose(shares(InverseWeighting()), expected)


def test_inverse_of_the_tiniest_numbers():
    np.testing.assert_allclose(shares(InverseWeighting(), np.array([[5e-324, 1.0]]), np.ones(1)), [[1, 0]], atol=1e-300)


@pytest.mark.parametrize("width", [0.3, 1.0, 2.0])
def test_gaussian_in_units_of_the_reach(width):
    raw = np.exp(-(((LENGTHS[0] / 4.0) / width) ** 2))
    np.testing.assert_allclose(shares(GaussianWeighting(width))[0], raw / raw.sum())
    np.testing.assert_allclose(shares(GaussianWeighting(width))[2:], 1 / 3)


def test_gaussian_of_a_tiny_width_leaves_the_nearest():
    np.testing.assert_allclose(shares(GaussianWeighting(1e-4))[0], [1, 0, 0])


def test_triangular_falls_in_a_straight_line_to_almost_nothing_at_the_reach():
    votes = TriangularWeighting().votes(LENGTHS, REACH)
    slope = np.diff(votes[0]) / np.diff(LENGTHS[0])
    np.testing.assert_allclose(slope, slope[0])
    assert 0 < votes[0, 2] < 0.02
    assert np.all(shares(TriangularWeighting())[2:] == 1 / 3)


@pytest.mark.parametrize("name", [name for name, kind in WEIGHTINGS.items() if issubclass(kind, NeighbourWeighting)])
def test_weightings_are_parameter_objects_whose_nearest_always_votes(name):
    weighting = WEIGHTINGS[name]()
    assert repr(clone(weighting)) == repr(weighting)
    votes = weighting.votes(LENGTHS, REACH)
    assert np.all(votes[:, 0] > 0)
    assert np.all(votes >= 0)
    assert np.all(np.diff(votes, axis=1) <= 0)


def test_a_width_out_of_range_is_named():
    with pytest.raises(ValueError, match="width"):
        GaussianWeighting(0.0).check()
