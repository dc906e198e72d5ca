"""Run the loop of a search: evaluate the queries of the strategies, store and answer them, and report progress.

An interrupted run is resumed by replay: the strategy starts again, makes the same queries, and gets the stored
observations until it reaches the query at which the run stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from msl.runner.plan import Plan
from msl.runner.reuse_or_evaluate import QueryEvaluator, RunCounts
from msl.runner.time_limit import TimeLimit
from msl.search.base import Event, Observation, Query
from msl.search.operators.pareto import non_dominated
from msl.search.stages import then
from msl.space.to_text import model_to_text
from msl.space.values import Model
from msl.store.store import Store
from msl.store.stored_run import Event as StoredEvent
from msl.workers.executor import Executor


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run, after a batch or within one.

    `best` are the losses of the best model so far and `best_text` is that model in the MSL language. With several
    objectives, the best is the first of the Pareto front when sorted by losses; `front` is the number of models on the
    front and `lowest` the lowest loss of each objective. `done` of `wanted` evaluations of the current batch are
    finished.
    """

    evaluations: int
    reused: int
    failures: int
    outside: int
    fits: int
    fits_saved: int
    best: tuple[float, ...] | None
    best_text: str
    front: int
    lowest: tuple[float, ...]
    seconds: float
    done: int = 0
    wanted: int = 0


class BestSoFar:
    """The best model so far, or the Pareto front if there are several objectives."""

    def __init__(self, plan: Plan, model_of: Callable[[object], Model | None]) -> None:
        """`model_of` is the model that was evaluated for one of a search space."""
        self._plan, self._model_of = plan, model_of
        self._front: list[tuple[int, Observation]] = []
        self._text = ""

    def update(self, queries: Sequence[Query], observations: Sequence[Observation]) -> None:
        """Adds the models of a batch that were evaluated on all rows and whose losses are exact."""
        pairs = zip(queries, observations, strict=True)
        new = [(query.stage, one) for query, one in pairs if one.is_exact and query.share == 1.0]
        # A stage that evaluates models again does so on other splits; such losses cannot be compared one by one.
        if not new or self._plan.stages[new[0][0]].reevaluates:
            return
        before = self._front[0] if self._front else None
        compared = [*self._front, *new]
        if len(self._plan.objectives) == 1:
            self._front = [min(compared, key=_rank)]
        else:
            chosen = non_dominated(np.array([one.losses for _, one in compared]))
            self._front = sorted((compared[index] for index in chosen), key=_rank)
        if self._front[0] is not before:
            stage, one = self._front[0]
            model = self._model_of(self._plan.search_spaces[stage].decode(one.vector))
            self._text = "" if model is None else model_to_text(model)

    def progress(self, counts: RunCounts, seconds: float, done: int = 0, wanted: int = 0) -> Progress:
        losses = [one.losses for _, one in self._front]
        return Progress(
            evaluations=counts.evaluations,
            reused=counts.reused,
            failures=counts.failures,
            outside=counts.outside,
            fits=counts.fits,
            fits_saved=counts.fits_saved,
            best=losses[0] if losses else None,
            best_text=self._text,
            front=len(losses),
            lowest=tuple(min(each) for each in zip(*losses, strict=True)),
            seconds=seconds,
            done=done,
            wanted=wanted,
        )


def _rank(entry: tuple[int, Observation]) -> tuple[tuple[float, ...], float]:
    """The key to sort by: losses, and complexity on ties."""
    return entry[1].losses, entry[1].complexity


Ending = Literal["finished", "time", "interrupted"]


@dataclass(slots=True)
class SearchResult:
    """What a search has done: its queries with their observations, its events, and how it ended."""

    evaluator: QueryEvaluator
    history: list[tuple[Query, Observation]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ending: Ending = "finished"
    why: str = ""
    seconds: float = 0.0


def search(
    plan: Plan,
    store: Store,
    run: str,
    executor: Executor,
    *,
    limit: TimeLimit | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
    terminated: Callable[[], bool] = lambda: False,
    only: Collection[int] | None = None,
) -> SearchResult:
    """Runs the strategies of a plan to their end, until the time is up, or until `stopped` returns true.

    `stopped` takes effect between batches, and not before a resumed run has reached the query at which it was
    interrupted. The time limit and `terminated` also take effect within a batch: evaluations that have arrived by then
    count, those that still run do not. To repeat a run that was cut short, `only` has the positions of its queries.
    """
    limit = TimeLimit(plan.spec.budget.time) if limit is None else limit

    def on_outcome(done: int, wanted: int) -> None:
        progress(best_so_far.progress(evaluator.counts, limit.elapsed, done, wanted))

    def is_late() -> bool:
        return limit.left <= evaluator.reserve.seconds

    def is_cut() -> bool:
        if is_late() and (evaluator.arrived or evaluator.counts.evaluations):
            return True
        return terminated() and position + len(queries or ()) > resumed

    evaluator = QueryEvaluator(plan, store, run, executor, on_outcome)
    best_so_far = BestSoFar(plan, evaluator.model_of)
    found = SearchResult(evaluator)
    new_events: list[Event] = []
    strategy = then(plan.stages, plan.seed, plan.limits, len(plan.objectives), new_events.append)
    stored = {query.position: query for query in store.runs.queries(run)}
    resumed = max(stored, default=-1) + 1
    last = None if only is None else max(only, default=-1) + 1
    batch = position = 0
    queries = next(strategy, None)
    while queries is not None:
        indices = [index for index in range(len(queries)) if only is None or position + index in only]
        answers = evaluator.answer(
            [queries[index] for index in indices], [stored.get(position + index) for index in indices], is_cut
        )
        answered = [(index, one) for index, one in zip(indices, answers, strict=True) if one is not None]
        events = _storable(new_events, len(found.events))
        found.events.extend(new_events)
        new_events.clear()
        observations = [one for _, one in answered]
        evaluator.record(observations, batch, [position + index for index, _ in answered], events)
        found.history.extend((queries[index], one) for index, one in answered)
        best_so_far.update([queries[index] for index, _ in answered], observations)
        position += len(queries)
        batch += 1
        found.seconds = limit.elapsed
        progress(best_so_far.progress(evaluator.counts, found.seconds))
        is_complete = len(observations) == len(queries)
        if (position >= resumed and (stopped() or terminated())) or (last is not None and position >= last):
            found.ending = "interrupted"
        elif not is_complete or is_late():
            found.ending = "time"
        try:
            # Also after the last batch: the final choice of the strategy may be among its observations.
            queries = strategy.send(observations) if is_complete else None
        except StopIteration:
            queries = None
        if found.ending != "finished":
            break
    strategy.close()
    found.events.extend(new_events)
    store.record(run, events=_storable(new_events, len(found.events) - len(new_events)))
    final = found.events[-1] if found.events else None
    if found.ending == "finished" and final is not None and final.kind == "end":
        found.why = str(final.figures.get("why", ""))
    return found


def _storable(events: list[Event], first: int) -> list[StoredEvent]:
    """Events as the store keeps them, numbered from `first`."""
    return [
        StoredEvent(event.kind, {name: _plain(value) for name, value in event.figures.items()}, first + index)
        for index, event in enumerate(events)
    ]


def _plain(value: Any) -> Any:
    """A figure as a value that JSON can represent."""
    if isinstance(value, bool | int | str | type(None)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return float(value) if isinstance(value, float) or hasattr(value, "__float__") else str(value)
