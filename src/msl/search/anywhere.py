"""Anywhere: points of the cube in which an optional part is as likely left out as there."""

from __future__ import annotations

import numpy as np

from msl.search.ask import Vectors
from msl.search.terrain import Terrain


def anywhere(terrain: Terrain, size: int, rng: np.random.Generator) -> Vectors:
    """Uniform points, but half of them without an optional part, however many alternatives it has.

    In the cube itself a step with twelve alternatives would be left out once in thirteen times, though most models that
    people use have none.
    """
    points = rng.random((size, terrain.dimensions))
    optional = np.flatnonzero(terrain.optional)
    if len(optional):
        levels = terrain.levels[optional]
        without = (terrain.absent[optional] + 0.5) / levels
        more = (0.5 - 1 / levels) / (1 - 1 / levels)
        points[:, optional] = np.where(rng.random((size, len(optional))) < more, without, points[:, optional])
    return points
