"""Snippet: the lines of a source that a diagnostic speaks of, each with its underlines and labels below it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from msl.text.columns import ShownLine, safe, show_line
from msl.text.diagnostic import Label
from msl.text.paint import Paint, Style
from msl.text.record import record

_LINE_ENDS = "\r\n"


@record
class Mark:
    """Characters `start` to `end` of a line, underlined, with what to say about them."""

    line: int
    start: int
    end: int
    text: str
    primary: bool


@record
class _Underline:
    """A mark in columns of the printed line."""

    start: int
    end: int
    text: str
    primary: bool


def marks_of(label: Label, primary: bool) -> list[Mark]:
    """One mark for a span on one line; for a longer one, its first line and its last, which carries the label."""
    text = label.source.text
    start = min(max(label.span.start, 0), len(text))
    end = min(max(label.span.end, start), len(text))
    while end > start and text[end - 1] in _LINE_ENDS:  # the line end that a span covers is not a line of its own
        end -= 1
    first, last = label.source.position(start), label.source.position(end)
    first_length = len(label.source.line(first.line))
    from_column = min(first.column - 1, first_length)
    if first.line == last.line:
        return [Mark(first.line, from_column, max(last.column - 1, from_column + 1), label.text, primary)]
    last_line = label.source.line(last.line)
    indent = len(last_line) - len(last_line.lstrip())
    to_column = last.column - 1
    return [
        Mark(first.line, from_column, max(first_length, from_column + 1), "", primary),
        Mark(last.line, min(indent, to_column - 1), to_column, label.text, primary),
    ]


def snippet(labels: list[tuple[Label, bool]], gutter: int, paint: Paint) -> Iterator[str]:
    """The marked lines of one source, in order, `...` where lines are left out. All labels are of that source."""
    source = labels[0][0].source
    by_line: dict[int, list[Mark]] = {}
    for label, primary in labels:
        for mark in marks_of(label, primary):
            by_line.setdefault(mark.line, []).append(mark)
    previous: int | None = None
    for number in sorted(by_line):
        if previous is not None and number == previous + 2:
            yield _numbered(number - 1, show_line(source.line(number - 1), (0, 0)), gutter, paint)
        elif previous is not None and number > previous + 1:
            yield paint("...", Style.GUTTER)
        marks = by_line[number]
        main = next((mark for mark in marks if mark.primary), marks[0])
        line = show_line(source.line(number), (main.start, main.end))
        yield _numbered(number, line, gutter, paint)
        for row in _underline_rows([_underline(mark, line) for mark in marks], paint):
            yield f"{bar(gutter, paint)} {row}"
        previous = number


def bar(gutter: int, paint: Paint) -> str:
    """The line between the numbers and the text."""
    return paint(" " * (gutter + 1) + "|", Style.GUTTER)


def _numbered(number: int, line: ShownLine, gutter: int, paint: Paint) -> str:
    head = paint(f"{number:>{gutter}} |", Style.GUTTER)
    return f"{head} {line.text}".rstrip()


def _underline(mark: Mark, line: ShownLine) -> _Underline:
    start = line.column(mark.start)
    beyond = mark.end - (line.first + len(line.edges) - 1)  # a mark may stand one past the end of the line
    end = line.column(mark.end) + (1 if beyond > 0 else 0)
    return _Underline(start, max(end, start + 1), safe(mark.text), mark.primary)


def _underline_rows(underlines: list[_Underline], paint: Paint) -> Iterator[str]:
    """The row of `^^^` and `---` with the label of the one that reaches farthest; the other labels hang below."""
    row = _Row()
    for underline in sorted(underlines, key=lambda u: u.primary):  # the primary one is drawn over the others
        row.put(underline.start, ("^" if underline.primary else "-") * (underline.end - underline.start), underline)
    beside = max(underlines, key=lambda u: (u.end, bool(u.text), u.start))
    if beside.text:
        row.put(beside.end + 1, beside.text, beside)
    yield row.joined(paint)
    hanging = sorted((u for u in underlines if u.text and u is not beside), key=lambda u: u.start)
    if hanging:
        yield _connectors(hanging).joined(paint)
    while hanging:
        lowest = hanging.pop()
        row = _connectors([u for u in hanging if u.start < lowest.start])
        row.put(lowest.start, lowest.text, lowest)
        yield row.joined(paint)


def _connectors(underlines: list[_Underline]) -> _Row:
    row = _Row()
    for underline in underlines:
        row.put(underline.start, "|", underline)
    return row


class _Row:
    """One printed row, filled from several sides; each character knows whose it is, for its colour."""

    def __init__(self) -> None:
        self.cells: list[tuple[str, bool | None]] = []

    def put(self, column: int, text: str, owner: _Underline) -> None:
        self.cells += [(" ", None)] * (column + len(text) - len(self.cells))
        self.cells[column : column + len(text)] = [(character, owner.primary) for character in text]

    def joined(self, paint: Paint) -> str:
        pieces = []
        for owner, cells in groupby(self.cells, key=lambda cell: cell[1]):
            run = "".join(character for character, _ in cells)
            pieces.append(run if owner is None else paint(run, Style.PRIMARY if owner else Style.SECONDARY))
        return "".join(pieces).rstrip()
