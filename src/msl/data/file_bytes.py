"""Open a data file: check that it can be read, unpack it if it is packed, and decode it to UTF-8."""

from __future__ import annotations

import bz2
import codecs
import difflib
import gzip
import lzma
import mmap
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from msl.data.data_errors import DataError, DataProblem, listed, one_of, problem

#: How files that are packed begin, what they are called, and what unpacks them.
_PACKED: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzipped", gzip.decompress),
    b"BZh": ("packed by bzip2", bz2.decompress),
    b"\xfd7zXZ\x00": ("packed by xz", lzma.decompress),
}
_BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
_ZIP, _ZSTD = b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
#: What is no table of text though it is text, by how it begins: its name, and the way out.
_OTHER_TEXT = {
    rb"<!doctype html|<html": ("a web page", "it may stand there instead of a download that failed: fetch the table"),
    rb"<\?xml": ("XML", "save the data as CSV"),
    rb"version https://git-lfs": ("a pointer of Git LFS to the table, not the table", "fetch it: git lfs pull"),
    rb'(\[\s*)?\{\s*("[^"\n]*"\s*:|\})': ("JSON", "write it as a table, for instance with pandas.read_json and to_csv"),
}
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
        if path.is_symlink() and not path.exists():
            raise DataError([_dangling(path)])
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


def _dangling(path: Path) -> DataProblem:
    message = f"{path} is a link to {path.readlink()}, where no file is, or which leads back to it"
    return problem("MSL301", message, "name the file itself, or mend the link")


def _nowhere(path: Path) -> DataProblem:
    beside = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, beside, n=1)
    help = f"did you mean {path.parent / close[0]}?" if close else "check the path; it is relative to where you are"
    return problem("MSL301", f"there is no file {path}", help)


def open_payload(path: Path) -> Payload:
    """The text of the file in UTF-8, unpacked if it is packed, without a byte-order mark."""
    if path.stat().st_size == 0:
        raise _empty(path)
    data: bytes | mmap.mmap
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    data = _unpacked(path, data)
    start = data[:_LOOKED_AT]
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        data = _from_marked(path, data[:], "utf-32")
    elif start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = _from_marked(path, data[:], "utf-16")
    elif start.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif b"\0" in start:
        data = _from_unmarked_utf16(path, data[:])
    if not data[:_LOOKED_AT].strip() and not data[:].strip():
        raise _empty(path)
    beginning = data[:_LOOKED_AT].lstrip()
    for pattern, (name, help) in _OTHER_TEXT.items():
        if re.match(pattern, beginning, re.I):
            raise DataError([problem("MSL306", f"{path} is {name}", help)])
    return Payload(path, data)


def _unpacked(path: Path, data: bytes | mmap.mmap) -> bytes | mmap.mmap:
    """The bytes, unpacked if they are packed. Of an archive, the only file that it holds."""
    if data[:4] == _ZIP:
        return _only_member(path)
    packed = next((start for start in _PACKED if data[: len(start)] == start), None)
    if packed is None or (packed == b"BZh" and not _BZIP2.match(data[:10])):
        return data
    name, unpack = _PACKED[packed]
    try:
        return unpack(data[:])
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as reason:
        message = f"{path} is {name}, but damaged or incomplete: {reason}"
        raise DataError([problem("MSL308", message, "fetch or pack the file again")]) from None


def _only_member(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [each.filename for each in archive.infolist() if not each.is_dir()]
            names = [name for name in names if not name.startswith("__MACOSX/")]
            if len(names) == 1:
                return archive.read(names[0])
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, zlib.error) as reason:
        message = f"{path} is an archive that cannot be unpacked: {reason}"
        raise DataError([problem("MSL308", message, "unpack it yourself, and name the table in it")]) from None
    if "[Content_Types].xml" in names:
        message, help = f"{path} is a spreadsheet, not a text table", "save the sheet as CSV"
    else:
        message = f"{path} is an archive of {len(names)} files: {listed(sorted(names))}"
        help = "unpack it, and name the table in it"
    raise DataError([problem("MSL306", message, help)])


def _from_marked(path: Path, data: bytes, encoding: str) -> bytes:
    try:
        return data.decode(encoding).encode()
    except UnicodeDecodeError as reason:
        message = f"{path} starts like {encoding.upper()} text, but is not: {reason.reason} at byte {reason.start}"
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
    if start.startswith(_ZSTD):
        help = f"unpack it: zstd -d {path.name}"
        return DataError([problem("MSL306", f"{path} is packed by zstd, which cannot be read", help)])
    if not _CONTROL.search(start.replace(b"\0", b"")):
        line = start[: start.index(b"\0")].count(b"\n") + 1
        message = f"{path} has characters in it that no text has: the first NUL is in line {line}"
        help = f"take them out, for instance with: tr -d '\\000' < {path.name} > clean.csv"
        return DataError([problem("MSL307", message, help, line=line)])
    from msl.data.read import format_names

    names = format_names()
    message = f"{path} is neither a text table nor {one_of(names[1:])}"
    return DataError([problem("MSL306", message, f"save the data as {one_of(names)}")])
