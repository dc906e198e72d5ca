"""msl explain: the page of a code, the list of codes, and what to do about a code that is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from msl.blocks.base import load
from msl.data import data_errors
from msl.diagnostics.diagnostic import page, titles
from msl.store import store_error


def test_a_page_is_shown_as_it_is(msl) -> None:
    outcome = msl("explain", "MSL009")
    assert outcome.code == 0
    assert outcome.out == page("MSL009")
    assert outcome.err == ""


@pytest.mark.parametrize("written", ["msl009", "9", "009", "MSL9", " msl009 "])
def test_a_code_may_be_written_short(msl, written: str) -> None:
    assert msl("explain", written).out == page("MSL009")


def test_alone_it_lists_every_code_with_its_title(msl) -> None:
    outcome = msl("explain")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert {f"{code}  {title}" for code, title in titles().items()} <= set(lines)
    assert lines == sorted(lines)
    assert "MSL009  `|`, `>>` and `&` cannot be mixed without parentheses" in lines
    assert all(title for title in titles().values())


@pytest.mark.parametrize("code", ["MSL999", "MSL0099", "E021", "relief", ""])
def test_an_unknown_code_gets_advice(msl, code: str) -> None:
    outcome = msl("explain", code)
    assert (outcome.code, outcome.out) == (2, "")
    assert "is not a code of msl" in outcome.err
    assert "help: " in outcome.err


def test_a_close_code_is_suggested(msl) -> None:
    assert "did you mean" in msl("explain", "MSK009").err


def test_on_a_terminal_the_page_is_laid_out(msl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    outcome = msl("explain", "MSL009")
    assert outcome.code == 0
    assert "\x1b[" in outcome.out
    assert "cannot be mixed without parentheses" in outcome.out
    assert "```" not in outcome.out


@pytest.mark.parametrize("code", ["MSL301", "391", "MSL406", "MSL472", "MSL513"])
def test_a_code_about_a_table_a_class_or_a_store_is_told_in_a_line(msl, code: str) -> None:
    outcome = msl("explain", code)
    assert outcome.code == 0
    assert outcome.out.startswith(f"# MSL{code[-3:]}: ")
    assert f"MSL{code[-3:]}  " in msl("explain").out


def test_every_code_in_the_source_can_be_explained_and_means_one_thing() -> None:
    others = [data_errors.MEANINGS, load.MEANINGS, store_error.MEANINGS]
    known = [*titles(), *(code for meanings in others for code in meanings)]
    assert len(known) == len(set(known))
    source = Path(data_errors.__file__).parents[1]
    written = {code for file in source.rglob("*.py") for code in re.findall(r'"(MSL\d{3})"', file.read_text("utf-8"))}
    assert written <= set(known)
