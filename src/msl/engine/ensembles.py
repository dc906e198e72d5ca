"""Which of the evaluated models vote together: the best ones, a greedy choice, or what a swarm remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from msl.blocks.base import Floats
from msl.blocks.committee import Voting
from msl.check.searching import SWARMS
from msl.engine.loop import Search
from msl.engine.plan import Plan
from msl.engine.verdict import Candidate, candidates_of, ranked_candidates
from msl.space.measure import MEASURES
from msl.space.spec import Objective, loss_value, measures_of
from msl.space.value import Model

_POOL = 25  # how many of the best a greedy choice looks at
_SMALLEST, _LARGEST = 3, 51  # sizes that `top = auto` tries


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The models of an ensemble, the weights of their votes, and whether they vote by classes or by probabilities."""

    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...]
    voting: Voting = "hard"


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """The models that may become members, the best first; `is_choice` says that some of them are to be chosen by what
    they say of rows held out, and `most` how many."""

    candidates: tuple[Candidate, ...]
    is_choice: bool = False
    most: int = 0


def shortlist(plan: Plan, found: Search) -> Shortlist:
    """The models that the `ensemble` statement of a spec speaks of."""
    call = plan.spec.ensemble
    if call is None:
        return Shortlist(())
    options = dict(call.options)
    unlike = _unlike(ranked_candidates(plan, found))
    match call.name:
        case "vote" if options["top"] == "auto":
            return Shortlist(tuple(unlike[: _LARGEST + 2]), is_choice=True, most=_LARGEST)
        case "vote":
            return Shortlist(tuple(unlike[: int(options["top"])]))  # type: ignore[arg-type]
        case "best_first":
            return Shortlist(tuple(unlike[:_POOL]), is_choice=True, most=int(options["max"]))  # type: ignore[arg-type]
        case _:
            return Shortlist(tuple(_remembered(plan, found)))


def make_members(plan: Plan, candidates: Sequence[Candidate], voting: Voting) -> Members:
    """These candidates with the weights that the spec asks for."""
    call = plan.spec.ensemble
    is_weighted = call is not None and bool(call["weighted"])
    return Members(tuple(candidates), _weights(plan, candidates) if is_weighted else (1.0,) * len(candidates), voting)


def settled_voting(plan: Plan, gives_probabilities: Iterable[bool]) -> Voting:
    """How members vote: as the spec says; by default softly where the metric looks at probabilities or all members give
    them, since a count of hands forgets how sure a member is."""
    call = plan.spec.ensemble
    asked = "auto" if call is None else call["voting"]
    if asked == "hard" or not plan.job.ground.n_classes:
        return "hard"
    if asked == "soft" or any(MEASURES[name].of_probabilities for name in measures_of(plan.objectives[0].loss)):
        return "soft"
    return "soft" if all(gives_probabilities) else "hard"


#: The outputs of some candidates together, for the rows of the choice.
Vote = Callable[[Sequence[Candidate]], Floats]


def choose_members(plan: Plan, listed: Shortlist, vote: Vote, loss: Callable[[Floats], float]) -> list[Candidate]:
    """Those of a shortlist whose vote on rows held out is worth most; `loss` is that of the outputs of a vote."""
    call = plan.spec.ensemble
    assert call is not None
    pool = list(listed.candidates)
    if call.name == "vote":
        return pool[: _consensus_size(plan, vote, pool)]
    return _greedy(lambda chosen: loss(vote(chosen)), pool, listed.most, bool(call["replacement"]))


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
        away += max(float(away.max()) / plan.job.ground.population.n_rows - float(away.min()), 0.0)
    return tuple((away.min() / away).tolist()) if away.min() > 0.0 else (1.0,) * len(chosen)


def _perfect_loss(objective: Objective) -> float | None:
    try:
        value = loss_value(objective.loss, {name: _ideal(name) for name in measures_of(objective.loss)})
    except ArithmeticError:
        return None
    return (value if objective.minimize else -value) if np.isfinite(value) else None


def _ideal(measure: str) -> float:
    return 1.0 if MEASURES[measure].larger_is_better else 0.0


def _remembered(plan: Plan, found: Search) -> list[Candidate]:
    """What the last swarm went on from at its end, its personal bests or its archive, the best first."""
    everyone = sorted(candidates_of(plan, found), key=lambda one: (one.losses, one.complexity))
    known = {one.model for one in everyone}
    for event in reversed(found.events):
        if event.kept and plan.spec.search[int(event.figures["stage"])].call.name in SWARMS:
            terrain = plan.terrains[int(event.figures["stage"])]
            models = [model for one in event.kept if isinstance(model := terrain.decode(one.vector), Model)]
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
    if plan.job.ground.n_classes:
        differ = [float(np.mean(votes[n].argmax(axis=1) != votes[n + 2].argmax(axis=1))) for n in sizes]
    else:
        differ = [float(np.mean(np.abs(votes[n] - votes[n + 2]))) for n in sizes]
    largest = max(differ)
    settled = [size for size, one in zip(sizes, differ, strict=True) if one <= 0.1 * largest]
    return settled[0] if settled else sizes[int(np.argmin(differ))]
