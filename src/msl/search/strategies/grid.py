"""Grid search: every model of a finite space; continuous genes at evenly spaced values."""

from __future__ import annotations

from itertools import islice

from msl.search.base import Ask, Event, ended
from msl.search.operators.initialise import Fresh
from msl.search.setting import Incumbent, Setting, Strategy
from msl.search.strategies.random import BATCH


def grid(setting: Setting) -> Strategy:
    """Each model once, in the order of the space, up to `evaluations`."""
    options, terrain = setting.options, setting.terrain
    points = Fresh(terrain, setting.known).of(terrain.walk(int(options["steps"])))
    best = Incumbent(setting.objectives)
    left = options["evaluations"]

    while left is None or left > 0:
        batch = list(islice(points, BATCH if left is None else min(left, BATCH)))
        if not batch:
            setting.note(ended("every model of the grid is known"))
            return
        told = yield [Ask(point, beat=best.beat) for point in batch]
        left = None if left is None else left - len(told)
        best.update(told)
        setting.note(Event("batch", {"losses": [one.loss for one in told], "best": best.loss}, best.chosen))
