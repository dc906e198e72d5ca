"""What fits cost, and the parameters of learners that make many fits cheap: paths, and the resource of a block.

How long fits take is declared by class: how it grows with rows, columns and parameters. The seconds are those of one
core of a usual machine. What a search proposes depends on these declarations alone and never on a clock, so that a run
is the same on every machine; a forecast of time multiplies them by what a probe on a few rows has measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import ceil, log2, sqrt

from msl.record import record
from msl.space.formulas import Formula
from msl.space.nodes import BlockUse, IntRange, Node, Param, RealRange, bottom_up
from msl.space.values import BlockType, BlockValue, Branches, Fidelity, Model, PipelineValue, Step, SymbolValue, Value

#: Seconds that every evaluation takes beside the fit itself: preparing the rows, computing the metrics.
_LEAST = 2e-3
#: The time to predict a row, as a share of the time to fit one, where nothing else is declared.
_PREDICTED = 0.1


@record
class Size:
    """The rows that a learner is fitted on and those that it predicts, the columns, and the columns after symbols have
    become columns of 0 and 1; the classes, 1 for numbers and for two classes, which take one model."""

    rows: int
    predicted: int
    columns: int
    wide: int
    classes: int = 1

    @property
    def cells(self) -> float:
        return float(self.rows * self.columns)

    @property
    def wide_cells(self) -> float:
        return float(self.rows * self.wide)


class _Given:
    """The parameters of a block, with a default for those that are missing or are no numbers."""

    def __init__(self, params: tuple[tuple[str, Value], ...]) -> None:
        self._params = dict(params)

    def number(self, name: str, default: float) -> float:
        value = self._params.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return default
        return float(value)

    def share(self, name: str, columns: int, default: str | float) -> float:
        """How many columns a share, a number or a word of scikit-learn stands for."""
        value = self._params.get(name, default)
        value = default if isinstance(value, SymbolValue) or value is None else value
        if value == "sqrt":
            return sqrt(columns)
        if value == "log2":
            return log2(max(2, columns))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(min(value, columns)) if isinstance(value, int) else value * columns
        return float(columns)


def _binned(
    rounds: str, leaves: str, least: str, share: str, of_leaf: float, of_cell: float
) -> Callable[[_Given, Size], float]:
    """Boosting on binned columns: each round costs something per leaf, and one pass over the rows per level."""

    def seconds(given: _Given, size: Size) -> float:
        count = min(given.number(leaves, 31.0), 1.0 + size.rows / (1.5 * given.number(least, 20.0)))
        of_rows = of_cell * size.cells * log2(max(2.0, count)) * (0.3 + 0.7 * given.share(share, 1, 1.0))
        return size.classes * given.number(rounds, 100.0) * (of_leaf * count + of_rows)

    return seconds


def _levelled(rounds: str, depth: str, of_round: float, of_cell: float) -> Callable[[_Given, Size], float]:
    """Boosting of trees that grow level by level."""

    def seconds(given: _Given, size: Size) -> float:
        levels = given.number(depth, 6.0)
        return size.classes * given.number(rounds, 100.0) * (of_round + of_cell * size.cells * levels)

    return seconds


def _trees(number: str, default: str | float, of_step: float) -> Callable[[_Given, Size], float]:
    """Forests, whose trees sort the rows again at each level."""

    def seconds(given: _Given, size: Size) -> float:
        tried = given.share("max_features", size.wide, default)
        depth = log2(max(2.0, size.rows / given.number("min_samples_leaf", 1.0)))
        one = 1e-3 + of_step * size.rows * depth * max(1.0, tried)
        return given.number(number, 100.0) * (one + 4e-8 * size.predicted * depth)

    return seconds


def _kernel(given: _Given, size: Size) -> float:
    """Kernel machines: they grow with the pairs of rows, and slowly with the cost of errors."""
    pairs = float(size.rows) * (size.rows + size.predicted)
    of_errors: float = max(1.0, given.number("C", 1.0)) ** 0.15
    return (1e-8 + 3e-10 * size.wide) * pairs * of_errors * size.classes


def _distances(given: _Given, size: Size) -> float:
    return 8e-10 * size.wide * size.rows * size.predicted


def _by_cells(of_cell: float) -> Callable[[_Given, Size], float]:
    return lambda given, size: of_cell * size.wide_cells * size.classes


def _by_squares(of_cell: float) -> Callable[[_Given, Size], float]:
    """Learners that solve for the coefficients of all columns at once."""
    return lambda given, size: of_cell * size.wide_cells * min(size.wide, size.rows)


def _neural(given: _Given, size: Size) -> float:
    return 1e-7 * size.rows * (size.wide + 10.0) * 100.0


#: By package and class, without the ending for the task.
_GROWTH: Mapping[str, Mapping[str, Callable[[_Given, Size], float]]] = {
    "msl": {
        "CatBoost": _levelled("n_estimators", "depth", 2e-3, 3e-9),
        "HistBoosting": _binned("max_iter", "max_leaf_nodes", "min_samples_leaf", "max_features", 4.5e-5, 1e-9),
        "LightGBM": _binned("n_estimators", "num_leaves", "min_child_samples", "colsample_bytree", 1.1e-5, 1.1e-9),
        "XGBoost": _levelled("n_estimators", "max_depth", 5e-4, 2e-9),
        "Forest": _trees("units", "sqrt", 5e-8),
        "KNN": _distances,
        "Similarity": _distances,
        "SVC": _kernel,
        "SVR": _kernel,
        "Neural": _neural,
    },
    "sklearn": {
        "ExtraTrees": _trees("n_estimators", "sqrt", 1e-8),
        "RandomForest": _trees("n_estimators", "sqrt", 5e-8),
        "GradientBoosting": _levelled("n_estimators", "max_depth", 1e-3, 3e-8),
        "HistGradientBoosting": _binned("max_iter", "max_leaf_nodes", "min_samples_leaf", "max_features", 4.5e-5, 1e-9),
        "KNeighbors": _distances,
        "LogisticRegression": _by_cells(1.2e-7),
        "LinearRegression": _by_squares(2e-10),
        "Ridge": _by_squares(1e-10),
        "LinearDiscriminantAnalysis": _by_squares(5e-10),
        "QuadraticDiscriminantAnalysis": _by_squares(5e-10),
        "GaussianNB": _by_cells(2e-8),
        "SVC": _kernel,
        "SVR": _kernel,
        "NuSVC": _kernel,
        "NuSVR": _kernel,
        "KernelRidge": lambda given, size: 3e-10 * float(size.rows) ** 3 / 10 + 1e-9 * size.rows**2 * size.wide,
        "MLP": _neural,
        "Dummy": _by_cells(0.0),
    },
}
#: Learners that take symbols as they are; the others get columns of 0 and 1, unless a step encodes them.
_TAKES_SYMBOLS = ("CatBoost", "HistBoosting", "LightGBM", "XGBoost", "HistGradientBoosting")
_ENDINGS = ("Classifier", "Regressor", "*")
#: What learners that are not listed take for each cell.
_UNKNOWN = _by_cells(1e-6)


def declared_seconds(model: Model, size: Size) -> float:
    """The seconds that one fit of a model and its predictions take, as declared for its learners."""
    is_encoded = any(isinstance(step, Branches) for step in model.steps)
    seconds = sum(_of_block(block, size, is_encoded) for block in _learners(model.steps))
    return _LEAST + seconds


def _learners(steps: tuple[Step, ...]) -> Iterator[BlockValue]:
    for step in steps:
        if isinstance(step, Branches):
            for branch in step.branches:
                yield from _learners(branch)
        elif step.block.role == "learner" or any(_inner(value) for _, value in step.params):
            yield step


def _inner(value: Value) -> list[BlockValue]:
    """The learners in the value of a parameter."""
    if isinstance(value, BlockValue):
        return [value] if value.block.role == "learner" else []
    if isinstance(value, PipelineValue):
        return list(_learners(value.steps))
    return [each for item in value for each in _inner(item)] if isinstance(value, tuple) else []


def _of_block(block: BlockValue, size: Size, is_encoded: bool) -> float:
    name = _name_of(block.block.target)
    given = _Given(block.params)
    inner = [each for _, value in block.params for each in _inner(value)]
    if inner:  # an ensemble of others, or something around one
        return given.number("n_estimators", 1.0) * sum(_of_block(each, size, is_encoded) for each in inner)
    if is_encoded or name in _TAKES_SYMBOLS:
        size = Size(size.rows, size.predicted, size.columns, size.columns, size.classes)
    package = block.block.target.partition(".")[0]
    growth = _GROWTH.get(package, {}).get(name, _UNKNOWN)
    own = growth(given, size)
    return own if growth is not _UNKNOWN else own * (1.0 + _PREDICTED * size.predicted / max(1, size.rows))


def _name_of(target: str) -> str:
    name = target.rpartition(":")[2]
    return next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)


# --- Paths: one fit for a whole range of values -----------------------------------------------------------------------
#
# The first ten rounds of a boosting with a thousand are the boosting with ten. `best` tries many values of such a
# parameter for little more than the price of one. A class is listed here only if a test shows that every point of its
# path equals a fit of its own; how the points are computed is in `msl.blocks.base.learner_paths`, or in the class
# itself if it is ours.

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

    There is none with steps after the learner, nor with several threads, whose sums may differ in the last digit, nor
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
    """The model without its path parameter: equal for models that differ in its value alone."""
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
    """All blocks of a model, also those inside others."""
    if isinstance(part, BlockValue):
        yield part
    if isinstance(part, BlockValue | SymbolValue):
        for _, value in part.params:
            yield from _blocks(value)
    elif isinstance(part, Branches | PipelineValue | tuple):
        inner = part.branches if isinstance(part, Branches) else part.steps if isinstance(part, PipelineValue) else part
        for each in inner:
            yield from _blocks(each)


# --- Resources: a cheaper model of the same block ---------------------------------------------------------------------
#
# `fidelity n_estimators` after the braces of a declaration names the resource of a block: the parameter that a search
# can scale down to try many models cheaply. A model with a smaller resource is another model of the same block, and is
# evaluated and stored as such.


def resource_of(params: tuple[Param, ...], name: str) -> Fidelity | None:
    """The resource of this name; None if the parameter cannot be one, as it has no range or does not always exist."""
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
