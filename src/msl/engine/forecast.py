"""Forecast: how much a plan will ask for and how long that may take, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass

from msl.engine.plan import Plan
from msl.engine.stock import Stock
from msl.runs.run import Run
from msl.runs.store import Store
from msl.search.stages import Stage

#: Strategies that never ask for a model twice, so that a finite space bounds them.
_NEW_ONLY = ("random", "grid", "halving")


@dataclass(frozen=True, slots=True)
class Forecast:
    """`evaluations` is the most that will be asked for, `left` of them after what an earlier run of the same thing has
    asked, `seconds` what that may take; None where it is not known. `run` is that earlier run, if there is one.
    """

    evaluations: int | None
    left: int | None
    seconds: float | None
    run: Run | None

    @property
    def goes_on(self) -> bool:
        """Whether the run would go on where an earlier one stopped."""
        return self.run is not None and self.run.status == "interrupted"


def forecast(plan: Plan, store: Store | None, stock: Stock, workers: int) -> Forecast:
    """What to expect of a plan, by what the store knows of its table."""
    most = expected_evaluations(plan)
    same = [] if store is None else store.runs.of_digest(plan.digests.run)
    run = next((each for each in same if each.status == "interrupted"), same[0] if same else None)
    asked = 0 if run is None or store is None else len(store.runs.asks(run.id))
    is_over = run is not None and run.status in ("finished", "failed")
    left = 0 if is_over else None if most is None else max(0, most - asked)
    seconds = None
    if left is not None and (stock.seconds is not None or left == 0):
        seconds = left * (stock.seconds or 0.0) / workers
        if plan.spec.budget.time is not None:
            seconds = min(seconds, plan.spec.budget.time)
    return Forecast(most, left, seconds, run)


def expected_evaluations(plan: Plan) -> int | None:
    """The most evaluations that the stages of a plan will ask for; None where none of them says."""
    counts = stage_evaluations(plan)
    total = None if None in counts else sum(count for count in counts if count is not None)
    limit = plan.limits.evaluations
    if total is None or limit is None:
        return limit if total is None else total
    return min(total, limit)


def stage_evaluations(plan: Plan) -> list[int | None]:
    """The most evaluations that each stage will ask for; None for one that does not say."""
    return [_of_stage(stage, asked.call.name) for stage, asked in zip(plan.stages, plan.spec.search, strict=True)]


def _of_stage(stage: Stage, name: str) -> int | None:
    options = stage.options
    if options.keys() >= {"swarm", "iterations"}:
        return int(options["swarm"]) * (int(options["iterations"]) + 1)
    if options.keys() >= {"population", "generations"}:
        return int(options["population"]) * (int(options["generations"]) + 1)
    if options.keys() >= {"top", "repeats"}:
        return int(options["top"]) * int(options["repeats"])
    most = options.get("evaluations")
    if name in _NEW_ONLY and stage.terrain.size is not None:
        return stage.terrain.size if most is None else min(int(most), stage.terrain.size)
    return None if most is None else int(most)
