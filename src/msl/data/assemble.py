"""Build a table from the columns of a source: target, features, groups and order, given or inferred."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.data.data_errors import DataError, DataProblem, condensed, listed, problem, raise_errors
from msl.data.derived_columns import find_derived, is_day_first, parse_moments, with_derived
from msl.data.infer_types import Kind, Markers, TypedColumn, column_text, sort_symbols, type_column, unusable_columns
from msl.data.options import DataOptions
from msl.data.ordered_symbols import ordered_column
from msl.data.profile import column_warnings, mixed_decimals
from msl.data.raw_columns import Reading
from msl.data.table import Column, Floats, Schema, Table
from msl.data.table_rows import digest_rows, sampled_rows
from msl.data.target import choose_target, infinite, looks_numeric, numbers_as_classes, read_target, stated_rows

Codes = NDArray[np.intp]


def read_groups(reading: Reading, name: str, given: Markers) -> Codes:
    """The group of each row, numbered by first appearance; their names do not matter."""
    values = type_column(name, reading.columns[name], "symbolic", given, reading.decimals).values
    _check_complete(name, values, "groups")
    names = values.unique(maintain_order=True)
    return values.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.intp)


def read_order(reading: Reading, name: str, given: Markers) -> Codes:
    """The rank of each row in the order, from 0, equal for equal values."""
    column = reading.columns[name]
    if not column.dtype.is_temporal():
        typed = type_column(name, column, None, given, reading.decimals)
        column = typed.values if typed.kind == "numeric" else _moments(name, typed.values)
    _check_complete(name, column, "order")
    return (column.rank("dense").to_numpy() - 1).astype(np.intp)


#: More folds than these are numbers or names of rows, not folds.
_MOST_FOLDS = 1000
#: The mark, beside an empty cell, of rows that are never tested, as in `PredefinedSplit` of scikit-learn.
_NEVER_TESTED = "-1"


def read_folds(reading: Reading, name: str, given: Markers) -> Codes:
    """The fold of each row, numbered in the natural order of their names; -1 for rows that are only fitted on."""
    typed = type_column(name, reading.columns[name], None, given, reading.decimals)
    values = typed.values
    if typed.kind == "numeric":
        if not values.drop_nulls().map_elements(float.is_integer, return_dtype=pl.Boolean).all():
            message = f"the column `{name}` of the folds has numbers that are not whole"
            raise DataError([problem("MSL350", message, "number the folds 0, 1, 2, …, or name them", column=name)])
        values = values.cast(pl.Int64).cast(pl.String)
    tested = sorted(set(values.drop_nulls().unique()) - {_NEVER_TESTED}, key=natural_order)
    is_spare = values.is_null() | (values == _NEVER_TESTED)
    if len(tested) > _MOST_FOLDS:
        message = (
            f"the column `{name}` of the folds has {len(tested):,} values, and there are at most {_MOST_FOLDS:,} folds"
        )
        raise DataError([problem("MSL350", message, "name the column that has the folds", column=name)])
    if not tested or (len(tested) == 1 and not is_spare.any()):
        what = f"one value, `{tested[0]}`" if tested else "no value but -1"
        message = (
            f"the column `{name}` of the folds has {what}, so that nothing can be tested on rows that were held out"
        )
        help = "have two folds or more; -1 or an empty cell marks rows that are never tested"
        raise DataError([problem("MSL350", message, help, column=name)])
    places: dict[str | None, int] = {fold: place for place, fold in enumerate(tested)}
    return np.array([places.get(value, -1) for value in values], dtype=np.intp)


def read_weights(reading: Reading, name: str, given: Markers) -> Floats:
    """How much each row counts."""
    typed = type_column(name, reading.columns[name], "numeric", given, reading.decimals)
    help = "name a column of positive numbers, or leave `weight` out"
    raise_errors(replace(each, help=help) if each.code == "MSL317" else each for each in typed.problems)
    return checked_weights(typed.values.to_numpy(), name)


def checked_weights(weights: NDArray[Any], name: str = "") -> Floats:
    """The weights of rows as numbers; raises DataError for those that are none. `name` is that of their column."""
    numbers = np.array(weights, dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0.0)))
    if len(wrong):
        rows, value = (wrong + 1).tolist(), numbers[wrong[0]]
        what = "missing" if np.isnan(value) else f"{value:g}"
        weight = f"the weight `{name}`" if name else "the weight"
        where = f"row {rows[0]}" if len(rows) == 1 else f"rows {listed(rows)}"
        message = f"{weight} is not a positive number in {where}: {'it' if len(rows) == 1 else 'the first'} is {what}"
        help = "a weight is above zero and finite; leave out rows that should not count, and fill in what is missing"
        raise DataError([problem("MSL390", message, help, column=name or None, row=rows[0])])
    return numbers


def _moments(name: str, texts: pl.Series) -> pl.Series:
    """The places in time of texts that are dates or times."""
    moments = parse_moments(texts, bool(is_day_first(texts)))
    wrong = (texts.is_not_null() & moments.is_null()).arg_true()
    if len(wrong):
        first = wrong[0]
        message = f"the order `{name}` holds neither numbers nor dates: row {first + 1} holds {texts[first]!r}"
        help = "write numbers, or dates as year-month-day, such as 2024-01-31"
        raise DataError([problem("MSL324", message, help, column=name, row=first + 1)])
    return moments


def _check_complete(name: str, values: pl.Series, option: str) -> None:
    rows = values.is_null().arg_true()
    if len(rows):
        first = rows[0] + 1
        message = f"the column `{name}` of the {option} is missing in {len(rows)} rows, first in row {first}"
        help = "fill it in, or remove these rows"
        raise DataError([problem("MSL323", message, help, column=name, row=first)])


# --- the table ---


def build_table(reading: Reading, options: DataOptions) -> Table:
    """The table of these columns."""
    names = list(reading.columns)
    raise_errors(_unknown_columns(reading, options))
    not_features = {*(options.ignore or ()), *options.set_apart()}
    candidates = [name for name in names if name not in not_features]
    if len(candidates) < 2 and not (candidates and options.order in (options.dates or ())):
        raise DataError([_no_features(reading, candidates)])
    target_name, target_reason = choose_target(candidates, options)
    target_reason += _passed_over(choose_target(names, options)[0], options)
    used = [*candidates, *options.set_apart()]
    raise_errors(unusable_columns({name: reading.columns[name] for name in used}))
    given = Markers.given(options.missing or ())
    sources = [name for name in candidates if name != target_name]
    if options.order in (options.dates or ()):
        sources.append(str(options.order))  # its calendar parts are features too
    derived, doubts = find_derived(reading, sources, options, given)
    original = replace(reading, columns={name: reading.columns[name] for name in dict.fromkeys([*used, *sources])})
    reading = with_derived(reading, derived, given, options.order)
    set_apart = {*not_features, *(name for name in names if name not in candidates)}
    candidates = [name for name in reading.columns if name not in set_apart]
    wanted: dict[str, Kind] = dict.fromkeys(options.categorical or (), "symbolic")
    wanted |= dict.fromkeys(options.numeric or (), "numeric")
    orders = {name: tuple(order) for name, *order in options.ordered or ()}
    said = {name for names in options.named_columns().values() for name in names}
    orders |= {name: order for name, order in reading.orders.items() if name not in said and name != target_name}
    wanted |= dict.fromkeys(orders, "symbolic")
    signed = signed_decimals(reading, options)
    typed = {
        name: type_column(name, reading.columns[name], wanted.get(name), given, reading.decimals, signed)
        for name in candidates
    }
    if options.task == "regression" and looks_numeric(typed[target_name]):
        numbers = reading.columns[target_name]
        typed[target_name] = type_column(target_name, numbers, "numeric", given, reading.decimals, signed)
    problems = [*reading.warnings, *doubts, *(each for column in typed.values() for each in column.problems)]
    raise_errors([*problems, *numbers_as_classes(typed[target_name], options)])
    categories: dict[str, tuple[str, ...]] = {}
    for name, order in orders.items():
        if name in typed:
            typed[name], categories[name] = ordered_column(typed[name], order)
    kept = stated_rows(typed[target_name].values) if options.missing_target == "drop" else None
    if kept is not None:
        typed = {name: replace(column, values=column.values.filter(kept)) for name, column in typed.items()}
        reading, original = reading.filtered(kept), original.filtered(kept)
    target = read_target(typed.pop(target_name), options)
    n_rows = len(target.values)
    if options.rows is not None and options.rows < n_rows:
        drawn = sampled_rows(target.values, len(target.classes), options.rows)
        typed = {name: replace(column, values=column.values.gather(drawn)) for name, column in typed.items()}
        reading, original = reading.gathered(drawn), original.gathered(drawn)
        target = replace(target, values=target.values[drawn])
    features = [typed[name] for name in sorted(typed, key=natural_order)]
    raise_errors(infinite(column) for column in features if is_infinite(column))
    columns = tuple(_column(column, categories.get(column.name)) for column in features)
    made = {name: one.source for one in derived for name in one.names}
    for column in features:
        if column.name not in made:
            is_meant = column.name in (options.numeric or ())
            problems += (each for each in column_warnings(column) if not (is_meant and each.code == "MSL335"))
    made_of = {one.source: original.columns[one.source] for one in derived}
    problems += _empty_sources(made_of, given)
    known_by = original.columns | {name: column.values for name, column in typed.items() if name in original.columns}
    return Table(
        schema=Schema(columns, target_name, target.task, target.classes, options, derived),
        X=matrix(encode(column.values, described) for column, described in zip(features, columns, strict=True)),
        y=target.values,
        groups=read_groups(reading, options.groups, given) if options.groups is not None else None,
        order=read_order(reading, options.order, given) if options.order is not None else None,
        folds=read_folds(reading, options.fold, given) if options.fold is not None else None,
        weights=read_weights(reading, options.weight, given) if options.weight is not None else None,
        source_names=tuple(names),
        origin=reading.origin,
        n_dropped=0 if kept is None else int((~kept).sum()),
        n_sampled_from=n_rows if len(target.values) < n_rows else 0,
        row_digests=digest_rows(known_by),
        target_reason=target_reason,
        task_reason=target.reason,
        warnings=tuple(condensed([*problems, *target.warnings, *mixed_decimals(features)])),
    )


def _empty_sources(sources: Mapping[str, pl.Series], given: Markers) -> Iterator[DataProblem]:
    """Warnings for columns of dates or text that have no values; what is made of the others may well be constant."""
    for name, column in sources.items():
        values = column if column.dtype.is_temporal() else column_text(column, given)
        if values.null_count() == len(values):
            yield from column_warnings(TypedColumn(name, "numeric", values))


def _passed_over(usual: str, options: DataOptions) -> str:
    """Why the column that would be the target is not, if `data` says something else about it."""
    roles = {options.groups: "has the groups", options.order: "gives the order"}
    roles |= {options.fold: "has the folds", options.weight: "has the weights"}
    return f" besides `{usual}`, which {roles[usual]}" if usual in roles else ""


def signed_decimals(reading: Reading, options: DataOptions) -> tuple[str, ...]:
    """The decimal signs for numbers with signs around them: the given one, or both."""
    return (options.decimal,) if options.decimal is not None else tuple(dict.fromkeys((*reading.decimals, ".", ",")))


def natural_order(name: str) -> tuple[list[Any], str]:
    """A key that sorts f2 before f10."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name


