"""Choose the members of an ensemble from the evaluated models, and estimate how good their vote is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from msl.blocks.base.block import Floats
from msl.blocks.base.build import model_to_chain
from msl.blocks.base.chain import ChainClassifier, ChainRegressor, sum_to_one
from msl.blocks.ensembles import Voting, as_probabilities, voted
from msl.check.names.scoring_declarations import DEFAULT_METRICS, metric_named
from msl.evaluate.final_fits import COMMON_FOLDS
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.choose_winner import Candidate, candidates_of, ranked_candidates
from msl.runner.confidence_intervals import HeldOut, interval, uses_held_out_rows
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.runner.stored_ensembles import Greedy, Stack
from msl.space.spec import Estimate, Metric, Objective, loss_value, metrics_of
from msl.space.values import BlockValue, Model, PipelineValue, steps_of_value

_POOL = 25  # the number of best models that a greedy selection considers
_SMALLEST, _LARGEST = 3, 51  # the sizes that `top = auto` tries


@dataclass(frozen=True, slots=True, eq=False)
class EnsembleMembers:
    """The models of an ensemble, the weights of their votes, and whether they vote for classes or by probabilities."""

    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...]
    voting: Voting = "hard"
    #: The last learner of a stack, fitted on outputs for rows held out.
    final: Any = None


#: The outputs of the vote of some candidates, for held-out rows.
Vote = Callable[[Sequence[Candidate]], Floats]
#: Chooses members from candidates, given their vote and the loss of a vote.
Choose = Callable[[Plan, list[Candidate], Vote, Callable[[Floats], float]], list[Candidate]]


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """The models that may become members, the best first.

    `choose` selects some of them by their outputs for held-out rows, which are computed for it; `combine` does by those
    that the store keeps. If both are None, all are members.
    """

    candidates: tuple[Candidate, ...]
    choose: Choose | None = None
    combine: Greedy | Stack | None = None

    @property
    def is_choice(self) -> bool:
        return self.choose is not None


EnsembleFunction = Callable[[Plan, SearchResult, Mapping[str, Any]], Shortlist]


def shortlist(plan: Plan, found: SearchResult) -> Shortlist:
    """The models that may become members by the `ensemble` statement of the spec; none without one."""
    call = plan.spec.ensemble
    if call is None:
        return Shortlist(())
    ensemble: EnsembleFunction = EntryPoint(call.name, call.target, "msl.ensembles").load()
    return ensemble(plan, found, dict(call.options))


# --- the ensembles of the catalogue ---


def vote(plan: Plan, found: SearchResult, options: Mapping[str, Any]) -> Shortlist:
    """The best models, with `distinct` one of those with equal losses; with `top = auto` their consensus says how
    many."""
    ranked = ranked_candidates(plan, found)
    best = _without_ties(ranked) if options["distinct"] else ranked
    if options["top"] == "auto":
        return Shortlist(tuple(best[: _LARGEST + 2]), _by_consensus)
    return Shortlist(tuple(best[: int(options["top"])]))


def best_first(plan: Plan, found: SearchResult, options: Mapping[str, Any]) -> Shortlist:
    """A greedy forward selection from the best models."""
    most, replacement = int(options["max"]), bool(options["replacement"])

    def choose(plan: Plan, pool: list[Candidate], vote: Vote, loss: Callable[[Floats], float]) -> list[Candidate]:
        return _greedy(lambda chosen: loss(vote(chosen)), pool, most, replacement)

    return Shortlist(tuple(_without_ties(ranked_candidates(plan, found))[:_POOL]), choose)


def greedy(plan: Plan, found: SearchResult, options: Mapping[str, Any]) -> Shortlist:
    """Ensemble selection with replacement by the outputs that the store keeps."""
    combine = Greedy(int(options["max"]), int(options["steps"]))
    return Shortlist(tuple(_without_ties(ranked_candidates(plan, found))), combine=combine)


def stack(plan: Plan, found: SearchResult, options: Mapping[str, Any]) -> Shortlist:
    """The members that greedy selection takes, and a last learner on their outputs."""
    selects = Greedy(int(options["max"]), int(options["steps"]))
    make = partial(_last_learner, plan, options["final"])
    combine = Stack(selects, make, plan.job.dataset.n_classes, options["final"] is None)
    return Shortlist(tuple(_without_ties(ranked_candidates(plan, found))), combine=combine)


def _last_learner(plan: Plan, final: BlockValue | PipelineValue | None) -> ChainClassifier | ChainRegressor:
    """The last learner of a stack, not fitted; without one a linear learner on columns of one scale."""
    if final is not None:
        return model_to_chain(Model(steps_of_value(final)), plan.job.dataset.task, plan.seed, plan.job.trusted)
    if plan.job.dataset.n_classes:
        return ChainClassifier(steps=[], learner=LogisticRegression(max_iter=1_000), posts=[])
    return ChainRegressor(steps=[StandardScaler()], learner=Ridge(), posts=[])


def swarm(plan: Plan, found: SearchResult, options: Mapping[str, Any]) -> Shortlist:
    """The personal bests or the archive of the last swarm of the search."""
    return Shortlist(tuple(_last_swarm(plan, found)))


def make_members(plan: Plan, candidates: Sequence[Candidate], voting: Voting) -> EnsembleMembers:
    """An ensemble of these candidates, with the weights that the spec asks for."""
    call = plan.spec.ensemble
    is_weighted = call is not None and bool(dict(call.options).get("weighted"))
    return EnsembleMembers(
        tuple(candidates), _weights(plan, candidates) if is_weighted else (1.0,) * len(candidates), voting
    )


def choose_voting(plan: Plan, gives_probabilities: Iterable[bool]) -> Voting:
    """Hard or soft voting: as the spec says; by default soft if the metric needs probabilities or all members give
    them, because a hard vote ignores how certain a member is."""
    call = plan.spec.ensemble
    wanted = "auto" if call is None else dict(call.options).get("voting", "auto")
    if call is not None and "final" in dict(call.options):
        return "soft"
    if wanted == "hard" or not plan.job.dataset.n_classes:
        return "hard"
    if wanted == "soft" or any(metric.needs == "probabilities" for metric in metrics_of(plan.objectives[0].loss)):
        return "soft"
    return "soft" if all(gives_probabilities) else "hard"


def choose_members(plan: Plan, listed: Shortlist, vote: Vote, loss: Callable[[Floats], float]) -> list[Candidate]:
    """The members from a shortlist, chosen by their vote on held-out rows and its loss."""
    pool = list(listed.candidates)
    return pool if listed.choose is None else listed.choose(plan, pool, vote, loss)


def _by_consensus(plan: Plan, pool: list[Candidate], vote: Vote, loss: Callable[[Floats], float]) -> list[Candidate]:
    return pool[: _consensus_size(plan, vote, pool)]


def _without_ties(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Only the first of candidates with equal losses. Local searches end with many models that are almost the same, and
    these would outvote all others."""
    first: dict[tuple[float, ...], Candidate] = {}
    for one in ranked:
        first.setdefault(one.losses, one)
    return list(first.values())


