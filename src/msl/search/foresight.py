"""Foresight: the new points from which a forest, grown on what is known, expects the most."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from msl.search.anywhere import anywhere
from msl.search.ask import Told, Vector, Vectors
from msl.search.flight import written_back
from msl.search.forest import Forest, columns_of, expected_gain
from msl.search.fresh import Fresh
from msl.search.setting import Setting

#: What a forest learns from at most, how many points it looks at of each kind, and near how many of the best ones.
_REMEMBERED, _CANDIDATES, _NEAR = 400, 256, 8
#: With more genes than this a forest has too few points to tell which of them matter, and takes long.
_MOST_GENES = 300
#: How far a number is moved by a little, and how often it is.
_NEARBY, _OFTEN = 0.15, 0.7


def foreseen(setting: Setting, fresh: Fresh, ranked: Sequence[Told], size: int) -> list[Vector]:
    """Of many new models, near the best ones and anywhere, those with the most expected gain.

    `ranked` has the best first. The forest learns places instead of losses: no wild loss, nor one of a model that
    fails, drowns the differences of the others.
    """
    terrain, rng = setting.terrain, setting.rng
    if not 0 < terrain.dimensions <= _MOST_GENES:
        return []
    known = written_back(ranked[:_REMEMBERED])
    places = _places(ranked[:_REMEMBERED])
    forest = Forest.grown(columns_of(terrain, known), places, rng)
    points = np.concatenate([anywhere(terrain, _CANDIDATES, rng), _near(setting, known[:_NEAR])])
    gains = expected_gain(*forest.foretold(columns_of(terrain, points)), best=0.0)
    return list(islice(fresh.of(points[np.argsort(-gains, kind="stable")]), size))


def _places(ranked: Sequence[Told]) -> Vector:
    """0 for the best, equal ones alike."""
    losses = np.array([one.loss for one in ranked])
    return np.concatenate([[0.0], np.cumsum(losses[1:] != losses[:-1])])


def _near(setting: Setting, best: Vectors) -> Vectors:
    """The best points with one to three genes changed: numbers by a little or to anywhere, others to anywhere."""
    rng, ordered = setting.rng, setting.terrain.ordered
    points = best[rng.integers(0, len(best), _CANDIDATES)]
    changes = rng.random(points.shape).argsort(axis=1) < rng.integers(1, 4, (len(points), 1))
    little = ordered & (rng.random(points.shape) < _OFTEN)
    moved = np.where(little, points + rng.normal(0.0, _NEARBY, points.shape), rng.random(points.shape))
    return np.asarray(np.clip(np.where(changes, moved, points), 0.0, 1.0))
