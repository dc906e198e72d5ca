"""Output, colours, warnings and exit codes of all verbs.

The result of a verb goes to standard output: a formatted text, a diff, a table, and the findings of `check` (as with
ruff). Messages about its work, and the diagnostics that stop any other verb (as with rustc), go to standard error, so
that a pipe carries the result alone.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import traceback
import warnings
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TextIO

import typer

from msl import __version__
from msl.diagnostics.diagnostic import Diagnostic, Format, has_errors
from msl.diagnostics.terminal import safe, safe_lines
from msl.diagnostics.user_error import UserError

P = ParamSpec("P")
_LONGEST_WARNING = 200


class Clock:
    """When the command began: a time budget includes reading the table and importing libraries."""

    started: float | None = None


class Exit(IntEnum):
    """The exit codes of every verb."""

    FINE = 0
    FAILED = 1  # errors in the input, or a check that does not hold
    WRONG_USE = 2  # an unknown option, a file that cannot be read
    BUG = 70  # EX_SOFTWARE
    INTERRUPTED = 130  # 128 + SIGINT, as shells count
    BROKEN_PIPE = 141  # 128 + SIGPIPE
    TERMINATED = 143  # 128 + SIGTERM


def wants_colour(stream: TextIO) -> bool:
    """Colour on a terminal only; `NO_COLOR` and `FORCE_COLOR` overrule, in this order."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def write(text: str) -> None:
    """Writes text for people to standard output; control characters in it are made visible."""
    _write(sys.stdout, safe_lines(text, colours=wants_colour(sys.stdout)))


def write_exactly(text: str) -> None:
    """Writes text for programs to standard output, unchanged unless it goes to a terminal."""
    _write(sys.stdout, safe_lines(text) if sys.stdout.isatty() else text)


def tell(text: str) -> None:
    """Writes a message to standard error."""
    _write(sys.stderr, safe_lines(text, colours=wants_colour(sys.stderr)) + "\n")


def complain(wrong: UserError) -> None:
    """Reports a mistake of the user, and what to do about it."""
    bold_red, bold_cyan, plain = ("\x1b[1;31m", "\x1b[1;36m", "\x1b[0m") if wants_colour(sys.stderr) else ("", "", "")
    tell(f"{bold_red}error{plain}: {safe(wrong.message)}")
    if wrong.help is not None:
        tell(f"{bold_cyan}help{plain}: {safe(wrong.help)}")


def report(diagnostics: Iterable[Diagnostic], format: Format = Format.FULL, stream: TextIO | None = None) -> Exit:
    """Prints diagnostics (by default on standard error), for people with a count at the end; errors fail the verb."""
    diagnostics = list(diagnostics)
    if format.for_people and not diagnostics:
        return Exit.FINE
    from msl.diagnostics.render import render, summary

    stream = stream or sys.stderr
    text = render(diagnostics, format, wants_colour(stream))
    if format.for_people:
        text = safe_lines(f"{text}\n{summary(diagnostics)}\n", colours=wants_colour(stream))
    _write(stream, text)
    return Exit.FAILED if has_errors(diagnostics) else Exit.FINE


def guarded(verb: Callable[P, Exit | None]) -> Callable[P, None]:
    """Wraps a verb so that it ends the process with its exit code and reports errors."""

    @wraps(verb)
    def run(*arguments: P.args, **options: P.kwargs) -> None:
        with guard():
            code = verb(*arguments, **options) or Exit.FINE
            sys.stdout.flush()
            raise SystemExit(int(code))

    return run


@contextmanager
def guard() -> Iterator[None]:
    """Turns exceptions into exit codes: a `UserError` with one sentence, anything unexpected as a bug."""
    try:
        with one_line_of_warnings():
            yield
    except UserError as wrong:
        complain(wrong)
        raise SystemExit(int(Exit.WRONG_USE)) from None
    except KeyboardInterrupt:
        raise SystemExit(int(Exit.INTERRUPTED)) from None
    except BrokenPipeError:
        _leave_quietly()
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise  # typer reports these itself
    except Exception:
        _tell_of_bug()
        raise SystemExit(int(Exit.BUG)) from None


@contextmanager
def one_line_of_warnings() -> Iterator[None]:
    """Collects warnings of libraries and prints them as one line at the end; with `python -W` they are left alone."""
    if sys.warnoptions:
        yield
        return
    heard: dict[str, None] = {}

    def hear(message: Warning | str, *where: object) -> None:
        heard.setdefault(" ".join(str(message).split()))

    with warnings.catch_warnings():
        warnings.showwarning = hear  # type: ignore[assignment]
        try:
            yield
        finally:
            if heard:
                first = next(iter(heard))
                short = first if len(first) <= _LONGEST_WARNING else f"{first[:_LONGEST_WARNING]} …"
                others = f" (and {len(heard) - 1} more)" if len(heard) > 1 else ""
                tell(f"warning: {safe(short)}{others}")


def _tell_of_bug() -> None:
    tell(traceback.format_exc())
    tell(f"This is a bug in msl {__version__}, not in your spec. Please report it with the lines above, the command")
    tell("and, if you can share it, the file.")


def _leave_quietly() -> NoReturn:
    """The reader of a pipe has gone: discard what is still buffered, or Python would complain at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    raise SystemExit(int(Exit.BROKEN_PIPE))


def _write(stream: TextIO, text: str) -> None:
    """Writes what the stream's encoding can show; a terminal without `…` gets `?` instead of an error."""
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "replace").decode(encoding))


# --- Output to a file -------------------------------------------------------------------------------------------------


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


# --- JSON with integers of any length: a space may have 10^30000 models, and Python writes 4,300 digits ---------------


def large_json(record: dict[str, Any]) -> str:
    """A record as indented JSON, its numbers written out however long they are."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    finally:
        sys.set_int_max_str_digits(limit)
