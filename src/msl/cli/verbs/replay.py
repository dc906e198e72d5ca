"""msl replay: repeat a stored run from its sources and compare every step."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, tell, write, write_exactly
from msl.cli.shared.load_plan import TrustOption, load_stored, plan_of, read_test
from msl.cli.shared.load_run import Trusted
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.runner.replay import Difference
    from msl.runner.session import RunRequest
    from msl.store.evaluation import StoredQuery
    from msl.store.stored_run import Run

#: The group and the place of this verb in `msl --help`.
PLACE = ("Search", 4)

_PARTS = {
    "data": "the table is not the one of the run",
    "space": "the space is not the one of the run: the catalogues have changed",
    "evaluation": "models are evaluated differently than in the run",
    "search": "the search has other options than in the run",
    "run": "the spec has another meaning than in the run",
}


def replay(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run: @ is the latest, @1 the one before, or the start of its id.")
    ],
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="The table, where it is no longer where the run read it.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="FOLDER", help="Instead of .msl in this folder.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; by default everything runs in this process.")
    ] = None,
    trust: TrustOption = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> Exit:
    """Repeat a run from its stored sources, without its stored evaluations, and compare every step."""
    from msl.cli.shared.load_run import opened_run
    from msl.cli.shared.progress_display import Interrupts, open_display
    from msl.runner.replay import measures_time, repeat_run

    with opened_run(run, store) as (opened, identity):
        known, sources = opened.runs.get(identity), opened.runs.sources(identity)
        asks = opened.runs.queries(identity)
        evaluations = list(opened.evaluations.read(each.key for each in asks if each.key is not None).values())
    if not asks:
        raise UserError(f"the run {identity} has evaluated nothing yet", "continue it with `msl run`")
    request = _request(known, sources, data, Trusted(trust))
    _tell_versions(known)
    is_timed = measures_time(request.plan)
    if is_timed:
        tell("note: models are judged by times, which are never measured twice alike: the stored evaluations are used")
    display = open_display(request.plan, quiet or json)
    with Interrupts(_stop_at_once, _stop_at_once), display:
        difference = repeat_run(
            request,
            known,
            asks,
            on="inprocess" if jobs is None else "local",
            workers=jobs,
            progress=display.show,
            kept=evaluations if is_timed else (),
        )
    write_exactly(_as_json(known, asks, difference)) if json else write(_as_text(known, asks, difference))
    return Exit.FINE if difference is None else Exit.FAILED


def _request(run: Run, sources: Mapping[str, str], data: str | None, trusted: Trusted) -> RunRequest:
    """The request of the run, from the stored sources; raises UserError where something has changed since."""
    from msl.runner.replay import changed_digests
    from msl.runner.session import RunRequest

    path = data or run.options.get("data")
    if path is None:
        raise UserError("the table of this run was not read from a file", f"name one: `msl replay {run.id} DATA`")
    loaded = load_stored(run, sources, path)
    plan = plan_of(loaded, trusted)
    changed = changed_digests(run.digests, plan.digests)
    if changed:
        help = "name the table of the run" if changed[0] == "data" else "use the version of msl that made the run"
        raise UserError(f"{_PARTS[changed[0]]}, so the run cannot be repeated", help)
    test = run.options.get("test")
    if test is not None and not Path(test).exists():
        tell(f"warning: the test table {test} is no longer there; the rest is compared")
        test = None
    return RunRequest(
        plan=plan,
        source=loaded.source,
        sources=loaded.checked.sources,
        data=path,
        chain=run.options.get("chain"),
        test=None if test is None else read_test(plan, test),
        test_path=test,
    )


def _tell_versions(run: Run) -> None:
    from msl.runner.versions import versions_of_packages

    now = versions_of_packages(frozenset({"msl"}))
    for package, version in run.versions.items():
        if now.get(package, version) != version:
            tell(f"warning: the run was made with {package} {version}, and this is {now[package]}")


def _stop_at_once() -> None:
    """A replay keeps nothing, so it stops at once."""
    raise KeyboardInterrupt


def _as_text(run: Run, asks: list[StoredQuery], difference: Difference | None) -> str:
    if difference is None:
        return f"the same: {len(asks)} queries and their losses, and the result of {run.id}\n"
    return f"different: {difference.what} was {difference.before}, and is {difference.now}\n"


def _as_json(run: Run, asks: list[StoredQuery], difference: Difference | None) -> str:
    record = {"run": run.id, "same": difference is None, "evaluations": len(asks)}
    if difference is not None:
        found = {"what": difference.what, "before": str(difference.before), "now": str(difference.now)}
        record["difference"] = found
    return json_text.dumps(record, ensure_ascii=False) + "\n"
