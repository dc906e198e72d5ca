"""Random search: every choice uniform, or every model equally likely."""

from __future__ import annotations

from msl.search.base import Event, Query, Vectors, ended
from msl.search.operators.initialise import UnseenPoints
from msl.search.strategy_context import Incumbent, Setting, Strategy

#: Queries in a batch: enough for many workers, few enough that the best so far soon gives a cutoff for the rest.
BATCH = 32


def random(setting: Setting) -> Strategy:
    """New models only; `draw = choices` is uniform in the cube, `draw = models` over the models; priors steer both."""
    options, search_space, rng = setting.options, setting.search_space, setting.rng
    unseen = UnseenPoints(search_space, setting.known)
    best = Incumbent(setting.objectives)
    left = int(options["evaluations"])
    by_choices = options["draw"] == "choices"

    def anywhere(size: int) -> Vectors:
        return rng.random((size, search_space.n_dimensions))

    while left > 0:
        points = unseen.draws(
            lambda size: search_space.steered(anywhere(size)) if by_choices else search_space.draw(rng, size),
            min(left, BATCH),
            otherwise=anywhere,
        )
        if not points:
            setting.note(ended("all models are known" if unseen.has_all else "draws give no new model any more"))
            return
        observations = yield [Query(point, cutoff=best.cutoff) for point in points]
        left -= len(observations)
        best.update(observations)
        setting.note(Event("batch", {"losses": [one.loss for one in observations], "best": best.loss}, best.chosen))
