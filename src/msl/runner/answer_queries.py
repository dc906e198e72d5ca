"""Answers: from what a strategy asks to what it is told — decoded, looked up in the store, evaluated, written down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from itertools import groupby
from time import monotonic

import numpy as np

from msl.evaluate.outcome import Outcome
from msl.runner.final_costs import TimeReserve
from msl.runner.plan import Plan
from msl.runner.versions import versions_of
from msl.search.base import Observation, Query, Vector
from msl.space.canonical.digest import model_digest
from msl.space.membership import NotInSpace
from msl.space.to_text import model_to_text
from msl.space.values import Model
from msl.store.evaluation import Evaluation, EvaluationInputs, StoredFailure, StoredQuery
from msl.store.store import Store
from msl.store.store_error import StoreError
from msl.store.stored_run import Event
from msl.workers.executor import Executor
from msl.workers.task import Task

#: Seconds between commits within a batch: so much work is lost at most when the process is killed, and a batch of quick
#: evaluations is still written down at once.
_COMMIT_EVERY = 0.25
_LIMITS = ("timeout", "memory", "crash", "exit")


@dataclass(slots=True)
class RunCounts:
    """What a run has done so far."""

    evaluations: int = 0
    new: int = 0
    reused: int = 0
    #: Asked for before in this run, with the same rows and splits.
    repeats: int = 0
    outside: int = 0
    failures: int = 0
    fits: int = 0
    fits_saved: int = 0
    folds_skipped: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class DecodedQuery:
    """One point of a batch: its model and its question, or neither if it is not in the space."""

    ask: Query
    told_vector: tuple[float, ...]
    model: Model | None = None
    question: EvaluationInputs | None = None


class QueryEvaluator:
    """Answers batches of asks. Evaluations are stored as they arrive, before the strategy hears of them."""

    def __init__(
        self,
        plan: Plan,
        store: Store,
        run: str,
        executor: Executor,
        on_outcome: Callable[[int, int], None] = lambda done, wanted: None,
    ) -> None:
        """`on_outcome` hears how many evaluations of a batch are done, and how many there are."""
        self.plan, self.store, self.run, self.executor, self._on_outcome = plan, store, run, executor, on_outcome
        self.tally = RunCounts()
        #: Every model met in this run with what is known of it, by its evaluation's key.
        self.met: dict[str, tuple[Model, Evaluation]] = {}
        #: Evaluations that were not known before, so far.
        self.arrived = 0
        #: The time that is needed after the search, by what was evaluated so far.
        self.reserve = TimeReserve(plan, executor.width)
        self._texts: dict[str, str] = {}
        self._counted: set[str] = set()
        self._unstored: list[Evaluation] = []
        self._stored_at = 0.0
        #: What this run has told its strategy, or found out since it was opened: it stands by these.
        self._stands_by = {asked.key for asked in store.runs.asks(run)}
        self._asked_before: set[str] = set()

    def answer(
        self, asks: Sequence[Query], replayed: Sequence[StoredQuery | None], is_cut: Callable[[], bool] = lambda: False
    ) -> list[Observation | None]:
        """What a strategy is told. What an interrupted run was told already (`replayed`) is told again.

        Each outcome is stored when it arrives. When the batch is cut, there are answers to some of the asks only.
        """
        points = self._points([ask if self.plan.races(ask.stage) else replace(ask, cutoff=None) for ask in asks])
        known = self.store.evaluations.read([p.question.key for p in points if p.question is not None])
        self._evaluate(points, known, is_cut)
        told: list[Observation | None] = []
        self._last_points = []
        for point, before in zip(points, replayed, strict=True):
            if not self._is_answered(known, point):
                told.append(None)
                continue
            answer = self._told(point, known)
            if before is not None:
                answer = Observation(answer.vector, before.losses, before.complexity, before.bound)
            told.append(answer)
            self._last_points.append(point)
        self._count(self._last_points, known)
        return told

    def record(self, told: Sequence[Observation], batch: int, positions: Sequence[int], events: list[Event]) -> None:
        """Writes the batch down that was answered last: the answers that there are, and where they were asked for."""
        rows = [
            StoredQuery(
                position=position,
                stage=point.ask.stage,
                batch=batch,
                key=point.question.key if point.question is not None else None,
                losses=tuple(float(loss) for loss in one.losses),
                complexity=float(one.complexity),
                bound=one.bound,
                cutoff=None if point.ask.cutoff is None else float(point.ask.cutoff),
                vector=tuple(float(share) for share in point.ask.vector),
            )
            for position, one, point in zip(positions, told, self._last_points, strict=True)
        ]
        self.store.record(self.run, self._unstored, rows, events)
        self._unstored = []

    # --- one batch ---

    def _points(self, asks: Sequence[Query]) -> list[DecodedQuery]:
        """Decoded at once, stage by stage: a batch of vectors costs little more than one."""
        points: list[DecodedQuery] = []
        for stage, together in groupby(asks, key=lambda ask: ask.stage):
            group = list(together)
            batch = self.plan.search_spaces[stage].codec.decode(np.array([ask.vector for ask in group]))
            for ask, snapped, model in zip(group, batch.snapped.tolist(), batch, strict=True):
                if isinstance(model, NotInSpace):
                    points.append(DecodedQuery(ask, tuple(snapped)))
                else:
                    points.append(DecodedQuery(ask, tuple(snapped), model, self._question(model, ask)))
        return points

    def _question(self, model: Model, ask: Query) -> EvaluationInputs:
        plan = self.plan
        return EvaluationInputs(
            model=model_digest(model),
            versions=versions_of(model),
            data=plan.digests.data,
            protocol=plan.digests.evaluation,
            seed=plan.seed,
            share=ask.share,
            repeat=ask.repeat,
        )

    def _evaluate(
        self, points: Sequence[DecodedQuery], known: dict[str, Evaluation], is_cut: Callable[[], bool]
    ) -> None:
        """Evaluates what the store cannot answer; a model that is asked for twice is evaluated once."""
        wanted: dict[str, DecodedQuery] = {}
        for point in points:
            if point.question is None:
                continue
            key = point.question.key
            if key in known and self._will_do(known[key], point.ask):
                continue
            before = wanted.get(key)
            if before is None or _asks_more(point.ask, before.ask):
                wanted[key] = point
        missing = list(wanted.values())
        tasks = [Task(p.model, p.ask.cutoff, p.ask.share, p.ask.repeat) for p in missing if p.model is not None]
        self._stored_at = monotonic()
        try:
            with closing(self.executor.arrivals(tasks)) as arrivals:
                self._take(arrivals, missing, known, is_cut)
        except BaseException:
            with suppress(StoreError):  # what has gone wrong first is what matters
                self._store_arrived()
            raise

    def _take(
        self,
        arrivals: Iterable[list[tuple[int, Outcome]]],
        missing: Sequence[DecodedQuery],
        known: dict[str, Evaluation],
        is_cut: Callable[[], bool],
    ) -> None:
        """Takes outcomes until all are there, or the batch is cut."""
        done = 0
        for arrived in arrivals:
            for place, outcome in arrived:
                evaluation = self._evaluation(missing[place], outcome)
                known[evaluation.key] = evaluation
                self.reserve.take(evaluation)
                self._unstored.append(evaluation)
            if monotonic() - self._stored_at >= _COMMIT_EVERY:
                self._store_arrived()
            done += len(arrived)
            self.arrived += len(arrived)
            if arrived:
                self._on_outcome(done, len(missing))
            if done < len(missing) and is_cut():
                return

    def _store_arrived(self) -> None:
        if self._unstored:
            self.store.evaluations.write(self._unstored, self.run)
        self._unstored, self._stored_at = [], monotonic()

    def _is_answered(self, known: dict[str, Evaluation], point: DecodedQuery) -> bool:
        return point.question is None or (
            point.question.key in known and self._will_do(known[point.question.key], point.ask)
        )

    def _will_do(self, known: Evaluation, ask: Query) -> bool:
        """Whether a stored answer serves. One that hit a limit is asked again by others, whose limits may differ.

        A crash may have come from outside, so that a run asks again even for its own, unless it has told it already.
        """
        if known.trouble is None or known.trouble.cause not in _LIMITS or known.key in self._stands_by:
            return known.answers(ask.cutoff)
        return known.run == self.run and known.trouble.cause != "crash"

    def _evaluation(self, point: DecodedQuery, outcome: Outcome) -> Evaluation:
        assert point.model is not None
        assert point.question is not None
        failure = outcome.failure
        self._stands_by.add(point.question.key)
        return Evaluation(
            question=point.question,
            text=self._text(point.question.model, point.model),
            losses=outcome.losses,
            measures=outcome.measures,
            complexity=outcome.complexity,
            bound=outcome.bound,
            cutoff=point.ask.cutoff,
            trouble=None
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

    def _told(self, point: DecodedQuery, known: dict[str, Evaluation]) -> Observation:
        vector = points_vector(point)
        if point.question is None or point.model is None:
            return Observation(vector, (math.inf,) * len(self.plan.objectives))
        evaluation = known[point.question.key]
        self.met[point.question.key] = (point.model, evaluation)
        self.reserve.take(evaluation)
        # A store may know exactly what a race would only have bounded: the strategy is told the same either way.
        lost = point.ask.cutoff is not None and point.ask.cutoff <= evaluation.losses[0] < math.inf
        return Observation(vector, evaluation.losses, evaluation.complexity, evaluation.bound or lost)

    def _count(self, points: Sequence[DecodedQuery], known: dict[str, Evaluation]) -> None:
        """What this run has evaluated counts as its own also after it was interrupted."""
        tally = self.tally
        keys = dict.fromkeys(point.question.key for point in points if point.question is not None)
        own = [known[key] for key in keys if known[key].run == self.run and key not in self._counted]
        self._counted.update(evaluation.key for evaluation in own)
        asked = sum(point.question is not None for point in points)
        tally.repeats += asked - len(keys.keys() - self._asked_before)
        self._asked_before.update(keys)
        tally.evaluations += len(points)
        tally.new += len(own)
        tally.outside += sum(point.question is None for point in points)
        tally.reused += asked - len(own)
        tally.failures += sum(evaluation.trouble is not None for evaluation in own)
        for evaluation in own:
            tally.fits += evaluation.fits
            tally.fits_saved += evaluation.fits_saved
            tally.folds_skipped += evaluation.folds_skipped
            tally.seconds += evaluation.seconds


def points_vector(point: DecodedQuery) -> Vector:
    return np.array(point.told_vector)


def _asks_more(one: Query, other: Query) -> bool:
    """Whether the answer to `one` serves `other` too: no race, or a race against a higher loss."""
    if other.cutoff is None:
        return False
    return one.cutoff is None or one.cutoff > other.cutoff
