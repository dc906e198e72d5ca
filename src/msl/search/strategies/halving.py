"""Successive halving: many models on few rows, the better ones on ever more (Jamieson and Talwalkar, 2016)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from msl.search.base import Event, Observation, Query, Vector, Vectors, ended
from msl.search.operators.initialise import UnseenPoints, anywhere
from msl.search.operators.pareto import by_rank
from msl.search.operators.surrogate import foreseen
from msl.search.operators.swarm import written_back
from msl.search.operators.variation import cluster_crossover, non_uniform, uniform
from msl.search.setting import Incumbent, Setting, Strategy

#: The shares of a later round that a forest foresees and that are bred from the best; the rest is drawn anywhere.
_FORESEEN, _BRED = 0.4, 0.3
#: How many of the best are parents.
_PARENTS = 5


def halving(setting: Setting) -> Strategy:
    """New models are judged on the share `first` of the rows, one in `factor` of them on so many times more, up to all.

    Losses on different shares are never compared. What is known comes first; a round ends with about `factor` models on
    all rows, and as long as there are evaluations another follows. Beyond the paper, most models of a later round are
    bred from the best ones so far, or foreseen by a forest that learns who got how far.
    """
    options, search_space, rng = setting.options, setting.search_space, setting.rng
    total = left = int(options["evaluations"])
    factor = int(options["factor"])
    fresh = UnseenPoints(search_space)
    best = Incumbent(setting.objectives)
    whole: list[Observation] = []
    got_to: dict[float, list[Observation]] = {}

    while left > 0:
        shares = rungs(float(options["first"]), factor, left)
        size = min(largest_round(left, len(shares), factor), factor ** len(shares))
        points: list[Vector] = [] if whole else list(fresh.of(setting.seeds(size)))
        if len(whole) > 1:
            points += list(fresh.of(_bred(setting, whole, round(_BRED * size), done=1 - left / total)))
            if setting.objectives == 1:
                points += foreseen(setting, fresh, _farthest_first(got_to), round(_FORESEEN * size))
        points += fresh.draws(lambda more: anywhere(search_space, more, rng), size - len(points))
        if not points:
            setting.note(ended("all models are known" if fresh.has_all else "draws give no new model any more"))
            return
        for share in shares:
            told = yield [Query(point, share=share) for point in points]
            left -= len(told)
            got_to.setdefault(share, []).extend(told)
            if share == 1.0:
                best.update(told)
                whole = by_rank([*whole, *(one for one in told if one.is_exact)])[:_PARENTS]
            figures = {"share": share, "losses": [one.loss for one in told], "best": best.loss}
            setting.note(Event("rung", figures, best.chosen))
            points = _survivors(told, factor)
            if not points:
                break


def _farthest_first(got_to: Mapping[float, list[Observation]]) -> list[Observation]:
    """Each model where it got farthest, those on all rows first, and by their losses within a share; failures last."""
    ranked: dict[bytes, Observation] = {}
    for _, told in sorted(got_to.items(), reverse=True):
        for one in by_rank(told):
            ranked.setdefault(one.vector.tobytes(), one)
    return sorted(ranked.values(), key=lambda one: not one.is_finite)


def _bred(setting: Setting, parents: list[Observation], size: int, done: float) -> Vectors:
    """Children of two of the parents, with a gene put anywhere and one moved, by ever less."""
    search_space, rng = setting.search_space, setting.rng
    points, pairs = written_back(parents), rng.integers(0, len(parents), size=(2, size))
    children = cluster_crossover(search_space, points[pairs[0]], points[pairs[1]], rng)
    rate = 1 / max(search_space.dimensions, 1)
    children = uniform(children, rate, np.ones_like(search_space.ordered), rng)
    return non_uniform(children, rate, search_space.ordered, done, rng)


def rungs(first: float, factor: int, most: int) -> list[float]:
    """The shares of the rows, about `factor` apart, from the first to all; at most so many, the last ones."""
    steps = round(math.log(1 / first) / math.log(factor))
    return [1.0 if step == 0 else first ** (step / steps) for step in range(steps, -1, -1)][-most:]


def largest_round(evaluations: int, rungs: int, factor: int) -> int:
    """With how many models a round may start so that all of its rungs fit."""
    size = int(evaluations / sum(factor**-rung for rung in range(rungs)))
    while _evaluations(size, rungs, factor) > evaluations:
        size -= 1
    while _evaluations(size + 1, rungs, factor) <= evaluations:
        size += 1
    return size


def _evaluations(size: int, rungs: int, factor: int) -> int:
    total = 0
    for _ in range(rungs):
        total += size
        size = max(size // factor, 1)
    return total


def _survivors(told: list[Observation], factor: int) -> list[Vector]:
    """The best of them, one in `factor`, at least one; none that failed."""
    alive = by_rank([one for one in told if one.is_exact])
    return [one.vector for one in alive[: max(len(told) // factor, 1)]]
