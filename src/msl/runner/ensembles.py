"""Which of the evaluated models vote together: the best ones, a greedy choice, or what a swarm remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import sum_to_one
from msl.blocks.ensemble import Voting, as_probabilities, voted
from msl.check.names.scoring_declarations import DEFAULT_METRICS, metric_named
from msl.evaluate.final_fits import COMMON_FOLDS
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.loop import Search
from msl.runner.plan import Plan
from msl.runner.uncertainty import HeldOut, interval, judges_rows
from msl.runner.verdict import Candidate, candidates_of, ranked_candidates
from msl.space.metric import Metric
from msl.space.spec import Estimate, Objective, loss_value, metrics_of
from msl.space.values import Model

_POOL = 25  # how many of the best a greedy choice looks at
_SMALLEST, _LARGEST = 3, 51  # sizes that `top = auto` tries


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleMembers:
    """The models of an ensemble, the weights of their votes, and whether they vote by classes or by probabilities."""

    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...]
    voting: Voting = "hard"


#: The outputs of some candidates together, for the rows of the choice.
Vote = Callable[[Sequence[Candidate]], Floats]
#: The members that are chosen from some candidates, by their vote and its loss.
Choose = Callable[[Plan, list[Candidate], Vote, Callable[[Floats], float]], list[Candidate]]


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """The models that may become members, the best first; `choose` takes some of them by their outputs for rows held
    out, and is None where all are members."""

    candidates: tuple[Candidate, ...]
    choose: Choose | None = None

    @property
    def is_choice(self) -> bool:
        return self.choose is not None


EnsembleFunction = Callable[[Plan, Search, Mapping[str, Any]], Shortlist]


def shortlist(plan: Plan, found: Search) -> Shortlist:
    """The models that the `ensemble` statement of a spec speaks of."""
    call = plan.spec.ensemble
    if call is None:
        return Shortlist(())
    ensemble: EnsembleFunction = EntryPoint(call.name, call.target, "msl.ensembles").load()
    return ensemble(plan, found, dict(call.options))


# --- the ensembles of the catalogue ---


def vote(plan: Plan, found: Search, options: Mapping[str, Any]) -> Shortlist:
    """The best models, one of those with equal losses; with `top = auto` their consensus says how many."""
    unlike = _unlike(ranked_candidates(plan, found))
    if options["top"] == "auto":
        return Shortlist(tuple(unlike[: _LARGEST + 2]), _by_consensus)
    return Shortlist(tuple(unlike[: int(options["top"])]))


def best_first(plan: Plan, found: Search, options: Mapping[str, Any]) -> Shortlist:
    """A greedy choice from the best models."""
    most, replacement = int(options["max"]), bool(options["replacement"])

    def choose(plan: Plan, pool: list[Candidate], vote: Vote, loss: Callable[[Floats], float]) -> list[Candidate]:
        return _greedy(lambda chosen: loss(vote(chosen)), pool, most, replacement)

    return Shortlist(tuple(_unlike(ranked_candidates(plan, found))[:_POOL]), choose)


def swarm(plan: Plan, found: Search, options: Mapping[str, Any]) -> Shortlist:
    """What the last swarm of the search remembers."""
    return Shortlist(tuple(_remembered(plan, found)))


def make_members(plan: Plan, candidates: Sequence[Candidate], voting: Voting) -> EnsembleMembers:
    """These candidates with the weights that the spec asks for."""
    call = plan.spec.ensemble
    is_weighted = call is not None and bool(call["weighted"])
    return EnsembleMembers(
        tuple(candidates), _weights(plan, candidates) if is_weighted else (1.0,) * len(candidates), voting
    )


def settled_voting(plan: Plan, gives_probabilities: Iterable[bool]) -> Voting:
    """How members vote: as the spec says; by default softly where the metric looks at probabilities or all members give
    them, since a count of hands forgets how sure a member is."""
    call = plan.spec.ensemble
    asked = "auto" if call is None else call["voting"]
    if asked == "hard" or not plan.job.dataset.n_classes:
        return "hard"
    if asked == "soft" or any(metric.needs == "probabilities" for metric in metrics_of(plan.objectives[0].loss)):
        return "soft"
    return "soft" if all(gives_probabilities) else "hard"


def choose_members(plan: Plan, listed: Shortlist, vote: Vote, loss: Callable[[Floats], float]) -> list[Candidate]:
    """Those of a shortlist whose vote on rows held out is worth most; `loss` is that of the outputs of a vote."""
    pool = list(listed.candidates)
    return pool if listed.choose is None else listed.choose(plan, pool, vote, loss)


def _by_consensus(plan: Plan, pool: list[Candidate], vote: Vote, loss: Callable[[Floats], float]) -> list[Candidate]:
    return pool[: _consensus_size(plan, vote, pool)]


def _unlike(ranked: Sequence[Candidate]) -> list[Candidate]:
    """The first of those with equal losses: local searches end among models that hardly differ and outvote all."""
    first: dict[tuple[float, ...], Candidate] = {}
    for one in ranked:
        first.setdefault(one.losses, one)
    return list(first.values())


def _weights(plan: Plan, chosen: Sequence[Candidate]) -> tuple[float, ...]:
    """Falling with the distance to a perfect score: the best has 1, one that is twice as far from it half as much.

    A best that is perfect is taken to be as far from it as one more row could bring it, lest it vote alone. Where there
    is no perfect score, as with 1 / ber, the last has half the weight of the best.
    """
    losses = np.array([one.losses[0] for one in chosen])
    spread = float(losses.max() - losses.min())
    perfect = _perfect_loss(plan.objectives[0])
    if perfect is None or perfect > losses.min():
        away = losses - losses.min() + spread
    else:
        away = losses - perfect
        away += max(float(away.max()) / plan.job.dataset.population.n_rows - float(away.min()), 0.0)
    return tuple((away.min() / away).tolist()) if away.min() > 0.0 else (1.0,) * len(chosen)


def _perfect_loss(objective: Objective) -> float | None:
    try:
        value = loss_value(objective.loss, {metric.name: metric.ideal for metric in metrics_of(objective.loss)})
    except ArithmeticError:
        return None
    return (value if objective.minimize else -value) if np.isfinite(value) else None


def _remembered(plan: Plan, found: Search) -> list[Candidate]:
    """What the last swarm went on from at its end, its personal bests or its archive, the best first."""
    everyone = sorted(candidates_of(plan, found), key=lambda one: (one.losses, one.complexity))
    known = {one.model for one in everyone}
    for event in reversed(found.events):
        if event.kept and "swarm" in plan.spec.search[int(event.figures["stage"])].call.capabilities.leaves:
            search_space = plan.search_spaces[int(event.figures["stage"])]
            models = [model for one in event.kept if isinstance(model := search_space.decode(one.vector), Model)]
            if remembered := known.intersection(models):
                return [one for one in everyone if one.model in remembered]
            break
    return everyone[:1]


def _greedy(
    loss_of: Callable[[Sequence[Candidate]], float], pool: list[Candidate], most: int, replacement: bool
) -> list[Candidate]:
    """Starts with the best and adds whoever helps the vote most, the simpler on ties, until nobody helps."""
    if not pool:
        return []
    chosen = [pool[0]]
    loss = loss_of(chosen)
    while len(chosen) < most:
        others = pool if replacement else [one for one in pool if one not in chosen]
        trials = [(loss_of([*chosen, one]), one.complexity, place) for place, one in enumerate(others)]
        if not trials or min(trials)[0] >= loss:
            break
        loss, _, place = min(trials)
        chosen.append(others[place])
    return chosen


def _consensus_size(plan: Plan, vote: Vote, ranked: list[Candidate]) -> int:
    """The smallest size whose votes hardly differ from those of two members more, as the KMS paper reads its figure.

    Disagreement is taken relative to the largest seen; the first size at which it falls below a tenth is taken, or the
    one with the least of it.
    """
    sizes = [size for size in range(_SMALLEST, _LARGEST, 2) if size + 2 <= len(ranked)]
    if not sizes:
        return len(ranked)
    votes = {size: vote(ranked[:size]) for size in [*sizes, sizes[-1] + 2]}
    if plan.job.dataset.n_classes:
        differ = [float(np.mean(votes[n].argmax(axis=1) != votes[n + 2].argmax(axis=1))) for n in sizes]
    else:
        differ = [float(np.mean(np.abs(votes[n] - votes[n + 2]))) for n in sizes]
    largest = max(differ)
    settled = [size for size, one in zip(sizes, differ, strict=True) if one <= 0.1 * largest]
    return settled[0] if settled else sizes[int(np.argmin(differ))]


# --- How good an ensemble is, judged as the winner was: its members' votes on rows that were held out from each of ----
# them.
#
# The members were chosen by what they came to on the same splits, so that the estimate is as optimistic as that of the
# winner, which it stands beside.


@dataclass(frozen=True, slots=True)
class VoteEstimate:
    """By the names of the objectives, as the user counts them; `held` has the votes themselves.

    `metric` is what the vote was compared with the winner by, and `ensemble` and `best` are their values on the same
    rows held out, which are those of `COMMON_FOLDS` where no objective can be told of a vote.
    """

    objectives: dict[str, float]
    interval: dict[str, list[float] | None]
    held: Mapping[Estimate, HeldOut]
    metric: str
    ensemble: float
    best: float
    is_better: bool


def vote_estimates(plan: Plan) -> list[Estimate]:
    """The estimates that a vote can be judged by; the folds common to all models where there are none."""
    return list(dict.fromkeys(objective.estimate for _, objective in _judging_votes(plan))) or [COMMON_FOLDS]


def estimate_vote(
    plan: Plan,
    members: EnsembleMembers,
    outputs: Mapping[Estimate, Sequence[HeldOut]],
    winner: Mapping[Estimate, HeldOut],
) -> VoteEstimate:
    """From the outputs of each member and of the winner by estimate, those of `vote_estimates`."""
    held = {estimate: _together(plan, members, each) for estimate, each in outputs.items()}
    objectives, intervals = {}, {}
    for name, objective in _judging_votes(plan):
        scores = _scores(objective, held[objective.estimate])
        objectives[name] = loss_value(objective.loss, scores)
        intervals[name] = interval(plan, objective, scores, objectives[name], held)
    judging = _judging_votes(plan)
    if judging:
        name, objective = judging[0]
        vote, alone = objectives[name], loss_value(objective.loss, _scores(objective, winner[objective.estimate]))
        sign = 1.0 if objective.minimize else -1.0
    else:
        metric = row_metric(plan)
        name = metric.name
        (vote, alone) = (
            each.resampling.score(metric, each.outputs) for each in (held[COMMON_FOLDS], winner[COMMON_FOLDS])
        )
        sign = -1.0 if metric.larger_is_better else 1.0
    return VoteEstimate(objectives, intervals, held, name, vote, alone, sign * vote < sign * alone)


def row_metric(plan: Plan) -> Metric:
    """The first metric of the first objective that looks at rows; the usual one of the task where there is none."""
    named = [each for each in metrics_of(plan.objectives[0].loss) if not each.of_model and each.relative_to is None]
    return named[0] if named else metric_named(DEFAULT_METRICS[plan.job.dataset.task])


def _judging_votes(plan: Plan) -> list[tuple[str, Objective]]:
    """The objectives that can be told of a vote, with their names: not what is measured on the model itself, nor
    relative to another model, nor where every evaluation has rows of its own."""
    trials = ResamplingPlan(plan.job.dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    return [
        (name, objective)
        for name, objective in zip(plan.objective_names(), plan.objectives, strict=True)
        if judges_rows(objective)
        and not any(each.of_model or each.relative_to is not None for each in metrics_of(objective.loss))
        and not trials.is_fresh(objective.estimate)
    ]


def _scores(objective: Objective, held: HeldOut) -> dict[str, float]:
    return {metric.name: held.resampling.score(metric, held.outputs) for metric in metrics_of(objective.loss)}


def _together(plan: Plan, members: EnsembleMembers, held: Sequence[HeldOut]) -> HeldOut:
    return HeldOut(held[0].resampling, vote_outputs(plan, members, [one.outputs for one in held]))


def vote_outputs(plan: Plan, members: EnsembleMembers, outputs: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """The vote on each pool, from the outputs of each member."""
    n_classes = plan.job.dataset.n_classes
    softly = members.voting == "soft" and n_classes > 0
    said = [_probabilities(one) if softly else one for one in outputs]
    return tuple(voted(pool, members.weights, n_classes, members.voting) for pool in zip(*said, strict=True))


def _probabilities(outputs: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """As in the vote itself, what a member means is settled once, by all its outputs."""
    everything = np.concatenate(outputs)
    ends = accumulate((len(pool) for pool in outputs), initial=0)
    probabilities = as_probabilities(everything, sum_to_one(everything))
    return tuple(probabilities[start:stop] for start, stop in pairwise(ends))
