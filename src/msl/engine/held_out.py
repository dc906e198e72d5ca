"""What models say of rows that they were not fitted on, on the very splits that the winner was judged on."""

from __future__ import annotations

from dataclasses import dataclass

from msl.blocks.base import Floats
from msl.engine.plan import Plan
from msl.engine.verdict import Candidate
from msl.evaluate.final_fits import OutputsRequest, request_stream, requested_trials
from msl.evaluate.trial import Trial, joined
from msl.space.measure import MEASURES
from msl.space.spec import Call, Objective, measures_of
from msl.space.value import Model


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """The outputs of each pool of a trial, in the order of its rows."""

    trial: Trial
    outputs: tuple[Floats, ...]


def outputs_request(model: Model, estimate: Call, judged: Candidate) -> OutputsRequest:
    """Asks for the outputs of a model on the splits that a candidate was judged on."""
    return OutputsRequest(model, estimate, request_stream(judged.model), judged.turn, judged.turns)


def requested_trial(plan: Plan, request: OutputsRequest) -> Trial:
    """The rows that the outputs of a request are about, all turns as one trial."""
    return joined(requested_trials(plan.job.ground, plan.objectives, plan.seed, request))


def judges_rows(objective: Objective) -> bool:
    """Whether an objective looks at outputs for rows that were held out."""
    return objective.estimate.name != "gcv" and any(not MEASURES[name].of_model for name in measures_of(objective.loss))


def row_estimates(plan: Plan) -> list[Call]:
    """The estimates of objectives that look at rows held out, each once."""
    return list(dict.fromkeys(objective.estimate for objective in plan.objectives if judges_rows(objective)))
