"""Ensembles: which of the evaluated models vote together — the best ones, a greedy choice, or a swarm's memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

import numpy as np

from msl.blocks.array_model import sum_to_one
from msl.blocks.base import Floats
from msl.blocks.committee import CommitteeClassifier, CommitteeRegressor, Voting, as_probabilities, voted
from msl.blocks.construct import model_to_chain
from msl.check.searching import SWARMS
from msl.engine.loop import Search
from msl.engine.plan import Plan
from msl.engine.verdict import Candidate, candidates_of, ranked_candidates
from msl.evaluate.estimates import cv
from msl.evaluate.scoring import score
from msl.evaluate.split_outputs import SplitOutputs
from msl.space.measure import DEFAULT_MEASURES, MEASURES
from msl.space.spec import Objective, loss_value, measures_of
from msl.space.value import Model

_POOL = 25  # how many of the best a greedy choice looks at
_SMALLEST, _LARGEST = 3, 51  # sizes that `top = auto` tries
_FOLDS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The models of an ensemble, the weights of their votes, and whether they vote by classes or by probabilities."""

    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...]
    voting: Voting = "hard"


def choose_members(plan: Plan, found: Search) -> Members | None:
    """The members that the `ensemble` statement of a spec asks for; None without one."""
    call = plan.spec.ensemble
    if call is None:
        return None
    ranked = ranked_candidates(plan, found)
    options = dict(call.options)
    voting = cast(Voting, options["voting"])
    match call.name:
        case "vote" if options["top"] == "auto":
            validation = _Validation(plan, voting)
            pool = validation.usable(_unlike(ranked), _LARGEST + 2)
            chosen = pool[: _consensus_size(validation, pool)]
        case "vote":
            chosen = _unlike(ranked)[: int(options["top"])]  # type: ignore[arg-type]
        case "best_first":
            most, again = int(options["max"]), bool(options["replacement"])  # type: ignore[arg-type]
            validation = _Validation(plan, voting)
            chosen = _greedy(validation, validation.usable(_unlike(ranked), _POOL), most, again)
        case _:
            chosen = _remembered(plan, found)
    chosen = chosen or ranked[:1]  # where no model can be fitted on the folds of the choice
    return Members(tuple(chosen), _weights(plan, chosen) if options["weighted"] else (1.0,) * len(chosen), voting)


def _unlike(ranked: Sequence[Candidate]) -> list[Candidate]:
    """The first of those with equal losses: local searches end among models that hardly differ and outvote all."""
    first: dict[tuple[float, ...], Candidate] = {}
    for one in ranked:
        first.setdefault(one.losses, one)
    return list(first.values())


def build_committee(plan: Plan, members: Members) -> Any:
    """The ensemble as an estimator, not yet fitted."""
    ground = plan.job.ground
    chains = [_chain(plan, one.model) for one in members.candidates]
    kind = CommitteeClassifier if ground.n_classes else CommitteeRegressor
    return kind(chains, members.weights, members.voting)


def _chain(plan: Plan, model: Model) -> Any:
    return model_to_chain(model, plan.job.ground.task, plan.seed, plan.job.trusted, plan.job.ground.columns)


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


# --- validation outputs -----------------------------------------------------------------------------


class _Validation:
    """Out-of-fold outputs of models, all on the same folds, made when they are asked for."""

    def __init__(self, plan: Plan, voting: Voting) -> None:
        self.plan, self.voting = plan, voting
        ground = plan.job.ground
        rng = np.random.default_rng([plan.seed, 3])
        self.splits = cv(ground.population, {"folds": _FOLDS, "repeats": 1}, rng)
        self.y = np.concatenate([ground.y[split.test] for split in self.splits])
        named = [name for name in measures_of(plan.objectives[0].loss) if not MEASURES[name].of_model]
        self.measure = next((n for n in named if n != "relative_error"), DEFAULT_MEASURES[ground.task])
        self._fitted = SplitOutputs(ground, plan.seed, plan.job.trusted)
        self._outputs: dict[Model, Floats] = {}

    def usable(self, ranked: Sequence[Candidate], most: int) -> list[Candidate]:
        """The first so many that can be fitted on these folds too: others than those that they were judged on."""
        return list(islice((one for one in ranked if self._can_fit(one.model)), most))

    def _can_fit(self, model: Model) -> bool:
        try:
            self.outputs(model)
        except Exception:  # of whatever class a block comes from
            return False
        return True

    def outputs(self, model: Model) -> Floats:
        if model not in self._outputs:
            said = np.concatenate([self._fitted.of(model, split) for split in self.splits])
            if self.voting == "soft" and self.plan.job.ground.n_classes:
                said = as_probabilities(said, sum_to_one(said))
            self._outputs[model] = said
        return self._outputs[model]

    def vote(self, chosen: Sequence[Candidate]) -> Floats:
        outputs = [self.outputs(one.model) for one in chosen]
        return voted(outputs, [1.0] * len(outputs), self.plan.job.ground.n_classes, self.voting)

    def loss(self, chosen: Sequence[Candidate]) -> float:
        value = score(self.measure, self.y, self.vote(chosen), self.plan.job.ground.n_classes)
        return -value if MEASURES[self.measure].larger_is_better else value


def _greedy(validation: _Validation, pool: list[Candidate], most: int, replacement: bool) -> list[Candidate]:
    """Starts with the best and adds whoever helps the vote most, the simpler on ties, until nobody helps."""
    if not pool:
        return []
    chosen = [pool[0]]
    loss = validation.loss(chosen)
    while len(chosen) < most:
        others = pool if replacement else [one for one in pool if one not in chosen]
        trials = [(validation.loss([*chosen, one]), one.complexity, place) for place, one in enumerate(others)]
        if not trials or min(trials)[0] >= loss:
            break
        loss, _, place = min(trials)
        chosen.append(others[place])
    return chosen


def _consensus_size(validation: _Validation, ranked: list[Candidate]) -> int:
    """The smallest size whose votes hardly differ from those of two members more, as the KMS paper reads its figure.

    Disagreement is taken relative to the largest seen; the first size at which it falls below a tenth is taken, or the
    one with the least of it.
    """
    sizes = [size for size in range(_SMALLEST, _LARGEST, 2) if size + 2 <= len(ranked)]
    if not sizes:
        return len(ranked)
    if validation.plan.job.ground.n_classes:
        labels = {size: validation.vote(ranked[:size]).argmax(axis=1) for size in [*sizes, sizes[-1] + 2]}
        differ = [float(np.mean(labels[size] != labels[size + 2])) for size in sizes]
    else:
        means = {size: validation.vote(ranked[:size]) for size in [*sizes, sizes[-1] + 2]}
        differ = [float(np.mean(np.abs(means[size] - means[size + 2]))) for size in sizes]
    largest = max(differ)
    settled = [size for size, one in zip(sizes, differ, strict=True) if one <= 0.1 * largest]
    return settled[0] if settled else sizes[int(np.argmin(differ))]
