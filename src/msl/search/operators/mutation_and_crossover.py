"""Operators of genetic algorithms: mutation, crossover and elitism."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.search.base import Flags, Observation, SearchSpace, Vector, Vectors
from msl.search.operators.pareto import Places, losses_of, non_dominated

#: How soon non-uniform mutation narrows (Michalewicz, 1992).
_NARROWING = 5.0
#: How often an alternative is drawn anew because the draw leaves out what it should switch on.
_DRAWS = 20


def uniform(
    search_space: SearchSpace, points: Vectors, rate: float, dimensions: Flags, rng: np.random.Generator
) -> Vectors:
    """Each of these dimensions gets, with probability `rate`, a uniform value, or one that its prior draws."""
    mutated, hit = points.copy(), _hit(points, rate, dimensions, rng)
    mutated[hit] = rng.random(len(hit[0]))
    if search_space.is_steered:
        fresh = np.zeros(points.shape, dtype=np.bool_)
        fresh[hit] = True
        mutated = search_space.steered(mutated, fresh)
    return mutated


def non_uniform(points: Vectors, rate: float, dimensions: Flags, done: float, rng: np.random.Generator) -> Vectors:
    """Each of these dimensions moves, with probability `rate`, up or down: by less as `done` goes to 1."""
    mutated, hit = points.copy(), _hit(points, rate, dimensions, rng)
    up = rng.random(len(hit[0])) < 0.5
    room = np.where(up, 1.0 - points[hit], -points[hit])
    mutated[hit] += room * (1.0 - rng.random(len(hit[0])) ** ((1.0 - done) ** _NARROWING))
    return mutated


def flipped(points: Vectors, rate: float, bits: Flags, rng: np.random.Generator) -> Vectors:
    """Each of these bits is flipped with probability `rate`."""
    mutated, hit = points.copy(), _hit(points, rate, bits, rng)
    mutated[hit] = 1.0 - points[hit]
    return mutated


def _hit(points: Vectors, rate: float, dimensions: Flags, rng: np.random.Generator) -> tuple[Places, Places]:
    """The rows and columns that mutate: distributed as if drawn one by one, but drawn at once."""
    columns = np.flatnonzero(dimensions)
    size = len(points) * len(columns)
    hits = rng.choice(max(size, 1), size=rng.binomial(size, rate), replace=False, shuffle=False)
    rows, places = np.divmod(hits, max(len(columns), 1))
    return rows, columns[places]


def by_thirds(
    search_space: SearchSpace, points: Vectors, rate: float, bits: Flags, done: float, rng: np.random.Generator
) -> Vectors:
    """Bits flip in the whole swarm; other dimensions stay in the first third, mutate uniformly in the second, and
    non-uniformly in the last."""
    points, others, third = flipped(points, rate, bits, rng), ~bits, len(points) // 3
    second = uniform(search_space, points[third : 2 * third], rate, others, rng)
    last = non_uniform(points[2 * third :], rate, others, done, rng)
    return np.concatenate([points[:third], second, last])


def mutation_rate(option: Any, n_dimensions: int) -> float:
    """The probability to mutate a dimension; `auto` changes one per point on average."""
    return 1 / max(n_dimensions, 1) if option == "auto" else float(option or 0.0)


def with_added(search_space: SearchSpace, points: Vectors, rate: float, rng: np.random.Generator) -> Vectors:
    """With probability `rate`, something that is off is switched on, to a random alternative if there are several."""
    changed, rows = points.copy(), np.flatnonzero(rng.random(len(points)) < rate)
    for row, off in zip(rows, _switches(search_space, points[rows], on=False), strict=True):
        dimension = _one_of(off, rng)
        if dimension is not None:
            absent, levels = search_space.absent[dimension], search_space.levels[dimension]
            changed[row, dimension] = _value(search_space, dimension, absent + rng.integers(1, levels))
            if search_space.is_steered and levels > 2:
                changed[row] = _drawn_present(search_space, changed[row], dimension, rng)
    return changed


def _drawn_present(search_space: SearchSpace, point: Vector, dimension: int, rng: np.random.Generator) -> Vector:
    """The point with an alternative of a dimension drawn by its weights; as it is if draws always leave it out."""
    fresh = np.arange(len(point)) == dimension
    for _ in range(_DRAWS):
        drawn = point.copy()
        drawn[dimension] = rng.random()
        drawn = np.asarray(search_space.steered(drawn[None, :], fresh[None, :])[0])
        if search_space.cells(drawn)[dimension] != search_space.absent[dimension]:
            return drawn
    return point


def with_deleted(search_space: SearchSpace, points: Vectors, rate: float, rng: np.random.Generator) -> Vectors:
    """With probability `rate`, something that is on is switched off; never the last of its family."""
    changed, rows = points.copy(), np.flatnonzero(rng.random(len(points)) < rate)
    for row, on in zip(rows, _switches(search_space, points[rows], on=True), strict=True):
        families = search_space.families[on]
        is_last = (families >= 0) & (np.bincount(families + 1)[families + 1] == 1)
        dimension = _one_of(on[~is_last], rng)
        if dimension is not None:
            changed[row, dimension] = _value(search_space, dimension, search_space.absent[dimension])
    return changed


def minimal(search_space: SearchSpace, points: Vectors, rng: np.random.Generator) -> Vectors:
    """The points with everything switched off except one of each family: networks of one unit, no optional steps."""
    switches = np.flatnonzero(search_space.switches)
    families = [
        np.flatnonzero(search_space.families == family) for family in np.unique(search_space.families) if family >= 0
    ]
    least = points.copy()
    least[:, switches] = _value(search_space, switches, search_space.absent[switches])
    for row in least:
        for members in families:
            dimension = rng.choice(members)
            row[dimension] = _value(search_space, dimension, search_space.absent[dimension] + 1)
    return least


def _switches(search_space: SearchSpace, points: Vectors, on: bool) -> list[Places]:
    """The switches of each point that are on, or off."""
    switches = np.flatnonzero(search_space.switches)
    is_on = search_space.cells(points, switches) != search_space.absent[switches]
    return [switches[row] for row in is_on == on]


def _one_of(dimensions: Places, rng: np.random.Generator) -> int | None:
    return int(dimensions[rng.integers(len(dimensions))]) if len(dimensions) else None


def _value(search_space: SearchSpace, dimension: Any, cell: Any) -> Any:
    """The middle of the value with this number; after the last comes the first."""
    return (cell % search_space.levels[dimension] + 0.5) / search_space.levels[dimension]


# --- crossover ---


#: How far beyond its parents a blended value may be, as a share of their distance (BLX-0.5).
_BEYOND = 0.5


def cluster_crossover(search_space: SearchSpace, first: Vectors, second: Vectors, rng: np.random.Generator) -> Vectors:
    """One child of each pair, group by group (figure 6 of de Lacerda, de Carvalho and Ludermir).

    A group is inherited as a whole from one parent; its numbers are blended if the parents agree on the group, that is,
    if both have it with the same alternative. Groups without a choice, such as the overlap of a network, always agree.
    """
    agrees = agreement(search_space, first, second)
    from_first = rng.random(agrees.shape) < 0.5
    children = np.where(from_first[:, search_space.groups], first, second)
    numbers = np.flatnonzero(search_space.ordered & ~search_space.heads)
    blended = blend(first[:, numbers], second[:, numbers], rng)
    children[:, numbers] = np.where(agrees[:, search_space.groups[numbers]], blended, children[:, numbers])
    return children


def agreement(search_space: SearchSpace, first: Vectors, second: Vectors) -> NDArray[np.bool_]:
    """For each pair and group, whether both parents have it and chose the same alternative."""
    heads = np.flatnonzero(search_space.heads)
    heads = heads[np.argsort(search_space.groups[heads], kind="stable")]
    a, b = search_space.cells(first, heads), search_space.cells(second, heads)
    is_shared = (a == b) & (a != search_space.absent[heads])
    agrees = np.ones((len(first), int(search_space.groups.max(initial=-1)) + 1), dtype=np.bool_)
    if len(heads):
        groups, starts = np.unique(search_space.groups[heads], return_index=True)
        agrees[:, groups] = np.logical_and.reduceat(is_shared, starts, axis=1)
    return agrees


def blend(first: Vectors, second: Vectors, rng: np.random.Generator) -> Vectors:
    """BLX-0.5: uniform between the parents, and up to half their distance beyond, inside the cube."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    beyond = _BEYOND * (high - low)
    return np.clip(low - beyond + rng.random(first.shape) * (high - low + 2 * beyond), 0.0, 1.0)


