"""Fold losses: the winners of runs fitted again on the same folds of their table, and what each came to on each."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from msl.blocks.problem import BlockProblem
from msl.check.model import text_to_model
from msl.evaluate.ground import Ground
from msl.evaluate.scoring import score
from msl.evaluate.split_outputs import SplitOutputs
from msl.evaluate.table import Table
from msl.evaluate.trial import Trial
from msl.evaluate.trials import Trials
from msl.report.stored_spec import check_stored, read_stored, stored_source
from msl.runs.run import Run
from msl.space.measure import DEFAULT_MEASURES, MEASURES
from msl.space.spec import Call, Objective, measures_of
from msl.space.value import Model

#: Estimates whose parts are several and are judged apart; of others there is one figure, or one a row.
_IN_PARTS = ("cv", "bootstrap632")
_FOLDS = Call("cv", "", (("folds", 10), ("repeats", 1), ("subsample", 1.0), ("shuffle", False)))


class NoFolds(ValueError):
    """Winners that cannot be compared fold by fold, and why."""


@dataclass(frozen=True, slots=True)
class Winner:
    """A run with the texts that its model is read with."""

    run: Run
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FoldLosses:
    """One measure of every winner on every fold; `by` says how the folds were made."""

    measure: str
    by: str
    seed: int
    losses: Mapping[str, tuple[float, ...]]


def fold_losses(winners: Sequence[Winner], table: Table, trusted: Collection[str] = ()) -> FoldLosses:
    """Fits each winner on the folds that the first run was judged by, or on ten where that has no folds.

    Raises NoFolds for a run without a winner, or with one that this table cannot be judged by.
    """
    first = winners[0].run
    objective = _objective(winners[0], table)
    ground = Ground.of(table)
    estimate = objective.estimate if objective is not None and objective.estimate.name in _IN_PARTS else _FOLDS
    measure = _measure(objective, ground.task)
    trial = Trials(ground, [estimate], first.seed).trial(estimate, 0, 1.0, 0)
    found = {one.run.id: _losses(one, ground, trial, measure, trusted) for one in winners}
    return FoldLosses(measure, _written(estimate), first.seed, found)


def _objective(winner: Winner, table: Table) -> Objective | None:
    spec = check_stored(winner.run, winner.sources, table.facts).spec
    return None if spec is None or not spec.objectives else spec.objectives[0]


def _measure(objective: Objective | None, task: str) -> str:
    """What the first objective measures of predictions; what it measures of models has no folds."""
    names = () if objective is None else measures_of(objective.loss)
    fitting = [name for name in names if name in MEASURES and not MEASURES[name].of_model and name != "relative_error"]
    return fitting[0] if fitting else DEFAULT_MEASURES[task]


def _losses(winner: Winner, ground: Ground, trial: Trial, measure: str, trusted: Collection[str]) -> tuple[float, ...]:
    model, seed = winning_model(winner), winner.run.seed
    losses = []
    # What the bootstrap judges on the rows that it fits on is no fold.
    splits = [split for split in trial.splits if split.pool == 1 or trial.estimate.name == "cv"]
    fitted = SplitOutputs(ground, seed, trusted)
    for split in splits:
        try:
            outputs = fitted.of(model, split)
        except BlockProblem as problem:
            raise NoFolds(f"the winner of `{winner.run.id}` cannot be fitted: {problem.message}") from None
        losses.append(score(measure, ground.y[split.test], outputs, ground.n_classes))
    if not all(map(math.isfinite, losses)):
        raise NoFolds(f"`{measure}` has no value on some folds, which are too small for it")
    return tuple(losses)


def winning_model(winner: Winner) -> Model:
    """The best model of a run, read with the names of its own spec."""
    best = winner.run.result.get("best")
    if best is None:
        raise NoFolds(f"the run `{winner.run.id}` has no winner")
    model, problems = text_to_model(str(best), stored_source(winner.run, winner.sources), read_stored(winner.sources))
    if model is None:
        why = problems[0].message if problems else "it is no model"
        raise NoFolds(f"the winner of `{winner.run.id}` cannot be read again: {why}")
    return model


def _written(estimate: Call) -> str:
    named = dict(estimate.options)
    shown = [f"{name} = {named[name]}" for name in ("folds", "repeats", "samples") if named.get(name, 1) != 1]
    return f"{estimate.name}({', '.join(shown)})"
