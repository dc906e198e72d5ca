"""The resource of a block: the parameter that a search can scale down to try many models cheaply.

`fidelity n_estimators` after the braces of a declaration names it. A model with a smaller resource is another model of
the same block, and is evaluated and stored as such.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from msl.space.formulas import Formula
from msl.space.nodes import BlockUse, IntRange, Node, Param, RealRange, bottom_up
from msl.space.values import BlockType, BlockValue, Branches, Fidelity, Model, Step


def resource_of(params: tuple[Param, ...], name: str) -> Fidelity | None:
    """The resource of this name; None if the parameter cannot be one: no range, or one that does not always exist."""
    for param in params:
        if param.name == name and param.condition is None and isinstance(param.node, IntRange | RealRange):
            low = param.node.low
            if not isinstance(low, Formula) and low > 0:
                return Fidelity(name, float(low), isinstance(param.node, IntRange))
    return None


def without_resource(root: Node) -> list[BlockType]:
    """The learners of a space that name no resource, each once."""
    uses = (node.block for node in bottom_up(root) if isinstance(node, BlockUse))
    learners = {block.key: block for block in uses if block.role == "learner"}
    return [block for block in learners.values() if block.fidelity is None]


def scaled_down(model: Model, share: float) -> Model | None:
    """The model with this share of the resource of each step that has one; None if no step has."""
    steps = tuple(_scaled(step, share) for step in model.steps)
    return Model(steps) if any(map(_has_resource, model.steps)) else None


def _has_resource(step: Step) -> bool:
    if isinstance(step, Branches):
        return any(_has_resource(inner) for branch in step.branches for inner in branch)
    fidelity = step.block.fidelity
    return fidelity is not None and any(name == fidelity.parameter for name, _ in step.params)


def _scaled(step: Step, share: float) -> Step:
    if isinstance(step, Branches):
        return Branches(tuple(tuple(_scaled(inner, share) for inner in branch) for branch in step.branches))
    if step.block.fidelity is None:
        return step
    return _with_less(step, step.block.fidelity, share)


def _with_less(step: BlockValue, fidelity: Fidelity, share: float) -> BlockValue:
    params = []
    for name, value in step.params:
        if name == fidelity.parameter and isinstance(value, int | float) and not isinstance(value, bool):
            less = max(fidelity.low, value * share)
            value = min(value, ceil(less - 1e-9) if fidelity.whole else less)
        params.append((name, value))
    return replace(step, params=tuple(params))
