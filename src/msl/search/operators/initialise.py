"""Anywhere: points of the cube in which an optional part is as likely left out as there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from msl.search.base import Observation, SearchSpace, Vector, Vectors


def anywhere(search_space: SearchSpace, size: int, rng: np.random.Generator) -> Vectors:
    """Uniform points, but half of them without an optional part, however many alternatives it has.

    In the cube itself a step with twelve alternatives would be left out once in thirteen times, though most models that
    people use have none.
    """
    points = rng.random((size, search_space.dimensions))
    optional = np.flatnonzero(search_space.optional)
    if len(optional):
        levels = search_space.levels[optional]
        without = (search_space.absent[optional] + 0.5) / levels
        more = (0.5 - 1 / levels) / (1 - 1 / levels)
        points[:, optional] = np.where(rng.random((size, len(optional))) < more, without, points[:, optional])
    return points


# --- Alternatives: points for those of a choice that too few points have, so that none is judged by never having been
#
# tried.


#: A choice, by its channel and its gene; and one with the number of the alternative.
Choice = tuple[str, int]
Alternative = tuple[str, int, int]
#: How often a point for an alternative is drawn before it counts as one that no model has.
_DRAWS = 20


def points_for_rare(
    search_space: SearchSpace, points: Sequence[Vector], floor: int, rng: np.random.Generator, most: int
) -> list[Vector]:
    """At most so many points more, with which each alternative of the steps of a chain has at least `floor` of them.

    A choice inside an alternative counts once there is a point that has it. Numbers, and the alternatives of
    parameters, are not choices of steps.
    """
    choices = _choices(search_space)
    counts: Counter[Alternative] = Counter()
    having: dict[Choice, Vector] = {}
    found: list[Vector] = []

    def add(point: Vector) -> None:
        for channel, gene, cell, others in _here(search_space, choices, point):
            having.setdefault((channel, gene), point)
            counts[channel, gene, cell] += 1
            for other in range(others):
                counts.setdefault((channel, gene, other), 0)

    for point in points:
        add(point)
    given_up: set[Alternative] = set()
    while len(found) < most:
        rare = [one for one, count in counts.items() if count < floor and one not in given_up]
        if not rare:
            break
        drawn = _point_for(search_space, choices, rare, having, rng)
        if drawn is None:
            given_up.add(rare[0])
        else:
            found.append(drawn)
            add(drawn)
    return found


def _choices(search_space: SearchSpace) -> list[Choice]:
    """The channels and genes that decide which steps there are, one of several."""
    heads = set(np.flatnonzero(search_space.heads & ~search_space.ordered & (search_space.levels > 1)).tolist())
    return [(channel, gene) for channel, genes in search_space.channels.items() for gene in genes if gene in heads]


def _here(search_space: SearchSpace, choices: Sequence[Choice], point: Vector) -> Iterator[tuple[str, int, int, int]]:
    """The choices that are made at a point: which alternative each takes, and how many it has."""
    if search_space.decode(point) is None:
        return
    for channel, gene in choices:
        if gene in search_space.genes_here(channel, point):
            count = len(search_space.values(gene, point, 2))
            yield channel, gene, min(int(point[gene] * count), count - 1), count


def _point_for(
    search_space: SearchSpace,
    choices: Sequence[Choice],
    rare: Sequence[Alternative],
    having: Mapping[Choice, Vector],
    rng: np.random.Generator,
) -> Vector | None:
    """A model with the first of these alternatives, and with as many of the others as can be had with it.

    All else about it is left to chance; at last the choices are those of a point where the first choice is made.
    """
    wanted = rare[0]
    near = having[wanted[:2]]
    at = {gene: _middle(search_space, gene, cell, having[channel, gene]) for channel, gene, cell in reversed(rare)}
    for draw in range(_DRAWS):
        point = rng.random(search_space.dimensions)
        if draw < _DRAWS // 2:
            point[list(at)] = list(at.values())
        else:
            point = np.where(search_space.heads, near, point)
        point[wanted[1]] = at[wanted[1]]
        if any((channel, gene, cell) == wanted for channel, gene, cell, _ in _here(search_space, choices, point)):
            return point
    return None


def _middle(search_space: SearchSpace, gene: int, cell: int, here: Vector) -> float:
    return (cell + 0.5) / len(search_space.values(gene, here, 2))


# --- Fresh: points whose models nobody has asked for yet. -------------------------------------------------------------


#: After so many draws in a row that gave nothing new, there is nothing new.
PATIENCE = 1_000


class UnseenPoints:
    """Remembers models, and lets through the points of new ones; those that are no model never."""

    def __init__(self, search_space: SearchSpace, known: Iterable[Observation] = ()) -> None:
        self._terrain = search_space
        self._seen: set[Hashable] = {search_space.decode(one.vector) for one in known}
        self._seen.discard(None)

    @property
    def has_all(self) -> bool:
        return self._terrain.size is not None and len(self._seen) >= self._terrain.size

    def of(self, points: Iterable[Vector]) -> Iterator[Vector]:
        for point in points:
            model = self._terrain.decode(point)
            if model is not None and model not in self._seen:
                self._seen.add(model)
                yield point

    def forget(self, points: Iterable[Vector]) -> None:
        """Points that were let through and not asked for after all."""
        self._seen.difference_update(self._terrain.decode(point) for point in points)

    def draws(self, draw: Callable[[int], Vectors], size: int) -> list[Vector]:
        """Up to `size` new points; fewer where all models are known, or next to none is left to be drawn."""
        found: list[Vector] = []
        in_vain = 0
        while len(found) < size and in_vain < PATIENCE and not self.has_all:
            new = list(self.of(draw(size - len(found))))
            in_vain = 0 if new else in_vain + size - len(found)
            found.extend(new)
        return found
