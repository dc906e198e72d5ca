"""How an exported file reads tables: as `msl predict` does, without msl.

All that follows the line of `=` below stands in every exported file as it stands here. What is above it the file
defines itself, with the names and labels of its own table. The rules are those of `msl.evaluate`; the two are compared
on many tables by the tests.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections import Counter
from datetime import datetime, timedelta

import numpy as np

COLUMNS: list[str] = []
SYMBOLS: dict[str, list[str]] = {}
DATES: dict[str, list[str]] = {}
WORDS: dict[str, list[str]] = {}
TARGET = ""
WEIGHT: str | None = None
CLASSES: list[str | int | float] = []
MISSING: list[str] = []
HEADER: bool | None = None
SEPARATOR: str | None = None
DECIMAL: str | None = None
DROPS_RAGGED = False
SIGNED: list[str] = []
ROWS: int | None = None
# ======================================================================================================================


class Table:
    """The columns of a table as texts, and the decimal signs that its numbers may have."""

    def __init__(self, columns, decimals=(".",)):
        self.columns, self.decimals = columns, decimals


def read_table(path, drops_ragged=False):
    """The table in a file: text with any of the usual separators, also packed or in UTF-16, Parquet or Arrow.

    Rows of text with more or fewer fields than there are columns are left out where `drops_ragged` says so.
    """
    with open(path, "rb") as file:
        data = file.read()
    is_frame = data.startswith((b"PAR1", b"ARROW1"))
    table = _read_frame(path, data[:4]) if is_frame else _read_text(path, _unpacked(path, data), drops_ragged)
    if not any(table.columns.values()):
        raise ValueError(f"{path} has no rows")
    return table


def features(table):
    """The features of all rows as an array: a symbol is its place among SYMBOLS, what is missing or unknown is NaN."""
    lacking = [name for name in sources() if name not in table.columns]
    if lacking:
        raise ValueError(f"the table lacks the columns {', '.join(lacking)}")
    made = {f"{name}: {part}": of for name in DATES for part, of in _date_parts(_cells(table, name), DATES[name])}
    made |= {f"{name}: {word}": of for name in WORDS for word, of in _word_counts(_cells(table, name), WORDS[name])}
    columns = []
    for name in COLUMNS:
        if name in made:
            columns.append(made[name])
            continue
        cells, known = _cells(table, name), SYMBOLS.get(name)
        if known is None:
            columns.append(_numbers(name, cells, table.decimals))
        else:
            places = {cell: _place(cell, known, table.decimals) for cell in set(cells)}
            columns.append([np.nan if places[cell] is None else places[cell] for cell in cells])
    return np.ascontiguousarray(np.array(columns, dtype=float).T)


def sources():
    """The columns that a table has to have: some of COLUMNS are made of dates and of text."""
    made = {f"{name}: {part}" for name in DATES for part in DATES[name]}
    made |= {f"{name}: {word}" for name in WORDS for word in ["number of words", *WORDS[name]]}
    return [*(name for name in COLUMNS if name not in made), *DATES, *WORDS]


def target(table):
    """The target of all rows: the places of their classes among CLASSES, or numbers; NaN where it is missing."""
    if TARGET not in table.columns:
        raise ValueError(f"the table lacks the target {TARGET}")
    cells = _cells(table, TARGET)
    if not CLASSES:
        return _numbers(TARGET, cells, table.decimals)
    if isinstance(CLASSES[0], str):
        places = {cell: _place(cell, CLASSES, table.decimals) for cell in set(cells)}
        strange = sorted(cell for cell in places if cell and places[cell] is None and cell.lower() not in NO_NUMBER)
    else:
        numbers = dict(zip(cells, _numbers(TARGET, cells, table.decimals).tolist(), strict=True))
        places = {cell: CLASSES.index(number) if number in CLASSES else None for cell, number in numbers.items()}
        strange = sorted(cell for cell in places if places[cell] is None and numbers[cell] == numbers[cell])
    if strange:
        raise ValueError(f"the target {TARGET} has classes that the model does not know: {', '.join(strange)}")
    return np.array([np.nan if places[cell] is None else places[cell] for cell in cells])


def training_rows(path):
    """The features and the target of a table to learn from, and the weights of its rows where the model has any.

    Rows without a target are left out, and it is said.
    """
    table = read_table(path, DROPS_RAGGED)
    X, y = features(table), target(table)
    known = ~np.isnan(y)
    if not known.all():
        print(f"{(~known).sum()} rows have no {TARGET} and are left out", file=sys.stderr)
    rows = [X[known], y[known].astype(int if CLASSES else float)]
    if WEIGHT is not None:
        rows.append(weights(table)[known])
    drawn = slice(None) if ROWS is None or len(rows[1]) <= ROWS else _sample_of_rows(rows[1])
    return tuple(each[drawn] for each in rows)


def _sample_of_rows(y):
    """The ROWS that the run has learnt from: every class in its share, drawn by a hash of the places of the rows."""
    mixed = np.arange(len(y), dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn = np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")
    if not CLASSES:
        return np.sort(drawn[:ROWS])
    counts = np.bincount(y, minlength=len(CLASSES))
    shares = counts * (ROWS / len(y))
    quotas = np.maximum(np.floor(shares).astype(int), np.minimum(counts, 2))
    for code in np.argsort(quotas - shares, kind="stable")[: max(0, ROWS - quotas.sum())]:
        quotas[code] = min(quotas[code] + 1, counts[code])
    return np.sort(np.concatenate([drawn[y[drawn] == code][:quota] for code, quota in enumerate(quotas)]))


def weights(table):
    """How much each row counts in a fit; tables to predict need no such column."""
    if WEIGHT not in table.columns:
        raise ValueError(f"the table lacks the column {WEIGHT}, which has the weights of the rows")
    found = _numbers(WEIGHT, _cells(table, WEIGHT), table.decimals)
    wrong = ~(found > 0.0)
    if wrong.any():
        raise ValueError(f"the weight {WEIGHT} is not a positive number in row {wrong.argmax() + 1}")
    return found


#: What may stand in a column of numbers in the place of a missing one.
NO_NUMBER = ("na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?", "-", ".")


def _cells(table, name):
    """The cells of a column without outer spaces, empty where they are missing."""
    cells = [cell.strip() for cell in table.columns[name]]
    return ["" if cell in MISSING else cell for cell in cells]


def _numbers(name, cells, decimals):
    """A column of numbers, NaN where they are missing; truth values are 1 and 0."""
    stated = {cell for cell in cells if cell and cell.lower() not in NO_NUMBER}
    markers = [number for number in map(_number, MISSING) if number is not None]
    for decimal in decimals:
        values = {cell: _number(cell, decimal) for cell in stated}
        if None not in values.values():
            break
    else:
        values = {cell: float(cell.lower() == "true") for cell in stated}
        if not all(cell.lower() in ("true", "false") for cell in stated):
            signed = _signed_numbers(stated, decimals) if name in SIGNED else None
            if signed is None:
                wrong = min(cell for cell in stated if _number(cell, decimals[0]) is None)
                raise ValueError(f"column {name} has to be numeric, but holds {wrong!r}")
            values = signed
    numbers = np.array([values.get(cell, np.nan) for cell in cells], dtype=float)
    numbers[np.isin(numbers, markers)] = np.nan
    if np.isinf(numbers).any():
        raise ValueError(f"column {name} is infinite in row {np.isinf(numbers).argmax() + 1}")
    return numbers


CURRENCY = r"[€$£¥]|EUR|USD|GBP|CHF"


def _signed_numbers(cells, decimals):
    """The numbers in cells with signs around them, such as $1,200 and 12 %; None if they are none of one kind."""
    minus = {cell: re.sub(r"^\((.*)\)$", r"-\1", cell) for cell in cells}
    if all(cell.startswith("(") for cell in cells):
        return None
    for decimal in (DECIMAL,) if DECIMAL else dict.fromkeys((*decimals, ".", ",")):
        thousands, point = ("." if decimal == "," else ","), re.escape(decimal)
        whole = rf"([0-9]{{1,3}}([{thousands}'’\s][0-9]{{3}})+|[0-9]+)({point}[0-9]+)?"
        form = rf"({CURRENCY})?\s?[+-]?\s?({CURRENCY})?\s?{whole}\s?(%|{CURRENCY})?"
        if not all(re.fullmatch(form, text) for text in minus.values()):
            continue
        units = [found[0] for text in minus.values() if (found := re.search(rf"%|{CURRENCY}", text))]
        if len(set(units)) > 1 or units.count("%") not in (0, len(minus)):
            return None
        around = rf"{CURRENCY}|[%+'’\s{thousands}]"
        return {cell: float(re.sub(around, "", text).replace(decimal, ".", 1)) for cell, text in minus.items()}
    return None


def _number(text, decimal="."):
    """The number that a text is, or None."""
    if decimal == ",":
        text = "no number" if "." in text else text.replace(",", ".", 1)
    if not text.isascii() or "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _place(text, symbols, decimals):
    """The place of a symbol, however a number or a truth value among symbols is spelt; None for an unknown one."""
    number = text.replace(",", ".") if "," in decimals else text
    spelt = [text, *([text.lower()] if text.lower() in ("true", "false") else [])]
    if re.fullmatch(r"\s*[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?\s*", number):
        spelt.append(_spelt_number(number))
    return next((symbols.index(each) for each in spelt if each and each in symbols), None)


def _spelt_number(text):
    """The one way to write a number that is used as a symbol: 1 for 01 and 1.0."""
    try:
        return str(int(text))
    except ValueError:
        number = float(text)
        return str(int(number)) if number.is_integer() and abs(number) < 2.0**53 else repr(number)


MOMENT = re.compile(
    r"(?:([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})(?:[T ]\s*(?=[0-9])|$))?"
    r"(?:([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?\s*([AaPp][Mm])?\s*(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?)?"
)


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
NAMED_MONTH = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
    rf"(?:([0-9]{{4}})[\s./-]*)?(?:([0-9]{{1,2}})(?:st|nd|rd|th)?[\s./-]*)?{MONTH}"
    r"(?:[\s./-]*([0-9]{1,2})(?:st|nd|rd|th)?(?=$|[\sT,]))?(?:[\s,./-]*([0-9]{4}|[0-9]{2}))?(?=$|[\sT,]),?",
    re.I,
)
MONTH_ALONE = re.compile(r"(?:((?:19|20)[0-9]{2})[-/](0[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/]((?:19|20)[0-9]{2}))")


def _in_figures(text):
    """A date with the name of a month, or a month alone, as year-month-day; any other text as it is."""
    if alone := MONTH_ALONE.fullmatch(text):
        year, month, other_month, other_year = alone.groups()
        return f"{year or other_year}-{month or other_month}-1"
    named = NAMED_MONTH.match(text)
    if named is None:
        return text
    first_year, before, month, after, year = named.groups()
    if before and after and year is None and len(after) == 2:
        after, year = None, after
    day = before or after
    if (before and after) or (first_year is None) == (year is None) or (day is None and len(year or "4444") < 4):
        return text
    if year is not None and len(year) == 2:
        year = f"{20 if int(year) < 69 else 19}{year}"
    return f"{first_year or year}-{MONTHS.index(month[:3].lower()) + 1}-{day or 1}{text[named.end() :]}"


def _moment(text, day_first):
    """The date and time of a text, in UTC where it names a time zone; None if it is none."""
    text = _in_figures(text)
    found = MOMENT.fullmatch(text)
    if not text or found is None:
        return None
    first, _, middle, last, hour, minute, second, fraction, half, zone = found.groups()
    year, month, day = 1970, 1, 1
    if first is not None:
        if len(first) == 4:
            year, month, day = int(first), int(middle), int(last)
        elif len(first) <= 2 and len(last) in (2, 4):
            year = int(last) + (0 if len(last) == 4 else 2000 if int(last) < 69 else 1900)
            day, month = (int(first), int(middle)) if day_first else (int(middle), int(first))
        else:
            return None
    hours = int(hour or 0)
    if half:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half.lower() == "pm" else 0)
    try:
        micro = int((fraction or "0")[:6].ljust(6, "0"))
        told = datetime(year, month, day, hours, int(minute or 0), int(second or 0), micro)
        if zone in (None, "Z", "UTC"):
            return told
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        return told - offset if zone[0] == "+" else told + offset
    except (ValueError, OverflowError):
        return None


def _date_parts(cells, parts):
    """The parts of dates as columns, NaN where there is no date."""
    moments = {cell: _moment(cell, "day first" in parts) for cell in set(cells)}
    for part in parts:
        values = {cell: np.nan if told is None else _date_part(told, part) for cell, told in moments.items()}
        yield part, [values[cell] for cell in cells]


def _date_part(told, part):
    if part == "weekday":
        return float(told.isoweekday())
    if part == "yearday":
        return float(told.timetuple().tm_yday)
    if part == "hour":
        return float(told.hour) + float(told.minute) / 60.0 + float(told.second) / 3600.0
    if part == "days":
        return float((told - datetime(1970, 1, 1)) // timedelta(microseconds=1)) / 86_400_000_000.0
    return float(getattr(told, part, np.nan))


def _word_counts(cells, words):
    """How many words each text has, and how often each of these words stands in it."""
    found = {cell: re.findall(r"\w\w+", cell.lower()) for cell in set(cells)}
    yield "number of words", [float(len(found[cell])) for cell in cells]
    for word in words:
        counts = {cell: float(there.count(word)) for cell, there in found.items()}
        yield word, [counts[cell] for cell in cells]


def _read_frame(path, start):
    import polars as pl

    try:
        frame = (pl.scan_parquet if start == b"PAR1" else pl.scan_ipc)(path, glob=False).collect()
    except pl.exceptions.PolarsError as reason:
        raise ValueError(f"{path} is damaged or not readable: {reason}") from None
    texts = (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null)
    markers = [_number(marker) for marker in MISSING]
    columns = {}
    for name, column in zip(_unique_names(frame.columns), frame.get_columns(), strict=True):
        if column.dtype.is_numeric():
            missing = [cell is None or cell != cell or float(cell) in markers for cell in column.to_list()]
            cells = zip(column.to_list(), missing, strict=True)
            columns[name] = ["" if is_missing else _spelt_number(str(cell)) for cell, is_missing in cells]
        elif column.dtype in texts or column.dtype.is_temporal():
            if isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is not None:
                column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
            if column.dtype == pl.Duration:  # as the moment so long after 1970 began
                column = pl.Series([datetime(1970, 1, 1)]).dt.cast_time_unit("us") + column.cast(pl.Duration("us"))
            columns[name] = column.cast(pl.String).fill_null("").to_list()
        elif name in sources() or name == TARGET:
            raise ValueError(f"column {name} holds values of type {column.dtype}, neither numbers nor symbols")
    return Table(columns)


def _only_member(data):
    """The only file in an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [each.filename for each in archive.infolist() if not each.is_dir()]
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise ValueError(f"it is an archive of {len(names)} files")
        return archive.read(names[0])


