"""The arrangement of rows: which belong together as groups, and which come before which."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.evaluate.infer import type_column
from msl.evaluate.markers import Markers
from msl.evaluate.problem import DataError, problem
from msl.evaluate.reading import Reading

Codes = NDArray[np.intp]


def read_groups(reading: Reading, name: str, given: Markers) -> Codes:
    """The group of each row, numbered by first appearance: what the groups are called does not matter."""
    values = type_column(name, reading.columns[name], "symbolic", given, reading.decimals).values
    _check_complete(name, values, "groups")
    names = values.unique(maintain_order=True)
    return values.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.intp)


def read_order(reading: Reading, name: str, given: Markers) -> Codes:
    """The place of each row in the order, counted from 0, equal for rows with equal values."""
    column = reading.columns[name]
    if not column.dtype.is_temporal():
        typed = type_column(name, column, None, given, reading.decimals)
        column = typed.values if typed.kind == "numeric" else _moments(name, typed.values)
    _check_complete(name, column, "order")
    return (column.rank("dense").to_numpy() - 1).astype(np.intp)


def _moments(name: str, texts: pl.Series) -> pl.Series:
    """The order of dates and times in ISO form; other forms leave open which number is the day."""
    try:
        moments = {text: datetime.fromisoformat(text) for text in texts.unique().drop_nulls()}
        places = {moment: float(place) for place, moment in enumerate(sorted(set(moments.values())))}
    except (ValueError, TypeError):
        message = f"the order `{name}` holds neither numbers nor dates like 2024-01-31"
        help = "write numbers, or dates as year-month-day, all with or all without a time zone"
        raise DataError([problem("MSL324", message, help, column=name)]) from None
    in_order = {text: places[moment] for text, moment in moments.items()}
    return texts.replace_strict(in_order, return_dtype=pl.Float64)


def _check_complete(name: str, values: pl.Series, option: str) -> None:
    rows = values.is_null().arg_true()
    if len(rows):
        first = rows[0] + 1
        message = f"the column `{name}` of the {option} is missing in {len(rows)} rows, first in row {first}"
        help = "fill it in, or remove these rows"
        raise DataError([problem("MSL323", message, help, column=name, row=first)])
