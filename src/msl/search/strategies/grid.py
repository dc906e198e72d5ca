"""Grid search: every model of a finite space; continuous dimensions at evenly spaced values."""

from __future__ import annotations

from itertools import islice

from msl.search.base import Event, Query, ended
from msl.search.operators.initialise import UnseenPoints
from msl.search.strategies.random import BATCH
from msl.search.strategy_context import Incumbent, Setting, Strategy


def grid(setting: Setting) -> Strategy:
    """Each model once, in the order of the space, up to `evaluations`."""
    options, search_space = setting.options, setting.search_space
    points = UnseenPoints(search_space, setting.known).of(search_space.walk(int(options["steps"])))
    best = Incumbent(setting.objectives)
    left = options["evaluations"]

    while left is None or left > 0:
        batch = list(islice(points, BATCH if left is None else min(left, BATCH)))
        if not batch:
            setting.note(ended("every model of the grid is known"))
            return
        observations = yield [Query(point, cutoff=best.cutoff) for point in batch]
        left = None if left is None else left - len(observations)
        best.update(observations)
        setting.note(Event("batch", {"losses": [one.loss for one in observations], "best": best.loss}, best.chosen))
