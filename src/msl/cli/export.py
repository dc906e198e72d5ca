"""msl export: the winner of a run as a Python file, or as a file of skops."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.console import Exit, WrongUse
from msl.cli.output import write_output
from msl.cli.runs import RUN_HELP, STORE_HELP, load_winner

if TYPE_CHECKING:
    from msl.engine.trained import Trained


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the Python code to this file.")
    ] = None,
    skops: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the fitted model to this file, as skops does.")
    ] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    trust: Annotated[list[str] | None, typer.Option(metavar="PACKAGE", help="Import classes of this package.")] = None,
) -> Exit:
    """Export the winner of a run: as Python code that fits, predicts and tests itself, or fitted for skops."""
    trained, identity = load_winner(run, store, tuple(trust or ()))
    if skops is not None:
        from msl.engine.saved import estimator_bytes

        write_output(estimator_bytes(trained), skops)
    if skops is None or output is not None:
        write_output(_python(trained, identity), output)
    return Exit.FINE


def _python(trained: Trained, run: str) -> str:
    from msl import __version__
    from msl.report.estimator_code import Unwritable
    from msl.report.export_python import Exportable, export_python

    schema = trained.schema
    given = Exportable(
        title=f"The winner of the run {run}, made with msl {__version__}.",
        text=trained.text,
        estimator=trained.estimator,
        columns=schema.names,
        symbols={column.name: column.categories for column in schema.columns if column.kind == "symbolic"},
        target=schema.target,
        classes=schema.classes,
        missing=tuple(str(marker) for marker in schema.options.missing or ()),
        separator=schema.options.separator,
        ranges=trained.ranges,
    )
    try:
        return export_python(given)
    except Unwritable as reason:
        raise WrongUse(f"this model cannot be written as code: {reason}", "export it with `--skops FILE`") from None
