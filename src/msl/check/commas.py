"""Commas: those of thousands and decimals, `1,000` and `0,5`, and those between alternatives, `kernel: linear, rbf`."""

from __future__ import annotations

from msl.check.report import Report
from msl.syntax import ast
from msl.text.source import Source

_MOST_LISTED = 50
#: What is one value, whatever it stands for.
_SINGLE = (ast.Path, ast.String, ast.Boolean, ast.Number, ast.Nothing)


def cut_number(
    arguments: tuple[ast.Argument, ...], position: int, source: Source, report: Report, decimals: bool = True
) -> bool:
    """Whether an argument without a name is the rest of a number that a comma cut; the report says so, once a number.

    With `decimals` fewer digits than three, or more, are read as the part behind a decimal comma.
    """
    if position == 0 or arguments[position].key is not None:
        return False
    before, after = _last(arguments[position - 1]), _first(arguments[position].value)
    if before is None or after is None or after.span.start - before.span.end != 1:
        return False
    if not (before.text.isdigit() and after.text.isdigit()):
        return False
    if _is_group(arguments, position) and _is_group(arguments, position - 1):
        return True  # `1,000,000` is told at its first comma
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
    """Whether an argument without a name is one more value of the one before it; the report says so, at the first."""
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
    """Whether an argument is three digits right behind a comma and another number."""
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
