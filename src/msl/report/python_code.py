"""Python code: text that is known to be code because of how it was made, so that no name or label can become a command.

A `Code` is made of a template of ours, of values written as literals, of comments and of checked names, and of nothing
else: what comes from a table, a spec, a store or an estimator has no other way into a file that is generated.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


class Unwritable(ValueError):
    """A value that no expression can make."""


@final
@dataclass(frozen=True, slots=True)
class Code:
    """A piece of Python. Make it with the functions of this module, never from a text that somebody else wrote."""

    text: str

    def __str__(self) -> str:
        return self.__format__("")

    def __format__(self, spec: str) -> str:  # a piece in an f-string would be a raw string again
        raise TypeError("code is put together by `template` and `joined` alone")


def template(text: str, **pieces: Code) -> Code:
    """A text of ours in which `{{name}}` stands for a piece; raises TypeError for anything that is no code."""
    for name, piece in pieces.items():
        _require_code(piece, name)
    return Code(_PLACE.sub(lambda place: pieces[place[1]].text, text))


def joined(separator: str, pieces: Iterable[Code]) -> Code:
    """Pieces one after the other; raises TypeError for anything that is no code."""
    texts = [_require_code(piece, "piece").text for piece in pieces]
    return Code(separator.join(texts))


def literal(value: Any) -> Code:
    """A text, number, truth value or None, or a list, tuple or dictionary of such, as the expression that gives it."""
    if type(value) is list or type(value) is tuple:
        inner = ", ".join(literal(each).text for each in value)
        if type(value) is list:
            return Code(f"[{inner}]")
        return Code(f"({inner},)" if len(value) == 1 else f"({inner})")
    if type(value) is dict:
        return Code("{" + ", ".join(f"{literal(key).text}: {literal(each).text}" for key, each in value.items()) + "}")
    if type(value) is float and not math.isfinite(value):
        return Code(f'float("{value!r}")')
    if type(value) is int:
        # Decimal digits beyond a few thousand are refused by Python itself, those of base 16 are not.
        return Code(repr(value) if abs(value) < 1 << 64 else hex(value))
    if value is not None and type(value) not in (str, bytes, bool, float):
        raise Unwritable(f"a {type(value).__name__} cannot be written as code")
    text = repr(value)
    again = ast.literal_eval(text)
    if type(again) is not type(value) or repr(again) != text or not text.isprintable():
        raise Unwritable(f"{text[:80]} cannot be written as code")
    return Code(text)


def comment(text: str) -> Code:
    """A text as lines of comment; what does not print, or would end a line, is written as an escape."""
    lines = [f"# {printable(line)}".rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    return Code("\n".join(lines))


def printable(text: str) -> str:
    """A text in one line, with escapes for all that cannot be seen, or that shows a line otherwise than it is read."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def name(text: str) -> Code:
    """The name of a class, a function or an argument; raises Unwritable for anything else."""
    if not is_name(text):
        raise Unwritable(f"{ascii(text)[:80]} is no name")
    return Code(text)


def dotted_name(text: str) -> Code:
    """The name of a module; raises Unwritable for anything else."""
    return joined(".", map(name, text.split(".")))


def is_name(text: Any) -> bool:
    """Whether Python takes a text for a name. Only plain letters: others are changed as Python reads them."""
    return type(text) is str and text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def _require_code(piece: Any, name: str) -> Code:
    if type(piece) is not Code:
        raise TypeError(f"`{name}` is a {type(piece).__name__}, and only code goes into code")
    return piece
