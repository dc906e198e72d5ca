"""Assign the arguments of a use to parameters, by name or position, and report clashes and stray commas."""

from __future__ import annotations

from collections.abc import Iterator

from msl.check.domains.contains import Owner
from msl.check.names.names_of_other_tools import argument_meant, option_meant
from msl.diagnostics.diagnostic import Label, Report
from msl.diagnostics.source import Source
from msl.diagnostics.suggest import did_you_mean, listing
from msl.language import ast
from msl.language.literals import name_text
from msl.record import record
from msl.space.nodes import Node, Param, Symbol, alternatives

_LIMITS = ("evaluations", "time", "each", "fit", "memory", "until", "outputs")


def is_rest(argument: ast.Argument) -> bool:
    """Whether this is `rest = default`, which closes every parameter that is not mentioned."""
    named = argument.key is not None and argument.key.text == "rest"
    return named and isinstance(argument.value, ast.Default) and not argument.opens


@record
class Naming:
    """Assigns arguments to parameters in one file."""

    source: Source
    report: Report

    def by_name(
        self, names: list[str], arguments: tuple[ast.Argument, ...], owner: Owner
    ) -> dict[str, ast.Argument] | None:
        """The arguments by parameter, `rest` included; None if one of them is wrong."""
        given: dict[str, ast.Argument] = {}
        sound = True
        named_before = False
        for position, argument in enumerate(arguments):
            closes_rest = self._closes_rest(argument)
            name = "rest" if closes_rest else self._name(names, arguments, position, owner, given, named_before)
            named_before = named_before or argument.key is not None
            if name is None:
                sound = False
            elif name in given:
                message = f"`{name}` is given twice"
                first = Label(self.source, given[name].span, "first given here")
                self.report.error("MSL092", self.source, argument.span, message, "again", "remove one", (first,))
                sound = False
            else:
                given[name] = argument
        return given if sound else None

    def _name(
        self,
        names: list[str],
        arguments: tuple[ast.Argument, ...],
        position: int,
        owner: Owner,
        given: dict[str, ast.Argument],
        named_before: bool,
    ) -> str | None:
        """The parameter that an argument belongs to."""
        argument = arguments[position]
        if argument.key is not None:
            name = argument.key.text
            if name in names:
                return name
            message = f"`{owner.name}` has no {owner.what} `{name}`"
            span = argument.key.span
            meant = option_meant(owner.name, name) if owner.closed else None
            help = did_you_mean(name, names) or _longer(name, names) or _takes(owner, names)
            if meant is not None:
                help = f"did you mean `{meant}`?"
            elif owner.what == "parameter" and (without := argument_meant(name)) is not None:
                help, span = without, argument.span
            if owner.closed and name in _LIMITS:
                help = f"limits belong in a statement of their own: `budget({name} = …)`"
            elif owner.name == "cv" and name == "fold":
                help = "a column that tells the folds is named by `data(fold = …)`; a number of folds by `folds = 5`"
            self.report.error("MSL096", self.source, span, message, "", help)
            return None
        if cut_number(arguments, position, self.source, self.report, decimals=named_before):
            return None
        if listed_alternatives(arguments, position, self.source, self.report):
            return None
        if named_before:
            text = self.source.slice(argument.span)
            message = f"`{text}` has no name, but follows arguments that have one"
            name = next((name_text(name) for name in names if name not in given), "name")
            self.report.error("MSL094", self.source, argument.span, message, "", f"write `{name} = {text}`")
            return None
        if position >= len(names):
            message = f"`{owner.name}` takes {len(names)} {owner.what}{'s' if len(names) != 1 else ''} at most"
            help = _takes(owner, names)
            self.report.error("MSL097", self.source, argument.span, message, "one too many", help)
            return None
        return names[position]

    def _closes_rest(self, argument: ast.Argument) -> bool:
        if argument.key is None or argument.key.text != "rest":
            return False
        if not is_rest(argument):
            message = "`rest` only takes `default`"
            self.report.error("MSL098", self.source, argument.span, message, "", "write `rest = default`")
        return True


def _longer(name: str, names: list[str]) -> str | None:
    """The only parameter whose words hold all of a name, or the other way round: `final` for `final_estimator`."""
    words = set(name.split("_"))
    near = [other for other in names if words < (own := set(other.split("_"))) or own < words]
    return f"did you mean `{near[0]}`?" if len(near) == 1 else None


def _takes(owner: Owner, names: list[str]) -> str:
    return f"it takes {listing(names)}" if names else f"`{owner.name}` takes none"


# --- clashes: two parameters of the same name for one class -----------------------------------------------------------


