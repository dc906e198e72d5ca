"""Summary: what a run came to, as one plain record — what the store keeps, `--json` prints and reports show.

Everything in it is the same for the same spec, table, seed and versions, but `run`, `seconds`, and the figures of what
was reused or saved.
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
from msl.evaluate.metrics import confusion
from msl.runner.choice_counts import preferences
from msl.runner.finish import Finished
from msl.runner.loop import Search
from msl.runner.plan import Plan
from msl.runner.reuse import StoredEvaluations
from msl.runner.uncertainty import HeldOut, intervals
from msl.runner.verdict import Candidate, Verdict, candidates_of, test_measures
from msl.space.spec import Estimate
from msl.space.to_text import model_to_text
from msl.store.evaluation import Evaluation

#: What random numbers are for, so that no two uses of one seed draw the same.
_SHOWN = 6
#: Rows of a regression that are kept to be drawn.
_MOST_POINTS = 400
_ENDINGS = {"time": "the time is up", "interrupted": "interrupted"}


def summarize(
    plan: Plan,
    found: Search,
    verdict: Verdict,
    finished: Finished | None,
    *,
    run: str,
    stock: StoredEvaluations,
    path: str | None = None,
    test: Table | None = None,
) -> dict[str, Any]:
    """The record of a run; `path` is where its table was read, `test` the table that the winner was tested on.

    What it says of the best model stands at the top, what it says of the ensemble
    under names of its own; `used` says which of the two predicts, and `judged` and `test_judged` are about that one.
    """
    tally = found.answers.tally
    best = verdict.best if finished is None else finished.best
    record: dict[str, Any] = {
        "run": run,
        "digest": plan.digests.run,
        "best": None if best is None else model_to_text(best.model),
        "objectives": {} if best is None else signed_losses(plan, best.losses),
        "evaluations": tally.evaluations,
        "reused": tally.reused,
        "repeats": tally.repeats,
        "outside": tally.outside,
        "failures": tally.failures,
        "fits": tally.fits,
        "fits_saved": tally.fits_saved,
        "ending": found.why or _ENDINGS.get(found.ending, found.ending),
        "kept": stock.kept,
        "outside_space": stock.outside,
        "new": tally.new,
        "data": _about_table(plan.table, path),
    }
    if finished is not None:
        record |= _about_winner(plan, found, verdict, finished)
        record |= _about_used(plan, finished)
        if test is not None:
            record |= _tested(plan, record, finished, test)
    plain: dict[str, Any] = _plain(record)
    return plain


def signed_losses(plan: Plan, losses: Sequence[float]) -> dict[str, float]:
    """What was optimised, as the user counts it: a maximised measure has its own sign back."""
    return {
        name: float(loss) if objective.minimize else -float(loss)
        for name, objective, loss in zip(plan.objective_names(), plan.objectives, losses, strict=True)
    }


# --- the table ---


def _about_table(table: Table, path: str | None) -> dict[str, Any]:
    return {
        "path": path,
        "rows": len(table),
        "features": table.X.shape[1],
        "task": table.task,
        "target": table.target,
        "classes": list(table.classes),
    }


# --- the winner ---


def _about_winner(plan: Plan, found: Search, verdict: Verdict, finished: Finished) -> dict[str, Any]:
    best = finished.best
    judged = candidates_of(plan, found)
    models = dict.fromkeys(model for model, _ in found.answers.met.values())
    measures = _measures(found, best)
    record: dict[str, Any] = {
        "complexity": best.complexity,
        "measures": dict(measures),
        "interval": intervals(plan, measures, signed_losses(plan, best.losses), finished.held),
        "preferred": [asdict(one) for one in preferences(plan, models, judged)],
    }
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
    """Which model predicts, what the ensemble came to, and where the one that predicts is wrong."""
    ensemble = finished.ensemble
    held = finished.held
    if ensemble is None:
        return {"used": {"model": "best", "why": ""}, "judged": _judged_held_out(plan, held)}
    record: dict[str, Any] = {
        "ensemble": [model_to_text(one.model) for one in ensemble.members.candidates],
        "voting": ensemble.members.voting,
        "used": {"model": "ensemble" if ensemble.is_used else "best", "why": ensemble.why},
    }
    estimate = ensemble.estimate
    if estimate is not None:
        if estimate.objectives:
            record["ensemble_objectives"], record["ensemble_interval"] = estimate.objectives, estimate.interval
        if ensemble.is_used:
            held = estimate.held
    return record | {"judged": _judged_held_out(plan, held)}


def _measures(found: Search, best: Candidate) -> Mapping[str, float]:
    """What the winner's losses were made of; where they are means, the means."""
    turns = range(best.repeat, best.repeat + best.turns)
    own = [one for model, one in found.answers.met.values() if model == best.model and _is_whole(one, turns)]
    return {name: float(np.mean([one.measures[name] for one in own])) for name in (own[0].measures if own else ())}