PACKED = {
    rb"\x1f\x8b": gzip.decompress,
    rb"BZh[1-9]1AY&SY": bz2.decompress,
    rb"\xfd7zXZ\x00": lzma.decompress,
    rb"PK\x03\x04": _only_member,
}


def _unpacked(path, data):
    """The bytes of a table of text in UTF-8."""
    unpack = next((each for start, each in PACKED.items() if re.match(start, data)), None)
    if unpack is not None:
        try:
            data = unpack(data)
        except (OSError, EOFError, RuntimeError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as reason:
            raise ValueError(f"{path} is packed, but damaged or incomplete: {reason}") from None
    start = data[:65536]
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        data = data.decode("utf-32").encode()
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16").encode()
    elif start[1::2].count(0) * 4 > len(start) and 0 not in start[::2]:
        data = data.decode("utf-16-le").encode()
    elif start[::2].count(0) * 4 > len(start) and 0 not in start[1::2]:
        data = data.decode("utf-16-be").encode()
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip() or b"\0" in data[:65536]:
        raise ValueError(f"{path} is empty, or no table of text")
    return data


def _utf8(data):
    """The text with each line that is not UTF-8 read as Windows-1252."""
    lines = data.split(b"\n")
    for place, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError:
            try:
                lines[place] = line.decode("cp1252").encode()
            except UnicodeDecodeError:
                lines[place] = line.decode("latin-1").encode()
    return b"\n".join(lines)


def _read_text(path, data, drops_ragged=False):
    data = _utf8(data)
    sample, is_whole = _sample(data)
    told = re.match(r'"?sep=([^\r\n])"?\r?\n', sample, re.I)
    separator = SEPARATOR or (told and told[1]) or _likely_separator(sample, is_whole)
    rows = _sample_rows(sample, separator, is_whole)[0] or [sample.split("\n", 1)[0].split(separator)]
    is_told = bool(told) and len(rows) > 1
    aside = is_told + _rows_aside(rows[is_told:])
    first, *following = rows[aside:]
    has_header = _is_header(first, following) if HEADER is None else HEADER
    names = _unique_names(_widened(first, following)) if has_header else [f"f{n}" for n in range(1, len(first) + 1)]
    try:
        rows = []
        for place, (line, row) in enumerate(_rows(data.decode(), separator, len(names))):
            if place < aside:
                continue
            if len(row) == len(names) or (not rows and has_header):
                rows.append(row)
            elif not drops_ragged or not rows:
                raise ValueError(f"line {line} of {path} has {len(row)} fields, the first row has {len(names)}")
    except csv.Error as reason:
        raise ValueError(f"{path} has quotes out of order: {reason}") from None
    cells = list(zip(*rows[has_header:], strict=True)) or [()] * len(names)
    decimals = (DECIMAL,) if DECIMAL else (".",) if separator == "," else (".", ",")
    return Table(dict(zip(names, cells, strict=True)), decimals)


def _rows(text, separator, width=0):
    """The rows that are not blank, each with the number of its last line."""
    csv.field_size_limit(2**31 - 1)
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=separator != "\t", strict=True)
    for row in reader:
        if row and (len(row) > 1 or width == 1 or row[0].strip()):
            yield reader.line_num, row


