"""Read the outputs that the models of a run were judged by, as the store keeps them, with the splits they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from msl.evaluate.final_fits import request_stream
from msl.evaluate.kept_outputs import BadPackedOutputs, unpack_outputs
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.confidence_intervals import HeldOut
from msl.runner.loop import SearchResult
from msl.runner.plan import Plan
from msl.search.base import CONFIRMED, FIRST_CONFIRMING_REPEAT
from msl.space.spec import Estimate
from msl.space.values import Model
from msl.store.evaluation import Evaluation
from msl.store.store import Store

#: Evaluations whose outputs are read at once.
_AT_ONCE = 200


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
            yield model, evaluation, {estimate: HeldOut(splits, pools) for estimate, splits, pools in pairs}


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
        return HeldOut(held.resampling, tuple(pool.argmax(axis=1).astype(np.uint16) for pool in held.outputs))
    if plan.job.dataset.n_classes:
        return HeldOut(held.resampling, tuple(pool.astype(np.float32) for pool in held.outputs))
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
