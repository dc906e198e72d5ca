"""MSL code: a spec or a model with its syntax coloured; a text that is no MSL is shown as well."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msl.report.page.html import Content, Html, tag
from msl.syntax.tokens import STATEMENTS, WORDS

_PIECES = re.compile(
    r"""
      (?P<comment>\#[^\n]*)
    | (?P<string>"(?:\\.|[^"\\\n])*"?)
    | (?P<number>(?<![\w.])\d(?:[\d_]*\d)?(?:\.\d(?:[\d_]*\d)?)?(?:[eE][+-]?\d+)?(?:%|[A-Za-z]+)?)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>>>|\.\.|[|&?:=<>!+\-*/]+)
    """,
    re.VERBOSE,
)
#: What a table shows of a model: one with a value for each of many features goes on and on.
LONGEST_MODEL = 600
_SETS = re.compile(r"[ \t]*[:=](?!=)")
_CALLS = re.compile(r"\(")


def coloured(source: str) -> Html:
    """The text as code, in spans whose classes name what they are."""
    return tag("code", _spans(source), class_="msl")


def code_box(source: str, label: str) -> Html:
    """Code in a box of its own, which scrolls with keys as well."""
    return tag("pre", coloured(source.rstrip("\n")), tabindex="0", role="region", aria_label=label)


def _spans(source: str) -> Iterator[Content]:
    done = 0
    for found in _PIECES.finditer(source):
        if (kind := _kind(found, source)) is None:
            continue
        yield source[done : found.start()]
        yield tag("span", found[0], class_=kind)
        done = found.end()
    yield source[done:]


def _kind(found: re.Match[str], source: str) -> str | None:
    kind = found.lastgroup
    if kind != "name":
        return f"m-{kind}"
    word, end = found[0], found.end()
    if _SETS.match(source, end) and (word not in STATEMENTS):
        return "m-key"
    if word in STATEMENTS and _starts_line(source, found.start()):
        return "m-statement"
    if word in WORDS:
        return "m-word"
    return "m-call" if _CALLS.match(source, end) else None


def _starts_line(source: str, start: int) -> bool:
    return not source[source.rfind("\n", 0, start) + 1 : start].strip()
