"""The columns of a source before anything is inferred, under unique names, and what a file format must provide."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.data.data_errors import DataError, DataProblem, problem
from msl.data.options import DataOptions

#: More columns take minutes to read, and are hardly ever intended.
MOST_COLUMNS = 150_000
#: A longer name is a cell of data, or a whole file whose lines do not end.
_MOST_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the columns of a source, made unique."""

    unique: tuple[str, ...]
    warnings: tuple[DataProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Columns of text, numbers or any other types that the source has.

    The series themselves are anonymous: polars takes some names of columns for patterns.
    """

    columns: dict[str, pl.Series]
    #: Where it came from, for messages.
    origin: str
    #: The decimal signs that text may have, in the order in which they are tried.
    decimals: tuple[str, ...] = (".",)
    warnings: tuple[DataProblem, ...] = ()
    #: The symbols of columns whose source says that they have an order, the lowest first.
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Iterable[pl.Series], names: Names, origin: str) -> Reading:
        """The reading of these columns under these names."""
        anonymous = (column.alias("") for column in columns)
        return cls(dict(zip(names.unique, anonymous, strict=True)), origin, warnings=names.warnings)

    def filtered(self, rows: pl.Series) -> Reading:
        """The rows for which this is true."""
        return replace(self, columns={name: column.filter(rows) for name, column in self.columns.items()})

    def gathered(self, rows: NDArray[np.intp]) -> Reading:
        """The rows at these places."""
        return replace(self, columns={name: column.gather(rows) for name, column in self.columns.items()})


def numbered_names(count: int) -> tuple[str, ...]:
    """`f1` … `fN`: the names of columns that have none."""
    return tuple(f"f{number}" for number in range(1, count + 1))


def is_numbered(name: str) -> bool:
    return re.fullmatch(r"f[1-9][0-9]*", name) is not None


def unique_names(cells: Sequence[str]) -> Names:
    """Stripped names; a missing name becomes `columnK`, the second `x` becomes `x_2`, with a warning.

    The first of several columns keeps their name, so that an option that names it means the first.
    """
    stripped = [cell.strip() for cell in cells]
    taken = set(stripped)
    seen: dict[str, int] = {}
    unique: list[str] = []
    numbers: dict[str, int] = {}
    warnings: list[DataProblem] = []
    for position, cell in enumerate(stripped, start=1):
        if len(cell) > _MOST_CHARACTERS:
            raise DataError([_long_name(position, cell)])
        name = cell or _free_name(f"column{position}", 1, taken)
        if not cell:
            message = f"column {position} has no name; it is called `{name}`"
            warnings.append(problem("MSL332", message, "name it in the data, or ignore it", column=name))
        elif cell in seen:
            numbers[cell] = numbers.get(cell, 1) + 1
            name = _free_name(cell, numbers[cell], taken)
            message = f"columns {seen[cell]} and {position} are both named `{cell}`: "
            message += f"column {seen[cell]} is `{cell}` here, column {position} is called `{name}`"
            warnings.append(problem("MSL331", message, "give every column a name of its own", column=name))
        taken.add(name)
        seen[name] = position
        unique.append(name)
    return Names(tuple(unique), tuple(warnings))


def _free_name(stem: str, number: int, taken: set[str]) -> str:
    """The stem with the first number from this one on that makes a new name; 1 is left out."""
    while (name := f"{stem}_{number}" if number > 1 else stem) in taken:
        number += 1
    return name


def _long_name(position: int, name: str) -> DataProblem:
    message = f"the name of column {position} has {len(name):,} characters: {name[:40]!r} …"
    help = f"names have at most {_MOST_CHARACTERS:,}: shorten it, or write header = false if the first row is data"
    return problem("MSL362", message, help)


def check_width(width: int, origin: str) -> None:
    """Refuses a table with more columns than can be read in reasonable time."""
    if width > MOST_COLUMNS:
        message = f"{origin} has {width:,} columns, and at most {MOST_COLUMNS:,} can be read"
        help = "keep the columns that may matter; if each column is a case and each row a feature, transpose it"
        raise DataError([problem("MSL361", message, help)])


# --- What a file format is --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReadHints:
    """What is known of a table before it is read. Formats that have names and types of their own can ignore it.

    known_names  the columns of a table that this one should be like
    as_text      the columns whose values are not to be taken for numbers
    """

    options: DataOptions
    known_names: Collection[str] = ()
    as_text: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class TableFormat:
    """A file format.

    name      as messages call it
    suffixes  how the names of such files end
    read      the columns of a file. A frame is enough: names are made unique, and empty tables refused, for all formats
    magic     the first bytes of every such file, by which it is recognised whatever its name
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, ReadHints], pl.DataFrame | Reading]
    magic: bytes = b""
