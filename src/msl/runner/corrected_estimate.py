"""Correct the estimate of a winner for the choice of the best of many models.

Bootstrap bias-corrected cross-validation (Tsamardinos, Greasidou and Borboudakis, 2018): draw rows with replacement,
choose among all evaluated models on the rows drawn as the run chose on all rows, and judge the chosen one on the rows
left out. The mean over draws is the estimate. It fits nothing, because the store keeps the outputs that models were
judged by.

The 2.5 and 97.5 % quantiles of the draws, which the paper proposes as an interval, are far too wide where many models
are about as good: they are about one choice on a part of the rows, and the estimate is a mean over choices. Here the
standard error follows from the draws by the delta method, as Efron and Tibshirani (1997) do for the bootstrap: what a
row adds to the estimate is what it adds to the loss of the models that are chosen without it, and how its weight
changes the choice.

That takes the losses of rows for independent, and by cross-validation they are not: a row is tested by models of other
rows, which in turn were tested by models of it. Of the variance v of a row's loss let s be the share that is about
which training rows a model has got. It is measured: the winner is fitted on two halves of its training rows, which
have no row in common, and s is half the mean square of the differences of what rows then add, relative to v. By
Hoeffding's decomposition the estimate has the variance v(1 + rs) / n, where r, between 0 and 1, says how far the pull
of one row on the loss of another is returned: 1 for learners that are symmetric in two rows, as linear and kernel
ones, and 0 where it goes one way. No estimate of r without bias exists (Bengio and Grandvalet, 2004). Its middle, one
half, is assumed, so that the standard error is at most 13 % too small and 22 % too large whatever the learner is. Where
there was no time for the halves, s is taken for 1.

Many models that are about as good take turns at being chosen, and the mean over them varies less from row to row than
any of them. That makes nothing more certain about the one that is kept: the variance of independent rows is at least
that of the winner alone.

For losses between 0 and 1 the interval is that of a beta distribution with this standard error and half a mistake more
on either side, so that no mistake among few rows leaves a width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.evaluate.drawn_metrics import is_logloss, pools_of_models
from msl.evaluate.drawn_units import Ranking, Tally, interval_of_loss
from msl.evaluate.outcome import MetricFailed
from msl.evaluate.resampling import can_halve
from msl.runner.choose_winner import Candidate, Verdict
from msl.runner.confidence_intervals import HeldOut, uses_held_out_rows
from msl.runner.judged_outputs import DrawnChoice, competing_models, finalists, judged_models
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.runner.stored_ensembles import Replay
from msl.search.base import CONFIRMED
from msl.space.spec import OUTPUTS, Estimate, Objective, metrics_of
from msl.store.store import Store

#: A stream of random numbers, so that no two uses of one seed draw the same.
_DRAWS_STREAM = 7
_DRAWS, _FEWEST_DRAWS = 1_000, 100
#: Where metrics are computed draw by draw: the estimate then varies by about a tenth of its standard error.
_SLOW_DRAWS = 300
#: The most products of a row, a model and a draw: for metrics of which many are computed at once, and for others.
_MOST_PRODUCTS, _MOST_SLOW_PRODUCTS = 20_000_000_000, 12_000_000_000
#: Of the slow ones, those for each second of a run's time limit: about a twentieth of it.
_SLOW_PER_SECOND = 16_000_000
#: The places of a ranking that are judged.
MOST_PLACES = 30
#: Numbers of a table of draws that are in memory at once.
_AT_ONCE = 4_000_000
#: How far the pull of one row on the loss of another is returned: the middle of what is possible; see the text on top.
_RETURNED = 0.5
#: Draws after which models that are never near the best are left out where metrics take long, and how many standard
#: deviations away that is.
_FIRST_DRAWS, _FAR = 50, 6.0
#: The fewest draws that have to tell a loss.
_FEWEST_TOLD = 50


@dataclass(frozen=True, slots=True)
class CorrectedEstimate:
    """The objectives of one winner, or one point of a front, with intervals; with the sign that the user sees."""

    objectives: Mapping[str, float]
    interval: Mapping[str, tuple[float, float]]
    #: The interval for whichever of several runs on the table is kept.
    of_runs: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Correction:
    """The corrected estimates of a run: of the winner, and of each point of a front.

    `places` are what the model in each place of the ranking is worth, with one objective: the first is that of the
    winner. `models` could be chosen, `chosen` of them were in some draw; `unkept` were evaluated whole, but have no
    outputs. `notes` say what the estimate does not cover. If there is none, `why` says so.
    """

    best: CorrectedEstimate | None = None
    #: Of the ensemble that is used, whose choice was made anew in so many `ensemble_draws`.
    ensemble: CorrectedEstimate | None = None
    ensemble_draws: int = 0
    front: tuple[CorrectedEstimate, ...] = ()
    places: tuple[float, ...] = ()
    draws: int = 0
    models: int = 0
    chosen: int = 0
    unkept: int = 0
    notes: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Competition:
    """The models of a run that can be chosen again; `why` there is no such choice, and how many models have no outputs
    (`unkept`)."""

    choice: DrawnChoice | None = None
    unkept: int = 0
    why: str = ""


def competition(plan: Plan, store: Store, found: SearchResult) -> Competition:
    """What the stored outputs of a run allow."""
    reason = _why_not(plan)
    if reason:
        return Competition(why=reason)
    judged = judged_models(plan, store, found)
    wanted = sum(not one.bound and one.failure is None for _, one in found.evaluator.compared.values())
    unkept = wanted - sum(map(len, judged.values()))
    first = competing_models(judged)
    if not first:
        return Competition(unkept=unkept, why=_WITHOUT_OUTPUTS)
    try:
        return Competition(DrawnChoice(plan, first, finalists(found, judged)), unkept)
    except MetricFailed as reason:
        return Competition(unkept=unkept, why=str(reason))


def correct_estimate(
    found: SearchResult,
    verdict: Verdict,
    winner: Candidate,
    among: Competition,
    halves: Mapping[Estimate, HeldOut] = MappingProxyType({}),
    looks: int = 1,
    ensemble: Replay | None = None,
) -> Correction:
    """The corrected estimate of a search and its winner, and of an `ensemble` that was chosen anew in draws; `halves`
    has outputs of the winner by halved fits, and `looks` are the runs on the table among which somebody may choose."""
    choice, unkept = among.choice, among.unkept
    if choice is None:
        return Correction(unkept=unkept, why=among.why)
    if winner.model not in choice.models:
        return Correction(unkept=unkept, why=_WITHOUT_WINNER)
    try:
        return _Correcting(choice, halves, looks, ensemble).corrected(found, verdict, winner, unkept)
    except MetricFailed as reason:  # a metric of the user's may not be made for every draw of the rows
        return Correction(unkept=unkept, why=f"on rows that were drawn, {reason}")


_WITHOUT_OUTPUTS = (
    "the store has no outputs of these models: they were evaluated by an older version, or with `budget(outputs = 0MB)`"
)
_TOO_FEW_ROWS = (
    "too few rows: the objectives cannot be computed on those left out of a draw, or these hardly ever have all classes"
)
_WITHOUT_WINNER = (
    "the store has no outputs of the winner: it was evaluated by an older version, or the limit `budget(outputs = …)` "
    "is too low"
)


def _why_not(plan: Plan) -> str:
    """Why an estimate cannot be corrected; empty if it can."""
    if not plan.spec.budget.keeps_outputs:
        return "`budget(outputs = 0MB)` keeps no outputs to choose with again"
    drawn = [objective for objective in plan.objectives if uses_held_out_rows(objective)]
    if not drawn:
        return "no objective depends on rows that were held out"
    for objective in drawn:
        if objective.estimate.rows_repeat:
            return f"`{objective.estimate.name}` scores a row several times, in part by models that were fitted on it"
    return ""


# --- the choice, again in each draw -----------------------------------------------------------------------------------


class _Correcting:
    """Repeats the choice in each draw, and judges what is chosen."""

    def __init__(
        self,
        among: DrawnChoice,
        halves: Mapping[Estimate, HeldOut],
        looks: int = 1,
        ensemble: Replay | None = None,
    ) -> None:
        self._among, self._plan, self._halves, self._looks, self._winner = among, among.plan, halves, looks, 0
        self._ensemble = ensemble

    # --- what the draws say ---

    def corrected(self, found: SearchResult, verdict: Verdict, winner: Candidate, unkept: int) -> Correction:
        """The corrected estimates of the winner and of the points of the front."""
        places = {model: place for place, model in enumerate(self._among.models)}
        points = [one for one in verdict.front if one.model in places] if len(self._plan.objectives) > 1 else []
        wanted = [winner, *points] if winner.model in places else []
        if not wanted:
            return Correction(unkept=unkept, why=_WITHOUT_WINNER)
        self._winner = places[winner.model]
        targets = [self._among.place(places[one.model]) for one in wanted]
        ranking = Ranking(min(MOST_PLACES, len(self._among.models)))
        draws, tallies, chosen = self._draw(targets, ranking)
        estimates = [self._estimate(dict(enumerate(own)), target) for own, target in zip(tallies, targets, strict=True)]
        if estimates[0] is None:
            return Correction(unkept=unkept, why=_TOO_FEW_ROWS)
        replay = self._ensemble
        return Correction(
            best=estimates[0],
            ensemble=None if replay is None else self._of_ensemble(replay, estimates[0]),
            ensemble_draws=0 if replay is None else len(replay.units),
            front=tuple(one for one in estimates[1:] if one is not None) if len(points) == len(verdict.front) else (),
            places=ranking.values(self._plan.objectives[0].minimize),
            draws=draws,
            models=len(self._among.models),
            chosen=chosen,
            unkept=unkept,
            notes=tuple(self._notes(found, verdict, unkept, estimates[0])),
        )

    def _of_ensemble(self, replay: Replay, alone: CorrectedEstimate) -> CorrectedEstimate | None:
        """The estimates of an ensemble: those of the single model, which has more draws, and the mean differences from
        it in the draws in which both were chosen."""
        among = self._among
        units = replay.units
        absent = (units[:, among.units.of_row] == 0.0).astype(np.float32)
        numbers = np.arange(len(units))
        places = [
            place
            for place, objective in enumerate(self._plan.objectives)
            if objective.estimate == self._plan.objectives[replay.objective].estimate
            and not any(each.of_model or each.relative_to is not None for each in metrics_of(objective.loss))
        ]
        tallies = {}
        for place in places:
            losses = among.first[place].of_other_outputs(0, replay.outputs)
            tally = tallies[place] = Tally(units.shape[1], len(among.rows))
            for draw in numbers:
                tally.pull += losses.influence(int(draw)) * absent[draw]
                tally.left_out.append(float(losses.values(numbers[draw : draw + 1], absent[draw : draw + 1])[0, 0]))
            whole = losses.values(numbers, np.ones((1, len(among.rows)), dtype=np.float32))[:, 0]
            tally.whole += whole.tolist()
            tally.with_choice += whole @ units
            tally.times += units.sum(axis=0)
            tally.absent += absent.sum(axis=0)
        names = self._plan.objective_names()
        sign = 1.0 if self._plan.objectives[replay.objective].minimize else -1.0
        shift = sign * alone.objectives[names[replay.objective]] - replay.mean(replay.alone)
        tallies[replay.objective].left_out = (np.array(tallies[replay.objective].left_out) + shift).tolist()
        return self._estimate(tallies)

    def _draw(self, targets: Sequence[int], ranking: Ranking) -> tuple[int, list[list[Tally]], int]:
        """Draws and chooses; returns the number of draws, the tallies of each target, and how many were chosen."""
        n_rows, n_units = len(self._among.rows), len(self._among.units.strata)
        is_quick = all(one.is_quick for one in (*self._among.first, *self._among.second))
        most: float = _MOST_PRODUCTS
        wanted = _DRAWS if is_quick else _SLOW_DRAWS
        if not is_quick:
            limit = self._plan.spec.budget.time
            most = _MOST_SLOW_PRODUCTS if limit is None else min(_MOST_SLOW_PRODUCTS, _SLOW_PER_SECOND * limit)
        draws = int(np.clip(most // (n_rows * len(self._among.models)), _FEWEST_DRAWS, wanted))
        prunes = not is_quick and len(self._among.first) == 1
        rng = np.random.default_rng([self._plan.seed, _DRAWS_STREAM])
        tallies = [[Tally(n_units, n_rows) for _ in self._among.first] for _ in targets]
        everyone = contenders = np.arange(len(self._among.models))
        chosen: set[int] = set()
        pulls: dict[tuple[int, int], Floats] = {}
        done = 0
        while done < draws:
            count = min(draws - done, max(1, _AT_ONCE // n_rows), _FIRST_DRAWS if prunes and not done else draws)
            units = self._among.units.draw(count, rng)
            times = units[:, self._among.units.of_row]
            inside = np.full((len(self._among.first), len(everyone), count), np.inf)
            for losses, one in zip(inside, self._among.first, strict=True):
                values = one.values(contenders, times)
                losses[contenders] = np.where(np.isnan(values), np.inf, values)
            finals = np.array([one.values(np.arange(self._among.top), times) for one in self._among.second])
            if prunes and not done:
                contenders = _near_the_best(inside[0])
            absent = (times == 0.0).astype(np.float32)
            lacking = self._lack_a_class(absent)
            for target, own in zip(targets, tallies, strict=True):
                picked = self._among.pick(inside, finals, target)
                chosen.update(picked.tolist())
                self._add(own, picked, units, absent, lacking, pulls)
            if len(self._among.first) == 1 and not self._among.top:
                told = ~lacking | (not self._is_about_classes(0))
                if told.any():
                    ranking.add(inside[0][:, told], absent[told], self._among.first[0])
            done += count
        return draws, tallies, len(chosen)

    def _add(
        self,
        tallies: Sequence[Tally],
        picked: NDArray[np.intp],
        units: NDArray[np.float32],
        absent: NDArray[np.float32],
        lacking: NDArray[np.bool_],
        pulls: dict[tuple[int, int], Floats],
    ) -> None:
        """Judges what was chosen on the rows left out, in those draws that tell it."""
        for number, tally in enumerate(tallies):
            left_out = np.full(len(picked), np.nan)
            for place in np.unique(picked):
                losses, index = self._among.losses_of(number, int(place))
                where = np.flatnonzero(picked == place)
                left_out[where] = losses.values(np.array([index]), absent[where])[0]
                if (number, int(place)) not in pulls:
                    pulls[number, int(place)] = losses.influence(index)
                tally.pull += pulls[number, int(place)] * absent[where].sum(axis=0)
            if self._is_about_classes(number):
                left_out[lacking] = np.nan
            whole = self._among.whole[number][picked]
            tally.left_out += left_out.tolist()
            tally.whole += whole.tolist()
            tally.with_choice += whole @ units
            tally.times += units.sum(axis=0)
            tally.absent += absent.sum(axis=0)

    def _lack_a_class(self, absent: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Which draws leave out no row of some class."""
        dataset = self._plan.job.dataset
        y = dataset.y[self._among.rows]
        of_class = [absent[:, y == kind].any(axis=1) for kind in np.unique(y)] if dataset.n_classes else []
        return ~np.all(of_class, axis=0) if of_class else np.zeros(len(absent), dtype=np.bool_)

    def _is_about_classes(self, number: int) -> bool:
        """Whether an objective would be another one without some class, as a mean over classes is."""
        metrics = metrics_of(self._plan.objectives[number].loss)
        return bool(self._plan.job.dataset.n_classes) and any(
            not one.of_model and one.additive_over_rows != "mean" and not is_logloss(one) for one in metrics
        )

    # --- from draws to an estimate ---

    def _estimate(self, tallies: Mapping[int, Tally], target: int | None = None) -> CorrectedEstimate | None:
        """The estimates of the objectives in these places, for the choice of the model in the place `target`."""
        values: dict[str, float] = {}
        intervals: dict[str, tuple[float, float]] = {}
        of_runs: dict[str, tuple[float, float]] = {}
        for place, tally in tallies.items():
            name, objective = self._plan.objective_names()[place], self._plan.objectives[place]
            left_out = np.array(tally.left_out)
            known = np.isfinite(left_out)
            if known.sum() < min(_FEWEST_TOLD, len(known)):
                return None
            value = float(left_out[known].mean())
            sign = 1.0 if objective.minimize else -1.0
            values[name] = sign * value
            if self._among.first[place].is_drawn:
                alone = 0.0 if target is None else self._variance_alone(place, target)
                error = self._standard_error(tally, self._share_of_training(objective), alone)
                smallest = np.bincount(self._plan.job.dataset.y[self._among.rows]).min() if self._is_classified else 0
                rows = len(np.unique(self._among.units.strata)) * int(smallest) or len(self._among.units.strata)
                for found, looks in ((intervals, 1), (of_runs, self._looks)):
                    low, high = interval_of_loss(value, error, self._among.first[place].bounds, rows, looks)
                    found[name] = (low, high) if objective.minimize else (-high, -low)
        return CorrectedEstimate(values, intervals, of_runs if self._looks > 1 else {})

    @property
    def _is_classified(self) -> bool:
        return bool(self._plan.job.dataset.n_classes) and bool(self._among.units.strata.any())

    def _share_of_training(self, objective: Objective) -> float:
        """The share of the variance of what a unit adds that is about which rows the winner was fitted on."""
        if not can_halve(objective.estimate, self._plan.job.dataset.population):
            return 0.0
        held = self._halves.get(objective.estimate)
        if held is None:
            return 1.0
        first, second = self._pulls_of_halves(objective, held)
        whole = 0.5 * float(np.square(first).sum() + np.square(second).sum())
        return min(1.0, 0.5 * float(np.square(first - second).sum()) / whole) if whole > 0.0 else 0.0

    def _pulls_of_halves(self, objective: Objective, held: HeldOut) -> list[Floats]:
        """What each unit adds to the objective of both halved fits."""
        dataset = self._plan.job.dataset
        pools = held.resampling.pools
        pairs = [
            (replace(held.resampling, pools=(replace(pool, share=1.0),)), (outputs,))
            for pool, outputs in zip(pools, held.outputs, strict=True)
        ]
        given = pools_of_models(self._among.rows, dataset.y, dataset.n_classes, pairs)
        place = self._plan.objectives.index(objective)
        of_halves = self._among.first[place].of_other_outputs(self._winner, given)
        return [self._among.units.centred(self._among.units.sums(of_halves.influence(number))) for number in (0, 1)]

    def _variance_alone(self, objective: int, place: int) -> float:
        """The variance of the loss of one model that was not chosen, if its rows are independent."""
        losses, index = self._among.losses_of(objective, place)
        return float(np.square(self._among.units.centred(self._among.units.sums(losses.influence(index)))).sum())

    def _standard_error(self, tally: Tally, share_of_training: float, alone: float) -> float:
        """By the delta method: what each unit adds to the losses, and to the choice; see the text on top. `alone` is
        the variance for the winner alone."""
        draws = len(tally.whole)
        own = np.divide(tally.pull, tally.absent, out=np.zeros(len(tally.pull)), where=tally.absent > 0.0)
        direct = self._among.units.centred(self._among.units.sums(own))
        middle = float(np.mean(tally.whole))
        by_choice = self._among.units.centred((tally.with_choice - middle * tally.times) / draws)
        # Draws are few: their noise alone makes covariances with so many units.
        noise = len(direct) / draws * float(np.var(tally.whole))
        least = float(np.square(direct).sum())
        independent = max(least, alone, float(np.square(direct + by_choice).sum()) - noise)
        return float(np.sqrt(independent + _RETURNED * share_of_training * least))

    def _notes(self, found: SearchResult, verdict: Verdict, unkept: int, estimate: CorrectedEstimate) -> Iterator[str]:
        """What the estimate does not cover, in words."""
        last = next((event for event in reversed(found.events) if event.chosen), None)
        if last is not None and last.stands and last.kind != CONFIRMED:
            yield "the strategy chose by a rule of its own; the choice that is repeated is that of the lowest loss"
        drawn = [objective.estimate for objective in self._plan.objectives if uses_held_out_rows(objective)]
        population = self._plan.job.dataset.population
        if any(can_halve(one, population) and one not in self._halves for one in drawn):
            yield "the interval is wide, because how much depends on the training rows was not measured"
        call = self._plan.spec.ensemble
        if call is not None and call.capabilities.members != OUTPUTS:
            yield "it is about the best model alone: the choice of the members of an ensemble is not repeated"
        cut = sum(one.bound for _, one in found.evaluator.evaluated.values())
        if cut:
            yield f"{_models(cut)} cut short count as never chosen"
        if unkept:
            yield f"{_models(unkept)} without outputs in the store count as never chosen{self._lost(found, estimate)}"
        if self._among.left_aside:
            yield f"only the best {len(self._among.models)} models can be chosen, because the table is large"
        if self._among.units.words:
            yield self._among.units.words

    def _lost(self, found: SearchResult, estimate: CorrectedEstimate) -> str:
        """How near the best of the models without outputs has come: one far behind would not have been chosen."""
        objective, name = self._plan.objectives[0], self._plan.objective_names()[0]
        losses = [
            one.losses[0]
            for key, (_, one) in found.evaluator.compared.items()
            if key not in self._among.keys and not one.bound and one.failure is None and one.inputs.repeat == 0
        ]
        low, high = estimate.interval.get(name, (0.0, 0.0))
        if len(self._plan.objectives) > 1 or not losses or not high > low:
            return ""
        behind = (min(losses) - self._among.whole[0][self._winner]) / ((high - low) / 3.92)
        word = "loss" if objective.minimize else "score"
        return f": the best {word} of theirs is {behind:.1f} standard errors behind that of the best model"