def _sample(data):
    """The first lines of the text, and whether they are all of it."""
    size = 65536
    while size < len(data) and data[:size].count(b"\n") < 50:
        size *= 4
    return data[:size].decode(errors="replace"), size >= len(data)


def _sample_rows(sample, separator, is_whole):
    """The rows of the sample up to the first with quotes out of order, and whether there is none such."""
    rows = []
    try:
        for _, row in _rows(sample, separator):
            rows.append(row)
    except csv.Error as reason:
        return rows, not is_whole and str(reason) == "unexpected end of data"
    return (rows if is_whole else rows[:-1]), True


def _rows_aside(rows):
    """How many rows of titles and comments stand above the table."""
    if len(rows) < 3:
        return 0
    width, count = Counter(map(len, rows)).most_common(1)[0]
    if width < 2 or 2 * count < len(rows):
        return 0
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    aside = next(place for place, row in enumerate(rows) if len(row) == width)
    bare = next((place for place in range(aside, len(rows)) if filled[place] > 1), aside)
    if bare > aside and width > 2 and all(cell.strip() and not _looks_numeric(cell) for cell in rows[bare]):
        aside = bare
    if not 0 < aside <= min(20, len(rows) - 2) or 2 * max(filled[:aside]) > width:
        return 0
    are_comments = all(row[0].lstrip().startswith(("#", "%", "//")) for row in rows[:aside])
    return aside if are_comments or _names_columns(rows[aside], rows[aside + 1 :]) else 0


