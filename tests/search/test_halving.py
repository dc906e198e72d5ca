"""What the forest of successive halving learns from: who got how far."""

import numpy as np

from msl.search.ask import Told
from msl.search.halving import _farthest_first


def test_models_are_ranked_by_how_far_they_got_and_failures_come_last() -> None:
    a, b, c, d = (np.array([place / 10]) for place in range(4))
    got_to = {
        0.1: [Told(a, (0.3,)), Told(b, (0.1,)), Told(c, (0.2,)), Told(d, (0.9,))],
        1.0: [Told(b, (0.5,)), Told(c, (float("inf"),)), Told(a, (0.4,))],
    }
    ranked = _farthest_first(got_to)
    assert [one.vector[0] for one in ranked] == [a[0], b[0], d[0], c[0]]
    assert [one.loss for one in ranked] == [0.4, 0.5, 0.9, float("inf")]
