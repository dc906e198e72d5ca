"""msl check: find everything that is wrong with a spec before it runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, complain, report, tell
from msl.cli.shared.load_spec import read_source
from msl.diagnostics.diagnostic import Diagnostic, Format, in_reading_order
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.space.spec import Spec

#: The group and the place of this verb in `msl --help`.
PLACE = ("Write", 4)


def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Specs; `-` reads standard input.")],
    data: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Also check what depends on this table (CSV, Parquet or Arrow).")
    ] = None,
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    format: Annotated[Format, typer.Option(help="How findings are shown.")] = Format.FULL,
) -> Exit:
    """Check specs: names, domains, roles, requirements, objectives, search. Nothing is imported or run."""
    code = Exit.FINE
    found: list[Diagnostic] = []
    distinct = list(dict.fromkeys(files))
    for name in distinct:
        try:
            source = read_source(name)
        except UserError as wrong:
            complain(wrong)
            code = Exit.WRONG_USE
            continue
        found.extend(_findings(source, data, chain, tells=format is Format.FULL))
    result = report(in_reading_order(found), format, sys.stdout)
    if format is Format.FULL and not found and code is Exit.FINE:
        tell("no problems" if len(distinct) == 1 else f"no problems in {len(distinct)} files")
    return max(code, result)


def _findings(source: Source, data: str | None, chain: str | None, tells: bool) -> tuple[Diagnostic, ...]:
    from msl.record import paused_collector

    with paused_collector():  # defining classes makes it look for garbage, a tenth of the time to start
        from msl.check.check_spec import check_source

    checked = check_source(source, chain=chain)
    if data is None:
        return checked.diagnostics
    from msl.cli.shared.load_plan import read_for, tell_notes

    table, problems = read_for(source, checked.data, data)
    if table is None:
        return (*checked.diagnostics, *problems)
    if tells:
        tell_notes(table)
    found = check_source(source, table.facts, chain)
    return (*found.diagnostics, *problems, *_lacking_libraries(source, found.spec))


def _lacking_libraries(source: Source, spec: Spec | None) -> list[Diagnostic]:
    """Libraries that a run of the spec would lack; none is imported."""
    if spec is None:
        return []
    from msl.cli.shared.load_plan import told_of_blocks
    from msl.runner.plan import lacking_libraries

    return told_of_blocks(lacking_libraries(spec.space), source, ())
