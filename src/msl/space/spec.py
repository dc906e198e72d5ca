"""The content of a checked spec: the space, the metrics and resampling, and the search."""

from __future__ import annotations

from dataclasses import field

from msl.record import record
from msl.space.conditions import Requirement
from msl.space.formulas import Facts, apply, plain
from msl.space.nodes import Node
from msl.space.values import Value


@record
class Call:
    """A strategy, an estimate or an ensemble with every option filled in."""

    name: str
    target: str
    options: tuple[tuple[str, Value], ...] = ()

    def __getitem__(self, option: str) -> Value:
        return dict(self.options)[option]


@record
class Measured:
    """The value of a measure."""

    name: str


@record
class Weight:
    """A number in an objective."""

    value: float


@record
class Combined:
    """Arithmetic on measures."""

    operation: str
    operands: tuple[Loss, ...]


Loss = Measured | Weight | Combined


def loss_value(loss: Loss, measured: dict[str, float]) -> float:
    """The value of an objective, given those of its measures."""
    match loss:
        case Measured(name=name):
            return measured[name]
        case Weight(value=value):
            return value
        case Combined(operation=operation, operands=operands):
            return float(plain(apply(operation, [loss_value(operand, measured) for operand in operands])))


def measures_of(loss: Loss) -> tuple[str, ...]:
    """The measures that an objective needs."""
    match loss:
        case Measured(name=name):
            return (name,)
        case Combined(operands=operands):
            return tuple(dict.fromkeys(name for operand in operands for name in measures_of(operand)))
    return ()


@record
class Objective:
    """What is minimised (or maximised) and how it is estimated; `text` is as written."""

    text: str
    loss: Loss
    estimate: Call
    minimize: bool = True


@record
class Stage:
    """One strategy of a search; `start` and `channels` are what best-first search takes beside its options."""

    call: Call
    start: Node | None = None
    channels: tuple[str, ...] | None = None


@record
class Budget:
    """Limits of the run and of one evaluation; seconds and bytes. None is no limit."""

    evaluations: int | None = None
    time: float | None = None
    each: float | None = None
    fit: float | None = None
    memory: int | None = None
    until: float | None = None


@record
class DataStatement:
    """What `data(…)` says; None where the table itself is to tell."""

    target: str | None = None
    task: str | None = None
    positive: str | None = None
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    groups: str | None = None
    order: str | None = None
    header: bool | None = None
    separator: str | None = None
    decimal: str | None = None
    missing_target: str | None = None
    ragged: str | None = None


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


# --- the space ---


@record
class Space:
    """`facts` is None while bounds may still depend on a table; `resolve` gives the space for one."""

    root: Node
    requirements: tuple[Requirement, ...] = ()
    facts: Facts | None = None


# --- metrics ---


@record
class Measure:
    """`of_model` measures look at the fitted model itself, the others at its outputs.

    Those that are `of_probabilities` look at how sure a classifier is of a row, the others at the class it names.
    """

    name: str
    meaning: str
    task: str | None = None
    larger_is_better: bool = False
    of_model: bool = False
    of_probabilities: bool = False
    #: Whether a spec may name it; others stand for a measure that `data(…)` changes.
    is_named: bool = True


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("ber", "balanced error rate: the mean of the classes' error rates", "classification"),
        Measure("error", "share of rows classified wrongly", "classification"),
        Measure("logloss", "mean negative log probability of the true class", "classification", of_probabilities=True),
        Measure("auc", "area under the ROC curve", "classification", larger_is_better=True, of_probabilities=True),
        Measure("f1", "harmonic mean of precision and recall, the mean over classes", "classification", True),
        Measure("positive_f1", "f1 of the positive class", "classification", True, is_named=False),
        Measure("mcc", "Matthews correlation coefficient", "classification", larger_is_better=True),
        Measure("relative_error", "error over the error with all features", "classification"),
        Measure("mse", "mean squared error", "regression"),
        Measure("rmse", "root mean squared error", "regression"),
        Measure("mae", "mean absolute error", "regression"),
        Measure("r2", "share of the variance explained", "regression", larger_is_better=True),
        Measure("features", "number of features that the learner sees", of_model=True),
        Measure("feature_share", "share of the features that the learner sees", of_model=True),
        Measure("complexity", "what Occam compares, as each block counts it", of_model=True),
        Measure("fit_time", "seconds for one fit", of_model=True),
    )
}
#: What a measure means where `data(positive = …)` says which class counts.
OF_POSITIVE = {"f1": "positive_f1"}
DEFAULT_MEASURES = {"classification": "ber", "regression": "rmse"}
