"""Build the estimator of a whole model: `model_to_chain`."""

from __future__ import annotations

from collections.abc import Collection

from msl.blocks.base.chain import ChainClassifier, ChainRegressor
from msl.blocks.base.insert_encoders import ColumnKinds, adapt_model
from msl.blocks.base.load import BlockProblem
from msl.blocks.base.recipe import step_to_estimator
from msl.space.values import BlockValue, Model, Step


def model_to_chain(
    model: Model,
    task: str,
    seed: int = 0,
    trusted: Collection[str] = (),
    columns: ColumnKinds | None = None,
) -> ChainClassifier | ChainRegressor:
    """The estimator of a model. With `columns`, it encodes categorical columns and imputes missing values as needed."""
    if columns is not None:
        model = adapt_model(model, columns, task, trusted)
    before, learner, after = split_at_learner(model)
    built = [
        step_to_estimator(step, task, f"{seed}/{position}", trusted)
        for position, step in enumerate((*before, learner, *after))
    ]
    kind = ChainClassifier if task == "classification" else ChainRegressor
    return kind(steps=built[: len(before)], learner=built[len(before)], posts=built[len(before) + 1 :])


def split_at_learner(model: Model) -> tuple[tuple[Step, ...], BlockValue, tuple[Step, ...]]:
    """The steps before the learner, the learner, and the steps after it."""
    for position, step in enumerate(model.steps):
        if isinstance(step, BlockValue) and step.block.role == "learner":
            return model.steps[:position], step, model.steps[position + 1 :]
    raise BlockProblem("MSL407", "a model without a learner predicts nothing", "end the chain in a learner", "")
