"""Source texts with a name, spans of characters in them, and safe reading of the files that a text names."""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from functools import lru_cache
from pathlib import Path, PurePath

from msl.record import record

_LINE_END = re.compile(r"\r\n|\n|\r")


@record
class Span:
    """Characters `start` (included) to `end` (excluded) of a source."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))

    def __lt__(self, other: Span) -> bool:
        """In reading order; if both start together, the shorter first."""
        return (self.start, self.end) < (other.start, other.end)


@record
class Position:
    """A line and a column, both counted from 1; a column is one character."""

    line: int
    column: int


@record
class Source:
    """A text and its name in messages; `path` is the file that it was read from, None if there is none."""

    name: str
    text: str
    path: str | None = None

    @property
    def _line_starts(self) -> tuple[int, ...]:
        return _starts_of_lines(self.text)

    def position(self, offset: int) -> Position:
        """Line and column of an offset; one past the end is allowed."""
        offset = min(max(offset, 0), len(self.text))
        starts = self._line_starts
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        starts = self._line_starts
        start = starts[number - 1]
        end = starts[number] if number < len(starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def line_span(self, number: int) -> Span:
        start = self._line_starts[number - 1]
        return Span(start, start + len(self.line(number)))

    @property
    def line_count(self) -> int:
        return len(self._line_starts)

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end]


@lru_cache(maxsize=16)
def _starts_of_lines(text: str) -> tuple[int, ...]:
    """Where each line starts, known for the latest texts: of most, nobody asks."""
    return (0, *(match.end() for match in _LINE_END.finditer(text)))


# --- reading files: regular ones only, since a pipe or a device might block or never end ------------------------------


MOST_BYTES = 16_000_000  # the limit of the language, in characters, is below this

_KINDS = (
    (stat.S_ISDIR, "it is a folder"),
    (stat.S_ISFIFO, "it is a pipe, not a file"),
    (stat.S_ISSOCK, "it is a socket, not a file"),
    (stat.S_ISCHR, "it is a device, not a file"),
    (stat.S_ISBLK, "it is a device, not a file"),
)


class Refused(OSError):
    """A file exists but is not read: `strerror` says why, `help` what to do instead."""

    def __init__(self, why: str, help: str) -> None:
        super().__init__(0, why)
        self.help = help


def read_regular(path: str | Path, follow: bool = True) -> bytes:
    """The bytes of a regular file. Folders, pipes, devices and files that are too large are refused.

    Without `follow` the file itself may not be a symbolic link.
    """
    _refuse_unless_regular(os.stat(path, follow_symlinks=follow).st_mode)  # opening a device may have effects
    # A pipe may have replaced the file since: O_NONBLOCK keeps `open` from blocking, and the file is checked again.
    flags = os.O_RDONLY | _flag("O_NONBLOCK") | _flag("O_CLOEXEC") | _flag("O_BINARY")
    with open(os.open(path, flags if follow else flags | _flag("O_NOFOLLOW")), "rb") as file:
        found = os.fstat(file.fileno())
        _refuse_unless_regular(found.st_mode)
        content = file.read(MOST_BYTES + 1) if found.st_size <= MOST_BYTES else b""
    if max(found.st_size, len(content)) > MOST_BYTES:
        raise Refused(f"it is too large: at most {MOST_BYTES // 1_000_000} MB are read", "split it into several files")
    return content


def real_path(target: str, base: str | PurePath, home: str | PurePath) -> Path:
    """Resolve a path that is named by a file in the folder `base`; symbolic links that lead elsewhere are refused.

    A path may leave the folder openly, as `../shared/x.msl` does: a reader sees it. A reader does not see where a link
    leads, so links must stay within `base` or within `home`, the folder of the spec. On a path that leaves `base`,
    links must stay below the common parent folder and within the folder of the target.
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
    """A flag for opening files; 0 on systems that lack it."""
    return int(getattr(os, name, 0))


def _refuse_unless_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        why = next((words for is_kind, words in _KINDS if is_kind(mode)), "it is not a file")
        help = "name a file in it" if stat.S_ISDIR(mode) else "name a file; save the output of a pipe to a file first"
        raise Refused(why, help)
