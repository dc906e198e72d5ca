"""Check the options of the statements `data`, `budget` and `seed`."""

from __future__ import annotations

import math
import re
from typing import Any

from msl.check.domains.arguments import cut_number
from msl.check.domains.number_ranges import Bounds
from msl.check.names.block_declarations import TASKS
from msl.check.names.library import Module
from msl.check.names.names_of_other_tools import option_meant
from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.language.literals import BYTES, SECONDS
from msl.record import record
from msl.space.formulas import Formula
from msl.space.spec import Budget, DataStatement

_DATA_LISTS = ("ignore", "missing", "categorical", "numeric", "dates", "text")
_ORDERED = "ordered"
_DATA_SWITCHES = {
    "header": "`true` if the first row holds names, `false` if it is data",
    "day_first": "`true` if 1/2/2024 is the first of February, `false` if it is the second of January",
}
_DATA_SIGNS = ("separator", "decimal")
#: What columns that are no features say of the rows.
_SET_APART = {"groups": "groups", "order": "order", "fold": "folds", "weight": "weights"}
_DATA_NAMES = (
    *("target", "task", "positive", *_DATA_LISTS, _ORDERED, *_SET_APART, *_DATA_SWITCHES, *_DATA_SIGNS),
    *("missing_target", "ragged", "rows"),
)
_DROP_OR_ERROR = {
    "missing_target": "rows whose target is missing",
    "ragged": "rows that have too many or too few fields",
}
_TABLES = (".csv", ".tsv", ".parquet", ".arff", ".xlsx")
_BUDGET_KINDS = {
    "evaluations": "count",
    "time": "duration",
    "each": "duration",
    "fit": "duration",
    "memory": "size",
    "until": "number",
    "outputs": "size",
}
#: Limits that may be 0.
_MAY_BE_NOTHING = ("outputs",)
_EXAMPLES = {"count": "1_000", "duration": "10min", "size": "2GB", "number": "0.05"}
MOST_SEED = 2**63 - 1


