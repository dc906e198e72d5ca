"""Session: a plan run from its beginning, or from where it stopped, to a trained winner that the store keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msl.engine.loop import Progress, Search, search
from msl.engine.plan import Plan
from msl.engine.preflight import block_problems
from msl.engine.saved import save_winner
from msl.engine.trained import Trained
from msl.engine.verdict import judge
from msl.engine.versions import versions_of_packages
from msl.evaluate.executors.choice import open_executor
from msl.runs.evaluation import Evaluation
from msl.runs.run import Order
from msl.runs.store import Store
from msl.space.spell import spell_model
from msl.text.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a run came to. `evaluations` has a row for each model that was judged, in the order of the search."""

    run: str
    digest: str
    #: The best model as MSL.
    best: str
    #: Its objectives, as the user counts them.
    objectives: Mapping[str, float]
    trained: Trained
    evaluations: Sequence[Mapping[str, Any]]
    failures: int
    reused: int
    seconds: float
    ending: str


class NoModel(ValueError):
    """A search in which no model could be judged."""


def run_plan(
    plan: Plan,
    source: Source,
    sources: Sequence[Source],
    folder: Path,
    *,
    on: Any = "inprocess",
    workers: int | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Result:
    """Runs a plan with the store in `folder`; an unfinished run of the same digest goes on."""
    unusable = block_problems(plan.spec.space, plan.table.task, plan.job.trusted)
    if unusable:
        raise ValueError("\n".join(f"{each.message}; {each.help}" for each in unusable))
    with Store.open(folder) as store:
        run = start_or_resume(store, plan, source, sources)
        with open_executor(plan.job, on, workers) as executor:
            found = search(plan, store, run, executor, progress=progress)
        verdict = judge(plan, found)
        trained = save_winner(store.files, run, plan, found, verdict)
        if trained is None or verdict.best is None:
            store.runs.end(run, "failed", {})
            raise NoModel(_why_none(found))
        best = spell_model(verdict.best.model)
        objectives = signed_losses(plan, verdict.best.losses)
        store.runs.end(run, "finished", {"run": run, "best": best, "objectives": objectives})
    tally = found.answers.tally
    rows = [_row(plan, evaluation) for _, evaluation in found.answers.met.values()]
    ending = found.why or found.ending
    return Result(
        run, plan.digests.run, best, objectives, trained, rows, tally.failures, tally.reused, found.seconds, ending
    )


def start_or_resume(store: Store, plan: Plan, source: Source, sources: Sequence[Source]) -> str:
    """A new run, or the unfinished one of the same digest; its id."""
    for known in store.runs.of_digest(plan.digests.run):
        if known.status == "interrupted":
            return store.runs.claim(known.id).id
    texts = {each.name: each.text for each in sources if not each.name.startswith("<")}
    order = Order(
        name=plan.spec.name,
        spec=source.name,
        sources={source.name: source.text, **texts},
        digests=plan.digests,
        seed=plan.seed,
        versions=dict(versions_of_packages(frozenset({"msl"}))),
    )
    return store.runs.start(order).id


def signed_losses(plan: Plan, losses: Sequence[float]) -> dict[str, float]:
    """What was optimised, as the user counts it: a maximised measure has its own sign back."""
    return {
        name: float(loss) if objective.minimize else -float(loss)
        for name, objective, loss in zip(plan.objective_names(), plan.objectives, losses, strict=True)
    }


def _row(plan: Plan, evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation for people and frames: a lower bound from a race that was given up is no value."""
    exact = evaluation.trouble is None and not evaluation.bound
    losses = signed_losses(plan, evaluation.losses) if exact else dict.fromkeys(plan.objective_names())
    trouble = evaluation.trouble
    return {
        "model": evaluation.text,
        **losses,
        "complexity": float(evaluation.complexity),
        "share": float(evaluation.question.share),
        "seconds": float(evaluation.seconds),
        "failure": None if trouble is None else f"{trouble.cause}: {trouble.message}",
    }


def _why_none(found: Search) -> str:
    troubles = [one.trouble for _, one in found.answers.met.values() if one.trouble is not None]
    if not troubles:
        return "no model of the space was evaluated: give the search more evaluations"
    return f"none of {len(troubles)} models could be evaluated; the first said: {troubles[0].message}"