def _widened(names, following):
    """The names, and an empty one where all rows end in a separator that they lack."""
    more = len(names) + 1
    ends = len(names) > 1 and bool(following) and all(len(row) == more and not row[-1].strip() for row in following)
    return [*names, ""] if ends else names


def _likely_separator(sample, is_whole):
    """The first that gives every row the same number of fields, or else that which comes closest."""
    likely, best, titled = ",", (0.0, 0), None
    for separator in "\t;|,":
        rows, is_sound = _sample_rows(sample, separator, is_whole)
        widths = [len(row) for row in rows]
        if titled is None and is_sound and _rows_aside(rows):
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
    return likely if best[1] else _rare_separator(sample, is_whole)


def _rare_separator(sample, is_whole):
    """A blank or the like, if it gives every row the same number of fields and the first line is not a name."""
    if sample.lstrip().split("\n", 1)[0].strip().strip('"') in sources():
        return ","
    for separator in " ^~":
        rows, is_sound = _sample_rows(sample, separator, is_whole)
        widths = {len(row) for row in rows}
        if is_sound and len(rows) > 1 and len(widths) == 1 and min(widths) > 1:
            return separator
    return ","


def _is_header(first, following):
    """Whether the first row names the columns: those of the training data, or else what looks like names."""
    if set(sources()) <= {cell.strip() for cell in first}:
        return True
    if all(re.fullmatch(r"f[1-9][0-9]*", name) for name in sources()):  # the training data had no names either
        return False
    cells = [cell.strip() for cell in first]
    if TARGET in cells:
        place = cells.index(TARGET)
        if not any(row[place].strip() == TARGET for row in following if place < len(row)):
            return True
    return _names_columns(first, following)


