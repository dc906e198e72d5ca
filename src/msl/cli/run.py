"""msl run: from a spec and a table to the best model found."""

from __future__ import annotations

import json as json_text
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from msl.cli.console import Exit, WrongUse, report, tell, write
from msl.cli.specs import Loaded, load
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Span

if TYPE_CHECKING:
    from msl.engine.loop import Progress, Search
    from msl.engine.plan import Plan
    from msl.engine.trained import Trained
    from msl.engine.verdict import Verdict
    from msl.runs.store import Store


def run(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A spec.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The table: CSV, also gzipped, or Parquet.")],
    test: Annotated[str | None, typer.Option(metavar="TABLE", help="Judge the winner on this table too.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; by default one a core.")] = None,
    on: Annotated[str, typer.Option(help="Where: local, inprocess, or dask://host:port.")] = "local",
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the spec's seed.")] = None,
    chain: Annotated[str | None, typer.Option(metavar="NAME", help="The chain, where there are several.")] = None,
    trust: Annotated[list[str] | None, typer.Option(metavar="PACKAGE", help="Import classes of this package.")] = None,
    store: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Instead of .msl beside the spec.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object at the end, nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> Exit:
    """Search a space on a table. The same command goes on where an interrupted run stopped."""
    from msl.runs.problem import StoreProblem

    loaded = load(spec, data, chain)
    try:
        return _run(loaded, test, jobs, on, seed, tuple(trust or ()), store, json, quiet or json)
    except StoreProblem as problem:
        raise WrongUse(problem.message, problem.help) from None
    except ValueError as trouble:
        if not _is_told(trouble):
            raise
        raise WrongUse(str(trouble)) from None


def _run(
    loaded: Loaded,
    test: str | None,
    jobs: int | None,
    on: str,
    seed: int | None,
    trusted: tuple[str, ...],
    folder: Path | None,
    json: bool,
    quiet: bool,
) -> Exit:
    from msl.engine.loop import search
    from msl.engine.plan import make_plan
    from msl.engine.saved import save_winner
    from msl.engine.verdict import judge
    from msl.evaluate.executors.choice import open_executor
    from msl.runs.store import Store, store_folder

    assert loaded.table is not None
    if trusted:
        _make_importable(Path(loaded.source.path or ".").absolute().parent)
    if problems := _unusable_blocks(loaded, trusted):
        return report(problems)
    plan = make_plan(loaded.spec, loaded.table, seed, trusted)
    where = folder or store_folder(Path(loaded.source.path or "spec.msl"))
    with Store.open(where) as store, _Interrupts() as interrupts:
        identity, resumed = _begin(store, plan, loaded)
        if not quiet:
            tell(_opening(plan, identity, resumed))
        workers = jobs if on == "local" else None
        with open_executor(plan.job, on, workers) as executor:
            show = (lambda progress: None) if quiet else _Lines(plan).show
            found = search(plan, store, identity, executor, progress=show, stopped=interrupts.asked)
        verdict = judge(plan, found)
        trained = save_winner(store.files, identity, plan, found, verdict)
        summary = _summary(plan, found, verdict, identity, test, trained)
        store.runs.end(identity, "interrupted" if found.ending == "interrupted" else "finished", summary)
    if json:
        write(json_text.dumps(summary, ensure_ascii=False) + "\n")
    else:
        write(_for_people(summary, found, where))
    return Exit.FINE if verdict.best is not None else Exit.FAILED


def _make_importable(folder: Path) -> None:
    """Modules beside the spec can be imported, here and in worker processes, once a package is trusted."""
    sys.path.insert(0, str(folder))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(folder) if not before else f"{folder}{os.pathsep}{before}"


def _unusable_blocks(loaded: Loaded, trusted: tuple[str, ...]) -> list[Diagnostic]:
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


def _begin(store: Store, plan: Plan, loaded: Loaded) -> tuple[str, bool]:
    """A new run, or the unfinished one of the same digest."""
    from msl.engine.versions import versions_of_packages
    from msl.runs.run import Order

    for known in store.runs.of_digest(plan.digests.run):
        if known.status == "interrupted":
            return store.runs.claim(known.id).id, True
    name = loaded.source.name
    sources = {source.name: source.text for source in loaded.checked.sources if not source.name.startswith("<")}
    order = Order(
        name=loaded.spec.name,
        spec=name,
        sources={name: loaded.source.text, **sources},
        digests=plan.digests,
        seed=plan.seed,
        versions=dict(versions_of_packages(frozenset({"msl"}))),
    )
    return store.runs.start(order).id, False


def _summary(
    plan: Plan, found: Search, verdict: Verdict, identity: str, test: str | None, trained: Trained | None
) -> dict[str, Any]:
    from msl.engine.ensembles import choose_members
    from msl.engine.verdict import refit, test_measures, winner_chain
    from msl.evaluate.read import read_like
    from msl.space.spell import spell_model

    tally = found.answers.tally
    best = verdict.best
    record: dict[str, Any] = {
        "run": identity,
        "digest": plan.digests.run,
        "best": None if best is None else spell_model(best.model),
        "objectives": {} if best is None else _objectives(plan, best.losses),
        "evaluations": tally.evaluations,
        "reused": tally.reused,
        "outside": tally.outside,
        "failures": tally.failures,
        "fits": tally.fits,
        "fits_saved": tally.fits_saved,
        "seconds": round(found.seconds, 3),
        "ending": found.why or found.ending,
    }
    if best is not None:
        record["complexity"] = best.complexity
    if len(verdict.front) > 1:
        record["front"] = [
            {"model": spell_model(one.model), "objectives": _objectives(plan, one.losses)} for one in verdict.front
        ]
    members = None
    if plan.spec.ensemble is not None and best is not None:
        members = choose_members(plan, found, plan.spec.ensemble)
        record["ensemble"] = [spell_model(one.model) for one in members.candidates]
    if test is not None and best is not None:
        table = read_like(plan.table.schema, test)
        assert trained is not None
        saved = test_measures(plan, trained.estimator, table)
        if members is None:
            record["test"] = saved
        else:
            record["test"] = test_measures(plan, refit(plan, winner_chain(plan, best.model)), table)
            record["ensemble_test"] = saved
    return record


def _objectives(plan: Plan, losses: tuple[float, ...]) -> dict[str, float]:
    """What was optimised, as the user counts it: a maximised measure has its own sign back."""
    return {
        name: loss if objective.minimize else -loss
        for name, objective, loss in zip(plan.objective_names(), plan.objectives, losses, strict=True)
    }


def _opening(plan: Plan, identity: str, resumed: bool) -> str:
    facts = plan.table.facts
    what = "goes on" if resumed else "starts"
    return (
        f"run {identity} {what}: {facts.n_samples:,} rows, {facts.n_features} features, "
        f"{plan.terrains[0].dimensions if plan.terrains else 0} dimensions, seed {plan.seed}"
    )


class _Lines:
    """Progress for people: a line whenever the best gets better, and one a power of two of evaluations."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._best: tuple[float, ...] | None = None
        self._next = 64

    def show(self, progress: Progress) -> None:
        better = progress.best is not None and (self._best is None or progress.best < self._best)
        if not better and progress.evaluations < self._next:
            return
        self._best = progress.best
        while self._next <= progress.evaluations:
            self._next *= 2
        shown = "none yet"
        if progress.best is not None:
            values = _objectives(self._plan, progress.best)
            shown = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
        failed = f", {progress.failures} failed" if progress.failures else ""
        reused = f", {progress.reused} reused" if progress.reused else ""
        tell(f"{progress.seconds:7.1f}s  {progress.evaluations:>6} evaluations{reused}{failed}  best {shown}")


def _for_people(summary: dict[str, Any], found: Search, folder: Path) -> str:
    if summary["best"] is None:
        return f"no model could be evaluated: {summary['failures']} failed, {summary['outside']} outside the space\n"
    values = [f"{name} = {value:.4g}" for name, value in summary["objectives"].items()]
    lines = [summary["best"], "", f"estimate     {', '.join(values)}"]
    if "test" in summary:
        lines.append("test         " + ", ".join(f"{name} = {value:.4g}" for name, value in summary["test"].items()))
    if "ensemble" in summary:
        voted = summary.get("ensemble_test", {})
        shown = "".join(f", test {name} = {value:.4g}" for name, value in voted.items())
        lines.append(f"ensemble     {len(summary['ensemble'])} models vote{shown}")
    reused, saved = summary["reused"], summary["fits_saved"]
    lines.append(f"evaluations  {summary['evaluations']} ({reused} reused, {summary['failures']} failed)")
    lines.append(f"fits         {summary['fits']} ({saved} saved by sharing)")
    lines.append(f"ended        {summary['ending']} after {summary['seconds']:.1f} s")
    lines.append(f"run          {summary['run']} in {folder}")
    if found.ending == "interrupted":
        lines.append("the same command goes on from here")
    return "\n".join(lines) + "\n"


class _Interrupts:
    """Ctrl-C once asks the run to stop after the batch; twice ends it at once, with all that is stored kept."""

    def __init__(self) -> None:
        self._asked = False
        self._before: Any = None

    def asked(self) -> bool:
        return self._asked

    def __enter__(self) -> _Interrupts:
        self._before = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(self, *exception: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _on_interrupt(self, number: int, frame: object) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        tell("stopping after this batch; once more to stop at once")


def _is_told(trouble: ValueError) -> bool:
    """Whether an error is meant for the user: those of the evaluator and the executors are sentences."""
    frame = trouble.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = "" if frame is None else frame.tb_frame.f_globals.get("__name__", "")
    return place.startswith(("msl.evaluate", "msl.encode", "msl.space", "msl.search"))