def _weights(plan: Plan, chosen: Sequence[Candidate]) -> tuple[float, ...]:
    """Weights that are inversely proportional to the distance from a perfect loss; the best has weight 1.

    If the best has a perfect loss, it counts as one row away from it; otherwise it would vote alone. If there is no
    perfect loss, as with 1 / ber, the last has half the weight of the best.
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


def _last_swarm(plan: Plan, found: SearchResult) -> list[Candidate]:
    """The personal bests or the archive of the last swarm at its end, the best first; without a swarm, the best."""
    ranked = sorted(candidates_of(plan, found), key=lambda one: (one.losses, one.complexity))
    known = {one.model for one in ranked}
    for event in reversed(found.events):
        if event.kept and "swarm" in plan.spec.search[int(event.figures["stage"])].call.capabilities.leaves:
            search_space = plan.search_spaces[int(event.figures["stage"])]
            decoded = (found.evaluator.model_of(search_space.decode(one.vector)) for one in event.kept)
            models = [model for model in decoded if model is not None]
            if kept := known.intersection(models):
                return [one for one in ranked if one.model in kept]
            break
    return ranked[:1]


def _greedy(
    loss_of: Callable[[Sequence[Candidate]], float], pool: list[Candidate], most: int, replacement: bool
) -> list[Candidate]:
    """Starts with the best, and adds the one that improves the vote most, the simpler on ties, until none does."""
    if not pool:
        return []
    chosen = [pool[0]]
    loss = loss_of(chosen)
    while len(chosen) < most:
        others = pool if replacement else [one for one in pool if one not in chosen]
        losses = [(loss_of([*chosen, one]), one.complexity, index) for index, one in enumerate(others)]
        if not losses or min(losses)[0] >= loss:
            break
        loss, _, index = min(losses)
        chosen.append(others[index])
    return chosen


def _consensus_size(plan: Plan, vote: Vote, ranked: list[Candidate]) -> int:
    """The smallest size at which two more members hardly change the vote, as in the KMS paper.

    It is the first size at which the disagreement falls below a tenth of its maximum over all sizes; if there is none,
    the size with the least disagreement.
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


