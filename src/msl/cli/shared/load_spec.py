"""Read the source of a spec, and load and check it for verbs other than `check`.

Sources are read from files, standard input or a git revision. Errors are printed and end the command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from msl.cli.shared.console import Exit, report
from msl.diagnostics.diagnostic import Diagnostic, has_errors, in_reading_order
from msl.diagnostics.source import MOST_BYTES, Refused, Source, read_regular
from msl.diagnostics.suggest import did_you_mean
from msl.diagnostics.user_error import UserError

if TYPE_CHECKING:
    from msl.check.check_spec import Checked
    from msl.check.names.library import ReadFile
    from msl.data.table import Table
    from msl.encode.codec import Codec
    from msl.language.override import Override
    from msl.space.spec import Spec

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


# --- Specs, checked with their tables ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checked spec, its source, its table where one was given, and the changes of `--set` and similar options."""

    source: Source
    spec: Spec
    checked: Checked
    table: Table | None = None
    changes: tuple[str, ...] = ()


def load(name: str, data: str | None = None, chain: str | None = None, overrides: Sequence[Override] = ()) -> Loaded:
    """The spec in a file, checked, also against a table where one is given. Errors are printed and end the command."""
    if data is not None and data.endswith(".msl") and not name.endswith(".msl"):
        raise UserError(f"`{name}` is read as the spec, and `{data}` as the table", f"name `{data}` before `{name}`")
    source = read_source(name)
    if not overrides:
        return load_source(source, data, chain)
    from msl.language.override import WrongOverride, override_text

    try:
        changed = override_text(source, overrides)
    except WrongOverride as wrong:
        _fail(wrong.diagnostics)
    loaded = load_source(changed.source, data, chain, told=changed.relocated)
    return replace(loaded, changes=tuple(each.source.text for each in overrides))


def load_source(
    source: Source,
    data: str | None = None,
    chain: str | None = None,
    read_file: ReadFile | None = None,
    told: Callable[[Diagnostic], Diagnostic] = lambda diagnostic: diagnostic,
) -> Loaded:
    """The same for a text; `read_file` reads the files that it uses, from the disk when absent.

    `told` maps a diagnostic to the form in which it is printed.
    """
    from msl.check.check_spec import check_source

    checked = check_source(source, None, chain, read_file)
    table = None
    if data is not None and checked.spec is not None:
        from msl.cli.shared.load_plan import read_for

        table, problems = read_for(source, checked.data, data)
        if table is None:
            _fail(map(told, problems))
        checked = check_source(source, table.facts, chain, read_file)
    if checked.spec is None and not has_errors(checked.diagnostics):
        message = f"`{source.name}` has no chain: it declares blocks and parts for other files to use"
        raise UserError(message, "name a spec with a `chain`")
    if checked.spec is None:
        _fail(told(diagnostic) for diagnostic in checked.diagnostics if diagnostic.is_error)
    report(map(told, checked.changed_meanings), stream=sys.stderr)
    return Loaded(source, checked.spec, checked, table)


def _fail(diagnostics: Iterable[Diagnostic]) -> NoReturn:
    report(in_reading_order(diagnostics), stream=sys.stderr)
    raise SystemExit(int(Exit.FAILED))


# --- Codecs -----------------------------------------------------------------------------------------------------------


def codec_of(loaded: Loaded, encoding: str = "shared") -> Codec:
    """The codec of a space; one whose bounds follow the table needs a table."""
    from msl.encode.codec import NeedsTable, space_to_codec

    if encoding not in ("shared", "separate"):
        raise UserError(f"`{encoding}` is not an encoding", "it is `shared` or `separate`")
    try:
        return space_to_codec(loaded.spec.space, "shared" if encoding == "shared" else "separate")
    except NeedsTable:
        raise UserError("bounds of this space depend on the table", "add `--data TABLE`") from None


# --- Specs at a git revision, with the files that they use at the same revision ---------------------------------------


_HELP = "write REVISION:PATH, such as HEAD~1:specs/model.msl"


def load_revision(name: str, data: str | None, chain: str | None) -> Loaded:
    """The spec at `REVISION:PATH`."""
    revision, _, path = name.partition(":")
    source = Source(name, _git_text(revision, path), path)
    return load_source(source, data, chain, partial(_used_text, revision))


def _used_text(revision: str, path: str) -> str:
    try:
        return _git_text(revision, path)
    except UserError as wrong:
        raise UserError(wrong.message) from None


def _git_text(revision: str, path: str) -> str:
    """The text of a file at a revision. A revision is never read as an option of git."""
    place = path if PurePosixPath(path).is_absolute() else f"./{path}"
    command = ["git", "cat-file", "blob", f"{revision}:{place}"]
    if revision.startswith("-"):
        raise UserError(f"`{revision}` is not a revision", _HELP)
    try:
        shown = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise UserError("git is not installed, so there is no REVISION:PATH", "name two files") from None
    if shown.returncode:
        said = shown.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        said = "it is not a file there" if said.endswith("bad file") else said
        raise UserError(f"`{revision}:{path}`: {said}", _HELP)
    try:
        return shown.stdout.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise UserError(f"`{revision}:{path}` is not UTF-8 text") from None
