"""Confirm: the best models so far judged again on other splits, and the choice made by that."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from msl.search.base import CONFIRMED, FIRST_TURN, Event, Observation, Query, SearchSpace, ended
from msl.search.operators.pareto import by_rank, front_of
from msl.search.setting import Setting, Strategy


def confirm(setting: Setting) -> Strategy:
    """Judges the `top` best, one of those with equal losses, `repeats` times, each time all on one new split.

    Who is best of a thousand on one split is so partly by the luck of that split (Cawley and Talbot, 2010). The mean
    over the new splits decides, and does not count the split that the models were found on.
    """
    ranked = by_rank([one for one in setting.known if one.is_exact])
    finalists = _unlike(setting.search_space, ranked)[: int(setting.options["top"])]
    if not finalists:
        setting.note(ended("there is no model to confirm"))
        return
    told: list[list[Observation]] = []
    for repeat in range(int(setting.options["repeats"])):
        told.append((yield [Query(one.vector, repeat=FIRST_TURN + repeat) for one in finalists]))
        means = by_rank([_mean(each) for each in zip(*told, strict=True)])
        setting.note(_event(repeat + 1, finalists, means))


def _unlike(search_space: SearchSpace, ranked: Sequence[Observation]) -> list[Observation]:
    """Each model once, the first of those with equal losses: clones of the best would be confirmed again and again."""
    models: dict[Hashable, Observation] = {}
    for one in ranked:
        models.setdefault(search_space.decode(one.vector), one)
    first: dict[tuple[float, ...], Observation] = {}
    for one in models.values():
        first.setdefault(one.losses, one)
    return list(first.values())


def _mean(told: Sequence[Observation]) -> Observation:
    """One model over its turns; a turn that it failed in makes it fail."""
    losses = np.mean([one.losses for one in told], axis=0)
    return Observation(told[0].vector, tuple(losses.tolist()), float(np.mean([one.complexity for one in told])))


def _event(repeat: int, finalists: Sequence[Observation], means: Sequence[Observation]) -> Event:
    found = {one.vector.tobytes(): one.loss for one in finalists}
    figures = {
        "turn": repeat,
        "losses": [one.loss for one in means],
        "found_at": [found.get(one.vector.tobytes()) for one in means],
    }
    exact = [one for one in means if one.is_exact]
    chosen = front_of(exact) if exact and len(exact[0].losses) > 1 else tuple(exact[:1])
    return Event(CONFIRMED, figures, chosen, tuple(exact), stands=True)
