"""List the best models of a run: their losses, how these spread over folds, and what each place is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from msl.evaluate.metrics import score
from msl.evaluate.outcome import MetricFailed
from msl.runner.choose_winner import Candidate, ranked_candidates
from msl.runner.confidence_intervals import HeldOut, uses_held_out_rows
from msl.runner.corrected_estimate import MOST_PLACES, Correction
from msl.runner.judged_outputs import judged_outputs
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.space.spec import Estimate, Objective, loss_value, metrics_of
from msl.space.to_text import model_to_text
from msl.space.values import Model
from msl.store.evaluation import Evaluation
from msl.store.store import Store


def leaderboard(plan: Plan, store: Store, found: SearchResult, correction: Correction | None) -> list[dict[str, Any]]:
    """A row for each of the best models, the best first.

    `corrected` is about the place, with one objective: what the model that is in this place on rows drawn is worth on
    rows left out. `spread` is the standard deviation of the first objective over the parts that are held out.
    """
    ranked = ranked_candidates(plan, found)[:MOST_PLACES]
    evaluated = _evaluations(found, ranked)
    spreads: dict[str, float] = {}
    for _, one, held in judged_outputs(plan, store, evaluated.values()):
        if (spread := _spread(plan, one, held)) is not None:
            spreads[one.key] = spread
    places = () if correction is None else correction.places
    rows = []
    for place, candidate in enumerate(ranked):
        _, evaluation = evaluated.get(candidate.model, (candidate.model, None))
        rows.append(
            {
                "model": model_to_text(candidate.model),
                "objectives": {
                    name: loss if objective.minimize else -loss
                    for name, objective, loss in zip(
                        plan.objective_names(), plan.objectives, candidate.losses, strict=True
                    )
                },
                "corrected": places[place] if place < len(places) else None,
                "spread": None if evaluation is None else spreads.get(evaluation.key),
                "complexity": candidate.complexity,
            }
        )
    return rows


def seconds_of(found: SearchResult, plan: Plan) -> list[float | None]:
    """The seconds that the evaluation of each of these models took."""
    ranked = ranked_candidates(plan, found)[:MOST_PLACES]
    evaluated = _evaluations(found, ranked)
    return [evaluated[one.model][1].seconds if one.model in evaluated else None for one in ranked]


def _evaluations(found: SearchResult, ranked: list[Candidate]) -> dict[Model, tuple[Model, Evaluation]]:
    """The evaluation of each candidate on its (first) splits."""
    wanted = {one.model: one.repeat for one in ranked}
    return {
        model: (model, one)
        for model, one in found.evaluator.evaluated.values()
        if one.inputs.share == 1.0 and wanted.get(model) == one.inputs.repeat
    }


def _spread(plan: Plan, evaluation: Evaluation, held: Mapping[Estimate, HeldOut]) -> float | None:
    """The standard deviation over the held-out parts; None where a part alone cannot be scored."""
    objective = plan.objectives[0]
    if not uses_held_out_rows(objective) or objective.estimate not in held:
        return None
    if any(metric.relative_to is not None for metric in metrics_of(objective.loss)):
        return None
    own = held[objective.estimate]
    if len(own.resampling.splits) < 2 or own.resampling.has_loo_shortcut:
        return None
    fixed = {metric.name: evaluation.metrics.get(metric.name, np.nan) for metric in metrics_of(objective.loss)}
    try:
        values = [_of_part(objective, fixed, *part) for part in _parts(own)]
    except (MetricFailed, ZeroDivisionError):
        return None
    return float(np.std(values, ddof=1)) if np.isfinite(values).all() else None


def _parts(held: HeldOut) -> list[tuple[Any, Any, Any]]:
    """The true values, the outputs and the weights of each held-out part."""
    seen = [0] * len(held.resampling.pools)
    found = []
    for split in held.resampling.splits:
        pool, start = held.resampling.pools[split.pool], seen[split.pool]
        seen[split.pool] += len(split.test)
        inside = slice(start, seen[split.pool])
        weights = None if pool.weights is None else pool.weights[inside]
        found.append((pool.y[inside], held.outputs[split.pool][inside], weights))
    return found


def _of_part(objective: Objective, fixed: Mapping[str, float], y: Any, outputs: Any, weights: Any) -> float:
    values = dict(fixed)
    for metric in metrics_of(objective.loss):
        if not metric.of_model:
            values[metric.name] = score(metric, y, outputs, weights)
    return loss_value(objective.loss, values)
