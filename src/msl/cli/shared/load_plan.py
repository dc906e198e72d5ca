"""Table: how verbs read a table for a spec, with what is wrong told as diagnostics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.check.check_spec import data_span
from msl.cli.shared.console import Exit, WrongUse, report, tell
from msl.cli.shared.load_spec import Loaded, load
from msl.cli.shared.trust import Trusted
from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Span
from msl.diagnostics.terminal import safe

if TYPE_CHECKING:
    from msl.data.data_errors import DataProblem
    from msl.data.options import DataOptions
    from msl.data.table import Table
    from msl.diagnostics.source import Source
    from msl.language.edit import Override
    from msl.runner.plan import Plan
    from msl.space.spec import DataStatement


def read_for(
    source: Source, statement: DataStatement, path: str, overrides: DataOptions | None = None
) -> tuple[Table | None, list[Diagnostic]]:
    """The table as the spec says it is to be read, or None; and what is wrong or odd about it."""
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
    """What was guessed or left out, a line each."""
    for note in table.notes:
        tell(safe(note))


def _diagnostic(problem: DataProblem, source: Source, path: str) -> Diagnostic:
    """Data has no place in the spec: it is told at the `data` statement, or at the start."""
    severity = Severity.ERROR if problem.severity == "error" else Severity.WARNING
    where = Label(source, data_span(source), f"for `{path}`")
    return Diagnostic(problem.code, severity, problem.message, where, help=problem.help or None)


# --- Planned: from a spec, a table and what the command line changes about them to a plan — for run, plan and lock.


# The options that these verbs share.
SpecArgument = Annotated[str, typer.Argument(metavar="SPEC", help="A spec.")]
DataArgument = Annotated[str, typer.Argument(metavar="DATA", help="The table: CSV, also gzipped, or Parquet.")]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="Predict this column, whatever the spec says.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change the spec for this run, as in search.swarm=10."),
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
) -> tuple[Loaded, Plan]:
    """A sound spec with its changes, and its plan on a table. What is wrong is told and ends the command."""

    loaded = load(spec, data, chain, overrides_of(changes or (), target, seed))
    assert loaded.table is not None
    _tell_oddities(loaded.table)
    return loaded, plan_of(loaded, Trusted(trust))


def overrides_of(changes: Sequence[str], target: str | None, seed: int | None) -> list[Override]:
    """What `--set`, `--target` and `--seed` change, in this order."""
    from msl.language.edit import WrongOverride, text_to_override
    from msl.space.to_text import quoted

    try:
        found = [text_to_override(each) for each in changes]
    except WrongOverride as wrong:
        report(wrong.diagnostics)
        raise SystemExit(int(Exit.FAILED)) from None
    if target is not None:
        found.append(text_to_override(f"data.target={quoted(target)}", "--target"))
    if seed is not None:
        found.append(text_to_override(f"seed={seed}", "--seed"))
    return found


def plan_of(loaded: Loaded, trusted: Trusted) -> Plan:
    """The plan of a spec that was loaded with its table, all of whose blocks can be used."""
    from msl.blocks.base.load import allow_local_modules
    from msl.runner.plan import make_plan

    assert loaded.table is not None
    allow_local_modules(Path(loaded.source.path or ".").absolute().parent, trusted.given)
    if problems := _unusable_blocks(loaded, trusted):
        raise SystemExit(int(report(problems)))
    trusted.tell_of_file()
    with told_problems():
        return make_plan(loaded.spec, loaded.table, tuple(trusted))


def read_test(plan: Plan, path: str) -> Table:
    """A table to judge the winner on, read as that of the plan; looked at before anything runs."""
    from msl.data.data_errors import DataError
    from msl.data.read import read_like

    try:
        table = read_like(plan.table.schema, path)
    except DataError as wrong:
        first, *others = wrong.problems
        message = "; ".join([first.message, *(each.message for each in others)])
        raise WrongUse(message, first.help or None) from None
    if table.y is None:
        help = "name a table that has it, or leave out `--test`"
        raise WrongUse(f"`{path}` lacks the target `{plan.table.target}`, and nothing can be tested on it", help)
    _tell_oddities(table)
    return table


def _tell_oddities(table: Table) -> None:
    """What is odd about a table, a line each: it may be meant, so the run goes on."""
    from msl.cli.shared.console import tell

    for odd in table.warnings:
        tell(f"warning: {odd.message}; {odd.help}" if odd.help else f"warning: {odd.message}")


def _unusable_blocks(loaded: Loaded, trusted: Trusted) -> list[Diagnostic]:
    """Classes that cannot be imported, are not trusted, or do not fit: told where they are declared, before a run."""
    from msl.runner.plan import block_problems

    assert loaded.table is not None
    found = []
    for problem in block_problems(loaded.spec.space, loaded.table.task, trusted):
        own = [source for source in loaded.checked.sources if source.path == problem.block.origin]
        source = own[0] if own else loaded.source
        span = problem.block.span if own else Span(0, min(1, len(source.text)))
        label = Label(source, span, "declared here" if own else "")
        found.append(Diagnostic(problem.code, Severity.ERROR, problem.message, label, help=problem.help))
    return found


@contextmanager
def told_problems() -> Iterator[None]:
    """What the store, the evaluator and the executors complain about is told in their own sentences."""
    from concurrent.futures import BrokenExecutor

    from msl.store.store_error import StoreError

    try:
        yield
    except StoreError as problem:
        raise WrongUse(problem.message, problem.help) from None
    except BrokenPipeError:
        raise  # the reader of what is written has gone, which is no trouble of a run
    except (BrokenExecutor, ConnectionError) as broken:
        raise WrongUse(str(broken), "what is evaluated is stored, and the same command goes on from there") from None
    except ValueError as trouble:
        if not _is_told(trouble):
            raise
        raise WrongUse(str(trouble)) from None


def _is_told(trouble: ValueError) -> bool:
    """Whether an error is meant for the user: those of the evaluator and the executors are sentences."""
    frame = trouble.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = "" if frame is None else frame.tb_frame.f_globals.get("__name__", "")
    return place.startswith(("msl.evaluate", "msl.encode", "msl.space", "msl.search"))