def _names_columns(first, following):
    """Whether a row looks like names above what follows."""
    texts = {place: cell.strip() for place, cell in enumerate(first) if not (_is_blank(cell) or _looks_numeric(cell))}
    below = {place: [row[place].strip() for row in following if place < len(row)] for place in texts}
    stated = {place: [cell for cell in cells if not _is_blank(cell)] for place, cells in below.items()}
    if any(cells and all(map(_looks_numeric, cells)) for cells in stated.values()):
        return True
    if any(map(_looks_numeric, first)):
        return False
    return 2 * sum(cell in below[place] for place, cell in texts.items()) < len(texts)


def _is_blank(cell):
    return not cell.strip() or cell.strip().lower() in NO_NUMBER


def _looks_numeric(cell):
    return re.fullmatch(r"\s*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?\s*", cell) is not None


def _unique_names(cells):
    """Names without outer spaces; a missing one becomes `columnK`, the second `x` becomes `x_2`."""
    stripped = [cell.strip() for cell in cells]
    taken, names = set(stripped), []
    for position, cell in enumerate(stripped, start=1):
        if not cell:
            name = _free_name(f"column{position}", "", taken)
        else:
            name = _free_name(cell, "_2", taken) if cell in names else cell
        taken.add(name)
        names.append(name)
    return names


def _free_name(stem, suffix, taken):
    number = 2
    while (name := stem + suffix) in taken:
        suffix = f"_{number}"
        number += 1
    return name
