"""Storable: texts, numbers and figures as SQLite takes them and gives them back, and a checksum for each row.

SQLite has no checksums of its own: a number that a failing disk has changed would go unseen.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32


class BadRow(ValueError):
    """A row that is not what was once written."""


#: What reading a row may raise that somebody has written on purpose: other types, other names, JSON without an end.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError, struct.error)


def checksum(values: Sequence[Any]) -> int:
    """Of the values of a row, all in the form in which they are read again."""
    return crc32(repr(tuple(values)).encode("utf-8", "surrogatepass"))


def sealed(values: Sequence[Any]) -> tuple[Any, ...]:
    """A row with its checksum at the end."""
    return (*values, checksum(values))


def unsealed(row: Sequence[Any]) -> Sequence[Any]:
    """The row without its checksum; raises BadRow where that is wrong."""
    values = row[:-1]
    if checksum(values) != row[-1]:
        raise BadRow(f"the row that begins with {row[0]!r} does not have its checksum")
    return values


def storable_text(text: str) -> str:
    """Half characters, which come from names of files that are no text, are spelt out."""
    return text.encode("utf-8", "backslashreplace").decode()


def storable_real(number: float | None) -> float | None:
    """SQLite knows neither NaN, which becomes nothing, nor a negative zero."""
    return None if number is None or number != number else float(number) + 0.0


def stored_real(stored: float | None) -> float:
    """The number again, where there always is one."""
    return float("nan") if stored is None else stored


def figures_to_text(figures: Mapping[str, Any]) -> str:
    """As JSON; what numpy computed becomes plain numbers and lists."""
    return json.dumps(dict(figures), default=_plain)


def figures_of(text: Any) -> dict[str, Any]:
    """The inverse; raises BadRow for anything but a mapping."""
    found = json.loads(text_of(text))
    if not isinstance(found, dict):
        raise BadRow(f"{text[:40]!r} is no mapping")
    return found


def losses_of(text: Any) -> tuple[float, ...]:
    """One or more numbers that were stored as JSON."""
    found = json.loads(text_of(text))
    if not isinstance(found, list) or not found or not all(isinstance(one, int | float) for one in found):
        raise BadRow(f"{text[:40]!r} are no losses")
    return tuple(float(loss) for loss in found)


def text_of(stored: Any) -> str:
    """What was stored as a text; SQLite would keep anything in its place."""
    if not isinstance(stored, str):
        raise BadRow(f"a {type(stored).__name__} is in the place of a text")
    return stored


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be stored: use numbers, texts, lists and mappings of them")
