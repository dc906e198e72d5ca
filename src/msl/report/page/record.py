"""Record: everything that a report shows of a run, read from the store once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from msl.report.page.goal import Goal, Plan, read_plan
from msl.report.page.outcome import Outcome, result_to_outcome
from msl.runs.asked import Asked
from msl.runs.evaluation import Evaluation
from msl.runs.run import Event, Run
from msl.runs.store import Store


@dataclass(frozen=True, slots=True)
class Trial:
    """A model that the strategy asked for, and what is known of it. `values` are as the user counts them."""

    position: int
    stage: int
    values: tuple[float, ...]
    complexity: float
    bound: bool
    #: Whether the point is no model of the space.
    is_outside: bool
    #: None for such a point, and where the store no longer has it.
    evaluation: Evaluation | None

    @property
    def number(self) -> int:
        """As people count."""
        return self.position + 1

    @property
    def has_value(self) -> bool:
        return all(math.isfinite(value) for value in self.values)

    @property
    def is_partial(self) -> bool:
        """Whether it was judged on a part of the rows, and so does not compare with others."""
        return self.evaluation is not None and self.evaluation.question.share < 1.0

    @property
    def is_exact(self) -> bool:
        return self.has_value and not self.bound and not self.is_partial

    @property
    def text(self) -> str:
        return "" if self.evaluation is None else self.evaluation.text


@dataclass(frozen=True)
class Record:
    """A run with its texts, its trials in their order, and what its strategies told."""

    run: Run
    folder: Path
    sources: Mapping[str, str]
    plan: Plan
    outcome: Outcome
    trials: tuple[Trial, ...]
    events: tuple[Event, ...]
    life: tuple[Event, ...]

    @property
    def goals(self) -> tuple[Goal, ...]:
        return self.plan.goals

    @property
    def goal(self) -> Goal:
        """The first objective, by which a winner is taken."""
        return self.goals[0]

    @property
    def is_finished(self) -> bool:
        return self.run.status == "finished"

    @cached_property
    def evaluations(self) -> tuple[Evaluation, ...]:
        """What was evaluated, each once, whichever run made it."""
        found = {trial.evaluation.key: trial.evaluation for trial in self.trials if trial.evaluation is not None}
        return tuple(found.values())

    @cached_property
    def own(self) -> tuple[Evaluation, ...]:
        """What this run evaluated itself."""
        return tuple(one for one in self.evaluations if one.run == self.run.id)

    @cached_property
    def improvements(self) -> tuple[Trial, ...]:
        """Each trial that was better than all before, by the first objective; luck on a split of its own is no gain."""
        found: list[Trial] = []
        for trial in self.trials:
            if self.strategy(trial.stage) == "confirm":
                continue
            if trial.is_exact and (not found or self.goal.is_better(trial.values[0], found[-1].values[0])):
                found.append(trial)
        return tuple(found)

    @property
    def best(self) -> str | None:
        """The winner as MSL: what the run says, or the best that it has come to so far."""
        if self.outcome.best is not None:
            return self.outcome.best
        return self.improvements[-1].text if self.improvements else None

    @property
    def best_values(self) -> Mapping[str, float]:
        if self.outcome.objectives or not self.improvements:
            return self.outcome.objectives
        return dict(zip((goal.name for goal in self.goals), self.improvements[-1].values, strict=True))

    @property
    def data_path(self) -> str:
        """Where the table was read, if that is known."""
        return str(self.outcome.data.get("path") or self.run.options.get("data") or "")

    def counted(self, name: str) -> int | None:
        """A count that the run has given, or what the trials tell while it has not."""
        if name in self.outcome.counts:
            return self.outcome.counts[name]
        match name:
            case "evaluations":
                return len(self.trials)
            case "outside":
                return sum(trial.is_outside for trial in self.trials)
            case "reused":
                return sum(not trial.is_outside for trial in self.trials) - len(self.own)
            case "failures":
                return sum(one.trouble is not None for one in self.own)
            case "fits":
                return sum(one.fits for one in self.own)
            case "fits_saved":
                return sum(one.fits_saved for one in self.own)
        raise KeyError(name)

    def told(self, kind: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The stage and the figures of each event of a kind, in their order."""
        for event in self.events:
            if event.kind == kind:
                yield int(event.figures.get("stage", 0)), event.figures

    def strategy(self, stage: int) -> str:
        strategies = self.plan.strategies
        return strategies[stage] if stage < len(strategies) else f"stage {stage + 1}"


def read_record(store: Store, run: str) -> Record:
    """The run with this id; raises StoreProblem where there is none, or it cannot be read."""
    found = store.runs.get(run)
    sources = store.runs.sources(run)
    outcome = result_to_outcome(found.result)
    asks = store.runs.asks(run)
    objectives = max((len(asked.losses) for asked in asks), default=1)
    plan = read_plan(found.spec, sources, found.name, outcome.objectives)
    plan = _with_goals(plan, max(objectives, len(outcome.objectives)))
    evaluations = store.evaluations.read(asked.key for asked in asks if asked.key is not None)
    return Record(
        run=found,
        folder=store.folder,
        sources=sources,
        plan=plan,
        outcome=outcome,
        trials=tuple(_trial(asked, evaluations, plan.goals) for asked in asks),
        events=tuple(store.runs.events(run)),
        life=tuple(store.runs.life(run)),
    )


def _with_goals(plan: Plan, number: int) -> Plan:
    """A goal for each loss, also where the spec can no longer be read."""
    names = ["loss"] if number == 1 else [f"loss {place + 1}" for place in range(number)]
    unnamed = tuple(Goal(name) for name in names[len(plan.goals) :])
    return Plan((*plan.goals[:number], *unnamed), plan.strategies, plan.roles)


def _trial(asked: Asked, evaluations: Mapping[str, Evaluation], goals: tuple[Goal, ...]) -> Trial:
    values = tuple(goal.value(loss) for goal, loss in zip(goals, asked.losses, strict=False))
    evaluation = None if asked.key is None else evaluations.get(asked.key)
    return Trial(
        position=asked.position,
        stage=asked.stage,
        values=values,
        complexity=asked.complexity,
        bound=asked.bound,
        is_outside=asked.key is None,
        evaluation=evaluation,
    )
