"""Source and suggestions: lines and columns as people count them, names as people misspell them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity, in_reading_order
from msl.diagnostics.source import Source, Span
from msl.diagnostics.suggest import closest, did_you_mean, listing


@given(st.text(st.sampled_from("ab漢\n\r"), max_size=30))
def test_positions_agree_with_a_walk_over_the_text(text: str) -> None:
    source = Source("a", text)
    line = column = 1
    for offset, character in enumerate(text):
        position = source.position(offset)
        assert (position.line, position.column) == (line, column)
        ends = character == "\n" or (character == "\r" and text[offset + 1 : offset + 2] != "\n")
        line, column = (line + 1, 1) if ends else (line, column + 1)
    assert source.line_count == line


@given(st.text(st.sampled_from("ab\n\r"), max_size=30))
def test_lines_agree_with_a_split(text: str) -> None:
    source = Source("a", text)
    assert [source.line(n) for n in range(1, source.line_count + 1)] == re.split(r"\r\n|\n|\r", text)
    for number in range(1, source.line_count + 1):
        assert source.slice(source.line_span(number)) == source.line(number)


def test_diagnostics_come_in_reading_order_and_once() -> None:
    one, two = Source("one", "abc"), Source("two", "abc")

    def at(source: Source, start: int) -> Diagnostic:
        return Diagnostic("MSL001", Severity.ERROR, "m", Label(source, Span(start, start + 1)))

    shuffled = [at(two, 1), at(one, 2), at(two, 0), at(two, 1), at(one, 0)]
    assert in_reading_order(shuffled) == [at(two, 0), at(two, 1), at(one, 0), at(one, 2)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [("relif", "relief"), ("Relief", "relief"), ("reilef", "relief"), ("odds-ratio", "odds_ratio"), ("svcs", "svc")],
)
def test_a_slip_finds_its_name(written: str, meant: str) -> None:
    names = ["relief", "rffs", "svc", "svcrfe", "odds_ratio", "pearson"]
    assert closest(written, names)[0] == meant
    assert f"`{meant}`" in (did_you_mean(written, names) or "")


def test_no_suggestion_for_what_is_not_close() -> None:
    assert did_you_mean("transformer", ["svc", "rf"]) is None
    assert closest("x" * 1000, ["x" * 1000]) == []


def test_a_long_list_is_cut() -> None:
    assert listing(["b", "a"]) == "`a`, `b`"
    assert listing([f"n{i}" for i in range(10, 30)], most=2) == "`n10`, `n11` and 18 more"
