"""Text tables: a fast reader for regular text, a careful one for all other, with the same result."""

from __future__ import annotations

import csv
import io
import mmap
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from msl.data import infer_types
from msl.data.data_errors import DataError, DataProblem, listed, problem
from msl.data.file_bytes import Payload, with_western_lines
from msl.data.infer_types import is_beyond_exact
from msl.data.options import DataOptions
from msl.data.raw_columns import MOST_COLUMNS, Names, Reading, check_width, is_numbered, numbered_names, unique_names

Bytes = NDArray[np.uint8]

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
    except pl.exceptions.PolarsError:  # a number that is not one, further down
        numbers = set()
        try:
            frame = _scan(payload, dialect, numbers)
        except pl.exceptions.PolarsError:
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
        for line, row in rows_of(text, dialect.separator, dialect.width):
            if len(row) == dialect.width:
                rows.append(row)
            elif drops_ragged and rows:
                ragged.append(line)
            else:
                raise _ragged(payload, dialect, row, line)
            last_line = line
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
        if not any(each[-1] for each in dialect.sample):
            help = (
                f"every row ends in a {dialect.separator!r} that the names lack: take it away, or add one to the names"
            )
    return DataError([problem("MSL309", message, help, line=line)])


# --- The dialect of a text table: what separates its fields, and whether its first row names the columns. -------------


Row = list[str]

