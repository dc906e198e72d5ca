"""Loop: where search meets evaluation — asks go out, answers come back, everything is written down on the way.

A run that was interrupted is started again from the beginning with the stored answers: the strategy asks the same, is
told the same, and goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from msl.runner.answer_queries import QueryEvaluator
from msl.runner.final_costs import TimeLimit
from msl.runner.plan import Plan
from msl.runner.progress import Progress, Standing
from msl.search.base import Event, Observation, Query
from msl.search.stages import then
from msl.store.store import Store
from msl.store.stored_run import Event as StoredEvent
from msl.workers.executor import Executor

Ending = Literal["finished", "time", "interrupted"]


@dataclass(slots=True)
class Search:
    """A search as far as it went."""

    answers: QueryEvaluator
    told: list[tuple[Query, Observation]] = field(default_factory=list)
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
) -> Search:
    """Runs the strategies of a plan to their end, or until time is up, or until `stopped` says so.

    It is stopped between batches, and never before it has come to where an interrupted run was. Time, and whether it is
    `terminated`, is looked at all the while: what has arrived by then counts, what is still under way does not. To
    repeat a run that was cut, `only` says at which positions there are answers.
    """
    limit = TimeLimit(plan.spec.budget.time) if limit is None else limit
    standing = Standing(plan)

    def on_outcome(done: int, wanted: int) -> None:
        progress(standing.progress(answers.tally, limit.elapsed, done, wanted))

    def is_late() -> bool:
        return limit.left <= answers.reserve.seconds

    def is_cut() -> bool:
        if is_late() and (answers.arrived or answers.tally.evaluations):
            return True
        return terminated() and position + len(asks or ()) > resumed

    answers = QueryEvaluator(plan, store, run, executor, on_outcome)
    found = Search(answers)
    noted: list[Event] = []
    strategy = then(plan.stages, plan.seed, plan.limits, len(plan.objectives), noted.append)
    stored = {asked.position: asked for asked in store.runs.asks(run)}
    resumed = max(stored, default=-1) + 1
    last = None if only is None else max(only, default=-1) + 1
    batch = position = 0
    asks = next(strategy, None)
    while asks is not None:
        places = [place for place in range(len(asks)) if only is None or position + place in only]
        told = answers.answer(
            [asks[place] for place in places], [stored.get(position + place) for place in places], is_cut
        )
        answered = [(place, one) for place, one in zip(places, told, strict=True) if one is not None]
        events = _storable(noted, len(found.events))
        found.events.extend(noted)
        noted.clear()
        heard = [one for _, one in answered]
        answers.record(heard, batch, [position + place for place, _ in answered], events)
        found.told.extend((asks[place], one) for place, one in answered)
        standing.take([asks[place] for place, _ in answered], heard)
        position += len(asks)
        batch += 1
        found.seconds = limit.elapsed
        progress(standing.progress(answers.tally, found.seconds))
        is_whole = len(heard) == len(asks)
        if (position >= resumed and (stopped() or terminated())) or (last is not None and position >= last):
            found.ending = "interrupted"
        elif not is_whole or is_late():
            found.ending = "time"
        try:
            # Also at the end: what a strategy stands by may be among the last answers.
            asks = strategy.send(heard) if is_whole else None
        except StopIteration:
            asks = None
        if found.ending != "finished":
            break
    strategy.close()
    found.events.extend(noted)
    store.record(run, events=_storable(noted, len(found.events) - len(noted)))
    final = found.events[-1] if found.events else None
    if found.ending == "finished" and final is not None and final.kind == "end":
        found.why = str(final.figures.get("why", ""))
    return found


def _storable(events: list[Event], first: int) -> list[StoredEvent]:
    return [
        StoredEvent(event.kind, {name: _plain(value) for name, value in event.figures.items()}, first + place)
        for place, event in enumerate(events)
    ]


def _plain(value: Any) -> Any:
    """Figures as JSON knows them."""
    if isinstance(value, bool | int | str | type(None)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return float(value) if isinstance(value, float) or hasattr(value, "__float__") else str(value)
