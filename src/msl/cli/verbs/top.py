"""msl top: list the best models of a run."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from msl.cli.shared.console import Exit, write, write_exactly
from msl.cli.shared.load_run import RUN_HELP, STORE_HELP, opened_run
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 7)

_COLUMNS = {"spread": "spread", "seconds": "seconds", "complexity": "complexity"}


def top(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)] = "@",
    most: Annotated[int, typer.Option("--most", min=1, metavar="N", help="How many models, at most 30.")] = 10,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with stable names.")] = False,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
) -> Exit:
    """List the best models of a run: what each place is worth on new rows, losses, their spread, time, complexity."""
    from msl.report.run_facts import best_models
    from msl.report.text_tables import finite

    with opened_run(run, store) as (opened, identity):
        result = opened.runs.get(identity).result
    rows = best_models(result)[:most]
    if not rows:
        why = "it has not ended, or no model could be evaluated"
        if result.get("best") is not None:
            why = "it was made by an older version"
        raise UserError(f"the run `{identity}` has no list of its best models: {why}", "give its command again")
    if json:
        write_exactly(json_text.dumps(finite(rows), indent=2, ensure_ascii=False) + "\n")
    else:
        write(_as_text(rows))
    return Exit.FINE


def _as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    from msl.report.text_tables import aligned, shown

    names = list(rows[0]["objectives"])
    columns = [name for name in _COLUMNS if any(row.get(name) is not None for row in rows)]
    has_corrected = any(row.get("corrected") is not None for row in rows)
    tests = list(rows[0].get("test") or ())
    heading = ["", *(["corrected"] if has_corrected else []), *names, *columns, *(f"test {one}" for one in tests)]
    table = [[*heading, "model"]]
    for place, row in enumerate(rows, 1):
        cells = [str(place), *([shown(row.get("corrected"))] if has_corrected else [])]
        cells += [shown(row["objectives"].get(name)) for name in names]
        cells += [shown(row.get(name)) for name in columns]
        cells += [shown((row.get("test") or {}).get(name)) if row.get("test") else "" for name in tests]
        table.append([*cells, str(row["model"])])
    text = aligned(table, right=range(len(heading)))
    if has_corrected:
        text += "\ncorrected: what the model in this place is worth on new rows; the losses beside it are partly luck\n"
    return text
