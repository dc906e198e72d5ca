"""msl show: show everything about one run."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.shared.console import Exit, write, write_exactly
from msl.cli.shared.load_run import RUN_HELP, STORE_HELP, opened_run
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.store.store import Store

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 2)


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)] = "@",
    model: Annotated[bool, typer.Option("--model", help="Only the best model, as a spec of its own.")] = False,
    spec: Annotated[bool, typer.Option("--spec", help="Only the spec, as it was then.")] = False,
    failures: Annotated[bool, typer.Option("--failures", help="Every model that failed, and why.")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="What the strategies reported, step by step.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with stable names.")] = False,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
) -> Exit:
    """Show a run: status, best model, estimates, front, failures, versions, and how to repeat it."""
    parts = {"--model": model, "--spec": spec, "--failures": failures, "--trace": trace}
    given = [name for name, on in parts.items() if on]
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)} show different parts of a run", "give one of them at a time")
    if json and (model or spec):
        raise UserError(f"{given[0]} prints MSL, not JSON", "leave out `--json`")
    with opened_run(run, store) as (opened, identity):
        match given:
            case ["--model"]:
                text = _model(opened, identity)
            case ["--spec"]:
                text = opened.runs.sources(identity)[opened.runs.get(identity).spec]
            case ["--failures"]:
                text = _failures(opened, identity, json)
            case ["--trace"]:
                text = _trace(opened, identity, json)
            case _:
                text = _account(opened, identity, json)
    (write_exactly if json or model or spec else write)(text if text.endswith("\n") else f"{text}\n")
    return Exit.FINE


def _model(store: Store, run: str) -> str:
    file = store.files.model(run, ".msl")
    if file.exists():
        return file.read_text(encoding="utf-8")
    best = store.runs.get(run).result.get("best")
    if best is None:
        raise UserError(f"the run `{run}` has no best model", "finish it with `msl run`")
    return str(best)


def _failures(store: Store, run: str, json: bool) -> str:
    from msl.report.run_facts import failure_groups, failures_to_record, failures_to_text

    groups = failure_groups(store.evaluations.failures(run))
    if json:
        return _as_json(failures_to_record(groups))
    return failures_to_text(groups, all_of_them=True) or "no model failed"


def _trace(store: Store, run: str, json: bool) -> str:
    from msl.report.run_facts import first_objective
    from msl.report.search_trace import trace_to_text

    events = store.runs.events(run)
    if json:
        return _as_json([{"kind": event.kind, **event.figures} for event in events])
    if not events:
        raise UserError(f"the run `{run}` has no trace yet", "its strategy has reported nothing so far")
    return trace_to_text(events, first_objective(store.runs.get(run), store.runs.sources(run)))


def _account(store: Store, run: str, json: bool) -> str:
    from msl.report.run_account import account_of, account_to_record, account_to_text

    account = account_of(store, run)
    return _as_json(account_to_record(account)) if json else account_to_text(account)


def _as_json(record: Any) -> str:
    from msl.report.text_tables import finite

    return json_text.dumps(finite(record), indent=2, ensure_ascii=False)
