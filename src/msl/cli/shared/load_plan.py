"""Read a table for a spec and make the plan of a run; problems are reported as diagnostics."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.shared.console import Exit, report, tell
from msl.cli.shared.load_run import Trusted
from msl.cli.shared.load_spec import STANDARD_INPUT, Loaded, load, load_source
from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.diagnostics.terminal import safe
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.data.data_errors import DataProblem
    from msl.data.options import DataOptions
    from msl.data.table import Table
    from msl.language.override import Override
    from msl.runner.plan import Plan, UnusableBlock
    from msl.space.spec import DataStatement
    from msl.store.stored_run import Run


def read_for(
    source: Source, statement: DataStatement, path: str, overrides: DataOptions | None = None
) -> tuple[Table | None, list[Diagnostic]]:
    """The table, read with the options of the spec, or None; and its errors and warnings."""
    from msl.data.data_errors import DataError
    from msl.data.read import read_table
    from msl.runner.spec_source import statement_to_options

    try:
        options = statement_to_options(statement)
        table = read_table(path, options=options if overrides is None else options.overridden(overrides))
    except DataError as wrong:
        return None, [_diagnostic(problem, source, path) for problem in wrong.problems]
    return table, [_diagnostic(problem, source, path) for problem in table.warnings]


def tell_notes(table: Table) -> None:
    """Prints what was guessed or left out, one line each."""
    for note in table.notes:
        tell(safe(note))


def _diagnostic(problem: DataProblem, source: Source, path: str) -> Diagnostic:
    """A problem of the data is shown at the `data` statement of the spec, or at its start."""
    from msl.check.check_spec import data_span

    severity = Severity.ERROR if problem.severity == "error" else Severity.WARNING
    where = Label(source, data_span(source, problem.column), f"for `{path}`")
    return Diagnostic(problem.code, severity, problem.message, where, help=problem.help or None)


# --- Plans, for run, plan and lock ------------------------------------------------------------------------------------


# Options that these verbs share.
SpecArgument = Annotated[str, typer.Argument(metavar="SPEC", help="A spec.")]
DataArgument = Annotated[str, typer.Argument(metavar="DATA", help="The table: CSV, also packed, Parquet or Arrow.")]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="Predict this column instead of the spec's target.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Override a setting or a parameter, as in search.swarm=10 or svc.C=1."
    ),
]
StartOption = Annotated[
    list[str] | None,
    typer.Option("--start", metavar="FILE", help="Evaluate the models of this file first, such as earlier winners."),
]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Instead of the spec's seed.")]
ChainOption = Annotated[str | None, typer.Option("--chain", metavar="NAME", help="The chain, where there are several.")]
TrustOption = Annotated[
    list[str] | None, typer.Option("--trust", metavar="PACKAGE", help="Import classes of this package.")
]
StoreOption = Annotated[Path | None, typer.Option("--store", metavar="FOLDER", help="Instead of .msl beside the spec.")]


def load_planned(
    spec: str,
    data: str,
    *,
    changes: Sequence[str] | None = None,
    target: str | None = None,
    seed: int | None = None,
    chain: str | None = None,
    trust: Sequence[str] | None = None,
    start: Sequence[str] | None = None,
) -> tuple[Loaded, Plan]:
    """A checked spec with its changes, and its plan on a table. Errors are printed and end the command."""

    files = [_beside(spec, file) for file in start or ()]
    loaded = load(spec, data, chain, overrides_of(changes or (), target, seed, files))
    assert loaded.table is not None
    _print_warnings(loaded.table)
    plan = plan_of(loaded, Trusted(trust))
    _tell_of_weights(plan)
    return loaded, plan


def _beside(spec: str, file: str) -> str:
    """A file named on the command line as a spec names it: from the folder of the spec."""
    if spec == STANDARD_INPUT or os.path.isabs(file):
        return file
    try:
        return Path(os.path.relpath(file, Path(spec).absolute().parent)).as_posix()
    except ValueError:  # on another drive
        return Path(file).absolute().as_posix()


def overrides_of(
    changes: Sequence[str], target: str | None, seed: int | None, start: Sequence[str] = ()
) -> list[Override]:
    """What `--set`, `--start`, `--target` and `--seed` change, in this order."""
    from msl.language.override import WrongOverride, text_to_override
    from msl.space.names_to_text import quoted

    try:
        found = [text_to_override(each) for each in changes]
    except WrongOverride as wrong:
        report(wrong.diagnostics)
        raise SystemExit(int(Exit.FAILED)) from None
    if start:
        found.append(text_to_override(f"start={', '.join(map(quoted, start))}", "--start"))
    if target is not None:
        found.append(text_to_override(f"data.target={quoted(target)}", "--target"))
    if seed is not None:
        found.append(text_to_override(f"seed={seed}", "--seed"))
    return found


def plan_of(loaded: Loaded, trusted: Trusted) -> Plan:
    """The plan of a spec that was loaded with its table; ends the command if a block cannot be used."""
    from msl.blocks.base.load import allow_local_modules
    from msl.runner.plan import make_plan

    assert loaded.table is not None
    allow_local_modules(Path(loaded.source.path or ".").absolute().parent, trusted.given)
    if problems := _unusable_blocks(loaded, trusted):
        raise SystemExit(int(report(problems)))
    trusted.tell_of_file()
    return make_plan(loaded.spec, loaded.table, tuple(trusted))


def plan_of_run(run: Run, sources: Mapping[str, str], path: str, trusted: Trusted) -> Plan:
    """The plan of a stored run, from its stored sources, on a table that may have changed since."""
    return plan_of(load_stored(run, sources, path), trusted)


def load_stored(run: Run, sources: Mapping[str, str], path: str) -> Loaded:
    """The spec of a stored run, from its stored sources, checked against a table."""
    texts = {normpath(name): text for name, text in sources.items()}

    def stored(name: str) -> str:
        if normpath(name) not in texts:
            raise UserError("the store does not have it")
        return texts[normpath(name)]

    source = Source(run.spec, sources[run.spec], None if run.spec.startswith("<") else run.spec)
    return load_source(source, path, run.options.get("chain"), stored)


def read_test(plan: Plan, path: str) -> Table:
    """The test table, read like that of the plan, before anything runs."""
    from msl.data.read import read_like

    table = read_like(plan.table.schema, path)
    if table.y is None:
        help = "name a table that has it, or leave out `--test`"
        raise UserError(f"`{path}` lacks the target `{plan.table.target}`, so nothing can be tested on it", help)
    _print_warnings(table)
    return table


def _print_warnings(table: Table) -> None:
    """Prints the warnings about a table, one line each; the run continues."""
    from msl.cli.shared.console import tell

    for each in table.warnings:
        tell(f"warning: {each.message}; {each.help}" if each.help else f"warning: {each.message}")


def _tell_of_weights(plan: Plan) -> None:
    """Names the learners that the weights of rows do not reach."""
    from msl.blocks.base.row_weights import without_weights
    from msl.cli.shared.console import tell
    from msl.runner.plan import learners_without_weights

    if plan.table.weights is None:
        return
    if names := learners_without_weights(plan.spec.space, plan.table.task, plan.job.trusted):
        tell(f"note: {without_weights(*names)}")


def _unusable_blocks(loaded: Loaded, trusted: Trusted) -> list[Diagnostic]:
    """Classes that cannot be imported, are not trusted, or do not fit, reported at their declaration before a run."""
    from msl.runner.plan import block_problems, metric_problems

    assert loaded.table is not None
    blocks = block_problems(loaded.spec.space, loaded.table.task, trusted)
    problems = [*blocks, *metric_problems(loaded.spec.metrics, trusted)]
    return told_of_blocks(problems, loaded.source, loaded.checked.sources)


def _first_named(block: str, text: str) -> Span:
    """Where a spec names a block first, outside comments; its first character if it does so in no word of its own."""
    found = re.search(rf"^[^#\n]*?\b({re.escape(block)})\b", text, re.MULTILINE)
    return Span(*found.span(1)) if found else Span(0, min(1, len(text)))


def told_of_blocks(problems: Sequence[UnusableBlock], spec: Source, sources: Sequence[Source]) -> list[Diagnostic]:
    """What is wrong with some blocks, at their declarations where these are in files of the user."""
    found = []
    for problem in problems:
        own = [source for source in sources if source.path == problem.block.origin]
        source = own[0] if own else spec
        span = problem.block.span if own else _first_named(problem.block.name, source.text)
        label = Label(source, span, "declared here" if own else "")
        found.append(Diagnostic(problem.code, Severity.ERROR, problem.message, label, help=problem.help))
    return found
