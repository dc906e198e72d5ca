"""Propose points by a surrogate: extremely randomised trees (Geurts, Ernst and Wehenkel, 2006) predict losses, and
expected improvement chooses the points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from msl.search.base import Integers, Observation, SearchSpace, Vector, Vectors
from msl.search.operators.initialise import UnseenPoints, uniform_points
from msl.search.operators.swarm import written_back
from msl.search.strategy_context import Setting

#: The number of trees, and the most splits tried at a node: a third of the columns, but no more than this.
_TREES, _MOST_TRIED = 16, 32
#: A node with fewer rows is a leaf.
_SMALLEST = 4
_DEEPEST = 24


@dataclass(frozen=True, slots=True, eq=False)
class SurrogateForest:
    """The nodes of all trees; the first ones are the roots, and a leaf is its own child.

    All trees grow at once, level by level, which is fast: a strategy fits a new forest for every few points.
    """

    column: Integers
    threshold: Vector
    children: Integers
    mean: Vector

    @classmethod
    def fit(cls, rows: Vectors, losses: Vector, rng: np.random.Generator) -> SurrogateForest:
        """Every tree sees all rows. Splits are random, and the best of those tried is taken."""
        n, columns = rows.shape
        tried = min((columns + 2) // 3, _MOST_TRIED)
        row = np.tile(np.arange(n), _TREES)
        node = np.repeat(np.arange(_TREES), n)
        levels: list[tuple[Integers, Vector, Integers, Vector]] = []
        count, first = _TREES, 0
        for depth in range(_DEEPEST):
            size = np.bincount(node, minlength=count)
            mean = np.bincount(node, losses[row], count) / size
            column, threshold, is_split = _splits(rows, losses - losses.mean(), row, node, size, tried, rng)
            if depth == _DEEPEST - 1:
                is_split[:] = False
            place = np.cumsum(is_split) - 1
            own = first + np.arange(count)
            left = np.where(is_split, first + count + 2 * place, own)
            levels.append((column, threshold, np.stack([left, np.where(is_split, left + 1, own)], axis=1), mean))
            stays = is_split[node]
            row, node = row[stays], node[stays]
            if not len(row):
                break
            goes_right = rows[row, column[node]] >= threshold[node]
            node = 2 * place[node] + goes_right
            first, count = first + count, 2 * int(is_split.sum())
        return cls(*(np.concatenate(part) for part in zip(*levels, strict=True)))

    def predict(self, rows: Vectors) -> tuple[Vector, Vector]:
        """The mean and the standard deviation of the trees' predictions for each row."""
        node = np.broadcast_to(np.arange(_TREES), (len(rows), _TREES))
        for _ in range(_DEEPEST):
            goes_right = np.take_along_axis(rows, self.column[node], axis=1) >= self.threshold[node]
            below = self.children[node, goes_right.astype(np.intp)]
            if np.array_equal(below, node):
                break
            node = below
        leaves = self.mean[node]
        return leaves.mean(axis=1), leaves.std(axis=1)


def _splits(
    rows: Vectors,
    losses: Vector,
    row: Integers,
    node: Integers,
    size: Integers,
    tried: int,
    rng: np.random.Generator,
) -> tuple[Integers, Vector, NDArray[np.bool_]]:
    """For each node the best of some random splits: its column and threshold, and whether there is a useful one."""
    count = len(size)
    order = np.argsort(node, kind="stable")
    row, node = row[order], node[order]
    start = np.cumsum(size) - size
    column = rng.integers(0, rows.shape[1], (count, tried))
    values = rows[row[:, None], column[node]]
    low, high = np.minimum.reduceat(values, start), np.maximum.reduceat(values, start)
    threshold = high - rng.random((count, tried)) * (high - low)
    is_right = values >= threshold[node]
    loss = losses[row]
    all_sum = np.add.reduceat(loss, start)
    right = np.add.reduceat(is_right, start, axis=0, dtype=np.int64)
    right_sum = np.add.reduceat(np.where(is_right, loss[:, None], 0.0), start, axis=0)
    left, left_sum = size[:, None] - right, all_sum[:, None] - right_sum
    is_useful = (right > 0) & (left > 0)
    gain = right_sum**2 / np.maximum(right, 1) + left_sum**2 / np.maximum(left, 1)
    best = np.where(is_useful, gain, -np.inf).argmax(axis=1)
    each = np.arange(count)
    return column[each, best], threshold[each, best], is_useful[each, best] & (size >= _SMALLEST)


