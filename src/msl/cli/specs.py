"""Specs: how verbs other than `check` get a sound spec — or tell what is wrong and end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from msl.cli.console import Exit, WrongUse, report
from msl.cli.files import read_source
from msl.text.diagnostic import Diagnostic, has_errors, in_reading_order

if TYPE_CHECKING:
    from msl.check.library import ReadFile
    from msl.check.spec import Checked
    from msl.engine.override import Override
    from msl.evaluate.table import Table
    from msl.space.spec import Spec
    from msl.text.source import Source


@dataclass(frozen=True, slots=True)
class Loaded:
    """A sound spec, the text it came from, the table where one was given, and what `--set` and its like changed."""

    source: Source
    spec: Spec
    checked: Checked
    table: Table | None = None
    changes: tuple[str, ...] = ()


def load(name: str, data: str | None = None, chain: str | None = None, overrides: Sequence[Override] = ()) -> Loaded:
    """The spec in a file, checked, and against a table where one is given. Errors are told and end the command."""
    if data is not None and data.endswith(".msl") and not name.endswith(".msl"):
        raise WrongUse(f"`{name}` is read as the spec, and `{data}` as the table", f"name `{data}` before `{name}`")
    source = read_source(name)
    if not overrides:
        return load_source(source, data, chain)
    from msl.engine.override import WrongOverride
    from msl.engine.overriding import override_text

    try:
        changed = override_text(source, overrides)
    except WrongOverride as wrong:
        _fail(wrong.diagnostics)
    loaded = load_source(changed.source, data, chain, told=changed.relocated)
    return replace(loaded, changes=tuple(each.source.text for each in overrides))


def load_source(
    source: Source,
    data: str | None = None,
    chain: str | None = None,
    read_file: ReadFile | None = None,
    told: Callable[[Diagnostic], Diagnostic] = lambda diagnostic: diagnostic,
) -> Loaded:
    """The same for a text; `read_file` reads the files that it uses, from the disk when absent.

    `told` says how a diagnostic of this text is told.
    """
    from msl.check.spec import check_source

    checked = check_source(source, None, chain, read_file)
    table = None
    if data is not None and checked.spec is not None:
        from msl.cli.table import read_for

        table, problems = read_for(source, checked.data, data)
        if table is None:
            _fail(map(told, problems))
        checked = check_source(source, table.facts, chain, read_file)
    if checked.spec is None and not has_errors(checked.diagnostics):
        message = f"`{source.name}` has no chain: it declares blocks and parts for other files to use"
        raise WrongUse(message, "name a spec with a `chain`")
    if checked.spec is None:
        _fail(told(diagnostic) for diagnostic in checked.diagnostics if diagnostic.is_error)
    report(map(told, checked.changed_meanings), stream=sys.stderr)
    return Loaded(source, checked.spec, checked, table)


def _fail(diagnostics: Iterable[Diagnostic]) -> NoReturn:
    report(in_reading_order(diagnostics), stream=sys.stderr)
    raise SystemExit(int(Exit.FAILED))
