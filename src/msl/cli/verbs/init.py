"""msl init: write a commented starting spec for a table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, tell, write_exactly, write_output
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.data.suggest_options import FirstOptions

#: The group and the place of this verb in `msl --help`.
PLACE = ("Write", 1)

PresetOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="How much the spec spends: quick, good or best; by default good."),
]


def init(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The table: CSV, also packed, Parquet or Arrow.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Instead of the table's name; - shows it.")
    ] = None,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="What is to be predicted.")] = None,
    preset: PresetOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> Exit:
    """Look at a table and write a commented spec that runs on it."""
    from msl.data.options import DataOptions
    from msl.runner.starter_space import USUAL_PRESET, preset_named
    from msl.runner.starter_spec import read_for_starter_spec, starter_spec_text

    wanted = preset_named(preset or USUAL_PRESET)
    table, first = read_for_starter_spec(data, DataOptions(target=target))
    path = Path(spec_name(data) if output in (None, "-") else str(output))
    text = starter_spec_text(table, first, shlex.quote(str(path)), shlex.quote(data), wanted)
    if output == "-":
        write_exactly(text)
        return Exit.FINE
    if path.exists() and not force:
        raise UserError(
            f"`{path}` is there already", "name another file with `-o FILE`, or overwrite it with `--force`"
        )
    write_output(text, path)
    if target is None:
        tell(f"target: `{table.target}` (guessed: {first.target_reason}; `--target COLUMN` names another)")
    _tell_left_out(first, path)
    tell(f"wrote {path}; next: msl run {shlex.quote(str(path))} {shlex.quote(data)}")
    return Exit.FINE


def spec_name(data: str) -> str:
    """The name of the spec for a table: table.msl for table.csv.gz."""
    return f"{Path(data).name.split('.')[0] or 'spec'}.msl"


def spec_beside(data: str, target: str | None, preset: str | None, *, shows: bool) -> str:
    """The spec beside a table, which is written if there is none, or if the one that is there is as it was written.

    An edited one is never overwritten: it is what the user wants, unless a preset is asked for as well.
    """
    from msl.data.options import DataOptions
    from msl.runner.starter_space import PRESETS, USUAL_PRESET, preset_named
    from msl.runner.starter_spec import read_for_starter_spec, starter_spec_text

    wanted = preset_named(preset or USUAL_PRESET)
    path = Path(data).with_name(spec_name(data))
    is_there = path.exists()
    if is_there and preset is None:
        tell(f"spec: {path}, which is there already")
        return str(path)
    table, first = read_for_starter_spec(data, DataOptions(target=target))
    names = shlex.quote(str(path)), shlex.quote(data)
    text = starter_spec_text(table, first, *names, wanted)
    if is_there and path.read_bytes() not in [
        starter_spec_text(table, first, *names, each).encode() for each in PRESETS.values()
    ]:
        message = f"`{path}` is there already and is not as it would be written, so that it is not overwritten"
        help = f"run it with `msl run {names[0]} {names[1]}`, or leave out `--preset`; or give it another name"
        raise UserError(message, help)
    try:
        write_output(text, path)
    except OSError as reason:
        message = f"the spec cannot be written beside the table: {reason.strerror}"
        raise UserError(message, f"write it elsewhere: msl init {names[1]} -o FILE") from None
    if target is None:
        tell(f"target: `{table.target}` (guessed: {first.target_reason}; `--target COLUMN` names another)")
    _tell_left_out(first, path)
    tell(f"wrote {path}, which says how models are searched:\n\n{text}" if shows else f"wrote {path}")
    return str(path)


def _tell_left_out(first: FirstOptions, path: Path) -> None:
    from msl.data.data_errors import listed

    left_out = [name for name, use in first.uses.items() if use == "ignore"]
    if left_out:
        tell(f"left out: {listed((f'`{name}`' for name in left_out), shown=8)}; {path} says why")
