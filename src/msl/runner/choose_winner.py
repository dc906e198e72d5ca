"""Choose the winner of a search, or its Pareto front, and score it on a test table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.build import model_to_chain
from msl.check.names.scoring_declarations import metric_named
from msl.evaluate.metrics import score
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.search.base import CONFIRMED, FIRST_CONFIRMING_REPEAT, Event, Observation, Query
from msl.search.operators.pareto import non_dominated
from msl.space.spec import metrics_of
from msl.space.values import Model


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A model that can win, with its losses; `repeat` is the one whose splits they were computed on.

    The losses of a model that was confirmed are means over this many `repeats`, of which `repeat` is the first.
    """

    model: Model
    losses: tuple[float, ...]
    complexity: float
    repeat: int = 0
    repeats: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The winner and, with several objectives, the Pareto front that it was taken from."""

    best: Candidate | None
    front: tuple[Candidate, ...] = ()


def choose_winner(plan: Plan, found: SearchResult) -> Verdict:
    """What the strategy has chosen, if it says that its choice stands; else the best model evaluated on all rows.

    The best is the one with the lowest losses, the simplest on ties. With several objectives losses are compared in the
    order of the objectives.
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
    """The candidates that no other dominates, sorted by loss."""
    front = [candidates[index] for index in non_dominated(np.array([one.losses for one in candidates]))]
    return tuple(sorted(front, key=_rank))


def candidates_of(plan: Plan, found: SearchResult) -> list[Candidate]:
    """Every model that was evaluated on all rows with an exact loss, once.

    If some were evaluated on the splits that are common to all models (repeat 0), these are the only ones: losses on
    different splits cannot be compared.
    """
    on_common_splits = [(query, one) for query, one in found.history if query.repeat == 0]
    return _distinct(plan, found, on_common_splits) or _distinct(plan, found, found.history)


def ranked_candidates(plan: Plan, found: SearchResult) -> list[Candidate]:
    """The candidates from the best to the worst: those that were confirmed if any were, else all."""
    last = next((event for event in reversed(found.events) if event.kind == CONFIRMED), None)
    confirmed = [] if last is None else _candidates(plan, found, last, last.kept)
    return sorted(confirmed or candidates_of(plan, found), key=_rank)


def _candidates(plan: Plan, found: SearchResult, event: Event, observations: Sequence[Observation]) -> list[Candidate]:
    """The models of observations in an event, with their latest query; for confirmed ones, with their mean losses."""
    if event.kind == CONFIRMED:
        search_space, repeats = plan.search_spaces[int(event.figures["stage"])], int(event.figures["turn"])
        models = ((found.evaluator.model_of(search_space.decode(one.vector)), one) for one in observations)
        return [
            Candidate(model, one.losses, one.complexity, FIRST_CONFIRMING_REPEAT, repeats)
            for model, one in models
            if model is not None
        ]
    queries = {(one.vector.tobytes(), one.losses): query for query, one in found.history}
    keys = [(one.vector.tobytes(), one.losses) for one in observations]
    return _distinct(
        plan, found, [(queries[key], one) for key, one in zip(keys, observations, strict=True) if key in queries]
    )


def _distinct(plan: Plan, found: SearchResult, pairs: Iterable[tuple[Query, Observation]]) -> list[Candidate]:
    """A candidate for each model that was evaluated on all rows with an exact loss, from its first observation."""
    distinct: dict[Model, Candidate] = {}
    for query, observation in pairs:
        if query.share != 1.0 or not observation.is_exact:
            continue
        model = found.evaluator.model_of(plan.search_spaces[query.stage].decode(observation.vector))
        if model is not None and model not in distinct:
            distinct[model] = Candidate(model, observation.losses, observation.complexity, query.repeat)
    return list(distinct.values())


def winner_chain(plan: Plan, model: Model) -> Any:
    """The estimator of a model, not yet fitted."""
    dataset = plan.job.dataset
    return model_to_chain(model, dataset.task, plan.seed, plan.job.trusted, dataset.columns)


def refit(plan: Plan, estimator: Any) -> Any:
    """Fits an estimator on every row of the table."""
    dataset = plan.job.dataset
    estimator.fit_arrays(dataset.X, dataset.y, dataset.n_classes, dataset.weights)
    return estimator


def test_metrics(plan: Plan, outputs: Floats, y: NDArray[Any], weights: Floats | None) -> dict[str, float]:
    """The metrics of the objectives, from outputs for the rows of a test table."""
    named = (metric for objective in plan.objectives for metric in metrics_of(objective.loss))
    metrics = dict.fromkeys(metric if metric.on_test is None else metric_named(metric.on_test) for metric in named)
    return {
        metric.name: score(metric, y, outputs, weights)
        for metric in metrics
        if not metric.of_model and metric.relative_to is None
    }
