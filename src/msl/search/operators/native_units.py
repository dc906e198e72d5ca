"""The units that a swarm moves in: those of the unit cube, or the native ones of each dimension.

In native units a position is the number that the model gets: 120 units, the third learner. Where alternatives share a
dimension, a number is kept when the alternative changes, and put into the range of the new one. So 120 units of one
learner become a `coef0` of 1 when the next learner reads them, as in the original program of full model selection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from msl.search.base import SearchSpace, Vector, Vectors
from msl.search.strategy_context import Setting

#: Takes shares that may lie outside of the cube into it.
Wall = Callable[[Vectors], Vectors]


def clipped(shares: Vectors) -> Vectors:
    return np.clip(shares, 0.0, 1.0)


def reflected(shares: Vectors) -> Vectors:
    return np.asarray(1.0 - np.abs(shares % 2.0 - 1.0))


class Units(Protocol):
    def positions(self, points: Vectors) -> Vectors:
        """The positions of points of the cube."""
        ...

    def shares(self, positions: Vectors, wall: Wall) -> Vectors:
        """The points of positions, which lie outside of the cube where a position is beyond its range."""
        ...


class CubeUnits:
    """Every dimension is 1 wide."""

    def positions(self, points: Vectors) -> Vectors:
        return points

    def shares(self, positions: Vectors, wall: Wall) -> Vectors:
        return positions


class NativeUnits:
    """Every dimension has the units of its values."""

    def __init__(self, search_space: SearchSpace) -> None:
        self._search_space = search_space

    def positions(self, points: Vectors) -> Vectors:
        found = []
        for point in points:
            lows, highs = self._search_space.ends_here(point)
            found.append(lows + point * (highs - lows))
        return np.array(found)

    def shares(self, positions: Vectors, wall: Wall) -> Vectors:
        return np.array([self._share(position, wall) for position in positions])

    def _share(self, position: Vector, wall: Wall) -> Vector:
        """Which range a dimension has may depend on others, so the ranges are read until they no longer change: at
        each reading at least one more level of alternatives is right."""
        lows, highs = self._search_space.lows, self._search_space.highs
        for _ in range(self._search_space.n_dimensions + 1):
            share = _share_between(lows, highs, position)
            now_lows, now_highs = self._search_space.ends_here(wall(share))
            if np.array_equal(now_lows, lows) and np.array_equal(now_highs, highs):
                break
            lows, highs = now_lows, now_highs
        return share


def _share_between(lows: Vector, highs: Vector, position: Vector) -> Vector:
    widths = highs - lows
    return np.asarray((position - lows) / np.where(widths > 0.0, widths, 1.0))


def units_named(name: str, search_space: SearchSpace) -> Units:
    return NativeUnits(search_space) if name == "native" else CubeUnits()


def with_low_shared(setting: Setting, points: Vectors) -> Vectors:
    """Points whose dimensions with a range for each alternative are drawn anew: between 0 and 1 in native units, put
    into the range of the alternative there. Seeds stay as they are, and so do points that would not be models."""
    space, units = setting.search_space, NativeUnits(setting.search_space)
    first = len(setting.seeds(len(points)))
    positions = units.positions(points)
    positions[:, space.varied] = setting.rng.random((len(points), int(space.varied.sum())))
    moved = clipped(units.shares(positions, clipped))
    is_kept = np.array([place < first or space.decode(point) is None for place, point in enumerate(moved)])
    return np.where(is_kept[:, None], points, moved)
