"""msl why: what mattered in a search, and what its model looks at."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, write, write_exactly
from msl.cli.shared.load_plan import TrustOption, plan_of_run
from msl.cli.shared.load_run import RUN_HELP, STORE_HELP, Trusted, opened_run

if TYPE_CHECKING:
    from msl.runner.plan import Plan
    from msl.store.store import Store

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 8)


def why(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)] = "@",
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="The table, where it is no longer where the run read it.")
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="Only the search: fits nothing, needs no table.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON, with stable names.")] = False,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    trust: TrustOption = None,
) -> Exit:
    """Tell what mattered in a search, and what its best model looks at: columns, effects, worst rows.

    The model is fitted again on each part of the rows and asked about the others; `msl report` then shows it too.
    """
    import shutil

    from msl.report.insight_text import why_to_text
    from msl.runner.insight.look_back import why as explained

    with opened_run(run, store) as (opened, identity):
        plan, reason = (None, "") if search else _plan(opened, identity, data, Trusted(trust))
        found = explained(opened, identity, plan, reason)
    if json:
        write_exactly(json_text.dumps(found.record, indent=2, ensure_ascii=False) + "\n")
    else:
        write(why_to_text(found.record, max(60, shutil.get_terminal_size((100, 24)).columns)))
    return Exit.FINE


def _plan(store: Store, run: str, data: str | None, trusted: Trusted) -> tuple[Plan | None, str]:
    """The plan of a run on its table, or why there is none."""
    from pathlib import Path

    known = store.runs.get(run)
    if known.result.get("best") is None:
        return None, "the run has no best model"
    path = data or known.options.get("data")
    if path is None:
        return None, f"the table of this run was not read from a file; name one: `msl why {run} DATA`"
    if not Path(path).exists():
        return None, f"the table {path} is no longer there; name it: `msl why {run} DATA`"
    plan = plan_of_run(known, store.runs.sources(run), path, trusted)
    if plan.digests.data != known.digests.data:
        return None, f"the table {path} has changed since the run; its models were fitted to other rows"
    return plan, ""
