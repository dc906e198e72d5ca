"""Read the outputs that the models of a run were judged by, as the store keeps them, with the splits they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msl.evaluate.final_fits import request_stream
from msl.evaluate.kept_outputs import BadPackedOutputs, unpack_outputs
from msl.evaluate.resampling import ResamplingPlan
from msl.runner.confidence_intervals import HeldOut
from msl.runner.plan import Plan
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