def columns_of(search_space: SearchSpace, vectors: Vectors) -> Vectors:
    """Points as features of a tree: numbers as they are, unordered choices one-hot encoded."""
    numbers = np.flatnonzero(search_space.ordered | (search_space.levels <= 2))
    choices = np.flatnonzero(~(search_space.ordered | (search_space.levels <= 2)))
    cells = search_space.cells(vectors)
    one_hot = [cells[:, [dimension]] == np.arange(search_space.levels[dimension]) for dimension in choices]
    return np.concatenate([vectors[:, numbers], *one_hot], axis=1).astype(np.float64)


def expected_improvement(mean: Vector, spread: Vector, best: float) -> Vector:
    """The expected improvement on the best loss, for normally distributed losses (Jones, Schonlau and Welch, 1998)."""
    spread = np.maximum(spread, 1e-12)
    z = (best - mean) / spread
    return np.asarray((best - mean) * ndtr(z) + spread * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


# --- acquisition ---


#: The most observations to learn from, how many candidates of each kind there are, and near how many of the best ones.
_REMEMBERED, _CANDIDATES, _NEAR = 400, 256, 8
#: Of how many candidates the costs are weighed, and how much: with 1 a search would never leave the cheapest learners.
_WEIGHED, _COST_POWER = 128, 0.5
#: With more dimensions a forest has too few points to learn which of them matter, and takes long.
_MOST_DIMENSIONS = 300
#: The standard deviation of a small change of a number, and how often a change is small.
_NEARBY, _OFTEN = 0.15, 0.7


def best_by_acquisition(
    setting: Setting, unseen: UnseenPoints, ranked: Sequence[Observation], size: int
) -> list[Vector]:
    """The new models with the highest expected improvement, of many candidates near the best ones and everywhere.

    `ranked` has the best first. The surrogate learns ranks instead of losses, so that outliers and failed models do not
    hide the differences between the others.
    """
    search_space, rng = setting.search_space, setting.rng
    if not 0 < search_space.n_dimensions <= _MOST_DIMENSIONS:
        return []
    known = written_back(ranked[:_REMEMBERED])
    places = _places(ranked[:_REMEMBERED])
    forest = SurrogateForest.fit(columns_of(search_space, known), places, rng)
    points = np.concatenate([uniform_points(search_space, _CANDIDATES, rng), _near(setting, known[:_NEAR])])
    gains = expected_improvement(*forest.predict(columns_of(search_space, points)), best=0.0)
    order = np.argsort(-gains, kind="stable")[:_WEIGHED]
    costs = np.array([search_space.cost(point) for point in points[order]])
    if (costs > 0.0).all():
        order = order[np.argsort(-gains[order] / costs**_COST_POWER, kind="stable")]
    return list(islice(unseen.of(points[order]), size))


def _places(ranked: Sequence[Observation]) -> Vector:
    """Ranks from 0 for the best; equal losses have equal ranks."""
    losses = np.array([one.loss for one in ranked])
    return np.concatenate([[0.0], np.cumsum(losses[1:] != losses[:-1])])


def _near(setting: Setting, best: Vectors) -> Vectors:
    """The best points with one to three dimensions changed: numbers a little or uniformly, others uniformly."""
    rng, ordered = setting.rng, setting.search_space.ordered
    points = best[rng.integers(0, len(best), _CANDIDATES)]
    changes = rng.random(points.shape).argsort(axis=1) < rng.integers(1, 4, (len(points), 1))
    little = ordered & (rng.random(points.shape) < _OFTEN)
    moved = np.where(little, points + rng.normal(0.0, _NEARBY, points.shape), rng.random(points.shape))
    moved = np.clip(np.where(changes, moved, points), 0.0, 1.0)
    return np.asarray(setting.search_space.steered(moved, changes & ~little))
