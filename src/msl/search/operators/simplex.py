"""The simplex method of Nelder and Mead (1965) on some dimensions of a point, with the coefficients 1, 2, ½, ½.

The simplex moves on the reals, also where a dimension has a step: an evaluation rounds a corner to a model, but the
corner stays where it was. Otherwise the corners would soon round to the same model and the search would end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from msl.search.base import Observation, Query, Vector, best_of, worse_than
from msl.search.strategy_context import Inner

_FIRST_STEP = 0.25
_SMALLEST = 1e-3  # a smaller simplex makes no difference to the losses of models
_EVALUATIONS = 200  # per dimension


@dataclass(frozen=True, slots=True, eq=False)
class _Corner:
    """A corner of the simplex, and the observation of the model that it was rounded to."""

    place: Vector
    found: Observation

    def is_below(self, other: _Corner) -> bool:
        return not self.found.bound and self.found.loss < other.found.loss


def simplex(here: Observation, dimensions: Sequence[int]) -> Inner:
    """Returns the best corner, or the given point; corners stay inside the cube."""
    columns = list(dimensions)

    def query(place: Vector, cutoff: float | None = None) -> Query:
        vector = here.vector.copy()
        vector[columns] = place
        return Query(vector, cutoff=cutoff)

    def inside(place: Vector) -> Vector:
        return np.clip(place, 0.0, 1.0)

    start = here.vector[columns]
    places = _corners_around(start)
    observations = yield [query(place) for place in places]
    corners = [_Corner(start, here), *map(_Corner, places, observations)]
    left = _EVALUATIONS * len(columns) - len(places)
    best = here

    while left > 0:
        corners.sort(key=lambda one: one.found.loss)
        best = best_of([best, corners[0].found]) or here
        positions = np.array([one.place for one in corners])
        if np.abs(positions[1:] - positions[0]).max() < _SMALLEST:
            break
        worst = corners[-1]
        centre = positions[:-1].mean(axis=0)
        away = centre - worst.place

        place = inside(centre + away)
        (found,) = yield [query(place, worse_than(worst.found.loss))]
        reflected = _Corner(place, found)
        left -= 1
        if reflected.is_below(corners[0]):
            place = inside(centre + 2.0 * away)
            (found,) = yield [query(place, worse_than(reflected.found.loss))]
            expanded = _Corner(place, found)
            left -= 1
            corners[-1] = expanded if expanded.is_below(reflected) else reflected
            continue
        if reflected.is_below(corners[-2]):
            corners[-1] = reflected
            continue
        target = reflected if reflected.is_below(worst) else worst
        place = inside(centre + (0.5 * away if target is reflected else -0.5 * away))
        (found,) = yield [query(place, worse_than(target.found.loss))]
        contracted = _Corner(place, found)
        left -= 1
        if contracted.is_below(target):
            corners[-1] = contracted
            continue
        shrunk = [positions[0] + 0.5 * (position - positions[0]) for position in positions[1:]]
        observations = yield [query(place) for place in shrunk]
        corners = [corners[0], *map(_Corner, shrunk, observations)]
        left -= len(shrunk)
    return best_of([best, *(one.found for one in corners)]) or here


def _corners_around(start: Vector) -> list[Vector]:
    """A step along each axis, in the direction that stays in the cube."""
    steps = np.where(start + _FIRST_STEP <= 1.0, _FIRST_STEP, -_FIRST_STEP)
    return [start + step for step in np.diag(steps)]
