"""Session: a plan run from its beginning, or from where it stopped, to a trained winner that the store keeps.

There is one path for the command, for `msl.run` and for `ModelSearch`; they only show what comes out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from msl.engine.ensembles import choose_members
from msl.engine.loop import Search, search
from msl.engine.plan import Plan
from msl.engine.preflight import block_problems
from msl.engine.progress import Progress
from msl.engine.saved import save_winner
from msl.engine.stock import Stock, stock_of
from msl.engine.summary import signed_losses, summarize
from msl.engine.trained import Trained
from msl.engine.verdict import judge
from msl.engine.versions import versions_of_packages
from msl.engine.warned import kinds_of_warnings
from msl.evaluate.executors.choice import open_executor
from msl.evaluate.listening import Listener
from msl.evaluate.table import Table
from msl.runs.evaluation import Evaluation
from msl.runs.problem import StoreProblem
from msl.runs.run import Order
from msl.runs.store import Store
from msl.text.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class Commission:
    """What is to be run, and on what.

    `sources` are all texts that were read for it, `source` the spec among them. `data` and `test_path` say where the
    tables came from, if from files; `chain` is the one that was picked where there were several; `changes` are those
    made to the text of the spec for this run, as `--set` writes them.
    """

    plan: Plan
    source: Source
    sources: Sequence[Source] = ()
    data: str | None = None
    chain: str | None = None
    test: Table | None = None
    test_path: str | None = None
    changes: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """What the store keeps beside the sources, so that the run can be repeated."""
        given = {
            "data": self.data,
            "chain": self.chain,
            "test": self.test_path,
            "trusted": list(self.plan.job.trusted),
            "set": list(self.changes),
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class Beginning:
    """How a run begins: under which name, anew or from where it stopped, with what in store."""

    run: str
    resumed: bool
    stock: Stock


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What a run came to. `evaluations` has a row for each model that was judged, in the order of the search.

    `summary` is the whole record, as `msl run --json` prints it; what is asked for most often stands here by name.
    """

    summary: Mapping[str, Any]
    trained: Trained
    evaluations: Sequence[Mapping[str, Any]] = field(repr=False)

    @property
    def run(self) -> str:
        return str(self.summary["run"])

    @property
    def digest(self) -> str:
        return str(self.summary["digest"])

    @property
    def best(self) -> str:
        """The best model as MSL."""
        return str(self.summary["best"])

    @property
    def objectives(self) -> Mapping[str, float]:
        """What the best model was judged at, as the user counts it."""
        found: Mapping[str, float] = self.summary["objectives"]
        return found

    @property
    def test(self) -> Mapping[str, float]:
        """Its measures on the test table; empty without one."""
        found: Mapping[str, float] = self.summary.get("test", {})
        return found

    @property
    def failures(self) -> int:
        return int(self.summary["failures"])

    @property
    def reused(self) -> int:
        return int(self.summary["reused"])

    @property
    def seconds(self) -> float:
        return float(self.summary["seconds"])

    @property
    def ending(self) -> str:
        return str(self.summary["ending"])


class NoModel(ValueError):
    """A search in which no model could be judged; `summary` is what there is to say of it."""

    def __init__(self, message: str, summary: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.summary = summary


def run_plan(
    commission: Commission,
    folder: Path,
    *,
    on: Any = "inprocess",
    workers: int | None = None,
    began: Callable[[Beginning], None] = lambda beginning: None,
    progress: Callable[[Progress], None] = lambda progress: None,
    searched: Callable[[bool], None] = lambda is_finished: None,
    stopped: Callable[[], bool] = lambda: False,
    most: int | None = None,
) -> Result:
    """Runs a plan with the store in `folder`; an unfinished run of the same digest goes on.

    `searched` is called when only the last fits are left, and told whether the search came to its own end; `most` ends
    it after so many answers. Raises NoModel when no model could be judged.
    """
    plan = commission.plan
    unusable = block_problems(plan.spec.space, plan.table.task, plan.job.trusted)
    if unusable:
        raise ValueError("\n".join(f"{each.message}; {each.help}" for each in unusable))
    with Store.open(folder) as store:
        stock = stock_of(store, plan, commission.source)
        with open_executor(plan.job, on, workers) as executor:
            run, resumed = start_or_resume(store, commission)
            with _kept_for_later(store, run):
                began(Beginning(run, resumed, stock))
                found = search(plan, store, run, executor, progress=progress, stopped=stopped, most=most)
        with _kept_for_later(store, run):
            searched(found.ending == "finished")
            return _concluded(commission, store, run, found, stock)


@contextmanager
def _kept_for_later(store: Store, run: str) -> Iterator[None]:
    """Whatever goes wrong from outside, such as Ctrl-C or a full disk: the run is one that can be gone on with."""
    try:
        yield
    except NoModel:
        raise
    except BaseException:
        with suppress(StoreProblem):
            store.runs.end(run, "interrupted")
        raise


def start_or_resume(store: Store, commission: Commission) -> tuple[str, bool]:
    """A new run, or the unfinished one of the same digest: its id, and whether it was there."""
    plan, source = commission.plan, commission.source
    for known in store.runs.of_digest(plan.digests.run):
        if known.status == "interrupted":
            return store.runs.claim(known.id).id, True
    texts = {each.name: each.text for each in commission.sources if not each.name.startswith("<")}
    order = Order(
        name=plan.spec.name,
        spec=source.name,
        sources={source.name: source.text, **texts},
        digests=plan.digests,
        seed=plan.seed,
        versions=dict(versions_of_packages(frozenset({"msl"}))),
        options=commission.options(),
    )
    return store.runs.start(order).id, False


def _concluded(commission: Commission, store: Store, run: str, found: Search, stock: Stock) -> Result:
    """The winner of a search, trained and saved, and all that there is to say of it."""
    plan = commission.plan
    with Listener() as listener:
        verdict = judge(plan, found)
        members = choose_members(plan, found) if verdict.best is not None else None
        trained = save_winner(store.files, run, plan, verdict, members)
        summary = summarize(
            plan,
            found,
            verdict,
            trained,
            members=members,
            run=run,
            stock=stock,
            path=commission.data,
            test=commission.test,
        )
    summary["warnings"] = kinds_of_warnings(found, listener.told)
    interrupted = found.ending == "interrupted"
    if trained is None:
        store.runs.end(run, "interrupted" if interrupted else "failed", summary)
        raise NoModel(_why_none(found), summary)
    store.runs.end(run, "interrupted" if interrupted else "finished", summary)
    rows = [_row(plan, evaluation) for _, evaluation in found.answers.met.values()]
    return Result(summary, trained, rows)


def _row(plan: Plan, evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation for people and frames: a lower bound from a race that was given up is no value."""
    exact = evaluation.trouble is None and not evaluation.bound
    losses = signed_losses(plan, evaluation.losses) if exact else dict.fromkeys(plan.objective_names())
    trouble = evaluation.trouble
    return {
        "model": evaluation.text,
        **losses,
        "complexity": float(evaluation.complexity) if isfinite(evaluation.complexity) else None,
        "share": float(evaluation.question.share),
        "turn": int(evaluation.question.turn),
        "seconds": float(evaluation.seconds),
        "failure": None if trouble is None else f"{trouble.cause}: {trouble.message}",
    }


def _why_none(found: Search) -> str:
    troubles = [one.trouble for _, one in found.answers.met.values() if one.trouble is not None]
    if not troubles:
        return "no model of the space was evaluated: give the search more evaluations"
    return f"none of {len(troubles)} models could be evaluated; the first said: {troubles[0].message}"
