"""Text tables: a fast reader for regular text, a careful one for all other, with the same result."""

from __future__ import annotations

import csv
import mmap
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.data.data_errors import DataError, DataProblem, listed, problem
from msl.data.dialect import Dialect, find_dialect, is_number, rows_of
from msl.data.file_bytes import Payload, with_western_lines
from msl.data.infer_types import is_beyond_exact
from msl.data.options import DataOptions
from msl.data.raw_columns import Reading

Bytes = NDArray[np.uint8]

#: What polars raises; of the system where a text such as `x^y` begins like a packed file.
_UNREADABLE = (pl.exceptions.PolarsError, OSError)
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
#: Small enough to stay in the processor's cache while it is looked at several times.
_CHUNK = 1 << 18


def read_delimited(
    payload: Payload,
    options: DataOptions,
    known_names: Collection[str] = (),
    as_text: Collection[str] = (),
) -> Reading:
    """The columns of a text table: real numbers where that is certain, text elsewhere and in the columns `as_text`."""
    try:
        return _read_delimited(payload, options, known_names, as_text)
    except UnicodeDecodeError:
        payload = with_western_lines(payload)
    reading = _read_delimited(payload, options, known_names, as_text)
    return replace(reading, warnings=(_western(payload, reading, options), *reading.warnings))


def _western(payload: Payload, reading: Reading, options: DataOptions) -> DataProblem:
    """The warning that lines are not UTF-8, with the first of them and its column."""
    line, text = next(iter(payload.western.items()))
    separator = find_dialect(payload.data, options).separator
    cells, names = text.strip().split(separator), list(reading.columns)
    strange = [place for place, cell in enumerate(cells) if not cell.isascii()]
    place = strange[0] if strange else 0
    column = names[place] if len(cells) == len(names) else None
    where = f"line {line}" if len(payload.western) == 1 else f"{len(payload.western):,} lines, first in line {line}"
    of = "" if column is None else f" of column `{column}`"
    message = f"{payload.path} is not UTF-8 in {where}: {cells[place].strip()[:60]!r}{of} was read as Windows-1252"
    help = f"if that is not what it means, save it as UTF-8: iconv -f ENCODING -t UTF-8 {payload.path.name} > utf8.csv"
    return problem("MSL365", message, help, column=column, line=line)


def _read_delimited(
    payload: Payload, options: DataOptions, known_names: Collection[str], as_text: Collection[str]
) -> Reading:
    dialect = find_dialect(payload.data, options, known_names, str(payload.path))
    frame: pl.DataFrame | None = None
    ragged: tuple[DataProblem, ...] = ()
    rows = _regular_rows(payload.data, dialect)
    if rows is not None:
        frame = _read_regular(payload, dialect, rows, as_text)
    if frame is None:
        frame, ragged = _read_carefully(payload, dialect, options.ragged == "drop")
    if frame.is_empty():
        message = f"{payload.path} has column names but no rows"
        raise DataError([problem("MSL305", message, "add rows, or write header = false if the first row is data")])
    reading = Reading.of(frame, dialect.names, str(payload.path))
    return replace(reading, decimals=dialect.decimals, warnings=(*dialect.warnings, *ragged, *reading.warnings))


def _regular_rows(data: bytes | mmap.mmap, dialect: Dialect) -> int | None:
    """The number of rows, if the separators are as many as rows of equal length have and all quotes are in order.

    A row that is too short then needs another that is too long, and the fast reader refuses those.
    """
    start = 0
    for _ in range(dialect.lines_before_data):
        start = data.find(b"\n", start) + 1
        if start == 0:
            return None
    end = len(data)
    while end > start and data[end - 1] in b"\r\n":
        end -= 1
    is_garbled = any("\ufffd" in name for name in dialect.names.unique)
    if end == start or dialect.width == 1 or ord(dialect.separator) > 127 or is_garbled:
        return None
    everything = np.frombuffer(data, np.uint8)
    if data.find(b"\r") >= 0 and not _only_crlf(everything):
        return None
    counts = _counts(everything[start:end], ord(dialect.separator), has_quotes=data.find(b'"', start) >= 0)
    if counts is None:
        return None
    separators, newlines = counts
    return newlines + 1 if separators == (newlines + 1) * (dialect.width - 1) else None


def _counts(body: Bytes, separator: int, has_quotes: bool) -> tuple[int, int] | None:
    """How many separators and line ends stand outside quotes; `None` if the quotes are not in order."""
    separators = newlines = 0
    is_inside = False
    for start in range(0, len(body), _CHUNK):
        chunk = body[start : start + _CHUNK]
        if has_quotes:
            quotes = chunk == _QUOTE
            inside = np.logical_xor.accumulate(quotes) ^ is_inside
            opens = np.flatnonzero(quotes & inside) + start
            closes = np.flatnonzero(quotes & ~inside) + start
            before, after = body[opens[opens > 0] - 1], body[closes[closes < len(body) - 1] + 1]
            if not np.isin(before, (separator, _NEWLINE, _QUOTE)).all():
                return None
            if not np.isin(after, (separator, _NEWLINE, _RETURN, _QUOTE)).all():
                return None
            is_inside = bool(inside[-1])
            chunk = chunk[~inside]
        separators += int(np.count_nonzero(chunk == separator))
        newlines += int(np.count_nonzero(chunk == _NEWLINE))
    return None if is_inside else (separators, newlines)


