"""The renderers: underlines stand below what they mark, whatever the line holds; counts; colour."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from msl.diagnostics.diagnostic import Diagnostic, Format, Label, Severity
from msl.diagnostics.render import render, summary
from msl.diagnostics.source import Source, Span
from msl.diagnostics.terminal import width

CHARACTERS = st.sampled_from("ab |>é漢字カ한ｆ😀e\u0301\u0308ß")


def diagnostic(source: Source, span: Span, severity: Severity = Severity.ERROR, label: str = "") -> Diagnostic:
    return Diagnostic("MSL001", severity, "a message", Label(source, span, label))


@given(st.text(CHARACTERS))
def test_widths_agree_with_rich(text: str) -> None:
    assert width(text) == sum(cell_len(character) for character in text)


@given(st.text(CHARACTERS, max_size=30), st.text(CHARACTERS, min_size=1, max_size=10), st.text(CHARACTERS, max_size=30))
def test_the_underline_stands_below_the_span(before: str, marked: str, after: str) -> None:
    source = Source("a.msl", f"{before}{marked}{after}")
    lines = render([diagnostic(source, Span(len(before), len(before + marked)))]).splitlines()
    underline = lines[4].removeprefix("  | ")
    cells = [cell_len(character) for character in before + marked]
    assert underline.index("^") == sum(cells[: len(before)])
    assert underline.count("^") == max(1, sum(cells[len(before) :]))


@given(st.text(st.sampled_from("ab\t\n\r漢\u0301"), max_size=40), st.integers(-2, 45), st.integers(-2, 45))
def test_any_span_of_any_text_can_be_shown(text: str, start: int, end: int) -> None:
    shown = render([diagnostic(Source("a.msl", text), Span(start, end), label="here")])
    assert "^" in shown
    assert shown.rstrip().endswith("here")


@given(st.text(st.sampled_from("ab "), min_size=200, max_size=2000), st.data())
def test_a_long_line_is_clipped_and_still_shows_the_span(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(start + 60, len(text))))
    source_line, underline = render([diagnostic(Source("a.msl", text), Span(start, end))]).splitlines()[3:5]
    assert len(source_line) <= len("1 | ") + 122
    assert underline.count("^") == end - start
    first = underline.index("^")
    assert source_line[first : first + end - start].rstrip() == text[start:end].rstrip()


def test_colour_changes_nothing_but_colour() -> None:
    source = Source("a.msl", "part x = a b\nseed 7\n")
    everything = [
        Diagnostic("MSL001", severity, "m", Label(source, Span(9, 10), "one"), (Label(source, Span(5, 6), "two"),), "h")
        for severity in Severity
    ]
    for format in (Format.FULL, Format.SHORT):
        plain, coloured = render(everything, format), render(everything, format, colour=True)
        assert "\x1b" not in plain
        assert "\x1b[" in coloured
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_the_machines_formats_have_no_colour() -> None:
    source = Source("a.msl", "part x = a b\n")
    for format in (Format.JSON, Format.SARIF, Format.GITHUB):
        assert render([diagnostic(source, Span(9, 10))], format, colour=True) == render(
            [diagnostic(source, Span(9, 10))], format
        )


@pytest.mark.parametrize(
    ("errors", "warnings", "notes", "expected"),
    [(0, 0, 0, ""), (1, 0, 0, "1 error"), (2, 1, 0, "2 errors, 1 warning"), (0, 3, 1, "3 warnings, 1 note")],
)
def test_the_summary_counts(errors: int, warnings: int, notes: int, expected: str) -> None:
    counts = {Severity.ERROR: errors, Severity.WARNING: warnings, Severity.NOTE: notes}
    source = Source("a.msl", "seed 7")
    everything = [diagnostic(source, Span(0, 1), severity) for severity, n in counts.items() for _ in range(n)]
    assert summary(everything) == expected


def test_nothing_is_rendered_as_nothing() -> None:
    assert render([]) == render([], "short") == render([], "github") == ""
