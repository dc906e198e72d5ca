"""Read what the declaration of a metric or an estimate states about itself: its fields with `=`, such as `low = 0`.

Other fields are options, which a spec may give in brackets: `cv(folds = 10)`, `pinball(quantile = 0.9)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from msl.check.names.block_declarations import Blocks, Declared
from msl.check.names.catalogues import offers
from msl.check.names.library import Library
from msl.diagnostics.diagnostic import Report
from msl.diagnostics.suggest import did_you_mean, listing
from msl.space.nodes import Const, Param
from msl.space.spec import OF_MODEL, Estimate, Metric
from msl.space.values import Value

#: The option of metrics that take the costs of errors, a matrix.
COSTS = "costs"
#: The option of metrics that depend on the number of rows of the table, which nobody has to give.
ROWS = "rows"
#: The option of metrics that depend on the names of the classes, which nobody has to give.
CLASSES = "classes"
#: Options that the table gives.
GIVEN_BY_TABLE = (ROWS, CLASSES)
#: The metric of a spec that names none.
DEFAULT_METRICS = {"classification": "ber", "regression": "rmse"}
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)
_TRUTH, _NUMBER, _TEXT, _FUNCTION = "true or false", "a number", "a text", 'a function, as in "package.module:function"'
#: What each fact may be: one of some words, or a value of a kind.
_FACTS: Mapping[str, Mapping[str, tuple[str | None, ...] | str]] = {
    "metric": {
        "larger_is_better": _TRUTH,
        "low": _NUMBER,
        "high": _NUMBER,
        "additive_over_rows": (None, "mean", "class_mean", "root_mean"),
        "row_function": _FUNCTION,
        "takes": ("outputs", "predictions", "weighted_predictions"),
        "from_confusion": _TRUTH,
        "needs": ("outputs", "probabilities", *OF_MODEL),
        "relative_to": (None, "all_features"),
        "of_positive": _TEXT,
        "on_test": _TEXT,
        "is_named": _TRUTH,
        "complement": _TEXT,
        "undefined": _TEXT,
    },
    "estimate": {
        "held_out": (None, "one", "folds", "rows"),
        "fixed_splits": _TRUTH,
        "follows_order": _TRUTH,
        "takes_folds": _TRUTH,
        "training_weight": _NUMBER,
        "rows_repeat": _TRUTH,
        "shortcut": (None, "loo", "gcv"),
    },
}
#: What only the metrics of MSL and of packages state: others stand for them, or they look at the fit.
_NOT_OWN = ("relative_to", "of_positive", "on_test", "is_named", "complement")
#: What people write for a field of a metric.
_MEANT = {
    **dict.fromkeys(("larger", "greater_is_better", "higher_is_better", "bigger", "maximize"), "larger_is_better"),
    **dict.fromkeys(("min", "minimum", "lower"), "low"),
    **dict.fromkeys(("max", "maximum", "upper", "best"), "high"),
    **dict.fromkeys(("signature", "arguments", "input", "inputs"), "takes"),
    **dict.fromkeys(("needs_proba", "needs_probabilities", "response_method", "probabilities"), "needs"),
}


class WrongDeclaration(Exception):
    """A fact that cannot be what the declaration states."""

    def __init__(self, field: str, message: str, help: str) -> None:
        super().__init__(message)
        self.field, self.message, self.help = field, message, help


def options_of(declared: Declared) -> tuple[Param, ...]:
    """The options that a declaration has: its parameters without the facts that it states."""
    known = _FACTS.get(declared.block.role, {})
    return tuple(param for param in declared.params if param.name not in known)


def declared_metric(declared: Declared, options: tuple[tuple[str, Value], ...] = ()) -> Metric:
    """The metric with these options. Raises WrongDeclaration for a fact that there is not, or that cannot be.

    An option is declared with `:`, as in `quantile: real 0..1 default 0.5`; `costs = none` takes a matrix of costs, and
    `rows = none` and `classes = none` are the number of rows of the table and the names of its classes.
    """
    for option in options_of(declared):
        if isinstance(option.node, Const) and option.name not in (COSTS, *GIVEN_BY_TABLE):
            raise WrongDeclaration(option.name, f"a metric states no `{option.name}`", _meant_field(option))
    facts = _stated(declared)
    block = declared.block
    takes_costs = any(option.name == COSTS for option in options_of(declared))
    metric = Metric(block.name, block.target, block.task, takes_costs=takes_costs, options=options, **facts)
    if metric.low > metric.high:
        raise WrongDeclaration("low", "`low` is above `high`", "change one of them")
    if metric.additive_over_rows is not None and metric.row_function is None and not metric.of_model:
        help = 'add `row_function = "package.module:function"`'
        raise WrongDeclaration("additive_over_rows", "it is not said what each row adds to the metric", help)
    if metric.takes != "outputs" and metric.needs != "outputs":
        help = "leave `takes` out: the outputs have a probability for each class"
        raise WrongDeclaration("takes", f"predictions are no {metric.needs}", help)
    if metric.takes == "predictions" and metric.from_confusion:
        help = "write `takes = weighted_predictions`, or leave `from_confusion` out"
        raise WrongDeclaration("from_confusion", "the cells of a confusion matrix are rows with weights", help)
    return metric


def _meant_field(option: Param) -> str:
    """What to write for a field with `=` that a metric does not have."""
    meant = _MEANT.get(option.name)
    if meant is None:
        fields = [name for name in _FACTS["metric"] if name not in _NOT_OWN]
        own = f"an option of the function is written `{option.name}: …`, with a domain and a default"
        return did_you_mean(option.name, fields) or f"it can state {listing(fields, 20)}; {own}"
    value = {"larger_is_better": "true", "takes": "predictions", "needs": "probabilities"}.get(meant, "…")
    return f"write `{meant} = {value}`"


def check_own_metric(declared: Declared) -> None:
    """Raises WrongDeclaration for a metric that a spec declares and that cannot be."""
    name = declared.block.name
    if find_metric(name) is not None:
        raise WrongDeclaration("", f"`{name}` is already a metric", "choose another name")
    if declared.block.target.endswith("*"):
        raise WrongDeclaration("", "a metric is a function, and `*` stands for two classes", "remove the `*`")
    declared_metric(declared)
    stated = {param.name: param.node for param in declared.params}
    for field in _NOT_OWN:
        if field in stated:
            raise WrongDeclaration(field, f"a metric of a spec states no `{field}`", "remove it")
    if stated.get("needs") in [Const(kind) for kind in OF_MODEL]:
        help = "write `needs = probabilities`, or leave it out"
        raise WrongDeclaration("needs", "a metric of a spec looks at the outputs of models, not at their fits", help)


def declared_estimate(declared: Declared, options: tuple[tuple[str, Any], ...]) -> Estimate:
    """The estimate with these options. Raises WrongDeclaration for a fact that cannot have its value."""
    facts = _stated(declared)
    if not 0.0 <= facts.get("training_weight", 0.0) < 1.0:
        raise WrongDeclaration("training_weight", "`training_weight` is not in 0..1", "change it")
    return Estimate(declared.block.name, declared.block.target, options, **facts)


def _stated(declared: Declared) -> dict[str, Any]:
    known = _FACTS[declared.block.role]
    facts: dict[str, Any] = {}
    for param in declared.params:
        if param.name in known:
            value = param.node.value if isinstance(param.node, Const) else param.node
            facts[param.name] = _checked(param.name, value, known[param.name])
    return facts


def _checked(name: str, value: object, allowed: tuple[str | None, ...] | str) -> object:
    match allowed:
        case tuple():
            if value in allowed:
                return value
            words = ["none" if word is None else word for word in allowed]
            help = did_you_mean(str(value), words) or f"write {listing(words)}"
            raise WrongDeclaration(name, f"`{name}` has no such value", help)
        case "a number":
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
        case "true or false":
            if isinstance(value, bool):
                return value
        case _:
            if isinstance(value, str) and (allowed == _TEXT or _TARGET.fullmatch(value)):
                return value
    example = {_TRUTH: "true", _NUMBER: "0", _FUNCTION: '"package.module:function"'}.get(str(allowed), "…")
    raise WrongDeclaration(name, f"`{name}` is {allowed}", f"write `{name} = {example}`")


# --- metrics by name, for code that has no spec at hand ---------------------------------------------------------------


def find_metric(name: str) -> Metric | None:
    """A metric of MSL or of an installed package, without its options; None if there is none of that name, or its
    declaration is wrong."""
    name = name.partition("(")[0]
    return shipped_metrics().get(name) or _offered_metric(name)


@cache
def shipped_metrics() -> dict[str, Metric]:
    """The metrics of MSL itself, in the order of their declarations."""
    report = Report()
    catalogue, blocks = Library(report).implied("metric"), Blocks(report)
    found = (blocks.declared(declaration) for declaration in catalogue.declarations.values())
    return {declared.block.name: declared_metric(declared) for declared in found if declared is not None}


def metric_named(name: str) -> Metric:
    """Raises KeyError if there is none."""
    metric = find_metric(name)
    if metric is None:
        raise KeyError(name)
    return metric


def larger_is_better(name: str) -> bool:
    """Of an objective that is known only by its name, which may be arithmetic or of a package that is gone."""
    metric = find_metric(name)
    return metric is not None and metric.larger_is_better


def _offered_metric(name: str) -> Metric | None:
    offer = offers("metric").get(name)
    file = None if offer is None else offer.declarations()
    if offer is None or file is None:
        return None
    report = Report()
    declaration = Library(report).offered(file).declarations.get(name)
    declared = None if declaration is None else Blocks(report).declared(declaration)
    if declared is None or report.failed or (declared.block.role, declared.block.target) != ("metric", offer.target):
        return None
    try:
        return declared_metric(declared)
    except WrongDeclaration:
        return None
