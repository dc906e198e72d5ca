"""Forecast a run: the stored evaluations that it will reuse, what is left to evaluate, and how long that takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean, median
from time import perf_counter

import numpy as np

from msl.check.names.library import ReadFile
from msl.check.read_models import ModelReader
from msl.diagnostics.source import Source
from msl.evaluate.evaluator import Evaluator
from msl.runner.insight.baselines import baseline_digests
from msl.runner.path_tasks import may_share_fits
from msl.runner.plan import Plan
from msl.runner.search_space import EvaluationCosts
from msl.runner.table_versions import EarlierTable, find_earlier_table
from msl.runner.versions import CHAIN, changed_since
from msl.search.operators.initialise import uniform_points
from msl.space.best import largest_model, tried_models
from msl.space.membership import Membership, NotInSpace
from msl.space.nodes import blocks_in
from msl.space.values import BlockValue, Model
from msl.store.evaluation import Evaluation
from msl.store.store import Store
from msl.store.stored_run import Run

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
