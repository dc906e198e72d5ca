"""Progress: where a run stands — what was evaluated so far, and the best of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from msl.runner.answer_queries import RunCounts
from msl.runner.plan import Plan
from msl.search.base import Observation, Query
from msl.search.operators.pareto import non_dominated
from msl.space.to_text import model_to_text
from msl.space.values import Model


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands, after a batch or within one.

    `best` are the losses of the best model so far and `best_text` is that model as MSL. With several objectives the
    best is the first of the front by its losses; `front` is how many models are on it and `lowest` the least loss of
    each objective. `done` of `wanted` evaluations of the batch that is going on have come back.
    """

    evaluations: int
    reused: int
    failures: int
    outside: int
    fits: int
    fits_saved: int
    best: tuple[float, ...] | None
    best_text: str
    front: int
    lowest: tuple[float, ...]
    seconds: float
    done: int = 0
    wanted: int = 0


class Standing:
    """The best model so far, or the front with several objectives."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._front: list[tuple[int, Observation]] = []
        self._text = ""

    def take(self, asks: Sequence[Query], told: Sequence[Observation]) -> None:
        """Takes a batch into account: models judged on all rows whose losses are known."""
        new = [(ask.stage, one) for ask, one in zip(asks, told, strict=True) if one.is_exact and ask.share == 1.0]
        if not new or self._plan.stages[new[0][0]].reevaluates:  # luck on one split is no progress
            return
        before = self._front[0] if self._front else None
        together = [*self._front, *new]
        if len(self._plan.objectives) == 1:
            self._front = [min(together, key=_rank)]
        else:
            chosen = non_dominated(np.array([one.losses for _, one in together]))
            self._front = sorted((together[place] for place in chosen), key=_rank)
        if self._front[0] is not before:
            stage, one = self._front[0]
            model = self._plan.search_spaces[stage].decode(one.vector)
            self._text = model_to_text(model) if isinstance(model, Model) else ""

    def progress(self, tally: RunCounts, seconds: float, done: int = 0, wanted: int = 0) -> Progress:
        losses = [one.losses for _, one in self._front]
        return Progress(
            evaluations=tally.evaluations,
            reused=tally.reused,
            failures=tally.failures,
            outside=tally.outside,
            fits=tally.fits,
            fits_saved=tally.fits_saved,
            best=losses[0] if losses else None,
            best_text=self._text,
            front=len(losses),
            lowest=tuple(min(each) for each in zip(*losses, strict=True)),
            seconds=seconds,
            done=done,
            wanted=wanted,
        )


def _rank(placed: tuple[int, Observation]) -> tuple[tuple[float, ...], float]:
    """The simpler of equals first."""
    return placed[1].losses, placed[1].complexity
