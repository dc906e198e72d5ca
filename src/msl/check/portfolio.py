"""Put the learners of the shipped portfolio into a space: what `search portfolio` evaluates.

The portfolio (`catalogue/portfolio.msl`) has learners alone, each with the values of some parameters, the most useful
first. In a space a learner is recognised by its class, whatever the space calls it. What stands before it takes its
defaults, and a value that the space does not have becomes the nearest one that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from msl.check.names.block_declarations import Blocks
from msl.check.names.library import Library, Module
from msl.check.strategies import closed_steps, node_value
from msl.check.structure.expressions import Spaces
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.source import Span
from msl.language import ast
from msl.space.defaults import closed, fit_default, leading_to, learners_in
from msl.space.membership import Membership, NotInSpace
from msl.space.nodes import BlockUse, Node, Param
from msl.space.spec import Space
from msl.space.values import BlockValue, Model, Value

#: How the classes of one learner for the two tasks end; `*` stands for both.
_TASKS = ("Classifier", "Regressor", "*")
_HIST = "sklearn.ensemble:HistGradientBoosting"
#: Classes with the algorithm of another, and what they call its parameters where they have other names.
_KIN: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    _HIST: {
        "msl.blocks:HistBoosting": {},
        "msl.blocks:LightGBM": {
            "max_iter": "n_estimators",
            "max_leaf_nodes": "num_leaves",
            "min_samples_leaf": "min_child_samples",
            "l2_regularization": "reg_lambda",
            "max_features": "colsample_bytree",
        },
    },
}


def portfolio_models(
    space: Space, task: str | None, library: Library, blocks: Blocks, call: Span, module: Module, report: Report
) -> tuple[Node, ...]:
    """The models of the portfolio that a space has, in its order, each once; for both tasks if the task is not known.

    A learner that the space has in several places is taken at the first; where it has none of that class, one of
    another with the same algorithm.
    """
    membership = Membership(space)
    found: dict[Model, Node] = {}
    learners = portfolio_learners(task, library, blocks)
    for given in learners:
        values = {param.name: node_value(param.node) for param in given.params}
        alike = (
            node for target, own in _alike(given.block.target, values) for node in _with_learner(space, target, own)
        )
        for node in alike:
            model = _model_of(node, membership)
            if model is not None:
                found.setdefault(model, node)
                break
    if not found:
        message = "the portfolio has no model of this space"
        names = dict.fromkeys(one.block.name for one in learners)
        help = f"leave `portfolio` out; it has {', '.join(f'`{name}`' for name in names)} of `sklearn`"
        report.warning("MSL246", module.source, call, message, "", help)
    return tuple(found.values())


def portfolio_learners(task: str | None, library: Library, blocks: Blocks) -> list[BlockUse]:
    """The learners of the portfolio for a task, the most useful first; the names of its chains begin with the task."""
    module = library.portfolio()
    spaces = Spaces(Report(), blocks, quiet=True)
    found: list[BlockUse] = []
    for chain in module.chains():
        if task is None or chain.name.startswith(task):
            assert isinstance(chain.node, ast.Chain)
            node = spaces.expression(chain.node.space, module)
            assert node is not None, "a test reads the portfolio"
            found.extend(learners_in(node))
    return found


def model_with_learner(space: Space, learner: Model) -> Model | None:
    """The model of a space with this learner, itself a model of one step; None if there is none."""
    (step,) = learner.steps
    assert isinstance(step, BlockValue)
    nodes = _with_learner(space, step.block.target, dict(step.params))
    return next((model for node in nodes if (model := _model_of(node, Membership(space))) is not None), None)


def _alike(target: str, values: Mapping[str, Value]) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """The class itself, then others with its algorithm, each with the values under its own names."""
    yield target, values
    for other, names in _KIN.get(_class_of(target), {}).items():
        yield other, {names.get(name, name): value for name, value in values.items()}


def _with_learner(space: Space, target: str, values: Mapping[str, Value]) -> Iterator[Node]:
    """A model of the space for each place where it has a learner of this class, with these values or near ones."""
    for learner in learners_in(space.root):
        if _class_of(learner.block.target) == _class_of(target):
            params = tuple(_with_value(param, values) for param in learner.params)
            yield closed(leading_to(learner, space.root, replace(learner, params=params)))


def _with_value(param: Param, values: Mapping[str, Value]) -> Param:
    if param.name not in values:
        return param
    fitted = fit_default(replace(param, default=values[param.name], has_default=True))
    return fitted if fitted.has_default else param


def _model_of(node: Node, membership: Membership) -> Model | None:
    """None where a requirement excludes it, or where its bounds follow from a table that is not known yet."""
    try:
        model = Model(closed_steps(node))
        membership.derive(model)
    except (NotInSpace, TypeError, ValueError, ArithmeticError):
        return None
    return model


def _class_of(target: str) -> str:
    return next((target.removesuffix(end) for end in _TASKS if target.endswith(end)), target)