def encode(values: pl.Series, column: Column) -> pl.Series:
    """The values as in a column of `X`: numbers, or indices of categories; null if missing or unseen."""
    if column.kind == "numeric":
        return values
    if not column.categories:
        return pl.Series([None] * len(values), dtype=pl.Float64)
    return values.cast(pl.Enum(column.categories), strict=False).to_physical().cast(pl.Float64)


def matrix(columns: Iterator[pl.Series]) -> Floats:
    """The columns side by side, a row of the table contiguous in memory, NaN where missing."""
    frame = pl.DataFrame({str(place): column for place, column in enumerate(columns)})
    return np.ascontiguousarray(frame.to_numpy(order="c"), dtype=np.float64)


def is_infinite(column: TypedColumn) -> bool:
    return column.kind == "numeric" and (column.values.max() == float("inf") or column.values.min() == float("-inf"))


def _column(column: TypedColumn, order: tuple[str, ...] | None) -> Column:
    if column.kind == "numeric":
        return Column(column.name, "numeric")
    if order is not None:
        return Column(column.name, "ordered", order)
    symbols = column.values.unique().drop_nulls()
    return Column(column.name, "symbolic", tuple(sort_symbols(symbols)))


def _unknown_columns(reading: Reading, options: DataOptions) -> Iterator[DataProblem]:
    names = list(reading.columns)
    for option, columns in options.named_columns().items():
        for column in columns:
            if column not in names:
                message = f"{option} names `{column}`, but {reading.origin} has no such column"
                close = difflib.get_close_matches(column, names, n=1)
                help = f"did you mean `{close[0]}`?" if close else f"its columns are {listed(names, shown=12)}"
                yield problem("MSL312", message, help, column=column)


def _no_features(reading: Reading, candidates: Sequence[str]) -> DataProblem:
    message = f"{reading.origin} needs a target and at least one feature, but has "
    message += f"only the column `{candidates[0]}`" if candidates else "no column that is not set apart"
    help = "ignore fewer columns"
    if len(reading.columns) == 1:
        help = 'if its fields are separated by something unusual, say so: separator = "…"'
    return problem("MSL311", message, help)
