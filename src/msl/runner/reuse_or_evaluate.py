"""Answer the queries of a strategy: decode them, look them up in the store, evaluate what is new, and store it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from time import monotonic
from typing import Any

import numpy as np

from msl.evaluate.outcome import Outcome
from msl.evaluate.racing import Margin
from msl.runner.path_tasks import TaskGroup, may_share_fits, task_groups
from msl.runner.plan import Plan
from msl.runner.time_limit import TimeReserve
from msl.runner.versions import versions_of
from msl.search.base import FIRST_CONFIRMING_REPEAT, Observation, Query
from msl.space.best import Domains, Result, best_place, tried_models
from msl.space.canonical.digest import model_digest
from msl.space.fit_costs import path_of, scaled_down
from msl.space.membership import Membership, NotInSpace
from msl.space.to_text import model_to_text
from msl.space.values import Model
from msl.store.evaluation import Evaluation, EvaluationInputs, StoredFailure, StoredQuery
from msl.store.outputs_table import NewOutputs
from msl.store.store import Store
from msl.store.store_error import StoreError
from msl.store.stored_run import Event
from msl.workers.executor import Executor
from msl.workers.task import Task

#: Seconds between commits within a batch. At most this much work is lost when the process is killed, and a batch of
#: quick evaluations still needs a single commit.
_COMMIT_EVERY = 0.25
#: Causes of failures that depend on the limits of an evaluation or on the machine, not only on the model.
_LIMITS = ("timeout", "memory", "crash", "exit")


@dataclass(slots=True)
class RunCounts:
    """What a run has done so far.

    `evaluations` counts all queries; `new` of them were evaluated by this run, `reused` were known, `outside` are not
    in the space.
    """

    evaluations: int = 0
    new: int = 0
    reused: int = 0
    #: Queries that this run had made before, with the same rows and splits.
    repeats: int = 0
    outside: int = 0
    failures: int = 0
    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class DecodedQuery:
    """A query, its vector after rounding, and its model and inputs, which are None if the point is not in the space.

    With `best` parameters a point stands for several models, which are `tried`; the best of them is its answer.
    `worded` is the model that the search space has there.
    """

    query: Query
    rounded: tuple[float, ...]
    model: Model | None = None
    inputs: EvaluationInputs | None = None
    tried: tuple[DecodedQuery, ...] = ()
    worded: Model | None = None
    #: The path parameter of a model that is tried beside others of its path, with which it may share its fits.
    path: str | None = None

    @property
    def evaluations(self) -> tuple[DecodedQuery, ...]:
        """What has to be evaluated to answer the query."""
        return self.tried or (self,)


class QueryEvaluator:
    """Answers batches of queries. Evaluations are stored as they arrive, before the strategy sees them."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        run: str,
        executor: Executor,
        on_outcome: Callable[[int, int], None] = lambda done, wanted: None,
    ) -> None:
        """`on_outcome` is called with the number of evaluations of a batch that are done, and the number of all."""
        self.plan, self.store, self.run, self.executor, self._on_outcome = plan, store, run, executor, on_outcome
        self.counts = RunCounts()
        #: The models of this run with their evaluations, by the keys of the evaluations.
        self.evaluated: dict[str, tuple[Model, Evaluation]] = {}
        #: Those among them on all rows whose losses are exact, with those of values that were tried and are not best.
        self.compared: dict[str, tuple[Model, Evaluation]] = {}
        #: The number of new evaluations that have arrived so far.
        self.arrived = 0
        #: The time that the final fits will need, estimated from the evaluations so far.
        self.reserve = TimeReserve(plan, executor.width)
        self._texts: dict[str, str] = {}
        self._counted: set[str] = set()
        self._costs_added: set[str] = set()
        self._unstored: list[Evaluation] = []
        self._unstored_outputs: dict[str, bytes] = {}
        self._stored_at = 0.0
        #: Keys of evaluations that this run has shown to its strategy, or made since it was opened: their failures are
        #: final.
        self._final = {query.key for query in store.runs.queries(run)}
        self._seen: set[str] = set()
        #: The answers to points that stand for several models, by the models of the search space, with their results.
        self._answers: dict[Model, tuple[Result, Model]] = {}
        self._membership = Membership(plan.spec.space)
        #: The task, where models of one path may share their fits.
        self._path_task = plan.job.dataset.task if may_share_fits(plan.objectives, plan.spec.metrics) else None
        #: Up to which loss a model is evaluated whole: the corrected estimate needs those that came near.
        self._margin = _margin(plan)
        #: The seconds that evaluations on a path would have taken alone, at most, by their keys.
        self._seconds_alone: dict[str, float] = {}

    def answer(
        self,
        queries: Sequence[Query],
        replayed: Sequence[StoredQuery | None],
        is_cut: Callable[[], bool] = lambda: False,
    ) -> list[Observation | None]:
        """The observations of a batch; those that an interrupted run has stored (`replayed`) are repeated.

        Each outcome is stored when it arrives. When `is_cut` returns true, the rest of the batch is not evaluated, and
        its observations are None.
        """
        points = self._decode([each if self.plan.races(each.stage) else replace(each, cutoff=None) for each in queries])
        wanted = [each for point in points for each in point.evaluations]
        known = self.store.evaluations.read([p.inputs.key for p in wanted if p.inputs is not None])
        self._evaluate(wanted, known, is_cut)
        observations: list[Observation | None] = []
        self._last_points = []
        for point, before in zip(points, replayed, strict=True):
            if not all(self._is_answered(known, each) for each in point.evaluations):
                observations.append(None)
                continue
            if point.tried:
                point = self._best_tried(point, known)
            observation = self._observe(point, known)
            if before is not None:
                observation = Observation(observation.vector, before.losses, before.complexity, before.bound)
            observations.append(observation)
            self._last_points.append(point)
        self._update_counts(self._last_points, known)
        for each in (each for point in self._last_points for each in point.evaluations):
            self._compare(each, known)
        return observations

    def record(
        self, observations: Sequence[Observation], batch: int, positions: Sequence[int], events: list[Event]
    ) -> None:
        """Stores the batch that was answered last: its observations, the positions of their queries, and events."""
        rows = [
            StoredQuery(
                position=position,
                stage=point.query.stage,
                batch=batch,
                key=point.inputs.key if point.inputs is not None else None,
                losses=tuple(float(loss) for loss in one.losses),
                complexity=float(one.complexity),
                bound=one.bound,
                cutoff=None if point.query.cutoff is None else float(point.query.cutoff),
                vector=tuple(float(value) for value in point.query.vector),
            )
            for position, one, point in zip(positions, observations, self._last_points, strict=True)
        ]
        self.store.record(self.run, self._unstored, rows, events, self._new_outputs())
        self._unstored, self._unstored_outputs = [], {}

    # --- one batch ---

    def _decode(self, queries: Sequence[Query]) -> list[DecodedQuery]:
        """Decodes the queries of each stage together, because many vectors take little more time than one."""
        points: list[DecodedQuery] = []
        for stage, of_stage in groupby(queries, key=lambda query: query.stage):
            group = list(of_stage)
            batch = self.plan.search_spaces[stage].codec.decode(np.array([query.vector for query in group]))
            for query, rounded, model in zip(group, batch.snapped.tolist(), batch, strict=True):
                points.append(self._decoded(query, tuple(rounded), model))
        return points

    def _decoded(self, query: Query, rounded: tuple[float, ...], model: Model | NotInSpace) -> DecodedQuery:
        if isinstance(model, NotInSpace):
            return DecodedQuery(query, rounded)
        domains = self.plan.search_spaces[query.stage].domains
        if not domains:
            return self._asked(query, rounded, model)
        tried = [
            replace(self._asked(query, rounded, each), path=self._path_of(each))
            for each in self._models_to_try(model, domains, query)
        ]
        if query.share < 1.0:
            return DecodedQuery(query, rounded, tried=tuple(tried))  # what is best with less need not be best
        if len(tried) < 2:
            return replace(tried[0], worded=model) if tried else DecodedQuery(query, rounded)
        return DecodedQuery(query, rounded, tried=tuple(tried), worded=model)

    def _asked(self, query: Query, rounded: tuple[float, ...], model: Model) -> DecodedQuery:
        """A query for one model. With less of its resource it is another model, evaluated on all rows."""
        if query.share < 1.0 and query.less == "fidelity" and (smaller := scaled_down(model, query.share)) is not None:
            query, model = replace(query, share=1.0), smaller
        return DecodedQuery(query, rounded, model, self._inputs(model, query))

    def _models_to_try(self, model: Model, domains: Domains, query: Query) -> list[Model]:
        """The models that one of the search space stands for, if its requirements allow them.

        A stage that evaluates models again does so with the value that was best before.
        """
        if model in self._answers and query.repeat >= FIRST_CONFIRMING_REPEAT:
            return [self._answers[model][1]]
        return [each for each in tried_models(model, domains, self._path_task) if self._is_in_space(each)]

    def _path_of(self, model: Model) -> str | None:
        return None if self._path_task is None else path_of(model, self._path_task)

    def _is_in_space(self, model: Model) -> bool:
        if not self.plan.spec.space.requirements:
            return True
        try:
            self._membership.derive(model)
        except NotInSpace:
            return False
        return True

    def _best_tried(self, point: DecodedQuery, known: dict[str, Evaluation]) -> DecodedQuery:
        """The one of the tried models that answers a point."""
        results: list[Result | None] = []
        evaluations = [known[each.inputs.key] for each in point.tried if each.inputs is not None]
        together = sum(evaluation.seconds for evaluation in evaluations)
        for each, evaluation in zip(point.tried, evaluations, strict=True):
            if each.path is not None:  # an earlier run has evaluated it
                self._seconds_alone.setdefault(evaluation.key, together)
            is_bound = evaluation.bound or _is_lost(evaluation, each.query.cutoff)
            loss = math.inf if is_bound else evaluation.losses[0]  # the value of a bound depends on earlier cutoffs
            results.append(
                None if evaluation.failure is not None else (loss, 0.0 if is_bound else evaluation.complexity)
            )
        place = best_place(results)
        return replace(point.tried[place], tried=point.tried, worded=point.worded)

    def model_of(self, found: object) -> Model | None:
        """The model that was evaluated for one of a search space: with the best of the values that were tried."""
        if not isinstance(found, Model):
            return None
        return self._answers[found][1] if found in self._answers else found

    def _inputs(self, model: Model, query: Query) -> EvaluationInputs:
        plan = self.plan
        return EvaluationInputs(
            model=model_digest(model),
            versions=versions_of(model),
            data=plan.digests.data,
            protocol=plan.digests.evaluation,
            seed=plan.seed,
            share=query.share,
            repeat=query.repeat,
        )

    def _evaluate(
        self, points: Sequence[DecodedQuery], known: dict[str, Evaluation], is_cut: Callable[[], bool]
    ) -> None:
        """Evaluates what the store cannot answer, and adds it to `known`. Equal queries are evaluated once."""
        wanted: dict[str, DecodedQuery] = {}
        for point in points:
            if point.inputs is None:
                continue
            key = point.inputs.key
            if key in known and self._can_reuse(known[key], point.query):
                continue
            before = wanted.get(key)
            if before is None or _answers_both(point.query, before.query):
                wanted[key] = point
        missing = list(wanted.values())
        tasks = [
            Task(p.model, self._stops_at(p.query), p.query.share, p.query.repeat)
            for p in missing
            if p.model is not None
        ]
        groups = task_groups(tasks, [point.path for point in missing])
        self._stored_at = monotonic()
        try:
            while groups:
                with closing(self.executor.arrivals([group.task for group in groups])) as arrivals:
                    groups = self._receive(arrivals, groups, missing, known, is_cut)
        except BaseException:
            with suppress(StoreError):  # the first error is the one to report
                self._store_outcomes()
            raise

    def _receive(
        self,
        arrivals: Iterable[list[tuple[int, Outcome]]],
        groups: Sequence[TaskGroup],
        missing: Sequence[DecodedQuery],
        known: dict[str, Evaluation],
        is_cut: Callable[[], bool],
    ) -> list[TaskGroup]:
        """Receives outcomes until all have arrived, or until `is_cut` returns true; the tasks that are left."""
        left: list[TaskGroup] = []
        wanted = {place for group in groups for place in group.places}
        done = len(missing) - len(wanted)
        for arrived in arrivals:
            count = 0
            for task, outcome in arrived:
                for place, one in groups[task].outcomes(outcome, len(self.plan.objectives)):
                    self._keep(missing[place], one, outcome.effort.seconds, known)
                    count += 1
                left.extend(groups[task].after(outcome))
            if monotonic() - self._stored_at >= _COMMIT_EVERY:
                self._store_outcomes()
            done += count
            self.arrived += count
            if count:
                self._on_outcome(done, len(missing))
            if done < len(missing) and is_cut():
                return []
        return left

    def _keep(self, point: DecodedQuery, outcome: Outcome, seconds: float, known: dict[str, Evaluation]) -> None:
        """Keeps an outcome to be stored. The task that gave it took so many seconds."""
        evaluation = self._evaluation(point, outcome)
        known[evaluation.key] = evaluation
        self._seconds_alone[evaluation.key] = seconds
        self.reserve.add(evaluation, seconds)
        self._unstored.append(evaluation)
        if outcome.outputs is not None:
            self._unstored_outputs[evaluation.key] = outcome.outputs

    def _store_outcomes(self) -> None:
        if self._unstored:
            self.store.record(self.run, self._unstored, outputs=self._new_outputs())
        self._unstored, self._unstored_outputs, self._stored_at = [], {}, monotonic()

    def _new_outputs(self) -> NewOutputs:
        digests, most = self.plan.digests, self.plan.spec.budget.outputs
        return NewOutputs(digests.data, digests.evaluation, most, self._unstored_outputs)

    def _is_answered(self, known: dict[str, Evaluation], point: DecodedQuery) -> bool:
        return point.inputs is None or (
            point.inputs.key in known and self._can_reuse(known[point.inputs.key], point.query)
        )

    def _can_reuse(self, known: Evaluation, query: Query) -> bool:
        """Whether a stored evaluation answers a query.

        A failure at a limit is evaluated again by other runs, whose limits may differ. A crash may have been the fault
        of the machine, so that even the run that stored it evaluates it again, unless its strategy has seen it.
        """
        if known.failure is None or known.failure.cause not in _LIMITS or known.key in self._final:
            return known.answers(self._stops_at(query))
        return known.run == self.run and known.failure.cause != "crash"

    def _stops_at(self, query: Query) -> float | None:
        """The loss from which on an evaluation may be cut short. What the strategy sees does not depend on it."""
        if query.cutoff is None or self._margin is None or query.share < 1.0:
            return query.cutoff
        return self._margin.beyond(query.cutoff)

    def _evaluation(self, point: DecodedQuery, outcome: Outcome) -> Evaluation:
        assert point.model is not None
        assert point.inputs is not None
        failure = outcome.failure
        self._final.add(point.inputs.key)
        return Evaluation(
            inputs=point.inputs,
            text=self._text(point.inputs.model, point.model),
            losses=outcome.losses,
            metrics=outcome.metrics,
            complexity=outcome.complexity,
            bound=outcome.bound,
            cutoff=self._stops_at(point.query),
            failure=None
            if failure is None
            else StoredFailure(failure.cause, failure.message, failure.step, failure.peak_memory),
            seconds=outcome.effort.seconds,
            fits=outcome.effort.fits,
            fits_saved=outcome.effort.fits_saved,
            folds_skipped=outcome.effort.folds_skipped,
            warnings=outcome.warnings,
            run=self.run,
        )

    def _text(self, digest: str, model: Model) -> str:
        if digest not in self._texts:
            self._texts[digest] = model_to_text(model)
        return self._texts[digest]

    def _observe(self, point: DecodedQuery, known: dict[str, Evaluation]) -> Observation:
        """The observation of a point whose evaluation is known."""
        vector = np.array(point.rounded)
        if point.inputs is None or point.model is None:
            return Observation(vector, (math.inf,) * len(self.plan.objectives))
        evaluation = known[point.inputs.key]
        self.evaluated[point.inputs.key] = (point.model, evaluation)
        self.reserve.add(evaluation, self.seconds_alone(evaluation))
        # The store may have the exact loss where a race would only have given a bound. The strategy has to see the same
        # in both cases.
        bound = evaluation.bound or _is_lost(evaluation, point.query.cutoff)
        if point.worded is not None and point.query.share == 1.0:
            self._remember(
                point.worded, point.model, math.inf if bound else evaluation.losses[0], evaluation.complexity
            )
        return Observation(vector, evaluation.losses, evaluation.complexity, bound)

    def _compare(self, point: DecodedQuery, known: dict[str, Evaluation]) -> None:
        if point.inputs is None or point.model is None or point.inputs.share < 1.0:
            return
        evaluation = known[point.inputs.key]
        if evaluation.failure is None and not (evaluation.bound or _is_lost(evaluation, self._stops_at(point.query))):
            self.compared[evaluation.key] = (point.model, evaluation)

    def seconds_alone(self, evaluation: Evaluation) -> float:
        """The time of an evaluation without others that share its fits, or more."""
        return max(evaluation.seconds, self._seconds_alone.get(evaluation.key, 0.0))

    def _remember(self, worded: Model, model: Model, loss: float, complexity: float) -> None:
        """Keeps the answer with the lowest loss, where a point is evaluated on several splits."""
        result = (loss, complexity)
        if worded not in self._answers or result < self._answers[worded][0]:
            self._answers[worded] = (result, model)

    def _update_counts(self, points: Sequence[DecodedQuery], known: dict[str, Evaluation]) -> None:
        """Adds a batch to the counts. What this run had evaluated before it was interrupted counts as its own."""
        counts = self.counts
        keys = dict.fromkeys(point.inputs.key for point in points if point.inputs is not None)
        self._add_effort(points, known)
        own = [known[key] for key in keys if known[key].run == self.run and key not in self._counted]
        self._counted.update(evaluation.key for evaluation in own)
        in_space = sum(point.inputs is not None for point in points)
        counts.repeats += in_space - len(keys.keys() - self._seen)
        self._seen.update(keys)
        counts.evaluations += len(points)
        counts.new += len(own)
        counts.outside += sum(point.inputs is None for point in points)
        counts.reused += in_space - len(own)
        counts.failures += sum(evaluation.failure is not None for evaluation in own)

    def _add_effort(self, points: Sequence[DecodedQuery], known: dict[str, Evaluation]) -> None:
        """Adds what the evaluations of this run have cost, also those of values that were tried and are not best."""
        counts = self.counts
        wanted = (each for point in points for each in point.evaluations)
        for key in dict.fromkeys(each.inputs.key for each in wanted if each.inputs is not None):
            evaluation = known[key]
            if evaluation.run != self.run or key in self._costs_added:
                continue
            self._costs_added.add(key)
            counts.fits += evaluation.fits
            counts.fits_saved += evaluation.fits_saved
            counts.folds_skipped += evaluation.folds_skipped
            counts.seconds += evaluation.seconds


def _margin(plan: Plan) -> Margin | None:
    """None where there are several objectives, which do not race, or no outputs that could be chosen among again."""
    objective, dataset = plan.objectives[0], plan.job.dataset
    if len(plan.objectives) > 1 or plan.job.keeps == "nothing" or objective.estimate.rows_repeat:
        return None
    is_classified, groups = dataset.n_classes > 0, dataset.population.groups
    counts = np.bincount(dataset.y).astype(float) if is_classified else np.array([float(len(dataset.y))])
    options: dict[str, Any] = dict(objective.estimate.options)
    share = float(options.get("share", 1.0)) if objective.estimate.held_out == "one" else 1.0
    return Margin.of(objective, share * counts, None if groups is None else len(np.unique(groups)))


def _is_lost(evaluation: Evaluation, cutoff: float | None) -> bool:
    """Whether a loss is too high to be of interest."""
    return cutoff is not None and cutoff <= evaluation.losses[0] < math.inf


def _answers_both(one: Query, other: Query) -> bool:
    """Whether the answer to `one` also answers `other`: it has no cutoff, or a higher one."""
    if other.cutoff is None:
        return False
    return one.cutoff is None or one.cutoff > other.cutoff
