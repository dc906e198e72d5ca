"""List the best models of a run, and say how far its winner is ahead of models that need no search.

The winner is compared by its corrected estimate, since it was chosen and they were not. Losses of folds depend on each
other through the rows that their models were fitted on; the variance of their differences is corrected for that
(Nadeau and Bengio, 2003). Where there are no folds, rows take their place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from msl.blocks.base.block import Floats
from msl.evaluate.drawn_losses import DrawnLosses
from msl.evaluate.drawn_metrics import pools_of_models
from msl.evaluate.drawn_units import DrawnUnits
from msl.evaluate.metrics import score
from msl.evaluate.outcome import MetricFailed, Outcome
from msl.evaluate.splits import Split
from msl.report.paired_tests import corrected_spread, students_p
from msl.runner.choose_winner import Candidate, ranked_candidates
from msl.runner.confidence_intervals import HeldOut, uses_held_out_rows
from msl.runner.corrected_estimate import MOST_PLACES, Correction
from msl.runner.insight.baselines import SAFETY, baseline_models, baseline_seconds, needs_too_much_memory
from msl.runner.judged_outputs import judged_outputs
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.runner.time_limit import FinalTasks
from msl.runner.versions import versions_of
from msl.space.canonical.digest import model_digest
from msl.space.spec import Estimate, Objective, loss_value, metrics_of
from msl.space.to_text import model_to_text
from msl.space.values import Model
from msl.store.evaluation import Evaluation, EvaluationInputs, StoredFailure
from msl.store.outputs_table import NewOutputs
from msl.store.store import Store
from msl.workers.task import Task


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
    values = losses_of_parts(objective, evaluation, held[objective.estimate])
    return None if values is None else float(np.std(values, ddof=1))


def losses_of_parts(objective: Objective, evaluation: Evaluation, held: HeldOut) -> Floats | None:
    """The values of an objective on each of the held-out parts, with the sign of losses; None if there are none."""
    if any(metric.relative_to is not None for metric in metrics_of(objective.loss)):
        return None
    if len(held.resampling.splits) < 2 or held.resampling.has_loo_shortcut:
        return None
    fixed = {metric.name: evaluation.metrics.get(metric.name, np.nan) for metric in metrics_of(objective.loss)}
    try:
        values = np.array([_of_part(objective, fixed, *part) for part in _parts(held)])
    except (MetricFailed, ZeroDivisionError):
        return None
    return (values if objective.minimize else -values) if np.isfinite(values).all() else None


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


# --- models that need no search ---------------------------------------------------------------------------------------

#: Folds that show how much differences vary; of more, rows do.
_FEWEST_FOLDS, _MOST_FOLDS = 3, 50
#: A difference that chance alone would make less often is none of luck.
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Baseline:
    """A model that needs no search; with `why`, it has no losses."""

    name: str
    model: Model
    evaluation: Evaluation | None = None
    why: str = ""


def evaluate_baselines(plan: Plan, store: Store, run: str, tasks: FinalTasks) -> list[Baseline]:
    """Evaluates what the store does not know yet, as far as there is time, and stores it."""
    models, foretold = baseline_models(plan.table.task), baseline_seconds(plan)
    inputs = {name: _inputs(plan, model) for name, model in models.items()}
    known = store.evaluations.read([one.key for one in inputs.values()])
    found: dict[str, Baseline] = {}
    wanted: list[str] = []
    left = tasks.limit.left
    for name, model in models.items():
        before = known.get(inputs[name].key)
        if before is not None and not before.bound and before.failure is None:
            found[name] = Baseline(name, model, before)
        elif (too_much := needs_too_much_memory(plan, name)) is not None:
            found[name] = Baseline(name, model, why=too_much)
        elif SAFETY * foretold[name] <= left:
            left -= foretold[name]
            wanted.append(name)
        else:
            found[name] = Baseline(name, model, why="there was no time left for it")
    outcomes = tasks.run([Task(models[name]) for name in wanted])
    for name, outcome in zip(wanted, outcomes, strict=True):
        if outcome is None:
            found[name] = Baseline(name, models[name], why="the time was up")
            continue
        evaluation = _evaluation(inputs[name], models[name], outcome, run)
        packed = {} if outcome.outputs is None else {evaluation.key: outcome.outputs}
        outputs = NewOutputs(plan.digests.data, plan.digests.evaluation, plan.spec.budget.outputs, packed)
        store.record(run, [evaluation], outputs=outputs)
        why = "" if outcome.failure is None else outcome.failure.message
        found[name] = Baseline(name, models[name], evaluation if outcome.failure is None else None, why)
    return [found[name] for name in models]


def _inputs(plan: Plan, model: Model) -> EvaluationInputs:
    digests = plan.digests
    return EvaluationInputs(model_digest(model), versions_of(model), digests.data, digests.evaluation, plan.seed)


def _evaluation(inputs: EvaluationInputs, model: Model, outcome: Outcome, run: str) -> Evaluation:
    failure = outcome.failure
    return Evaluation(
        inputs=inputs,
        text=model_to_text(model),
        losses=outcome.losses,
        metrics=outcome.metrics,
        complexity=outcome.complexity,
        failure=None
        if failure is None
        else StoredFailure(failure.cause, failure.message, failure.step, failure.peak_memory),
        seconds=outcome.effort.seconds,
        fits=outcome.effort.fits,
        fits_saved=outcome.effort.fits_saved,
        warnings=outcome.warnings,
        run=run,
    )


# --- the winner against them ------------------------------------------------------------------------------------------


def compare_with_baselines(
    plan: Plan,
    store: Store,
    found: SearchResult,
    winner: Candidate,
    correction: Correction | None,
    baselines: Sequence[Baseline],
) -> list[dict[str, Any]]:
    """For each baseline its objectives, how far the winner is `ahead` by the first one, and `p`, how likely chance
    alone makes such a difference; None for what is not known."""
    objective, name = plan.objectives[0], plan.objective_names()[0]
    sign = 1.0 if objective.minimize else -1.0
    loss = winner.losses[0]
    if correction is not None and correction.best is not None:
        loss = sign * correction.best.objectives[name]
    held = _held_outputs(plan, store, found, winner, baselines)
    rows = []
    for baseline in baselines:
        row: dict[str, Any] = {"name": baseline.name, "model": model_to_text(baseline.model)}
        if baseline.evaluation is None:
            rows.append({**row, "why": baseline.why})
            continue
        pairs = zip(plan.objective_names(), plan.objectives, baseline.evaluation.losses, strict=True)
        row["objectives"] = {each: value if one.minimize else -value for each, one, value in pairs}
        ahead = baseline.evaluation.losses[0] - loss
        own = held.get(baseline.model)
        spread = (
            None if own is None or winner.model not in held else _spread_of_difference(plan, held[winner.model], own)
        )
        row["ahead"] = ahead
        if spread is not None and spread[0] == 0.0:
            spread = None  # the same difference in every part says nothing about how much it varies
        row["p"] = None if spread is None else students_p(ahead, *spread)
        rows.append(row)
    return rows


_Judged = tuple[Evaluation, HeldOut]


def _held_outputs(
    plan: Plan, store: Store, found: SearchResult, winner: Candidate, baselines: Sequence[Baseline]
) -> dict[Model, _Judged]:
    """The outputs of the winner and of the baselines on the splits that all models share."""
    objective = plan.objectives[0]
    if not uses_held_out_rows(objective) or objective.estimate.rows_repeat:
        return {}
    wanted = [(one.model, one.evaluation) for one in baselines if one.evaluation is not None]
    wanted += [
        (model, one)
        for model, one in found.evaluator.compared.values()
        if model == winner.model and one.inputs.repeat == 0
    ]
    judged = judged_outputs(plan, store, wanted)
    return {model: (one, outputs[objective.estimate]) for model, one, outputs in judged}


def _spread_of_difference(plan: Plan, one: _Judged, other: _Judged) -> tuple[float, int] | None:
    """The standard error of the difference of two losses, and its degrees of freedom; None if that is not known."""
    first, second = one[1].resampling.splits, other[1].resampling.splits
    if first is not second and not _are_same(first, second):
        return None
    objective = plan.objectives[0]
    if _FEWEST_FOLDS <= len(first) <= _MOST_FOLDS:
        parts = [losses_of_parts(objective, evaluation, held) for evaluation, held in (one, other)]
        if parts[0] is not None and parts[1] is not None:
            return corrected_spread(np.subtract(parts[0], parts[1]), _share_tested(first)), len(first) - 1
    return _spread_of_rows(plan, objective, one, other)


def _are_same(first: Sequence[Split], second: Sequence[Split]) -> bool:
    return len(first) == len(second) and all(np.array_equal(a.test, b.test) for a, b in zip(first, second, strict=True))


def _share_tested(splits: Sequence[Split]) -> float:
    """The rows that are tested for one that is fitted on, in the mean over splits."""
    return float(np.mean([len(one.test) / max(1, len(one.train)) for one in splits]))


def _spread_of_rows(plan: Plan, objective: Objective, one: _Judged, other: _Judged) -> tuple[float, int] | None:
    """From what rows add to both losses. Where every row was tested, by models of each other, the variance is that of
    Nadeau and Bengio with a fold for each unit of rows: about twice that of fresh rows."""
    if any(metric.of_model or metric.relative_to is not None for metric in metrics_of(objective.loss)):
        return None
    rows = np.unique(np.concatenate([pool.rows for pool in one[1].resampling.pools]))
    units, dataset = DrawnUnits.of(plan.job.dataset, rows), plan.job.dataset
    pairs = [(held.resampling, held.outputs) for _, held in (one, other)]
    losses = DrawnLosses(objective, pools_of_models(rows, dataset.y, dataset.n_classes, pairs), {}, {})
    try:
        difference = losses.influence(0) - losses.influence(1)
    except (MetricFailed, ZeroDivisionError):
        return None
    pulls = units.centred(units.sums(difference))
    factor = 1.0 if len(one[1].resampling.splits) == 1 else 2.0
    error = math.sqrt(factor * float(np.square(pulls).sum()))
    return (error, len(pulls) - 1) if len(pulls) > 1 and math.isfinite(error) else None
