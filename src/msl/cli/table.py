"""Table: how verbs read a table for a spec, with what is wrong told as diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msl.check.spec import data_span
from msl.cli.console import tell
from msl.text.columns import safe
from msl.text.diagnostic import Diagnostic, Label, Severity

if TYPE_CHECKING:
    from msl.evaluate.options import DataOptions
    from msl.evaluate.problem import DataProblem
    from msl.evaluate.table import Table
    from msl.space.spec import DataStatement
    from msl.text.source import Source


def read_for(
    source: Source, statement: DataStatement, path: str, overrides: DataOptions | None = None
) -> tuple[Table | None, list[Diagnostic]]:
    """The table as the spec says it is to be read, or None; and what is wrong or odd about it."""
    from msl.engine.spec_source import statement_to_options
    from msl.evaluate.problem import DataError
    from msl.evaluate.read import read_table

    try:
        options = statement_to_options(statement)
        table = read_table(path, options=options if overrides is None else options.overridden(overrides))
    except DataError as wrong:
        return None, [_diagnostic(problem, source, path) for problem in wrong.problems]
    return table, [_diagnostic(problem, source, path) for problem in table.warnings]


def tell_notes(table: Table) -> None:
    """What was guessed or left out, a line each."""
    for note in table.notes:
        tell(safe(note))


def _diagnostic(problem: DataProblem, source: Source, path: str) -> Diagnostic:
    """Data has no place in the spec: it is told at the `data` statement, or at the start."""
    severity = Severity.ERROR if problem.severity == "error" else Severity.WARNING
    where = Label(source, data_span(source), f"for `{path}`")
    return Diagnostic(problem.code, severity, problem.message, where, help=problem.help or None)
