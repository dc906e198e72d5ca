"""Session: a plan run from its beginning, or from where it stopped, to a trained winner that the store keeps.

There is one path for the command, for `msl.run` and for `ModelSearch`; they only show what comes out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any

from msl.data.table import Table
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.evaluate.outcome import Failure, WarningCapture
from msl.report.failures import FailureGroup, failure_groups, failures_to_text
from msl.runner.final_costs import TimeLimit
from msl.runner.finish import FinalTasks, Finished, final_costs, finish
from msl.runner.loop import Search, search
from msl.runner.plan import Plan, block_problems
from msl.runner.progress import Progress
from msl.runner.reuse import StoredEvaluations, find_stored_evaluations
from msl.runner.summary import kinds_of_warnings, signed_losses, summarize
from msl.runner.trained import BEST_ALONE, Trained, save_trained
from msl.runner.verdict import judge
from msl.runner.versions import versions_of_packages
from msl.store.evaluation import Evaluation
from msl.store.store import Store
from msl.store.store_error import StoreError
from msl.store.stored_run import NewRun
from msl.workers.local import open_executor

#: Kinds of failures that are told where no model could be evaluated.
_MOST_CAUSES = 5
#: Seconds that the last fits may take after SIGTERM, beside that of the winner.
_AFTER_SIGTERM = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class RunRequest:
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
class RunStart:
    """How a run begins: under which name, anew or from where it stopped, with what in store."""

    run: str
    resumed: bool
    stock: StoredEvaluations


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


class NoModel(UserError):
    """A search in which no model could be judged; `summary` is what there is to say of it."""

    def __init__(self, message: str, summary: Mapping[str, Any], causes: str = "") -> None:
        """`causes` are lines for people, the most frequent first."""
        super().__init__(message)
        self.summary, self.causes = summary, causes


def run_plan(
    request: RunRequest,
    folder: Path,
    *,
    on: Any = "inprocess",
    workers: int | None = None,
    began: Callable[[RunStart], None] = lambda beginning: None,
    progress: Callable[[Progress], None] = lambda progress: None,
    finishing: Callable[[int, int], None] = lambda done, wanted: None,
    stopped: Callable[[], bool] = lambda: False,
    terminated: Callable[[], bool] = lambda: False,
    only: Collection[int] | None = None,
    started: float | None = None,
) -> Result:
    """Runs a plan with the store in `folder`; an unfinished run of the same digest goes on.

    `finishing` hears of the last fits, how many are done and how many there are. `stopped` ends the search after a
    batch, `terminated` within one; `only` names the positions that a run which was cut has answers at. The time of the
    budget counts from `started`, on the clock of `monotonic`. Raises NoModel when no model could be judged.
    """
    plan = request.plan
    limit = TimeLimit(plan.spec.budget.time, monotonic() if started is None else started)
    unusable = block_problems(plan.spec.space, plan.table.task, plan.job.trusted)
    if unusable:
        raise UserError("\n".join(f"{each.message}; {each.help}" for each in unusable))
    with Store.open(folder) as store:
        stock = find_stored_evaluations(store, plan, request.source)
        with open_executor(plan.job, on, workers) as executor:
            run, resumed = start_or_resume(store, request)
            with _kept_for_later(store, run):
                began(RunStart(run, resumed, stock))
                found = search(
                    plan,
                    store,
                    run,
                    executor,
                    limit=limit,
                    progress=progress,
                    stopped=stopped,
                    terminated=terminated,
                    only=only,
                )
                if terminated():  # whoever said so does not wait for long
                    limit = TimeLimit(limit.elapsed + min(limit.left, _AFTER_SIGTERM), limit.started)
                tasks = FinalTasks(executor, limit, final_costs(plan, found), finishing)
                return _concluded(request, store, run, found, stock, tasks)


@contextmanager
def _kept_for_later(store: Store, run: str) -> Iterator[None]:
    """Whatever goes wrong from outside, such as Ctrl-C or a full disk: the run is one that can be gone on with."""
    try:
        yield
    except NoModel:
        raise
    except BaseException:
        with suppress(StoreError):
            store.runs.end(run, "interrupted")
        raise


def start_or_resume(store: Store, request: RunRequest) -> tuple[str, bool]:
    """A new run, or the unfinished one of the same digest: its id, and whether it was there."""
    plan, source = request.plan, request.source
    for known in store.runs.of_digest(plan.digests.run):
        if known.status == "interrupted":
            return store.runs.claim(known.id).id, True
    texts = {each.name: each.text for each in request.sources if not each.name.startswith("<")}
    order = NewRun(
        name=plan.spec.name,
        spec=source.name,
        sources={source.name: source.text, **texts},
        digests=plan.digests,
        seed=plan.seed,
        versions=dict(versions_of_packages(frozenset({"msl"}))),
        options=request.options(),
    )
    return store.runs.start(order).id, False


def _concluded(
    request: RunRequest, store: Store, run: str, found: Search, stock: StoredEvaluations, tasks: FinalTasks
) -> Result:
    """What predicts after a search, trained and saved, and all that there is to say of it."""
    plan, test = request.plan, request.test
    with WarningCapture() as listener:
        verdict = judge(plan, found)
        finished = finish(plan, found, verdict, tasks, None if test is None else test.X)
        if isinstance(finished, Finished):
            save_trained(store.files, run, finished.used)
            if finished.best_alone is not None:
                save_trained(store.files, run, finished.best_alone, BEST_ALONE)
        summary = summarize(
            plan,
            found,
            verdict,
            finished if isinstance(finished, Finished) else None,
            run=run,
            stock=stock,
            path=request.data,
            test=test,
        )
    told = (*listener.told, *(finished.warnings if isinstance(finished, Finished) else ()))
    summary |= {"warnings": kinds_of_warnings(found, told), "seconds": round(tasks.limit.elapsed, 3)}
    interrupted = found.ending == "interrupted"
    if not isinstance(finished, Finished):
        store.runs.end(run, "interrupted" if interrupted else "failed", summary)
        if finished is not None:
            raise NoModel(_not_fitted(finished), summary, _not_fitted(finished))
        groups = failure_groups(evaluation for _, evaluation in found.answers.met.values())
        raise NoModel(_why_none(groups), summary, failures_to_text(groups, most=_MOST_CAUSES))
    store.runs.end(run, "interrupted" if interrupted else "finished", summary)
    rows = [_row(plan, evaluation) for _, evaluation in found.answers.met.values()]
    return Result(summary, finished.used, rows)


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
        "turn": int(evaluation.question.repeat),
        "seconds": float(evaluation.seconds),
        "failure": None if trouble is None else f"{trouble.cause}: {trouble.message}",
    }


def _why_none(groups: Sequence[FailureGroup]) -> str:
    """All kinds of failures in one sentence, and what to do about the most frequent."""
    if not groups:
        return "no model of the space was evaluated: give the search more evaluations"
    kinds = [f"{group.words}: {group.example}" for group in groups[:_MOST_CAUSES]]
    more = [f"{len(groups) - _MOST_CAUSES} other kinds"] if len(groups) > _MOST_CAUSES else []
    failed = sum(group.count for group in groups)
    return f"none of {failed} models could be evaluated ({'; '.join([*kinds, *more])}); {groups[0].advice}"


def _not_fitted(failure: Failure) -> str:
    return f"the best models cannot be fitted on all rows; the first said: {failure.message}"
