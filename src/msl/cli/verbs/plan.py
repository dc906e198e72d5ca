"""msl plan: show what a run would evaluate, what is stored already, and how long it may take."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.shared.console import Exit, large_json, tell, write, write_exactly, write_output
from msl.cli.shared.load_plan import (
    ChainOption,
    DataArgument,
    SeedOption,
    SetOption,
    SpecArgument,
    StartOption,
    StoreOption,
    TargetOption,
    TrustOption,
    load_planned,
)
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.runner.forecast import Forecast, StoredEvaluations
    from msl.runner.plan import Plan
    from msl.space.enumerate.count import Count

#: The group and the place of this verb in `msl --help`.
PLACE = ("Search", 2)


def plan(
    spec: SpecArgument,
    data: DataArgument,
    target: TargetOption = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; by default one per core.")] = None,
    seed: SeedOption = None,
    set_: SetOption = None,
    start: StartOption = None,
    chain: ChainOption = None,
    trust: TrustOption = None,
    store: StoreOption = None,
    start_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help='Write the best models of an earlier version of the table, for `search start("FILE")`.'
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with stable names.")] = False,
) -> Exit:
    """Show what a run would do: the size of the space, search, budget, stored evaluations, expected time."""
    from msl.runner.forecast import StoredEvaluations, find_stored_evaluations, forecast
    from msl.runner.table_versions import start_file_text
    from msl.space.enumerate.count import count
    from msl.store.store import Store, has_store, store_folder
    from msl.workers.local import available_cores

    loaded, planned = load_planned(
        spec, data, changes=set_, target=target, seed=seed, chain=chain, trust=trust, start=start
    )
    folder = store or store_folder(Path(loaded.source.path or "spec.msl"))
    workers = jobs or available_cores()
    if has_store(folder):
        with Store.open(folder, read_only=True) as opened:
            stored = find_stored_evaluations(opened, planned, loaded.source)
            expected = forecast(planned, opened, stored, workers)
            if start_file is not None and stored.earlier is not None:
                write_output(start_file_text(opened, planned, stored.earlier), start_file)
                name = os.path.relpath(start_file, Path(loaded.source.path or ".").parent)
                tell(f'wrote {start_file}; write `search start("{name}") then …` in the spec to evaluate them first')
    else:
        stored = StoredEvaluations()
        expected = forecast(planned, None, stored, workers)
    if start_file is not None and stored.earlier is None:
        help = f"tables are known by the rows of earlier runs; `msl log --store {folder}` lists them"
        raise UserError("the store knows no earlier version of this table, and so no models to start from", help)
    size = count(planned.spec.space)
    show = _as_json if json else _as_text
    (write_exactly if json else write)(show(planned, size, stored, expected, workers))
    return Exit.FINE


def _as_json(plan: Plan, size: Count, stored: StoredEvaluations, expected: Forecast, workers: int) -> str:
    from dataclasses import asdict

    from msl.runner.forecast import stage_evaluations

    facts, run = plan.table.facts, expected.run
    record: dict[str, Any] = {
        "chain": plan.spec.name,
        "digest": plan.digests.run,
        "data": {
            "rows": facts.n_samples,
            **({"sample_of": plan.table.n_sampled_from} if plan.table.n_sampled_from else {}),
            "features": facts.n_features,
            "task": facts.task,
            "target": plan.table.target,
        },
        "models": size.models,
        "structures": size.structures,
        "exact": size.exact,
        "objectives": plan.objective_names(),
        "limits": [limit.text for limit in plan.spec.limits],
        "stages": [
            {"strategy": stage.call.name, "dimensions": search_space.n_dimensions, "evaluations": most}
            for stage, search_space, most in zip(
                plan.spec.search, plan.search_spaces, stage_evaluations(plan), strict=True
            )
        ],
        "budget": {name: value for name, value in asdict(plan.spec.budget).items() if value is not None},
        "seed": plan.seed,
        "stored": {
            "kept": stored.kept,
            "outside": stored.outside,
            "other": stored.other,
            "changed": list(stored.changed),
            "unread": stored.unread,
        },
        **({} if stored.earlier is None else {"earlier_table": asdict(stored.earlier)}),
        "run": None if run is None else {"id": run.id, "status": run.status, "goes_on": expected.is_continuation},
        "evaluations": expected.evaluations,
        "left": expected.left,
        "seconds_each": expected.each,
        "probed": expected.is_probed,
        "in_time": expected.in_time,
        "seconds": expected.seconds,
        "workers": workers,
    }
    return large_json(record)


def _as_text(plan: Plan, size: Count, stored: StoredEvaluations, expected: Forecast, workers: int) -> str:
    from msl.cli.verbs.info import shown_number

    facts = plan.table.facts
    classes = f", {facts.n_classes} classes" if facts.n_classes else ""
    rows = [
        ("chain", plan.spec.name),
        ("table", f"{plan.table.rows_in_words}, {facts.n_features} features{classes} ({facts.task})"),
        ("models", shown_number(size.models, size.exact) if size.models is not None else size.reason),
        ("structures", shown_number(size.structures, size.structures_interval is None)),
        ("objectives", ", ".join(_objectives(plan))),
        *(("required", limit.text.removeprefix("require ")) for limit in plan.spec.limits),
        *(("search", text) for text in _stages(plan)),
        ("budget", _budget(plan)),
        ("stored", _stored(stored)),
        *([] if stored.earlier is None else [("", str(stored.earlier))]),
        ("run", _run(expected)),
        ("time", _time(expected, workers)),
    ]
    lines, before = [], ""
    for name, text in rows:
        lines.append(f"{'' if name == before else name:<12} {text}")
        before = name
    return "\n".join(lines) + "\n"


def _objectives(plan: Plan) -> list[str]:
    return [f"{objective.text} by {objective.estimate.name}" for objective in plan.objectives]


def _stages(plan: Plan) -> list[str]:
    from msl.runner.forecast import stage_evaluations

    found = []
    for stage, search_space, most in zip(plan.spec.search, plan.search_spaces, stage_evaluations(plan), strict=True):
        upto = "an unknown number of evaluations" if most is None else f"at most {most:,} evaluations"
        found.append(f"{stage.call.name} in {search_space.n_dimensions} dimensions, {upto}")
    return found


def _budget(plan: Plan) -> str:
    from msl.workers.task import spell_bytes

    budget = plan.spec.budget
    words = [
        *([f"{budget.evaluations:,} evaluations"] if budget.evaluations is not None else []),
        *([f"{_seconds(budget.time)} in total"] if budget.time is not None else []),
        *([f"{_seconds(budget.each)} per model"] if budget.each is not None else []),
        *([f"{_seconds(budget.fit)} per fit"] if budget.fit is not None else []),
        *([f"{spell_bytes(budget.memory)} per model"] if budget.memory is not None else []),
        *([f"until {budget.until:g}"] if budget.until is not None else []),
    ]
    return ", ".join(words) or "none"


def _stored(stored: StoredEvaluations) -> str:
    if not (stored.kept or stored.outside or stored.other or stored.unread):
        return "nothing of this table"
    words = [f"kept {stored.kept}", f"outside {stored.outside}"]
    words += [f"{stored.other} {stored.why_other}"] if stored.other else []
    words += [f"{stored.unread} not read"] if stored.unread else []
    return ", ".join(words)


def _run(expected: Forecast) -> str:
    run = expected.run
    if run is None:
        return "would start a new run"
    if expected.is_continuation:
        return f"would resume {run.id}"
    if run.status == "running":
        return f"{run.id} is still running"
    return f"{run.id} is finished; nothing would be evaluated again"


def _time(expected: Forecast, workers: int) -> str:
    if expected.left == 0:
        return "next to none"
    if expected.seconds is None:
        why = (
            "the search has no bound"
            if expected.each is not None
            else "nothing of this table is stored or can be tried"
        )
        return f"unknown: {why}"
    counted = "1 worker" if workers == 1 else f"{workers} workers"
    if expected.each is None:
        return f"at most {_seconds(expected.seconds)} on {counted}"
    how = " by a probe on few rows" if expected.is_probed else ""
    enough = expected.in_time is not None and (expected.left is None or expected.in_time < expected.left)
    many = f"; that is enough for about {expected.in_time:,} models" if enough else ""
    return f"at most {_seconds(expected.seconds)} on {counted}, at {_seconds(expected.each)} per model{how}{many}"


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.3g} min" if seconds < 3600 else f"{seconds / 3600:.3g} h"
