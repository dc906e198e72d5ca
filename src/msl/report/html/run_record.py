"""Read everything that the page shows about a run, once, from the store."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from msl.report.html.goal import Goal, Plan, read_plan
from msl.report.run_facts import (
    CorrectedWords,
    UsedModel,
    baseline_words,
    corrected_estimate,
    ensemble_kind,
    ledger_words,
    look_words,
    not_ahead,
    test_label,
    used_model,
)
from msl.search.base import FIRST_CONFIRMING_REPEAT
from msl.store.evaluation import Evaluation, StoredQuery
from msl.store.store import Store
from msl.store.stored_run import Event, Run


@dataclass(frozen=True, slots=True)
class Trial:
    """A proposed model and its evaluation. `values` have the sign of the objectives."""

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
        """Whether it was evaluated on a part of the rows, so that it cannot be compared with others."""
        return self.evaluation is not None and self.evaluation.inputs.share < 1.0

    @property
    def is_exact(self) -> bool:
        return self.has_value and not self.bound and not self.is_partial

    @property
    def text(self) -> str:
        return "" if self.evaluation is None else self.evaluation.text


@dataclass(frozen=True)
class Record:
    """A run with its sources, its trials in order, and the events of its strategies."""

    run: Run
    folder: Path
    sources: Mapping[str, str]
    plan: Plan
    outcome: Outcome
    trials: tuple[Trial, ...]
    events: tuple[Event, ...]
    lifecycle: tuple[Event, ...]

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
        """Each trial that was better than all before, by the first objective; those on other splits do not count."""
        found: list[Trial] = []
        for trial in self.trials:
            if trial.evaluation is not None and trial.evaluation.inputs.repeat >= FIRST_CONFIRMING_REPEAT:
                continue
            if trial.is_exact and (not found or self.goal.is_better(trial.values[0], found[-1].values[0])):
                found.append(trial)
        return tuple(found)

    @property
    def best(self) -> str | None:
        """The best model as MSL: that of the result, or the best so far."""
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
        """A count from the result; for an unfinished run, counted from its trials."""
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
                return sum(one.failure is not None for one in self.own)
            case "fits":
                return sum(one.fits for one in self.own)
            case "fits_saved":
                return sum(one.fits_saved for one in self.own)
        raise KeyError(name)

    def figures_of(self, kind: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The stage and the figures of each event of a kind, in their order."""
        for event in self.events:
            if event.kind == kind:
                yield int(event.figures.get("stage", 0)), event.figures

    def strategy(self, stage: int) -> str:
        strategies = self.plan.strategies
        return strategies[stage] if stage < len(strategies) else f"stage {stage + 1}"


def read_record(store: Store, run: str) -> Record:
    """The run with this id; raises StoreError where there is none, or it cannot be read."""
    found = store.runs.get(run)
    sources = store.runs.sources(run)
    outcome = result_to_outcome(found.result)
    asks = store.runs.queries(run)
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
        lifecycle=tuple(store.runs.lifecycle(run)),
    )


def _with_goals(plan: Plan, number: int) -> Plan:
    """A goal for each loss, also where the spec can no longer be read."""
    names = ["loss"] if number == 1 else [f"loss {place + 1}" for place in range(number)]
    unnamed = tuple(Goal(name) for name in names[len(plan.goals) :])
    return Plan((*plan.goals[:number], *unnamed), plan.strategies, plan.roles)


def _trial(asked: StoredQuery, evaluations: Mapping[str, Evaluation], goals: tuple[Goal, ...]) -> Trial:
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


# --- The result of a run, in types; what is missing is empty ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Frontier:
    """A model of the front, and its objectives."""

    model: str
    objectives: Mapping[str, float]
    complexity: float | None = None


@dataclass(frozen=True, slots=True)
class Preference:
    """The share of an alternative among all proposed models and among the best quarter."""

    choice: str
    block: str
    asked: int
    share: float
    best_share: float


