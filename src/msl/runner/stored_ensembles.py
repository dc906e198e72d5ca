"""Choose an ensemble from the outputs that models were judged by, and repeat that choice on rows that are drawn.

Nothing is fitted but the last learner of a stack. In each draw the whole choice is made again on the rows drawn: the
best models by these rows, and the ensemble of some of them. It is judged on the rows left out, beside the single model
that the run would have chosen on the same rows. The mean of the differences says whether the ensemble is used, and the
same draws correct its estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import sum_to_one
from msl.blocks.base.load import estimator_code
from msl.blocks.ensembles import Voting, as_probabilities, stack_columns
from msl.evaluate.drawn_metrics import PoolOfModels
from msl.evaluate.ensemble_selection import (
    IN_REACH,
    MOST_CANDIDATES,
    MemberPool,
    number_of_draws,
    rows_to_choose_by,
    select_members,
)
from msl.runner.judged_outputs import DrawnChoice, Judged
from msl.space.spec import Estimate, Objective
from msl.space.values import Model

#: A stream of random numbers, so that no two uses of one seed draw the same.
_DRAWS_STREAM, _FOLDS_STREAM, _ROWS_STREAM = 11, 13, 17
_FOLDS = 5


class Combination(Protocol):
    """Some candidates together: the weight of each, 0 for those that are left out."""

    @property
    def weights(self) -> Floats: ...

    def outputs(self, pools: Sequence[MemberPool]) -> list[Floats]:
        """What they say together of the rows of each pool."""


@dataclass(frozen=True, slots=True, eq=False)
class Allowance:
    """How long each candidate takes to be fitted, and how long all members may take."""

    seconds: Mapping[Model, float]
    all: float = float("inf")


class Combine(Protocol):
    """Combines candidates, the best first, by their outputs in each pool; `costs` are theirs, and `most` is how much
    all members may cost. `work` is how many ensembles it looks at for each candidate."""

    @property
    def work(self) -> int: ...

    def __call__(
        self, objective: Objective, pools: Sequence[MemberPool], costs: Floats, most: float
    ) -> Combination: ...


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """An ensemble that was chosen anew in each draw of the `units` of the table.

    `outputs` are what it says of all rows, in each draw as those of a model of its own, by pool. `left_out` are its
    losses on the rows left out, and `alone` those of the single model that is chosen in the same draw; of the objective
    in the place `objective`, which it was chosen by.
    """

    units: NDArray[np.float32]
    outputs: list[PoolOfModels]
    objective: int
    left_out: Floats
    alone: Floats

    @property
    def ahead(self) -> float:
        """By how much the ensemble is better on the rows left out."""
        return self.mean(self.alone - self.left_out)

    def mean(self, values: Floats) -> float:
        """Over the draws in which both can be judged."""
        known = np.isfinite(self.left_out) & np.isfinite(self.alone)
        return float(np.mean(values[known])) if known.any() else float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """A mean of candidates by their weights."""

    weights: Floats

    def outputs(self, pools: Sequence[MemberPool]) -> list[Floats]:
        return [pool.mean(self.weights) for pool in pools]


@dataclass(frozen=True, slots=True)
class Greedy:
    """Ensemble selection with replacement."""

    most: int
    steps: int

    def __call__(self, objective: Objective, pools: Sequence[MemberPool], costs: Floats, most: float) -> Combination:
        counts = select_members(objective, pools, self.steps, self.most, costs, most)
        return Weighted(counts.astype(np.float64))

    @property
    def work(self) -> int:
        return self.steps


@dataclass(frozen=True, slots=True, eq=False)
class Stacked:
    """A last learner on what the candidates with a weight say."""

    weights: Floats
    final: Any

    def outputs(self, pools: Sequence[MemberPool]) -> list[Floats]:
        return [np.asarray(self.final.outputs(_stack_columns(pool, self.weights))) for pool in pools]


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Members that are selected greedily, and a last learner on them; `make` returns one that is not fitted."""

    greedy: Greedy
    make: Callable[[], Any]
    n_classes: int
    #: Whether it is fitted so quickly that it may be in as many draws as ensembles without one.
    is_quick: bool

    @property
    def work(self) -> int:
        return self.greedy.work * (2 if self.is_quick else 1_000)

    def __call__(self, objective: Objective, pools: Sequence[MemberPool], costs: Floats, most: float) -> Combination:
        weights = np.sign(self.greedy(objective, pools, costs, most).weights)
        X = np.concatenate([_stack_columns(pool, weights) for pool in pools])
        y = np.concatenate([pool.y for pool in pools])
        times = np.concatenate([pool.weights for pool in pools])
        whole = np.rint(times).astype(np.intp)
        final = self.make()
        with estimator_code:
            if np.array_equal(whole, times):  # not every learner takes weights
                rows = np.repeat(np.arange(len(y)), whole)
                final.fit_arrays(X[rows], y[rows], self.n_classes)
            else:
                final.fit_arrays(X, y, self.n_classes, times)
        return Stacked(weights, final)


