"""Verdict: what a search came to — the winner or the front, refitted on everything, and judged on a test table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.build import model_to_chain
from msl.evaluate.metrics import score
from msl.runner.loop import Search
from msl.runner.plan import Plan
from msl.search.base import CONFIRMED, FIRST_CONFIRMING_REPEAT, Event, Observation, Query
from msl.search.operators.pareto import non_dominated
from msl.space.spec import metrics_of
from msl.space.values import Model


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A model of the run with what it was judged at; `repeat` says on which draw of the rows, where each is another.

    What was confirmed has the means over so many `turns`, from that one on.
    """

    model: Model
    losses: tuple[float, ...]
    complexity: float
    repeat: int = 0
    turns: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The winner and, for several objectives, the front that it was taken from."""

    best: Candidate | None
    front: tuple[Candidate, ...] = ()


def judge(plan: Plan, found: Search) -> Verdict:
    """What the strategy has chosen if it stands by it; else the best of all models evaluated on all rows.

    The best has the lowest loss and is the simplest on ties; of a front it is the first by loss.
    """
    last = next((event for event in reversed(found.events) if event.chosen), None)
    if last is not None and last.stands and (chosen := _candidates(plan, found, last, last.chosen)):
        front = _front(_candidates(plan, found, last, last.kept)) if len(plan.objectives) > 1 else ()
        return Verdict(min(chosen, key=_rank), front)
    candidates = candidates_of(plan, found)
    if not candidates:
        return Verdict(None)
    if len(plan.objectives) == 1:
        return Verdict(min(candidates, key=_rank))
    front = _front(candidates)
    return Verdict(front[0], front)


def _rank(candidate: Candidate) -> tuple[tuple[float, ...], float]:
    return candidate.losses, candidate.complexity


def _front(candidates: list[Candidate]) -> tuple[Candidate, ...]:
    """Those that no other dominates, by loss."""
    front = [candidates[place] for place in non_dominated(np.array([one.losses for one in candidates]))]
    return tuple(sorted(front, key=_rank))


def candidates_of(plan: Plan, found: Search) -> list[Candidate]:
    """Every model that was evaluated on all rows with an exact loss, once.

    Where some were judged on the splits that all meet, only they: luck on a split of one's own does not compare.
    """
    together = [(ask, told) for ask, told in found.told if ask.repeat == 0]
    return _distinct(plan, together) or _distinct(plan, found.told)


def ranked_candidates(plan: Plan, found: Search) -> list[Candidate]:
    """Every model that can be compared, the best first: those that were confirmed if any were, else all."""
    last = next((event for event in reversed(found.events) if event.kind == CONFIRMED), None)
    confirmed = [] if last is None else _candidates(plan, found, last, last.kept)
    return sorted(confirmed or candidates_of(plan, found), key=_rank)


def _candidates(plan: Plan, found: Search, event: Event, told: Sequence[Observation]) -> list[Candidate]:
    """The models of these answers of an event, as they were asked for last; of those confirmed, their means."""
    if event.kind == CONFIRMED:
        search_space, turns = plan.search_spaces[int(event.figures["stage"])], int(event.figures["turn"])
        models = ((search_space.decode(one.vector), one) for one in told)
        return [
            Candidate(model, one.losses, one.complexity, FIRST_CONFIRMING_REPEAT, turns)
            for model, one in models
            if isinstance(model, Model)
        ]
    asked = {(one.vector.tobytes(), one.losses): ask for ask, one in found.told}
    return _distinct(plan, [(asked[key], one) for one in told if (key := (one.vector.tobytes(), one.losses)) in asked])


def _distinct(plan: Plan, answered: Iterable[tuple[Query, Observation]]) -> list[Candidate]:
    distinct: dict[Model, Candidate] = {}
    for ask, told in answered:
        if ask.share != 1.0 or not told.is_exact:
            continue
        model = plan.search_spaces[ask.stage].decode(told.vector)
        if isinstance(model, Model) and model not in distinct:
            distinct[model] = Candidate(model, told.losses, told.complexity, ask.repeat)
    return list(distinct.values())


def winner_chain(plan: Plan, model: Model) -> Any:
    """The estimator of a model, not yet fitted."""
    dataset = plan.job.dataset
    return model_to_chain(model, dataset.task, plan.seed, plan.job.trusted, dataset.columns)


def refit(plan: Plan, estimator: Any) -> Any:
    """Fits an estimator on every row of the table."""
    dataset = plan.job.dataset
    estimator.fit_arrays(dataset.X, dataset.y, dataset.n_classes)
    return estimator


def test_measures(plan: Plan, outputs: Floats, y: NDArray[Any]) -> dict[str, float]:
    """The measures of the objectives, from outputs for rows that the search has never seen."""
    metrics = dict.fromkeys(metric for objective in plan.objectives for metric in metrics_of(objective.loss))
    return {
        metric.name: score(metric, y, outputs)
        for metric in metrics
        if not metric.of_model and metric.relative_to is None
    }
