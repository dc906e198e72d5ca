"""Problems of a table as plain data, and the exception that carries them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from msl.diagnostics.user_error import UserError

Severity = Literal["error", "warning"]
#: Problems with one code that are reported one by one; a table may have thousands of columns.
_MOST_ALIKE = 4

#: The middle of a longer message is left out: a name or a value in it may be megabytes long.
_MOST_CHARACTERS = 1_000
#: Errors whose codes come after those of warnings.
_LATER_ERRORS = frozenset({"MSL350", "MSL360", "MSL361", "MSL362", "MSL366", "MSL390", "MSL480", "MSL481"})

#: Every code for data, in one line. Codes below MSL330 are errors, so are a few later ones; the others are warnings.
MEANINGS: dict[str, str] = {
    "MSL301": "the data file does not exist",
    "MSL302": "the data file is a folder",
    "MSL303": "the data file cannot be read",
    "MSL304": "the data is empty",
    "MSL305": "the table has column names but no rows",
    "MSL306": "the file is not a text table, nor Parquet or Arrow",
    "MSL307": "the text is not UTF-8, or has characters that no text has",
    "MSL308": "the file is damaged",
    "MSL309": "a row has more or fewer fields than the table has columns",
    "MSL310": "a quote is opened and not closed, or text follows a closing quote",
    "MSL311": "the table has no column to learn from",
    "MSL312": "an option names a column that the table does not have",
    "MSL314": "options contradict each other, or have a value that cannot be",
    "MSL315": "dates or times stand where they cannot be used, or are lacking where they should stand",
    "MSL316": "a column holds values that are neither numbers nor symbols",
    "MSL317": "a column that has to be numeric holds text",
    "MSL318": "a column holds infinite numbers",
    "MSL319": "the target is missing in some rows",
    "MSL320": "the target has a single value",
    "MSL321": "the task does not fit the target",
    "MSL322": "the positive class does not fit the target",
    "MSL323": "the column of groups or of the order has missing values",
    "MSL324": "the column of the order holds neither numbers nor dates",
    "MSL325": "a table lacks columns that the model was trained on",
    "MSL326": "a table has classes that the model was not trained on",
    "MSL327": "arrays do not have the shape of a table",
    "MSL330": "the file has no row of column names",
    "MSL331": "several columns have the same name",
    "MSL332": "a column has no name",
    "MSL333": "a column is constant",
    "MSL334": "a column has no values at all",
    "MSL335": "a column looks like an identifier",
    "MSL336": "whole numbers are too large to be told apart as reals",
    "MSL337": "a column is taken as symbolic though it is one of numbers, but for a few texts or signs around them",
    "MSL338": "a symbol looks like a missing value",
    "MSL339": "some columns have decimal commas, others decimal points",
    "MSL350": "the column of folds cannot be used",
    "MSL360": "the target looks like numbers, but would be taken for classes",
    "MSL361": "the table has more columns than can be read",
    "MSL362": "the name of a column is too long",
    "MSL363": "among dates stands something else",
    "MSL364": "the first number of a date may be the day or the month",
    "MSL365": "some lines of the file are not UTF-8",
    "MSL366": "a column that should hold text holds numbers",
    "MSL367": "lines above the names of the columns are left out",
    "MSL368": "classes differ only in capital letters or blanks",
    "MSL480": "the order of a column lacks symbols that it holds",
    "MSL481": "the order of the symbols of a column is not plain",
    "MSL390": "the weight of a row is no positive number",
    "MSL470": "a class has a single row",
    "MSL471": "a column has symbols that the model was not trained on",
    "MSL472": "a table has columns that the model was not trained on",
    "MSL473": "rows with more or fewer fields than there are columns are left out",
}


@dataclass(frozen=True, slots=True)
class DataProblem:
    """One thing wrong with a table.

    `row` counts the rows of data from 1; `line` counts the lines of the file from 1, where a line can be named.
    """

    code: str
    severity: Severity
    message: str
    help: str
    column: str | None = None
    row: int | None = None
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}]: {self.message}\nhelp: {self.help}"


class DataError(UserError):
    """A table that cannot be used; `problems` says why, all of it at once where possible."""

    def __init__(self, problems: Iterable[DataProblem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__("; ".join(each.message for each in self.problems), first.help or None)
        self.args = (self.problems,)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def problem(
    code: str,
    message: str,
    help: str,
    *,
    column: str | None = None,
    row: int | None = None,
    line: int | None = None,
) -> DataProblem:
    """The problem with this code, whose severity follows from the code."""
    if code not in MEANINGS:
        raise KeyError(code)
    severity: Severity = "error" if code < "MSL330" or code in _LATER_ERRORS else "warning"
    return DataProblem(code, severity, _cut(message), _cut(help), column, row, line)


def _cut(text: str) -> str:
    if len(text) <= _MOST_CHARACTERS:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]} … {text[-half:]}"


def raise_errors(problems: Iterable[DataProblem]) -> None:
    """Raises all errors among the problems as one exception; warnings pass."""
    errors = [each for each in problems if each.severity == "error"]
    if errors:
        raise DataError(condensed(errors))


def condensed(problems: Iterable[DataProblem]) -> list[DataProblem]:
    """The problems; of those with one code the first few, and the others as one."""
    by_code: dict[str, list[DataProblem]] = {}
    for each in problems:
        by_code.setdefault(each.code, []).append(each)
    found: list[DataProblem] = []
    for code, alike in by_code.items():
        found += alike[:_MOST_ALIKE]
        if rest := alike[_MOST_ALIKE:]:
            names = listed(f"`{each.column}`" for each in rest if each.column is not None)
            found.append(
                problem(code, f"{MEANINGS[code]}: so it is {len(rest)} times more, with {names}", rest[0].help)
            )
    return found


def in_spec(*texts: str) -> str:
    """The texts as a spec would write them in a list."""
    return ", ".join(json.dumps(text, ensure_ascii=False) for text in texts)


def one_of(names: Sequence[str]) -> str:
    """`a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def listed(items: Iterable[object], shown: int = 5) -> str:
    """`a, b and c`, or `a, b, … (17 in all)`: a list that stays short in a message."""
    texts = [str(item) for item in items]
    if len(texts) > shown:
        return f"{', '.join(texts[:shown])}, … ({len(texts)} in all)"
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
