"""Run a plan, or continue it, from the search to the trained winner in the store.

`msl run`, `msl.run` and `ModelSearch` all call `run_plan`; they only differ in how they show the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from msl.data.table import Table
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.evaluate.outcome import Failure, WarningCapture
from msl.report.run_facts import FailureGroup, best_models, failure_groups, failures_to_text
from msl.report.run_facts import corrected_estimate as corrected_words
from msl.report.search_importance import save_facts
from msl.runner.choose_winner import choose_winner
from msl.runner.corrected_estimate import competition, correct_estimate
from msl.runner.finish import Finished, finish
from msl.runner.forecast import StoredEvaluations, find_stored_evaluations
from msl.runner.insight.leaderboard import compare_with_baselines, evaluate_baselines, leaderboard, seconds_of
from msl.runner.insight.ledger import read_ledger
from msl.runner.loop import Progress, SearchResult, search
from msl.runner.plan import Plan, block_problems, ensemble_problems, metric_problems
from msl.runner.summary import kinds_of_warnings, plain, signed_losses, summarize
from msl.runner.table_versions import save_rows
from msl.runner.time_limit import FinalTasks, TimeLimit, final_costs
from msl.runner.trained_model import BEST_ALONE, Trained, save_trained
from msl.runner.versions import versions_of_packages
from msl.space.values import Model
from msl.store.evaluation import Evaluation
from msl.store.store import Store
from msl.store.store_error import StoreError
from msl.store.stored_run import NewRun
from msl.workers.local import open_executor

if TYPE_CHECKING:
    from msl.runner.insight.look_back import Explained, Suggested

#: The most kinds of failures in the message that no model could be evaluated.
_MOST_CAUSES = 5
#: Seconds that the final fits may take after SIGTERM. The winner is fitted in any case.
_AFTER_SIGTERM = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class RunRequest:
    """A plan to run, with the sources and tables that it was made from.

    `sources` are all texts that were read, `source` the spec among them. `data` and `test_path` are the files of the
    tables, if there are any; `chain` is the one that was chosen if the spec has several; `changes` are changes to the
    text of the spec for this run, in the form of `--set`.
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
        """What the store keeps beside the sources, so that the run can be replayed."""
        given = {
            "data": self.data,
            "chain": self.chain,
            "test": self.test_path,
            "trusted": list(self.plan.job.trusted),
            "set": list(self.changes),
            "baselines": self.plan.baselines,
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class RunStart:
    """The id of a run that starts, whether it is resumed, and the stored evaluations that it can reuse."""

    run: str
    resumed: bool
    stored: StoredEvaluations


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The result of a run. `evaluations` has a row for each evaluation, in the order of the search.

    `summary` is the whole record, as `msl run --json` prints it; the entries that are used most often are properties.
    """

    summary: Mapping[str, Any]
    trained: Trained
    evaluations: Sequence[Mapping[str, Any]]
    #: The model of each evaluation, and whether the first objective is minimised.
    models: Sequence[Model] = ()
    minimizes: bool = True
    #: What `why` and `suggest` look at: the plan with its table, and the folder of the store.
    plan: Plan | None = None
    folder: Path | None = None

    def __repr__(self) -> str:
        values = ", ".join(f"{name} = {value:.4g}" for name, value in self.objectives.items())
        return f"<Result {self.best}: {values}, {len(self.evaluations)} evaluations>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from msl.report.html.insight_sections import result_view

        return result_view(self.summary, self.evaluations, self.minimizes)

    @property
    def run(self) -> str:
        return str(self.summary["run"])

    @property
    def digest(self) -> str:
        return str(self.summary["digest"])

    @property
    def best(self) -> str:
        """The best model in the MSL language."""
        return str(self.summary["best"])

    @property
    def objectives(self) -> Mapping[str, float]:
        """The objectives of the best model as the search found them; maximised ones have their own sign."""
        found: Mapping[str, float] = self.summary["objectives"]
        return found

    @property
    def corrected(self) -> Mapping[str, float]:
        """The objectives of the final model, corrected for the choice of the best of many models or of the members of
        an ensemble; empty where that cannot be had."""
        return {name: value for name, value in corrected_words(self.summary).objectives.items() if value is not None}

    @property
    def test(self) -> Mapping[str, float]:
        """The metrics of the best model on the test table; empty without one."""
        found: Mapping[str, float] = self.summary.get("test", {})
        return found

    @property
    def baselines(self) -> Sequence[Mapping[str, Any]]:
        """Models that needed no search, with their objectives, and how far `ahead` of each the winner is; `p` says how
        likely chance alone makes such a difference. Empty without them."""
        found: Sequence[Mapping[str, Any]] = self.summary.get("baselines", ())
        return found

    def top(self) -> Sequence[Mapping[str, Any]]:
        """The best models of the run, the best first, as `msl top` shows them."""
        return best_models(self.summary)

    def why(self) -> Explained:
        """What mattered in the search and what the best model looks at, as `msl why` shows it; fits the model again."""
        from msl.runner.insight.look_back import why

        with self._store() as store:
            return why(store, self.run, self.plan)

    def suggest(self) -> Suggested:
        """Edits of the spec with their evidence, as `msl suggest` shows them."""
        from msl.runner.insight.look_back import suggest

        with self._store() as store:
            return suggest(store, self.run, None if self.plan is None else self.plan.table.facts)[0]

    def _store(self) -> Store:
        if self.folder is None or not self.folder.is_dir():
            raise UserError("the store of this run is gone", "run it with `store=…`, a folder that stays")
        return Store.open(self.folder, read_only=True)

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
    """A search in which no model could be evaluated; `summary` is the record of the run."""

    def __init__(self, message: str, summary: Mapping[str, Any], causes: str = "") -> None:
        """`causes` is a text with a line for each kind of failure, the most frequent first."""
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
    """Runs a plan with the store in `folder`. An interrupted run with the same digest is continued.

    `finishing` is called during the final fits with the number that are done and of all. When `stopped` returns true,
    the search ends after the current batch; when `terminated` does, within it. `only` has the positions of the queries
    of a run that was cut short, to repeat it. The time limit counts from `started`, on the clock of `monotonic`. Raises
    NoModel if no model could be evaluated.
    """
    plan = request.plan
    limit = TimeLimit(plan.spec.budget.time, monotonic() if started is None else started)
    unusable = block_problems(plan.spec.space, plan.table.task, plan.job.trusted)
    unusable += metric_problems(plan.spec.metrics, plan.job.trusted)
    unusable += ensemble_problems(plan.spec.ensemble, plan.table.task, plan.job.trusted)
    if unusable:
        raise UserError("\n".join(f"{each.message}; {each.help}" for each in unusable))
    with Store.open(folder) as store:
        stored = find_stored_evaluations(store, plan, request.source)
        with open_executor(plan.job, on, workers) as executor:
            run, resumed = start_or_resume(store, request)
            with _interrupted_on_error(store, run):
                if not resumed:
                    save_rows(store.files, run, plan.table)
                    save_facts(store.files, run, plan.table.facts)
                began(RunStart(run, resumed, stored))
                if limit.seconds is not None and on != "inprocess":
                    _import_ahead()
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
                if terminated():  # whoever sends SIGTERM does not wait for long
                    limit = TimeLimit(limit.elapsed + min(limit.left, _AFTER_SIGTERM), limit.started)
                tasks = FinalTasks(executor, limit, final_costs(plan, found), finishing)
                return _finish_run(request, store, run, found, stored, tasks)


def _import_ahead() -> None:
    """Imports, while workers evaluate, what saves models: that takes seconds, which a run has not at its end."""
    Thread(target=import_module, args=("skops.io",), daemon=True).start()


@contextmanager
def _interrupted_on_error(store: Store, run: str) -> Iterator[None]:
    """Marks a run as interrupted after any exception, such as Ctrl-C or a full disk, so that it can be continued."""
    try:
        yield
    except NoModel:
        raise
    except BaseException:
        with suppress(StoreError):
            store.runs.end(run, "interrupted")
        raise


def start_or_resume(store: Store, request: RunRequest) -> tuple[str, bool]:
    """Starts a run, or resumes an interrupted one with the same digest; returns its id, and whether it was resumed."""
    plan, source = request.plan, request.source
    for known in store.runs.with_digest(plan.digests.run):
        if known.status == "interrupted":
            return store.runs.claim(known.id).id, True
    texts = {each.name: each.text for each in request.sources if not each.name.startswith("<")}
    new = NewRun(
        name=plan.spec.name,
        spec=source.name,
        sources={source.name: source.text, **texts},
        digests=plan.digests,
        seed=plan.seed,
        versions=dict(versions_of_packages(frozenset({"msl"}))),
        options=request.options(),
    )
    return store.runs.start(new).id, False


def _finish_run(
    request: RunRequest, store: Store, run: str, found: SearchResult, stored: StoredEvaluations, tasks: FinalTasks
) -> Result:
    """Fits and saves the winner of a search, and stores the summary of the run."""
    plan, test = request.plan, request.test
    with WarningCapture() as capture:
        verdict = choose_winner(plan, found)
        among = competition(plan, store, found)
        finished = finish(plan, found, verdict, tasks, None if test is None else test.X, among)
        if isinstance(finished, Finished):
            save_trained(store.files, run, finished.used)
            if finished.best_alone is not None:
                save_trained(store.files, run, finished.best_alone, BEST_ALONE)
        correction, top, baselines = None, [], []
        ledger = read_ledger(plan, store, run, test)
        if isinstance(finished, Finished):
            ensemble = finished.ensemble
            replay = ensemble.replay if ensemble is not None and ensemble.is_used else None
            correction = correct_estimate(found, verdict, finished.best, among, finished.halves, ledger.looks, replay)
            top = leaderboard(plan, store, found, correction)
            if plan.baselines and found.ending != "interrupted":
                evaluated = evaluate_baselines(plan, store, run, tasks)
                baselines = compare_with_baselines(plan, store, found, finished.best, correction, evaluated)
        summary = summarize(
            plan,
            found,
            verdict,
            finished if isinstance(finished, Finished) else None,
            correction,
            run=run,
            stored=stored,
            path=request.data,
            test=test,
        )
    warnings = (*capture.messages, *(finished.warnings if isinstance(finished, Finished) else ()))
    if ledger.runs:
        summary |= {"ledger": ledger.to_record()}
    if test is not None and "test" in summary:
        summary |= {"test_table": {"fingerprint": test.fingerprint, "look": ledger.look}}
    if baselines:
        summary |= {"baselines": plain(baselines)}
    if top:
        summary |= {"top": plain(top), "top_seconds": seconds_of(found, plan)}
    summary |= {"warnings": kinds_of_warnings(found, warnings), "seconds": round(tasks.limit.elapsed, 3)}
    interrupted = found.ending == "interrupted"
    if not isinstance(finished, Finished):
        store.runs.end(run, "interrupted" if interrupted else "failed", summary)
        if finished is not None:
            raise NoModel(_not_fitted_message(finished), summary, _not_fitted_message(finished))
        groups = failure_groups(evaluation for _, evaluation in found.evaluator.evaluated.values())
        raise NoModel(_no_model_message(groups), summary, failures_to_text(groups, most=_MOST_CAUSES))
    store.runs.end(run, "interrupted" if interrupted else "finished", summary)
    pairs = found.evaluator.evaluated.values()
    rows, models = [_row(plan, evaluation) for _, evaluation in pairs], [model for model, _ in pairs]
    return Result(summary, finished.used, rows, models, plan.objectives[0].minimize, plan, store.folder)


def _row(plan: Plan, evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as a row of a data frame. Bounds are left out, because they are not values of the objective."""
    exact = evaluation.failure is None and not evaluation.bound
    losses = signed_losses(plan, evaluation.losses) if exact else dict.fromkeys(plan.objective_names())
    failure = evaluation.failure
    return {
        "model": evaluation.text,
        **losses,
        "complexity": float(evaluation.complexity) if isfinite(evaluation.complexity) else None,
        "share": float(evaluation.inputs.share),
        "turn": int(evaluation.inputs.repeat),
        "seconds": float(evaluation.seconds),
        "failure": None if failure is None else f"{failure.cause}: {failure.message}",
    }


def _no_model_message(groups: Sequence[FailureGroup]) -> str:
    """The message that no model could be evaluated: the kinds of failures, and advice about the most frequent."""
    if not groups:
        return "no model of the space was evaluated: give the search more evaluations"
    kinds = [f"{group.words}: {group.example}" for group in groups[:_MOST_CAUSES]]
    more = [f"{len(groups) - _MOST_CAUSES} other kinds"] if len(groups) > _MOST_CAUSES else []
    failed = sum(group.count for group in groups)
    return f"none of {failed} models could be evaluated ({'; '.join([*kinds, *more])}); {groups[0].advice}"


def _not_fitted_message(failure: Failure) -> str:
    return f"the best models cannot be fitted on all rows; the first one fails with: {failure.message}"
