"""Paint: terminal colours for messages, or none."""

from __future__ import annotations

from enum import Enum

from msl.text.diagnostic import Severity
from msl.text.record import record


class Style(Enum):
    """What a piece of a message is; the colour follows from it."""

    HEAD = "head"
    MESSAGE = "message"
    GUTTER = "gutter"
    PRIMARY = "primary"
    SECONDARY = "secondary"
    HELP = "help"


_SEVERITY_CODES = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;32"}
_STYLE_CODES = {Style.MESSAGE: "1", Style.GUTTER: "1;34", Style.SECONDARY: "1;34", Style.HELP: "1;36"}


@record
class Paint:
    """Colours the pieces of a message of one severity; without `colour` the text stays as it is."""

    colour: bool
    severity: Severity

    def __call__(self, text: str, style: Style) -> str:
        if not self.colour or not text:
            return text
        code = _STYLE_CODES.get(style) or _SEVERITY_CODES[self.severity]
        return f"\x1b[{code}m{text}\x1b[0m"