def _only_crlf(text: Bytes) -> bool:
    returns = np.flatnonzero(text == _RETURN)
    return bool((text[np.minimum(returns + 1, len(text) - 1)] == _NEWLINE).all())


def _read_regular(payload: Payload, dialect: Dialect, rows: int, as_text: Collection[str]) -> pl.DataFrame | None:
    """The table as polars reads it, or `None` if it meets anything unexpected."""
    numbers = {
        place
        for place, name in enumerate(dialect.names.unique)
        if name not in as_text and _is_plainly_numeric(dialect, place)
    }
    try:
        frame = _scan(payload, dialect, numbers)
    except _UNREADABLE:  # a number that is not one, further down
        numbers = set()
        try:
            frame = _scan(payload, dialect, numbers)
        except _UNREADABLE:
            return None
    # Text keeps all digits of whole numbers that are too large to be told apart as reals.
    inexact = {place for place in numbers if is_beyond_exact(frame.to_series(place))}
    if inexact:
        texts = _scan(payload, dialect, numbers - inexact)
        frame = frame.with_columns(texts.to_series(place) for place in inexact)
    return frame.head(rows)


def _is_plainly_numeric(dialect: Dialect, place: int) -> bool:
    cells = [row[place] for row in dialect.sample if place < len(row) and row[place]]
    return bool(cells) and dialect.decimals[0] == "." and all("," not in cell and is_number(cell) for cell in cells)


def _scan(payload: Payload, dialect: Dialect, numbers: Collection[int]) -> pl.DataFrame:
    return pl.scan_csv(
        payload.source,
        separator=dialect.separator,
        has_header=False,
        skip_lines=dialect.lines_before_data,
        schema={str(place): pl.Float64 if place in numbers else pl.String for place in range(dialect.width)},
        glob=False,
    ).collect()


def _read_carefully(
    payload: Payload, dialect: Dialect, drops_ragged: bool
) -> tuple[pl.DataFrame, tuple[DataProblem, ...]]:
    """The table as text, row by row; a row that is not in order is told with its line, or left out with a warning.

    Raises UnicodeDecodeError if it is not UTF-8.
    """
    text = payload.data[:].decode()
    rows: list[list[str]] = []
    ragged: list[int] = []
    last_line = 0
    try:
        for place, (line, row) in enumerate(rows_of(text, dialect.separator, dialect.width)):
            last_line = line
            if place < dialect.rows_aside:
                continue
            if len(row) == dialect.width or (not rows and dialect.has_header):
                rows.append(row)
            elif drops_ragged and rows:
                ragged.append(line)
            else:
                raise _ragged(payload, dialect, row, line)
    except csv.Error as reason:
        message = f"the row of {payload.path} that starts at line {last_line + 1} has quotes out of order: {reason}"
        help = 'close every quote that opens a field, and write a quote inside quotes twice: "a ""b"" c"'
        raise DataError([problem("MSL310", message, help, line=last_line + 1)]) from None
    if dialect.has_header:
        del rows[0]
    frame = pl.DataFrame(rows, schema={str(place): pl.String for place in range(dialect.width)}, orient="row")
    return frame, _left_out(payload, dialect, ragged, len(rows))


def _left_out(payload: Payload, dialect: Dialect, ragged: list[int], kept: int) -> tuple[DataProblem, ...]:
    if not ragged:
        return ()
    lines = listed((f"{line:,}" for line in ragged), shown=5)
    rows = f"{len(ragged):,} of {len(ragged) + kept:,} rows of {payload.path} do not have {dialect.width} fields"
    help = f"a field that has a {dialect.separator!r} in it wants quotes around it"
    return (problem("MSL473", f"{rows} and are left out: line{'s' * (len(ragged) > 1)} {lines}", help),)


def _ragged(payload: Payload, dialect: Dialect, row: list[str], line: int) -> DataError:
    message = f"line {line} of {payload.path} has {len(row)} fields, the first row has {dialect.width}"
    help = (
        f"the fields were taken as separated by {dialect.separator!r}: put quotes around a field that has one in it, "
        "give another separator, or write data(ragged = drop) to leave such rows out"
    )
    if dialect.has_header and all(len(each) == dialect.width + 1 for each in dialect.sample):
        help = "every row has one field more than there are names: name the first column, which may hold row numbers"
    return DataError([problem("MSL309", message, help, line=line)])
