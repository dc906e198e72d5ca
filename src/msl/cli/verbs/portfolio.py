"""msl portfolio: the models to evaluate first on the next table, from the evaluations in stores."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from msl.cli.shared.console import Exit, tell, write_output
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msl.report.learned_portfolio import LeftOut, TableLosses

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 10)


def portfolio(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE…", help="Stores, or the folders they are in.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the file; without it, print it.")
    ] = None,
    size: Annotated[int, typer.Option("--size", min=1, max=1_000, metavar="N", help="The most models.")] = 6,
    task: Annotated[
        Literal["classification", "regression"] | None, typer.Option(help="Where stores have tables of both.")
    ] = None,
) -> Exit:
    """Choose the models to evaluate first on the next table, from all that stores know of other tables.

    The file is for `search start("FILE") then auto`. Each model lowers the regret of those before it most; from three
    tables on, each is left out in turn to see whether the portfolio transfers.
    """
    from msl.report.learned_portfolio import losses_of_stores, portfolio_file
    from msl.store.store import Store, find_store

    with ExitStack() as opened:
        places = dict.fromkeys(find_store(each).resolve() for each in stores)
        tables = losses_of_stores(opened.enter_context(Store.open(place, read_only=True)) for place in places)
    text, judged = portfolio_file(_of_task(tables, task), size)
    write_output(text, output)
    if output is not None:
        tell(f'wrote {output}; use it as `search start("{output.name}") then auto`')
    for line in _told(judged, _of_task(tables, task)):
        tell(line)
    return Exit.FINE


def _of_task(tables: Sequence[TableLosses], task: str | None) -> list[TableLosses]:
    tasks = list(dict.fromkeys(table.task for table in tables))
    if not tables:
        raise UserError(
            "these stores have no table on which two models were evaluated", "run a search first, with `msl run`"
        )
    if task is None and len(tasks) > 1:
        raise UserError("these stores have tables of classes and of numbers", f"choose one: `--task {tasks[0]}`")
    found = [table for table in tables if table.task == (task or tasks[0])]
    if not found:
        raise UserError(f"these stores have no table for {task}", f"leave `--task` out, or write `--task {tasks[0]}`")
    return found


def _told(judged: Sequence[LeftOut], tables: Sequence[TableLosses]) -> list[str]:
    from msl.report.learned_portfolio import FEWEST_TABLES

    unread = sum(table.unread for table in tables)
    lines = [f"left out: {unread:,} evaluations of models that the specs do not have any more"] if unread else []
    if len(tables) < FEWEST_TABLES:
        return [*lines, f"with fewer than {FEWEST_TABLES} tables it cannot be seen whether it transfers"]
    if not judged:
        return [*lines, "whether it transfers is not known: no model was evaluated on several tables"]
    own = sum(one.regret for one in judged) / len(judged)
    drawn = sum(one.drawn for one in judged) / len(judged)
    of = f"{len(judged)} of {len(tables)} tables" if len(judged) < len(tables) else f"{len(judged)} tables"
    lines.append(f"each table left out in turn: regret {own:.2f}, that of as many drawn models {drawn:.2f} ({of})")
    return lines
