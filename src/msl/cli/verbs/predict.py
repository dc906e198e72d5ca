"""msl predict: predict the rows of a table with the model of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, write_output
from msl.cli.shared.load_run import RUN_HELP, STORE_HELP, Trusted, load_winner, read_for_winner
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.data.table import Table
    from msl.runner.trained_model import Trained

#: The group and the place of this verb in `msl --help`.
PLACE = ("Use", 1)

#: First characters of cells that spreadsheets read as formulas.
_STARTS_OF_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


def predict(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The table: CSV, also packed, Parquet or Arrow.")],
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    best: Annotated[
        bool, typer.Option("--best", help="The best model alone, also where the run uses an ensemble.")
    ] = False,
    escape_formulas: Annotated[
        bool,
        typer.Option("--escape-formulas", help="Put ' before texts that a spreadsheet would read as formulas."),
    ] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file.")] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    trust: Annotated[list[str] | None, typer.Option(metavar="PACKAGE", help="Import classes of this package.")] = None,
) -> Exit:
    """Predict the rows of a table with the model of a run, as CSV: one line per row, in order."""
    trained, _ = load_winner(run, store, Trusted(trust), best=best)
    if proba and trained.task == "regression":
        raise UserError("this is a regression model, which has no class probabilities", "leave out `--proba`")
    table = read_for_winner(trained, data)
    write_output(predictions_csv(trained, table, proba, escape_formulas), output)
    return Exit.FINE


def predictions_csv(trained: Trained, table: Table, proba: bool, escape_formulas: bool = False) -> str:
    """One column named after the target and, with `proba`, one named `target=class` for each class.

    Names and labels are written as the training table has them, unless `escape_formulas` guards a spreadsheet.
    """
    import csv
    import io

    from msl.data.target import spell_label

    is_classes = trained.task == "classification"
    spelt = [spell_label(label) for label in trained.schema.classes]
    names = [trained.schema.target, *(f"{trained.schema.target}={label}" for label in spelt if proba)]
    columns = [[spell_label(one) if is_classes else repr(float(one)) for one in trained.predict(table)]]
    if proba:
        columns.extend([repr(float(share)) for share in shares] for shares in trained.predict_proba(table).T)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    rows = [names, *zip(*columns, strict=True)]
    lines.writerows([[_escaped(cell) for cell in row] for row in rows] if escape_formulas else rows)
    return text.getvalue()


def _escaped(cell: str) -> str:
    """The cell with a ' before it where a spreadsheet would compute it; a number is a number there too."""
    if not cell.startswith(_STARTS_OF_FORMULAS):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
