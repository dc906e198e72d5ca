"""Read the outputs that the models of a run were judged by, as the store keeps them, and choose among these models on
rows that are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.evaluate.drawn_losses import DrawnLosses
from msl.evaluate.drawn_metrics import pools_of_models
from msl.evaluate.drawn_units import DrawnUnits
from msl.evaluate.final_fits import request_stream
from msl.evaluate.kept_outputs import BadPackedOutputs, only_classes, unpack_outputs
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.confidence_intervals import HeldOut, uses_held_out_rows
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.search.base import CONFIRMED, FIRST_CONFIRMING_REPEAT
from msl.space.spec import Estimate, metrics_of
from msl.space.values import Model
from msl.store.evaluation import Evaluation
from msl.store.store import Store

#: Evaluations whose outputs are read at once.
_AT_ONCE = 200
#: The most rows times models that are chosen among.
_MOST_NUMBERS = 200_000_000


def judged_outputs(
    plan: Plan, store: Store, evaluated: Iterable[tuple[Model, Evaluation]]
) -> Iterator[tuple[Model, Evaluation, dict[Estimate, HeldOut]]]:
    """The models whose outputs are kept, with their outputs by estimate: those that were evaluated on all rows.

    Where only the predicted classes are kept (`Job.keeps`), outputs are 1 for the class and 0 for the others. Outputs
    that are not of this table and these splits, as a store from elsewhere may have them, are left out.
    """
    if plan.job.keeps == "nothing":
        return
    dataset = plan.job.dataset
    resamplings = ResamplingPlan(dataset, (objective.estimate for objective in plan.objectives), plan.seed)
    estimates = [estimate for estimate in resamplings.estimates if estimate.held_out is not None]
    wanted = [(model, one) for model, one in evaluated if one.inputs.share == 1.0 and not one.bound]
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        packed = store.outputs.read(one.key for _, one in some)
        for model, evaluation in some:
            if evaluation.key not in packed:
                continue
            stream = request_stream(model)
            own = [resamplings.resampling(one, stream, 1.0, evaluation.inputs.repeat) for one in estimates]
            try:
                outputs = unpack_outputs(packed[evaluation.key], own, dataset.n_classes)
            except BadPackedOutputs:
                continue
            pairs = zip(estimates, own, outputs, strict=True)
            known = only_classes(packed[evaluation.key])
            yield model, evaluation, {estimate: HeldOut(splits, pools, known) for estimate, splits, pools in pairs}


# --- the models that could be chosen ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A model with an exact loss, and the outputs that it was judged by."""

    model: Model
    evaluation: Evaluation
    held: Mapping[Estimate, HeldOut]


def judged_models(plan: Plan, store: Store, found: SearchResult) -> dict[int, list[Judged]]:
    """The models of a run by the number of the splits that they were judged on, the best first."""
    by_repeat: dict[int, list[Judged]] = {}
    for model, evaluation, held in judged_outputs(plan, store, found.evaluator.compared.values()):
        compact = {estimate: _compact(plan, one) for estimate, one in held.items()}
        by_repeat.setdefault(evaluation.inputs.repeat, []).append(Judged(model, evaluation, compact))
    for models in by_repeat.values():
        models.sort(key=_rank)
    return by_repeat


def _compact(plan: Plan, held: HeldOut) -> HeldOut:
    """The same in less memory: of classes alone their codes, of all else single precision."""
    if plan.job.dataset.n_classes and plan.job.keeps == "classes":
        return replace(held, outputs=tuple(pool.argmax(axis=1).astype(np.uint16) for pool in held.outputs))
    if plan.job.dataset.n_classes:
        return replace(held, outputs=tuple(pool.astype(np.float32) for pool in held.outputs))
    return held


def competing_models(judged: Mapping[int, Sequence[Judged]]) -> list[Judged]:
    """The models among which the run chose: on the splits that all share, if any were evaluated on them."""
    if 0 in judged:
        return list(judged[0])
    first: dict[Model, Judged] = {}
    for repeat in sorted(judged):
        for one in judged[repeat]:
            first.setdefault(one.model, one)
    return sorted(first.values(), key=_rank)


def _rank(one: Judged) -> tuple[tuple[float, ...], float, str]:
    return one.evaluation.losses, one.evaluation.complexity, one.evaluation.key


def finalists(found: SearchResult, judged: Mapping[int, list[Judged]]) -> list[list[Judged]]:
    """The models that were confirmed, each with its repeats, if the run chose by their means."""
    last = next((event for event in reversed(found.events) if event.chosen), None)
    if last is None or last.kind != CONFIRMED:
        return []
    repeats = range(FIRST_CONFIRMING_REPEAT, FIRST_CONFIRMING_REPEAT + int(last.figures["turn"]))
    by_model: dict[Model, list[Judged]] = {}
    for repeat in repeats:
        for one in judged.get(repeat, ()):
            by_model.setdefault(one.model, []).append(one)
    return [own for own in by_model.values() if len(own) == len(repeats)]


# --- the choice among them, again on rows that are drawn --------------------------------------------------------------


