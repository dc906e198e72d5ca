"""Read requirements on metrics, such as `require predict_time <= 5ms`: limits that each evaluated model has to meet.

They look like other requirements and are something else: what is in a space is known before anything is fitted, and
counted, while a metric is known when a model has been evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator

from msl.check.names.library import Module
from msl.check.names.resolve_names import peek
from msl.check.objectives import ObjectiveReader
from msl.check.strategies import Calls
from msl.diagnostics.diagnostic import Report
from msl.language import ast
from msl.language.literals import BYTES, SECONDS
from msl.record import record
from msl.space.formulas import FACTS
from msl.space.spec import MetricLimit

_UNITS: dict[str, dict[str, float]] = {"time": SECONDS, "size": BYTES}
_EXAMPLES = {"time": "5ms", "size": "2MB"}
_WHAT = {"time": "a time", "size": "a size in memory"}
#: The other way round: what is true where a comparison is not, and what it is from the right.
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def is_about_metrics(statement: ast.Require, module: Module, calls: Calls) -> bool:
    """Whether a requirement names a metric. What the file declares or uses has precedence, but for its metrics."""
    conditions = (statement.condition, statement.when)
    return any(
        _is_metric(path, module, calls) or _may_be_meant(path, each, module)
        for each in conditions
        if each is not None
        for path in _names(each)
    )


def _is_metric(path: ast.Path, module: Module, calls: Calls) -> bool:
    if peek(module, path.names[0].text) is not None or path.names[0].text in module.uses:
        return calls.declares_metric(path, module)
    return len(path.names) == 1 and calls.knows("metric", path.text)


def _may_be_meant(path: ast.Path, condition: ast.Condition, module: Module) -> bool:
    """Whether an unknown name is compared with a time or a size, which only metrics are."""
    return (
        isinstance(condition, ast.Compare)
        and any(isinstance(side, ast.Number) and side.unit is not None for side in (condition.left, condition.right))
        and len(path.names) == 1
        and path.text not in FACTS
        and peek(module, path.text) is None
        and not module.may_declare(path.text)
    )


def _names(node: ast.Condition | ast.Expression) -> Iterator[ast.Path]:
    """The names in a condition that may be metrics: not the options of calls."""
    match node:
        case ast.Path():
            yield node
        case ast.Call(path=path):
            yield path
        case ast.And(items=parts) | ast.Or(items=parts) | ast.Arithmetic(operands=parts):
            for part in parts:
                yield from _names(part)
        case ast.Not(item=inner) | ast.Negative(operand=inner) | ast.Is(subject=inner):
            yield from _names(inner)
        case ast.Compare(left=left, right=right):
            yield from _names(left)
            yield from _names(right)


@record
class LimitReader:
    """Reads the requirements on metrics of one file."""

    module: Module
    report: Report
    calls: Calls
    objectives: ObjectiveReader

    def limits(self, statement: ast.Require) -> tuple[MetricLimit, ...]:
        """Those of a statement, several if they are joined by `and`; errors are reported."""
        if statement.when is not None:
            message = "whether a metric is limited cannot depend on what is in the model"
            help = "leave out `if` and what follows; a limit holds for all models"
            self._error("MSL465", statement.when, message, help)
            return ()
        condition = statement.condition
        items = condition.items if isinstance(condition, ast.And) else (condition,)
        found = [self._limit(item) for item in items]
        return tuple(limit for limit in found if limit is not None)

    def _limit(self, item: ast.Condition) -> MetricLimit | None:
        if not isinstance(item, ast.Compare) or item.operator not in _TURNED:
            self._no_limit(item)
            return None
        metric, number, operation = item.left, item.right, item.operator
        if isinstance(metric, ast.Number):
            metric, number, operation = number, metric, _TURNED[operation]
        path = metric.path if isinstance(metric, ast.Call) else metric
        if not isinstance(metric, ast.Path | ast.Call) or not isinstance(path, ast.Path):
            self._no_limit(item)
            return None
        if not self._is_named(metric) and not _may_be_meant(path, item, self.module):
            self._no_limit(item)
            return None
        measured = self.objectives.measured(metric)
        if measured is None:
            return None
        found = measured.metric
        value = self._value(number, found.unit, measured.name)
        if value is None:
            return None
        limit = MetricLimit(f"require {self._text(item)}", found, operation, value)
        # An end of the range that is infinite is never reached, and one that is not known is given as infinite.
        met = [limit.holds(found.low), limit.holds(found.high)]
        if not any(met):
            message = f"no model meets this: `{measured.name}` is {_range(found.low, found.high)}"
            self._error("MSL467", item, message, "change the number, or the comparison")
        elif all(met):
            message = f"every model meets this: `{measured.name}` is {_range(found.low, found.high)}"
            help = "remove it, or look for a slip"
            self.report.warning("MSL229", self.module.source, item.span, message, "", help)
        return limit

    def _no_limit(self, item: ast.Condition) -> None:
        """What names a metric and is not its comparison with a number: why, and what to write."""
        inner = item.item if isinstance(item, ast.Not) else None
        if isinstance(inner, ast.Compare) and inner.operator in _NEGATED:
            help = f"write `{self._text(inner.left)} {_NEGATED[inner.operator]} {self._text(inner.right)}`"
            self._error("MSL465", item, "a metric is compared, and this is negated", help)
        elif isinstance(item, ast.Or):
            message = "what is measured cannot be an alternative to anything else"
            self._error("MSL465", item, message, "write one `require` for each limit: a model has to meet all of them")
        elif isinstance(item, ast.Compare) and item.operator in ("==", "!="):
            message = "a metric is hardly ever exactly a number"
            self._error("MSL465", item, message, f"write `{self._text(item.left)} <= {self._text(item.right)}`")
        elif any(_is_metric(path, self.module, self.calls) for path in _names(item)):
            message = "a requirement on a metric compares the metric alone with a number"
            self._error("MSL465", item, message, "write it as in `require predict_time <= 5ms`")
        else:
            message = "this says what is in the space, and beside it stands what is measured of a model"
            self._error("MSL465", item, message, f"give it a statement of its own: `require {self._text(item)}`")

    def _is_named(self, node: ast.Condition | ast.Expression) -> bool:
        path = node.path if isinstance(node, ast.Call) else node
        return isinstance(path, ast.Path) and _is_metric(path, self.module, self.calls)

    def _value(self, node: ast.Condition | ast.Expression, unit: str | None, name: str) -> float | None:
        """The number that a metric is compared with, in seconds or bytes where it has a unit."""
        if not isinstance(node, ast.Number):
            message = f"`{name}` is compared with a number, and `{self._text(node)}` is none"
            self._error("MSL466", node, message, f"write `{_EXAMPLES.get(unit or '', '0.1')}`")
            return None
        factors: dict[str, float] = {} if unit is None else _UNITS[unit]
        if unit is None and node.unit is not None:
            digits = node.text.removesuffix(node.unit)
            self._error("MSL466", node, f"`{name}` takes no unit `{node.unit}`", f"write `{digits}`")
        elif unit is not None and node.unit is None:
            *most, last = [f"`{node.text}{each}`" for each in factors]
            self._error("MSL466", node, f"`{name}` needs a unit", f"write {', '.join(most)} or {last}")
        elif unit is not None and node.unit not in factors:
            message = f"`{name}` is {_WHAT[unit]}, and `{node.text}` is not"
            self._error("MSL466", node, message, f"write it as in `{_EXAMPLES[unit]}`")
        else:
            return float(node.value * (1 if node.unit is None else factors[node.unit]))
        return None

    def _text(self, node: ast.Node) -> str:
        return " ".join(self.module.source.slice(node.span).split())

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


def _range(low: float, high: float) -> str:
    """The range of a metric in words."""
    if low == float("-inf"):
        return f"at most {high:g}"
    return f"at least {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"
