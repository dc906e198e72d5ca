"""Mutated specs: how a case of the fuzz test is made from its number, and what must hold of every answer to it.

The test tries some; `benchmarks/language.py` tries 20,000 and takes their times.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

from mutations import MUTATIONS, TEXTS, case, change_pieces

from msl.check.check_spec import Checked, check_source
from msl.diagnostics.diagnostic import Format, page, titles
from msl.diagnostics.render import render
from msl.diagnostics.source import Source
from msl.language import ast
from msl.language.formatter import format_source
from msl.language.parser import text_to_ast
from msl.space.formulas import Facts

_FENCE = re.compile(r"```msl[^\n]*\n(.*?)```", re.DOTALL)
_PAGES = [example for code in titles() for example in _FENCE.findall(page(code))]
_DOCS = _FENCE.findall((Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8"))
_SPECS = [*TEXTS, *_PAGES, *_DOCS]
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAMES = sorted({word for text in _SPECS for word in _WORD.findall(text)})
_NUMBERS = ["0", "-1", "0.5", "1e-9", "1e300", "1_000_000", "3s", "50%", "2..1", "0..0", "n_features", "1 / 0", "true"]
_NUMBERS += ["9" * 400, "1e308", "1..1e308", "99999999999"]
#: What a person never wrote and should never read: how Python and the grammar call what is inside.
_INTERNAL = re.compile(
    r"\b(Fraction|IntRange|RealRange|BlockUse|BlockType|Choice|Const|Formula|Symbol|Span|Token|Path|Subject|NoneType"
    r"|None|True|False|object at|Traceback|assert|__ANON\w*|LPAR|RPAR|LSQB|RSQB|LBRACE|RBRACE|THROUGH|BAR|AMPERSAND"
    r"|QUESTION|DOTDOT|DOT|COLON|EQUALS|COMPARE|PLUS|MINUS|STAR|SLASH|COMMA|CALL|NAME|NUMBER|STRING|OPEN_STRING|QUOTED"
    r"|DOUBLED|UNKNOWN|UnexpectedToken)\b|<class|\$END|\bMSL\d"
)
_TABLES = [
    None,
    Facts(n_samples=150, n_features=4, n_classes=3, task="classification"),
    Facts(n_samples=2, n_features=1, n_classes=0, task="regression"),
]


def _rename(pieces: list[str], at: int, rng: random.Random) -> None:
    """Another name that means something somewhere: what is wrong is then seldom the syntax."""
    words = [i for i, piece in enumerate(pieces) if _WORD.fullmatch(piece)]
    if words:
        pieces[rng.choice(words)] = rng.choice(_NAMES)


def _renumber(pieces: list[str], at: int, rng: random.Random) -> None:
    numbers = [i for i, piece in enumerate(pieces) if piece[:1].isdigit()]
    if numbers:
        pieces[rng.choice(numbers)] = rng.choice(_NUMBERS)


_MUTATIONS = [*MUTATIONS, *[change_pieces(_rename)] * 4, *[change_pieces(_renumber)] * 3]


def text_of(number: int) -> str:
    """The text of a case."""
    return case(number, _SPECS, _MUTATIONS)


def checked(number: int) -> Checked:
    """What the check says of a case, for one of three tables in turn."""
    return check_source(Source("a.msl", text_of(number), "a.msl"), _TABLES[number % 3], None, _read_file)


def try_case(number: int) -> None:
    """Checks, shows and formats a case; raises where an answer is unfit."""
    result = checked(number)
    _look(result)
    for format in Format:
        render(result.diagnostics, format)
    source = result.sources[0]
    formatted, problems = format_source(source)
    if problems:
        assert formatted == source.text, "a file that cannot be read is left alone"
    else:
        assert format_source(Source("a.msl", formatted)) == (formatted, []), "formatting twice is formatting once"


def _read_file(path: str) -> str:
    """No file is there but one, so that a mutated `use` finds something now and then."""
    if Path(path).name == "other.msl":
        return "use clop\npart learn = svc | rf\nrequire svc.gamma < 1\n"
    raise FileNotFoundError(2, "No such file or directory", path)


def _look(result: Checked) -> None:
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
