"""msl run: search a space on a table for the best model."""

from __future__ import annotations

import json as json_text
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.shared.console import Clock, Exit, tell, write, write_exactly
from msl.cli.shared.load_plan import (
    ChainOption,
    SeedOption,
    SetOption,
    StartOption,
    StoreOption,
    TargetOption,
    TrustOption,
    load_planned,
    read_test,
)
from msl.cli.verbs.init import PresetOption, spec_beside
from msl.cli.verbs.lock import refuse_differences
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from msl.data.table import Table
    from msl.runner.loop import Progress
    from msl.runner.session import RunRequest

#: The group and the place of this verb in `msl --help`.
PLACE = ("Search", 1)


def run(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="A spec, or a table alone: its spec is written beside it.")
    ],
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="The table: CSV, also packed, Parquet or Arrow.")
    ] = None,
    test: Annotated[str | None, typer.Option(metavar="TABLE", help="Score the winner on this table too.")] = None,
    target: TargetOption = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; by default one per core.")] = None,
    on: Annotated[
        str, typer.Option(help="Where to evaluate: local, inprocess, tls://host:port or dask://host:port.")
    ] = "local",
    tls_ca: Annotated[
        str | None, typer.Option(metavar="FILE", help="The authority that has signed the cluster's certificates.")
    ] = None,
    tls_cert: Annotated[str | None, typer.Option(metavar="FILE", help="Your certificate, for tls://.")] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="The key of your certificate.")] = None,
    seed: SeedOption = None,
    set_: SetOption = None,
    start: StartOption = None,
    chain: ChainOption = None,
    trust: TrustOption = None,
    store: StoreOption = None,
    locked: Annotated[
        bool, typer.Option("--locked", help="Refuse if anything differs from the spec's lock file.")
    ] = False,
    preset: PresetOption = None,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines/--no-baselines",
            envvar="MSL_BASELINES",
            help="Compare the winner with models that need no search.",
        ),
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> Exit:
    """Search a space on a table. Running the same command again resumes an interrupted run.

    `msl run DATA` writes a first spec beside the table, as `msl init` does, shows it and runs it.
    """
    if jobs is not None and on != "local":
        raise UserError(f"`--jobs` counts worker processes of this machine, and this runs on {on}", "leave it out")
    place = _place(on, tls_ca, tls_cert, tls_key)
    spec, data, target = _spec_and_data(spec, data, target, preset, shows=not (quiet or json))
    loaded, plan = load_planned(
        spec, data, changes=set_, target=target, seed=seed, chain=chain, trust=trust, start=start
    )
    if locked:
        refuse_differences(plan, Path(spec))
    tested = None if test is None else read_test(plan, test)
    _tell_notes([plan.table] if tested is None else [plan.table, tested])
    # Imported late: errors in a spec or a table are reported sooner.
    from msl.runner.session import RunRequest
    from msl.store.store import store_folder

    request = RunRequest(
        plan=replace(plan, baselines=baselines),
        source=loaded.source,
        sources=loaded.checked.sources,
        data=str(Path(data).absolute()),
        chain=chain,
        test=tested,
        test_path=None if test is None else str(Path(test).absolute()),
        changes=loaded.changes,
    )
    folder = store or store_folder(Path(loaded.source.path or "spec.msl"))
    return _run(request, folder, place, jobs, json, quiet or json)


def _spec_and_data(
    spec: str, data: str | None, target: str | None, preset: str | None, *, shows: bool
) -> tuple[str, str, str | None]:
    """The spec, the table, and the target that is still to be set; a table alone gets a spec beside it."""
    if data is not None:
        if preset is not None:
            help = f"leave it out, or run `msl run {data} --preset {preset}` to write a spec"
            raise UserError(f"`--preset` is for a table without a spec, and this runs `{spec}`", help)
        return spec, data, target
    if spec.endswith(".msl"):
        raise UserError(f"`{spec}` is a spec, and there is no table to run it on", f"write `msl run {spec} DATA`")
    path = spec_beside(spec, target, preset, shows=shows)
    return path, spec, target


def _place(on: str, ca: str | None, cert: str | None, key: str | None) -> Any:
    """Where evaluations run; a wrong address or certificate is reported before anything else."""
    from msl.workers.dask_address import SCHEMES, Scheduler

    if not on.startswith(SCHEMES):
        if (ca, cert, key) != (None, None, None):
            raise UserError(
                f"certificates are for a scheduler at tls://host:port, and this runs on {on}", "leave them out"
            )
        return on
    scheduler = Scheduler(on, ca, cert, key)
    if scheduler.warning is not None:
        tell(f"warning: {scheduler.warning}")
    return scheduler


def _tell_notes(tables: Iterable[Table]) -> None:
    """Prints what was guessed or left out, before the run takes time."""
    from msl.cli.shared.load_plan import tell_notes

    for table in tables:
        tell_notes(table)


def _run(request: RunRequest, folder: Path, on: Any, jobs: int | None, json: bool, quiet: bool) -> Exit:
    from msl.cli.shared.progress_display import Interrupts, open_display, standing
    from msl.runner.session import NoModel, run_plan

    display = open_display(request.plan, quiet)
    interrupts = Interrupts(display.stopping)
    failed, causes = False, ""
    latest: Progress | None = None

    def show(progress: Progress) -> None:
        nonlocal latest
        latest = progress
        display.show(progress)

    def finishing(done: int, wanted: int) -> None:
        nonlocal latest
        display.finishing(done, wanted)
        if interrupts.terminated() and latest is not None:
            # Once, before the last fits: the sender of SIGTERM may not wait for them.
            tell(f"terminated; {standing(request.plan, latest)}{latest.best_text and f': {latest.best_text}'}")
            latest = None

    try:
        with interrupts, display:
            result = run_plan(
                request,
                folder,
                on=on,
                workers=jobs,
                began=display.began,
                progress=show,
                finishing=finishing,
                stopped=interrupts.asked,
                terminated=interrupts.terminated,
                started=Clock.started,
            )
            summary: Mapping[str, Any] = result.summary
    except NoModel as none:
        summary, failed, causes = none.summary, True, none.causes
    except KeyboardInterrupt:
        tell("stopped; evaluations are stored: run the same command again to continue")
        return Exit.TERMINATED if interrupts.terminated() else Exit.INTERRUPTED
    interrupted = summary["ending"] == "interrupted"
    if json:
        write_exactly(json_text.dumps(summary, ensure_ascii=False) + "\n")
    else:
        from msl.cli.shared.summary_text import closing_words

        write(closing_words(summary, folder, interrupted, causes))
    if interrupted:
        return Exit.TERMINATED if interrupts.terminated() else Exit.INTERRUPTED
    return Exit.FAILED if failed else Exit.FINE
