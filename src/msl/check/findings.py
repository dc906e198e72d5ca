"""Collect the diagnostics of a check."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span

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
