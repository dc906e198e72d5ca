"""Make text safe to print on a terminal: visible replacements for control characters, and display widths."""

from __future__ import annotations

import re
import unicodedata

from msl.record import record

_TAB = "    "
_REPLACEMENT = "\ufffd"
#: Characters that reorder a line, so that it reads differently from what is in the file.
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

_CONTROL_CLASS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_CONTROL = re.compile(_CONTROL_CLASS)
#: The colours that MSL itself prints; none of them hides text.
_CONTROL_OR_COLOUR = re.compile(r"\x1b\[(?:0|1|2|3[1-6]|1;3[1-6])m|" + _CONTROL_CLASS)


def shown(character: str) -> str:
    """What is printed for a character: control and reordering characters are replaced by visible ones."""
    if " " <= character <= "~":
        return character
    if character == "\t":
        return _TAB
    if character < " ":
        return chr(0x2400 + ord(character))  # the pictures of control characters
    if character == "\x7f":
        return "\u2421"
    if character in _REORDERING or unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
        return _REPLACEMENT
    return character


def safe_lines(text: str, *, colours: bool = False) -> str:
    """Output that may quote user text, without control characters; `colours` keeps the colours that MSL prints."""
    return (_CONTROL_OR_COLOUR if colours else _CONTROL).sub(_shown_match, text)


def _shown_match(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > 1 else shown(found[0])


def width(text: str) -> int:
    """The display width of a text: wide characters take two columns, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def safe(text: str) -> str:
    """Output that may quote user text, safe to print on one line."""
    return text if text.isascii() and text.isprintable() else "".join(map(shown, text))


def _character_width(character: str) -> int:
    if character.isascii():
        return 1
    if "\u1160" <= character <= "\u11ff":  # Hangul vowels and finals join the syllable before them
        return 0
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


@record
class ShownLine:
    """A line as printed, or a window from character `first` on; `edges[i]` is the column of its i-th character."""

    text: str
    first: int
    edges: tuple[int, ...]

    def column(self, character: int) -> int:
        """The column of a character of the line; for those outside the window, that of its `…`."""
        if character < self.first:
            return 0
        return self.edges[min(character - self.first, len(self.edges) - 1)]


def show_line(line: str, around: tuple[int, int], most: int = 120) -> ShownLine:
    """A line as printed; if it is longer than `most` characters, a window around the characters `around`."""
    first, last = _window(len(line), around, most)
    pieces = [shown(character) for character in line[first:last]]
    left, right = "…" if first else "", "…" if last < len(line) else ""
    edges = [len(left)]
    for piece in pieces:
        edges.append(edges[-1] + width(piece))
    return ShownLine(left + "".join(pieces) + right, first, tuple(edges))


def _window(length: int, around: tuple[int, int], most: int) -> tuple[int, int]:
    if length <= most:
        return 0, length
    start, end = around
    before = max(most // 6, (most - (end - start)) // 2)
    first = min(max(start - before, 0), length - most)
    return first, first + most
