"""Summarize a run as one record of plain values, which is stored, printed by `--json` and shown in reports.

It is the same for the same spec, table, seed and versions, except for `run`, `seconds`, `top_seconds`, the counts of
what was reused or saved, and what it says of other runs of the store (`ledger`, `interval_of_runs`, `test_table`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.data.table import Table
from msl.evaluate.dataset import Dataset
from msl.evaluate.final_fits import shown_metric
from msl.evaluate.metrics import confusion
from msl.runner.choice_counts import count_choices
from msl.runner.choose_winner import Candidate, Verdict, candidates_of, test_metrics
from msl.runner.confidence_intervals import HeldOut, intervals
from msl.runner.corrected_estimate import Correction, correction_to_record
from msl.runner.finish import Finished
from msl.runner.forecast import StoredEvaluations
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.space.spec import Estimate
from msl.space.to_text import model_to_text
from msl.space.values import BlockValue, Model, PipelineValue, steps_of_value
from msl.store.evaluation import Evaluation

#: A stream of random numbers, so that no two uses of one seed draw the same.
_POINTS_STREAM = 6
#: The most rows of a regression that are kept, for the plot of predictions.
_MOST_POINTS = 400
_ENDINGS = {"time": "the time is up", "interrupted": "interrupted"}


def summarize(
    plan: Plan,
    found: SearchResult,
    verdict: Verdict,
    finished: Finished | None,
    correction: Correction | None = None,
    *,
    run: str,
    stored: StoredEvaluations,
    path: str | None = None,
    test: Table | None = None,
) -> dict[str, Any]:
    """The record of a run; `path` is the file of its table, `test` the table that the winner was tested on.

    `corrected` has the estimates corrected for the choice of the best of many models, or `why` there are none. The
    entries about the best model and about the ensemble have different names. `used` says which of the two is used
    to predict; the predictions in `judged` and `test_judged` are those of that one.
    """
    counts = found.evaluator.counts
    best = verdict.best if finished is None else finished.best
    record: dict[str, Any] = {
        "run": run,
        "digest": plan.digests.run,
        "best": None if best is None else model_to_text(best.model),
        **({} if correction is None else {"corrected": correction_to_record(correction)}),
        "objectives": {} if best is None else signed_losses(plan, best.losses),
        "evaluations": counts.evaluations,
        "reused": counts.reused,
        "repeats": counts.repeats,
        "outside": counts.outside,
        "failures": counts.failures,
        "fits": counts.fits,
        "fits_saved": counts.fits_saved,
        "ending": found.why or _ENDINGS.get(found.ending, found.ending),
        "kept": stored.kept,
        "outside_space": stored.outside,
        "new": counts.new,
        "data": _about_table(plan.table, path),
    }
    if finished is not None:
        record |= _about_winner(plan, found, verdict, finished)
        record |= _about_used(plan, finished)
        if test is not None:
            record |= _about_test(plan, record, finished, test)
    of_plain_values: dict[str, Any] = plain(record)
    return of_plain_values


def signed_losses(plan: Plan, losses: Sequence[float]) -> dict[str, float]:
    """Losses as values of the objectives: the sign of those that are maximised is changed back."""
    return {
        name: float(loss) if objective.minimize else -float(loss)
        for name, objective, loss in zip(plan.objective_names(), plan.objectives, losses, strict=True)
    }


# --- the table ---


def _about_table(table: Table, path: str | None) -> dict[str, Any]:
    return {
        "path": path,
        "rows": len(table),
        **({"sample_of": table.n_sampled_from} if table.n_sampled_from else {}),
        "features": table.X.shape[1],
        "task": table.task,
        "target": table.target,
        "classes": list(table.classes),
    }


# --- the winner ---


def _about_winner(plan: Plan, found: SearchResult, verdict: Verdict, finished: Finished) -> dict[str, Any]:
    best = finished.best
    candidates = candidates_of(plan, found)
    models = dict.fromkeys(model for model, _ in found.evaluator.evaluated.values())
    metrics = _winner_metrics(found, best)
    record: dict[str, Any] = {
        "complexity": best.complexity,
        "measures": dict(metrics),
        "interval": intervals(plan, metrics, signed_losses(plan, best.losses), finished.held),
        "preferred": [asdict(one) for one in count_choices(plan, models, candidates)],
    }
    if plan.spec.limits:
        record["limits"] = [
            {"text": limit.text, "value": metrics[name], "shown": shown_metric(limit.metric, metrics[name])}
            for limit in plan.spec.limits
            if (name := limit.metric.name) in metrics
        ]
    if finished.failures:
        record["not_fitted"] = [failure.message for failure in finished.failures]
    if verdict.front:
        record["front"] = [
            {
                "model": model_to_text(one.model),
                "objectives": signed_losses(plan, one.losses),
                "complexity": one.complexity,
            }
            for one in verdict.front
        ]
    return record


def _about_used(plan: Plan, finished: Finished) -> dict[str, Any]:
    """Which model is used to predict, the ensemble and its estimate, and the held-out predictions of the one used."""
    ensemble = finished.ensemble
    held = finished.held
    if ensemble is None:
        return {"used": {"model": "best", "why": ""}, "judged": _held_out_predictions(plan, held)}
    record: dict[str, Any] = {
        "ensemble": [model_to_text(one.model) for one in ensemble.members.candidates],
        "voting": ensemble.members.voting,
        **({"weights": list(ensemble.members.weights)} if len(set(ensemble.members.weights)) > 1 else {}),
        **({} if ensemble.members.final is None else {"final": _last_learner(plan)}),
        "used": {"model": "ensemble" if ensemble.is_used else "best", "why": ensemble.why},
    }
    estimate = ensemble.estimate
    if estimate is not None:
        if estimate.objectives:
            record["ensemble_objectives"], record["ensemble_interval"] = estimate.objectives, estimate.interval
        if ensemble.is_used:
            held = estimate.held
    return record | {"judged": _held_out_predictions(plan, held)}


def _last_learner(plan: Plan) -> str:
    """The last learner of a stack as text."""
    final = None if plan.spec.ensemble is None else dict(plan.spec.ensemble.options).get("final")
    if isinstance(final, BlockValue | PipelineValue):
        return model_to_text(Model(steps_of_value(final)))
    return "logistic regression" if plan.job.dataset.n_classes else "ridge regression"


def _winner_metrics(found: SearchResult, best: Candidate) -> Mapping[str, float]:
    """The metrics that the losses of the winner were computed from; means if its losses are means over repeats."""
    repeats = range(best.repeat, best.repeat + best.repeats)
    own = [
        one for model, one in found.evaluator.evaluated.values() if model == best.model and _is_complete(one, repeats)
    ]
    return {name: float(np.mean([one.metrics[name] for one in own])) for name in (own[0].metrics if own else ())}


def _is_complete(evaluation: Evaluation, repeats: range) -> bool:
    inputs = evaluation.inputs
    return inputs.share == 1.0 and inputs.repeat in repeats and bool(evaluation.metrics)


def _held_out_predictions(plan: Plan, outputs: Mapping[Estimate, HeldOut]) -> dict[str, Any] | None:
    """The predictions for held-out rows, in the last repeat of the first estimate."""
    for held in outputs.values():
        pool, predicted = held.resampling.pools[-1], held.outputs[-1]
        return _predictions(plan, pool.y, predicted, pool.weights)
    return None


def _predictions(plan: Plan, y: NDArray[Any], outputs: Floats, weights: Floats | None = None) -> dict[str, Any]:
    """The confusion matrix of a classification; the true and predicted values of a regression."""
    classes = plan.table.classes
    if classes:
        counts = confusion(y, outputs, np.ones(len(y)) if weights is None else weights)
        cells = counts.round().astype(np.intp) if weights is None else counts.round(3)
        return {"kind": "classification", "classes": list(classes), "confusion": cells.tolist()}
    rows = np.arange(len(y))
    if len(y) > _MOST_POINTS:
        rows = np.sort(np.random.default_rng([plan.seed, _POINTS_STREAM]).choice(len(y), _MOST_POINTS, replace=False))
    return {"kind": "regression", "actual": y[rows].tolist(), "predicted": outputs[rows].tolist()}


# --- the test table ---


def _about_test(plan: Plan, record: Mapping[str, Any], finished: Finished, test: Table) -> dict[str, Any]:
    """The metrics of the best model on the test table, and of the ensemble if it is used."""
    if finished.test_outputs is None:
        return {"test_failure": (finished.no_test.strip() or "the model gave no predictions").splitlines()[0]}
    rows = Dataset.of(test)
    y, weights = rows.y, rows.weights
    measured = test_metrics(plan, finished.test_outputs, y, weights)
    estimated = {**record["measures"], **record.get("corrected", {}).get("objectives", {})}
    found: dict[str, Any] = {
        "test": measured,
        "gap": {name: value - estimated[name] for name, value in measured.items() if name in estimated},
    }
    used = finished.test_outputs
    if finished.ensemble is not None and finished.ensemble.test_outputs is not None:
        used = finished.ensemble.test_outputs
        found["ensemble_test"] = test_metrics(plan, used, y, weights)
    return found | {"test_judged": _predictions(plan, y, used, weights)}


def plain(value: Any) -> Any:
    """A value that JSON can represent; NaN and infinity become None."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


# --- The warnings of a run. -------------------------------------------------------------------------------------------


#: The most kinds of warnings that are kept.
_MOST_KINDS = 20
#: Warnings that differ only in numbers are of one kind.
_NUMBER = re.compile(r"[-+]?\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def kinds_of_warnings(found: SearchResult, at_end: Iterable[str]) -> list[dict[str, Any]]:
    """The kinds of warnings, the most frequent first: the first warning of each kind, and the number of models with it.

    The warnings of the final fits (`at_end`) count as those of one more model.
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    of_models = [dict.fromkeys(one.warnings) for _, one in found.evaluator.evaluated.values()]
    for warnings in (*of_models, dict.fromkeys(at_end)):
        kinds = {_NUMBER.sub("#", text): text for text in reversed(list(warnings))}
        counts.update(kinds.keys())
        for kind, text in kinds.items():
            first.setdefault(kind, text)
    return [{"warning": first[kind], "models": count} for kind, count in counts.most_common(_MOST_KINDS)]
