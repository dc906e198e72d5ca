"""Report: where a check collects what it has to say, each code with its severity."""

from __future__ import annotations

from dataclasses import dataclass, field

from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source, Span


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
        self._say(Severity.ERROR, code, source, span, message, label, help, also)

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
        self._say(Severity.WARNING, code, source, span, message, label, help, also)

    def note(
        self, code: str, source: Source, span: Span, message: str, label: str = "", help: str | None = None
    ) -> None:
        self._say(Severity.NOTE, code, source, span, message, label, help, ())

    @property
    def failed(self) -> bool:
        return any(diagnostic.is_error for diagnostic in self.diagnostics)

    def _say(
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
        self.diagnostics.append(Diagnostic(code, severity, message, Label(source, span, label), also, help))
