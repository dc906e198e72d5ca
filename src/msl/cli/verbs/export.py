"""msl export: write the final model of a run as Python code, skops or ONNX, checked before it is written."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, complain, tell, write_output
from msl.cli.shared.load_run import RUN_HELP, STORE_HELP, Trusted, load_winner, opened_run
from msl.diagnostics.terminal import safe
from msl.diagnostics.user_error import UserError
from msl.export.verify import CheckFailed, check_python, check_skops, table_to_check

if TYPE_CHECKING:
    from msl.export.python_file import Exportable
    from msl.runner.trained_model import Trained

#: The group and the place of this verb in `msl --help`.
PLACE = ("Use", 2)


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Python code; or skops or ONNX, by the file name."),
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
    data: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The table of the run, where it is no longer where the run read it."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Run exported code on the table of the run before writing it.")
    ] = True,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help=STORE_HELP)] = None,
    trust: Annotated[list[str] | None, typer.Option(metavar="PACKAGE", help="Import classes of this package.")] = None,
) -> Exit:
    """Export the model of a run: as Python code that fits, predicts and tests itself, or fitted as skops or ONNX."""
    trusted = Trusted(trust)
    trained, identity = load_winner(run, store, trusted, best=best)
    given = _exportable(trained, identity)
    named = {"skops": [skops], "onnx": [onnx]}
    if output is not None and (form := output.suffix.lower().lstrip(".")) in named:
        named[form].append(output)
        output = None
    files = [(form, path) for form, paths in named.items() for path in paths if path is not None]
    made: list[tuple[str | bytes, Path | None]] = []
    try:
        for form, path in files:
            made.append((_skops(trained, trusted) if form == "skops" else _onnx(given), path))
        if output is not None or not files:
            code = _python(given)
            if verify:
                _check(code, trained, run, store, data, trusted)
            made.append((code, output))
    except CheckFailed as wrong:
        complain(UserError(f"{wrong.message}; nothing was written", wrong.help))
        return Exit.FAILED
    for content, destination in made:
        write_output(content, destination)
    return Exit.FINE


def _check(code: str, trained: Trained, name: str, store: Path | None, data: str | None, trusted: Trusted) -> None:
    """Checks that the code predicts what the model predicts; warns where there is no table to check it on."""
    with opened_run(name, store) as (opened, identity):
        run, beside = opened.runs.get(identity), opened.folder.absolute().parent
    table, reason = table_to_check(trained, run, data)
    if table is None:
        tell(f"warning: the code is not tested: {safe(reason)}; name the table with `--data TABLE`")
        return
    check_python(code, table, beside, trusted.given)
    tell(f"tested on {safe(table)}: the same predictions as the run")


def _skops(trained: Trained, trusted: Trusted) -> bytes:
    from msl.runner.trained_model import estimator_bytes

    content = estimator_bytes(trained)
    check_skops(content, trained, trusted)
    return content


def _exportable(trained: Trained, run: str) -> Exportable:
    from msl import __version__
    from msl.export.python_file import Exportable

    schema = trained.schema
    return Exportable(
        title=f"The winner of the run {run}, made with msl {__version__}.",
        text=trained.text,
        estimator=trained.estimator,
        columns=schema.names,
        symbols=schema.symbols,
        target=schema.target,
        derived=schema.derived,
        classes=schema.classes,
        missing=tuple(str(marker) for marker in schema.options.missing or ()),
        separator=schema.options.separator,
        ranges=trained.ranges,
        header=schema.options.header,
        decimal=schema.options.decimal,
        drops_ragged=schema.options.ragged == "drop",
        signed=(*(schema.options.numeric or ()), *([schema.target] if schema.options.task == "regression" else [])),
        rows=schema.options.rows,
        weight=schema.options.weight,
    )


def _python(given: Exportable) -> str:
    from msl.export.python_code import Unwritable
    from msl.export.python_file import export_python

    try:
        return export_python(given)
    except Unwritable as reason:
        raise UserError(f"this model cannot be written as code: {reason}", "export it with `--skops FILE`") from None


def _onnx(given: Exportable) -> bytes:
    lacking = [package for package in ("onnx", "onnxruntime", "skl2onnx") if find_spec(package) is None]
    if lacking:
        raise UserError(f"`--onnx` needs {' and '.join(lacking)}", "install them with `pip install 'msl-lang[onnx]'`")
    from msl.export.onnx import NoOnnx, export_onnx

    try:
        made = export_onnx(given)
    except NoOnnx as reason:
        way_out = "export it with `--skops FILE`"
        if given.is_ensemble:
            way_out = f"export the best model alone with `--best`, or {way_out}"
        raise UserError(f"this model cannot be written as ONNX: {reason}", way_out) from None
    if not made.takes_gaps:
        tell("warning: of rows with missing values the ONNX file may say something else than the run")
    return made.content
