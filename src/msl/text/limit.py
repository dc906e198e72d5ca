"""Limit: how many diagnostics of one code a file may show — the rest is a count, in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msl.text.diagnostic import Diagnostic, Severity
from msl.text.record import record

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
