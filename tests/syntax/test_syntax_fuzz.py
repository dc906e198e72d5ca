"""Mutated and truncated specs: never a crash, every message has a place inside the file and speaks plain words.

`MSL_FUZZ_CASES` sets how many cases are tried, 2,000 when absent; each is made from its number alone.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from msl.syntax.format import format_source
from msl.syntax.parse import text_to_ast
from msl.syntax.tokens import RESERVED
from msl.text.format import Format
from msl.text.render import render
from msl.text.source import Source

CASES = int(os.environ.get("MSL_FUZZ_CASES", "2000"))
BATCH = 500
_CORPUS = Path(__file__).parents[1] / "corpus"
_LONGEST = 1500  # longer files only repeat what shorter ones try, and cost time
TEXTS = [text for path in sorted(_CORPUS.glob("*/*.msl")) if len(text := path.read_bytes().decode("utf-8")) <= _LONGEST]
_PIECES = re.compile(r'[A-Za-z_]\w*|\d[\w.]*|"[^"\n]*"|\s+|>>|\.\.|[^\w\s]')
_STRANGE = [*sorted(RESERVED), *"()[]{}|&?:=,.+-*/<>!\"'\\#;@", ">>", "..", "==", "&&", "||", "**", "\n", "\r\n", "\t"]
_STRANGE += [
    "\x00",
    "\x0b",
    "\x1b",
    "\u00a0",
    "\ufeff",
    "\u2028",
    "é",
    "漢",
    "e\u0301",
    "😀",
    "…",
    "“",
    "1_000",
    "5,000",
]
_STRANGE += ["0x10", "1e999", "9" * 300, "5sec", '"\\u{110000}"', '"\\q"', "True", "None", "# comment\n", "x" * 200]
#: Names of terminals and rules, as the grammar and Lark spell them.
_INTERNAL = re.compile(
    r"\b(__ANON\w*|LPAR|RPAR|LSQB|RSQB|LBRACE|RBRACE|THROUGH|BAR|AMPERSAND|QUESTION|DOTDOT|DOT|COLON|EQUALS|COMPARE|PLUS"
    r"|MINUS|STAR|SLASH|COMMA|CALL|NAME|NUMBER|STRING|OPEN_STRING|QUOTED|DOUBLED|UNKNOWN|UnexpectedToken|Token)\b|\$END"
)


def cut(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[start:] if rng.random() < 0.3 else text[:start]


def change_pieces(change: Callable[[list[str], int, random.Random], None]) -> Callable[[str, random.Random], str]:
    def mutate(text: str, rng: random.Random) -> str:
        pieces = _PIECES.findall(text) or [""]
        change(pieces, rng.randrange(len(pieces)), rng)
        return "".join(pieces)

    return mutate


def remove(pieces: list[str], at: int, rng: random.Random) -> None:
    del pieces[at : at + rng.randint(1, 3)]


def repeat(pieces: list[str], at: int, rng: random.Random) -> None:
    pieces[at:at] = pieces[at : at + rng.randint(1, 5)]


def swap(pieces: list[str], at: int, rng: random.Random) -> None:
    other = rng.randrange(len(pieces))
    pieces[at], pieces[other] = pieces[other], pieces[at]


def insert(pieces: list[str], at: int, rng: random.Random) -> None:
    pieces.insert(at, rng.choice(_STRANGE))


def replace(pieces: list[str], at: int, rng: random.Random) -> None:
    pieces[at] = rng.choice(_STRANGE)


def misspell(pieces: list[str], at: int, rng: random.Random) -> None:
    if len(pieces[at]) > 1:
        place = rng.randrange(len(pieces[at]))
        pieces[at] = pieces[at][:place] + pieces[at][place + 1 :]


MUTATIONS = [cut, *map(change_pieces, (remove, repeat, swap, insert, insert, replace, replace, misspell))]


def case(number: int) -> str:
    rng = random.Random(number)
    text = rng.choice(TEXTS)
    for _ in range(rng.choice([1, 1, 2, 4])):
        text = rng.choice(MUTATIONS)(text, rng)
    return text


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
