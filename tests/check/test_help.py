"""Help that says what to write is right: written in place of what is underlined, it takes the message away.

The texts are the bad files of the corpus and the wrong examples of the pages.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from msl.check.check_spec import check_source
from msl.diagnostics.diagnostic import Diagnostic, page, titles
from msl.diagnostics.source import Source

_BAD = Path(__file__).parents[1] / "corpus" / "bad"
_WRONG = re.compile(r"## Wrong\n\n```msl[^\n]*\n(.*?)```", re.DOTALL)
TEXTS = [path.read_bytes().decode("utf-8") for path in sorted(_BAD.glob("*.msl"))]
TEXTS += [example for code in titles() for example in _WRONG.findall(page(code))]
_WRITE = re.compile(r"write `([^`…]+)`(?! or)")
#: What the help shows is more than what is underlined: an operator, a bracket or a sign between words.
_AROUND = {"MSL001", "MSL003", "MSL004", "MSL009", "MSL014", "MSL240"}
#: The name, or the keyword, that stands right before what is underlined and is part of what to write.
_GOALS = ("minimize", "maximize")
_BEFORE = re.compile(r'("[^"]*"|\w+)\s*[:=]?\s*$')


def advised(text: str) -> list[tuple[Diagnostic, str]]:
    """The messages whose help says what to write, each with the text in which that was done."""
    found = []
    for diagnostic in diagnostics(text):
        match = _WRITE.match(diagnostic.help or "")
        if match is None or diagnostic.code in _AROUND or diagnostic.primary.source.text != text:
            continue
        start, end = diagnostic.primary.span.start, diagnostic.primary.span.end
        before = _BEFORE.search(text[:start])
        goals = _GOALS if before is not None and before[1] in _GOALS else ()
        if before is not None and match[1].startswith((f"{before[1]} =", f"{before[1]}:", *goals)):
            start = before.start()
        first = " " if match[1] == "then" else ""  # a word for a sign
        found.append((diagnostic, text[:start] + first + match[1] + text[end:]))
    return found


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    return check_source(Source("a.msl", text)).diagnostics


def times(message: Diagnostic, text: str) -> int:
    return sum((d.code, d.message) == (message.code, message.message) for d in diagnostics(text))


ADVICE = [
    pytest.param(message, text, mended, id=f"{message.code}-{number}")
    for text in TEXTS
    for number, (message, mended) in enumerate(advised(text))
]


@pytest.mark.parametrize(("message", "text", "mended"), ADVICE)
def test_what_the_help_says_works(message: Diagnostic, text: str, mended: str) -> None:
    assert times(message, mended) < times(message, text)
    known = {(d.code, d.message) for d in diagnostics(text)}
    new = [
        d.message for d in diagnostics(mended) if d.is_error and d.code <= "MSL020" and (d.code, d.message) not in known
    ]
    assert not new, mended


OUTSIDE = [
    'block a: learner "m:A" { x: int 1..5 }\nchain m = a(x = 9)',
    'block a: learner "m:A" { x: int 1..5 }\nchain m = a(x = 0)',
    'block a: learner "m:A" { x: int 1..5 }\nchain m = a(x: 1..9)',
    'block a: learner "m:A" { x: int 1..5 }\nchain m = a(x = none)',
    'block a: learner "m:A" { x: int 1..9 step 2 }\nchain m = a(x: int 1..5)',
    'block a: learner "m:A" { x: int 1..9 step 2 }\nchain m = a(x = 12)',
    'block a: learner "m:A" { x: real 1e-3..1 log }\nchain m = a(x = 1e-9)',
    'block a: learner "m:A" { x: real 1e-3..1 log }\nchain m = a(x = 0)',
    'block a: learner "m:A" { x: real 0..1 step 0.1 }\nchain m = a(x: real 0..1)',
    'block a: learner "m:A" { x: 4 | 8 | 16 }\nchain m = a(x = 5)',
    'block a: learner "m:A" { x: 4 | 8 | 16 }\nchain m = a(x: int 4..16)',
    'block a: learner "m:A" { x = 3 }\nchain m = a(x = 4)',
    'block a: learner "m:A" { x = 3 }\nchain m = a(x: int 1..9)',
    'block a: learner "m:A" { x: int 1..min(9, n_features) }\nchain m = a(x = 12)',
    'block a: learner "m:A" { x: vector(3) of bool }\nchain m = a(x = 7)',
    "use clop as c\nchain m = c.svc(gamma = 1e9)",
]


@pytest.mark.parametrize("text", OUTSIDE)
def test_the_derived_block_that_the_help_shows_can_be_used(text: str) -> None:
    (message,) = [d for d in diagnostics(text) if d.is_error]
    line = re.search(r"`(block my_\w+ = [^`…]*)`", message.help or "")
    assert line is not None, message.help
    name, base = line[1].split()[1], line[1].split()[3]
    mended = f"{text.replace(f'chain m = {base}(', f'chain m = {name}(')}\n{line[1]}\n"
    assert not [d.message for d in diagnostics(mended) if d.is_error], mended


def test_there_is_enough_advice_to_try() -> None:
    assert len(ADVICE) >= 80
