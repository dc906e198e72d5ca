"""What is known about a metric before anything is computed: its task, direction, range and how it is put together.

`msl.check` and the evaluation read the same record. It comes from a declaration in a `.msl` file, that of the package
(`catalogue/metrics.msl`) or of an installed one (entry points `msl.metrics`), and travels with the objectives of a
spec. Only the evaluation imports `function`.
"""

from __future__ import annotations

import math

from msl.record import record
from msl.space.values import Value

Interval = tuple[float, float]

#: The row function of metrics that generalised cross-validation can estimate.
SQUARED_ERROR = "msl.evaluate:squared_error"
#: What of a fit a metric may look at, instead of the outputs for rows.
OF_MODEL = ("features", "complexity", "time")


@record
class Metric:
    """One metric.

    `function` is a target `module:function`. For a metric of outputs it is called as `f(y, outputs, weights)`: true
    classes as integers and one score per class, or numbers and numbers, and the weight of each row. For a metric of the
    model itself (`needs` is one of `OF_MODEL`) it is called as `f(figures, n_features, n_fits)`. `options` follow as
    keywords.
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

    @property
    def of_model(self) -> bool:
        """Whether it describes the fitted model itself and not its outputs."""
        return self.needs in OF_MODEL

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
