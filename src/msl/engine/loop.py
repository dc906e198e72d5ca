"""Loop: where search meets evaluation — asks go out, answers come back, everything is written down on the way.

A run that was interrupted is started again from the beginning with the stored answers: the strategy asks the same, is
told the same, and goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from msl.engine.answers import Answers
from msl.engine.plan import Plan
from msl.evaluate.executors.executor import Executor
from msl.runs.asked import Asked
from msl.runs.run import Event as StoredEvent
from msl.runs.store import Store
from msl.search.ask import Ask, Event, Told
from msl.search.stages import then

Ending = Literal["finished", "time", "interrupted"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands after a batch."""

    evaluations: int
    reused: int
    failures: int
    outside: int
    best: tuple[float, ...] | None
    best_text: str
    seconds: float


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
    progress: Callable[[Progress], None] = lambda progress: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Search:
    """Runs the strategies of a plan to their end, or until time is up, or until `stopped` says so (between batches)."""
    start = monotonic()
    answers = Answers(plan, store, run, executor)
    found = Search(answers)
    noted: list[Event] = []
    strategy = then(plan.stages, plan.seed, plan.limits, len(plan.objectives), noted.append)
    stored = store.runs.asks(run)
    batch = position = 0
    asks = next(strategy, None)
    while asks is not None:
        replayed = _replayed(stored, asks, position)
        told = answers.answer(asks, replayed)
        events = _storable(noted, len(found.events))
        found.events.extend(noted)
        noted.clear()
        answers.record(asks, told, batch, position, list(events))
        found.told.extend(zip(asks, told, strict=True))
        position += len(asks)
        batch += 1
        found.seconds = monotonic() - start
        progress(_progress(found))
        if stopped():
            found.ending = "interrupted"
            break
        if plan.spec.budget.time is not None and found.seconds >= plan.spec.budget.time:
            found.ending = "time"
            break
        try:
            asks = strategy.send(told)
        except StopIteration:
            asks = None
    strategy.close()
    found.events.extend(noted)
    store.record(run, events=_storable(noted, len(found.events) - len(noted)))
    ends = [event for event in found.events if event.kind == "end"]
    found.why = str(ends[-1].figures.get("why", "")) if ends else ""
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


def _progress(found: Search) -> Progress:
    tally = found.answers.tally
    exact = [one for ask, one in found.told if one.is_exact and ask.share == 1.0]
    best = min(exact, key=lambda one: (one.losses, one.complexity), default=None)
    return Progress(
        tally.evaluations,
        tally.reused,
        tally.failures,
        tally.outside,
        None if best is None else best.losses,
        "",
        found.seconds,
    )
