"""Forecast a run: the stored evaluations that it will reuse, what is left to evaluate, and the time of its final fits.

The durations of the final fits are predicted from those of evaluations, so that a search leaves time for them.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import mean, median
from time import monotonic, perf_counter

import numpy as np

from msl.check.names.library import ReadFile
from msl.check.read_models import ModelReader
from msl.diagnostics.source import Source
from msl.evaluate.ensemble_selection import seconds_of_draws
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.final_fits import FitRequest, OutputsRequest
from msl.evaluate.resampling import ResamplingPlan, can_halve
from msl.runner.confidence_intervals import interval_work
from msl.runner.insight.baselines import baseline_digests, baseline_reserve
from msl.runner.path_tasks import may_share_fits
from msl.runner.plan import Plan
from msl.runner.search_space import EvaluationCosts
from msl.runner.table_versions import EarlierTable, find_earlier_table
from msl.runner.versions import CHAIN, changed_since
from msl.search.operators.initialise import uniform_points
from msl.space.best import largest_model, tried_models
from msl.space.membership import Membership, NotInSpace
from msl.space.nodes import blocks_in
from msl.space.spec import OUTPUTS
from msl.space.values import BlockValue, Model
from msl.store.evaluation import Evaluation
from msl.store.store import Store
from msl.store.stored_run import Run
from msl.workers.task import AnyTask

#: The most models of other versions of a spec that are read, the latest first. Each takes some milliseconds.
_MOST_READ = 1_000
#: What messages call the code that all models are built with.
_PACKAGE = "msl"


@dataclass(frozen=True, slots=True)
class StoredEvaluations:
    """The number of stored evaluations with the table and the protocol of a plan, by whether they will be reused.

    `kept` are in the space and will be reused, `outside` are not in the space, `other` have another seed or were made
    with other versions of what is in `changed`: blocks whose source was edited, and packages. `unread` were not
    examined, because there are too many. `seconds` is the median duration of an evaluation, None without any.
    `has_unrevised` says that some were made by a version of MSL that stored no revisions of blocks. `not_continued` is
    an interrupted run of the same spec, table and seed that cannot be continued because of what has changed.
    """

    kept: int = 0
    outside: int = 0
    other: int = 0
    changed: tuple[str, ...] = ()
    unread: int = 0
    seconds: float | None = None
    has_unrevised: bool = False
    not_continued: str | None = None
    #: What the store knows of an earlier version of the table.
    earlier: EarlierTable | None = None

    @property
    def why_other(self) -> str:
        """Why the evaluations counted in `other` are not reused, in words that follow their number."""
        if not self.changed:
            return "with another seed"
        reasons = ["an earlier version of MSL made them, which did not record revisions of blocks"] * self.has_unrevised
        names = [f"`{name}`" for name in self.changed if not (self.has_unrevised and name == _PACKAGE)]
        if names:
            reasons.append(f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} changed since")
        words = f"not reused, because {' and '.join(reasons)}"
        if self.not_continued is not None:
            words += f"; the interrupted run {self.not_continued} is not continued for the same reason, and is kept"
        return words


def find_stored_evaluations(
    store: Store, plan: Plan, source: Source, read_file: ReadFile | None = None
) -> StoredEvaluations:
    """The evaluations that are stored for a plan. Models of other specs are read with the names of this one."""
    digests = plan.digests
    runs = store.runs.all()
    rows = list(store.evaluations.about(digests.data, digests.evaluation))
    own = [row for row in rows if row.inputs.seed == plan.seed]
    sorter = _EvaluationSorter(plan, source, read_file, {run.id: run.digests.space for run in runs})
    sorted_into = [sorter.sort(row) for row in reversed(own)]
    timings = [row.seconds for row in rows if row.failure is None and not row.bound]
    return StoredEvaluations(
        kept=sorted_into.count("kept"),
        outside=sorted_into.count("outside"),
        other=sorted_into.count("other") + len(rows) - len(own),
        changed=tuple(sorter.changed),
        unread=sorted_into.count("unread"),
        seconds=median(timings) if timings else None,
        has_unrevised=sorter.has_unrevised,
        not_continued=_not_continued(store, plan, source, runs) if sorter.changed else None,
        earlier=find_earlier_table(store, plan, runs),
    )


def _not_continued(store: Store, plan: Plan, source: Source, runs: Iterable[Run]) -> str | None:
    """The latest interrupted run of the same spec, table and seed with another digest; None if this one has runs."""
    if store.runs.with_digest(plan.digests.run):
        return None
    wanted = ("interrupted", plan.seed, plan.digests.data, plan.digests.evaluation, plan.digests.search)
    for run in runs:
        found = (run.status, run.seed, run.digests.data, run.digests.evaluation, run.digests.search)
        if found == wanted and store.runs.sources(run.id).get(run.spec) == source.text:
            return run.id
    return None


class _EvaluationSorter:
    """Decides for each evaluation whether it will be reused; it is called with the latest first."""

    def __init__(self, plan: Plan, source: Source, read_file: ReadFile | None, spaces: Mapping[str, str]) -> None:
        self._plan, self._source, self._read_file, self._spaces = plan, source, read_file, spaces
        self._membership = Membership(plan.spec.space)
        self._reader: ModelReader | None = None
        self._categories: dict[str, str] = {}
        self._names = {block.target: block.name for block in blocks_in(plan.spec.space.root)}
        #: The names of blocks and packages that have changed since evaluations were made.
        self.changed: dict[str, None] = {}
        self.has_unrevised = False

    def sort(self, row: Evaluation) -> str:
        """The field of `StoredEvaluations` that counts an evaluation; each model is read once."""
        self.has_unrevised |= CHAIN not in row.inputs.versions
        changed = changed_since(row.inputs.versions)
        if changed:
            self.changed.update(dict.fromkeys(map(self._name, changed)))
            return "other"
        model = row.inputs.model
        if model not in self._categories:
            self._categories[model] = self._category(row)
        return self._categories[model]

    def _name(self, changed: str) -> str:
        return _PACKAGE if changed == CHAIN else self._names.get(changed, changed)

    def _category(self, row: Evaluation) -> str:
        # An earlier run may have compared its winner with it, without a search that proposed it.
        is_baseline = row.inputs.model in baseline_digests(self._plan.table.task)
        if not is_baseline and row.run is not None and self._spaces.get(row.run) == self._plan.digests.space:
            return "kept"  # a run of the same space made it
        if len(self._categories) >= _MOST_READ:
            return "unread"
        if self._reader is None:
            self._reader = ModelReader(self._source, self._read_file)
        model, _ = self._reader.read(row.text)
        try:
            if model is not None:
                self._membership.derive(model)
                return "kept"
        except NotInSpace:
            pass
        return "baseline" if is_baseline else "outside"


# --- A forecast of the evaluations and the duration of a run. ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Forecast:
    """How much a run will evaluate; None for what is unknown.

    `evaluations` is the maximum, `left` is what remains of it after an earlier run with the same digest, `run`, and
    `seconds` is how long that may take.
    """

    evaluations: int | None
    left: int | None
    seconds: float | None
    run: Run | None
    #: The seconds of one evaluation, measured by earlier ones on this table or by a probe; None where neither is known.
    each: float | None = None
    is_probed: bool = False
    #: How many evaluations the time of the budget is enough for; None without a limit of time.
    in_time: int | None = None

    @property
    def is_continuation(self) -> bool:
        """Whether the run would continue an interrupted one."""
        return self.run is not None and self.run.status == "interrupted"


def forecast(plan: Plan, store: Store | None, stored: StoredEvaluations, workers: int) -> Forecast:
    """The forecast for a plan, from what the store has for its table."""
    most = expected_evaluations(plan)
    same = [] if store is None else store.runs.with_digest(plan.digests.run)
    run = next((each for each in same if each.status == "interrupted"), same[0] if same else None)
    done = 0 if run is None or store is None else len(store.runs.queries(run.id))
    is_over = run is not None and run.status in ("finished", "failed")
    left = 0 if is_over else None if most is None else max(0, most - done)
    time, each = plan.spec.budget.time, stored.seconds
    is_probed = each is None and not is_over and left != 0
    if is_probed:
        each = probed_seconds(plan)
    elif each is not None:
        each *= _tried_together(plan)
    seconds = None
    if left == 0:
        seconds = 0.0
    elif left is not None and each is not None:
        seconds = left * each / workers
    if time is not None and left != 0:
        seconds = time if seconds is None else min(seconds, time)
    in_time = None if time is None or not each else int(time * workers / each)
    return Forecast(most, left, seconds, run, each, is_probed, in_time)


def _tried_together(plan: Plan) -> float:
    """How many evaluations answer one query: several where `best` parameters are tried."""
    search_space = plan.search_spaces[-1]
    if not search_space.domains:
        return 1.0
    models = [search_space.decode(point) for point in search_space.references]
    task = plan.job.dataset.task if may_share_fits(plan.objectives, plan.spec.metrics) else None
    counts = [len(tried_models(each, search_space.domains, task)) for each in models if isinstance(each, Model)]
    return mean(counts) if counts else 1.0


# --- A probe: models on few rows, from which declared growth leads to the whole table. --------------------------------

#: About how many rows a probe fits, the share of them before, for imports; how many learners it has; how many models
#: are drawn for what a search may propose; the seconds after which no other learner is probed.
_PROBED_ROWS, _WARMING, _MOST_PROBED, _DRAWN, _LONGEST_PROBE = 1_500, 0.2, 8, 60, 10.0
_PROBE_STREAM = 11


def probed_seconds(plan: Plan) -> float | None:
    """The seconds of one evaluation of the last stage: what is declared, times what a probe takes for its declaration.

    None where nothing can be probed. It stores nothing, and no search depends on it.
    """
    search_space, given = plan.search_spaces[-1], plan.stages[0].points
    costs = search_space.costs
    if costs is None or plan.job.trusted:  # code of others has no place in this process
        return None
    drawn = uniform_points(search_space, _DRAWN, np.random.default_rng([plan.seed, _PROBE_STREAM]))
    points = [*(given if plan.search_spaces[0] is search_space else ()), *search_space.references, *drawn]
    proposed: list[tuple[Model, float]] = []
    for point in points:
        model, cost = search_space.decode(point), search_space.cost(point)
        if isinstance(model, Model) and cost <= search_space.most_cost:
            proposed.append((largest_model(model, search_space.domains), cost))
    cheapest: dict[str, Model] = {}
    for model, _ in sorted(proposed, key=lambda each: each[1]):
        cheapest.setdefault(_last_block(model), model)
    evaluator = plan.job.evaluator()
    ratios: dict[str, float | None] = {}
    start = perf_counter()
    for name, model in list(cheapest.items())[:_MOST_PROBED]:
        if not ratios or perf_counter() - start < _LONGEST_PROBE:
            ratios[name] = _ratio(evaluator, model, costs)
    known = [ratio for ratio in ratios.values() if ratio is not None]
    if not known:
        return None
    return mean(cost * (ratios.get(_last_block(model)) or median(known)) for model, cost in proposed)


def _ratio(evaluator: Evaluator, model: Model, costs: EvaluationCosts) -> float | None:
    """What an evaluation on few rows takes, in multiples of what is declared for it; None for one that fails."""
    share = min(1.0, _PROBED_ROWS / costs.size.rows)
    evaluator.evaluate(model, share=share * _WARMING)
    start = perf_counter()
    outcome = evaluator.evaluate(model, share=share)
    return None if outcome.failure is not None else (perf_counter() - start) / costs.seconds(model, share)


def _last_block(model: Model) -> str:
    last = model.steps[-1] if model.steps else None
    return last.block.name if isinstance(last, BlockValue) else ""


def expected_evaluations(plan: Plan) -> int | None:
    """The maximum number of evaluations of a plan; None if neither its stages nor its budget limit it."""
    counts = stage_evaluations(plan)
    total = None if None in counts else sum(count for count in counts if count is not None)
    limit = plan.limits.evaluations
    if total is None or limit is None:
        return limit if total is None else total
    return min(total, limit)


def stage_evaluations(plan: Plan) -> list[int | None]:
    """The maximum number of evaluations of each stage; None for a stage without a limit."""
    return [
        planned.call.capabilities.most_evaluations(stage.options, stage.search_space.size)
        for stage, planned in zip(plan.stages, plan.spec.search, strict=True)
    ]


# --- The time of the final fits, from the durations of evaluations ----------------------------------------------------

#: The time of a fit on all rows, as a multiple of the time of the evaluation: after several folds, and after one split.
_FIT_OF_FOLDS, _FIT_OF_SPLIT = 0.5, 1.5
#: Predicted times are multiplied by this: evaluations share fits through the cache, which the final fits do not.
_SAFETY_FACTOR = 1.3
#: How much of the budget is reserved for an ensemble at most, and for the corrected estimate, saving and the summary;
#: where metrics of drawn rows take long, the corrected estimate may take a twentieth alone.
_ENSEMBLE_SHARE, _CLOSING_SHARE, _SLOW_CLOSING_SHARE, _CLOSING_SECONDS = 0.25, 0.02, 0.06, 1.0
#: The seconds for each row of each draw of an interval, of which an ensemble has a second one.
_SECONDS_A_DRAWN_ROW = 1.5e-7
#: The number of models that may become members if the spec does not say how many.
_POOL = 25


class FinalCosts:
    """Predicts the seconds of the final fits of models from those of their evaluations."""

    def __init__(self, seconds: Mapping[Model, float], fit_factor: float) -> None:
        self._seconds, self._fit_factor = seconds, fit_factor

    def of(self, task: AnyTask) -> float:
        evaluation = _SAFETY_FACTOR * self._seconds.get(task.model, 0.0)
        match task:
            case FitRequest():
                return evaluation * self._fit_factor
            case OutputsRequest(repeats=repeats):
                return evaluation * repeats
        return evaluation

    def of_fit(self, model: Model) -> float:
        """The seconds to fit a model on all rows."""
        return _SAFETY_FACTOR * self._seconds.get(model, 0.0) * self._fit_factor

    def of_member(self, model: Model) -> float:
        """The seconds to compute the held-out outputs of a model and to fit it on all rows."""
        return _SAFETY_FACTOR * self._seconds.get(model, 0.0) * (1.0 + self._fit_factor)


class TimeReserve:
    """The time that a search reserves for the final fits: those of the best model so far, and of an ensemble."""

    def __init__(self, plan: Plan, workers: int) -> None:
        self._budget, self._workers = plan.spec.budget.time, workers
        self._for_baselines = baseline_reserve(plan, workers) if plan.baselines else 0.0
        self._members = _most_members(plan)
        call = plan.spec.ensemble
        #: Whether members are chosen by outputs that the store keeps, so that they are fitted once.
        self._chooses_stored = call is not None and call.capabilities.members == OUTPUTS
        #: What it takes to repeat that choice in draws of the rows.
        self._choice_seconds = _choice_seconds(plan) if self._chooses_stored and self._budget is not None else 0.0
        self._factor = fit_factor(plan) if self._budget is not None else 1.0
        self._closing = 0.0 if self._budget is None else closing_seconds(plan, self._budget)
        #: The fits on halves of the rows, for the corrected estimate.
        self._halves = 1.0 if has_halves(plan) else 0.0
        #: The losses of the best models so far (of the first objective), sorted, with the seconds of their evaluations.
        self._best: list[tuple[float, float]] = []
        self._known: set[str] = set()
        self.seconds = 0.0

    def add(self, evaluation: Evaluation, seconds: float | None = None) -> None:
        """Updates the reserve after an evaluation; `seconds` is its time if that of its own was less, for it shared
        the fits of others."""
        if self._budget is None or evaluation.failure is not None or evaluation.inputs.share != 1.0:
            return
        if evaluation.bound or evaluation.key in self._known:
            return
        self._known.add(evaluation.key)
        if len(self._best) < self._members or not self._best or evaluation.losses[0] < self._best[-1][0]:
            insort(self._best, (evaluation.losses[0], evaluation.seconds if seconds is None else seconds))
            del self._best[max(1, self._members) :]
            self.seconds = self._needed(self._budget)

    def _needed(self, budget: float) -> float:
        best, *others = [seconds for _, seconds in self._best]
        both = 1.0 + self._factor  # held-out outputs, which take as long as the evaluation, and the fit on all rows
        of_member = self._factor if self._chooses_stored else both
        of_best = best * ((max(1.0, self._factor) if self._workers > 1 else both) + self._halves)
        of_others = min(sum(others) * of_member / self._workers * _SAFETY_FACTOR, _ENSEMBLE_SHARE * budget)
        return _SAFETY_FACTOR * of_best + of_others + self._for_baselines + self._closing + self._choice_seconds


def closing_seconds(plan: Plan, budget: float) -> float:
    """What follows the last fit: intervals, the corrected estimate, saving, the summary."""
    work = interval_work(plan)
    of_intervals = _SECONDS_A_DRAWN_ROW * work * (1 if plan.spec.ensemble is None else 2)
    return max(_CLOSING_SECONDS, (_SLOW_CLOSING_SHARE if work else _CLOSING_SHARE) * budget) + of_intervals


def fit_factor(plan: Plan) -> float:
    """The time of a fit on all rows, as a multiple of the time of an evaluation."""
    resamplings = ResamplingPlan(plan.job.dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    splits = resamplings.resampling(plan.objectives[0].estimate, 0, 1.0, 0).splits
    return _FIT_OF_SPLIT if len(splits) == 1 else _FIT_OF_FOLDS


def _choice_seconds(plan: Plan) -> float:
    assert plan.spec.ensemble is not None
    resamplings = ResamplingPlan(plan.job.dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    pools = resamplings.resampling(plan.objectives[0].estimate, 0, 1.0, 0).pools
    steps = dict(plan.spec.ensemble.options)["steps"]
    assert isinstance(steps, int)
    return seconds_of_draws(sum(len(pool.rows) for pool in pools), steps, plan.spec.budget.time)


def has_halves(plan: Plan) -> bool:
    """Whether the winner is fitted on halves of the rows too, so that its estimate can be corrected."""
    estimate = plan.objectives[0].estimate
    return plan.job.keeps != "nothing" and can_halve(estimate, plan.job.dataset.population)


def _most_members(plan: Plan) -> int:
    call = plan.spec.ensemble
    if call is None:
        return 0
    options = dict(call.options)
    most = options.get("top", options.get("max") if call.capabilities.members == OUTPUTS else None)
    return most if isinstance(most, int) else _POOL


# --- The time limit of a run, from its start to its last line of output. ----------------------------------------------


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """`seconds` is the budget, None for no limit; `started` is the start of the run on the clock of `monotonic`."""

    seconds: float | None = None
    started: float = field(default_factory=monotonic)

    @property
    def elapsed(self) -> float:
        return monotonic() - self.started

    @property
    def left(self) -> float:
        """The seconds until the time is up; 0 when it is."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed)
