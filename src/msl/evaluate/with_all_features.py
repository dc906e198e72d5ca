"""With all features: the model that `relative_error` compares with — the same, but nothing selected."""

from __future__ import annotations

from collections.abc import Collection

from sklearn.feature_selection import SelectorMixin

from msl.blocks.load import load_class
from msl.space.value import BlockType, BlockValue, Branches, Model, Step, Value

_PASSTHROUGH = BlockValue(BlockType("passthrough", "sklearn", "transformer", None, "msl.blocks:Passthrough"), ())


def with_all_features(model: Model, task: str, trusted: Collection[str] = ()) -> Model:
    """Every block that keeps some of its columns hands on all, and every mask of features is on.

    Blocks that build features, such as principal components or encodings, stay: without them it were another model.
    """
    return Model(tuple(_step(step, task, trusted) for step in model.steps))


def _step(step: Step, task: str, trusted: Collection[str]) -> Step:
    if isinstance(step, Branches):
        return Branches(tuple(tuple(_step(inner, task, trusted) for inner in branch) for branch in step.branches))
    if step.block.role == "selector" and issubclass(load_class(step.block, task, trusted), SelectorMixin):
        return _PASSTHROUGH
    return BlockValue(step.block, tuple((name, _all_on(value)) for name, value in step.params))


def _all_on(value: Value) -> Value:
    is_mask = isinstance(value, tuple) and len(value) > 0 and all(isinstance(bit, bool) for bit in value)
    return (True,) * len(value) if isinstance(value, tuple) and is_mask else value
