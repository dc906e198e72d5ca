"""Open a data file: check that it can be read, unpack it if it is gzipped, and decode it to UTF-8."""

from __future__ import annotations

import codecs
import difflib
import gzip
import mmap
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from msl.data.data_errors import DataError, DataProblem, one_of, problem

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_LOOKED_AT = 1 << 16
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Payload:
    """The bytes of a text table. A plain file is mapped, not read, and stays on disk for a reader of its own."""

    path: Path
    data: bytes | mmap.mmap
    #: The lines that were not UTF-8, by their numbers, as they were read instead.
    western: Mapping[int, str] = field(default_factory=dict)

    @property
    def source(self) -> Path | bytes:
        """What a reader should open."""
        return self.data if isinstance(self.data, bytes) else self.path


def check_path(path: Path) -> None:
    """Refuses what is not a readable file."""
    try:
        if path.is_dir():
            raise DataError([_folder(path)])
        if not path.exists():
            raise DataError([_nowhere(path)])
        if not path.is_file():
            raise OSError("it is not a regular file")
        path.open("rb").close()
    except OSError as reason:
        message = f"{path} cannot be read: {reason.strerror or reason}"
        help = "check its name and permissions; what comes from a pipe has to be saved first"
        raise DataError([problem("MSL303", message, help)]) from None


def _folder(path: Path) -> DataProblem:
    from msl.data.read import format_names, known_suffixes  # imports the readers, which import this module

    suffixes = known_suffixes()
    files = sorted(each.name for each in path.iterdir() if each.suffix in suffixes)
    help = f"name a file in it, such as {path / files[0]}" if files else f"name a {one_of(format_names())} file"
    return problem("MSL302", f"{path} is a folder, not a data file", help)


def _nowhere(path: Path) -> DataProblem:
    beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1)
    help = f"did you mean {path.parent / close[0]}?" if close else "check the path; it is relative to where you are"
    return problem("MSL301", f"there is no file {path}", help)


def open_payload(path: Path) -> Payload:
    """The text of the file in UTF-8, unpacked if it is gzipped, without a byte-order mark."""
    if path.stat().st_size == 0:
        raise _empty(path)
    data: bytes | mmap.mmap
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if data[:2] == _GZIP:
        data = _unpacked(path)
    start = data[:_LOOKED_AT]
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = _from_utf16(path, data[:])
    elif start.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif b"\0" in start:
        data = _from_unmarked_utf16(path, data[:])
    if not data[:_LOOKED_AT].strip() and not data[:].strip():
        raise _empty(path)
    return Payload(path, data)


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as reason:
        message = f"{path} is gzipped, but damaged or incomplete: {reason}"
        raise DataError([problem("MSL308", message, "fetch or pack the file again")]) from None


def _from_utf16(path: Path, data: bytes) -> bytes:
    try:
        return data.decode("utf-16").encode()
    except UnicodeDecodeError as reason:
        message = f"{path} starts like UTF-16 text, but is not: {reason.reason} at byte {reason.start}"
        raise DataError([problem("MSL307", message, "save the file as UTF-8")]) from None


def _from_unmarked_utf16(path: Path, data: bytes) -> bytes:
    """UTF-16 without a byte-order mark: every other byte of most text is zero."""
    start = data[: _LOOKED_AT // 2 * 2]
    for encoding, zeros, others in (("utf-16-le", start[1::2], start[::2]), ("utf-16-be", start[::2], start[1::2])):
        if 2 * zeros.count(0) > len(zeros) and 0 not in others:
            try:
                return data.decode(encoding).encode()
            except UnicodeDecodeError:
                break
    raise _not_text(path, start)


def with_western_lines(payload: Payload) -> Payload:
    """The text in UTF-8, where each line that is not so is read as Windows-1252, the usual encoding of western Europe.

    A file may have lines of both kinds, where tables were joined. Lines with control characters are no text at all.
    """
    lines = payload.data[:].split(b"\n")
    western: dict[int, str] = {}
    for place, line in enumerate(lines):
        try:
            line.decode()
        except UnicodeDecodeError as reason:
            if _CONTROL.search(line):
                message = f"{payload.path} is not UTF-8: line {place + 1} has the byte 0x{line[reason.start]:02x}"
                help = f"save it as UTF-8, for instance with: iconv -f LATIN1 -t UTF-8 {payload.path.name} > utf8.csv"
                raise DataError([problem("MSL307", message, help, line=place + 1)]) from None
            western[place + 1] = _from_western(line)
            lines[place] = western[place + 1].encode()
    return replace(payload, data=b"\n".join(lines), western=western)


def _from_western(line: bytes) -> str:
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:  # a byte that Windows-1252 does not have
        return line.decode("latin-1")


def _empty(path: Path) -> DataError:
    return DataError([problem("MSL304", f"{path} is empty", "it needs a row of column names and rows of values")])


def _not_text(path: Path, start: bytes) -> DataError:
    if start.startswith(_ZIP):
        message = f"{path} is an archive or a spreadsheet, not a text table"
        return DataError([problem("MSL306", message, "unpack it, or save the sheet as CSV")])
    from msl.data.read import format_names

    names = format_names()
    message = f"{path} is neither a text table nor {one_of(names[1:])}"
    return DataError([problem("MSL306", message, f"save the data as {one_of(names)}")])
