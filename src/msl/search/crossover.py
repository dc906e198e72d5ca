"""Crossover: children of two parents, group by group (the cluster crossover of de Lacerda et al., their figure 6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from msl.search.ask import Vectors
from msl.search.terrain import Terrain

#: How far beyond its parents, as a share of their distance, a blended gene may lie (BLX-0.5).
_BEYOND = 0.5


def cluster_crossover(terrain: Terrain, first: Vectors, second: Vectors, rng: np.random.Generator) -> Vectors:
    """One child of each pair: each group comes whole from one parent, but its numbers are blended if they agree on it.

    Parents agree on a group when both have it and chose the same alternative; on one in which nothing is chosen, such
    as the overlap of a network, they always do.
    """
    agrees = agreement(terrain, first, second)
    from_first = rng.random(agrees.shape) < 0.5
    children = np.where(from_first[:, terrain.groups], first, second)
    numbers = np.flatnonzero(terrain.ordered & ~terrain.heads)
    blended = blend(first[:, numbers], second[:, numbers], rng)
    children[:, numbers] = np.where(agrees[:, terrain.groups[numbers]], blended, children[:, numbers])
    return children


def agreement(terrain: Terrain, first: Vectors, second: Vectors) -> NDArray[np.bool_]:
    """For each pair and group, whether both parents have it and chose the same alternative."""
    heads = np.flatnonzero(terrain.heads)
    heads = heads[np.argsort(terrain.groups[heads], kind="stable")]
    a, b = terrain.cells(first, heads), terrain.cells(second, heads)
    is_shared = (a == b) & (a != terrain.absent[heads])
    agrees = np.ones((len(first), int(terrain.groups.max(initial=-1)) + 1), dtype=np.bool_)
    if len(heads):
        groups, starts = np.unique(terrain.groups[heads], return_index=True)
        agrees[:, groups] = np.logical_and.reduceat(is_shared, starts, axis=1)
    return agrees


def blend(first: Vectors, second: Vectors, rng: np.random.Generator) -> Vectors:
    """BLX-0.5: uniform between the parents and half their distance beyond, inside the cube."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    beyond = _BEYOND * (high - low)
    return np.clip(low - beyond + rng.random(first.shape) * (high - low + 2 * beyond), 0.0, 1.0)
