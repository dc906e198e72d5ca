"""Specs: how verbs other than `check` get a sound spec — or tell what is wrong and end."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msl.cli.console import Exit, WrongUse, report
from msl.cli.files import read_source
from msl.text.diagnostic import Diagnostic, has_errors, in_reading_order

if TYPE_CHECKING:
    from msl.check.library import ReadFile
    from msl.check.spec import Checked
    from msl.evaluate.table import Table
    from msl.space.spec import Spec
    from msl.text.source import Source


@dataclass(frozen=True, slots=True)
class Loaded:
    """A sound spec, the text it came from, and the table where one was given."""

    source: Source
    spec: Spec
    checked: Checked
    table: Table | None = None


def load(name: str, data: str | None = None, chain: str | None = None) -> Loaded:
    """The spec in a file, checked, and against a table where one is given. Errors are told and end the command."""
    return load_source(read_source(name), data, chain)


def load_source(
    source: Source, data: str | None = None, chain: str | None = None, read_file: ReadFile | None = None
) -> Loaded:
    """The same for a text; `read_file` reads the files that it uses, from the disk when absent."""
    from msl.check.spec import check_source

    checked = check_source(source, None, chain, read_file)
    table = None
    if data is not None and checked.spec is not None:
        from msl.cli.table import read_for

        table, problems = read_for(source, checked.data, data)
        if table is None:
            _fail(problems)
        assert table is not None
        checked = check_source(source, table.facts, chain, read_file)
    if checked.spec is None and not has_errors(checked.diagnostics):
        message = f"`{source.name}` has no chain: it declares blocks and parts for other files to use"
        raise WrongUse(message, "name a spec with a `chain`")
    if checked.spec is None:
        _fail([diagnostic for diagnostic in checked.diagnostics if diagnostic.is_error])
    assert checked.spec is not None
    return Loaded(source, checked.spec, checked, table)


def _fail(diagnostics: list[Diagnostic]) -> None:
    report(in_reading_order(diagnostics), stream=sys.stderr)
    raise SystemExit(int(Exit.FAILED))
