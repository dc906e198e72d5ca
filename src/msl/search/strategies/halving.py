"""Successive halving: many models on few rows, the better ones on ever more (Jamieson and Talwalkar, 2016)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from msl.search.base import Event, Observation, Query, Vector, Vectors, ended
from msl.search.operators.initialise import UnseenPoints, uniform_points
from msl.search.operators.mutation_and_crossover import cluster_crossover, non_uniform, uniform
from msl.search.operators.pareto import by_rank
from msl.search.operators.surrogate import best_by_acquisition
from msl.search.operators.swarm import written_back
from msl.search.strategy_context import Incumbent, Setting, Strategy

#: The shares of a later round that a surrogate proposes and that are bred from the best; the rest is uniform.
_BY_ACQUISITION, _BRED = 0.4, 0.3
#: How many of the best are parents.
_PARENTS = 5


def halving(setting: Setting) -> Strategy:
    """Evaluates models on the share `first` of the rows, the best one in `factor` on `factor` times more, up to all.

    With `resource = fidelity` it is the share of the resource of a model, such as its number of trees; of models that
    have none, the share of the rows. Losses on different shares are never compared. A round starts with the best known
    models and ends with about `factor` models on all rows; rounds follow until the evaluations are used. Beyond the
    paper, most models of a later round are bred from the best ones so far, or proposed by a surrogate that learns how
    far each model got.
    """
    options, search_space, rng = setting.options, setting.search_space, setting.rng
    total = left = int(options["evaluations"])
    factor = int(options["factor"])
    less: Literal["rows", "fidelity"] = "rows" if options.get("resource", "rows") == "rows" else "fidelity"
    unseen = UnseenPoints(search_space, most_cost=search_space.most_cost)
    best = Incumbent(setting.objectives)
    whole: list[Observation] = []
    got_to: dict[float, list[Observation]] = {}

    while left > 0:
        shares = rungs(float(options["first"]), factor, left)
        size = min(largest_round(left, len(shares), factor), factor ** len(shares))
        points: list[Vector] = [] if whole else list(unseen.of(setting.seeds(size)))
        if len(whole) > 1:
            points += list(unseen.of(_bred(setting, whole, round(_BRED * size), done=1 - left / total)))
            if setting.objectives == 1:
                points += best_by_acquisition(setting, unseen, _farthest_first(got_to), round(_BY_ACQUISITION * size))
        points += unseen.draws(
            lambda more: uniform_points(search_space, more, rng),
            size - len(points),
            otherwise=lambda more: rng.random((more, search_space.n_dimensions)),
        )
        if not points:
            setting.note(ended("all models are known" if unseen.has_all else "draws give no new model any more"))
            return
        for share in shares:
            observations = yield [Query(point, share=share, less=less) for point in points]
            left -= len(observations)
            got_to.setdefault(share, []).extend(observations)
            if share == 1.0:
                best.update(observations)
                whole = by_rank([*whole, *(one for one in observations if one.is_exact)])[:_PARENTS]
            figures = {"share": share, "losses": [one.loss for one in observations], "best": best.loss}
            setting.note(Event("rung", figures, best.chosen))
            points = survivors(observations, factor)
            if not points:
                break


def _farthest_first(got_to: Mapping[float, list[Observation]]) -> list[Observation]:
    """Each model on its largest share of the rows, larger shares first, then by loss; failures last."""
    ranked: dict[bytes, Observation] = {}
    for _, observations in sorted(got_to.items(), reverse=True):
        for one in by_rank(observations):
            ranked.setdefault(one.vector.tobytes(), one)
    return sorted(ranked.values(), key=lambda one: not one.is_finite)


def _bred(setting: Setting, parents: list[Observation], size: int, done: float) -> Vectors:
    """Children of random pairs of parents, mutated uniformly and non-uniformly."""
    search_space, rng = setting.search_space, setting.rng
    points, pairs = written_back(parents), rng.integers(0, len(parents), size=(2, size))
    children = cluster_crossover(search_space, points[pairs[0]], points[pairs[1]], rng)
    rate = 1 / max(search_space.n_dimensions, 1)
    children = uniform(search_space, children, rate, np.ones_like(search_space.ordered), rng)
    return non_uniform(children, rate, search_space.ordered, done, rng)


def rungs(first: float, factor: int, most: int) -> list[float]:
    """The shares of the rows, about a factor of `factor` apart, from the first to all; only the last `most`."""
    steps = round(math.log(1 / first) / math.log(factor))
    return [1.0 if step == 0 else first ** (step / steps) for step in range(steps, -1, -1)][-most:]


def largest_round(evaluations: int, rungs: int, factor: int) -> int:
    """The most models with which a round can start so that all of its rungs fit."""
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


def survivors(observations: list[Observation], factor: int) -> list[Vector]:
    """The best one in `factor`, at least one; none that failed."""
    alive = by_rank([one for one in observations if one.is_exact])
    return [one.vector for one in alive[: max(len(observations) // factor, 1)]]
