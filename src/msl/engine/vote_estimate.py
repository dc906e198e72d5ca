"""Vote estimate: how good an ensemble is, judged as the winner was — its members' votes on rows that were held out.

It costs as many fits as one evaluation of each member. The members were chosen by what they got on the same splits, so
that it is as hopeful as the estimate of the winner is, which it stands beside.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from msl.blocks.array_model import sum_to_one
from msl.blocks.base import Floats
from msl.blocks.committee import as_probabilities, voted
from msl.engine.ensembles import Members
from msl.engine.held_out import HeldOut, judges_rows, outputs_held_out
from msl.engine.interval import interval
from msl.engine.plan import Plan
from msl.engine.verdict import Candidate
from msl.evaluate.trials import Trials
from msl.space.measure import MEASURES
from msl.space.spec import Objective, loss_value, measures_of


@dataclass(frozen=True, slots=True)
class VoteEstimate:
    """By the names of the objectives, as the user counts them."""

    objectives: dict[str, float]
    interval: dict[str, list[float] | None]


def estimate_vote(plan: Plan, members: Members, winner: Candidate) -> VoteEstimate | None:
    """None where nothing can be said: of one member alone, of what is measured on the model itself, and where every
    evaluation has rows of its own."""
    trials = Trials(plan.job.ground, (objective.estimate for objective in plan.objectives), plan.seed)
    named = [
        (name, objective)
        for name, objective in zip(plan.objective_names(), plan.objectives, strict=True)
        if _judges_rows_alone(objective) and not trials.is_fresh(objective.estimate)
    ]
    if len(members.candidates) < 2 or not named:
        return None
    models = [one.model for one in members.candidates]
    try:
        outputs = outputs_held_out(plan, winner, models, [objective.estimate for _, objective in named])
    except Exception:  # a member that was judged on other splits than the winner, and cannot be fitted on these
        return None
    found = {estimate: _together(plan, members, held) for estimate, held in outputs.items()}
    objectives, intervals = {}, {}
    for name, objective in named:
        held = found[objective.estimate]
        scores = {
            measure: held.trial.score(measure, held.outputs, plan.job.ground.n_classes)
            for measure in measures_of(objective.loss)
        }
        objectives[name] = loss_value(objective.loss, scores)
        intervals[name] = interval(plan, objective, scores, objectives[name], found)
    return VoteEstimate(objectives, intervals)


def _judges_rows_alone(objective: Objective) -> bool:
    """`relative_error` is left out too: it is a multiple of another model's error."""
    names = measures_of(objective.loss)
    return judges_rows(objective) and not any(MEASURES[name].of_model or name == "relative_error" for name in names)


def _together(plan: Plan, members: Members, held: list[HeldOut]) -> HeldOut:
    """The vote on each pool."""
    n_classes = plan.job.ground.n_classes
    softly = members.voting == "soft" and n_classes > 0
    said = [_probabilities(one.outputs) if softly else one.outputs for one in held]
    pools = tuple(voted(pool, members.weights, n_classes, members.voting) for pool in zip(*said, strict=True))
    return HeldOut(held[0].trial, pools)


def _probabilities(outputs: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """As in the vote itself, what a member means is settled once, by all its outputs."""
    everything = np.concatenate(outputs)
    ends = accumulate((len(pool) for pool in outputs), initial=0)
    probabilities = as_probabilities(everything, sum_to_one(everything))
    return tuple(probabilities[start:stop] for start, stop in pairwise(ends))
