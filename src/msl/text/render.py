"""Render: diagnostics as text, for people (`full`, `short`) and, through `formats`, for machines.

The full form, for one diagnostic:

    error[MSL021]: `relif` is not a block or part
      --> specs/psms.msl:6:39
      |
    6 | part select = ftest | ttest | aucfs | relif
      |                                       ^^^^^ not found in `clop`, the only catalogue in use
      |
    help: did you mean `relief`?

The primary span is underlined with `^`, others with `-`; a label in another file comes after `::: file:line:column`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msl.text.columns import safe
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.format import Format
from msl.text.limit import LeftOut, limited
from msl.text.paint import Paint, Style
from msl.text.snippet import bar, marks_of, snippet
from msl.text.source import Source


def render(diagnostics: Iterable[Diagnostic], format: Format | str = Format.FULL, colour: bool = False) -> str:
    """Diagnostics in one text, in their order, no more than 50 of one code and file; `colour` is for people alone."""
    diagnostics = list(diagnostics)
    match Format(format):
        case Format.FULL:
            shown, left_out = limited(diagnostics)
            return "\n".join([*(full(each, colour) for each in shown), *(_more(each, colour) for each in left_out)])
        case Format.SHORT:
            shown, left_out = limited(diagnostics)
            return "".join([*(short(each, colour) for each in shown), *(_more(each, colour) for each in left_out)])
        case machine:
            from msl.text import formats

            write = {
                Format.JSON: formats.json_text,
                Format.SARIF: formats.sarif_text,
                Format.GITHUB: formats.github_text,
            }
            return write[machine](diagnostics)


def full(diagnostic: Diagnostic, colour: bool = False) -> str:
    """One diagnostic with the source lines that it speaks of."""
    return "".join(f"{line}\n" for line in _full_lines(diagnostic, Paint(colour, diagnostic.severity)))


def short(diagnostic: Diagnostic, colour: bool = False) -> str:
    """One diagnostic on one line: `file:line:column: error[CODE]: message`."""
    paint = Paint(colour, diagnostic.severity)
    return f"{_place(diagnostic.primary)}: {_head(diagnostic, paint)}\n"


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty when there is nothing to count."""
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
    """The line that stands for diagnostics of one code beyond the limit."""
    kind = Paint(colour, left_out.severity)(f"{left_out.severity}[{left_out.code}]", Style.HEAD)
    return f"{kind}: and {left_out.count:,} more in {safe(left_out.file)}\n"


def _head(diagnostic: Diagnostic, paint: Paint) -> str:
    kind = paint(f"{diagnostic.severity}[{diagnostic.code}]", Style.HEAD)
    return f"{kind}{paint(': ' + safe(diagnostic.message), Style.MESSAGE)}"


def _place(label: Label) -> str:
    position = label.position
    return f"{safe(label.source.name)}:{position.line}:{position.column}"


def _by_source(diagnostic: Diagnostic) -> list[list[tuple[Label, bool]]]:
    """The labels of each source, the primary one's first."""
    groups: dict[Source, list[tuple[Label, bool]]] = {}
    for label in (diagnostic.primary, *diagnostic.secondary):
        groups.setdefault(label.source, []).append((label, label is diagnostic.primary))
    return list(groups.values())
