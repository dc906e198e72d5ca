"""Choose line breaks: lay out a document with possible breaks in a given width.

This is the algorithm of Wadler's "A prettier printer": a group is written on one line if it fits, otherwise every
`Line` directly in it is a line break. A comment is a `Suffix`: it is written at the end of its line, so that no text
follows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """A possible line break; `flat` is written instead if there is none, and None means that there must be one."""

    flat: str | None = " "
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Suffix:
    """A comment for the end of the current line (or alone on it, if it is empty); it breaks its group."""

    text: str


@dataclass(frozen=True, slots=True)
class IfBroken:
    """A text that is written only if its group is broken, such as a trailing comma."""

    text: str


@dataclass(frozen=True, slots=True)
class Joined:
    parts: tuple[Doc, ...]
    forced: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forced", any(map(_is_forced, self.parts)))


@dataclass(frozen=True, slots=True)
class Nest:
    """Lines in it are indented by `by` more columns or, if `by` is None, to the column where it begins."""

    by: int | None
    inner: Doc
    forced: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forced", _is_forced(self.inner))


@dataclass(frozen=True, slots=True)
class Group:
    """Written on one line if it fits; a forced line break inside it breaks it."""

    inner: Doc
    forced: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forced", _is_forced(self.inner))


Doc = str | Line | Suffix | IfBroken | Joined | Nest | Group

SPACE_OR_LINE = Line()
NOTHING_OR_LINE = Line("")
LINE_END = Line(None)
BLANK_LINE = Line(None, blank=True)


def join(*parts: Doc) -> Doc:
    return Joined(parts)


def indent(*parts: Doc, by: int = 2) -> Doc:
    return Nest(by, Joined(parts))


def align(*parts: Doc) -> Doc:
    return Nest(None, Joined(parts))


def group(*parts: Doc) -> Doc:
    return Group(Joined(parts))


def _is_forced(doc: Doc) -> bool:
    match doc:
        case Joined() | Nest() | Group():
            return doc.forced
        case Line():
            return doc.flat is None
        case Suffix():
            return True
        case _:
            return False


#: An item of the work list: the indent of its lines, whether its group is broken, and the document.
_Work = tuple[int, bool, Doc]


def layout(doc: Doc, columns: int) -> str:
    """The text, with lines of at most `columns` where possible, without a final line end."""
    page = _Page()
    work: list[_Work] = [(0, True, doc)]
    while work:
        indentation, broken, item = work.pop()
        match item:
            case str():
                page.write(item)
            case Suffix():
                page.suffixes.append(item.text)
            case IfBroken():
                if broken:
                    page.write(item.text)
            case Joined():
                work.extend((indentation, broken, part) for part in reversed(item.parts))
            case Nest():
                work.append((page.column if item.by is None else indentation + item.by, broken, item.inner))
            case Group():
                flat = not item.forced and _fits(item.inner, columns - page.column, work)
                work.append((indentation, not flat, item.inner))
            case Line():
                if broken or item.flat is None:
                    page.end_line(indentation, item.blank)
                else:
                    page.write(item.flat)
    page.end_line(0)
    return "".join(page.pieces).rstrip("\n")


def _fits(doc: Doc, room: int, rest: list[_Work]) -> bool:
    """Whether `doc` on one line, with what follows it up to the next possible line end, takes at most `room`."""
    following = len(rest)
    work: list[_Work] = [(0, False, doc)]
    while room >= 0:
        if not work:
            if following == 0:
                return True
            following -= 1
            work.append(rest[following])
        _, broken, item = work.pop()
        match item:
            case str():
                room -= len(item)
            case IfBroken() if broken:
                room -= len(item.text)
            case Joined():
                work.extend((0, broken, part) for part in reversed(item.parts))
            case Nest() | Group():
                work.append((0, broken, item.inner))
            case Line():
                if broken or item.flat is None:
                    return True
                room -= len(item.flat)
    return False


class _Page:
    """The text written so far, the current column, and the comments for the end of the line."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.suffixes: list[str] = []
        self.column = 0
        self._empty = True  # the indent is written with the first text of a line, so that blank lines stay empty

    def write(self, text: str) -> None:
        if not text:
            return
        if self._empty:
            self.pieces.append(" " * self.column)
            self._empty = False
        self.pieces.append(text)
        self.column += len(text)

    def end_line(self, indentation: int, blank: bool = False) -> None:
        while self.pieces and self.pieces[-1].endswith(" "):
            self.pieces[-1] = self.pieces[-1].rstrip(" ")
            if not self.pieces[-1]:
                self.pieces.pop()
        for number, comment in enumerate(self.suffixes):
            before = "\n" + " " * indentation if number else " " * self.column if self._empty else "  "
            self.pieces.append(before + comment)
        self.suffixes.clear()
        self.pieces.append("\n\n" if blank else "\n")
        self.column, self._empty = indentation, True
