"""msl log: list the runs of a store, the latest first."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.shared.console import Exit, tell, write, write_exactly
from msl.cli.shared.load_run import STORE_HELP, opened_store

if TYPE_CHECKING:
    from msl.store.stored_run import Run

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 1)

_COLUMNS = ("", "run", "started", "spec", "status", "evaluations", "objectives", "seconds")
_RIGHT = (5, 7)


def log(
    number: Annotated[int, typer.Option("-n", "--number", min=1, metavar="N", help="At most so many runs.")] = 20,
    spec: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this spec or chain.")] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON: a list of runs.")] = False,
) -> Exit:
    """List recent runs, the latest first, with the names that other commands know them by."""
    from msl.report.run_account import recent_name

    with opened_store(store) as opened:
        named = [(recent_name(place), run) for place, run in enumerate(opened.runs.all())]
        wanted = [(name, run) for name, run in named if spec is None or _is_of(run, spec)]
        records = [_record(name, run, opened.runs.count_queries(run.id)) for name, run in wanted[:number]]
    if json:
        import json as json_text

        write_exactly(json_text.dumps(records, indent=2, ensure_ascii=False) + "\n")
        return Exit.FINE
    if not records:
        tell("no runs yet" if spec is None or not named else f"no runs of `{spec}`")
        return Exit.FINE
    write(_table(records))
    if len(wanted) > number:
        tell(f"and {len(wanted) - number} more: `msl log -n {len(wanted)}` lists all")
    return Exit.FINE


def _is_of(run: Run, name: str) -> bool:
    """By the path, the file's name with or without its ending, or the chain."""
    path = PurePath(run.spec)
    return name in (run.spec, path.name, path.stem, run.name)


def _record(name: str, run: Run, asked: int) -> dict[str, Any]:
    from msl.report.text_tables import finite
    from msl.store.schema import moment_to_text

    result = finite(run.result)
    passed = None if run.ended is None else round((run.ended - run.started).total_seconds(), 3)
    return {
        "name": name,
        "run": run.id,
        "started": moment_to_text(run.started),
        "spec": run.spec,
        "chain": run.name,
        "status": run.status,
        "evaluations": result.get("evaluations", asked),
        "objectives": result.get("objectives", {}),
        "test": result.get("test", {}),
        **({"look": result["test_table"]["look"]} if result.get("test_table") else {}),
        "seconds": result.get("seconds", passed),
        "seed": run.seed,
        "digest": run.digests.run,
    }


def _table(records: list[dict[str, Any]]) -> str:
    from msl.report.run_account import local_time
    from msl.report.text_tables import aligned, named_figures, shown
    from msl.store.schema import text_to_moment

    rows = [
        (
            each["name"],
            each["run"],
            local_time(text_to_moment(each["started"])),
            each["spec"],
            each["status"],
            shown(each["evaluations"]),
            named_figures(each["objectives"]) or "-",
            shown(each["seconds"]),
        )
        for each in records
    ]
    return aligned([_COLUMNS, *rows], right=_RIGHT)
