"""Held out: what models say of rows that they were not fitted on, on the very splits that the winner was judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sklearn import config_context
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from msl.blocks.base import Floats
from msl.engine.plan import Plan
from msl.engine.verdict import Candidate
from msl.evaluate.case import Case, Request
from msl.evaluate.diary import Diary, FitFigures
from msl.evaluate.fitting import Fitter
from msl.evaluate.judge import Judge
from msl.evaluate.listening import Listener
from msl.evaluate.plan import Planner
from msl.evaluate.prefix_cache import PrefixCache
from msl.evaluate.trial import Trial, joined
from msl.evaluate.trials import Trials
from msl.space.measure import MEASURES
from msl.space.spec import Call, Objective, measures_of
from msl.space.value import Model


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The outputs of each pool of a trial, in the order of its rows."""

    trial: Trial
    outputs: tuple[Floats, ...]


def held_out(plan: Plan, winner: Candidate) -> dict[Call, HeldOut]:
    """The outputs of the winner by estimate. It is fitted once more as often as one evaluation fits it.

    An estimate that holds nothing out, or of which only the model itself is measured, has none.
    """
    wanted = [objective.estimate for objective in plan.objectives if judges_rows(objective)]
    return {estimate: held[0] for estimate, held in outputs_held_out(plan, winner, [winner.model], wanted).items()}


def outputs_held_out(
    plan: Plan, judged: Candidate, models: Sequence[Model], wanted: Sequence[Call]
) -> dict[Call, list[HeldOut]]:
    """By estimate, the outputs of each model on the splits that one candidate was judged on."""
    if not wanted:
        return {}
    ground, job = plan.job.ground, plan.job
    trials = Trials(ground, (objective.estimate for objective in plan.objectives), plan.seed)
    planner = Planner(ground.columns, ground.task, plan.seed, job.trusted)
    judge = Judge(Fitter(ground, PrefixCache(job.cache_bytes if len(models) > 1 else 0)), keeps=False, weighs_all=False)
    stream = Case.of(Request(judged.model), Diary()).stream
    cases = [Case.of(Request(model, turn=judged.turn), Diary()) for model in models]
    found: dict[Call, list[HeldOut]] = {}
    with Listener(), config_context(assume_finite=True, skip_parameter_validation=True), threadpool_limits(job.threads):
        for estimate in dict.fromkeys(wanted):
            turns = range(judged.turn, judged.turn + judged.turns)
            met = [trials.trial(estimate, stream, 1.0, turn) for turn in turns]
            whole = joined(met)
            found[estimate] = []
            for case in cases:
                outputs = [judge.outputs(case.plan(planner), trial, case.diary, FitFigures()) for trial in met]
                found[estimate].append(HeldOut(whole, tuple(pool for turn in outputs for pool in turn)))
    return found


def judges_rows(objective: Objective) -> bool:
    """Whether an objective looks at outputs for rows that were held out."""
    return objective.estimate.name != "gcv" and any(not MEASURES[name].of_model for name in measures_of(objective.loss))