class DrawnChoice:
    """The choice among models on the rows of a draw, as the run has chosen on all rows: `judged` by their losses, or
    `confirmed` ones, each with its repeats, by the means of these."""

    def __init__(self, plan: Plan, judged: Sequence[Judged], confirmed: Sequence[Sequence[Judged]] = ()) -> None:
        self.plan, self.confirmed = plan, confirmed
        drawn = [objective for objective in plan.objectives if uses_held_out_rows(objective)]
        estimates = list(dict.fromkeys(objective.estimate for objective in drawn))
        everything = [*judged, *(one for own in confirmed for one in own)]
        #: The keys of the evaluations that can be chosen among, or that confirm these.
        self.keys = {one.evaluation.key for one in everything}
        scored = [pool.rows for one in everything for each in estimates for pool in one.held[each].resampling.pools]
        self.rows = np.unique(np.concatenate([np.unique(each) for each in _distinct(scored)]))
        self.units = DrawnUnits.of(plan.job.dataset, self.rows)
        most = max(2, _MOST_NUMBERS // len(self.rows))
        self.left_aside = max(0, len(judged) - most)
        kept = sorted(judged[:most], key=lambda one: (one.evaluation.complexity, one.evaluation.losses))
        self.judged = kept
        self.models = [one.model for one in kept]
        self.first = [self._losses(place, [[one] for one in kept]) for place in range(len(plan.objectives))]
        self.second: list[DrawnLosses] = []
        self._final_of = np.full(len(kept), -1)
        if confirmed:
            self.second = [self._losses(place, confirmed) for place in range(len(plan.objectives))]
            places = {model: place for place, model in enumerate(self.models)}
            for number, own in enumerate(confirmed):
                if own[0].model in places:
                    self._final_of[places[own[0].model]] = number
        self.top = len(confirmed)
        ones = np.ones((1, len(self.rows)), dtype=np.float32)
        everyone = np.arange(len(self.models))
        whole = [one.values(everyone, ones)[:, 0] for one in self.first]
        if self.second:
            finals = np.arange(len(confirmed))
            whole = [np.concatenate([a, b.values(finals, ones)[:, 0]]) for a, b in zip(whole, self.second, strict=True)]
        #: The losses of each model on all rows, by objective; those of the confirmed ones follow.
        self.whole = np.array(whole)

    def _losses(self, place: int, repeated: Sequence[Sequence[Judged]]) -> DrawnLosses:
        """One objective of models, each with the evaluations whose mean it is."""
        plan, objective = self.plan, self.plan.objectives[place]
        dataset = plan.job.dataset
        metrics = metrics_of(objective.loss)
        fixed = {
            metric.name: np.array([_metric_value(own, metric.name, objective.estimate) for own in repeated])
            for metric in metrics
            if metric.of_model or not uses_held_out_rows(objective)
        }
        scales = {}
        pools = []
        if uses_held_out_rows(objective):
            number = len(repeated[0])
            for turn in range(number):
                held = [own[turn].held[objective.estimate] for own in repeated]
                pairs = [(one.resampling, one.outputs) for one in held]
                pools += pools_of_models(self.rows, dataset.y, dataset.n_classes, pairs, 1.0 / number)
            for metric in metrics:
                if metric.relative_to is not None:
                    plain = DrawnLosses.of_metric(metric, pools)
                    everyone = np.arange(len(repeated))
                    values = plain.values(everyone, np.ones((1, len(self.rows)), dtype=np.float32))[:, 0]
                    told = np.array([_metric_value(own, metric.name, objective.estimate) for own in repeated])
                    scales[metric.name] = np.divide(told, values, out=np.ones(len(values)), where=values != 0.0)
        return DrawnLosses(objective, pools, fixed, scales)

    def place(self, model: int) -> int:
        """The place of a model among the losses on all rows: that of its means if it was confirmed."""
        final = int(self._final_of[model])
        return model if final < 0 else len(self.models) + final

    def pick(self, inside: Floats, finals: Floats, target: int) -> NDArray[np.intp]:
        """The place of the model that is chosen in each draw; the simplest comes first and wins ties."""
        n_objectives = len(inside)
        scale = np.array([np.ptp(one[np.isfinite(one)]) or 1.0 for one in self.whole])[:, np.newaxis, np.newaxis]
        goal = self.whole[:, target][:, np.newaxis, np.newaxis]

        def rank(losses: Floats) -> Floats:
            """One number to choose by: of several objectives, how far the worst one is from the point of the front."""
            return np.asarray(losses[0] if n_objectives == 1 else ((losses - goal) / scale).max(axis=0))

        first = rank(inside)
        if not self.top:
            return np.asarray(first.argmin(axis=0))
        second = np.where(np.isnan(finals), np.inf, finals)
        ranks = rank(second)
        listed = np.argsort(first, axis=0, kind="stable")[: self.top]
        columns = np.arange(first.shape[1])
        final = self._final_of[listed]
        value = np.where(final >= 0, ranks[np.maximum(final, 0), columns], np.take_along_axis(first, listed, axis=0))
        best = value.argmin(axis=0)
        model, number = listed[best, columns], final[best, columns]
        return np.asarray(np.where(number >= 0, len(self.models) + number, model))

    def losses_of(self, objective: int, place: int) -> tuple[DrawnLosses, int]:
        """Those that have the loss of a place, and its index among them."""
        if place < len(self.models):
            return self.first[objective], place
        return self.second[objective], place - len(self.models)


def _distinct(arrays: Sequence[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """Each array object once: models on the same splits share them."""
    return list({id(one): one for one in arrays}.values())


def _metric_value(own: Sequence[Judged], name: str, estimate: Estimate) -> float:
    """A metric of a model as it was stored, in the mean over its evaluations."""
    named = f"{name} by {estimate.name}"
    values = [one.evaluation.metrics.get(named, one.evaluation.metrics.get(name, np.nan)) for one in own]
    return float(np.mean(values))
