"""msl init: write a commented starting spec for a table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from msl.cli.shared.console import Exit, tell, write_exactly, write_output
from msl.diagnostics.user_error import UserError

#: The group and the place of this verb in `msl --help`.
PLACE = ("Write", 1)


def init(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The table: CSV, also gzipped, or Parquet.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Instead of the table's name; - shows it.")
    ] = None,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="What is to be predicted.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> Exit:
    """Look at a table and write a commented spec that runs on it."""
    from msl.data.data_errors import listed
    from msl.data.options import DataOptions
    from msl.runner.starter_spec import read_for_starter_spec, starter_spec_text

    table, first = read_for_starter_spec(data, DataOptions(target=target))
    path = Path(f"{Path(data).name.split('.')[0] or 'spec'}.msl" if output in (None, "-") else str(output))
    text = starter_spec_text(table, first, shlex.quote(str(path)), shlex.quote(data))
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
    left_out = [name for name, use in first.uses.items() if use == "ignore"]
    if left_out:
        tell(f"left out: {listed((f'`{name}`' for name in left_out), shown=8)}; {path} says why")
    tell(f"wrote {path}; next: msl run {shlex.quote(str(path))} {shlex.quote(data)}")
    return Exit.FINE
