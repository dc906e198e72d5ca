"""Evaluate given models first: those of the files that `search start("portfolio.msl")` names."""

from __future__ import annotations

from msl.search.base import Event, Query, ended
from msl.search.strategy_context import Incumbent, Setting, Strategy


def start(setting: Setting) -> Strategy:
    """Each given point once, in the order given, all of them in one batch: none depends on another."""
    points = {point.tobytes(): point for point in setting.points}
    if points:
        best = Incumbent(setting.objectives)
        observations = yield [Query(point) for point in points.values()]
        best.update(observations)
        setting.note(Event("batch", {"losses": [one.loss for one in observations], "best": best.loss}, best.chosen))
    setting.note(ended("all given models were evaluated"))
