"""Warn of suspicious features: empty, constant, or an identifier."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msl.data.data_errors import DataProblem, in_spec, problem
from msl.data.infer import TypedColumn

_ID_NAME = re.compile(
    r"(.*[\s_.-])?(id|ids|uid|uuid|guid|index|idx|rownames?|row[\s_.-]?(number|no|id))|unnamed: 0", re.I
)
_CAMEL_ID_NAME = re.compile(r".*[a-z](Id|ID)")
#: Fewer rows than this do not show that a column is an identifier.
_FEWEST_ROWS = 20
#: With at least this share of different categories, hardly anything can be learnt from them.
_MOSTLY_DIFFERENT = 0.9


def find_oddities(column: TypedColumn) -> Iterator[DataProblem]:
    """Warnings for a feature that is empty, constant or looks like an identifier."""
    values, name = column.values, column.name
    present = len(values) - values.null_count()
    if present == 0:
        yield problem("MSL334", f"column `{name}` has no values at all", _ignoring(name), column=name)
    elif values.min() == values.max():
        besides = " where it is not missing" if present < len(values) else ""
        yield problem("MSL333", f"column `{name}` is always {values.max()!s}{besides}", _ignoring(name), column=name)
    elif is_identifier(column, present) and not any(each.code == "MSL337" for each in column.problems):
        message = f"column `{name}` looks like an identifier: its values hardly ever stand twice"
        yield problem(
            "MSL335",
            message,
            f"{_ignoring(name)}, or groups = {in_spec(name)} keeps rows with the same value together",
            column=name,
        )


def _ignoring(name: str) -> str:
    return f"ignore = [{in_spec(name)}] leaves it out"


def is_identifier(column: TypedColumn, present: int) -> bool:
    """Whether the values of a feature identify the rows rather than describe them."""
    if present < _FEWEST_ROWS:
        return False
    values = column.values
    if column.kind == "symbolic":
        return values.drop_nulls().n_unique() >= _MOSTLY_DIFFERENT * present
    if present < len(values):
        return False
    is_named_so = _ID_NAME.fullmatch(column.name) or _CAMEL_ID_NAME.fullmatch(column.name)
    lowest, highest = values.min(), values.max()
    assert isinstance(lowest, float)
    assert isinstance(highest, float)
    if not is_named_so and highest - lowest != present - 1:
        return False
    return bool((values == values.floor()).all()) and values.n_unique() == present


def mixed_decimals(columns: list[TypedColumn]) -> Iterator[DataProblem]:
    """Warnings for numbers with a point in a file whose other columns have decimal commas: 1.234 may mean 1234."""
    if not any(column.decimal == "," for column in columns):
        return
    for column in columns:
        values = column.values
        if column.kind == "numeric" and column.decimal == "." and (values != values.floor()).any():
            message = f"column `{column.name}` has decimal points, other columns have decimal commas"
            help = 'if its points group thousands, remove them; decimal = "," says that no point is a decimal sign'
            yield problem("MSL339", message, help, column=column.name)
