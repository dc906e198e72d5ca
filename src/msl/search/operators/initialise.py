"""Draw points: uniform ones, points for rare alternatives, and points of models not seen before."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from msl.search.base import Observation, SearchSpace, Vector, Vectors


def uniform_points(search_space: SearchSpace, size: int, rng: np.random.Generator) -> Vectors:
    """Uniform points, or as priors draw them; but an optional part is left out half of the time, however many
    alternatives it has.

    Uniform in the cube, an optional step with twelve alternatives would be left out once in thirteen times, though most
    models in use have no such step.
    """
    points = search_space.steered(rng.random((size, search_space.n_dimensions)))
    optional = np.flatnonzero(search_space.optional)
    if len(optional):
        levels = search_space.levels[optional]
        without = (search_space.absent[optional] + 0.5) / levels
        more = (0.5 - 1 / levels) / (1 - 1 / levels)
        points[:, optional] = np.where(rng.random((size, len(optional))) < more, without, points[:, optional])
    return points


# --- points for rare alternatives, so that none is dismissed without having been tried ---


#: A choice: its channel and its dimension. An alternative: these, and its number.
Choice = tuple[str, int]
Alternative = tuple[str, int, int]
#: How often a point for an alternative is drawn before it counts as one that no model has.
_DRAWS = 20


def points_for_rare(
    search_space: SearchSpace, points: Sequence[Vector], floor: int, rng: np.random.Generator, most: int
) -> list[Vector]:
    """At most `most` additional points, so that each alternative of a step has at least `floor` points.

    A choice inside an alternative counts once a point has it. Numbers and alternatives of parameters do not count.
    """
    choices = _choices(search_space)
    counts: Counter[Alternative] = Counter()
    having: dict[Choice, Vector] = {}
    found: list[Vector] = []

    def add(point: Vector) -> None:
        for channel, dimension, cell, others in _here(search_space, choices, point):
            having.setdefault((channel, dimension), point)
            counts[channel, dimension, cell] += 1
            for other in range(others):
                counts.setdefault((channel, dimension, other), 0)

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
    """The channels and dimensions that choose one of several steps."""
    heads = set(np.flatnonzero(search_space.heads & ~search_space.ordered & (search_space.levels > 1)).tolist())
    return [
        (channel, dimension)
        for channel, dimensions in search_space.channels.items()
        for dimension in dimensions
        if dimension in heads
    ]


def _here(search_space: SearchSpace, choices: Sequence[Choice], point: Vector) -> Iterator[tuple[str, int, int, int]]:
    """The choices that apply at a point: which alternative each takes, and how many it has."""
    if search_space.decode(point) is None:
        return
    for channel, dimension in choices:
        if dimension in search_space.dimensions_here(channel, point):
            count = len(search_space.values(dimension, point, 2))
            yield channel, dimension, min(int(point[dimension] * count), count - 1), count


def _point_for(
    search_space: SearchSpace,
    choices: Sequence[Choice],
    rare: Sequence[Alternative],
    having: Mapping[Choice, Vector],
    rng: np.random.Generator,
) -> Vector | None:
    """A model with the first of these alternatives, and with as many of the others as possible.

    Everything else is random; in the second half of the draws, the choices are those of a point to which the first
    choice applies.
    """
    wanted = rare[0]
    near = having[wanted[:2]]
    at = {
        dimension: _middle(search_space, dimension, cell, having[channel, dimension])
        for channel, dimension, cell in reversed(rare)
    }
    for draw in range(_DRAWS):
        point = rng.random(search_space.n_dimensions)
        fresh = np.ones((1, len(point)), dtype=np.bool_)
        if draw < _DRAWS // 2:
            point[list(at)] = list(at.values())
            fresh[0, list(at)] = False
        else:
            point = np.where(search_space.heads, near, point)
            fresh[0] = ~search_space.heads
        point[wanted[1]] = at[wanted[1]]
        fresh[0, wanted[1]] = False
        point = np.asarray(search_space.steered(point[None, :], fresh)[0])
        if any(
            (channel, dimension, cell) == wanted for channel, dimension, cell, _ in _here(search_space, choices, point)
        ):
            return point
    return None


def _middle(search_space: SearchSpace, dimension: int, cell: int, here: Vector) -> float:
    return (cell + 0.5) / len(search_space.values(dimension, here, 2))


# --- points of new models ---


#: After this many draws in a row without a new model, there is none.
PATIENCE = 1_000


class UnseenPoints:
    """Remembers models, and passes on only the points of new ones, none of which costs more than `most_cost`."""

    def __init__(
        self, search_space: SearchSpace, known: Iterable[Observation] = (), most_cost: float = math.inf
    ) -> None:
        self._search_space, self._most_cost = search_space, most_cost
        #: The models that were left out for what they cost.
        self.too_costly: set[Hashable] = set()
        self._seen: set[Hashable] = {search_space.decode(one.vector) for one in known}
        self._seen.discard(None)

    @property
    def has_all(self) -> bool:
        return self._search_space.size is not None and len(self._seen) >= self._search_space.size

    def of(self, points: Iterable[Vector]) -> Iterator[Vector]:
        for point in points:
            model = self._search_space.decode(point)
            if model is None or model in self._seen:
                continue
            if self._most_cost < math.inf and self._search_space.cost(point) > self._most_cost:
                self.too_costly.add(model)
                continue
            self._seen.add(model)
            yield point

    def forget(self, points: Iterable[Vector]) -> None:
        """Points that were passed on and then not evaluated."""
        self._seen.difference_update(self._search_space.decode(point) for point in points)

    def draws(
        self, draw: Callable[[int], Vectors], size: int, otherwise: Callable[[int], Vectors] | None = None
    ) -> list[Vector]:
        """Up to `size` points of new models; fewer if all, or nearly all, are known.

        Where priors and weights give nothing new any more, `otherwise` draws without them.
        """
        found: list[Vector] = []
        in_vain = 0
        while len(found) < size and in_vain < PATIENCE and not self.has_all:
            new = list(self.of(draw(size - len(found))))
            in_vain = 0 if new else in_vain + size - len(found)
            found.extend(new)
        if otherwise is not None and self._search_space.is_steered and len(found) < size:
            found += self.draws(otherwise, size - len(found))
        return found