@record
class Settings:
    """Reads these statements of one file."""

    module: Module
    report: Report

    def data(self, statement: ast.Data) -> DataStatement:
        values: dict[str, Any] = {}
        for name, argument in self._named(statement.arguments, _DATA_NAMES, "data").items():
            value = self._of_data(name, argument)
            if value is not None:
                values[name] = value
        task = values.get("task")
        if task is not None and task not in TASKS:
            where = next(a for a in statement.arguments if a.key is not None and a.key.text == "task")
            help = did_you_mean(task, TASKS) or "a task is `classification` or `regression`"
            self._error("MSL031", where.value, f"`{task}` is not a task", help)
            del values["task"]
        for name, rows in _DROP_OR_ERROR.items():
            if values.get(name) not in (None, "drop", "error"):
                where = next(a for a in statement.arguments if a.key is not None and a.key.text == name)
                message = f"`{values[name]}` is not a way to treat {rows}"
                help = "write `drop` to leave them out, or `error` to refuse the table"
                self._error("MSL165", where.value, message, help)
                del values[name]
        self._agree(statement, values)
        return DataStatement(**values)

    def _agree(self, statement: ast.Data, values: dict[str, Any]) -> None:
        """Report options of `data` that contradict each other."""
        written = {a.key.text: a for a in reversed(statement.arguments) if a.key is not None}  # the first of each
        target = values.get("target")
        if target is not None and target in values.get("ignore", ()):
            message = f"`{target}` is the target and cannot be ignored"
            self._error("MSL161", written["ignore"].value, message, "take it out of `ignore`")
        for name in ("groups", "order"):
            if "fold" in values and name in values:
                message = f"`fold` already says which rows are tested together, and so does `{name}`"
                self._error("MSL161", written[name], message, "keep one of them")
        for name in ("fold", "weight"):
            if values.get(name) in values.get("ignore", ()):
                message = f"`{values[name]}` has the {_SET_APART[name]} and cannot be ignored; it is no feature anyway"
                self._error("MSL161", written["ignore"].value, message, "take it out of `ignore`")
        for name in _SET_APART:
            if target is not None and values.get(name) == target:
                message = f"`{target}` is the target and cannot be `{name}` too"
                self._error("MSL161", written[name].value, message, f"name another column, or leave `{name}` out")
        if values.get("task") == "regression" and "positive" in values:
            message = "`positive` names a class, but regression has none"
            self._error("MSL161", written["positive"], message, "remove it, or change `task`")

    def budget(self, statement: ast.Budget, objectives: int) -> Budget:
        values: dict[str, Any] = {}
        for name, argument in self._named(statement.arguments, tuple(_BUDGET_KINDS), "budget").items():
            value = self._limit(argument.value, _BUDGET_KINDS[name], name)
            if value is not None:
                values[name] = value
        for outer, inner in (("time", "each"), ("each", "fit"), ("time", "fit")):
            if outer in values and inner in values and values[inner] > values[outer]:
                what = "one evaluation" if inner == "each" else "one fit"
                longer = "the whole run" if outer == "time" else "one evaluation"
                message = f"{what} may take longer than {longer}"
                self.report.warning("MSL227", self.module.source, statement.span, message, "", f"lower `{inner}`")
                break
        if "until" in values and objectives > 1:
            message = f"with {objectives} objectives no single loss decides, so `until` has no effect"
            help = "leave it out, or use one objective"
            self.report.warning("MSL234", self.module.source, statement.span, message, "", help)
        return Budget(**values)

    def seed(self, statement: ast.Seed) -> int:
        number = statement.number
        if not isinstance(number.value, int) or number.unit is not None or number.value > MOST_SEED:
            self._error(
                "MSL162", number, f"`{number.text}` is not a seed", f"a seed is an integer from 0 to {MOST_SEED}"
            )
            return 0
        return number.value

    def _named(
        self, arguments: tuple[ast.Argument, ...], names: tuple[str, ...], owner: str
    ) -> dict[str, ast.Argument]:
        found: dict[str, ast.Argument] = {}
        for position, argument in enumerate(arguments):
            if cut_number(arguments, position, self.module.source, self.report):
                continue
            if argument.key is None:
                text = self.module.source.slice(argument.span)
                name = _meant_limit(argument.value) if owner == "budget" else names[0]
                help = f"write `{name} = {text}`"
                if isinstance(argument.value, ast.String) and argument.value.value.endswith(_TABLES):
                    help = f"remove it, and name the table in the command: `msl run SPEC {argument.value.value}`"
                self._error("MSL094", argument, f"`{text}` has no name", help)
            elif argument.key.text not in names:
                name = argument.key.text
                meant = option_meant(owner, name)
                help = (
                    f"did you mean `{meant}`?" if meant else did_you_mean(name, names) or f"it takes {listing(names)}"
                )
                names_table = isinstance(argument.value, ast.String) and argument.value.value.endswith(_TABLES)
                if isinstance(argument.value, ast.String) and names_table:
                    help = f"remove it, and name the table in the command: `msl run SPEC {argument.value.value}`"
                self._error(
                    "MSL096", argument if names_table else argument.key, f"`{owner}` has no option `{name}`", help
                )
            elif argument.opens or argument.default is not None or argument.condition is not None:
                message = f"an option of `{owner}` is one value and cannot be searched"
                text = self.module.source.slice(argument.value.span)
                self._error("MSL140", argument, message, f"write `{argument.key.text} = {text}`")
            elif argument.key.text in found:
                first = Label(self.module.source, found[argument.key.text].span, "first given here")
                message = f"`{argument.key.text}` is given twice"
                self.report.error("MSL092", self.module.source, argument.span, message, "again", "remove one", (first,))
            else:
                found[argument.key.text] = argument
        return found

    def _of_data(self, name: str, argument: ast.Argument) -> Any:
        """The value of one option of `data`; None if it is invalid."""
        value = argument.value
        if name in _DATA_LISTS:
            return self._column_list(argument)
        if name == _ORDERED:
            return self._orders(argument)
        if name in _DATA_SWITCHES:
            if isinstance(value, ast.Boolean):
                return value.value
            help = f"write {_DATA_SWITCHES[name]}"
            return self._error("MSL164", value, f"`{name}` must be `true` or `false`", help)
        if name == "rows":
            number = value.value if isinstance(value, ast.Number) and value.unit is None else None
            if isinstance(number, int) and number >= 2:
                return number
            help = "write how many rows to learn from, such as `rows = 100_000`; predictions are made for all rows"
            return self._error("MSL164", value, "`rows` must be a whole number of at least 2", help)
        if name in _DATA_SIGNS:
            if isinstance(value, ast.String) and len(value.value) == 1:
                return value.value
            example = '`","`' if name == "decimal" else '`";"`'
            return self._error(
                "MSL164", value, f"`{name}` must be one character", f"write it in quotes, such as {example}"
            )
        return self._text(value)

    def _column_list(self, argument: ast.Argument) -> tuple[str, ...] | None:
        if not isinstance(argument.value, ast.ListOf):
            text = self.module.source.slice(argument.value.span)
            self._error("MSL160", argument.value, "a list is needed here", f"write `[{text}]`")
            return None
        markers = argument.key is not None and argument.key.text == "missing"  # an empty cell may be one
        items = argument.value.items
        texts = ["" if markers and item == ast.String("") else self._text(item) for item in items]
        for place, (name, item) in enumerate(zip(texts, items, strict=True)):
            if name is not None and name in texts[:place]:
                message = f"`{name}` is in this list already"
                self.report.warning("MSL224", self.module.source, item.span, message, "", "remove it")
        return None if any(text is None for text in texts) else tuple(text for text in texts if text is not None)

    def _orders(self, argument: ast.Argument) -> tuple[tuple[str, ...], ...] | None:
        """The columns of `ordered`, each with its symbols, or alone where their order is to be found."""
        if not isinstance(argument.value, ast.ListOf):
            text = self.module.source.slice(argument.value.span)
            return self._error("MSL160", argument.value, "a list is needed here", f"write `[{text}]`")
        found: dict[str, tuple[str, ...]] = {}
        for item in argument.value.items:
            order = self._order(item)
            if order is None:
                return None
            if order[0] in found:
                message = f"`{order[0]}` is in this list already"
                self.report.warning("MSL224", self.module.source, item.span, message, "", "remove it")
            found.setdefault(order[0], order)
        return tuple(found.values())

    def _order(self, item: ast.Expression) -> tuple[str, ...] | None:
        if not isinstance(item, ast.Call):
            if isinstance(item, ast.Choice):
                text = self.module.source.slice(item.span)
                message = f"`{text}` is an order without the column that has it"
                return self._error("MSL482", item, message, f"write the column before it: `COLUMN({text})`")
            name = self._text(item)
            return None if name is None else (name,)
        column = ".".join(name.text for name in item.path.names)
        levels: tuple[ast.Expression, ...] = ()
        if len(item.arguments) == 1 and item.arguments[0].key is None:
            value = item.arguments[0].value
            levels = value.items if isinstance(value, ast.Choice) and value.ordered else ()
        if not levels:
            within = ", ".join(self.module.source.slice(argument.span) for argument in item.arguments)
            shown = " < ".join(filter(None, (each.strip() for each in re.split(r"[,|]", within)))) or "low < high"
            message = f"the symbols of `{column}` are in no order"
            help = f"join them by `<`, the lowest first: `{self.module.source.slice(item.path.span)}({shown})`"
            return self._error("MSL482", item, message, help)
        symbols = ["none" if isinstance(level, ast.Nothing) else self._text(level) for level in levels]
        if None in symbols:
            return None
        for place, symbol in enumerate(symbols):
            if symbol in symbols[:place]:
                message = f"`{symbol}` has two places in the order of `{column}`"
                return self._error("MSL482", levels[place], message, "remove one of them")
        return (column, *(str(symbol) for symbol in symbols))

    def _text(self, expression: ast.Expression) -> str | None:
        match expression:
            case ast.Path(names=(name,)):
                return name.text
            case ast.String(value=text) if text:
                return text
            case ast.Number():
                return expression.text
            case ast.Boolean(value=flag):
                return str(flag).lower()
        text = self.module.source.slice(expression.span)
        help = f'write it in quotes: `"{text[:40]}"`'
        if isinstance(expression, ast.ListOf) and len(expression.items) == 1:
            help = f"one name is needed here, not a list: write `{self.module.source.slice(expression.items[0].span)}`"
        elif isinstance(expression, ast.ListOf | ast.String):
            help = "write the name of a column"
        self._error("MSL160", expression, f"`{text}` is not a name", help)
        return None

    def _limit(self, expression: ast.Expression, kind: str, name: str) -> float | int | None:
        units = SECONDS if kind == "duration" else BYTES if kind == "size" else {}
        if isinstance(expression, ast.Number) and expression.unit is not None and expression.unit in units:
            value = expression.value * units[expression.unit]
            return self._positive(value, expression, name)
        if units:
            self._without_unit(expression, kind, name, units)
            return None
        if isinstance(expression, ast.Nothing):
            self._error("MSL163", expression, f"`{name}` must be a number", "leave it out for no limit")
            return None
        if isinstance(expression, ast.Number) and expression.unit is not None:
            message = f"`{name}` takes no unit `{expression.unit}`"
            self._error("MSL163", expression, message, f"write `{_EXAMPLES[kind]}`")
            return None
        amount = Bounds(self.module, self.report).amount(expression)
        if amount is None:
            return None
        if isinstance(amount, Formula):
            self._error("MSL163", expression, f"`{name}` must be a plain number", f"write `{_EXAMPLES[kind]}`")
            return None
        if kind == "count" and not isinstance(amount, int):
            if not amount.is_integer():
                self._error("MSL163", expression, f"`{name}` must be an integer", f"write `{math.ceil(amount)}`")
                return None
            amount = int(amount)
        return amount if kind == "number" else self._positive(amount, expression, name)

    def _without_unit(self, expression: ast.Expression, kind: str, name: str, units: dict[str, float]) -> None:
        """A duration or a size that is not a number with one of its units."""
        text = self.module.source.slice(expression.span)
        if isinstance(expression, ast.Number) and expression.unit is None:
            *most, last = [f"`{text}{unit}`" for unit in units if unit != "ms"]  # a limit is hardly ever so short
            self._error("MSL163", expression, f"`{name}` needs a unit", f"write {', '.join(most)} or {last}")
            return
        help = f"write `{_EXAMPLES[kind]}`"
        if isinstance(expression, ast.String) and expression.value.strip("0123456789._") in units:
            help = f"write `{expression.value}`, without quotes"
        elif isinstance(expression, ast.Nothing):
            help = "write `0MB` to keep nothing" if name in _MAY_BE_NOTHING else "leave it out for no limit"
        what = "a duration" if kind == "duration" else "an amount of memory"
        self._error("MSL163", expression, f"`{name}` must be {what}, and `{text}` is not", help)

    def _positive(self, value: float | int, where: ast.Node, name: str) -> float | int | None:
        if value > 0 or (value == 0 and name in _MAY_BE_NOTHING):
            return value
        self._error("MSL163", where, f"`{name}` must be above 0", "leave it out for no limit")
        return None

    def _error(self, code: str, node: ast.Node, message: str, help: str) -> None:
        self.report.error(code, self.module.source, node.span, message, "", help)


def _meant_limit(expression: ast.Expression) -> str:
    """The limit that a value without a name was meant for, by its unit."""
    unit = expression.unit if isinstance(expression, ast.Number) else None
    return "time" if unit in SECONDS else "memory" if unit in BYTES else "evaluations"
