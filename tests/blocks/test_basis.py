"""Radial basis functions against their formulas."""

import numpy as np
import pytest
from sklearn.base import clone

from msl.blocks.learners.rbf import BASES

V = np.array([[0.0, 0.5, 1.0], [2.0, 3.0, 40.0]])
SIGMA = np.array([0.5, 1.0, 2.0])
FORMULAS = {
    "gaussian": lambda v, s: np.exp(-(v**2) / s**2),
    "thin_plate": lambda v, s: v**2 * np.log(np.where(v > 0, v, 1.0)),
    "multiquadric": lambda v, s: (v**2 + s**2) ** 0.5,
    "inverse_multiquadric": lambda v, s: (v**2 + s**2) ** -0.5,
}


@pytest.mark.parametrize("name", BASES)
def test_values(name):
    basis = BASES[name]()
    np.testing.assert_allclose(basis.values(V**2, SIGMA), FORMULAS[name](V, SIGMA), rtol=1e-12, atol=1e-100)
    assert repr(clone(basis)) == repr(basis)


def test_far_responses_are_negligible_but_not_slow_to_compute_with():
    far = BASES["gaussian"]().values(np.array([[1e10]]), np.array([1.0]))
    assert 1e-200 < far[0, 0] < 1e-100
