"""Revisions: a spec as git has it at a revision, with the files that it uses at the same revision."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import PurePosixPath

from msl.cli.console import WrongUse
from msl.cli.specs import Loaded, load_source
from msl.text.source import Source

_HELP = "write REVISION:PATH, such as HEAD~1:specs/model.msl"


def load_revision(name: str, data: str | None, chain: str | None) -> Loaded:
    """The spec behind `REVISION:PATH`."""
    revision, _, path = name.partition(":")
    source = Source(name, _git_text(revision, path), path)
    return load_source(source, data, chain, partial(_used_text, revision))


def _used_text(revision: str, path: str) -> str:
    try:
        return _git_text(revision, path)
    except WrongUse as wrong:
        raise ValueError(wrong.message) from None


def _git_text(revision: str, path: str) -> str:
    """The text of a file at a revision. A revision is never read as an option of git."""
    place = path if PurePosixPath(path).is_absolute() else f"./{path}"
    command = ["git", "cat-file", "blob", f"{revision}:{place}"]
    if revision.startswith("-"):
        raise WrongUse(f"`{revision}` is not a revision", _HELP)
    try:
        shown = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise WrongUse("git is not installed, so there is no REVISION:PATH", "name two files") from None
    if shown.returncode:
        said = shown.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        said = "it is not a file there" if said.endswith("bad file") else said
        raise WrongUse(f"`{revision}:{path}`: {said}", _HELP)
    try:
        return shown.stdout.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise WrongUse(f"`{revision}:{path}` is not UTF-8 text") from None
