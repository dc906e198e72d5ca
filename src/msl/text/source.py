"""Source: one text with a name, and Span: a stretch of it, counted in characters."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field

from msl.text.record import record

_LINE_END = re.compile(r"\r\n|\n|\r")


@record
class Span:
    """Characters `start` (included) to `end` (excluded) of a source."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The stretch that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def __lt__(self, other: Span) -> bool:
        """In reading order; of two that start together, the shorter."""
        return (self.start, self.end) < (other.start, other.end)


@record
class Position:
    """A place as people count it: lines and columns from 1, a column being one character."""

    line: int
    column: int


@record
class Source:
    """A text and the name that messages call it by; `path` is where it was read, None for text without a file."""

    name: str
    text: str
    path: str | None = None
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        starts = (0, *(match.end() for match in _LINE_END.finditer(self.text)))
        object.__setattr__(self, "_line_starts", starts)

    def position(self, offset: int) -> Position:
        """Line and column of an offset; one past the end is a place too."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def line_span(self, number: int) -> Span:
        start = self._line_starts[number - 1]
        return Span(start, start + len(self.line(number)))

    @property
    def line_count(self) -> int:
        return len(self._line_starts)

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end]
