"""Render diagnostics as text, with source lines and underlines (`full`), on one line (`short`), or through `formats`.

The full form of one diagnostic:

    error[MSL021]: `relif` is not a block or part
      --> specs/psms.msl:6:39
      |
    6 | part select = ftest | ttest | aucfs | relif
      |                                       ^^^^^ not found in `clop`, the only one in use
      |
    help: did you mean `relief`?

The primary span is underlined with `^`, others with `-`; a label in another file comes after `::: file:line:column`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import groupby

from msl.diagnostics.diagnostic import Diagnostic, Format, Label, LeftOut, Severity, limited
from msl.diagnostics.source import Source
from msl.diagnostics.terminal import ShownLine, safe, show_line
from msl.record import record


def render(diagnostics: Iterable[Diagnostic], format: Format | str = Format.FULL, colour: bool = False) -> str:
    """All diagnostics as one text, in order, at most 50 of each code and file; `colour` is for `full` and `short`."""
    diagnostics = list(diagnostics)
    match Format(format):
        case Format.FULL:
            shown, left_out = limited(diagnostics)
            return "\n".join([*(full(each, colour) for each in shown), *(_more(each, colour) for each in left_out)])
        case Format.SHORT:
            shown, left_out = limited(diagnostics)
            return "".join([*(short(each, colour) for each in shown), *(_more(each, colour) for each in left_out)])
        case machine:
            from msl.diagnostics import formats

            write = {
                Format.JSON: formats.json_text,
                Format.SARIF: formats.sarif_text,
                Format.GITHUB: formats.github_text,
            }
            return write[machine](diagnostics)


def full(diagnostic: Diagnostic, colour: bool = False) -> str:
    """One diagnostic with the source lines that it is about."""
    return "".join(f"{line}\n" for line in _full_lines(diagnostic, Paint(colour, diagnostic.severity)))


def short(diagnostic: Diagnostic, colour: bool = False) -> str:
    """One diagnostic on one line: `file:line:column: error[CODE]: message`."""
    paint = Paint(colour, diagnostic.severity)
    return f"{_place(diagnostic.primary)}: {_head(diagnostic, paint)}\n"


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty if there are none."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = ((severities.count(severity), severity) for severity in Severity)
    return ", ".join(f"{count} {severity}{'s' if count > 1 else ''}" for count, severity in counts if count)


def _full_lines(diagnostic: Diagnostic, paint: Paint) -> Iterator[str]:
    groups = _by_source(diagnostic)
    last_line = max(mark.line for group in groups for label, primary in group for mark in marks_of(label, primary))
    gutter = len(str(last_line))
    yield _head(diagnostic, paint)
    for arrow, group in zip(["-->", *[":::"] * len(groups)], groups, strict=False):
        if arrow == ":::":
            yield bar(gutter, paint)
        yield f"{' ' * (gutter + 1)}{paint(arrow, Style.GUTTER)} {_place(group[0][0])}"
        yield bar(gutter, paint)
        yield from snippet(group, gutter, paint)
    if diagnostic.help is not None:
        yield bar(gutter, paint)
        first, *more = diagnostic.help.splitlines() or [""]
        yield f"{paint('help', Style.HELP)}: {safe(first)}"
        yield from (f"      {safe(line)}".rstrip() for line in more)


def _more(left_out: LeftOut, colour: bool) -> str:
    """The line that counts the diagnostics of one code beyond the limit."""
    kind = Paint(colour, left_out.severity)(f"{left_out.severity}[{left_out.code}]", Style.HEAD)
    return f"{kind}: and {left_out.count:,} more in {safe(left_out.file)}\n"


def _head(diagnostic: Diagnostic, paint: Paint) -> str:
    kind = paint(f"{diagnostic.severity}[{diagnostic.code}]", Style.HEAD)
    return f"{kind}{paint(': ' + safe(diagnostic.message), Style.MESSAGE)}"


def _place(label: Label) -> str:
    position = label.position
    return f"{safe(label.source.name)}:{position.line}:{position.column}"


def _by_source(diagnostic: Diagnostic) -> list[list[tuple[Label, bool]]]:
    """The labels by source; the source of the primary label comes first."""
    groups: dict[Source, list[tuple[Label, bool]]] = {}
    for label in (diagnostic.primary, *diagnostic.secondary):
        groups.setdefault(label.source, []).append((label, label is diagnostic.primary))
    return list(groups.values())


# --- source lines with underlines and labels --------------------------------------------------------------------------


_LINE_ENDS = "\r\n"


@record
class Mark:
    """Characters `start` to `end` of a line, to be underlined and labelled with `text`."""

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
    """One mark for a span within a line; for a longer span two, its first line and its last, which has the label."""
    text = label.source.text
    start = min(max(label.span.start, 0), len(text))
    end = min(max(label.span.end, start), len(text))
    while end > start and text[end - 1] in _LINE_ENDS:  # a line end at the end of the span does not add a line
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
    """The marked lines of one source, in order, `...` where lines are left out. All labels belong to that source."""
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
    """The vertical bar between line numbers and text."""
    return paint(" " * (gutter + 1) + "|", Style.GUTTER)


def _numbered(number: int, line: ShownLine, gutter: int, paint: Paint) -> str:
    head = paint(f"{number:>{gutter}} |", Style.GUTTER)
    return f"{head} {line.text}".rstrip()


def _underline(mark: Mark, line: ShownLine) -> _Underline:
    start = line.column(mark.start)
    beyond = mark.end - (line.first + len(line.edges) - 1)  # a mark may be one past the end of the line
    end = line.column(mark.end) + (1 if beyond > 0 else 0)
    return _Underline(start, max(end, start + 1), safe(mark.text), mark.primary)


def _underline_rows(underlines: list[_Underline], paint: Paint) -> Iterator[str]:
    """The row of `^^^` and `---` with the label of the rightmost one; the other labels are on rows below."""
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
    """One printed row, filled piece by piece; each character remembers its underline, which decides the colour."""

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


# --- terminal colours -------------------------------------------------------------------------------------------------


class Style(Enum):
    """The kinds of pieces of a message, each with its colour."""

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
    """Colours the pieces of a message of one severity; without `colour` it changes nothing."""

    colour: bool
    severity: Severity

    def __call__(self, text: str, style: Style) -> str:
        if not self.colour or not text:
            return text
        code = _STYLE_CODES.get(style) or _SEVERITY_CODES[self.severity]
        return f"\x1b[{code}m{text}\x1b[0m"
