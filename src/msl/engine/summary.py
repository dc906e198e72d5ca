"""Summary: what a run came to, as one plain record — what the store keeps, `--json` prints and reports show.

Everything in it is the same for the same spec, table, seed and versions, but `run`, `seconds`, and the figures of what
was reused or saved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base import Floats
from msl.engine.ensembles import Members
from msl.engine.held_out import HeldOut, held_out
from msl.engine.interval import intervals
from msl.engine.loop import Search
from msl.engine.plan import Plan
from msl.engine.preferred import preferences
from msl.engine.stock import Stock
from msl.engine.trained import Trained
from msl.engine.verdict import Candidate, Verdict, candidates_of, refit, test_measures, winner_chain
from msl.engine.vote_estimate import estimate_vote
from msl.evaluate.ground import Ground
from msl.evaluate.scoring import confusion
from msl.evaluate.table import Table
from msl.runs.evaluation import Evaluation
from msl.space.spec import Call
from msl.space.spell import spell_model

#: What random numbers are for, so that no two uses of one seed draw the same.
_SHOWN = 6
#: Rows of a regression that are kept to be drawn.
_MOST_POINTS = 400
_ENDINGS = {"time": "the time is up", "interrupted": "interrupted"}


def summarize(
    plan: Plan,
    found: Search,
    verdict: Verdict,
    trained: Trained | None,
    *,
    members: Members | None,
    run: str,
    stock: Stock,
    path: str | None = None,
    test: Table | None = None,
) -> dict[str, Any]:
    """The record of a run; `path` is where its table was read, `test` a table to judge the winner on."""
    tally, best = found.answers.tally, verdict.best
    record: dict[str, Any] = {
        "run": run,
        "digest": plan.digests.run,
        "best": None if best is None else spell_model(best.model),
        "objectives": {} if best is None else signed_losses(plan, best.losses),
        "evaluations": tally.evaluations,
        "reused": tally.reused,
        "repeats": tally.repeats,
        "outside": tally.outside,
        "failures": tally.failures,
        "fits": tally.fits,
        "fits_saved": tally.fits_saved,
        "seconds": round(found.seconds, 3),
        "ending": found.why or _ENDINGS.get(found.ending, found.ending),
        "kept": stock.kept,
        "outside_space": stock.outside,
        "new": tally.new,
        "data": _about_table(plan.table, path),
    }
    if best is not None and trained is not None:
        record |= _about_winner(plan, found, verdict, best)
        if members is not None:
            record |= _about_ensemble(plan, found, members, best)
        if test is not None:
            try:
                record |= _tested(plan, record, best, trained, test)
            except Exception as reason:  # of whatever class a block comes from: a bad test table costs no search
                record["test_failure"] = (str(reason).strip() or type(reason).__name__).splitlines()[0]
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


def _about_winner(plan: Plan, found: Search, verdict: Verdict, best: Candidate) -> dict[str, Any]:
    judged = candidates_of(plan, found)
    models = dict.fromkeys(model for model, _ in found.answers.met.values())
    measures = _measures(found, best)
    outputs = held_out(plan, best)
    record: dict[str, Any] = {
        "complexity": best.complexity,
        "measures": dict(measures),
        "interval": intervals(plan, measures, signed_losses(plan, best.losses), outputs),
        "preferred": [asdict(one) for one in preferences(plan, models, judged)],
        "judged": _judged_held_out(plan, outputs),
    }
    if verdict.front:
        record["front"] = [
            {
                "model": spell_model(one.model),
                "objectives": signed_losses(plan, one.losses),
                "complexity": one.complexity,
            }
            for one in verdict.front
        ]
    return record


def _measures(found: Search, best: Candidate) -> Mapping[str, float]:
    """What the winner's losses were made of; where they are means, the means."""
    turns = range(best.turn, best.turn + best.turns)
    own = [one for model, one in found.answers.met.values() if model == best.model and _is_whole(one, turns)]
    return {name: float(np.mean([one.measures[name] for one in own])) for name in (own[0].measures if own else ())}


def _is_whole(evaluation: Evaluation, turns: range) -> bool:
    question = evaluation.question
    return question.share == 1.0 and question.turn in turns and bool(evaluation.measures)


def _judged_held_out(plan: Plan, outputs: Mapping[Call, HeldOut]) -> dict[str, Any] | None:
    """Each row by a model that was not fitted on it; of repeats the last."""
    for held in outputs.values():
        pool, given = held.trial.pools[-1], held.outputs[-1]
        return _judged(plan, pool.y, given, pool.weights)
    return None


def _judged(plan: Plan, y: NDArray[Any], outputs: Floats, weights: Floats | None = None) -> dict[str, Any]:
    """Which class was taken for which; or pairs of the true and the predicted number."""
    classes = plan.table.classes
    if classes:
        counts = confusion(y, outputs, len(classes), np.ones(len(y)) if weights is None else weights)
        cells = counts.round().astype(np.intp) if weights is None else counts.round(3)
        return {"kind": "classification", "classes": list(classes), "confusion": cells.tolist()}
    rows = np.arange(len(y))
    if len(y) > _MOST_POINTS:
        rows = np.sort(np.random.default_rng([plan.seed, _SHOWN]).choice(len(y), _MOST_POINTS, replace=False))
    return {"kind": "regression", "actual": y[rows].tolist(), "predicted": outputs[rows].tolist()}


def _about_ensemble(plan: Plan, found: Search, members: Members, best: Candidate) -> dict[str, Any]:
    """Whoever has no more time is not made to wait for the estimate of a vote."""
    record: dict[str, Any] = {
        "ensemble": [spell_model(one.model) for one in members.candidates],
        "voting": members.voting,
    }
    estimate = estimate_vote(plan, members, best) if found.ending == "finished" else None
    if estimate is not None:
        record["ensemble_objectives"], record["ensemble_interval"] = estimate.objectives, estimate.interval
    return record


# --- the test table ---


def _tested(plan: Plan, record: Mapping[str, Any], best: Candidate, trained: Trained, test: Table) -> dict[str, Any]:
    """The winner alone on the test table, and the ensemble that was trained where there is one."""
    has_ensemble = "ensemble" in record
    chain = refit(plan, winner_chain(plan, best.model)) if has_ensemble else trained.estimator
    measured = test_measures(plan, chain, test)
    estimated = record["measures"]
    ground = Ground.of(test)
    found: dict[str, Any] = {
        "test": measured,
        "gap": {name: value - estimated[name] for name, value in measured.items() if name in estimated},
        "test_judged": _judged(plan, ground.y, chain.outputs(ground.X)),
    }
    if has_ensemble:
        found["ensemble_test"] = test_measures(plan, trained.estimator, test)
    return found


def _plain(value: Any) -> Any:
    """As JSON knows it: a number that is none is nothing."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
