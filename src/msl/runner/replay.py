"""Repeat a stored run in a temporary store, and find the first step that differs."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msl.runner.loop import Progress
from msl.runner.plan import Plan
from msl.runner.session import NoModel, RunRequest, run_plan
from msl.store.evaluation import Evaluation, StoredQuery, is_same_query
from msl.store.store import Store
from msl.store.stored_run import Digests, Run

#: The entries of a run's summary that have to be the same.
_COMPARED = ("best", "objectives", "complexity", "front", "test")
#: The same for a run that was not cut short; one that was may have had no time for all of them.
_COMPARED_AT_THE_END = (*_COMPARED, "interval", "ensemble", "ensemble_objectives", "used")
#: Endings by the time limit or by the user, at which a replay has to stop too.
_CUT = ("the time is up", "interrupted")


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs first, and its value before and now."""

    what: str
    before: object
    now: object


def measures_time(plan: Plan) -> bool:
    """Whether what a model is judged by is partly a time, so that evaluations cannot be repeated exactly."""
    return any(metric.unit == "time" for metric in plan.spec.metrics)


def changed_digests(run: Digests, now: Digests) -> list[str]:
    """The digests that differ, in the order in which they depend on each other."""
    return [
        part for part in ("data", "space", "evaluation", "search", "run") if getattr(run, part) != getattr(now, part)
    ]


def repeat_run(
    request: RunRequest,
    run: Run,
    queries: Sequence[StoredQuery],
    *,
    on: Any = "inprocess",
    workers: int | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    kept: Sequence[Evaluation] = (),
) -> Difference | None:
    """Runs a request again with an empty store, as far as the run got; None if nothing differs.

    `kept` are evaluations that are taken as they are stored: those of a run that measures time, which no two
    evaluations need alike.
    """
    cut = run.status == "interrupted" or run.result.get("ending") in _CUT
    with tempfile.TemporaryDirectory(prefix="msl-replay-") as folder:
        if kept:
            with Store.open(Path(folder)) as store:
                store.evaluations.write(kept)
        try:
            result = run_plan(
                _without_clock(request),
                Path(folder),
                on=on,
                workers=workers,
                progress=progress,
                only={query.position for query in queries} if cut else None,
            )
            summary = result.summary
        except NoModel as none:
            summary = none.summary
        with Store.open(Path(folder), read_only=True) as store:
            again = store.runs.queries(str(summary["run"]))
    compared = _COMPARED if cut else _COMPARED_AT_THE_END
    return _first_difference(queries, again) or _other_result(run.result, summary, compared)


def _without_clock(request: RunRequest) -> RunRequest:
    """The request without a time limit: a run that was cut short is repeated up to the same query anyway."""
    plan = request.plan
    spec = replace(plan.spec, budget=replace(plan.spec.budget, time=None))
    return replace(request, plan=replace(plan, spec=spec))


def _first_difference(before: Sequence[StoredQuery], now: Sequence[StoredQuery]) -> Difference | None:
    for number, (one, other) in enumerate(zip(before, now, strict=False), 1):
        if not is_same_query(one, other) or one.cutoff != other.cutoff:
            return Difference(f"query {number}", one.vector, other.vector)
        if _comparable(one) != _comparable(other):
            return Difference(f"the result of query {number}", _comparable(one), _comparable(other))
    if len(before) != len(now):
        return Difference("the number of queries", len(before), len(now))
    return None


def _comparable(query: StoredQuery) -> object:
    """What matters to a strategy: exact losses, or that there are none.

    The value of a bound is left out, because it may come from an earlier evaluation with another cutoff.
    """
    if query.bound or not all(map(math.isfinite, query.losses)):
        return "no better"
    return query.losses, query.complexity


def _other_result(before: Mapping[str, Any], now: Mapping[str, Any], compared: Sequence[str]) -> Difference | None:
    for name in compared:
        if name in before and name in now and before[name] != now[name]:
            return Difference(f"`{name}`", before[name], now[name])
    return None
