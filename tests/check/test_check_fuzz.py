"""Mutated and truncated specs through the whole check: never a crash, and every message is fit to be read.

`MSL_FUZZ_CASES` sets how many cases are tried, 1,500 when absent; each is made from its number alone.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from mutations import MUTATIONS, TEXTS, case, change_pieces

from msl.check.spec import Checked, check_source
from msl.space.facts import Facts
from msl.syntax import ast
from msl.syntax.parse import text_to_ast
from msl.text.codes import page, titles
from msl.text.format import Format
from msl.text.render import render
from msl.text.source import Source

CASES = int(os.environ.get("MSL_FUZZ_CASES", "1500"))
BATCH = 250
_FENCE = re.compile(r"```msl[^\n]*\n(.*?)```", re.DOTALL)
_PAGES = [example for code in titles() for example in _FENCE.findall(page(code))]
_DOCS = _FENCE.findall((Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8"))
SPECS = [*TEXTS, *_PAGES, *_DOCS]
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMES = sorted({word for text in SPECS for word in _WORD.findall(text)})
_NUMBERS = ["0", "-1", "0.5", "1e-9", "1e300", "1_000_000", "3s", "50%", "2..1", "0..0", "n_features", "1 / 0", "true"]
#: What a person never wrote and should never read: how Python shows what is inside.
_INTERNAL = re.compile(
    r"\b(Fraction|IntRange|RealRange|BlockUse|BlockType|Choice|Const|Formula|Symbol|Span|Token|Path|Subject|NoneType"
    r"|None|True|False|object at|Traceback|assert)\b|<class|\$END|\bMSL\d"
)
_TABLES = [
    None,
    Facts(n_samples=150, n_features=4, n_classes=3, task="classification"),
    Facts(n_samples=2, n_features=1, n_classes=0, task="regression"),
]


def rename(pieces: list[str], at: int, rng: random.Random) -> None:
    """Another name that means something somewhere: what is wrong is then seldom the syntax."""
    words = [i for i, piece in enumerate(pieces) if _WORD.fullmatch(piece)]
    if words:
        pieces[rng.choice(words)] = rng.choice(_NAMES)


def renumber(pieces: list[str], at: int, rng: random.Random) -> None:
    numbers = [i for i, piece in enumerate(pieces) if piece[:1].isdigit()]
    if numbers:
        pieces[rng.choice(numbers)] = rng.choice(_NUMBERS)


_MEANT = [change_pieces(rename)] * 4 + [change_pieces(renumber)] * 3


def read_file(path: str) -> str:
    """No file is there but one, so that a mutated `use` finds something now and then."""
    if Path(path).name == "other.msl":
        return "use clop\npart learn = svc | rf\nrequire svc.gamma < 1\n"
    raise FileNotFoundError(2, "No such file or directory", path)


def checked(number: int) -> Checked:
    text = case(number, SPECS, [*MUTATIONS, *_MEANT])
    return check_source(Source("a.msl", text, "a.msl"), _TABLES[number % 3], None, read_file)


def look(result: Checked) -> None:
    source = result.sources[0]
    errors = [diagnostic for diagnostic in result.diagnostics if diagnostic.is_error]
    has_chain = any(isinstance(statement, ast.Chain) for statement in text_to_ast(source)[0].statements)
    assert errors or result.spec is not None or not has_chain, "nothing is said, and there is no spec"
    assert not (errors and result.spec is not None)
    for diagnostic in result.diagnostics:
        assert diagnostic.code in titles()
        for label in (diagnostic.primary, *diagnostic.secondary):
            assert 0 <= label.span.start <= label.span.end <= len(label.source.text)
            assert label.source in result.sources
        for words in (diagnostic.message, diagnostic.help or "", diagnostic.primary.text):
            own = re.sub(r"`[^`]*`", "", words)  # what is quoted is the user's
            assert not _INTERNAL.search(own), words
        assert "\n" not in diagnostic.message or "\n" in source.slice(diagnostic.primary.span)
        assert diagnostic.help or not diagnostic.is_error, diagnostic.message
    for format in Format:
        render(result.diagnostics, format)


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_mutated_specs(first: int) -> None:
    for number in range(first, min(first + BATCH, CASES)):
        try:
            look(checked(number))
        except Exception as error:
            text = case(number, SPECS, [*MUTATIONS, *_MEANT])
            raise AssertionError(f"case {number} of the fuzz test: {text!r}") from error


def test_the_mutations_reach_most_codes() -> None:
    """A fuzz test that finds nothing because it tries nothing would be no test."""
    codes = {diagnostic.code for number in range(400) for diagnostic in checked(number).diagnostics}
    assert len(codes) >= 60
