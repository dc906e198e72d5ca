"""Mutations: specs with seeded mistakes — pieces and lines cut, doubled, swapped, misspelt, nested, or made strange.

Each case is made from its number alone, so that a case that fails can be tried again.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

from msl.language.tokens import RESERVED

Mutation = Callable[[str, random.Random], str]

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


def cut(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[start:] if rng.random() < 0.3 else text[:start]


def change_pieces(change: Callable[[list[str], int, random.Random], None]) -> Mutation:
    """A mutation of a text from one of its words and signs."""

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


def change_lines(text: str, rng: random.Random) -> str:
    """A line left out, doubled, or moved."""
    lines = text.splitlines(keepends=True) or [""]
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.randrange(3)):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return "".join(lines)


def nest(text: str, rng: random.Random) -> str:
    """Brackets or calls deeper than any person writes them, around a word of the text or never closed."""
    pieces = _PIECES.findall(text) or [""]
    at = rng.randrange(len(pieces))
    deep = rng.choice([20, 90, 110, 3000])
    opening, closing = rng.choice(
        [("(", ")"), ("[", "]"), ("svc(", ")"), ("- ", ""), ("not ", ""), ("x.", ""), ("{", "}")]
    )
    pieces[at] = opening * deep + pieces[at] + closing * (deep if rng.random() < 0.7 else 0)
    return "".join(pieces)


def merge(text: str, rng: random.Random) -> str:
    """Another file after or into this one: two editions, several `use`, names declared twice."""
    other = rng.choice(TEXTS)
    at = rng.choice([len(text), rng.randrange(len(text) + 1)])
    return text[:at] + other + text[at:]


_OF_PIECES = map(change_pieces, (remove, repeat, swap, insert, insert, replace, replace, misspell))
MUTATIONS = [cut, *_OF_PIECES, change_lines, change_lines, nest, merge]


def case(number: int, texts: list[str] = TEXTS, mutations: list[Mutation] = MUTATIONS) -> str:
    """The text of one case."""
    rng = random.Random(number)
    text = rng.choice(texts)
    for _ in range(rng.choice([1, 1, 2, 4])):
        text = rng.choice(mutations)(text, rng)
    return text
