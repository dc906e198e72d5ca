"""Held out: what the winner says of rows that it was not fitted on, on the very splits that it was judged on."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The outputs of each pool of a trial, in the order of its rows."""

    trial: Trial
    outputs: tuple[Floats, ...]


def held_out(plan: Plan, winner: Candidate) -> dict[Call, HeldOut]:
    """The outputs of the winner by estimate. It is fitted once more as often as one evaluation fits it.

    An estimate that holds nothing out, or of which only the model itself is measured, has none.
    """
    ground, job = plan.job.ground, plan.job
    wanted = [objective.estimate for objective in plan.objectives if judges_rows(objective)]
    if not wanted:
        return {}
    trials = Trials(ground, (objective.estimate for objective in plan.objectives), plan.seed)
    planner = Planner(ground.columns, ground.task, plan.seed, job.trusted)
    judge = Judge(Fitter(ground, PrefixCache(0)), keeps=False, weighs_all=False)
    found: dict[Call, HeldOut] = {}
    with Listener(), config_context(assume_finite=True, skip_parameter_validation=True), threadpool_limits(job.threads):
        case = Case.of(Request(winner.model, turn=winner.turn), Diary())
        for estimate in dict.fromkeys(wanted):
            turns = range(winner.turn, winner.turn + winner.turns)
            met = [trials.trial(estimate, case.stream, 1.0, turn) for turn in turns]
            outputs = [judge.outputs(case.plan(planner), trial, case.diary, FitFigures()) for trial in met]
            found[estimate] = HeldOut(joined(met), tuple(pool for turn in outputs for pool in turn))
    return found


def judges_rows(objective: Objective) -> bool:
    """Whether an objective looks at outputs for rows that were held out."""
    return objective.estimate.name != "gcv" and any(not MEASURES[name].of_model for name in measures_of(objective.loss))
