"""Suggest options for reading a table in a first spec, with a reason for each decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from msl.data import infer_types
from msl.data.assemble import build_table, read_order, signed_decimals
from msl.data.data_errors import DataError, DataProblem, in_spec, listed, problem
from msl.data.derived_columns import holds_dates
from msl.data.infer_types import Markers, TypedColumn, spell_number, type_column
from msl.data.options import DataOptions
from msl.data.profile import ColumnProfile, duplicate_rows, leaking_columns, profile_columns
from msl.data.raw_columns import Reading
from msl.data.read import read_source
from msl.data.table import Table
from msl.data.target import LAST, NAMED, choose_target, numbers_as_classes, spell_label
from msl.diagnostics.suggest import did_you_mean

ColumnUse = Literal["target", "feature", "order", "ignore"]

#: Why a column of this kind is left out. The first is never a feature, the others rarely help.
_UNTAKEN = {
    "other": "it holds values that are neither numbers nor symbols",
}
_USELESS = {
    "empty": "it has no values at all",
    "constant": "it has one value only",
    "identifier": "it looks like an identifier, whose values hardly ever stand twice",
}
#: Why a column of this kind is no target.
_NO_TARGET = {**_UNTAKEN, "date": "it holds dates or times, which are neither numbers nor classes"}
#: Fewer rows may be sorted by date by chance.
_FEWEST_ORDERED = 20
#: Five folds in the order of time are first fitted on a sixth of the moments, which has to hold this much of a class.
_FIRST_PART, _FEWEST_OF_CLASS = 6, 2
#: Rank correlations from which numbers tell of the target, and beyond which the table is sorted by it.
_GOES_WITH, _SORTED_BY = 0.2, 0.95
#: Words in the target that mean missing, if the rest are numbers.
_MOST_WORDS = 20


@dataclass(frozen=True, slots=True)
class FirstOptions:
    """The options, the columns as they read them, and each decision as a sentence."""

    options: DataOptions
    target_reason: str
    uses: Mapping[str, ColumnUse]
    #: Why a column is not simply a feature.
    reasons: Mapping[str, str]
    #: Decisions that are about more than leaving a column out.
    sentences: tuple[str, ...]


def first_options(reading: Reading, columns: Mapping[str, ColumnProfile], given: DataOptions) -> FirstOptions:
    """Options with which a source can be learnt from; of `given`, the target and the file's layout are used. Raises
    DataError if there is no usable target or no usable feature."""
    target, target_reason = _target(columns, given)
    options = replace(given, target=target)
    options, typed, sentences = _of_target(reading, columns[target], options)
    uses: dict[str, ColumnUse] = dict.fromkeys(columns, "feature")
    reasons: dict[str, str] = {}
    uses[target] = "target"
    for name, column in columns.items():
        why = _UNTAKEN.get(column.kind) or _USELESS.get(column.kind)
        if name != target and why is not None:
            uses[name], reasons[name] = "ignore", why
    _leave_made_already(columns, uses, reasons)
    if options.task != "classification" and typed.kind == "numeric":
        _keep_telling_numbers(columns, typed.values, uses, reasons)
    if order := _order(reading, columns, typed, target):
        uses[order] = "order"
        reasons[order] = (
            "the rows are sorted by it, so models are tested on later rows; its calendar parts are features too"
        )
    _keep_some(columns, uses, reasons, target)
    signed = tuple(n for n, column in columns.items() if column.is_signed and uses[n] in ("feature", "target"))
    for name in signed:
        text, number = _example(reading.columns[name], columns[name].values)
        sentences.append(f"`{name}` has signs around its numbers and is read as numeric: {text!r} is {number}")
    # Named as numbers, they are meant, so that nothing warns of them.
    telling = tuple(n for n, use in uses.items() if use == "feature" and columns[n].kind == "identifier")
    numbers = (*signed, *(n for n in telling if columns[n].values.dtype.is_numeric() and n not in signed))
    orders = tuple((n, *column.order) for n, column in columns.items() if column.order and uses[n] == "feature")
    if orders:
        named = listed((f"`{name}`" for name, *_ in orders), shown=12)
        hold, they = ("holds", "it") if len(orders) == 1 else ("hold", "one")
        sentences.append(f"{named} {hold} symbols with an order, as numbers in it; take {they} out of `ordered` if not")
    infinite = [n for n, column in columns.items() if uses[n] in ("feature", "target") and _has_infinite(column)]
    if infinite:
        named = listed(f"`{name}`" for name in infinite)
        sentences.append(f"infinite numbers are taken as missing: in {named}")
        options = replace(options, missing=(*(options.missing or ()), "inf", "-inf"))
        options = replace(options, missing_target="drop") if target in infinite else options
    ignored = tuple(name for name, use in uses.items() if use == "ignore")
    unread = tuple(name for name, use in uses.items() if use == "feature" and _is_unread(columns[name]))
    for name in unread:
        reasons[name] = "most of its values look like dates, but are none, so they are taken for symbols"
    options = replace(
        options,
        ignore=ignored or None,
        categorical=unread or None,
        order=order,
        numeric=numbers or None,
        dates=(order,) if order else None,
        ordered=orders or None,
    )
    return FirstOptions(options, target_reason, uses, reasons, tuple(sentences))


def _target(columns: Mapping[str, ColumnProfile], given: DataOptions) -> tuple[str, str]:
    if given.target is not None:
        if given.target not in columns:
            message = f"there is no column `{given.target}`"
            help = did_you_mean(given.target, columns) or f"the columns are {listed(columns, shown=12)}"
            raise DataError([problem("MSL312", message, help)])
        if columns[given.target].kind in _NO_TARGET:
            message = f"`{given.target}` cannot be the target: {_NO_TARGET[columns[given.target].kind]}"
            raise DataError([problem("MSL315", message, "name another target", column=given.target)])
        return choose_target(list(columns), given)
    taken = [name for name, column in columns.items() if column.kind not in _NO_TARGET]
    if not taken:
        message = "no column can be the target: there are only dates and the like"
        raise DataError([problem("MSL311", message, "add a column that is to be predicted")])
    chosen, reason = choose_target(taken, given)
    if reason != LAST:  # chosen by its name: report what is wrong with it
        return chosen, reason
    various = [name for name in taken if columns[name].kind not in ("empty", "constant")] or taken
    telling = [n for n in various if columns[n].kind not in (*_USELESS, "text") and not _are_mostly_single(columns[n])]
    chosen, reason = choose_target(telling or various, given)
    return chosen, reason if chosen == list(columns)[-1] else "the last column that could be one"


def _are_mostly_single(column: ColumnProfile) -> bool:
    """Whether most symbols of a column stand once, as names do: no model can learn and test such classes."""
    if column.kind != "category":
        return False
    counts = column.values.drop_nulls().value_counts(name="n")["n"]
    return 2 * int((counts == 1).sum()) > len(counts)


def _of_target(
    reading: Reading, column: ColumnProfile, options: DataOptions
) -> tuple[DataOptions, TypedColumn, list[str]]:
    """The options that make the target usable, and the target as they read it."""
    name, raw = column.name, reading.columns[column.name]
    sentences: list[str] = []
    signed = signed_decimals(reading, options)
    wanted: Literal["numeric"] | None = "numeric" if column.is_signed else None
    typed = type_column(name, raw, wanted, decimals=reading.decimals, signed=signed)
    absent: list[str] = []
    if any(numbers_as_classes(typed, options)):
        stated = typed.values
        numbers = stated.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        absent = stated.filter(numbers.is_null()).drop_nulls().unique().sort().to_list()[:_MOST_WORDS]
    elif typed.kind == "symbolic":
        absent = sorted(text for text in typed.values.unique().drop_nulls() if infer_types.is_suspicious(text))
    if absent:
        sentences.append(f"in the target `{name}`, {in_spec(*absent)} is taken for a missing value")
        options = replace(options, missing=(*(options.missing or ()), *absent))
        typed = type_column(name, raw, wanted, Markers.given(options.missing or ()), reading.decimals, signed)
    if 0 < (missing := typed.values.null_count()) < len(typed.values):
        rows = "1 row" if missing == 1 else f"{missing:,} rows"
        sentences.append(f"{rows} without a value of the target `{name}` left out")
        options = replace(options, missing_target="drop")
    return options, typed, sentences


def _order(reading: Reading, columns: Mapping[str, ColumnProfile], target: TypedColumn, target_name: str) -> str | None:
    """The first column of dates by which the rows are sorted, unless early rows lack a class."""
    for name, column in columns.items():
        if column.kind != "date" or name == target_name or column.missing or len(column.values) < _FEWEST_ORDERED:
            continue
        try:
            places = read_order(reading, name, infer_types.NONE)
        except DataError:
            continue
        steps = np.diff(places)
        if not ((steps >= 0).all() or (steps <= 0).all()) or places.max() < _FIRST_PART:
            continue
        early = target.values.filter(pl.Series(places <= places.max() // _FIRST_PART))
        few = target.kind == "symbolic" or target.values.drop_nulls().n_unique() == 2
        if not few or _has_all_classes(early, target.values):
            return name
    return None


def _has_all_classes(early: pl.Series, values: pl.Series) -> bool:
    counts = pl.DataFrame({"class": early.drop_nulls()})["class"].value_counts(name="n")
    return counts.filter(pl.col("n") >= _FEWEST_OF_CLASS).height == values.drop_nulls().n_unique()


def _keep_telling_numbers(
    columns: Mapping[str, ColumnProfile], target: pl.Series, uses: dict[str, ColumnUse], reasons: dict[str, str]
) -> None:
    """Keeps numbers that identify rows if they go with a target of many numbers, as those given in order of time may.

    Numbers that count the rows of the file stay out, and so does what goes with the target almost perfectly: a table
    that is sorted by its target.
    """
    if target.n_unique() < _FEWEST_ORDERED:
        return
    for name, column in columns.items():
        values = column.values
        if column.kind != "identifier" or uses[name] != "ignore" or not values.dtype.is_numeric():
            continue
        known = pl.DataFrame({"number": values, "target": target}).drop_nulls()
        lowest, highest = known["number"].min(), known["number"].max()
        counts_rows = float(highest) - float(lowest) == len(known) - 1  # type: ignore[arg-type]
        alike = abs(float(np.corrcoef(known["number"].rank().to_numpy(), known["target"].rank().to_numpy())[0, 1]))
        if not counts_rows and _GOES_WITH <= alike <= _SORTED_BY:
            uses[name] = "feature"
            why = f"it looks like an identifier, but its numbers go with the target (rank correlation {alike:.2f})"
            reasons[name] = f"{why}; leave it out if they mean nothing for new rows"


def _keep_some(
    columns: Mapping[str, ColumnProfile], uses: dict[str, ColumnUse], reasons: dict[str, str], target: str
) -> None:
    """If no feature is left, columns that seemed useless are kept; those that no block takes are not."""
    if "feature" in uses.values():
        return
    kept = [name for name, use in uses.items() if use == "ignore" and columns[name].kind not in _UNTAKEN]
    if not kept:
        others = [f"`{name}`" for name in columns if name != target]
        if not others:
            return  # a single column is reported when the table is built
        message = f"besides the target `{target}` there is no column that a block takes: "
        message += f"{listed(others)} {'holds' if len(others) == 1 else 'hold'} lists or the like"
        help = "turn them into columns of numbers or text"
        raise DataError([problem("MSL311", message, help)])
    for name in kept:
        uses[name] = "feature"
        reasons[name] = f"{reasons[name]}, but there is nothing else to learn from"


def _leave_made_already(
    columns: Mapping[str, ColumnProfile], uses: dict[str, ColumnUse], reasons: dict[str, str]
) -> None:
    """Leaves out dates and texts if there are columns of the names that their parts would have."""
    for name, column in columns.items():
        made = [other for other in columns if other.startswith(f"{name}: ")]
        if made and column.kind in ("date", "text") and uses[name] == "feature":
            uses[name], reasons[name] = "ignore", f"columns such as `{made[0]}` are made of it already"


def _is_unread(column: ColumnProfile) -> bool:
    """Whether the values look like dates of which most cannot be, as in 2024-13-45."""
    return column.kind == "date" and not holds_dates(column.values, infer_types.NONE)


def _has_infinite(column: ColumnProfile) -> bool:
    values = column.values
    return values.dtype == pl.Float64 and (values.max() == float("inf") or values.min() == float("-inf"))


def _example(raw: pl.Series, numbers: pl.Series) -> tuple[str, str]:
    """A text with signs, and the number that it is read as."""
    plain = raw.cast(pl.Float64, strict=False)
    rows = (numbers.is_not_null() & plain.is_null()).arg_true()
    row = rows[0] if len(rows) else numbers.is_not_null().arg_true()[0]
    return str(raw[row]).strip(), spell_number(numbers[row])


# --- a description of a table, as JSON values ---


def describe_source(source: Any, given: DataOptions, most_columns: int | None = None) -> dict[str, Any]:
    """The columns of a file or a frame, the target with its class balance, and warnings; of many columns the first.

    Raises DataError where the source cannot be read at all. A table that nothing can be learnt from is described too.
    """
    reading = read_source(source, options=given)
    profiles = profile_columns(reading)
    problems: list[DataProblem] = list(reading.warnings)
    first: FirstOptions | None = None
    table: Table | None = None
    try:
        first = first_options(reading, profiles, given)
        table = build_table(reading, first.options)
        problems = [each for each in table.warnings if each.column is None or first.uses.get(each.column) != "ignore"]
    except DataError as wrong:
        problems += wrong.problems
    columns = list(profiles.values())[:most_columns]
    return {
        "table": reading.origin,
        "rows": _height(reading),
        "n_columns": len(profiles),
        "columns": [_column(column, _height(reading), first) for column in columns],
        "target": None if first is None else _target_description(first, table),
        "duplicate_rows": duplicate_rows(reading),
        "determine_target": [] if first is None else list(leaking_columns(profiles, str(first.options.target))),
        "decisions": [] if first is None else list(first.sentences),
        "problems": [asdict(each) for each in problems],
    }


def _height(reading: Reading) -> int:
    return len(next(iter(reading.columns.values())))


def _column(column: ColumnProfile, rows: int, first: FirstOptions | None) -> dict[str, Any]:
    limits = column.range()
    return {
        "name": column.name,
        "kind": column.kind,
        "missing": column.missing,
        "missing_share": column.missing / rows,
        "distinct": column.distinct(),
        "order": list(column.order),
        "range": None if limits is None else list(limits),
        "common": [{"value": value, "rows": count} for value, count in column.common()],
        "use": None if first is None else first.uses[column.name],
        "reason": "" if first is None else first.reasons.get(column.name, ""),
    }


def _target_description(first: FirstOptions, table: Table | None) -> Mapping[str, Any]:
    found: dict[str, Any] = {
        "name": first.options.target,
        "reason": first.target_reason,
        "guessed": first.target_reason != NAMED,
    }
    if table is None or table.y is None:
        return found
    found |= {"task": table.task, "task_reason": table.task_reason, "left_out": table.n_dropped}
    if table.task == "regression":
        return found | {"range": [float(table.y.min()), float(table.y.max())]}
    counts = np.bincount(table.y, minlength=len(table.classes))
    return found | {
        "classes": [
            {"label": spell_label(label), "rows": int(count), "share": float(count / len(table))}
            for label, count in zip(table.classes, counts, strict=True)
        ]
    }
