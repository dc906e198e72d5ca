"""Loop: where search meets evaluation — asks go out, answers come back, everything is written down on the way.

A run that was interrupted is started again from the beginning with the stored answers: the strategy asks the same, is
told the same, and goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from msl.engine.answers import Answers
from msl.engine.plan import Plan
from msl.engine.progress import Progress, Standing
from msl.engine.time_limit import TimeLimit
from msl.evaluate.executors.executor import Executor
from msl.runs.asked import Asked
from msl.runs.run import Event as StoredEvent
from msl.runs.store import Store
from msl.search.ask import Ask, Event, Told
from msl.search.stages import then

Ending = Literal["finished", "time", "interrupted"]


@dataclass(slots=True)
class Search:
    """A search as far as it went."""

    answers: Answers
    told: list[tuple[Ask, Told]] = field(default_factory=list)
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
    most: int | None = None,
) -> Search:
    """Runs the strategies of a plan to their end, or until time is up, or until `stopped` says so.

    It is stopped between batches, and never before it has come to where an interrupted run was; time is looked at after
    each evaluation, and what is still under way then does not count. `most` cuts it after so many answers.
    """
    limit = TimeLimit(plan.spec.budget.time) if limit is None else limit
    standing = Standing(plan)

    def on_outcome(done: int, wanted: int) -> None:
        progress(standing.progress(answers.tally, limit.elapsed, done, wanted))

    def is_late() -> bool:
        return limit.left <= 0.0

    answers = Answers(plan, store, run, executor, on_outcome)
    found = Search(answers)
    noted: list[Event] = []
    strategy = then(plan.stages, plan.seed, plan.limits, len(plan.objectives), noted.append)
    stored = store.runs.asks(run)
    batch = position = 0
    asks = next(strategy, None)
    while asks is not None:
        heard = asks if most is None else asks[: most - position]
        told = answers.answer(heard, _replayed(stored, heard, position), is_late)
        events = _storable(noted, len(found.events))
        found.events.extend(noted)
        noted.clear()
        answers.record(told, batch, position, events)
        found.told.extend(zip(asks, told, strict=False))
        standing.take(asks[: len(told)], told)
        position += len(told)
        batch += 1
        found.seconds = limit.elapsed
        progress(standing.progress(answers.tally, found.seconds))
        is_whole = len(told) == len(asks)
        if (position >= len(stored) and stopped()) or position == most:
            found.ending = "interrupted"
        elif not is_whole or is_late():
            found.ending = "time"
        try:
            # Also at the end: what a strategy stands by may be among the last answers.
            asks = strategy.send(told) if is_whole else None
        except StopIteration:
            asks = None
        if found.ending != "finished":
            break
    strategy.close()
    found.events.extend(noted)
    store.record(run, events=_storable(noted, len(found.events) - len(noted)))
    last = found.events[-1] if found.events else None
    if found.ending == "finished" and last is not None and last.kind == "end":
        found.why = str(last.figures.get("why", ""))
    return found


def _replayed(stored: list[Asked], asks: list[Ask], position: int) -> list[Asked]:
    """The stored answers to the first of these asks."""
    return stored[position : position + len(asks)]


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
