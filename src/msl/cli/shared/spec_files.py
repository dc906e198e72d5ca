"""Read specs from files or standard input, and write files atomically."""

from __future__ import annotations

import os
import stat
import sys
from codecs import BOM_UTF8
from pathlib import Path

from msl.cli.shared.console import write_exactly
from msl.diagnostics.source import MOST_BYTES, Refused, Source, read_regular
from msl.diagnostics.suggest import did_you_mean
from msl.diagnostics.user_error import UserError

STANDARD_INPUT = "-"
#: Paths that a shell passes for pipes: `<(…)`, and standard input by name.
_PASSED = ("/dev/fd/", "/dev/stdin", "/proc/")


def read_source(name: str) -> Source:
    """A file by name, or standard input for `-`, without a byte-order mark. What cannot be read is a UserError."""
    if name == STANDARD_INPUT:
        return Source("<stdin>", _decode("standard input", sys.stdin.buffer.read(MOST_BYTES + 1)))
    try:
        if name.startswith(_PASSED):
            with open(name, "rb") as file:
                content = file.read(MOST_BYTES + 1)
        else:
            content = read_regular(name)
    except OSError as error:
        raise _unreadable(name, error) from None
    except ValueError:  # a null character in the name
        raise UserError(f"`{name}` is not the name of a file") from None
    return Source(name, _decode(name, content), name)


def write_atomically(name: str, text: str) -> None:
    """Replaces the text of a file; a reader sees the old text or the new one, never a part.

    The file keeps its mode and its byte-order mark, if any. A symbolic link stays a link to the file replaced.
    """
    import tempfile

    target = Path(name).resolve()
    temporary: str | None = None
    try:
        if not os.access(target, os.W_OK):
            raise PermissionError
        mode = stat.S_IMODE(target.stat().st_mode)
        with open(target, "rb") as file:
            mark = BOM_UTF8 if file.read(len(BOM_UTF8)) == BOM_UTF8 else b""
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with open(handle, "wb") as file:
            file.write(mark + text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        reason = "it may not be written to" if isinstance(error, PermissionError) else error.strerror
        raise UserError(f"cannot write `{name}`: {reason}") from None
    finally:
        if temporary is not None:
            os.unlink(temporary)


def _decode(name: str, content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise UserError(f"`{name}` is too large for a spec: at most {MOST_BYTES // 1_000_000} MB are read")
    content = content.removeprefix(BOM_UTF8)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        what = "UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else f"byte 0x{content[error.start]:02X}"
        message = f"`{name}` is not UTF-8 text: {what} on line {line}"
        raise UserError(message, "save it as UTF-8") from None


def _unreadable(name: str, error: OSError) -> UserError:
    if isinstance(error, FileNotFoundError):
        return UserError(f"there is no file `{name}`", _neighbour(name))
    if isinstance(error, IsADirectoryError) or os.path.isdir(name):
        return UserError(f"`{name}` is a directory", f"name its files, for example `{os.path.join(name, '*.msl')}`")
    if isinstance(error, PermissionError):
        return UserError(f"`{name}` may not be read", "look at its permissions")
    if isinstance(error, Refused):
        return UserError(f"cannot read `{name}`: {error.strerror}", error.help)
    return UserError(f"cannot read `{name}`: {error.strerror}")


def _neighbour(name: str) -> str | None:
    """A suggestion: a file in the same folder with a similar name."""
    path = Path(name)
    try:
        beside = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".msl"]
    except OSError:
        return None
    return did_you_mean(path.name, beside)


# --- Output to standard output or a file ------------------------------------------------------------------------------


def write_output(content: str | bytes, path: Path | None) -> None:
    """Writes a text to a file or, without one, to standard output; bytes need a file."""
    if path is None:
        assert isinstance(content, str)
        write_exactly(content)
        return
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as reason:
        raise UserError(f"cannot write `{path}`: {reason.strerror}", "name another file") from None
