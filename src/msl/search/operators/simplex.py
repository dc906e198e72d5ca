"""Simplex: the method of Nelder and Mead (1965) on some genes of a point, with its usual coefficients 1, 2, ½, ½."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from msl.search.base import Observation, Query, Vector, best_of, worse_than
from msl.search.setting import Inner

_FIRST_STEP = 0.25
_SMALLEST = 1e-3  # the corners are one point to the losses of models
_EVALUATIONS = 200  # for each gene


def simplex(here: Observation, genes: Sequence[int]) -> Inner:
    """The best of the corners at the end, or this point; corners stay inside the cube."""
    columns = list(genes)

    def at(corner: Vector) -> Vector:
        vector = here.vector.copy()
        vector[columns] = np.clip(corner, 0.0, 1.0)
        return vector

    start = here.vector[columns]
    told = [here, *(yield [Query(at(corner)) for corner in _corners_around(start)])]
    left = _EVALUATIONS * len(columns) - len(told)

    while left > 0:
        told.sort(key=lambda one: one.loss)
        corners = np.array([one.vector[columns] for one in told])
        best, worst = told[0], told[-1]
        if np.abs(corners[1:] - corners[0]).max() < _SMALLEST:
            break
        centre = corners[:-1].mean(axis=0)
        away = centre - corners[-1]

        (reflected,) = yield [Query(at(centre + away), cutoff=worse_than(worst.loss))]
        left -= 1
        if _is_below(reflected, best):
            (expanded,) = yield [Query(at(centre + 2.0 * away), cutoff=worse_than(reflected.loss))]
            left -= 1
            told[-1] = expanded if _is_below(expanded, reflected) else reflected
            continue
        if _is_below(reflected, told[-2]):
            told[-1] = reflected
            continue
        target = reflected if _is_below(reflected, worst) else worst
        half = 0.5 * away if target is reflected else -0.5 * away
        (contracted,) = yield [Query(at(centre + half), cutoff=worse_than(target.loss))]
        left -= 1
        if _is_below(contracted, target):
            told[-1] = contracted
            continue
        shrunk = [corners[0] + 0.5 * (corner - corners[0]) for corner in corners[1:]]
        told = [best, *(yield [Query(at(corner)) for corner in shrunk])]
        left -= len(shrunk)
    return best_of([here, *told]) or here


def _corners_around(start: Vector) -> list[Vector]:
    """A step along each axis, to the side where there is room for it."""
    steps = np.where(start + _FIRST_STEP <= 1.0, _FIRST_STEP, -_FIRST_STEP)
    return [start + step for step in np.diag(steps)]


def _is_below(one: Observation, other: Observation) -> bool:
    return not one.bound and one.loss < other.loss
