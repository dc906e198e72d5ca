"""Diagnostic: one thing to tell the user, as data; every renderer starts from it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from pathlib import Path

from msl.diagnostics.source import Position, Source, Span
from msl.record import record


class Severity(StrEnum):
    """How bad it is: an error stops the command, a warning and a note do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@record
class Label:
    """A place in a source and what to say about it."""

    source: Source
    span: Span
    text: str = ""

    @property
    def position(self) -> Position:
        return self.source.position(self.span.start)

    @property
    def end_position(self) -> Position:
        return self.source.position(self.span.end)


@record
class Diagnostic:
    """A stable code, one sentence in the user's words, where it is, and what to write instead."""

    code: str
    severity: Severity
    message: str
    primary: Label
    secondary: tuple[Label, ...] = ()
    help: str | None = None

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.is_error for diagnostic in diagnostics)


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file (in the order first met), then by place; what is said twice is kept once."""
    files: dict[str, int] = {}
    distinct = list(dict.fromkeys(diagnostics))
    for diagnostic in distinct:
        files.setdefault(diagnostic.primary.source.name, len(files))
    return sorted(distinct, key=lambda d: (files[d.primary.source.name], d.primary.span, d.code))


# --- Limit: how many diagnostics of one code a file may show — the rest is a count, in every format. ------------------


MOST_OF_A_CODE = 50


@record
class LeftOut:
    """How many more diagnostics of one code a file has than are shown."""

    file: str
    code: str
    severity: Severity
    count: int

    @property
    def text(self) -> str:
        """`19,950 more of MSL224 in big.msl`."""
        return f"{self.count:,} more of {self.code} in {self.file}"


def limited(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], list[LeftOut]]:
    """The diagnostics to show, in their order, and what is left out."""
    met: Counter[tuple[str, str, Severity]] = Counter()
    shown = []
    for diagnostic in diagnostics:
        key = (diagnostic.primary.source.name, diagnostic.code, diagnostic.severity)
        met[key] += 1
        if met[key] <= MOST_OF_A_CODE:
            shown.append(diagnostic)
    return shown, [LeftOut(*key, count - MOST_OF_A_CODE) for key, count in met.items() if count > MOST_OF_A_CODE]


# --- Format: the ways in which diagnostics can be written. ------------------------------------------------------------


class Format(StrEnum):
    """How diagnostics are written."""

    FULL = "full"
    SHORT = "short"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"

    @property
    def for_people(self) -> bool:
        return self in (Format.FULL, Format.SHORT)


# --- Codes: the page of each diagnostic code, a Markdown file whose first line is `# CODE: title`. --------------------


_PAGES = Path(__file__).parent / "pages"
_TITLE = re.compile(r"#+\s*(?:`?MSL\d+`?)?\s*[:.–—-]?\s*(.*)")


@cache
def titles() -> dict[str, str]:
    """Every code that has a page, in order, with the page's title."""
    codes = sorted(file.stem for file in _PAGES.glob("*.md"))
    return {code: _title(page(code)) for code in codes}


def page(code: str) -> str:
    """The page of a code, as Markdown."""
    return (_PAGES / f"{code}.md").read_text(encoding="utf-8")


def _title(text: str) -> str:
    match = _TITLE.match(text)
    return match[1].strip() if match else ""