def _is_whole(evaluation: Evaluation, turns: range) -> bool:
    question = evaluation.question
    return question.share == 1.0 and question.repeat in turns and bool(evaluation.measures)


def _judged_held_out(plan: Plan, outputs: Mapping[Estimate, HeldOut]) -> dict[str, Any] | None:
    """Each row by a model that was not fitted on it; of repeats the last."""
    for held in outputs.values():
        pool, given = held.resampling.pools[-1], held.outputs[-1]
        return _judged(plan, pool.y, given, pool.weights)
    return None


def _judged(plan: Plan, y: NDArray[Any], outputs: Floats, weights: Floats | None = None) -> dict[str, Any]:
    """Which class was taken for which; or pairs of the true and the predicted number."""
    classes = plan.table.classes
    if classes:
        counts = confusion(y, outputs, np.ones(len(y)) if weights is None else weights)
        cells = counts.round().astype(np.intp) if weights is None else counts.round(3)
        return {"kind": "classification", "classes": list(classes), "confusion": cells.tolist()}
    rows = np.arange(len(y))
    if len(y) > _MOST_POINTS:
        rows = np.sort(np.random.default_rng([plan.seed, _SHOWN]).choice(len(y), _MOST_POINTS, replace=False))
    return {"kind": "regression", "actual": y[rows].tolist(), "predicted": outputs[rows].tolist()}


# --- the test table ---


def _tested(plan: Plan, record: Mapping[str, Any], finished: Finished, test: Table) -> dict[str, Any]:
    """The best model on the test table, and the ensemble where it is used."""
    if finished.test_outputs is None:
        return {"test_failure": (finished.no_test.strip() or "it could not be asked").splitlines()[0]}
    y = Dataset.of(test).y
    measured = test_measures(plan, finished.test_outputs, y)
    estimated = record["measures"]
    found: dict[str, Any] = {
        "test": measured,
        "gap": {name: value - estimated[name] for name, value in measured.items() if name in estimated},
    }
    used = finished.test_outputs
    if finished.ensemble is not None and finished.ensemble.test_outputs is not None:
        used = finished.ensemble.test_outputs
        found["ensemble_test"] = test_measures(plan, used, y)
    return found | {"test_judged": _judged(plan, y, used)}


def _plain(value: Any) -> Any:
    """As JSON knows it: a number that is none is nothing."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


# --- Warned: the kinds of warnings that a run met, in its evaluations and in what it fitted at its end. ---------------


#: Kinds that are kept; of more than these nobody reads.
_MOST = 20
#: What differs between warnings of one kind: the numbers in them.
_NUMBER = re.compile(r"[-+]?\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def kinds_of_warnings(found: Search, at_end: Iterable[str]) -> list[dict[str, Any]]:
    """The kinds, the most frequent first: the first of each, and how many models came with one. What was raised when
    the winner was fitted on every row counts as one more."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    told = [dict.fromkeys(one.warnings) for _, one in found.answers.met.values()]
    for warnings in (*told, dict.fromkeys(at_end)):
        kinds = {_NUMBER.sub("#", words): words for words in reversed(list(warnings))}
        counts.update(kinds.keys())
        for kind, words in kinds.items():
            first.setdefault(kind, words)
    return [{"warning": first[kind], "models": count} for kind, count in counts.most_common(_MOST)]
