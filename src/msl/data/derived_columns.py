"""Columns of numbers that are made of dates and of free text, before a table is built.

A date becomes its calendar parts and the days since 1970; a text becomes a column for each of its frequent words. Which
parts and words these are is decided once, for the first table, without a look at the target, and stands in its schema;
tables that are read later get the same columns. An exported file makes them too: `msl.export.table_reader` follows the
same rules, and tests compare the two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import polars as pl

from msl.data.data_errors import DataError, DataProblem, in_spec, listed, problem
from msl.data.infer_types import DATE_OR_TIME, Markers, column_text, is_free_text, usual_markers
from msl.data.options import DataOptions
from msl.data.raw_columns import Reading

#: In the order of the columns. `weekday` is 1 on Monday, `hour` has fractions, `days` are those since 1970 began.
DATE_PARTS = ("year", "month", "day", "weekday", "yearday", "hour", "days")
#: The column of how long a text is; no word has spaces.
LENGTH = "number of words"
#: A word has to stand in this many texts, and this many words of a text become columns, fewer in very long tables.
_FEWEST_TEXTS, _MOST_WORDS, _MOST_CELLS = 5, 100, 30_000_000
#: With this share of dates, what is none among them is probably a mistake.
_MOSTLY = 0.9
_SAMPLE = 50


@dataclass(frozen=True, slots=True)
class DateColumns:
    """The parts of a date that are columns. `day_first` is how 1/2/2024 is read."""

    source: str
    parts: tuple[str, ...]
    day_first: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.source}: {part}" for part in self.parts)


@dataclass(frozen=True, slots=True)
class WordColumns:
    """The words of a text that are columns, each with how often it stands there, after the number of all words."""

    source: str
    words: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.source}: {word}" for word in (LENGTH, *self.words))


Derived = DateColumns | WordColumns


def find_derived(
    reading: Reading, names: Iterable[str], options: DataOptions, given: Markers
) -> tuple[tuple[Derived, ...], list[DataProblem]]:
    """What is made of the dates and texts among these columns, and warnings about them."""
    found: list[Derived] = []
    problems: list[DataProblem] = []
    said = {*(options.categorical or ()), *(options.numeric or ())}
    for name in names:
        column = reading.columns[name]
        if name in (options.text or ()) and not column.dtype.is_temporal():
            problems += _no_text(name, column, given)
        if name in said or not (column.dtype.is_temporal() or column.dtype in (pl.String, pl.Categorical, pl.Enum)):
            continue
        if name in (options.dates or ()) or (name not in (options.text or ()) and holds_dates(column, given)):
            dates, warnings = _date_columns(name, column, options, given)
            problems += warnings
            found.append(dates)
        elif not column.dtype.is_temporal():
            texts = column_text(column, given)
            if name in (options.text or ()) or (column.dtype == pl.String and is_free_text(texts)):
                found.append(WordColumns(name, _frequent_words(texts)))
    return tuple(found), problems


def with_derived(reading: Reading, derived: Sequence[Derived], given: Markers, order: str | None) -> Reading:
    """The reading with the derived columns in the place of those that they are made of; that of the order stays too."""
    if not derived:
        return reading
    columns = dict(reading.columns)
    warnings = list(reading.warnings)
    for one in derived:
        column = columns[one.source]
        if one.source != order:
            del columns[one.source]
        if isinstance(one, DateColumns):
            moments, problems = _moments(one.source, column, one.day_first, given)
            warnings += problems
            made = [_part(moments, part) for part in one.parts]
        else:
            made = _word_counts(column_text(column, given), one.words)
        clash = sorted(set(one.names) & set(columns))
        if clash:
            message = f"`{one.source}` becomes columns such as `{clash[0]}`, and the table has one of that name"
            help = f"rename that column, or write ignore = [{in_spec(one.source)}]"
            raise DataError([problem("MSL314", message, help, column=one.source)])
        columns |= zip(one.names, made, strict=True)
    return replace(reading, columns=columns, warnings=tuple(warnings))


# --- dates ------------------------------------------------------------------------------------------------------------


#: Dates and times as people and programs write them: 2024-01-31T12:00:00Z, 31.1.2024, 1/31/24 12:00, 12:00:30.
_MOMENT = re.compile(
    r"(?:([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})(?:[T ]\s*(?=[0-9])|$))?"
    r"(?:([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?\s*([AaPp][Mm])?\s*(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?)?"
)
#: Dates with the name of a month: 5 Jan 2024, 05-JAN-24, January 5th, 2024, 2024-Jan-05, Jan 2024.
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_NAMED_MONTH = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
    rf"(?:([0-9]{{4}})[\s./-]*)?(?:([0-9]{{1,2}})(?:st|nd|rd|th)?[\s./-]*)?{_MONTH}"
    r"(?:[\s./-]*([0-9]{1,2})(?:st|nd|rd|th)?(?=$|[\sT,]))?(?:[\s,./-]*([0-9]{4}|[0-9]{2}))?(?=$|[\sT,]),?",
    re.I,
)
#: A month alone, as in 2024-01 and 01/2024.
_MONTH_ALONE = re.compile(r"(?:((?:19|20)[0-9]{2})[-/](0[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/]((?:19|20)[0-9]{2}))")
#: What databases write where there is no date.
_NO_DATE = r"^(0000[-/.]00[-/.]00|00[-/.]00[-/.]0000)([T ]00:00(:00([.,]0+)?)?Z?)?$"
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


def moment(text: str, day_first: bool) -> datetime | None:
    """The date and time of a text, in UTC where it names a time zone; None if it is none."""
    text = in_figures(text)
    found = _MOMENT.fullmatch(text)
    if not text or found is None:
        return None
    first, _, middle, last, hour, minute, second, fraction, half, zone = found.groups()
    year, month, day = 1970, 1, 1
    if first is not None:
        if len(first) == 4:
            year, month, day = int(first), int(middle), int(last)
        elif len(first) <= 2 and len(last) in (2, 4):
            century = 0 if len(last) == 4 else 2000 if int(last) < 69 else 1900
            year = century + int(last)
            day, month = (int(first), int(middle)) if day_first else (int(middle), int(first))
        else:
            return None
    hours = int(hour or 0)
    if half:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if half in ("PM", "pm", "Pm", "pM") else 0)
    try:
        told = datetime(
            year, month, day, hours, int(minute or 0), int(second or 0), int((fraction or "0")[:6].ljust(6, "0"))
        )
        if zone in (None, "Z", "UTC"):
            return told
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        return told - offset if zone[0] == "+" else told + offset
    except (ValueError, OverflowError):
        return None


def in_figures(text: str) -> str:
    """A date with the name of a month, or a month alone, as year-month-day; any other text as it is."""
    if alone := _MONTH_ALONE.fullmatch(text):
        year, month, other_month, other_year = alone.groups()
        return f"{year or other_year}-{month or other_month}-1"
    named = _NAMED_MONTH.match(text)
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
    return f"{first_year or year}-{_MONTHS.index(month[:3].lower()) + 1}-{day or 1}{text[named.end() :]}"


def parse_moments(texts: pl.Series, day_first: bool) -> pl.Series:
    """The microseconds since 1970 of each text, null where it is no date."""
    moments = {text: moment(text, day_first) for text in texts.unique().drop_nulls()}
    counts = {text: None if each is None else (each - _EPOCH) // _MICROSECOND for text, each in moments.items()}
    if not counts:
        return pl.Series([None] * len(texts), dtype=pl.Int64)
    return texts.replace_strict(counts, return_dtype=pl.Int64)


def is_day_first(texts: pl.Series) -> bool | None:
    """Whether dates with two numbers before the year have the day first; None if each of them could be read so or so.

    Months have no number above 12. Dates with points, as in 1.2.2024, have the day first.
    """
    ends = texts.unique().drop_nulls().str.extract_groups(r"^([0-9]{1,2})([-/.])([0-9]{1,2})[-/.][0-9]{2,4}")
    parts = ends.struct.unnest().drop_nulls()
    if parts.is_empty():
        return False
    first, sign, second = parts.get_columns()
    if (first.cast(pl.Int64) > 12).any():
        return True
    if (second.cast(pl.Int64) > 12).any():
        return False
    return True if (sign == ".").any() else None


def holds_dates(column: pl.Series, given: Markers) -> bool:
    """Whether all values are dates or times, or nearly all of many different ones."""
    if column.dtype.is_temporal():
        return True
    sample = column.drop_nulls().head(_SAMPLE).cast(pl.String).str.strip_chars()
    if not any(_MOMENT.fullmatch(in_figures(text)) for text in sample if text):
        return False
    stated = _stated(column, given)
    count = len(stated) - stated.null_count()
    if not count:
        return False
    read = max(count - parse_moments(stated.drop_nulls(), first).null_count() for first in (False, True))
    if read == count or (read >= _MOSTLY * count and stated.n_unique() > 10):
        return True
    return 2 * read >= count and bool(stated.drop_nulls().str.contains(DATE_OR_TIME).all())


def _stated(column: pl.Series, given: Markers) -> pl.Series:
    """The texts of a column, null where they say that the value is missing."""
    texts = column_text(column, given)
    return texts.set(texts.is_in(usual_markers(texts)) | texts.str.contains(_NO_DATE), None)


def _date_columns(
    name: str, column: pl.Series, options: DataOptions, given: Markers
) -> tuple[DateColumns, list[DataProblem]]:
    """The parts that differ between rows; the days alone if none does."""
    problems: list[DataProblem] = []
    day_first = options.day_first
    if column.dtype.is_temporal():
        day_first = bool(day_first)
    elif day_first is None:
        texts = _stated(column, given)
        day_first = is_day_first(texts)
        if day_first is None:
            example = next(text for text in texts.drop_nulls() if re.match(r"[0-9]{1,2}[-/]", text))
            message = f"in the dates of column `{name}` the first number is taken as the month, as in {example!r}"
            help = "write data(day_first = true) if it is the day, or data(day_first = false) to be sure"
            problems.append(problem("MSL364", message, help, column=name))
            day_first = False
    moments, _ = _moments(name, column, day_first, given)
    if column.dtype == pl.Duration:
        return DateColumns(name, ("days",), day_first), problems
    parts = tuple(part for part in DATE_PARTS if _part(moments, part).drop_nulls().n_unique() > 1)
    if "days" in parts and parts[-2:] == ("hour", "days") and len(parts) == 2:
        parts = ("hour",)  # times of day
    return DateColumns(name, parts or ("days",), day_first), problems


def _moments(name: str, column: pl.Series, day_first: bool, given: Markers) -> tuple[pl.Series, list[DataProblem]]:
    """The microseconds since 1970; what is no date is missing, with a warning."""
    dtype = column.dtype
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if dtype.is_temporal():
        within = pl.Duration("us") if dtype in (pl.Time, pl.Duration) else pl.Datetime("us")
        return column.cast(within).to_physical().cast(pl.Int64), []
    texts = _stated(column, given)
    moments = parse_moments(texts, day_first)
    wrong = (texts.is_not_null() & moments.is_null()).arg_true()
    if not len(wrong):
        return moments, []
    first = wrong[0]
    if moments.null_count() == len(moments):
        message = f"column `{name}` should hold dates or times, but row {first + 1} holds {texts[first]!r}"
        help = "write dates as year-month-day, such as 2024-01-31, or take the column out of `dates`"
        raise DataError([problem("MSL315", message, help, column=name, row=first + 1)])
    texts_there = listed(dict.fromkeys(repr(text) for text in texts.gather(wrong[:1000])), shown=3)
    rows = f"row {first + 1}" if len(wrong) == 1 else f"{len(wrong):,} rows, first in row {first + 1}"
    message = f"column `{name}` holds dates, but not in {rows}: {texts_there}"
    help = f"correct the values, or write missing = [{in_spec(texts[first])}]; until then they are taken as missing"
    return moments, [problem("MSL363", message, help, column=name, row=first + 1)]


def _part(moments: pl.Series, part: str) -> pl.Series:
    times = moments.cast(pl.Datetime("us")).dt
    match part:
        case "year":
            values = times.year()
        case "month":
            values = times.month()
        case "day":
            values = times.day()
        case "weekday":
            values = times.weekday()
        case "yearday":
            values = times.ordinal_day()
        case "hour":
            hours = times.hour().cast(pl.Float64)
            return hours + _divided(times.minute(), 60.0) + _divided(times.second(), 3600.0)
        case _:
            return _divided(moments, 86_400_000_000.0)
    return values.cast(pl.Float64)


def _divided(values: pl.Series, by: float) -> pl.Series:
    """The quotients to the last digit, as an exported file has them; polars multiplies by the inverse."""
    return pl.Series(values.cast(pl.Float64).to_numpy() / by).fill_nan(None)


# --- words ------------------------------------------------------------------------------------------------------------


_WORD = re.compile(r"\w\w+")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, each with at least two characters."""
    return _WORD.findall(text.lower())


