"""How good an ensemble is, judged as the winner was: its members' votes on rows that were held out from each of them.

The members were chosen by what they came to on the same splits, so that the estimate is as optimistic as that of the
winner, which it stands beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from msl.blocks.array_model import sum_to_one
from msl.blocks.base import Floats
from msl.blocks.committee import as_probabilities, voted
from msl.engine.ensembles import Members
from msl.engine.held_out import HeldOut, judges_rows
from msl.engine.interval import interval
from msl.engine.plan import Plan
from msl.evaluate.final_fits import COMMON_FOLDS
from msl.evaluate.trials import Trials
from msl.space.measure import DEFAULT_MEASURES, MEASURES
from msl.space.spec import Call, Objective, loss_value, measures_of


@dataclass(frozen=True, slots=True)
class VoteEstimate:
    """By the names of the objectives, as the user counts them; `held` has the votes themselves.

    `metric` is what the vote was compared with the winner by, and `ensemble` and `best` are their values on the same
    rows held out, which are those of `COMMON_FOLDS` where no objective can be told of a vote.
    """

    objectives: dict[str, float]
    interval: dict[str, list[float] | None]
    held: Mapping[Call, HeldOut]
    metric: str
    ensemble: float
    best: float
    is_better: bool


def vote_estimates(plan: Plan) -> list[Call]:
    """The estimates that a vote can be judged by; the folds common to all models where there are none."""
    return list(dict.fromkeys(objective.estimate for _, objective in _judging_votes(plan))) or [COMMON_FOLDS]


def estimate_vote(
    plan: Plan, members: Members, outputs: Mapping[Call, Sequence[HeldOut]], winner: Mapping[Call, HeldOut]
) -> VoteEstimate:
    """From the outputs of each member and of the winner by estimate, those of `vote_estimates`."""
    held = {estimate: _together(plan, members, each) for estimate, each in outputs.items()}
    objectives, intervals = {}, {}
    for name, objective in _judging_votes(plan):
        scores = _scores(plan, objective, held[objective.estimate])
        objectives[name] = loss_value(objective.loss, scores)
        intervals[name] = interval(plan, objective, scores, objectives[name], held)
    judging = _judging_votes(plan)
    if judging:
        name, objective = judging[0]
        vote, alone = objectives[name], loss_value(objective.loss, _scores(plan, objective, winner[objective.estimate]))
        sign = 1.0 if objective.minimize else -1.0
    else:
        name = row_measure(plan)
        (vote, alone) = (
            each.trial.score(name, each.outputs, plan.job.ground.n_classes)
            for each in (held[COMMON_FOLDS], winner[COMMON_FOLDS])
        )
        sign = -1.0 if MEASURES[name].larger_is_better else 1.0
    return VoteEstimate(objectives, intervals, held, name, vote, alone, sign * vote < sign * alone)


def row_measure(plan: Plan) -> str:
    """The first metric of the first objective that looks at rows; the usual one of the task where there is none."""
    named = [name for name in measures_of(plan.objectives[0].loss) if not MEASURES[name].of_model]
    return next((name for name in named if name != "relative_error"), DEFAULT_MEASURES[plan.job.ground.task])


def _judging_votes(plan: Plan) -> list[tuple[str, Objective]]:
    """The objectives that can be told of a vote, with their names: not what is measured on the model itself, nor
    `relative_error`, a multiple of another model's error, nor where every evaluation has rows of its own."""
    trials = Trials(plan.job.ground, (objective.estimate for objective in plan.objectives), plan.seed)
    return [
        (name, objective)
        for name, objective in zip(plan.objective_names(), plan.objectives, strict=True)
        if judges_rows(objective)
        and not any(MEASURES[each].of_model or each == "relative_error" for each in measures_of(objective.loss))
        and not trials.is_fresh(objective.estimate)
    ]


def _scores(plan: Plan, objective: Objective, held: HeldOut) -> dict[str, float]:
    n_classes = plan.job.ground.n_classes
    return {name: held.trial.score(name, held.outputs, n_classes) for name in measures_of(objective.loss)}


def _together(plan: Plan, members: Members, held: Sequence[HeldOut]) -> HeldOut:
    return HeldOut(held[0].trial, vote_outputs(plan, members, [one.outputs for one in held]))


def vote_outputs(plan: Plan, members: Members, outputs: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """The vote on each pool, from the outputs of each member."""
    n_classes = plan.job.ground.n_classes
    softly = members.voting == "soft" and n_classes > 0
    said = [_probabilities(one) if softly else one for one in outputs]
    return tuple(voted(pool, members.weights, n_classes, members.voting) for pool in zip(*said, strict=True))


def _probabilities(outputs: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """As in the vote itself, what a member means is settled once, by all its outputs."""
    everything = np.concatenate(outputs)
    ends = accumulate((len(pool) for pool in outputs), initial=0)
    probabilities = as_probabilities(everything, sum_to_one(everything))
    return tuple(probabilities[start:stop] for start, stop in pairwise(ends))
