"""Random search: every choice uniform, or every model equally likely."""

from __future__ import annotations

from msl.search.base import Event, Query, ended
from msl.search.operators.initialise import UnseenPoints
from msl.search.setting import Incumbent, Setting, Strategy

#: Points asked for at once: enough for many workers, few enough that the best so far soon helps to cut the rest short.
BATCH = 32


def random(setting: Setting) -> Strategy:
    """New models only; `draw = choices` is uniform in the cube, `draw = models` over the models."""
    options, search_space, rng = setting.options, setting.search_space, setting.rng
    fresh = UnseenPoints(search_space, setting.known)
    best = Incumbent(setting.objectives)
    left = int(options["evaluations"])
    uniform = options["draw"] == "choices"

    while left > 0:
        points = fresh.draws(
            lambda size: rng.random((size, search_space.dimensions)) if uniform else search_space.draw(rng, size),
            min(left, BATCH),
        )
        if not points:
            setting.note(ended("all models are known" if fresh.has_all else "draws give no new model any more"))
            return
        told = yield [Query(point, cutoff=best.cutoff) for point in points]
        left -= len(told)
        best.update(told)
        setting.note(Event("batch", {"losses": [one.loss for one in told], "best": best.loss}, best.chosen))
