"""Evaluate the best models so far again on new splits, and choose by the means."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from msl.search.base import CONFIRMED, FIRST_CONFIRMING_REPEAT, Event, Observation, Query, SearchSpace, ended
from msl.search.operators.pareto import by_rank, front_of
from msl.search.strategy_context import Setting, Strategy


def confirm(setting: Setting) -> Strategy:
    """Evaluates the `top` best, one of those with equal losses, `repeats` times, all on the same new split each time.

    The best of a thousand models on one split owes it partly to luck (Cawley and Talbot, 2010). The mean over the new
    splits decides; the split on which the models were found does not count.
    """
    ranked = by_rank([one for one in setting.known if one.is_exact])
    finalists = _unlike(setting.search_space, ranked)[: int(setting.options["top"])]
    if not finalists:
        setting.note(ended("there is no model to confirm"))
        return
    observations: list[list[Observation]] = []
    for repeat in range(int(setting.options["repeats"])):
        observations.append((yield [Query(one.vector, repeat=FIRST_CONFIRMING_REPEAT + repeat) for one in finalists]))
        means = by_rank([_mean(each) for each in zip(*observations, strict=True)])
        setting.note(_event(repeat + 1, finalists, means))


def _unlike(search_space: SearchSpace, ranked: Sequence[Observation]) -> list[Observation]:
    """Each model once, and one of those with equal losses: models with equal losses hardly differ."""
    models: dict[Hashable, Observation] = {}
    for one in ranked:
        models.setdefault(search_space.decode(one.vector), one)
    first: dict[tuple[float, ...], Observation] = {}
    for one in models.values():
        first.setdefault(one.losses, one)
    return list(first.values())


def _mean(observations: Sequence[Observation]) -> Observation:
    """The mean of a model over its repeats; one failure makes it fail."""
    losses = np.mean([one.losses for one in observations], axis=0)
    return Observation(
        observations[0].vector, tuple(losses.tolist()), float(np.mean([one.complexity for one in observations]))
    )


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
