"""Profile the columns of a source, to show them and to write a first spec, and warn of suspicious ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from msl.data.data_errors import DataProblem, in_spec, problem
from msl.data.derived_columns import holds_dates
from msl.data.infer_types import (
    NONE,
    TypedColumn,
    is_free_text,
    signed_numbers,
    spell_number,
    type_column,
    unusable_columns,
)
from msl.data.ordered_symbols import infer_order, says_nothing
from msl.data.raw_columns import Reading

_ID_NAME = re.compile(
    r"(.*[\s_.-])?(id|ids|uid|uuid|guid|index|idx|rownames?|row[\s_.-]?(number|no|id))|unnamed: 0", re.I
)
_CAMEL_ID_NAME = re.compile(r".*[a-z](Id|ID)")
#: Fewer rows than this do not show that a column is an identifier.
_FEWEST_ROWS = 20
#: With at least this share of different categories, hardly anything can be learnt from them.
_MOSTLY_DIFFERENT = 0.9


def column_warnings(column: TypedColumn) -> Iterator[DataProblem]:
    """Warnings for a feature that is empty, constant or looks like an identifier."""
    values, name = column.values, column.name
    present = len(values) - values.null_count()
    if present == 0:
        yield problem("MSL334", f"column `{name}` has no values at all", _ignoring(name), column=name)
    elif values.min() == values.max():
        besides = " where it is not missing" if present < len(values) else ""
        always = spell_number(values.max()) if column.kind == "numeric" else str(values.max())
        yield problem("MSL333", f"column `{name}` is always {always}{besides}", _ignoring(name), column=name)
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
    if column.kind == "ordered":
        return False
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


ColumnKind = Literal[
    "number", "category", "ordered", "yes/no", "date", "text", "identifier", "constant", "empty", "other"
]

_DATES, _WORDS_OR_SIGNS, _INEXACT = "MSL315", "MSL337", "MSL336"
_YES_NO = tuple(map(frozenset, (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("on", "off"), ("0", "1"))))
#: Fewer rows do not show that a column determines the target.
_FEWEST_ROWS = 20
#: More columns are not compared with each other, nor with the target.
_MOST_COMPARED = 1_000
#: More symbols are no scale that people have made.
_MOST_ORDERED = 100


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column of a source; its values are numbers, texts or times, null if missing."""

    name: str
    kind: ColumnKind
    values: pl.Series
    #: Warnings of this column alone, such as that of a word among numbers.
    odd: tuple[DataProblem, ...] = ()
    #: Whether its numbers have signs around them, so that only `numeric` reads them as numbers.
    is_signed: bool = False
    #: The symbols of an ordered column, the lowest first.
    order: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        return self.values.null_count()

    def distinct(self) -> int:
        """How many different values there are."""
        return 0 if self.kind == "other" else self.values.drop_nulls().n_unique()

    def common(self, most: int = 3) -> list[tuple[str, int]]:
        """The most frequent values and their counts."""
        if self.kind in ("other", "empty"):
            return []
        counts = pl.DataFrame({"value": self.values.drop_nulls()})["value"].value_counts(name="n")
        top = counts.sort(["n", "value"], descending=[True, False]).head(most)
        return [(_spelt(value), int(n)) for value, n in top.iter_rows()]

    def range(self) -> tuple[str, str] | None:
        """The lowest and the highest number, or time whose text sorts by time."""
        dtype = self.values.dtype
        is_iso = self.kind == "date" and (
            dtype.is_temporal() or bool(self.values.drop_nulls().str.contains("^[0-9]{4}").all())
        )
        if self.kind in ("empty", "other") or not (dtype == pl.Float64 or is_iso):
            return None
        return _spelt(self.values.min()), _spelt(self.values.max())


def profile_columns(reading: Reading) -> dict[str, ColumnProfile]:
    """The columns of a source by their names, in its order."""
    return {name: _profile(name, column, reading) for name, column in reading.columns.items()}