@dataclass(frozen=True, slots=True)
class Predictions:
    """Held-out predictions of a model, beside the true values.

    `confusion` counts rows by true class, then by predicted class; weighted rows count in part.
    """

    kind: str
    classes: tuple[str, ...] = ()
    confusion: tuple[tuple[float, ...], ...] = ()
    actual: tuple[float, ...] = ()
    predicted: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run."""

    best: str | None = None
    objectives: Mapping[str, float] = field(default_factory=dict)
    #: What the objectives were computed from, where they are not metrics themselves.
    metrics: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    ending: str = ""
    complexity: float | None = None
    front: tuple[Frontier, ...] = ()
    ensemble: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    final: str | None = None
    ensemble_kind: str = "vote"
    #: What predicts, with its figures; those below are of the best model alone.
    used: UsedModel = field(default_factory=lambda: UsedModel(False, ""))
    corrected: CorrectedWords = field(default_factory=CorrectedWords)
    #: A line for each model that needed no search, and the sentence for a search that found nothing better.
    baselines: tuple[str, ...] = ()
    not_ahead: str | None = None
    #: What is known of other runs on the rows, and on those of the test table.
    looks: tuple[str, ...] = ()
    tested: str = "test"
    ensemble_objectives: Mapping[str, float] = field(default_factory=dict)
    test: Mapping[str, float] = field(default_factory=dict)
    ensemble_test: Mapping[str, float] = field(default_factory=dict)
    interval: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    gap: Mapping[str, float] = field(default_factory=dict)
    preferred: tuple[Preference, ...] = ()
    predictions: Predictions | None = None
    test_predictions: Predictions | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


_COUNTS = ("evaluations", "reused", "repeats", "outside", "failures", "fits", "fits_saved")


def result_to_outcome(result: Mapping[str, Any]) -> Outcome:
    """The record of a run in its own types."""
    return Outcome(
        best=result.get("best"),
        baselines=tuple(baseline_words(result)),
        not_ahead=not_ahead(result),
        looks=(*ledger_words(result), *filter(None, [look_words(result)])),
        tested=test_label(result),
        objectives=_numbers(result.get("objectives")),
        metrics=_numbers(result.get("measures")),
        counts={name: int(result[name]) for name in _COUNTS if result.get(name) is not None},
        seconds=result.get("seconds"),
        ending=result.get("ending") or "",
        complexity=result.get("complexity"),
        front=tuple(
            Frontier(one["model"], _numbers(one["objectives"]), one.get("complexity"))
            for one in result.get("front") or ()
        ),
        ensemble=tuple(result.get("ensemble") or ()),
        weights=tuple(map(float, result.get("weights") or ())),
        final=result.get("final"),
        ensemble_kind=ensemble_kind(result).split()[-1],
        used=used_model(result),
        corrected=corrected_estimate(result),
        ensemble_objectives=_numbers(result.get("ensemble_objectives")),
        test=_numbers(result.get("test")),
        ensemble_test=_numbers(result.get("ensemble_test")),
        interval={
            name: (float(ends[0]), float(ends[1])) for name, ends in (result.get("interval") or {}).items() if ends
        },
        gap=_numbers(result.get("gap")),
        preferred=tuple(
            Preference(one["choice"], one["block"], int(one["asked"]), float(one["share"]), float(one["best_share"]))
            for one in result.get("preferred") or ()
        ),
        predictions=_predictions(result.get("judged")),
        test_predictions=_predictions(result.get("test_judged")),
        data=result.get("data") or {},
    )


def _numbers(found: Mapping[str, Any] | None) -> dict[str, float]:
    return {name: float(value) for name, value in (found or {}).items() if value is not None}


def _predictions(found: Mapping[str, Any] | None) -> Predictions | None:
    if not found:
        return None
    return Predictions(
        kind=found["kind"],
        classes=tuple(map(str, found.get("classes") or ())),
        confusion=tuple(tuple(map(float, row)) for row in found.get("confusion") or ()),
        actual=_reals(found.get("actual")),
        predicted=_reals(found.get("predicted")),
    )


def _reals(found: Sequence[float | None] | None) -> tuple[float, ...]:
    return tuple(float("nan") if value is None else float(value) for value in found or ())
