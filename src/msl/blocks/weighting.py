"""Weightings: how a neighbour's vote falls with its distance, as small parameter objects."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from msl.blocks.base import Floats
from msl.blocks.public import public
from msl.blocks.slot import Filling

#: Where the straight line of the triangular weighting meets zero, in units of the reach: just beyond it.
TRIANGLE_BASE = 1.01
#: A neighbour at the radius itself is inside, whatever the last digits of its distance.
RIM = 1.0 + 1e-6


class Weighting(Filling):
    """Votes of neighbours by their distance. Only their ratios matter, and the nearest one always has a vote."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        """One vote for each neighbour; `lengths` is (rows, neighbours), nearest first, `reach` the distance of the
        farthest neighbour used, or the radius."""
        raise NotImplementedError


@public
class UniformWeighting(Weighting):
    """Every neighbour counts the same."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        return np.ones_like(lengths)


@public
class InverseWeighting(Weighting):
    """A neighbour counts by the inverse of its distance; those at distance 0 outvote all others."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        nearest = lengths[:, :1]
        # In units of the nearest, so that tiny distances do not overflow.
        return np.divide(nearest, lengths, out=np.ones_like(lengths), where=lengths > 0)


@public
class GaussianWeighting(Weighting):
    """A neighbour counts by exp(-(d / width)²), in units of the reach."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"width": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, width: float = 1.0) -> None:
        self.width = width

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        squares = np.square(relative(lengths, reach) / self.width)
        # Relative to the nearest, so that not all votes underflow when the width is small.
        return np.asarray(np.exp(squares[:, :1] - squares))


@public
class HardSphereWeighting(Weighting):
    """Neighbours within a fraction of the reach count the same, those outside not at all; the nearest always does."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"fraction": [Interval(Real, 0, None, closed="left")]}

    def __init__(self, fraction: float = 0.5) -> None:
        self.fraction = fraction

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        units = relative(lengths, reach)
        return (units <= np.maximum(units[:, :1], self.fraction) * RIM).astype(np.float64)


@public
class TriangularWeighting(Weighting):
    """A neighbour's vote falls in a straight line to nothing just beyond the reach."""

    def votes(self, lengths: Floats, reach: Floats) -> Floats:
        return 1.0 - relative(lengths, reach) / TRIANGLE_BASE


def relative(lengths: Floats, reach: Floats) -> Floats:
    """Lengths in units of the reach, 0 where the reach is 0."""
    units = np.broadcast_to(reach[:, None], lengths.shape)
    return np.divide(lengths, units, out=np.zeros_like(lengths), where=units > 0)


WEIGHTINGS: Mapping[str, type[Weighting]] = {
    "uniform": UniformWeighting,
    "inverse": InverseWeighting,
    "gaussian": GaussianWeighting,
    "hard_sphere": HardSphereWeighting,
    "triangular": TriangularWeighting,
}