def _models(count: int) -> str:
    return "1 model" if count == 1 else f"{count:,} models"


def _near_the_best(losses: Floats) -> NDArray[np.intp]:
    """The models that could be the best in some draw, by what the first draws say."""
    best = losses[np.nanargmin(np.where(np.isfinite(losses), losses, np.inf).mean(axis=1))]
    behind = losses - best
    with np.errstate(invalid="ignore"):
        middle, spread = behind.mean(axis=1), behind.std(axis=1)
        near = ~(middle > _FAR * spread)
    near[np.unique(losses.argmin(axis=0))] = True
    return np.flatnonzero(near & np.isfinite(losses).any(axis=1))


def _to_record(estimate: CorrectedEstimate) -> dict[str, Any]:
    return {
        "objectives": dict(estimate.objectives),
        "interval": {name: list(ends) for name, ends in estimate.interval.items()},
        **(
            {"interval_of_runs": {name: list(ends) for name, ends in estimate.of_runs.items()}}
            if estimate.of_runs
            else {}
        ),
    }


def correction_to_record(correction: Correction) -> dict[str, Any]:
    """The correction as plain values, for the record of a run."""
    if correction.best is None:
        return {"why": correction.why, "unkept": correction.unkept}
    return {
        **_to_record(correction.best),
        **(
            {"ensemble": {**_to_record(correction.ensemble), "draws": correction.ensemble_draws}}
            if correction.ensemble
            else {}
        ),
        **({"front": [_to_record(one) for one in correction.front]} if correction.front else {}),
        "draws": correction.draws,
        "models": correction.models,
        "chosen": correction.chosen,
        "unkept": correction.unkept,
        "notes": list(correction.notes),
    }
