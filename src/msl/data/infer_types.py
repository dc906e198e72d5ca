"""Infer the kind of a column, numeric or categorical, and convert its values."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from msl.data.data_errors import DataProblem, in_spec, problem
from msl.data.options import Label

# --- markers of missing values ---


#: Missing values in a column of numbers or booleans, in upper or lower case.
_USUAL = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?", "-", "."})
#: Those that are hardly ever a category; `none` or `-` often are.
_SUSPICIOUS = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "null", "?"})


def is_usual(text: str) -> bool:
    return text.strip().lower() in _USUAL


def is_suspicious(symbol: str) -> bool:
    return symbol.lower() in _SUSPICIOUS


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers that the user gives: compared as text in text, and by value among numbers."""

    texts: frozenset[str]
    numbers: tuple[float, ...]

    @classmethod
    def given(cls, labels: Iterable[Label]) -> Markers:
        texts = frozenset(str(label).strip() for label in labels)
        return cls(texts, tuple(sorted(number for text in texts if (number := _number(text)) is not None)))


#: Used if the user gives no markers.
NONE = Markers(frozenset(), ())


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


# --- kinds of columns ---


#: Of an ordered column the symbols have an order, in which they are numbered.
Kind = Literal["numeric", "symbolic", "ordered"]

#: Dates and times as people and programs write them: 2024-01-31T12:00:00Z, 31.1.2024, 1/31/24 12:00, 12:00:30.
DATE_OR_TIME = (
    r"^([0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2}))"
    r"([T ]\s*[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(\s*[AaPp][Mm])?\s*(Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
    r"|^[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?(\s*[AaPp][Mm])?$"
    r"|^(?i)([0-9]{1,4}(st|nd|rd|th)?[ ./-]?)?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[ .,/-]{0,2}"
    r"([0-9]{1,2}(st|nd|rd|th)?[ ,./-]{1,2})?[0-9]{2,4}$"
)
_CURRENCY = r"[€$£¥]|EUR|USD|GBP|CHF"
#: Numbers with signs around them, by the decimal sign: 12 %, $1,200.50, 1 200 €; 1.234,50 EUR.
_SIGNED = {
    decimal: rf"^({_CURRENCY})?\s?[+-]?\s?({_CURRENCY})?\s?([0-9]{{1,3}}([{thousands}'’\s][0-9]{{3}})+|[0-9]+)"
    rf"({re.escape(decimal)}[0-9]+)?\s?(%|{_CURRENCY})?$"
    for decimal, thousands in ((".", ","), (",", "."))
}
#: What such a number may contain besides its digits, its decimal sign and its minus.
_AROUND = {".": rf"{_CURRENCY}|[%+,'’\s]", ",": rf"{_CURRENCY}|[%+.'’\s]"}
_TEXT_TYPES = (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null)
#: Different whole numbers above this may be equal as floats.
_EXACT = 2.0**53
#: With at least this share of numbers, the texts among them are probably mistakes.
_MOSTLY = 0.9
#: With this share as well, if there are many different numbers and few different texts.
_LARGELY, _DIFFERENT, _FEW = 0.5, 10, 2


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column of known kind: floats or text, null if missing."""

    name: str
    kind: Kind
    values: pl.Series
    #: The decimal sign with which its text became numbers.
    decimal: str = "."
    problems: tuple[DataProblem, ...] = ()


def unusable_columns(columns: Mapping[str, pl.Series]) -> Iterator[DataProblem]:
    """The problems of columns whose types are neither numeric nor categorical: lists, structures, bytes, objects."""
    for name, column in columns.items():
        dtype = column.dtype
        if not (dtype.is_numeric() or dtype.is_temporal() or dtype in _TEXT_TYPES):
            message = f"column `{name}` holds values of type {dtype}, which are neither numbers nor symbols"
            help = f"ignore = [{in_spec(name)}], or turn it into columns of numbers or text"
            yield problem("MSL316", message, help, column=name)


def type_column(
    name: str,
    column: pl.Series,
    wanted: Kind | None = None,
    given: Markers = NONE,
    decimals: Sequence[str] = (".",),
    signed: Sequence[str] = (),
) -> TypedColumn:
    """The column with the given kind, or the inferred one; errors and warnings are in its problems.

    `signed` are the decimal signs of numbers with other signs around them (`$1,200`): where the column has to be
    numeric these are read as numbers too.
    """
    dtype = column.dtype
    if dtype == pl.Null:
        return TypedColumn(name, "numeric", column.cast(pl.Float64))
    if dtype.is_temporal() and wanted != "symbolic":
        return TypedColumn(name, "symbolic", column, problems=(_dates(name),))
    if dtype.is_numeric() and wanted != "symbolic":
        numbers = _without_markers(column, given)
        return TypedColumn(name, "numeric", numbers, problems=_rounding(name, column, numbers))
    if dtype in (pl.Categorical, pl.Enum):
        wanted = wanted or "symbolic"
    return _type_text(name, column_text(column, given), wanted, given, decimals, signed)


def column_text(column: pl.Series, given: Markers) -> pl.Series:
    """The values as stripped text, null if missing; numbers in the canonical form of categories."""
    if column.dtype.is_numeric():
        return _spelt(column, _without_markers(column, given))
    texts = column.cast(pl.String).str.strip_chars()
    return texts.set(texts.is_in(["", *sorted(given.texts)]), None)


def _without_markers(numbers: pl.Series, given: Markers) -> pl.Series:
    numbers = numbers.cast(pl.Float64)
    total = numbers.sum()  # much faster than searching for NaN in very many columns
    numbers = numbers.fill_nan(None) if total != total else numbers
    return numbers.set(numbers.is_in(given.numbers), None) if given.numbers else numbers


def _type_text(
    name: str, texts: pl.Series, wanted: Kind | None, given: Markers, decimals: Sequence[str], signed: Sequence[str]
) -> TypedColumn:
    stated = texts.set(texts.is_in(usual_markers(texts)), None)
    if stated.null_count() == len(stated) and wanted != "symbolic":
        return TypedColumn(name, "numeric", stated.cast(pl.Float64))
    for decimal in decimals:
        numbers = _numbers(stated, decimal)
        if numbers.null_count() == stated.null_count():
            if wanted == "symbolic":
                return TypedColumn(name, "symbolic", _spelt(stated.str.replace(decimal, ".", literal=True), numbers))
            problems = _rounding(name, stated, numbers)
            return TypedColumn(name, "numeric", _without_markers(numbers, given), decimal, problems)
    lower = stated.str.to_lowercase()
    if lower.drop_nulls().is_in(["true", "false"]).all():
        truths = (lower == "true").cast(pl.Float64)
        return TypedColumn(name, "numeric", truths) if wanted == "numeric" else TypedColumn(name, "symbolic", lower)
    if wanted == "numeric" and (found := signed_numbers(stated, signed)) is not None:
        return TypedColumn(name, "numeric", _without_markers(found.numbers, given), found.decimal)
    numbers = max((_numbers(stated, decimal) for decimal in decimals), key=lambda each: -each.null_count())
    if wanted == "numeric":
        return TypedColumn(name, "numeric", numbers, problems=(_text_in_numbers(name, stated, numbers),))
    if wanted is None and stated.drop_nulls().str.contains(DATE_OR_TIME).all():
        return TypedColumn(name, "symbolic", stated, problems=(_dates(name),))
    warnings = () if wanted else _symbol_warnings(name, texts, stated, numbers)
    return TypedColumn(name, "symbolic", texts, problems=warnings)


@dataclass(frozen=True, slots=True)
class SignedNumbers:
    """Texts such as `$1,200` or `12 %` as numbers, and the decimal sign they were read with."""

    numbers: pl.Series
    decimal: str


def signed_numbers(texts: pl.Series, decimals: Iterable[str] = (".", ",")) -> SignedNumbers | None:
    """The numbers in texts with signs around them, by the first decimal sign that fits all; None if none does.

    The signs have to be the same in all rows: `12 %` beside `0.12`, or dollars beside euros, are no one column of
    numbers.
    """
    stated = texts.drop_nulls()
    if stated.is_empty() or stated.str.starts_with("(").all():
        return None
    texts, stated = _with_minus(texts), _with_minus(stated)
    for decimal in decimals:
        if not stated.str.contains(_SIGNED[decimal]).all():
            continue
        units = stated.str.extract(f"(%|{_CURRENCY})")
        if units.drop_nulls().n_unique() > 1 or (units == "%").sum() not in (0, len(units)):
            return None
        bare = texts.str.replace_all(_AROUND[decimal], "").str.replace(decimal, ".", literal=True)
        return SignedNumbers(bare.cast(pl.Float64, strict=False), decimal)
    return None


def _with_minus(texts: pl.Series) -> pl.Series:
    """The texts, with a minus for the brackets of bookkeepers: (1,200) is -1,200."""
    return texts.str.replace(r"^\((.*)\)$", "-$1")


#: Free text has at least this many words on average, this many different values, and this share of the rows.
_WORDS, _DIFFERENT_TEXTS, _SHARE = 3.0, 20, 0.2


def is_free_text(texts: pl.Series) -> bool:
    """Whether the values are sentences or lists of words rather than categories."""
    present = texts.drop_nulls()
    if len(present) < _DIFFERENT_TEXTS or present.n_unique() < max(_DIFFERENT_TEXTS, _SHARE * len(present)):
        return False
    words = present.str.count_matches(r"\S+").mean()
    return isinstance(words, float) and words >= _WORDS


def usual_markers(texts: pl.Series) -> list[str]:
    """The usual markers of missing values among the texts, as they are written there."""
    # No marker is longer than five characters, so that most values need not be examined.
    short = texts.filter(texts.str.len_bytes() <= 5).unique()
    return [text for text in short.drop_nulls() if is_usual(text)]


def _numbers(texts: pl.Series, decimal: str) -> pl.Series:
    if decimal == ",":
        texts = texts.set(texts.str.contains(".", literal=True), None).str.replace(",", ".", literal=True)
    return texts.cast(pl.Float64, strict=False)


def _spelt(column: pl.Series, numbers: pl.Series) -> pl.Series:
    """Numbers as categories: `1`, `1.0` and `01` are the same, and whole numbers keep all their digits."""
    distinct = column.filter(numbers.is_not_null()).unique().drop_nulls()
    spelling = {value: spell_number(value) for value in distinct}
    spelt = [spelling.get(value) for value in column.to_list()] if spelling else [None] * len(column)
    return pl.Series(spelt, dtype=pl.String)


def spell_number(value: object) -> str:
    """The canonical text of a number that is a category."""
    text = str(value)
    try:
        return str(int(text))
    except ValueError:
        number = float(text)
        return str(int(number)) if number.is_integer() and abs(number) < _EXACT else repr(number)


def sort_symbols(symbols: Iterable[str]) -> list[str]:
    """Categories in numerical order if all are numbers, else in alphabetical order."""
    symbols = sorted(symbols)
    try:
        numbers = {symbol: float(symbol) for symbol in symbols}
    except ValueError:
        return symbols
    return sorted(symbols, key=numbers.__getitem__) if all(map(math.isfinite, numbers.values())) else symbols


def is_beyond_exact(numbers: pl.Series) -> bool:
    """Whether there are whole numbers too large to be represented exactly as floats."""
    return any(isinstance(end, float) and abs(end) >= _EXACT for end in (numbers.min(), numbers.max()))


def _rounding(name: str, exact: pl.Series, numbers: pl.Series) -> tuple[DataProblem, ...]:
    """A warning if different whole numbers have become the same float."""
    if not (exact.dtype.is_integer() or exact.dtype == pl.String) or not is_beyond_exact(numbers):
        return ()
    whole = exact if exact.dtype.is_integer() else exact.filter(exact.str.contains("^[+-]?[0-9]+$"))
    if whole.n_unique() == whole.cast(pl.Float64).n_unique():
        return ()
    message = f"column `{name}` has whole numbers beyond 2^53, some of which become the same real number"
    help = f"if they are codes, write categorical = [{in_spec(name)}], or ignore it"
    return (problem("MSL336", message, help, column=name),)


def _dates(name: str) -> DataProblem:
    return problem(
        "MSL315",
        f"column `{name}` holds dates or times, which can be neither the target nor a kind of number",
        f"name another target, or write data(categorical = [{in_spec(name)}]) if they are names of classes",
        column=name,
    )


def _text_in_numbers(name: str, stated: pl.Series, numbers: pl.Series) -> DataProblem:
    rows = (stated.is_not_null() & numbers.is_null()).arg_true()
    first = rows[0]
    shown = [f"row {row + 1} holds {stated[row]!r}" for row in rows[:3]]
    more = f", … ({len(rows):,} rows in all)" if len(rows) > len(shown) else ""
    message = f"column `{name}` has to be numeric, but {', '.join(shown)}{more}"
    help = f"correct the value, or write missing = [{in_spec(stated[first])}] if it means that the value is missing"
    if 2 * len(rows) > len(stated) - stated.null_count():
        texts = stated.drop_nulls()
        kind = "dates" if 2 * texts.str.contains(DATE_OR_TIME).sum() > len(texts) else "categorical"
        help = f"it hardly holds numbers: write {kind} = [{in_spec(name)}] instead"
    return problem("MSL317", message, help, column=name, row=first + 1)


def _disguised(name: str, stated: pl.Series, numbers: pl.Series) -> DataProblem | None:
    """The warning of numbers with signs around them, with the option that reads them as numbers."""
    if not _with_minus(stated.drop_nulls()).str.contains(f"{_SIGNED['.']}|{_SIGNED[',']}").all():
        return None
    row = (stated.is_not_null() & numbers.is_null()).arg_true()[0]
    message = f"column `{name}` is taken as symbolic: its numbers have signs around them, as in {stated[row]!r}"
    codes = f"write categorical = [{in_spec(name)}] if they are codes"
    found = signed_numbers(stated)
    help = f"leave the digits and one decimal sign, or {codes}"
    if found is not None:
        meant = spell_number(found.numbers[row])
        help = f"write numeric = [{in_spec(name)}] to read it as {meant} and the others alike, or {codes}"
    return problem("MSL337", message, help, column=name, row=row + 1)


def _are_numbers_with_mistakes(stated: pl.Series, numbers: pl.Series) -> bool:
    count, total = numbers.len() - numbers.null_count(), stated.len() - stated.null_count()
    if count >= _MOSTLY * total:
        return True
    texts = stated.filter(stated.is_not_null() & numbers.is_null())
    different = numbers.drop_nulls().n_unique()
    return count >= _LARGELY * total and texts.n_unique() <= _FEW and different > max(_DIFFERENT, count // 2)


def _symbol_warnings(name: str, texts: pl.Series, stated: pl.Series, numbers: pl.Series) -> tuple[DataProblem, ...]:
    if _are_numbers_with_mistakes(stated, numbers):
        row = (stated.is_not_null() & numbers.is_null()).arg_true()[0]
        message = f"column `{name}` is taken as symbolic: of its numbers, row {row + 1} holds {stated[row]!r}"
        help = f"correct the value, or write missing = [{in_spec(stated[row])}] if it means that the value is missing"
        return (problem("MSL337", message, help, column=name, row=row + 1),)
    if (disguised := _disguised(name, stated, numbers)) is not None:
        return (disguised,)
    suspects = sorted(text for text in usual_markers(texts) if is_suspicious(text))
    return tuple(
        problem(
            "MSL338",
            f"column `{name}` is symbolic, and `{suspect}` one of its symbols",
            f"write missing = [{in_spec(suspect)}] if it means that the value is missing",
            column=name,
        )
        for suspect in suspects
    )
