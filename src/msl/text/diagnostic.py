"""Diagnostic: one thing to tell the user, as data; every renderer starts from it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msl.text.record import record
from msl.text.source import Position, Source, Span


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
