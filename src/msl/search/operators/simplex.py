"""The simplex method of Nelder and Mead (1965) on some dimensions of a point, with the coefficients 1, 2, ½, ½."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from msl.search.base import Observation, Query, Vector, best_of, worse_than
from msl.search.setting import Inner

_FIRST_STEP = 0.25
_SMALLEST = 1e-3  # a smaller simplex makes no difference to the losses of models
_EVALUATIONS = 200  # per dimension


def simplex(here: Observation, dimensions: Sequence[int]) -> Inner:
    """Returns the best corner, or the given point; corners stay inside the cube."""
    columns = list(dimensions)

    def at(corner: Vector) -> Vector:
        vector = here.vector.copy()
        vector[columns] = np.clip(corner, 0.0, 1.0)
        return vector

    start = here.vector[columns]
    observations = [here, *(yield [Query(at(corner)) for corner in _corners_around(start)])]
    left = _EVALUATIONS * len(columns) - len(observations)

    while left > 0:
        observations.sort(key=lambda one: one.loss)
        corners = np.array([one.vector[columns] for one in observations])
        best, worst = observations[0], observations[-1]
        if np.abs(corners[1:] - corners[0]).max() < _SMALLEST:
            break
        centre = corners[:-1].mean(axis=0)
        away = centre - corners[-1]

        (reflected,) = yield [Query(at(centre + away), cutoff=worse_than(worst.loss))]
        left -= 1
        if _is_below(reflected, best):
            (expanded,) = yield [Query(at(centre + 2.0 * away), cutoff=worse_than(reflected.loss))]
            left -= 1
            observations[-1] = expanded if _is_below(expanded, reflected) else reflected
            continue
        if _is_below(reflected, observations[-2]):
            observations[-1] = reflected
            continue
        target = reflected if _is_below(reflected, worst) else worst
        half = 0.5 * away if target is reflected else -0.5 * away
        (contracted,) = yield [Query(at(centre + half), cutoff=worse_than(target.loss))]
        left -= 1
        if _is_below(contracted, target):
            observations[-1] = contracted
            continue
        shrunk = [corners[0] + 0.5 * (corner - corners[0]) for corner in corners[1:]]
        observations = [best, *(yield [Query(at(corner)) for corner in shrunk])]
        left -= len(shrunk)
    return best_of([here, *observations]) or here


def _corners_around(start: Vector) -> list[Vector]:
    """A step along each axis, in the direction that stays in the cube."""
    steps = np.where(start + _FIRST_STEP <= 1.0, _FIRST_STEP, -_FIRST_STEP)
    return [start + step for step in np.diag(steps)]


def _is_below(one: Observation, other: Observation) -> bool:
    return not one.bound and one.loss < other.loss
