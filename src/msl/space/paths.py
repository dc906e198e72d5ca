"""Paths: parameters of learners for which one fit answers for a whole range of values, to the last digit.

The first ten rounds of a boosting with a thousand are the boosting with ten. `best` tries many values of such a
parameter for little more than the price of one. A class is listed here only if a test shows that every point of its
path equals a fit of its own; how the points are computed is in `msl.blocks.base.learner_paths`, or in the class itself
if it is ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from msl.space.values import BlockValue, Branches, Model, PipelineValue, Step, SymbolValue, Value

#: The path parameter of each class, by its package and its name without `Classifier` and `Regressor`, and the tasks for
#: which it is one.
_BOTH = ("classification", "regression")
_PATHS: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {
    "msl": {
        "CatBoost": ("n_estimators", _BOTH),
        "HistBoosting": ("max_iter", _BOTH),
        "LightGBM": ("n_estimators", _BOTH),
        "XGBoost": ("n_estimators", _BOTH),
        "KNN": ("k", _BOTH),
        "Similarity": ("k", _BOTH),
        "Forest": ("units", _BOTH),
        "LogitBoost": ("units", ("classification",)),
    },
    "sklearn": {
        "AdaBoost": ("n_estimators", ("classification",)),
        "Bagging": ("n_estimators", _BOTH),
        "ExtraTrees": ("n_estimators", _BOTH),
        "GradientBoosting": ("n_estimators", _BOTH),
        "HistGradientBoosting": ("max_iter", _BOTH),
        "KNeighbors": ("n_neighbors", _BOTH),
        "RandomForest": ("n_estimators", _BOTH),
    },
}
_KIND = {"Classifier": "classification", "Regressor": "regression"}


def path_parameter(target: str, task: str | None = None) -> str | None:
    """The path parameter of a class, written as in a declaration: `sklearn.ensemble:GradientBoosting*`; None without.

    Without a task, any for which the class has one counts.
    """
    place, _, name = target.partition(":")
    for ending, kind in _KIND.items():
        if name.endswith(ending):
            name, task = name.removesuffix(ending), kind
    parameter, tasks = _PATHS.get(place.partition(".")[0], {}).get(name.removesuffix("*"), (None, ()))
    return parameter if task is None or task in tasks else None


def path_of(model: Model, task: str) -> str | None:
    """The path parameter of a model: that of its last step, if this is a learner and all classes are known ones.

    With steps behind the learner there is none, nor with several threads, whose sums may differ in the last digit, nor
    with classes of other packages, which may draw from one generator in the order in which they are fitted.
    """
    learner = model.steps[-1] if model.steps else None
    if not isinstance(learner, BlockValue) or learner.block.role != "learner":
        return None
    name = path_parameter(learner.block.target, task)
    params = dict(learner.params)
    if learner.block.target.startswith("msl.") and params.get("early_stopping") is not None:
        return None  # the rounds that it ends with are fitted again
    if name is None or name not in params or any(map(_may_differ, _blocks(model.steps))):
        return None
    return name


def without_path_value(model: Model, parameter: str) -> Model:
    """The same for all models that differ in the value of a path parameter alone."""
    learner = model.steps[-1]
    assert isinstance(learner, BlockValue)
    return Model((*model.steps[:-1], replace(learner, params=_without(learner.params, parameter))))


def path_value(model: Model, parameter: str) -> Value:
    learner = model.steps[-1]
    assert isinstance(learner, BlockValue)
    return dict(learner.params)[parameter]


def _without(params: tuple[tuple[str, Value], ...], parameter: str) -> tuple[tuple[str, Value], ...]:
    return tuple((name, value) for name, value in params if name != parameter)


def _may_differ(block: BlockValue) -> bool:
    return block.block.target.partition(".")[0] not in _PATHS or dict(block.params).get("n_jobs", 1) not in (None, 1)


def _blocks(part: Step | Value | tuple[Step, ...]) -> Iterator[BlockValue]:
    """All blocks of a model, those inside others too."""
    if isinstance(part, BlockValue):
        yield part
    if isinstance(part, BlockValue | SymbolValue):
        for _, value in part.params:
            yield from _blocks(value)
    elif isinstance(part, Branches | PipelineValue | tuple):
        inner = part.branches if isinstance(part, Branches) else part.steps if isinstance(part, PipelineValue) else part
        for each in inner:
            yield from _blocks(each)
