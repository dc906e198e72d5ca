"""Conflict marks: what git leaves in a file whose two sides it could not merge."""

from __future__ import annotations

import re

from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source, Span

_MARK = re.compile(r"^(?:<{7}|>{7})(?!\S)[^\r\n]*|^(?:={7}|\|{7})(?!\S)[^\r\n]*", re.MULTILINE)
_MOST_SHOWN = 4


def conflict_marks(source: Source) -> Diagnostic | None:
    """One message for a file that holds such marks; nothing of the rest means what it says."""
    if "<<<<<<<" not in source.text and ">>>>>>>" not in source.text:
        return None
    marks = [Span(*match.span()) for match in _MARK.finditer(source.text)]
    sides = [mark for mark in marks if source.text[mark.start] in "<>"]
    if not sides:
        return None
    first, *others = marks[marks.index(sides[0]) :]
    conflicts = max(sum(source.text[mark.start] == sign for mark in sides) for sign in "<>")
    what = "a merge that git left open" if conflicts == 1 else f"{conflicts} merges that git left open"
    also = tuple(Label(source, mark, "") for mark in others[:_MOST_SHOWN])
    help = "keep one of the two sides, and remove the lines that git marked them with"
    message = f"this file holds {what}"
    return Diagnostic("MSL034", Severity.ERROR, message, Label(source, first, "one side begins here"), also, help)
