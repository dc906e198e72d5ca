"""msl export: the winner of a run as a Python file, as a file of skops, or as ONNX."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.console import Exit, WrongUse, tell
from msl.cli.output import write_output
from msl.cli.runs import RUN_HELP, STORE_HELP, load_winner
from msl.cli.trust import Trusted

if TYPE_CHECKING:
    from msl.engine.trained import Trained
    from msl.report.export_python import Exportable


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Python code; or what the end says, .skops or .onnx."),
    ] = None,
    skops: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the fitted model to this file, as skops does.")
    ] = None,
    onnx: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the fitted model to this file as ONNX, where blocks allow."),
    ] = None,
    best: Annotated[
        bool, typer.Option("--best", help="The best model alone, also where the run uses an ensemble.")
    ] = False,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    trust: Annotated[list[str] | None, typer.Option(metavar="PACKAGE", help="Import classes of this package.")] = None,
) -> Exit:
    """Export the winner of a run: as Python code that fits, predicts and tests itself, or fitted for skops or ONNX."""
    trained, identity = load_winner(run, store, Trusted(trust), best=best)
    given = _exportable(trained, identity)
    named = {"skops": [skops], "onnx": [onnx]}
    if output is not None and (form := output.suffix.lower().lstrip(".")) in named:
        named[form].append(output)
        output = None
    files = [(form, path) for form, paths in named.items() for path in paths if path is not None]
    for form, path in files:
        write_output(_skops(trained) if form == "skops" else _onnx(given), path)
    if output is not None or not files:
        write_output(_python(given), output)
    return Exit.FINE


def _skops(trained: Trained) -> bytes:
    from msl.engine.saved import estimator_bytes

    return estimator_bytes(trained)


def _exportable(trained: Trained, run: str) -> Exportable:
    from msl import __version__
    from msl.report.export_python import Exportable

    schema = trained.schema
    return Exportable(
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


def _python(given: Exportable) -> str:
    from msl.report.estimator_code import Unwritable
    from msl.report.export_python import export_python

    try:
        return export_python(given)
    except Unwritable as reason:
        raise WrongUse(f"this model cannot be written as code: {reason}", "export it with `--skops FILE`") from None


def _onnx(given: Exportable) -> bytes:
    lacking = [package for package in ("onnx", "onnxruntime", "skl2onnx") if find_spec(package) is None]
    if lacking:
        raise WrongUse(f"`--onnx` needs {' and '.join(lacking)}", "install them with `pip install 'msl-lang[onnx]'`")
    from msl.report.export_onnx import NoOnnx, export_onnx

    try:
        made = export_onnx(given)
    except NoOnnx as reason:
        way_out = "export it with `--skops FILE`"
        if given.is_ensemble:
            way_out = f"export the best model alone with `--best`, or {way_out}"
        raise WrongUse(f"this model cannot be written as ONNX: {reason}", way_out) from None
    if not made.takes_gaps:
        tell("warning: of rows with missing values the ONNX file may say something else than the run")
    return made.content
