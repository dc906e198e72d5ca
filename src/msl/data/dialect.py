"""The dialect of a text table: what separates its fields, what stands above them, and whether the first row has names.

An exported file finds the same dialect by itself: `msl.export.table_reader` follows the same rules."""

from __future__ import annotations

import csv
import io
import mmap
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from msl.data import infer_types
from msl.data.data_errors import DataProblem, listed, problem
from msl.data.options import DataOptions
from msl.data.raw_columns import MOST_COLUMNS, Names, check_width, is_numbered, numbered_names, unique_names

Row = list[str]

#: In order of trust: commas also stand inside numbers and sentences, tabs hardly ever do.
_SEPARATORS = "\t;|,"
#: Only where nothing else separates anything.
_RARE_SEPARATORS = " ^~"
#: What spreadsheets write above a table so that they find its separator.
_TOLD_SEPARATOR = re.compile(r'"?sep=([^\r\n])"?\r?\n', re.I)
#: How many lines of titles and comments may stand above a table.
_MOST_ASIDE = 20
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
    #: How many lines precede the data: the names, and what stands above them.
    lines_before_data: int
    #: Of these, how many are rows of titles and comments, blank lines apart.
    rows_aside: int
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
    told = _TOLD_SEPARATOR.match(text)
    separator = options.separator or (told and told[1]) or _likely_separator(text, is_whole, known_names)
    rows, _ = _sample_rows(text, separator, is_whole)
    if not rows:  # a single row that never ends: the reader will say what is wrong with it
        rows = [(1, text.split("\n", 1)[0].split(separator))]
    is_told = bool(told) and len(rows) > 1
    aside = is_told + _rows_aside([row for _, row in rows[is_told:]])
    warnings = [_aside(origin, rows[is_told:aside])] if aside > is_told else []
    first_line, first = rows[aside]
    following = [row for _, row in rows[aside + 1 :]]
    has_header = options.header
    if has_header is None:
        has_header = _names_columns(first, following, known_names, options.target)
        if not has_header:
            warnings.append(_no_header(len(first)))
    if has_header:
        first = _widened(first, following)
    decimals = (".",) if separator == "," else (".", ",")
    return Dialect(
        separator=separator,
        has_header=has_header,
        lines_before_data=first_line if has_header else rows[aside - 1][0] if aside else 0,
        rows_aside=aside,
        names=unique_names(first) if has_header else Names(numbered_names(len(first))),
        decimals=decimals if options.decimal is None else (options.decimal,),
        sample=tuple(following if has_header else [first, *following]),
        warnings=tuple(warnings),
    )


def _rows_aside(rows: Sequence[Row]) -> int:
    """How many rows of titles and comments stand above the table: they have at most half as many values as it has
    columns, and below them stand names, unless they are marked as comments."""
    if len(rows) < 3:
        return 0
    width, count = Counter(map(len, rows)).most_common(1)[0]
    if width < 2 or 2 * count < len(rows):
        return 0
    aside = next(place for place, row in enumerate(rows) if len(row) == width)
    bare = next((place for place in range(aside, len(rows)) if _filled(rows[place]) > 1), aside)
    if bare > aside and width > 2 and all(cell.strip() and not is_number(cell) for cell in rows[bare]):
        aside = bare  # a spreadsheet gives a title as many cells as the table below it
    if not 0 < aside <= min(_MOST_ASIDE, len(rows) - 2) or any(2 * _filled(row) > width for row in rows[:aside]):
        return 0
    are_comments = all(row[0].lstrip().startswith(("#", "%", "//")) for row in rows[:aside])
    return aside if are_comments or _names_columns(rows[aside], rows[aside + 1 :], ()) else 0


def _filled(row: Row) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _aside(origin: str, rows: Sequence[tuple[int, Row]]) -> DataProblem:
    first = next((text for _, row in rows if (text := " ".join(cell.strip() for cell in row).strip())), "")
    lines = f"line {rows[0][0]}" if len(rows) == 1 else f"lines {listed(line for line, _ in rows)}"
    message = f"{lines} of {origin}, above the names of the columns, {'is' if len(rows) == 1 else 'are'} left out: "
    help = "take such lines out of the file if they are no rows, or give every row the same number of fields"
    return problem("MSL367", f"{message}{first[:60]!r}", help)


def _widened(names: Row, following: Sequence[Row]) -> Row:
    """The names, and an empty one where all rows end in a separator that they lack, as some programs write it."""
    more = len(names) + 1
    ends = len(names) > 1 and bool(following) and all(len(row) == more and not row[-1].strip() for row in following)
    return [*names, ""] if ends else names


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


def _likely_separator(text: str, is_whole: bool, known_names: Collection[str]) -> str:
    """The first that gives every row the same number of fields, or else that which comes closest."""
    likely, best = ",", (0.0, 0)
    titled: str | None = None
    for separator in _SEPARATORS:
        rows, is_sound = _sample_rows(text, separator, is_whole)
        widths = [len(row) for _, row in rows]
        if titled is None and is_sound and _rows_aside([row for _, row in rows]):
            titled = separator
        if not widths or widths[0] == 1:
            continue
        agreement = widths.count(widths[0]) / len(widths) if is_sound else 0.0
        if agreement == 1.0:
            return separator
        if (agreement, widths[0]) > best:
            likely, best = separator, (agreement, widths[0])
    if titled is not None:
        return titled
    return likely if best[1] else _rare_separator(text, is_whole, known_names)


def _rare_separator(text: str, is_whole: bool, known_names: Collection[str]) -> str:
    """A blank or the like, if it gives every row the same number of fields and the first line is not a name."""
    if text.lstrip().split("\n", 1)[0].strip().strip('"') in known_names:
        return ","
    for separator in _RARE_SEPARATORS:
        rows, is_sound = _sample_rows(text, separator, is_whole)
        widths = {len(row) for _, row in rows}
        if is_sound and len(rows) > 1 and len(widths) == 1 and min(widths) > 1:
            return separator
    return ","


def _names_columns(
    first: Row, following: Sequence[Row], known_names: Collection[str], target: str | None = None
) -> bool:
    """Whether the first row names the columns rather than being a row of data like the others.

    Text above a column of numbers is a name. Failing that, a number in the first row is data, and so is text that
    stands again further down.
    """
    if known_names and set(known_names) <= {cell.strip() for cell in first}:
        return True
    if known_names and all(map(is_numbered, known_names)):  # the first table had no names either
        return False
    if target in (cells := [cell.strip() for cell in first]):
        place = cells.index(str(target))
        if not any(row[place].strip() == target for row in following if place < len(row)):
            return True
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
