"""Replay: a run done again from what the store keeps of it, in a store of its own, and compared step by step."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msl.runner.progress import Progress
from msl.runner.session import NoModel, RunRequest, run_plan
from msl.store.evaluation import StoredQuery, same_question
from msl.store.store import Store
from msl.store.stored_run import Digests, Run

#: What of the record of a run has to come out the same.
_COMPARED = ("best", "objectives", "complexity", "front", "test")
#: The same, but for a run that the clock or a person has ended: it may have had no time for all of it.
_COMPARED_AT_THE_END = (*_COMPARED, "interval", "ensemble", "ensemble_objectives", "used")
#: Endings that the clock or a person has brought about, and that a replay has to be told of.
_CUT = ("the time is up", "interrupted")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that did not come out as it was: what it is, what it was, what it is now."""

    what: str
    before: object
    now: object


def changed_digests(run: Digests, now: Digests) -> list[str]:
    """Which parts of a run are no longer what they were, in the order in which they depend on each other."""
    return [
        part for part in ("data", "space", "evaluation", "search", "run") if getattr(run, part) != getattr(now, part)
    ]


def repeat_run(
    request: RunRequest,
    run: Run,
    asks: Sequence[StoredQuery],
    *,
    on: Any = "inprocess",
    workers: int | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Difference | None:
    """Runs a commission again, with nothing stored, as far as the run went; None proves that it came out the same."""
    cut = run.status == "interrupted" or run.result.get("ending") in _CUT
    with tempfile.TemporaryDirectory(prefix="msl-replay-") as folder:
        try:
            result = run_plan(
                _without_clock(request),
                Path(folder),
                on=on,
                workers=workers,
                progress=progress,
                only={asked.position for asked in asks} if cut else None,
            )
            summary = result.summary
        except NoModel as none:
            summary = none.summary
        with Store.open(Path(folder), read_only=True) as store:
            again = store.runs.asks(str(summary["run"]))
    compared = _COMPARED if cut else _COMPARED_AT_THE_END
    return _first_difference(asks, again) or _other_result(run.result, summary, compared)


def _without_clock(request: RunRequest) -> RunRequest:
    """The same without a limit of time for the whole run: it was cut where it was cut."""
    plan = request.plan
    spec = replace(plan.spec, budget=replace(plan.spec.budget, time=None))
    return replace(request, plan=replace(plan, spec=spec))


def _first_difference(before: Sequence[StoredQuery], now: Sequence[StoredQuery]) -> Difference | None:
    for place, (one, other) in enumerate(zip(before, now, strict=False), 1):
        if not same_question(one, other) or one.cutoff != other.cutoff:
            return Difference(f"question {place}", one.vector, other.vector)
        if _answer(one) != _answer(other):
            return Difference(f"the answer to question {place}", _answer(one), _answer(other))
    if len(before) != len(now):
        return Difference("the number of questions", len(before), len(now))
    return None


def _answer(asked: StoredQuery) -> object:
    """What a strategy goes by: losses that are known, or that there are none to compare.

    How low a race was bounded does not matter: a store that knew more may have answered it.
    """
    if asked.bound or not all(map(math.isfinite, asked.losses)):
        return "no better"
    return asked.losses, asked.complexity


def _other_result(before: Mapping[str, Any], now: Mapping[str, Any], compared: Sequence[str]) -> Difference | None:
    for name in compared:
        if name in before and name in now and before[name] != now[name]:
            return Difference(f"`{name}`", before[name], now[name])
    return None
