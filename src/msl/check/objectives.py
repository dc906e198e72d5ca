"""Read `minimize` and `maximize`: metrics that fit the task and each other, and how they are estimated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from msl.check.names.library import Module
from msl.check.names.names_of_other_tools import metric_meant
from msl.check.names.scoring_declarations import (
    CLASSES,
    COSTS,
    DEFAULT_METRICS,
    GIVEN_BY_TABLE,
    ROWS,
    metric_named,
    options_of,
    shipped_metrics,
)
from msl.check.strategies import Calls
from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.record import record
from msl.space.formulas import Facts, apply, plain
from msl.space.spec import Combined, Estimate, Loss, Measured, Metric, MetricLimit, Objective, Weight, metrics_of
from msl.space.to_text import value_to_text
from msl.space.values import BlockType, Value


@record
class ObjectiveReader:
    """Reads the objectives of one file."""

    module: Module
    report: Report
    calls: Calls
    task: str | None
    facts: Facts | None = None
    #: Whether `data(fold = …)` says what the folds are.
    has_folds: bool = False
    #: Whether rows have weights, which generalised cross-validation does not know.
    has_weights: bool = False

    def objectives(self, goal: ast.Goal) -> tuple[Objective, ...]:
        """The objectives without errors; errors are reported."""
        shared = goal.objectives[-1].estimate if sum(o.estimate is not None for o in goal.objectives) == 1 else None
        if shared is None:
            shared = next((o.estimate for o in goal.objectives if o.estimate is not None), None)
        found = [self._objective(written, goal, shared) for written in goal.objectives]
        self._check_all(goal, found)
        return tuple(objective for objective in found if objective is not None)

    def _objective(
        self, written: ast.Objective, goal: ast.Goal, shared: ast.Path | ast.Call | None
    ) -> Objective | None:
        loss = self._loss(written.expression, len(goal.objectives) == 1)
        by = written.estimate or shared
        several = sum(o.estimate is not None for o in goal.objectives) > 1
        if loss is not None and several and written.estimate is None and not self._of_model(loss):
            message = "several objectives say how they are estimated, and this one does not"
            self._error("MSL152", written, message, "give each of them a `by`, or one for all")
            return None
        estimate = self.default_estimate() if by is None else self.calls.estimate(by, self.module)
        if loss is None or estimate is None:
            return None
        if self.has_folds and (estimate := self._of_given_folds(estimate, by, by or written)) is None:
            return None
        if self.has_weights and estimate.shortcut == "gcv":
            message = f"`{estimate.name}` counts all rows the same, and `data(weight = …)` says how much each counts"
            self._error("MSL299", by or written, message, "write `cv()`, or leave `weight` out of `data(…)`")
            return None
        self._direction(loss, goal, written)
        self._estimate_fits(estimate, loss, by, by or written)
        text = self.module.source.slice(written.expression.span)
        return Objective(" ".join(text.split()), loss, estimate, goal.minimize)

    def default_objectives(self) -> tuple[Objective, ...]:
        """The objective of a spec that has none: nothing until the task is known."""
        if self.task is None:
            return ()
        name = DEFAULT_METRICS[self.task]
        metric = self.calls.metric(ast.Path((ast.Name(name),)), self.module)
        assert metric is not None
        estimate = self.default_estimate()
        if self.has_folds and self.facts is not None:
            estimate = _with_folds(estimate, self.facts.n_folds)
        return (Objective(name, Measured(name, metric), estimate),)

    def default_estimate(self) -> Estimate:
        estimate = self.calls.estimate(ast.Path((ast.Name("cv"),)), self.module)
        assert estimate is not None
        return estimate

    def _of_given_folds(self, estimate: Estimate, by: ast.Path | ast.Call | None, where: ast.Node) -> Estimate | None:
        """The estimate with the folds of `data(fold = …)`; what contradicts them is reported."""
        if not estimate.takes_folds:
            message = f"`{estimate.name}` divides the rows itself, and `data(fold = …)` says how they are divided"
            self._error("MSL298", where, message, "write `cv()`, or leave `fold` out of `data(…)`")
            return None
        n_folds = None if self.facts is None else self.facts.n_folds
        options = dict(estimate.options)
        for argument in by.arguments if isinstance(by, ast.Call) else ():
            name = "folds" if argument.key is None else argument.key.text
            if name == "folds" and n_folds is not None and options["folds"] != n_folds:
                has = "1 value" if n_folds == 1 else f"{n_folds} values"
                message = f"the column of `data(fold = …)` has {has}, not {options['folds']}"
                self._error("MSL298", argument, message, "write `cv()`: the column says how many folds there are")
                return None
            if (name in ("shuffle", "stratified") and options[name]) or (name == "repeats" and options[name] != 1):
                message = f"`{name}` deals rows out anew, and `data(fold = …)` says in which fold each row is"
                self._error("MSL298", argument, message, f"leave `{name}` out, or `fold`")
                return None
        return _with_folds(estimate, n_folds)

    def _of_model(self, loss: Loss) -> bool:
        return all(metric.of_model for metric in metrics_of(loss))

    def _loss(self, expression: ast.Expression, alone: bool = False) -> Loss | None:
        """An objective as arithmetic; `alone` if it is all that is optimised, so that its direction may change."""
        match expression:
            case ast.Path() | ast.Call():
                return self.measured(expression, alone)
            case ast.Number(value=value, unit=None):
                return Weight(float(value))
            case ast.Negative(operand=operand):
                inner = self._loss(operand)
                return None if inner is None else Combined("-", (inner,))
            case ast.Arithmetic(operators=operators, operands=operands):
                total = self._loss(operands[0])
                for operation, operand in zip(operators, operands[1:], strict=True):
                    right = self._loss(operand)
                    total = None if total is None or right is None else self._combined(operation, total, right, operand)
                return total
        text = self.module.source.slice(expression.span)
        help = "an objective is a metric, or arithmetic on metrics"
        if isinstance(expression, ast.String) and expression.value in self._names():
            help = f"write `{expression.value}`, without quotes"
        elif isinstance(expression, ast.String) and ":" in expression.value:
            name = expression.value.rpartition(":")[2]
            help = f"declare it, `block {name}: metric {text} {{ larger_is_better = true }}`, and optimise `{name}`"
        self._error("MSL150", expression, f"`{text}` is not something to optimise", help)
        return None

    def _combined(self, operation: str, left: Loss, right: Loss, where: ast.Node) -> Loss | None:
        if operation == "/" and right == Weight(0.0):
            self._error("MSL150", where, "this divides by zero", "change the number")
            return None
        if operation == "^" and not (isinstance(left, Weight) and isinstance(right, Weight)):
            self._error("MSL150", where, "an objective has no powers of metrics", "multiply the metric by itself")
            return None
        if not (isinstance(left, Weight) and isinstance(right, Weight)):
            return Combined(operation, (left, right))
        return Weight(float(plain(apply(operation, [left.value, right.value]))))

    def _names(self) -> list[str]:
        """The metrics that a spec can name."""
        shipped = shipped_metrics()
        own = [declaration.name for declaration in self.calls.own_metrics(self.module)]
        return [*own, *(n for n in self.calls.names("metric") if n not in shipped or shipped[n].is_named)]

    def measured(self, written: ast.Path | ast.Call, alone: bool = False) -> Measured | None:
        path = written if isinstance(written, ast.Path) else written.path
        name = path.text
        is_known = self.calls.knows("metric", name) or self.calls.declares_metric(path, self.module)
        metric = self._metric(written, path) if is_known else None
        if not is_known or (metric is not None and not metric.is_named):
            help = metric_meant(name, alone, lambda ours: metric_named(ours).larger_is_better)
            help = help or did_you_mean(name, self._names()) or f"metrics are {listing(self._names(), 20)}"
            if self.calls.knows("estimate", name):
                text = self.module.source.slice(written.span)
                help = f"an estimate stands behind `by`: write `by {text}`"
            self._error("MSL150", path, f"`{name}` is not a metric", help)
            return None
        if metric is None:
            return None
        if metric.task is not None and self.task is not None and metric.task != self.task:
            usual = DEFAULT_METRICS[self.task]
            message = f"`{name}` is a metric for {metric.task}, and this is {self.task}"
            help = f"write `{usual}`, or set `task` in `data(…)`"
            if self.facts is not None and self.facts.guessed_target:
                message += f": {self.facts.guessed_target}"
                help = f"to predict another column write `data(target = …)`; for this one write `{usual}`"
            self._error("MSL151", path, message, help)
            return None
        return Measured(metric.name, metric)

    def _metric(self, written: ast.Path | ast.Call, path: ast.Path) -> Metric | None:
        """A metric with its options; its name says those that the spec gives."""
        declared = self.calls.declared("metric", path, self.module)
        if declared is None:
            return None
        arguments = written.arguments if isinstance(written, ast.Call) else ()
        facts = self.facts
        known: dict[str, Value] = {ROWS: None if facts is None else facts.n_samples}
        known[CLASSES] = None if facts is None else tuple(facts.classes)
        if any(param.name == COSTS for param in options_of(declared)):
            given = next((each for each in arguments if each.key is None or each.key.text == COSTS), None)
            costs = self._costs(given, written)
            if costs is None:
                return None
            known[COSTS] = costs
            arguments = tuple(each for each in arguments if each is not given)
        metric = self.calls.metric(ast.Call(path, arguments, span=written.span), self.module, known)
        if metric is None or not metric.options:
            return metric
        defaults = dict(self._default_options(path))
        told = [
            f"{name} = {value_to_text(value)}"
            for name, value in metric.options
            if name not in GIVEN_BY_TABLE and value != defaults.get(name)
        ]
        return replace(metric, name=f"{metric.name}({', '.join(told)})") if told else metric

    def _default_options(self, path: ast.Path) -> tuple[tuple[str, Value], ...]:
        metric = self.calls.metric(path, self.module)
        return () if metric is None else metric.options

    def _costs(self, given: ast.Argument | None, written: ast.Node) -> Costs | None:
        try:
            if given is None:
                raise WrongCosts(written, "it is not said what each error costs")
            return CostReader(self.facts).read(given.value)
        except WrongCosts as wrong:
            self._error("MSL156", wrong.where, wrong.message, wrong.help)
            return None

    def _direction(self, loss: Loss, goal: ast.Goal, written: ast.Objective) -> None:
        """Reports a metric that is optimised in the wrong direction; the direction of arithmetic is up to the user."""
        if not metrics_of(loss):
            text = self.module.source.slice(written.span)
            self._error("MSL150", written, f"`{text}` is the same for every model", "name a metric")
            return
        if len(_tasks(loss)) > 1:
            message = "an objective cannot combine metrics for classification and for regression"
            self._error("MSL151", written, message, "use metrics of one task")
        if not isinstance(loss, Measured):
            return
        if goal.minimize == loss.metric.larger_is_better:
            right = "maximize" if goal.minimize else "minimize"
            better = "larger" if loss.metric.larger_is_better else "smaller"
            message = f"`{loss.name}` is better when it is {better}"
            self._error("MSL153", written.expression, message, f"write `{right} {loss.name}`")

    def _estimate_fits(self, estimate: Estimate, loss: Loss, by: ast.Path | ast.Call | None, where: ast.Node) -> None:
        if self.task == "regression" and dict(estimate.options).get("kernel", "constant") != "constant":
            message = "`kernel = border` weighs rows by the border between classes, and this is regression"
            self._error("MSL151", where, message, "leave `kernel` out")
        unweighted = next((metric for metric in metrics_of(loss) if metric.takes == "predictions"), None)
        weighs = estimate.rows_repeat or dict(estimate.options).get("kernel", "constant") != "constant"
        if unweighted is not None and (weighs or self.has_weights):
            gives = f"`{estimate.name}` gives rows weights here" if weighs else "`data(weight = …)` gives rows weights"
            message = f"{gives}, and `{unweighted.name}` takes predictions alone"
            help = "write `takes = weighted_predictions` in its declaration, and give the function `sample_weight`"
            self._error("MSL297", where, message, help)
        path = by.path if isinstance(by, ast.Call) else by
        serves = None if path is None else self.calls.task("estimate", path, self.module)
        if serves is not None and self.task is not None and serves != self.task:
            message = f"`{estimate.name}` estimates {serves}, and this is {self.task}"
            self._error("MSL151", where, message, "use another estimate, such as `cv(folds = 5)`")
        elif estimate.shortcut == "gcv" and not all(
            metric.of_squared_error or metric.of_model for metric in metrics_of(loss)
        ):
            fitting = " or ".join(f"`{name}`" for name, each in shipped_metrics().items() if each.of_squared_error)
            message = f"`{estimate.name}` corrects a squared error, and this objective is none"
            self._error("MSL154", where, message, f"use {fitting}, or another estimate such as `cv(folds = 5)`")

    def _check_all(self, goal: ast.Goal, found: list[Objective | None]) -> None:
        """Reports objectives that are the same, or that are for different tasks."""
        seen: dict[tuple[Loss, Estimate], ast.Objective] = {}
        tasks: dict[str, ast.Objective] = {}
        for written, objective in zip(goal.objectives, found, strict=True):
            if objective is None:
                continue
            first = seen.setdefault((objective.loss, objective.estimate), written)
            if first is not written:
                self._error("MSL155", written, "this objective is there twice", "remove one of them")
            own = _tasks(objective.loss)
            other = next((task for task in tasks if task not in own), None)
            if len(own) == 1 and other is not None:
                message = f"one objective is for {other}, and this one is for {next(iter(own))}"
                also = (Label(self.module.source, tasks[other].span, f"for {other}"),)
                help = "use metrics of one task"
                self.report.error("MSL151", self.module.source, written.span, message, "", help, also)
            for task in own:
                tasks.setdefault(task, written)

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


def _with_folds(estimate: Estimate, n_folds: int | None) -> Estimate:
    """The estimate with so many folds, as the table has them."""
    if n_folds is None:
        return estimate
    options = tuple((name, n_folds if name == "folds" else value) for name, value in estimate.options)
    return replace(estimate, options=options)


def of_positive(objectives: Iterable[Objective]) -> tuple[Objective, ...]:
    """The objectives where `data(positive = …)` says which class counts; their texts stay as they are written."""
    return tuple(replace(objective, loss=_of_positive(objective.loss)) for objective in objectives)


def limits_of_positive(limits: Iterable[MetricLimit]) -> tuple[MetricLimit, ...]:
    """The same for requirements on metrics."""
    return tuple(
        limit if limit.metric.of_positive is None else replace(limit, metric=metric_named(limit.metric.of_positive))
        for limit in limits
    )


def _of_positive(loss: Loss) -> Loss:
    match loss:
        case Measured(metric=metric) if metric.of_positive is not None:
            return Measured(metric.of_positive, metric_named(metric.of_positive))
        case Combined(operation=operation, operands=operands):
            return Combined(operation, tuple(map(_of_positive, operands)))
    return loss


def _tasks(loss: Loss) -> set[str]:
    """The tasks that an objective is for; metrics of the model itself are for any."""
    return {metric.task for metric in metrics_of(loss) if metric.task is not None}


def task_of(objectives: tuple[Objective, ...]) -> str | None:
    """The task that objectives are for, if it is the same for all."""
    tasks = {task for objective in objectives for task in _tasks(objective.loss)}
    return tasks.pop() if len(tasks) == 1 else None


# --- learners of which the complexity is known without loading them ---------------------------------------------------


#: The learners of scikit-learn that msl.blocks.base.complexity counts.
_OF_SKLEARN = frozenset(
    """
    ARDRegression AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor BayesianRidge BernoulliNB
    CalibratedClassifierCV CategoricalNB ComplementNB TransformedTargetRegressor TunedThresholdClassifierCV
    DecisionTreeClassifier DecisionTreeRegressor DummyClassifier DummyRegressor ElasticNet
    ElasticNetCV ExtraTreeClassifier ExtraTreeRegressor ExtraTreesClassifier ExtraTreesRegressor GammaRegressor
    GaussianNB GaussianProcessClassifier GaussianProcessRegressor GradientBoostingClassifier GradientBoostingRegressor
    HistGradientBoostingClassifier HistGradientBoostingRegressor HuberRegressor KNeighborsClassifier KNeighborsRegressor
    KernelRidge Lars LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearDiscriminantAnalysis LinearRegression
    LinearSVC LinearSVR LogisticRegression LogisticRegressionCV MLPClassifier MLPRegressor MultiTaskElasticNet
    MultiTaskLasso MultinomialNB NearestCentroid NuSVC NuSVR OneVsOneClassifier OneVsRestClassifier
    OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV PLSRegression Perceptron PoissonRegressor
    QuadraticDiscriminantAnalysis QuantileRegressor RANSACRegressor RadiusNeighborsClassifier RadiusNeighborsRegressor
    RandomForestClassifier RandomForestRegressor Ridge RidgeCV RidgeClassifier RidgeClassifierCV SGDClassifier
    SGDRegressor SVC SVR StackingClassifier StackingRegressor TheilSenRegressor TweedieRegressor VotingClassifier
    VotingRegressor
    """.split()
)


def not_weighable(blocks: Iterable[BlockType]) -> list[BlockType]:
    """The learners whose complexity is not known, unless their classes have a method for it."""
    return [block for block in blocks if block.role == "learner" and not _is_weighable(block.target)]


def _is_weighable(target: str) -> bool:
    module, _, name = target.partition(":")
    package = module.partition(".")[0]
    names = [name.replace("*", kind) for kind in ("Classifier", "Regressor")] if "*" in name else [name]
    return package == "msl" or (package == "sklearn" and any(each in _OF_SKLEARN for each in names))


# --- The costs of errors: a matrix, or a list of errors by the names of their classes ---------------------------------

# `cost([[0, 1], [5, 0]])` has a row for each true class and a column for each predicted one, in the order of the
# classes. `cost([[ill, healthy, 5]])` says that taking `ill` for `healthy` costs 5; other errors cost 1, and no error
# nothing.

Matrix = tuple[tuple[float, ...], ...]
Errors = tuple[tuple[str, str, float], ...]
Costs = Matrix | Errors

_EXAMPLES = "write a matrix, as in `[[0, 1], [5, 0]]`, or errors by name, as in `[[ill, healthy, 5]]`"


class WrongCosts(Exception):
    """Costs that cannot be read, or that do not fit the table; `where` is the part that is wrong."""

    def __init__(self, where: ast.Node, message: str, help: str = _EXAMPLES) -> None:
        super().__init__(message)
        self.where, self.message, self.help = where, message, help


@record
class CostReader:
    """Reads costs; with the facts of a table, as the matrix of its classes."""

    facts: Facts | None

    def read(self, written: ast.Expression) -> Costs:
        """Raises WrongCosts."""
        lines = _items(written, "the costs of errors are a list of lists")
        cells = [(line, _items(line, "the costs of errors are a list of lists")) for line in lines]
        if any(_label(cell) is not None for _, line in cells for cell in line):
            return self._errors(cells)
        return self._matrix(written, cells)

    def _matrix(self, written: ast.Node, cells: list[tuple[ast.Expression, tuple[ast.Expression, ...]]]) -> Matrix:
        for line, values in cells:
            if len(values) != len(cells):
                message = f"a matrix of {len(cells)} rows has {len(cells)} columns, and this row has {len(values)}"
                raise WrongCosts(line, message, "give one row and one column for each class")
        if self.facts is not None and len(cells) != self.facts.n_classes:
            message = f"the matrix is for {len(cells)} classes, and the table has {self.facts.n_classes}"
            raise WrongCosts(written, message, f"give one row and one column for each class: {self._classes()}")
        return tuple(tuple(_cost(cell) for cell in line) for _, line in cells)

    def _errors(self, cells: list[tuple[ast.Expression, tuple[ast.Expression, ...]]]) -> Costs:
        found: dict[tuple[str, str], float] = {}
        for line, values in cells:
            labels = [_label(value) for value in values[:2]]
            if len(values) != 3 or labels[0] is None or labels[1] is None:
                message = "an error is the true class, the predicted class, and the cost"
                raise WrongCosts(line, message, "write it as in `[ill, healthy, 5]`; quote classes that are numbers")
            pair = (self._known(labels[0], values[0]), self._known(labels[1], values[1]))
            if pair in found:
                raise WrongCosts(line, "the cost of this error is given twice", "remove one of them")
            found[pair] = _cost(values[2])
        if self.facts is None or not self.facts.classes:
            return tuple((true, predicted, cost) for (true, predicted), cost in found.items())
        names = self.facts.classes
        return tuple(
            tuple(found.get((true, predicted), float(true != predicted)) for predicted in names) for true in names
        )

    def _known(self, label: str, where: ast.Node) -> str:
        if self.facts is not None and self.facts.classes and label not in self.facts.classes:
            help = did_you_mean(label, self.facts.classes) or f"the classes are {self._classes()}"
            raise WrongCosts(where, f"`{label}` is not a class of the target", help)
        return label

    def _classes(self) -> str:
        return "" if self.facts is None else listing(self.facts.classes, 20)


def _items(written: ast.Expression, message: str) -> tuple[ast.Expression, ...]:
    if not isinstance(written, ast.ListOf) or not written.items:
        raise WrongCosts(written, message)
    return written.items


def _label(written: ast.Expression) -> str | None:
    """The name of a class; None for a number."""
    match written:
        case ast.String(value=value):
            return value
        case ast.Path(names=(name,)):
            return name.text
        case ast.Boolean(value=truth):
            return "true" if truth else "false"
    return None


def _cost(written: ast.Expression) -> float:
    match written:
        case ast.Number(value=value, unit=None) if value < 0:
            raise WrongCosts(written, "a cost is not negative", "write 0 for what costs nothing")
        case ast.Number(value=value, unit=None) if math.isfinite(value):
            return float(value)
    raise WrongCosts(written, "a cost is a number of at least 0", "write a number")
