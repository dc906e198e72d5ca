"""Errors of stores and lock files, with codes and advice. No exception of SQLite itself leaves this package."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msl.diagnostics.user_error import UserError

#: Every code for stores and lock files, in one line.
MEANINGS: dict[str, str] = {
    "MSL501": "the folder of the store cannot be written",
    "MSL502": "the disk is full",
    "MSL503": "the database is damaged",
    "MSL504": "the store was made by a newer version of MSL",
    "MSL505": "another process kept the store locked for too long",
    "MSL506": "there is no such run",
    "MSL507": "a name fits several runs",
    "MSL508": "the disk reports an error",
    "MSL509": "SQLite rejected a statement",
    "MSL510": "the file is not a store of MSL",
    "MSL511": "another process is still running the run",
    "MSL512": "a resumed run does not repeat its queries",
    "MSL513": "the lock file cannot be read",
    "MSL514": "there is no store",
}

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG}


class StoreError(UserError):
    """A store or a lock file that cannot be used: a stable code, one sentence, and what to do about it."""

    help: str

    def __init__(self, code: str, message: str, help: str) -> None:
        if code not in MEANINGS:
            raise KeyError(code)
        super().__init__(message, help)
        self.args = (code, message, help)
        self.code = code

    def __str__(self) -> str:
        return f"error[{self.code}]: {self.message}\nhelp: {self.help}"


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns exceptions of SQLite and of the system about `path` into a StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        raise sqlite_problem(error, path) from error
    except UnicodeDecodeError as error:  # messages of SQLite about damage may quote damaged text
        raise damaged(path, str(error)) from error
    except OSError as error:
        raise system_problem(error, path) from error


def sqlite_problem(error: sqlite3.Error, path: Path) -> StoreError:
    """The error for an exception of SQLite, by its result code."""
    name = getattr(error, "sqlite_errorname", None) or ""
    if not name and isinstance(error, sqlite3.OperationalError):
        return damaged(path, str(error))  # raised by Python for bytes that are not valid text
    match name.removeprefix("SQLITE_").split("_")[0]:
        case "FULL":
            return disk_full(path)
        case "IOERR" if name.endswith(("_WRITE", "_TRUNCATE", "_SHMSIZE", "_SHMMAP")):
            return disk_full(path)  # a quota or a limit on the size of files gives these codes, not FULL
        case "IOERR":
            return disk_error(path, str(error))
        case "READONLY" | "PERM" | "CANTOPEN" | "AUTH":
            return not_writable(path, str(error))
        case "CORRUPT" | "NOTADB":
            return damaged(path, str(error))
        case "ERROR":
            return damaged(path, f"it lacks a part that every store has: {error}")
        case "BUSY" | "LOCKED" | "PROTOCOL":
            return locked(path)
    return StoreError(
        "MSL509", f"the database {path} rejected a statement: {error}", "this is a bug in MSL: please report it"
    )


def system_problem(error: OSError, path: Path) -> StoreError:
    """The error for an exception of the operating system."""
    place = Path(error.filename) if isinstance(error.filename, str) else path
    if error.errno in _FULL:
        return disk_full(place)
    if error.errno in _FORBIDDEN:
        return not_writable(place, error.strerror or str(error))
    return disk_error(place, error.strerror or str(error))


def not_writable(path: Path, reason: str) -> StoreError:
    return StoreError(
        "MSL501",
        f"the store cannot be written: {path}: {_lower(reason)}",
        "allow writing there, or name another folder with `--store FOLDER`",
    )


def disk_full(path: Path) -> StoreError:
    return StoreError(
        "MSL502",
        f"{path} could not grow: {_space_left(path)}; everything stored before is safe",
        "make room (`msl gc` says what it would free), then give the same command again: it continues",
    )


def disk_error(path: Path, reason: str) -> StoreError:
    return StoreError(
        "MSL508",
        f"the disk reports an error at {path}: {_lower(reason)}",
        "check the disk or the connection to it, then run `msl doctor`",
    )


def damaged(path: Path, reason: str) -> StoreError:
    return StoreError(
        "MSL503",
        f"the database {path} is damaged: {_lower(reason)}",
        "run `msl doctor --repair`: it rebuilds the store from what can be read and keeps the damaged file aside",
    )


def locked(path: Path) -> StoreError:
    return StoreError(
        "MSL505",
        f"another process keeps {path} locked",
        "wait for it, or end it; `msl log` lists the runs that are going on",
    )


def _space_left(path: Path) -> str:
    for folder in (path, *path.parents):
        if folder.is_dir():
            free = shutil.disk_usage(folder).free
            if free < 1_000_000:
                return f"the disk is full ({free:,} bytes left)"
            return f"the disk, a quota or a limit on the size of files is used up ({free:,} bytes are left on the disk)"
    return "the disk is full"


def _lower(reason: str) -> str:
    """A message of SQLite or the system as the end of a sentence."""
    return reason[:1].lower() + reason[1:].rstrip(".")
