"""A checked file: the space, the metrics, objectives and estimates, the strategies of its search, the data, the budget.

The record of a metric, an estimate or a strategy comes from its declaration in a `.msl` file, that of the package
(`catalogue/metrics.msl`) or of an installed one (entry points such as `msl.metrics`), and travels with the spec. Only
the evaluation imports the function behind it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from msl.diagnostics.source import Span
from msl.record import record
from msl.space.conditions import Requirement
from msl.space.formulas import Amount, Exact, Facts, Formula, apply, plain
from msl.space.nodes import Node
from msl.space.values import Value

Interval = tuple[float, float]

#: The row function of metrics that generalised cross-validation can estimate.
SQUARED_ERROR = "msl.evaluate:squared_error"
#: What of a fit a metric may look at, instead of the outputs for rows.
OF_MODEL = ("features", "complexity", "time", "size", "prediction")
#: What of these only the model that is fitted on all rows has: its bytes, and the time of its predictions.
OF_WHOLE_MODEL = ("size", "prediction")


@record
class Metric:
    """One metric.

    `function` is a target `module:function`. For a metric of outputs it is called as `f(y, outputs, weights)`: true
    classes as integers and one score per class, or numbers and numbers, and the weight of each row. For a metric of the
    model itself (`needs` is one of `OF_MODEL`) it is called as `f(figures, n_features, n_fits)`. `options` follow as
    keywords. `takes` says if the function is called in a simpler way.
    """

    #: With its options where a spec gives some, as in `pinball(quantile = 0.9)`, so that a name stands for one metric.
    name: str
    function: str
    #: `classification`, `regression`, or None for both.
    task: str | None = None
    larger_is_better: bool = False
    #: The range. Racing relies on it, so what is not known is infinite.
    low: float = -math.inf
    high: float = math.inf
    #: How the metric is made of one term per row (or, for a metric of the model, per fit): their weighted `mean`, the
    #: mean over the classes of theirs (`class_mean`), the square root of the mean (`root_mean`), or None. Any part of
    #: the rows then has a value in the same range, so that a race can bound the metric before all folds are in.
    additive_over_rows: str | None = None
    #: The terms, as `f(y, outputs)`; a metric of the model needs none.
    row_function: str | None = None
    #: What the function is called with: `outputs` as above, `predictions` as `f(y_true, y_pred)` (codes of classes, or
    #: numbers), or `weighted_predictions` as `f(y_true, y_pred, sample_weight=weights)`.
    takes: str = "outputs"
    #: Whether it depends only on how often each class was predicted as which.
    from_confusion: bool = False
    #: `outputs`, `probabilities` (how certain a classifier is, not only which class it predicts), or one of `OF_MODEL`.
    needs: str = "outputs"
    #: `all_features` if the value is divided by that of the same model without feature selection.
    relative_to: str | None = None
    #: The metric that takes its place where `data(positive = …)` names a class.
    of_positive: str | None = None
    #: The metric that takes its place on a test table, for one that is fitted to the rows that it scores.
    on_test: str | None = None
    #: Whether a spec may name it.
    is_named: bool = True
    #: The name of 1 − metric, if papers report that.
    complement: str | None = None
    #: Why it may be undefined, for the message about a NaN.
    undefined: str | None = None
    #: Whether a spec has to say what errors cost, so that the name alone is not enough.
    takes_costs: bool = False
    #: The value of each option that it declares.
    options: tuple[tuple[str, Value], ...] = ()
    #: Where a spec declares it: the file and the place of its name. Its package has to be trusted then.
    declared_in: str | None = field(default=None, compare=False, repr=False)
    span: Span = field(default=Span(0, 0), compare=False, repr=False)

    @property
    def of_model(self) -> bool:
        """Whether it describes the fitted model itself and not its outputs."""
        return self.needs in OF_MODEL

    @property
    def unit(self) -> str | None:
        """What its values are, if they have a unit: `time` (seconds) or `size` (bytes)."""
        return {"time": "time", "prediction": "time", "size": "size"}.get(self.needs)

    @property
    def range(self) -> Interval:
        return (self.low, self.high)

    @property
    def ideal(self) -> float:
        """The best value that it can have; infinite where there is no best one."""
        return self.high if self.larger_is_better else self.low

    @property
    def of_squared_error(self) -> bool:
        """Whether it follows from a mean squared error."""
        return self.row_function == SQUARED_ERROR and self.additive_over_rows in ("mean", "root_mean")


# --- Strategies and what they can do ----------------------------------------------------------------------------------


#: How many objectives the words of a declaration stand for: the fewest, and the most (None is no limit).
OBJECTIVES: Mapping[str, tuple[int, int | None]] = {
    "one": (1, 1),
    "two": (2, 2),
    "several": (2, None),
    "any": (1, None),
}
#: What a formula can use besides the options: the number of models of the space, where that is known.
MODELS, OUTPUTS = "models", "outputs"


@record
class DecidingComplexity:
    """The value of an option with which the complexity of models decides, and another with which it does not."""

    option: str
    value: str
    instead: str | None = None


@record
class Capabilities:
    """Strategies and ensembles that declare nothing have these defaults.

    objectives   how many objectives a strategy takes: the fewest, and the most (None is no limit)
    queries      how many evaluations its options make, at least and at most: formulas over its options and `models`
    ends_early   the options that, if they are not `none`, let it end before that
    reevaluates  the option that says how often it evaluates models of earlier stages again, on new splits; None if it
                 searches
    leaves       what it leaves behind for an ensemble, such as a `swarm`
    complexity   when it prefers the simpler model to the better one
    members      what an ensemble takes its members from: all evaluated `models`, those whose `outputs` are kept, or
                 something that a strategy leaves
    """

    objectives: tuple[int, int | None] = OBJECTIVES["any"]
    queries: tuple[Amount, Amount] | None = None
    ends_early: tuple[str, ...] = ()
    reevaluates: str | None = None
    leaves: tuple[str, ...] = ()
    complexity: DecidingComplexity | None = None
    members: str = MODELS

    def takes(self, objectives: int) -> bool:
        fewest, most = self.objectives
        return fewest <= objectives and (most is None or objectives <= most)

    def least_evaluations(self, options: Mapping[str, Any], models: int | None) -> int:
        """How many evaluations it makes in any case; 0 if it may end at any time.

        A search ends when every model of the space has been evaluated, but models can always be evaluated again.
        """
        if self.queries is None or any(options.get(name) is not None for name in self.ends_early):
            return 0
        least = int(_number(self.queries[0], {**options, MODELS: models}) or 0)
        return least if models is None or self.reevaluates is not None else min(least, models)

    def needs_end(self, options: Mapping[str, Any]) -> bool:
        """Whether only a budget ends it: it makes as many evaluations as an option says, and that is `none`."""
        return self.queries is not None and _number(self.queries[0], options) is None

    def most_evaluations(self, options: Mapping[str, Any], models: int | None) -> int | None:
        """The most evaluations that it makes; None if there is no limit. Undeclared, it is the option `evaluations`."""
        most = Formula("evaluations") if self.queries is None else self.queries[1]
        found = _number(most, {**options, MODELS: models})
        return None if found is None else int(found)


PLAIN = Capabilities()


def _number(amount: Amount, values: Mapping[str, Any]) -> Exact | None:
    """The value of a formula; None if it depends on something that is `none` or not known. `min` ignores these."""
    if not isinstance(amount, Formula):
        return amount
    if not amount.operands:
        found: Exact | None = values.get(amount.operation)
        return found
    operands = [_number(operand, values) for operand in amount.operands]
    known = [operand for operand in operands if operand is not None]
    if len(known) < len(operands) and (amount.operation != "min" or not known):
        return None
    return apply(amount.operation, known)


@record
class Call:
    """A strategy, an estimate or an ensemble with every option filled in."""

    name: str
    target: str
    options: tuple[tuple[str, Value], ...] = ()
    #: What its declaration states: no part of its identity.
    capabilities: Capabilities = field(default=PLAIN, compare=False, repr=False)

    def __getitem__(self, option: str) -> Value:
        return dict(self.options)[option]


@record
class Estimate(Call):
    """How the error on new rows is estimated: a resampling method, with what its declaration says of it.

    `target` is called as `f(rows, options, rng)` and returns splits.
    """

    #: What the splits hold out: `one` part, `folds`, single `rows`, or None where a model is scored on the rows that it
    #: was fitted on.
    held_out: str | None = field(default="folds", repr=False, compare=False)
    #: Whether there is only one way to split the rows, so that a repeat would tell nothing new.
    fixed_splits: bool = field(default=False, repr=False, compare=False)
    #: Whether it fits on earlier rows and scores on later ones where the table has an order; others refuse such tables.
    follows_order: bool = field(default=False, repr=False, compare=False)
    #: Whether the folds are those of `data(fold = …)` where the table has such a column; others refuse such tables.
    takes_folds: bool = field(default=False, repr=False, compare=False)
    #: The weight of the training error in the estimate: that of pool 0, if it is not 0.
    training_weight: float = field(default=0.0, repr=False, compare=False)
    #: Whether a pool may score a row several times, to be counted as one row.
    rows_repeat: bool = field(default=False, repr=False, compare=False)
    #: `loo` or `gcv` where learners that can do so give the estimate without a fit per split.
    shortcut: str | None = field(default=None, repr=False, compare=False)


@record
class Measured:
    """The value of a metric. Two are equal if their names are: a name stands for one metric."""

    name: str
    metric: Metric = field(repr=False, compare=False)


@record
class Weight:
    """A number in an objective."""

    value: float


@record
class Combined:
    """Arithmetic on metrics."""

    operation: str
    operands: tuple[Loss, ...]


Loss = Measured | Weight | Combined


def loss_value(loss: Loss, measured: dict[str, float]) -> float:
    """The value of an objective, given those of its metrics by name."""
    match loss:
        case Measured(name=name):
            return measured[name]
        case Weight(value=value):
            return value
        case Combined(operation=operation, operands=operands):
            return float(plain(apply(operation, [loss_value(operand, measured) for operand in operands])))


def metrics_of(loss: Loss) -> tuple[Metric, ...]:
    """The metrics that an objective needs, each once."""
    match loss:
        case Measured(metric=metric):
            return (metric,)
        case Combined(operands=operands):
            return tuple(dict.fromkeys(metric for operand in operands for metric in metrics_of(operand)))
    return ()


@record
class Objective:
    """What is minimised (or maximised) and how it is estimated; `text` is as written."""

    text: str
    loss: Loss
    estimate: Estimate
    minimize: bool = True


@record
class MetricLimit:
    """A requirement on a metric, `require predict_time <= 5ms`: a model that breaks it fails when it is evaluated.

    It says nothing about what is in the space, whose models have no metrics before they are fitted. The metric is that
    of the estimate of the first objective. `value` is in seconds or bytes where the metric has a unit.
    """

    text: str
    metric: Metric
    operation: str
    value: float

    def holds(self, value: float) -> bool:
        """Whether a model with this value of the metric meets it; one whose metric is not known does not."""
        match self.operation:
            case "<":
                return value < self.value
            case "<=":
                return value <= self.value
            case ">":
                return value > self.value
        return value >= self.value


@record
class Stage:
    """One strategy of a search; the rest is what some strategies take beside their options.

    `models` are those that `start("portfolio.msl")` evaluates, each with nothing open.
    """

    call: Call
    start: Node | None = None
    channels: tuple[str, ...] | None = None
    models: tuple[Node, ...] = ()


@record
class Budget:
    """Limits of the run and of one evaluation; seconds and bytes. None is no limit.

    `outputs` are the bytes that the store may take for the outputs of evaluated models: with None at most about twice
    what it takes for all else, 0 keeps none.
    """

    evaluations: int | None = None
    time: float | None = None
    each: float | None = None
    fit: float | None = None
    memory: int | None = None
    until: float | None = None
    outputs: int | None = None

    @property
    def keeps_outputs(self) -> bool:
        return self.outputs != 0


@record
class DataStatement:
    """The options of `data(…)`; None where the table decides."""

    target: str | None = None
    task: str | None = None
    positive: str | None = None
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    ordered: tuple[tuple[str, ...], ...] = ()
    day_first: bool | None = None
    groups: str | None = None
    order: str | None = None
    fold: str | None = None
    weight: str | None = None
    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    missing_target: str | None = None
    ragged: str | None = None
    rows: int | None = None


@record
class Spec:
    """A checked file. Without a table there may be no objectives yet: the default depends on the task."""

    name: str
    space: Space
    objectives: tuple[Objective, ...] = ()
    search: tuple[Stage, ...] = ()
    ensemble: Call | None = None
    budget: Budget = field(default_factory=Budget)
    data: DataStatement = field(default_factory=DataStatement)
    seed: int = 0
    limits: tuple[MetricLimit, ...] = ()

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What is measured of each model: the metrics of objectives and of requirements, each once."""
        of_objectives = [metric for objective in self.objectives for metric in metrics_of(objective.loss)]
        return tuple(dict.fromkeys([*of_objectives, *(limit.metric for limit in self.limits)]))


# --- the space ---


@record
class Space:
    """A set of models: a tree of choices, and the requirements that the models meet.

    `facts` is None while bounds may still depend on a table; `resolve` gives the space for one.
    """

    root: Node
    requirements: tuple[Requirement, ...] = ()
    facts: Facts | None = None


#: How a spec is searched that does not say: with one objective, and with several.
DEFAULT_SEARCH = ("auto", "cmdpso")
