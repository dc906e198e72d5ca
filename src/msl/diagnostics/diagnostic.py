"""Define diagnostics (code, message, location, help), collect them, limit how many are shown, and read their pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
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
    """A span of a source, with an optional text about it."""

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
    """A stable code, a one-sentence message, the location, and a help text that says what to write instead."""

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
    """Sorted by file (in the order of first appearance), then by position; duplicates are dropped."""
    files: dict[str, int] = {}
    distinct = list(dict.fromkeys(diagnostics))
    for diagnostic in distinct:
        files.setdefault(diagnostic.primary.source.name, len(files))
    return sorted(distinct, key=lambda d: (files[d.primary.source.name], d.primary.span, d.code))


# --- report: the diagnostics of one check are collected here ----------------------------------------------------------


_LONGEST_QUOTE = 200
_LONG_QUOTE = re.compile(rf"`([^`]{{{_LONGEST_QUOTE}}})[^`]+`")


@dataclass(slots=True)
class Report:
    """The diagnostics of one check, in the order found."""

    diagnostics: list[Diagnostic] = field(default_factory=list)

    def error(
        self,
        code: str,
        source: Source,
        span: Span,
        message: str,
        label: str = "",
        help: str | None = None,
        also: tuple[Label, ...] = (),
    ) -> None:
        self._add(Severity.ERROR, code, source, span, message, label, help, also)

    def warning(
        self,
        code: str,
        source: Source,
        span: Span,
        message: str,
        label: str = "",
        help: str | None = None,
        also: tuple[Label, ...] = (),
    ) -> None:
        self._add(Severity.WARNING, code, source, span, message, label, help, also)

    def note(
        self, code: str, source: Source, span: Span, message: str, label: str = "", help: str | None = None
    ) -> None:
        self._add(Severity.NOTE, code, source, span, message, label, help, ())

    @property
    def failed(self) -> bool:
        return any(diagnostic.is_error for diagnostic in self.diagnostics)

    def _add(
        self,
        severity: Severity,
        code: str,
        source: Source,
        span: Span,
        message: str,
        label: str,
        help: str | None,
        also: tuple[Label, ...],
    ) -> None:
        where = Label(source, span, _bounded(label))
        help = None if help is None else _bounded(help)
        self.diagnostics.append(Diagnostic(code, severity, _bounded(message), where, also, help))


def _bounded(text: str) -> str:
    """The text with long quotations cut."""
    return text if len(text) <= _LONGEST_QUOTE else _LONG_QUOTE.sub(r"`\1…`", text)


# --- limit: the diagnostics of one code in one file that are shown; the rest are only counted -------------------------


MOST_OF_A_CODE = 50


@record
class LeftOut:
    """How many diagnostics of one code in one file are not shown."""

    file: str
    code: str
    severity: Severity
    count: int

    @property
    def text(self) -> str:
        """`19,950 more of MSL224 in big.msl`."""
        return f"{self.count:,} more of {self.code} in {self.file}"


def limited(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], list[LeftOut]]:
    """The diagnostics to show, in their order, and how many are left out."""
    met: Counter[tuple[str, str, Severity]] = Counter()
    shown = []
    for diagnostic in diagnostics:
        key = (diagnostic.primary.source.name, diagnostic.code, diagnostic.severity)
        met[key] += 1
        if met[key] <= MOST_OF_A_CODE:
            shown.append(diagnostic)
    return shown, [LeftOut(*key, count - MOST_OF_A_CODE) for key, count in met.items() if count > MOST_OF_A_CODE]


# --- output formats ---------------------------------------------------------------------------------------------------


class Format(StrEnum):
    """The output formats of diagnostics."""

    FULL = "full"
    SHORT = "short"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"

    @property
    def for_people(self) -> bool:
        return self in (Format.FULL, Format.SHORT)


# --- pages: a Markdown file for each code, whose first line is `# CODE: title` ----------------------------------------


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