# --- elitism ---


def plain_elite(population: Sequence[Observation]) -> list[Observation]:
    """The best one; the simpler on ties."""
    exact = [one for one in population if one.is_exact]
    return [min(exact, key=lambda one: (one.loss, one.complexity))] if exact else []


def occam_elite(population: Sequence[Observation], kappa: int) -> list[Observation]:
    """The simplest of the κ best, which are taken to be equally good; the better on ties."""
    exact = sorted((one for one in population if one.is_exact), key=lambda one: one.loss)
    return [min(exact[:kappa], key=lambda one: (one.complexity, one.loss))] if exact else []


def plain_front(population: Sequence[Observation], search_space: SearchSpace) -> list[Observation]:
    """The different models that no other dominates."""
    exact = [one for one in population if one.is_exact]
    front: dict[Hashable, Observation] = {}
    for place in non_dominated(losses_of(exact)) if exact else ():
        front.setdefault(search_space.decode(exact[place].vector), exact[place])
    return list(front.values())


def occam_front(population: Sequence[Observation], search_space: SearchSpace) -> list[Observation]:
    """All the simplest of the Pareto set."""
    front = plain_front(population, search_space)
    least = min((one.complexity for one in front), default=0.0)
    return [one for one in front if one.complexity == least]


def median_of(front: Sequence[Observation]) -> Observation | None:
    """The result among several equally simple ones: the median by their losses."""
    ordered = sorted(front, key=lambda one: one.losses)
    return ordered[(len(ordered) - 1) // 2] if ordered else None
