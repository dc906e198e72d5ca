"""msl report: write a report of a run as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from msl.cli.shared.console import Exit, tell, write, write_output
from msl.cli.shared.load_run import RUN_HELP, STORE_HELP, opened_run
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Look back", 3)

_ELSEWHERE = "name another file with `-o FILE`"


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file, not into the store.")
    ] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    open: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> Exit:
    """Write a report of a run, also of one that is not finished: one HTML page that needs no network."""
    from msl.report.html.page import record_to_html
    from msl.report.html.run_record import read_record

    with opened_run(run, store) as (opened, identity):
        page = record_to_html(read_record(opened, identity))
        path = output or opened.files.report(identity)
    if output is None:
        _keep(page, path)
    else:
        write_output(page, output)
    write(f"{path}\n")
    if open and not _show(path):
        tell("no browser could be started: open the file by hand")
    return Exit.FINE


def _keep(page: str, path: Path) -> None:
    """Puts a page into the store, whole or not at all."""
    from msl.store.store import make_folder, write_atomically
    from msl.store.store_error import StoreError

    try:
        make_folder(path.parent)
        write_atomically(path, page)
    except OSError as reason:
        raise UserError(f"cannot write `{path}`: {reason.strerror}", _ELSEWHERE) from None
    except StoreError as problem:
        raise UserError(problem.message, _ELSEWHERE) from None


def _show(path: Path) -> bool:
    import webbrowser

    return webbrowser.open(path.absolute().as_uri())