# --- The estimate of a vote, on the splits of the winner: each row is voted on by models that were not fitted on it. --
#
# The members were chosen by their losses on the same splits, so that the estimate is as optimistic as the winner's.


@dataclass(frozen=True, slots=True)
class VoteEstimate:
    """The objectives of a vote by name, with the sign that the user sees; `held` has the votes themselves.

    `metric` is the one that the vote and the winner are compared by, and `ensemble` and `best` are its values for both
    on the same held-out rows. These are the rows of `COMMON_FOLDS` if no objective can be computed for a vote.
    """

    objectives: dict[str, float]
    interval: dict[str, list[float] | None]
    held: Mapping[Estimate, HeldOut]
    metric: str
    ensemble: float
    best: float
    is_better: bool

    @property
    def figures(self) -> str:
        return f"{self.metric} {self.ensemble:.4g} against {self.best:.4g}"


def vote_estimates(plan: Plan) -> list[Estimate]:
    """The estimates that can be computed for a vote; `COMMON_FOLDS` if there are none."""
    return list(dict.fromkeys(objective.estimate for _, objective in objectives_of_votes(plan))) or [COMMON_FOLDS]


def estimate_vote(
    plan: Plan,
    members: EnsembleMembers,
    outputs: Mapping[Estimate, Sequence[HeldOut]],
    winner: Mapping[Estimate, HeldOut],
) -> VoteEstimate:
    """The estimate of a vote, from the outputs of its members and of the winner for each of `vote_estimates`."""
    held = {estimate: _vote_on_held_out(plan, members, each) for estimate, each in outputs.items()}
    return estimate_of_outputs(plan, held, winner)


def estimate_of_outputs(
    plan: Plan, held: Mapping[Estimate, HeldOut], winner: Mapping[Estimate, HeldOut]
) -> VoteEstimate:
    """The estimate of an ensemble from what it says of the rows of some of `vote_estimates`, beside the winner."""
    objectives, intervals = {}, {}
    of_votes = [(name, objective) for name, objective in objectives_of_votes(plan) if objective.estimate in held]
    for name, objective in of_votes:
        scores = _scores(objective, held[objective.estimate])
        objectives[name] = loss_value(objective.loss, scores)
        intervals[name] = interval(plan, objective, scores, objectives[name], held)
    if of_votes:
        name, objective = of_votes[0]
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
    """The first metric of the first objective that is computed from rows; else the default metric of the task."""
    named = [each for each in metrics_of(plan.objectives[0].loss) if not each.of_model and each.relative_to is None]
    return named[0] if named else metric_named(DEFAULT_METRICS[plan.job.dataset.task])


def objectives_of_votes(plan: Plan) -> list[tuple[str, Objective]]:
    """The objectives that can be computed for a vote, with their names.

    These are not those of the model itself, those relative to another model, or those whose splits differ from model to
    model.
    """
    resamplings = ResamplingPlan(plan.job.dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    return [
        (name, objective)
        for name, objective in zip(plan.objective_names(), plan.objectives, strict=True)
        if uses_held_out_rows(objective)
        and not any(each.of_model or each.relative_to is not None for each in metrics_of(objective.loss))
        and not resamplings.is_fresh(objective.estimate)
    ]


def _scores(objective: Objective, held: HeldOut) -> dict[str, float]:
    return {metric.name: held.resampling.score(metric, held.outputs) for metric in metrics_of(objective.loss)}


def _vote_on_held_out(plan: Plan, members: EnsembleMembers, held: Sequence[HeldOut]) -> HeldOut:
    return HeldOut(held[0].resampling, vote_outputs(plan, members, [one.outputs for one in held]))


def vote_outputs(plan: Plan, members: EnsembleMembers, outputs: Sequence[tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """The vote on each pool, from the outputs of each member."""
    n_classes = plan.job.dataset.n_classes
    is_soft = members.voting == "soft" and n_classes > 0
    votes = [_probabilities(one) if is_soft else one for one in outputs]
    return tuple(voted(pool, members.weights, n_classes, members.voting) for pool in zip(*votes, strict=True))


def _probabilities(outputs: tuple[Floats, ...]) -> tuple[Floats, ...]:
    """Probabilities from the outputs of a member. As in the fitted ensemble, all outputs together show whether they are
    probabilities already."""
    everything = np.concatenate(outputs)
    ends = accumulate((len(pool) for pool in outputs), initial=0)
    probabilities = as_probabilities(everything, sum_to_one(everything))
    return tuple(probabilities[start:stop] for start, stop in pairwise(ends))
