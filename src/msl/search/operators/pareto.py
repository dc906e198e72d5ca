"""Pareto dominance: fronts, crowding distance, hypervolume, and an archive with ε-dominance.

Losses are a matrix with a row per point, all minimised. A row with an infinite loss is dominated by every finite row,
and is not compared with others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from msl.search.base import Observation

Losses = NDArray[np.float64]
Places = NDArray[np.intp]
#: Differences of larger numbers may overflow.
_LARGE = 1e300
#: How many rows are compared at once with all others.
_BLOCK = 512


def losses_of(observations: Sequence[Observation]) -> Losses:
    """The losses as a matrix; a point that failed in one objective failed in all."""
    losses = np.array([one.losses for one in observations], dtype=np.float64)
    losses[~np.isfinite(losses).all(axis=1)] = np.inf
    return losses


def dominates(a: Losses, b: Losses) -> NDArray[np.bool_]:
    """Whether a is nowhere worse than b and somewhere better; along the last axis."""
    return np.asarray((a <= b).all(axis=-1) & (a < b).any(axis=-1))


def dominance(losses: Losses, others: Losses | None = None) -> NDArray[np.bool_]:
    """Which row dominates which row, of the same losses or of others."""
    pairs = list(zip(losses.T, losses.T if others is None else others.T, strict=True))
    nowhere_worse = np.logical_and.reduce([one[:, None] <= other for one, other in pairs])
    somewhere_better = np.logical_or.reduce([one[:, None] < other for one, other in pairs])
    return np.asarray(nowhere_worse & somewhere_better)


def dominators(losses: Losses) -> Places:
    """The number of rows that dominate each row."""
    return _dominators_among(losses, np.arange(len(losses)))


def _dominators_among(losses: Losses, places: Places) -> Places:
    """How many of these rows dominate each row, in blocks, since the whole matrix may not fit into memory."""
    counts = np.zeros(len(losses), dtype=np.intp)
    for first in range(0, len(places), _BLOCK):
        counts += dominance(losses[places[first : first + _BLOCK]], losses).sum(axis=0)
    return counts


def non_dominated(losses: Losses) -> Places:
    """The places of the rows that no other dominates."""
    kept = np.zeros(0, dtype=np.intp)
    for first in range(0, len(losses), _BLOCK):
        places = np.concatenate([kept, np.arange(first, min(first + _BLOCK, len(losses)))])
        kept = places[~dominance(losses[places]).any(axis=0)]
    return kept


def fronts(losses: Losses) -> Iterator[Places]:
    """The places of the rows, front by front: those that none dominates, then those that only these dominate, …"""
    dominating = dominance(losses) if len(losses) <= _BLOCK else None
    above = dominators(losses) if dominating is None else dominating.sum(axis=0)
    left = np.ones(len(losses), dtype=np.bool_)
    while left.any():
        front = np.flatnonzero(left & (above == 0))
        yield front
        left[front] = False
        above -= _dominators_among(losses, front) if dominating is None else dominating[front].sum(axis=0)


def crowding(losses: Losses) -> NDArray[np.float64]:
    """The crowding distance of each row: large for few neighbours, infinite at the ends, 0 for failed points."""
    room = np.zeros(len(losses))
    if len(losses) == 0 or not np.isfinite(losses).all():
        return room
    for column in losses.T:
        order = np.argsort(column, kind="stable")
        ranked = column[order]
        largest = np.abs(ranked).max()
        ranked = ranked / largest if largest > _LARGE else ranked
        spread = ranked[-1] - ranked[0]
        room[order[[0, -1]]] = np.inf
        if spread > 0 and len(losses) > 2:
            room[order[1:-1]] += (ranked[2:] - ranked[:-2]) / spread
    return room


def best_places(losses: Losses, size: int) -> Places:
    """The places of the best rows: whole fronts while they fit, then the least crowded rows of the next front."""
    kept: list[Places] = []
    room = size
    for front in fronts(losses):
        if len(front) > room:
            front = front[np.argsort(-crowding(losses[front]), kind="stable")[:room]]
        kept.append(front)
        room -= len(front)
        if room == 0:
            break
    return np.concatenate(kept)


def by_rank(observations: Sequence[Observation]) -> list[Observation]:
    """The best first: by loss and complexity, or with several objectives by front and crowding distance."""
    if not observations or len(observations[0].losses) == 1:
        return sorted(observations, key=lambda one: (one.loss, one.complexity))
    losses = losses_of(observations)
    ordered = [front[np.argsort(-crowding(losses[front]), kind="stable")] for front in fronts(losses)]
    return [observations[place] for place in np.concatenate(ordered)]


def front_of(observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """The non-dominated ones; of equal losses the simplest, then the earliest."""
    simplest: dict[tuple[float, ...], Observation] = {}
    for one in observations:
        if one.is_exact and (one.losses not in simplest or one.complexity < simplest[one.losses].complexity):
            simplest[one.losses] = one
    distinct = sorted(simplest.values(), key=lambda one: one.losses)
    if not distinct:
        return ()
    return tuple(distinct[place] for place in non_dominated(losses_of(distinct)))


def hypervolume(losses: Losses, reference: Sequence[float]) -> float:
    """The dominated volume below the reference point, for any number of objectives."""
    corner = np.asarray(reference, dtype=np.float64)
    inside = losses[(losses < corner).all(axis=1)] if len(losses) else losses
    with np.errstate(over="ignore"):  # huge losses give an infinite volume
        return _volume(np.unique(inside, axis=0), corner) if len(inside) else 0.0


def _volume(losses: Losses, corner: NDArray[np.float64]) -> float:
    """The sum of slices along the first objective, by which the rows are sorted."""
    if len(corner) == 1:
        return float(corner[0] - losses.min())
    thickness = np.diff(np.append(losses[:, 0], corner[0]))
    if len(corner) == 2:
        return float(np.sum(thickness * (corner[1] - np.minimum.accumulate(losses[:, 1]))))
    slices = (np.unique(losses[: row + 1, 1:], axis=0) for row in range(len(losses)))
    return float(sum(thick * _volume(one, corner[1:]) for thick, one in zip(thickness, slices, strict=True) if thick))


class EpsilonArchive:
    """Points of which none ε-dominates another (Laumanns et al., 2002): losses are divided into boxes.

    The side of a box is the share ε of the range of each objective among all points that came, so that ε means the same
    for an error rate and for a number of features. A box that another box dominates is dropped. In a box, the
    dominating point is kept, or the nearer to its corner.
    """

    def __init__(self, epsilon: float) -> None:
        self._epsilon = epsilon
        self._range: tuple[Losses, Losses] | None = None
        self._sides: Losses = np.zeros(0)
        self._kept: dict[tuple[float, ...], Observation] = {}

    @property
    def observations(self) -> tuple[Observation, ...]:
        """The points by their losses."""
        return tuple(sorted(self._kept.values(), key=lambda one: one.losses))

    def add(self, observations: Sequence[Observation]) -> None:
        exact = [one for one in observations if one.is_exact]
        if not exact:
            return
        losses = losses_of(exact)
        if self._widen(losses):
            # A wider range gives larger boxes, in which points may meet that were in two.
            before, self._kept = self._kept, {}
            for one in before.values():
                self._add(one)
        for place in non_dominated(losses):
            self._add(exact[place])

    def _widen(self, losses: Losses) -> bool:
        """Takes the range of these losses into account; whether the sides of the boxes have changed."""
        low, high = losses.min(axis=0), losses.max(axis=0)
        if self._range is not None:
            low, high = np.minimum(low, self._range[0]), np.maximum(high, self._range[1])
        self._range = low, high
        with np.errstate(over="ignore"):  # huge losses share a box
            sides = self._epsilon * (high - low) if self._epsilon > 0 else np.zeros(len(low))
        before, self._sides = self._sides, sides
        return len(before) > 0 and not np.array_equal(before, sides)

    def _add(self, one: Observation) -> None:
        box = self._box(one)
        if box in self._kept:
            if self._is_better(one, self._kept[box], box):
                self._kept[box] = one
            return
        boxes = np.array(list(self._kept)).reshape(-1, len(box))
        if dominates(boxes, np.array(box)).any():
            return
        for dominated in boxes[dominates(np.array(box), boxes)]:
            del self._kept[tuple(dominated.tolist())]
        self._kept[box] = one

    def _box(self, one: Observation) -> tuple[float, ...]:
        losses = np.asarray(one.losses)
        boxes = np.divide(losses, self._sides, out=losses.copy(), where=self._sides > 0)
        return tuple(np.where(self._sides > 0, np.floor(boxes), losses).tolist())

    def _is_better(self, new: Observation, old: Observation, box: tuple[float, ...]) -> bool:
        a, b = np.asarray(new.losses), np.asarray(old.losses)
        if dominates(a, b) or dominates(b, a):
            return bool(dominates(a, b))
        with np.errstate(over="ignore", invalid="ignore"):
            sides = np.where(self._sides > 0, self._sides, 1.0)
            corner = np.where(self._sides > 0, np.asarray(box) * self._sides, a)
            return bool(np.sum(((a - corner) / sides) ** 2) < np.sum(((b - corner) / sides) ** 2))
