"""Elitism: which of a population are kept as they are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from msl.search.ask import Told
from msl.search.pareto import losses_of, non_dominated
from msl.search.terrain import Terrain


def plain_elite(population: Sequence[Told]) -> list[Told]:
    """The best one; the simpler on ties."""
    exact = [one for one in population if one.is_exact]
    return [min(exact, key=lambda one: (one.loss, one.complexity))] if exact else []


def occam_elite(population: Sequence[Told], kappa: int) -> list[Told]:
    """The simplest of the κ best, which are taken to be equally good; the better on ties."""
    exact = sorted((one for one in population if one.is_exact), key=lambda one: one.loss)
    return [min(exact[:kappa], key=lambda one: (one.complexity, one.loss))] if exact else []


def plain_front(population: Sequence[Told], terrain: Terrain) -> list[Told]:
    """The different models that no other dominates."""
    exact = [one for one in population if one.is_exact]
    front: dict[Hashable, Told] = {}
    for place in non_dominated(losses_of(exact)) if exact else ():
        front.setdefault(terrain.decode(exact[place].vector), exact[place])
    return list(front.values())


def occam_front(population: Sequence[Told], terrain: Terrain) -> list[Told]:
    """All the simplest of the Pareto set."""
    front = plain_front(population, terrain)
    least = min((one.complexity for one in front), default=0.0)
    return [one for one in front if one.complexity == least]


def median_of(front: Sequence[Told]) -> Told | None:
    """The one to end with, of several that are as simple: the middle one by their losses."""
    ordered = sorted(front, key=lambda one: one.losses)
    return ordered[(len(ordered) - 1) // 2] if ordered else None