def _frequent_words(texts: pl.Series) -> tuple[str, ...]:
    """The words that stand in the most texts, in alphabetical order; those that stand in all of them tell nothing."""
    counts: Counter[str] = Counter()
    for text, rows in _distinct(texts):
        counts.update(dict.fromkeys(words_of(text), rows))
    present = len(texts) - texts.null_count()
    told = {word: count for word, count in counts.items() if _FEWEST_TEXTS <= count < present}
    most = max(10, min(_MOST_WORDS, _MOST_CELLS // max(1, len(texts))))
    return tuple(sorted(sorted(told, key=lambda word: (-told[word], word))[:most]))


def _no_text(name: str, column: pl.Series, given: Markers) -> Iterator[DataProblem]:
    """The error of a column that should hold text and has numbers only."""
    texts = column_text(column, given)
    stated = texts.drop_nulls()
    if stated.is_empty() or stated.cast(pl.Float64, strict=False).null_count():
        return
    row = texts.is_not_null().arg_true()[0]
    message = f"column `{name}` should hold text, but all its values are numbers: row {row + 1} holds {texts[row]!r}"
    yield problem("MSL366", message, "take it out of `text`, and it is read as what it is", column=name, row=row + 1)


def _distinct(texts: pl.Series) -> Iterator[tuple[str, int]]:
    counts = pl.DataFrame({"text": texts.drop_nulls()})["text"].value_counts(name="rows")
    yield from counts.iter_rows()


def _word_counts(texts: pl.Series, words: tuple[str, ...]) -> list[pl.Series]:
    """The number of all words of each text and of each of these words; 0 where there is no text."""
    distinct = texts.unique().drop_nulls().to_list()
    places = {word: place for place, word in enumerate(words, start=1)}
    table = [[0.0] * len(distinct) for _ in range(len(words) + 1)]
    for row, text in enumerate(distinct):
        for word in words_of(text):
            table[0][row] += 1.0
            if (place := places.get(word)) is not None:
                table[place][row] += 1.0
    if not distinct:
        return [pl.Series([0.0] * len(texts), dtype=pl.Float64) for _ in table]
    rows = texts.replace_strict(pl.Series(distinct), pl.Series(range(len(distinct)), dtype=pl.Int64), default=None)
    return [pl.Series(column, dtype=pl.Float64).gather(rows.fill_null(0)).set(rows.is_null(), 0.0) for column in table]