def _stack_columns(pool: MemberPool, weights: Floats) -> Floats:
    return stack_columns([one.astype(np.float64) for one in pool.outputs[weights > 0.0]])


class EnsembleChoice:
    """The choice of an ensemble among models whose outputs are known, for one objective."""

    def __init__(
        self,
        among: DrawnChoice,
        objective: int,
        models: Sequence[Model],
        allowance: Allowance,
        choose_voting: Callable[[Sequence[bool]], Voting],
    ) -> None:
        """`models` are those that may become members, the best first."""
        self._among, self._number, self._allowance = among, objective, allowance
        self._objective = among.plan.objectives[objective]
        self._candidates = _with_outputs(among, models)[:IN_REACH]
        held = [[one.held[self._objective.estimate] for one in own] for _, own in self._candidates]
        everything = [np.concatenate([pool for one in own for pool in one.outputs]) for own in held]
        is_classified = bool(among.plan.job.dataset.n_classes)
        classes = [any(one.classes for one in own) for own in held]
        gives = [
            is_classified and not known and sum_to_one(outputs)
            for known, outputs in zip(classes, everything, strict=True)
        ]
        self.voting: Voting = choose_voting(gives[:MOST_CANDIDATES] if is_classified else ())
        # Runs without an ensemble keep no more than classes where the metrics need no more.
        usable = [place for place, known in enumerate(classes) if not (known and self.voting == "soft")]
        self._candidates = [self._candidates[place] for place in usable]
        self._gives = [gives[place] for place in usable]
        self._pools = self._member_pools() if usable else []

    @property
    def estimate(self) -> Estimate:
        return self._objective.estimate

    @property
    def models(self) -> list[Model]:
        return [own[0].model for _, own in self._candidates]

    def combined(self, combine: Combine) -> tuple[list[Model], Combination]:
        """The candidates by all rows, and their combination."""
        ones = np.ones((1, len(self._among.rows)), dtype=np.float32)
        (listed,) = _best_of(self._losses(ones))
        pools = [pool.of(listed) for pool in self._pools]
        made = combine(self._objective, pools, self._costs[listed], self._allowance.all)
        return [self.models[place] for place in listed], made

    def judged_by_folds(self, combine: Combine) -> list[Floats]:
        """What is said of the rows of each pool by a combination that was made without them, in five folds of units."""
        among = self._among
        units = np.arange(len(among.units.strata))
        shuffled = np.random.default_rng([among.plan.seed, _FOLDS_STREAM]).permutation(units)
        order = shuffled[np.argsort(among.units.strata[shuffled], kind="stable")]
        fold = np.empty(len(units), dtype=np.intp)
        fold[order] = np.arange(len(units)) % _FOLDS
        (listed,) = _best_of(self._losses(np.ones((1, len(among.rows)), dtype=np.float32)))
        pools = [pool.of(listed) for pool in self._pools]
        found = [np.zeros(pool.outputs.shape[1:]) for pool in pools]
        for number in range(_FOLDS):
            is_out = (fold == number)[among.units.of_row]
            drawn = [pool.drawn((~is_out).astype(np.float64)) for pool in pools]
            made = combine(self._objective, drawn, self._costs[listed], self._allowance.all)
            for own, pool, said in zip(found, pools, made.outputs(pools), strict=True):
                own[is_out[pool.places]] = said[is_out[pool.places]]
        return found

    def held_out(self, model: Model, estimate: Estimate) -> tuple[Floats, ...]:
        """The outputs that a candidate was judged by, by pool."""
        own = next(own for _, own in self._candidates if own[0].model == model)
        return tuple(pool for one in own for pool in one.held[estimate].outputs)

    def replay(self, combine: Combine, seconds: float | None) -> Replay:
        """The choice in each draw; `seconds` is the time limit of the run."""
        among = self._among
        rows = sum(len(pool.places) for pool in self._pools)
        wanted = rows_to_choose_by(rows, among.plan.job.dataset)
        number = number_of_draws(wanted, len(self._candidates), combine.work, seconds)
        rng = np.random.default_rng([among.plan.seed, _DRAWS_STREAM])
        units = among.units.draw(number, rng)
        times = units[:, among.units.of_row]
        absent = (times == 0.0).astype(np.float32)
        losses = self._losses(times)
        outputs = [np.zeros((number, len(among.rows), *pool.outputs.shape[2:]), np.float32) for pool in self._pools]
        some = np.random.default_rng([among.plan.seed, _ROWS_STREAM])
        for draw, listed in enumerate(_best_of(losses)):
            pools = [pool.of(listed) for pool in self._pools]
            drawn = [pool.drawn(times[draw], wanted * len(pool.places) // rows, some) for pool in pools]
            made = combine(self._objective, drawn, self._costs[listed], self._allowance.all)
            for own, pool, found in zip(outputs, pools, made.outputs(pools), strict=True):
                own[draw, pool.places] = found
        given = self._as_pools(outputs)
        judged = among.first[self._number].of_other_outputs(0, given)
        left_out = [judged.values(np.array([draw]), absent[draw : draw + 1])[0, 0] for draw in range(number)]
        return Replay(units, given, self._number, np.array(left_out), self._alone(losses, absent))

    # --- parts ---

    @property
    def _costs(self) -> Floats:
        return np.array([self._allowance.seconds.get(model, 0.0) for model in self.models])

    def _losses(self, times: NDArray[np.float32]) -> Floats:
        """The losses of the candidates in some draws, infinite where there is none."""
        pairs = [self._among.losses_of(self._number, place) for place, _ in self._candidates]
        found = pairs[0][0].values(np.array([index for _, index in pairs]), times)
        return np.asarray(np.where(np.isnan(found), np.inf, found))

    def _alone(self, losses: Floats, absent: NDArray[np.float32]) -> Floats:
        """What the single model that is chosen in each draw, by these losses, is worth on the rows left out."""
        chosen = losses.argmin(axis=0)
        found = np.full(len(absent), np.nan)
        for place in np.unique(chosen):
            own, index = self._among.losses_of(self._number, self._candidates[int(place)][0])
            where = np.flatnonzero(chosen == place)
            found[where] = own.values(np.array([index]), absent[where])[0]
        return found

    def _member_pools(self) -> list[MemberPool]:
        """The outputs of all candidates in the form in which they are averaged."""
        place = np.full(int(self._among.rows.max()) + 1, -1, dtype=np.intp)
        place[self._among.rows] = np.arange(len(self._among.rows))
        turns = len(self._candidates[0][1])
        found = []
        for turn in range(turns):
            held = [own[turn].held[self._objective.estimate] for _, own in self._candidates]
            for number, pool in enumerate(held[0].resampling.pools):
                outputs = np.array(
                    [
                        _as_member(one.outputs[number], gives, self.voting)
                        for one, gives in zip(held, self._gives, strict=True)
                    ],
                    dtype=np.float32,
                )
                weights = np.ones(len(pool.rows)) if pool.weights is None else pool.weights
                found.append(MemberPool(pool.share / turns, place[pool.rows], pool.y, weights, outputs))
        return found

    def _as_pools(self, outputs: Sequence[NDArray[np.float32]]) -> list[PoolOfModels]:
        """The outputs of an ensemble in each draw as those of so many models."""
        dataset, rows = self._among.plan.job.dataset, self._among.rows
        found = []
        for pool, given in zip(self._pools, outputs, strict=True):
            weights, seen = np.ones(len(rows)), None
            weights[pool.places] = pool.weights
            if len(pool.places) < len(rows):
                seen = np.zeros(len(rows), dtype=np.bool_)
                seen[pool.places] = True
            present = [seen] * len(given)
            found.append(PoolOfModels(pool.share, dataset.y[rows], weights, dataset.n_classes, list(given), present))
        return found


def _best_of(losses: Floats) -> list[list[int]]:
    """The best candidates in each draw, the best first and one of those with equal losses."""
    found = []
    for own in losses.T:
        order = np.argsort(own, kind="stable")
        _, first = np.unique(own[order], return_index=True)
        found.append([int(order[place]) for place in first[:MOST_CANDIDATES]])
    return found


def _as_member(outputs: Floats, gives_probabilities: bool, voting: Voting) -> Floats:
    """Outputs as members hand them in: numbers as they are, else probabilities or a vote for one class."""
    if outputs.ndim == 1:
        return outputs
    if voting == "soft":
        return as_probabilities(outputs.astype(np.float64), gives_probabilities)
    return np.asarray(np.eye(outputs.shape[1])[outputs.argmax(axis=1)])


def _with_outputs(among: DrawnChoice, models: Sequence[Model]) -> list[tuple[int, Sequence[Judged]]]:
    """The place among the losses of each of these models, and what it was judged by; those on the same splits as the
    first."""
    places = {model: place for place, model in enumerate(among.models)}
    confirmed = {own[0].model: own for own in among.confirmed}
    found: list[tuple[int, Sequence[Judged]]] = []
    for model in models:
        if among.confirmed:
            if model in confirmed and model in places:
                found.append((among.place(places[model]), confirmed[model]))
        elif model in places:
            found.append((places[model], [among.judged[places[model]]]))
    repeats = [one.evaluation.inputs.repeat for one in found[0][1]] if found else []
    return [one for one in found if [each.evaluation.inputs.repeat for each in one[1]] == repeats]
