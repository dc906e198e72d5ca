"""Planned: from a spec, a table and what the command line changes about them to a plan — for run, plan and lock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from msl.cli.console import Exit, WrongUse, report
from msl.cli.specs import Loaded, load
from msl.cli.table import tell_notes
from msl.cli.trust import Trusted
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Span

if TYPE_CHECKING:
    from msl.engine.override import Override
    from msl.engine.plan import Plan
    from msl.evaluate.table import Table

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
    tell_notes(loaded.table)
    return loaded, plan_of(loaded, Trusted(trust))


def overrides_of(changes: Sequence[str], target: str | None, seed: int | None) -> list[Override]:
    """What `--set`, `--target` and `--seed` change, in this order."""
    from msl.engine.override import WrongOverride, text_to_override
    from msl.space.spell_word import spell_text

    try:
        found = [text_to_override(each) for each in changes]
    except WrongOverride as wrong:
        report(wrong.diagnostics)
        raise SystemExit(int(Exit.FAILED)) from None
    if target is not None:
        found.append(text_to_override(f"data.target={spell_text(target)}", "--target"))
    if seed is not None:
        found.append(text_to_override(f"seed={seed}", "--seed"))
    return found


def plan_of(loaded: Loaded, trusted: Trusted) -> Plan:
    """The plan of a spec that was loaded with its table, all of whose blocks can be used."""
    from msl.blocks.local_modules import allow_local_modules
    from msl.engine.plan import make_plan

    assert loaded.table is not None
    allow_local_modules(Path(loaded.source.path or ".").absolute().parent, trusted.given)
    if problems := _unusable_blocks(loaded, trusted):
        raise SystemExit(int(report(problems)))
    trusted.tell_of_file()
    with told_problems():
        return make_plan(loaded.spec, loaded.table, tuple(trusted))


def read_test(plan: Plan, path: str) -> Table:
    """A table to judge the winner on, read as that of the plan; looked at before anything runs."""
    from msl.evaluate.problem import DataError
    from msl.evaluate.read import read_like

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
    tell_notes(table)
    return table


def _tell_oddities(table: Table) -> None:
    """What is odd about a table, a line each: it may be meant, so the run goes on."""
    from msl.cli.console import tell

    for odd in table.warnings:
        tell(f"warning: {odd.message}; {odd.help}" if odd.help else f"warning: {odd.message}")


def _unusable_blocks(loaded: Loaded, trusted: Trusted) -> list[Diagnostic]:
    """Classes that cannot be imported, are not trusted, or do not fit: told where they are declared, before a run."""
    from msl.engine.preflight import block_problems

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

    from msl.runs.problem import StoreProblem

    try:
        yield
    except StoreProblem as problem:
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
