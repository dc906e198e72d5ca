"""Read a second table, to test or to predict, with the schema of the first."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.data import infer_types
from msl.data.assemble import encode, is_infinite, matrix, read_groups, read_order, read_weights, signed_decimals
from msl.data.data_errors import DataError, DataProblem, listed, problem, raise_errors
from msl.data.derived_columns import with_derived
from msl.data.dialect import is_number
from msl.data.infer_types import (
    Markers,
    TypedColumn,
    column_text,
    spell_number,
    type_column,
    unusable_columns,
    usual_markers,
)
from msl.data.ordered_symbols import says_nothing
from msl.data.raw_columns import Reading
from msl.data.table import Column, Schema, Table
from msl.data.target import check_complete, class_codes, infinite, spell_label, stated_rows


def conform_table(reading: Reading, schema: Schema, with_target: bool = True) -> Table:
    """The table in the form of the schema: columns in any order, unseen categories missing, the target optional.

    Without `with_target` the target, groups, order and weights are ignored, as for rows that are only predicted.
    """
    raise_errors(_absent_columns(reading, schema))
    options = schema.options
    beside_features = (schema.target, options.groups, options.order, options.weight) if with_target else ()
    used = {*schema.sources, *beside_features}
    raise_errors(unusable_columns({name: column for name, column in reading.columns.items() if name in used}))
    given = Markers.given(options.missing or ())
    reading = with_derived(reading, schema.derived, given, options.order)
    n_rows = len(next(iter(reading.columns.values())))
    if with_target and options.missing_target == "drop" and schema.target in reading.columns:
        kept = _with_target(reading.columns[schema.target], schema, given)
        reading = reading if kept is None else reading.filtered(kept)
    features = [_conform_column(reading, column, schema, given) for column in schema.columns]
    problems = [*reading.warnings, *_further_columns(reading, schema)]
    problems += [each for feature in features for each in feature.problems]
    raise_errors(problems)
    present = reading.columns
    wanted = present if with_target else {}
    return Table(
        schema=schema,
        X=matrix(encode(feature.values, column) for feature, column in zip(features, schema.columns, strict=True)),
        y=_conform_target(reading, schema, given) if schema.target in wanted else None,
        groups=read_groups(reading, options.groups, given) if options.groups in wanted else None,
        order=read_order(reading, options.order, given) if options.order in wanted else None,
        weights=read_weights(reading, options.weight, given) if options.weight in wanted else None,
        source_names=tuple(present),
        origin=reading.origin,
        n_dropped=n_rows - len(next(iter(present.values()))),
        task_reason="that of the first table",
        warnings=tuple(problems),
    )


def _with_target(column: pl.Series, schema: Schema, given: Markers) -> pl.Series | None:
    """Which rows have a target; a usual marker such as `none` may be one of the classes."""
    texts = column_text(column, given)
    missing = [marker for marker in usual_markers(texts) if marker not in schema.classes]
    return stated_rows(texts.set(texts.is_in(missing), None))


def _signed(name: str, reading: Reading, schema: Schema) -> tuple[str, ...]:
    """Signs around numbers are allowed only in columns that the user declared numeric."""
    options = schema.options
    is_said = name in (options.numeric or ()) or (name == schema.target and options.task == "regression")
    return signed_decimals(reading, options) if is_said else ()


def _conform_column(reading: Reading, column: Column, schema: Schema, given: Markers) -> TypedColumn:
    if column.kind != "numeric":
        texts = column_text(reading.columns[column.name], given)
        is_missing = says_nothing if column.kind == "ordered" else infer_types.is_usual
        return _recognise(column.name, texts, column.categories, reading.decimals, is_missing)
    signed = _signed(column.name, reading, schema)
    typed = type_column(column.name, reading.columns[column.name], "numeric", given, reading.decimals, signed)
    if not typed.problems and is_infinite(typed):
        return replace(typed, problems=(infinite(typed),))
    return typed


def _recognise(
    name: str,
    texts: pl.Series,
    known: Iterable[str],
    decimals: Sequence[str],
    is_missing: Callable[[str], bool] = infer_types.is_usual,
) -> TypedColumn:
    """The known categories, however numbers and booleans among them are written; the others are missing, with a warning
    about those that do not say so themselves."""
    known = frozenset(known)
    meaning = {text: _known_symbol(text, known, decimals) for text in texts.unique().drop_nulls()}
    unseen = sorted(text for text, symbol in meaning.items() if symbol is None and not is_missing(text))
    values = texts.replace_strict(meaning, return_dtype=pl.String) if meaning else texts
    if not unseen:
        return TypedColumn(name, "symbolic", values)
    message = f"column `{name}` has symbols that the model was not trained on: {listed(unseen)}"
    help = "they are taken as missing; check their spelling"
    return TypedColumn(name, "symbolic", values, problems=(problem("MSL471", message, help, column=name),))


def _known_symbol(text: str, known: frozenset[str], decimals: Sequence[str]) -> str | None:
    if text in known:
        return text
    if text.lower() in known & {"true", "false"}:
        return text.lower()
    number = text.replace(",", ".") if "," in decimals else text
    if not is_number(number) or "," in number:
        return None
    spelt = spell_number(number)
    return spelt if spelt in known else None


def _conform_target(reading: Reading, schema: Schema, given: Markers) -> NDArray[Any] | None:
    """The target, or `None` if it is missing in all rows, as in a table to predict."""
    column = reading.columns[schema.target]
    labels = schema.classes
    if labels and isinstance(labels[0], str):
        texts = column_text(column, given)
        values = _recognise(schema.target, texts, map(str, labels), reading.decimals).values
        strange = texts.filter(values.is_null() & ~texts.is_in(usual_markers(texts)))
    else:
        signed = _signed(schema.target, reading, schema)
        typed = type_column(schema.target, column, "numeric", given, reading.decimals, signed)
        raise_errors(typed.problems)
        values = typed.values
        strange = values.filter(~values.is_in(pl.Series(labels, dtype=pl.Float64))) if labels else values.clear()
    if len(strange.drop_nulls()):
        raise DataError([_strange_classes(strange, schema)])
    if values.null_count() == len(values):
        return None
    check_complete(schema.target, values)
    if labels:
        return class_codes(values, labels).to_numpy().astype(np.intp)
    if not values.is_finite().all():
        raise DataError([infinite(TypedColumn(schema.target, "numeric", values))])
    return values.to_numpy().astype(np.float64)


def _strange_classes(strange: pl.Series, schema: Schema) -> DataProblem:
    found = [spell_label(label) for label in strange.drop_nulls().unique().sort()]
    message = f"the target `{schema.target}` has classes that the model was not trained on: {listed(found)}"
    help = f"the classes are {listed(map(spell_label, schema.classes), shown=12)}"
    return problem("MSL326", message, help, column=schema.target)


def _absent_columns(reading: Reading, schema: Schema) -> Iterator[DataProblem]:
    present = list(reading.columns)
    free = [name for name in present if name not in schema.sources and name != schema.target]
    for name in schema.sources:
        if name not in present:
            close = difflib.get_close_matches(name, free, n=1)
            help = f"is it the column `{close[0]}`?" if close else f"the columns are {listed(present, shown=12)}"
            yield problem(
                "MSL325", f"{reading.origin} lacks the column `{name}` of the training data", help, column=name
            )


def _further_columns(reading: Reading, schema: Schema) -> Iterator[DataProblem]:
    options = schema.options
    known = {*schema.names, schema.target, *options.set_apart(), *(options.ignore or ())}
    further = [name for name in reading.columns if name not in known]
    if further:
        names = listed(f"`{name}`" for name in further)
        message = f"{reading.origin} has columns that the model was not trained on: {names}"
        yield problem("MSL472", message, "they are not used")
