"""Source: one text with a name, and Span: a stretch of it, counted in characters."""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from dataclasses import field
from pathlib import Path, PurePath

from msl.record import record

_LINE_END = re.compile(r"\r\n|\n|\r")


@record
class Span:
    """Characters `start` (included) to `end` (excluded) of a source."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The stretch that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def __lt__(self, other: Span) -> bool:
        """In reading order; of two that start together, the shorter."""
        return (self.start, self.end) < (other.start, other.end)


@record
class Position:
    """A place as people count it: lines and columns from 1, a column being one character."""

    line: int
    column: int


@record
class Source:
    """A text and the name that messages call it by; `path` is where it was read, None for text without a file."""

    name: str
    text: str
    path: str | None = None
    _line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        starts = (0, *(match.end() for match in _LINE_END.finditer(self.text)))
        object.__setattr__(self, "_line_starts", starts)

    def position(self, offset: int) -> Position:
        """Line and column of an offset; one past the end is a place too."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def line_span(self, number: int) -> Span:
        start = self._line_starts[number - 1]
        return Span(start, start + len(self.line(number)))

    @property
    def line_count(self) -> int:
        return len(self._line_starts)

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end]


# --- Regular file: reading a file that a text names, without waiting for a pipe, a device or an end that never comes.


MOST_BYTES = 16_000_000  # no spec within the language's own limit is longer

_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe, not a file"),
    (stat.S_ISSOCK, "it is a socket, not a file"),
    (stat.S_ISCHR, "it is a device, not a file"),
    (stat.S_ISBLK, "it is a device, not a file"),
)


class Refused(OSError):
    """A file that is there, and is not read: `strerror` says why, `help` the way out."""

    def __init__(self, why: str, help: str) -> None:
        super().__init__(0, why)
        self.help = help


def read_regular(path: str | Path, follow: bool = True) -> bytes:
    """The bytes of a regular file. What else a name can stand for is refused, and so is a file that is too large.

    Without `follow` the name itself may not be a link.
    """
    _refuse_unless_regular(os.stat(path, follow_symlinks=follow).st_mode)  # opening a device may have effects
    # A pipe may have taken the file's place since: opened so, it does not wait, and what was opened is looked at again.
    flags = os.O_RDONLY | _flag("O_NONBLOCK") | _flag("O_CLOEXEC") | _flag("O_BINARY")
    with open(os.open(path, flags if follow else flags | _flag("O_NOFOLLOW")), "rb") as file:
        found = os.fstat(file.fileno())
        _refuse_unless_regular(found.st_mode)
        content = file.read(MOST_BYTES + 1) if found.st_size <= MOST_BYTES else b""
    if max(found.st_size, len(content)) > MOST_BYTES:
        raise Refused(f"it is too large: at most {MOST_BYTES // 1_000_000} MB are read", "split it into several files")
    return content


def real_path(target: str, base: str | PurePath, home: str | PurePath) -> Path:
    """Where a path leads that a file in the folder `base` names; a link on it that leads elsewhere is refused.

    A path may leave the folder in words, as `../shared/x.msl` does: whoever reads the file sees it. Where a link leads
    nobody sees, so links stay inside: in `base`, or in `home`, the folder of the spec; and on a path that leaves these,
    below the folder that it goes back to and beside the name that it ends with.
    """
    folder = Path(base).resolve()
    written = Path(os.path.normpath(folder / target))
    real = (folder / target).resolve()
    if written.is_relative_to(folder):
        stays = real.is_relative_to(folder) or real.is_relative_to(Path(home).resolve())
    else:
        stays = real.is_relative_to(written.parent.resolve())
        if not Path(target).is_absolute():
            stays = stays and real.is_relative_to(os.path.commonpath((folder, written)))
    if not stays:
        raise Refused(f"a link leads elsewhere, to `{real}`", "name the file where it is, or copy it here")
    return real


def _flag(name: str) -> int:
    """A flag of the system for opening files; none where the system lacks it."""
    return int(getattr(os, name, 0))


def _refuse_unless_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        why = next((words for is_kind, words in _KINDS if is_kind(mode)), "it is not a file")
        help = (
            "name a file in it" if stat.S_ISDIR(mode) else "name a file; what comes from a pipe has to be saved first"
        )
        raise Refused(why, help)
