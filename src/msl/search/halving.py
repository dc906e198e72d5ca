"""Successive halving: many models on few rows, the better ones on ever more (Jamieson and Talwalkar, 2016)."""

from __future__ import annotations

import math

from msl.search.ask import Ask, Event, Told, Vector, ended
from msl.search.fresh import Fresh
from msl.search.incumbent import Incumbent
from msl.search.pareto import by_rank
from msl.search.setting import Setting, Strategy


def halving(setting: Setting) -> Strategy:
    """New models are judged on the share `first` of the rows, one in `factor` of them on so many times more, up to all.

    Losses on different shares are never compared. What is known comes first; when the evaluations are not used up,
    another round of new models follows.
    """
    options, terrain, rng = setting.options, setting.terrain, setting.rng
    left, factor = int(options["evaluations"]), int(options["factor"])
    fresh = Fresh(terrain)
    best = Incumbent(setting.objectives)
    seeds = setting.seeds(left)

    while left > 0:
        shares = rungs(float(options["first"]), factor, left)
        size = largest_round(left, len(shares), factor)
        points: list[Vector] = list(fresh.of(seeds[:size]))
        seeds = []
        points += fresh.draws(lambda size: rng.random((size, terrain.dimensions)), size - len(points))
        if not points:
            setting.note(ended("all models are known" if fresh.has_all else "draws give no new model any more"))
            return
        for share in shares:
            told = yield [Ask(point, share=share) for point in points]
            left -= len(told)
            if share == 1.0:
                best.update(told)
            figures = {"share": share, "losses": [one.loss for one in told], "best": best.loss}
            setting.note(Event("rung", figures, best.chosen))
            points = _survivors(told, factor)
            if not points:
                break


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


def _survivors(told: list[Told], factor: int) -> list[Vector]:
    """The best of them, one in `factor`, at least one; none that failed."""
    alive = by_rank([one for one in told if one.is_exact])
    return [one.vector for one in alive[: max(len(told) // factor, 1)]]