def _profile(name: str, column: pl.Series, reading: Reading) -> ColumnProfile:
    if list(unusable_columns({name: column})):
        return ColumnProfile(name, "other", column)
    typed = type_column(name, column, decimals=reading.decimals)
    if any(each.code == _WORDS_OR_SIGNS for each in typed.problems):
        signed = signed_numbers(typed.values, dict.fromkeys((*reading.decimals, ".", ",")))
        values = typed.values if signed is None else signed.numbers
        return ColumnProfile(name, "number", values, typed.problems, signed is not None)
    kind = _kind(typed)
    if kind in ("category", "identifier") and typed.kind == "symbolic" and holds_dates(column, NONE):
        kind = "date"  # but for a few values
    if (told := reading.orders.get(name)) and kind == "category":
        return ColumnProfile(name, "ordered", typed.values, (), order=tuple(told))
    if kind == "category" and (order := _order(name, typed.values)) is not None:
        return ColumnProfile(name, "ordered", typed.values, (), order=order)
    return ColumnProfile(name, kind, typed.values, typed.problems)


def _order(name: str, values: pl.Series) -> tuple[str, ...] | None:
    """The symbols of a column from the lowest to the highest, where they plainly have an order."""
    symbols = values.unique().drop_nulls().to_list()
    if not 2 < len(symbols) <= _MOST_ORDERED:
        return None
    return infer_order(name, symbols) or infer_order(name, [each for each in symbols if not says_nothing(each)])


def _kind(column: TypedColumn) -> ColumnKind:
    values = column.values
    present = len(values) - values.null_count()
    if present == 0:
        return "empty"
    if any(each.code == _DATES for each in column.problems):
        return "date"
    if values.min() == values.max():  # whole numbers that reals cannot tell apart are not the same
        return "identifier" if any(each.code == _INEXACT for each in column.problems) else "constant"
    if column.kind == "symbolic" and is_free_text(values):
        return "text"
    if is_identifier(column, present):
        return "identifier"
    if _says_yes_or_no(values):
        return "yes/no"
    return "category" if column.kind == "symbolic" else "number"


def _says_yes_or_no(values: pl.Series) -> bool:
    if values.dtype == pl.Float64 and (values.min(), values.max()) != (0.0, 1.0):
        return False  # fast, and true of most columns of numbers
    distinct = values.drop_nulls().unique()
    return len(distinct) == 2 and {_spelt(value).lower() for value in distinct} in _YES_NO


def duplicate_rows(reading: Reading) -> int:
    """The number of duplicate rows; 0 if there are too many columns to compare."""
    usable = [column for column in reading.columns.values() if not list(unusable_columns({"": column}))]
    if not usable or len(usable) > _MOST_COMPARED:
        return 0
    frame = pl.DataFrame({str(place): column for place, column in enumerate(usable)})
    return frame.height - frame.n_unique()


def leaking_columns(columns: Mapping[str, ColumnProfile], target: str) -> Iterator[str]:
    """The columns that determine the target on their own: often a leak, known only after the target."""
    truth = columns[target].values
    if len(columns) > _MOST_COMPARED:
        return
    for name, column in columns.items():
        if name == target or column.kind in ("other", "empty", "constant", "date", "text"):
            continue
        both = pl.DataFrame({"value": column.values, "target": truth}).drop_nulls()
        if both.height >= _FEWEST_ROWS and _determines(both):
            yield name


def _determines(both: pl.DataFrame) -> bool:
    """Whether each value has one target in many rows, or numbers separate the targets without overlap."""
    distinct, targets = both["value"].n_unique(), both["target"].n_unique()
    if targets < 2:
        return False
    if 2 * distinct <= both.height:
        return both.n_unique() == distinct
    if both["value"].dtype != pl.Float64:
        return False
    if both["target"].dtype == pl.Float64 and 2 * targets > both.height:
        line = both.select(pl.corr("value", "target")).item()
        return isinstance(line, float) and abs(line) > 1.0 - 1e-9
    ends = both.group_by("target").agg(low=pl.col("value").min(), high=pl.col("value").max()).sort("low")
    return bool((ends["high"].head(-1) < ends["low"].tail(-1)).all())


def _spelt(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