#: In order of trust: commas also stand inside numbers and sentences, tabs hardly ever do.
_SEPARATORS = "\t;|,"
_NUMBER = re.compile(r"\s*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?\s*")
_QUOTED = re.compile(rb'"[^"]*"')
#: What the standard library says of a quote that is not closed, as in a row that the sample cuts.
_CUT = "unexpected end of data"
_SAMPLE_BYTES, _MOST_SAMPLE_BYTES = 1 << 16, 1 << 22
_SAMPLE_LINES = 50
#: No field is too long: what is in memory already can also be a field. The standard library takes a C long.
_LONGEST_FIELD = min(sys.maxsize, 2**31 - 1)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the text is laid out, with the first rows of data as a sample."""

    separator: str
    has_header: bool
    #: How many lines precede the data: the names, and blank lines before them.
    lines_before_data: int
    names: Names
    #: The decimal signs that are possible, in the order in which they are tried.
    decimals: tuple[str, ...]
    sample: tuple[Row, ...]
    warnings: tuple[DataProblem, ...] = ()

    @property
    def width(self) -> int:
        return len(self.names.unique)


def rows_of(text: str, separator: str, width: int = 0) -> Iterator[tuple[int, Row]]:
    """The rows that are not blank, each with the number of its last line; `csv.Error` where quotes go wrong.

    In a table of one column an empty field in quotes is a value that is missing, not a blank line.
    """
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t", strict=True)
    while True:
        limit = csv.field_size_limit(_LONGEST_FIELD)  # of the whole process, so it is put back at once
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(limit)
        if row is None:
            return
        if row and (len(row) > 1 or width == 1 or row[0].strip()):
            yield reader.line_num, row


def is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None


def find_dialect(
    data: bytes | mmap.mmap, options: DataOptions, known_names: Collection[str] = (), origin: str = "the table"
) -> Dialect:
    """The dialect of the text; the first row names the columns if it holds the known names, or looks like names."""
    check_width(_least_width(data, options.separator or _SEPARATORS), origin)
    text, is_whole = _sample(data)
    separator = options.separator or _likely_separator(text, is_whole)
    rows, _ = _sample_rows(text, separator, is_whole)
    if not rows:  # a single row that never ends: the reader will say what is wrong with it
        rows = [(1, text.split("\n", 1)[0].split(separator))]
    first_line, first = rows[0]
    following = [row for _, row in rows[1:]]
    has_header = options.header
    warnings: tuple[DataProblem, ...] = ()
    if has_header is None:
        has_header = _names_columns(first, following, known_names)
        if not has_header:
            warnings = (_no_header(len(first)),)
    decimals = (".",) if separator == "," else (".", ",")
    return Dialect(
        separator=separator,
        has_header=has_header,
        lines_before_data=first_line if has_header else 0,
        names=unique_names(first) if has_header else Names(numbered_names(len(first))),
        decimals=decimals if options.decimal is None else (options.decimal,),
        sample=tuple(following if has_header else [first, *following]),
        warnings=warnings,
    )


def _sample(data: bytes | mmap.mmap) -> tuple[str, bool]:
    """The first lines of the text, and whether they are all of it; many bytes where the lines are long."""
    size = _SAMPLE_BYTES
    while size < len(data) and (lines := data[:size].count(b"\n")) < _SAMPLE_LINES:
        if lines > 1 and size >= _MOST_SAMPLE_BYTES:
            break
        size *= 4
    return data[:size].decode(errors="replace"), size >= len(data)


def _least_width(data: bytes | mmap.mmap, separators: str) -> int:
    """About how many fields the first line has where they are very many, else 1; what is quoted does not count."""
    end = data.find(b"\n")
    line = data[: end if end >= 0 else len(data)]
    if len(line) <= MOST_COLUMNS:
        return 1
    bare = _QUOTED.sub(b"", line)
    return 1 + max(bare.count(separator.encode()) for separator in separators)


def _sample_rows(text: str, separator: str, is_whole: bool) -> tuple[list[tuple[int, Row]], bool]:
    """The rows of the sample up to the first with quotes out of order, and whether there is none such.

    The last row may be cut, so it does not count.
    """
    rows: list[tuple[int, Row]] = []
    try:
        for row in rows_of(text, separator):
            rows.append(row)  # noqa: PERF402 - what came before an error is kept
    except csv.Error as error:
        return rows, not is_whole and str(error) == _CUT
    return (rows if is_whole else rows[:-1]), True


def _likely_separator(text: str, is_whole: bool) -> str:
    """The first that gives every row the same number of fields, or else that which comes closest."""
    likely, best = ",", (0.0, 0)
    for separator in _SEPARATORS:
        rows, is_sound = _sample_rows(text, separator, is_whole)
        widths = [len(row) for _, row in rows]
        if not widths or widths[0] == 1:
            continue
        agreement = widths.count(widths[0]) / len(widths) if is_sound else 0.0
        if agreement == 1.0:
            return separator
        if (agreement, widths[0]) > best:
            likely, best = separator, (agreement, widths[0])
    return likely


def _names_columns(first: Row, following: Sequence[Row], known_names: Collection[str]) -> bool:
    """Whether the first row names the columns rather than being a row of data like the others.

    Text above a column of numbers is a name. Failing that, a number in the first row is data, and so is text that
    stands again further down.
    """
    if known_names and set(known_names) <= {cell.strip() for cell in first}:
        return True
    if known_names and all(map(is_numbered, known_names)):  # the first table had no names either
        return False
    texts = {place: cell.strip() for place, cell in enumerate(first) if cell.strip() and not is_number(cell)}
    texts = {place: cell for place, cell in texts.items() if not infer_types.is_usual(cell)}
    columns = {place: [row[place].strip() for row in following if place < len(row)] for place in texts}
    if any(_holds_numbers(columns[place]) for place in texts):
        return True
    if any(is_number(cell) for cell in first):
        return False
    again = sum(cell in columns[place] for place, cell in texts.items())
    return 2 * again < len(texts) if texts else False


def _holds_numbers(cells: Sequence[str]) -> bool:
    values = [cell for cell in cells if cell and not infer_types.is_usual(cell)]
    return bool(values) and all(map(is_number, values))


def _no_header(width: int) -> DataProblem:
    return problem(
        "MSL330",
        f"the first row looks like data, so the columns are called f1 to f{width}",
        "if it holds the names, write header = true; if it does not, header = false",
    )