def clashes(params: tuple[Param, ...]) -> Iterator[tuple[str, Param, Param]]:
    """Duplicate names, and the two parameters that they come from; alternatives of one parameter may share names."""
    owners = {param.name: param for param in params}
    for param in params:
        for name in dict.fromkeys(_inner_names(param.node)):
            owner = owners.setdefault(name, param)
            if owner is not param or name == param.name:
                yield name, owner, param


def _inner_names(node: Node) -> Iterator[str]:
    """The parameters of a parameter's alternatives, which become parameters of the block."""
    for option in alternatives(node):
        if isinstance(option, Symbol) and not option.own:
            for param in option.params:
                yield param.name
                yield from _inner_names(param.node)


# --- commas: in numbers (`1,000`, `0,5`) and between alternatives (`kernel: linear, rbf`) -----------------------------


_MOST_LISTED = 50
#: Expressions that are one value.
_SINGLE = (ast.Path, ast.String, ast.Boolean, ast.Number, ast.Nothing)


def cut_number(
    arguments: tuple[ast.Argument, ...], position: int, source: Source, report: Report, decimals: bool = True
) -> bool:
    """Whether an argument without a name is the rest of a number with a comma; reported once for each number.

    With `decimals`, any number of digits other than three counts as the fraction after a decimal comma.
    """
    if position == 0 or arguments[position].key is not None:
        return False
    before, after = _last(arguments[position - 1]), _first(arguments[position].value)
    if before is None or after is None or after.span.start - before.span.end != 1:
        return False
    if not (before.text.isdigit() and after.text.isdigit()):
        return False
    if _is_group(arguments, position) and _is_group(arguments, position - 1):
        return True  # `1,000,000` is reported at its first comma
    thousands = len(after.text) == 3 and len(before.text) <= 3 and before.text[0] != "0"
    if not thousands and not (decimals or before.text == "0"):
        return False
    end, text = after, after.text
    goes_on = thousands and after is arguments[position].value
    while goes_on and (position := position + 1) < len(arguments) and _is_group(arguments, position):
        end = arguments[position].value  # type: ignore[assignment]
        text += f"_{end.text}"
    number = f"{before.text}_{text}" if thousands else f"{before.text}.{text}"
    message = "a comma separates arguments, not thousands" if thousands else "a number has a decimal point"
    report.error("MSL012", source, before.span.to(end.span), message, "", f"write `{number}`")
    return True


def listed_alternatives(arguments: tuple[ast.Argument, ...], position: int, source: Source, report: Report) -> bool:
    """Whether an argument without a name is one more value of the argument before it; reported at the first one."""
    argument = arguments[position]
    if argument.key is not None or not isinstance(argument.value, _SINGLE):
        return False
    first = position - 1
    while (
        first > position - _MOST_LISTED
        and first >= 0
        and arguments[first].key is None
        and isinstance(arguments[first].value, _SINGLE)
    ):
        first -= 1
    opened = arguments[first] if first >= 0 else None
    if opened is None or not opened.opens or not isinstance(opened.value, _SINGLE) or opened.default is not None:
        return False
    if first == position - 1:
        end = position
        while (
            end + 1 < min(len(arguments), position + _MOST_LISTED)
            and arguments[end + 1].key is None
            and isinstance(arguments[end + 1].value, _SINGLE)
        ):
            end += 1
        values = [each.value for each in arguments[first : end + 1]]
        help = f"write `{' | '.join(source.slice(value.span) for value in values)}`"
        span = values[0].span.to(values[-1].span)
        report.error("MSL038", source, span, "alternatives are joined by `|`, not by commas", "", help)
    return True


def _is_group(arguments: tuple[ast.Argument, ...], position: int) -> bool:
    """Whether an argument is three digits directly after a comma and another number."""
    argument, before = arguments[position], _last(arguments[position - 1]) if position else None
    value = argument.value
    if before is None or argument.key is not None or not isinstance(value, ast.Number):
        return False
    return len(value.text) == 3 and value.text.isdigit() and value.span.start - before.span.end == 1


def _last(argument: ast.Argument) -> ast.Number | None:
    """The number that an argument ends with."""
    if argument.default is not None or argument.condition is not None:
        return None
    value = argument.value
    if isinstance(value, ast.Range) and not value.log and value.step is None:
        value = value.high
    return value if isinstance(value, ast.Number) and value.unit is None else None


def _first(value: ast.Expression) -> ast.Number | None:
    """The number that a value begins with."""
    if isinstance(value, ast.Range) and value.kind is None:
        value = value.low
    return value if isinstance(value, ast.Number) and value.unit is None else None
