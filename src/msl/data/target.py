"""Choose the target, infer the task, and read the target as codes of classes or as numbers."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.data.data_errors import DataError, DataProblem, in_spec, listed, problem
from msl.data.infer_types import TypedColumn, sort_symbols, spell_number
from msl.data.options import DataOptions, Label
from msl.space.formulas import Task

#: Why a column is the target; only the first is not a guess.
NAMED, LAST = "named by the user", "the last column"
_USUAL_NAMES = ("class", "target", "label", "y")
_NAMES_OF_CLASSES = frozenset({"class", "label"})
#: Whole numbers are taken as classes up to this many different ones, each in this many rows on average.
_MOST_CLASSES = 20
_ROWS_OF_A_CLASS = 3


@dataclass(frozen=True, slots=True)
class Target:
    """The target as models use it: codes 0 … k - 1 of the sorted classes, or floats."""

    name: str
    task: Task
    reason: str
    classes: tuple[Label, ...]
    values: NDArray[Any]
    warnings: tuple[DataProblem, ...] = ()


def choose_target(names: Sequence[str], options: DataOptions) -> tuple[str, str]:
    """The name of the target among the candidates, and the reason."""
    if options.target is not None:
        return options.target, NAMED
    for usual in _USUAL_NAMES:
        # Beside a `z`, `y` is a coordinate.
        if usual == "y" and any(each.lower() == "z" for each in names):
            continue
        for name in (usual, *(each for each in names if each.lower() == usual)):
            if name in names:
                return name, f"a column named `{name}`"
    return names[-1], LAST


def read_target(column: TypedColumn, options: DataOptions) -> Target:
    """The target with its task, which is inferred unless the options give it."""
    name = column.name
    check_complete(name, column.values)
    if column.kind == "numeric" and not column.values.is_finite().all():
        raise DataError([infinite(column)])
    distinct = column.values.unique().sort()
    if len(distinct) == 1 and any(each.code == "MSL336" for each in column.problems):
        message = f"the whole numbers of the target `{name}` lie beyond 2^53, and all become the same real number"
        help = "subtract the smallest of them from all, or name another target"
        raise DataError([problem("MSL320", message, help, column=name)])
    task, reason = _infer_task(name, column, distinct)
    if options.task is not None:
        task, reason = options.task, "given by the user"
    if task == "regression":
        return _read_numbers(column, options, distinct, reason)
    classes = tuple(_in_order(name, distinct, options))
    codes = class_codes(column.values, classes)
    doubts = (*_tiny_classes(classes, codes, name), *_alike_classes(classes, name))
    return Target(name, task, reason, classes, codes.to_numpy().astype(np.intp), doubts)


def class_codes(values: pl.Series, classes: Sequence[Label]) -> pl.Series:
    """The index of each value in the classes, null for other values."""
    dtype = pl.String if isinstance(classes[0], str) else pl.Float64
    return values.replace_strict(
        pl.Series(classes, dtype=dtype), pl.Series(range(len(classes)), dtype=pl.Int64), default=None
    )


def stated_rows(values: pl.Series) -> pl.Series | None:
    """Which rows have a target; None if all or none have."""
    return values.is_not_null() if 0 < values.null_count() < len(values) else None


def looks_numeric(column: TypedColumn) -> bool:
    """Whether a categorical column would be numeric except for a few texts, or signs around the numbers."""
    return column.kind == "symbolic" and any(each.code == "MSL337" for each in column.problems)


def numbers_as_classes(column: TypedColumn, options: DataOptions) -> Iterator[DataProblem]:
    """The error of a target that looks numeric and has too many values for classes."""
    count = column.values.drop_nulls().n_unique()
    if options.task is not None or not looks_numeric(column) or count <= _MOST_CLASSES:
        return
    odd = next(each for each in column.problems if each.code == "MSL337")
    _, why = odd.message.split(" is taken as symbolic: ", 1)
    message = f"the target `{column.name}` looks like numbers, but would be taken for {count} classes: {why}"
    help = odd.help.split(", or write categorical")[0]
    yield problem(
        "MSL360", message, f"{help}, or task = classification if they are classes", column=column.name, row=odd.row
    )


def check_complete(name: str, values: pl.Series) -> None:
    """Refuses a target with missing values, and names the rows."""
    rows = (values.is_null().arg_true() + 1).to_list()
    if not rows:
        return
    where = f"row {rows[0]}" if len(rows) == 1 else f"rows {listed(rows, shown=10)}"
    message = f"the target `{name}` is missing in {where}"
    help = "write data(missing_target = drop) to leave these rows out, or name another target"
    if len(rows) == len(values):
        message, help = f"the target `{name}` has no values at all", "name another target"
    raise DataError([problem("MSL319", message, help, column=name, row=rows[0])])


def _infer_task(name: str, column: TypedColumn, distinct: pl.Series) -> tuple[Task, str]:
    count, rows = len(distinct), len(column.values)
    if column.kind == "symbolic":
        return "classification", f"`{name}` holds {count} different symbols"
    if count == 2:
        return "classification", f"`{name}` holds 2 different numbers"
    if not _are_whole(distinct):
        return "regression", f"`{name}` holds {count} different numbers, not all of them whole"
    if name.lower() in _NAMES_OF_CLASSES and _ROWS_OF_A_CLASS * count <= rows:
        return "classification", f"it is named `{name}` and holds {count} different whole numbers"
    if count <= _MOST_CLASSES and _ROWS_OF_A_CLASS * count <= rows:
        return "classification", f"`{name}` holds only {count} different whole numbers in {rows} rows"
    return "regression", f"`{name}` holds {count} different whole numbers in {rows} rows"


def _are_whole(numbers: pl.Series) -> bool:
    return bool((numbers == numbers.floor()).all())


def _read_numbers(column: TypedColumn, options: DataOptions, distinct: pl.Series, reason: str) -> Target:
    name = column.name
    if column.kind == "symbolic":
        message = f"the task is regression, but the target `{name}` holds symbols such as `{distinct[0]}`"
        raise DataError(
            [problem("MSL321", message, "write task = classification, or name another target", column=name)]
        )
    if options.positive is not None:
        message = f"positive = {options.positive} needs two classes, but the task is regression ({reason})"
        help = "remove it, or write task = classification"
        raise DataError([problem("MSL322", message, help, column=name)])
    if len(distinct) == 1:
        raise _single_value(name, spell_number(distinct[0]))
    return Target(name, "regression", reason, (), column.values.to_numpy().astype(np.float64))


def infinite(column: TypedColumn) -> DataProblem:
    """The problem of a column that holds infinite numbers."""
    rows = column.values.is_infinite().fill_null(False).arg_true()
    where = f"row {rows[0] + 1}" if len(rows) == 1 else f"{len(rows):,} rows, first in row {rows[0] + 1}"
    message = f"column `{column.name}` is infinite in {where}"
    help = 'correct the values, or write missing = ["inf", "-inf"] to take them as missing'
    return problem("MSL318", message, help, column=column.name, row=rows[0] + 1)


def _single_value(name: str, value: str) -> DataError:
    message = f"the target `{name}` is {value} in all rows, so there is nothing to learn"
    return DataError([problem("MSL320", message, "add rows with other values, or name another target", column=name)])


def _in_order(name: str, distinct: pl.Series, options: DataOptions) -> list[Label]:
    """The classes, sorted; of two classes, the positive one is last."""
    classes: list[Label] = [*sort_symbols(distinct)] if distinct.dtype == pl.String else distinct.to_list()
    if len(classes) == 1:
        raise _single_value(name, spell_label(classes[0]))
    if distinct.dtype != pl.String and _are_whole(distinct):
        classes = [int(label) for label in classes]
    if options.positive is None:
        return classes
    positive = spell_label(options.positive)
    spelt = [spell_label(label) for label in classes]
    if positive not in spelt:
        close = difflib.get_close_matches(positive, spelt, n=1)
        message = f"positive = {positive} is not a class of `{name}`"
        help = f"did you mean {close[0]}?" if close else f"the classes are {listed(spelt)}"
        raise DataError([problem("MSL322", message, help, column=name)])
    if len(classes) > 2:
        message = f"positive = {positive} needs two classes, but `{name}` has {len(classes)}: {listed(spelt)}"
        raise DataError([problem("MSL322", message, "remove it; each class counts as positive in turn", column=name)])
    return sorted(classes, key=lambda label: spell_label(label) == positive)


def spell_label(label: Label) -> str:
    """A class as a user would write it: 1 for 1.0, true for a boolean."""
    if isinstance(label, bool):
        return str(label).lower()
    return label if isinstance(label, str) else spell_number(label)


def _tiny_classes(classes: Sequence[Label], codes: pl.Series, name: str) -> tuple[DataProblem, ...]:
    counts = np.bincount(codes.to_numpy(), minlength=len(classes))
    tiny = {spell_label(label): code for code, label in enumerate(classes) if counts[code] == 1}
    if not tiny:
        return ()
    rows = [int((codes == code).arg_max() or 0) + 1 for code in list(tiny.values())[:5]]
    message = f"of the classes of `{name}`, {listed(tiny)} {'has' if len(tiny) == 1 else 'have'} a single row: "
    message += f"row{'s' * (len(tiny) > 1)} {listed(rows)}{', …' * (len(tiny) > len(rows))}"
    leave_out = f"write missing = [{in_spec(*list(tiny)[:5])}] and missing_target = drop to leave such rows out"
    help = "such a class cannot be both learnt and tested: add rows of it"
    if len(classes) - len(tiny) > 1:
        help += f", or {leave_out}"
    return (problem("MSL470", message, help, column=name, row=rows[0]),)


def _alike_classes(classes: Sequence[Label], name: str) -> Iterator[DataProblem]:
    """The warning of classes that may be meant to be one."""
    spelt: dict[str, list[str]] = {}
    for label in classes:
        if isinstance(label, str):
            spelt.setdefault(" ".join(label.lower().split()), []).append(label)
    pairs = [f"`{first}` and `{second}`" for first, second, *_ in (each for each in spelt.values() if len(each) > 1)]
    if pairs:
        message = f"classes of `{name}` differ only in capital letters or blanks: {listed(pairs, shown=3)}"
        yield problem("MSL368", message, "write them alike in the table if they are the same class", column=name)
