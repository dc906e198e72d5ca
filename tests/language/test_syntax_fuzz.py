"""Mutated and truncated specs: never a crash, every message has a place inside the file and speaks plain words.

`MSL_FUZZ_CASES` sets how many cases are tried, 2,000 when absent; each is made from its number alone.
"""

from __future__ import annotations

import os
import re

import pytest
from mutations import case

from msl.diagnostics.diagnostic import Format
from msl.diagnostics.render import render
from msl.diagnostics.source import Source
from msl.language.formatter import format_source
from msl.language.parser import text_to_ast

CASES = int(os.environ.get("MSL_FUZZ_CASES", "2000"))
BATCH = 500
#: Names of terminals and rules, as the grammar and Lark spell them.
_INTERNAL = re.compile(
    r"\b(__ANON\w*|LPAR|RPAR|LSQB|RSQB|LBRACE|RBRACE|THROUGH|BAR|AMPERSAND|QUESTION|DOTDOT|DOT|COLON|EQUALS|COMPARE|PLUS"
    r"|MINUS|STAR|SLASH|COMMA|CALL|NAME|NUMBER|STRING|OPEN_STRING|QUOTED|DOUBLED|UNKNOWN|UnexpectedToken|Token)\b|\$END"
)


def check(text: str) -> None:
    source = Source("a.msl", text)
    file, diagnostics = text_to_ast(source)
    assert diagnostics or not file.broken
    for diagnostic in diagnostics:
        for label in (diagnostic.primary, *diagnostic.secondary):
            assert 0 <= label.span.start <= label.span.end <= len(text)
        words = " ".join([diagnostic.message, diagnostic.help or "", diagnostic.primary.text])
        own_words = re.sub(r"`[^`]*`", "", words)  # what is quoted from the text is the user's
        assert not _INTERNAL.search(own_words), words
        assert "\n" not in diagnostic.message
    for format in Format:
        render(diagnostics, format)
    result, more = format_source(source)
    assert [diagnostic.code for diagnostic in more] == [diagnostic.code for diagnostic in diagnostics]
    if diagnostics:
        assert result == text
    else:
        assert format_source(Source("a.msl", result)) == (result, [])


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_mutated_specs(first: int) -> None:
    for number in range(first, min(first + BATCH, CASES)):
        text = case(number)
        try:
            check(text)
        except Exception as error:
            raise AssertionError(f"case {number} of the fuzz test: {text!r}") from error


def test_the_mutations_reach_most_codes() -> None:
    """A fuzz test that finds nothing because it tries nothing would be no test."""
    codes = {diagnostic.code for number in range(300) for diagnostic in text_to_ast(Source("a", case(number)))[1]}
    assert len(codes) >= 12
