"""A reading: the columns of a source as they came, under names that are unique, before anything is inferred."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from msl.evaluate.problem import DataProblem, problem


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the columns of a source, made unique."""

    unique: tuple[str, ...]
    #: Names that the source gives to several columns.
    repeated: frozenset[str] = frozenset()
    warnings: tuple[DataProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Columns of text, numbers or whatever types the source has.

    The series themselves are anonymous: polars takes some names of columns for patterns.
    """

    columns: dict[str, pl.Series]
    #: Where it came from, for messages.
    origin: str
    repeated: frozenset[str] = frozenset()
    #: The decimal signs that text may have, in the order in which they are tried.
    decimals: tuple[str, ...] = (".",)
    warnings: tuple[DataProblem, ...] = ()

    @classmethod
    def of(cls, columns: Iterable[pl.Series], names: Names, origin: str) -> Reading:
        """The reading of these columns under these names."""
        anonymous = (column.alias("") for column in columns)
        return cls(dict(zip(names.unique, anonymous, strict=True)), origin, names.repeated, warnings=names.warnings)


def numbered_names(count: int) -> tuple[str, ...]:
    """`f1` … `fN`: the names of columns that have none."""
    return tuple(f"f{number}" for number in range(1, count + 1))


def is_numbered(name: str) -> bool:
    return re.fullmatch(r"f[1-9][0-9]*", name) is not None


def unique_names(cells: Sequence[str]) -> Names:
    """Names without outer spaces; a missing name becomes `columnK`, the second `x` becomes `x_2`, and it is said."""
    stripped = [cell.strip() for cell in cells]
    taken = set(stripped)
    seen: set[str] = set()
    repeated: set[str] = set()
    unique: list[str] = []
    warnings: list[DataProblem] = []
    for position, cell in enumerate(stripped, start=1):
        name = cell or _free_name(f"column{position}", "", taken)
        if not cell:
            message = f"column {position} has no name; it is called `{name}`"
            warnings.append(problem("MSL332", message, "name it in the data, or ignore it", column=name))
        elif cell in seen:
            repeated.add(cell)
            name = _free_name(cell, "_2", taken)
            message = f"several columns are named `{cell}`; column {position} is called `{name}`"
            warnings.append(problem("MSL331", message, "give every column a name of its own", column=name))
        taken.add(name)
        seen.add(name)
        unique.append(name)
    return Names(tuple(unique), frozenset(repeated), tuple(warnings))


def _free_name(stem: str, suffix: str, taken: set[str]) -> str:
    number = 2
    while (name := stem + suffix) in taken:
        suffix = f"_{number}"
        number += 1
    return name
