"""Write, read and compare `SPEC.lock`: the digests, bounds, versions and seed of a spec on a table."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msl.diagnostics.user_error import UserError
from msl.store.store import write_atomically
from msl.store.store_error import StoreError, translated

_FORMAT = 1
_HEADER = """\
# Written by `msl lock`; commit it beside the spec. `msl run --locked` refuses when anything here is different.
"""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SECTIONS = ("digests", "bounds", "versions")
_PARENT = "parent"

Plain = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Lock:
    """`digests` are those of space, encoding, evaluation, search and data; `bounds` are the resolved open domains."""

    seed: int
    digests: Mapping[str, str]
    bounds: Mapping[str, Plain] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    #: The earlier version of the table, where the store knows one, and how many rows differ. It is not compared.
    parent: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Difference:
    """One entry that differs; None on the side that lacks it."""

    section: str
    name: str
    locked: Plain | None
    current: Plain | None
    #: Why it may differ even if the user has changed nothing.
    note: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        where = self.name if self.section == self.name else f"{self.section}.{self.name}"
        note = f" ({self.note})" if self.note else ""
        return f"{where}: locked {_value_or_nothing(self.locked)}, now {_value_or_nothing(self.current)}{note}"


def lock_path(spec: Path) -> Path:
    """`specs/psms.msl` is locked by `specs/psms.lock`."""
    return spec.with_suffix(".lock") if spec.suffix == ".msl" else spec.with_name(spec.name + ".lock")


def differences(lock: Lock, current: Lock) -> list[Difference]:
    """Every entry that differs, in the order of the file."""
    found = [Difference("seed", "seed", lock.seed, current.seed)] if lock.seed != current.seed else []
    for section in _SECTIONS:
        before, now = getattr(lock, section), getattr(current, section)
        found += [
            Difference(section, name, before.get(name), now.get(name), _note(section, name, lock, current))
            for name in sorted({*before, *now})
            if repr(before.get(name)) != repr(now.get(name))  # 1 is not 1.0, and NaN is NaN
        ]
    return [one for one in found if not _is_implied(one, lock, current)]


def _note(section: str, name: str, lock: Lock, current: Lock) -> str:
    """Digests of spaces used to contain paths of Python files; now the revisions of blocks are locked instead."""
    is_older = not any(map(_is_revision, lock.versions)) and any(map(_is_revision, current.versions))
    if is_older and (section, name) == ("digests", "space"):
        return "an earlier version of MSL wrote the lock file, and digests of spaces were made in another way then"
    return ""


def _is_revision(name: str) -> bool:
    """Whether an entry of `versions` is the revision of a block, and not the version of a package."""
    return ":" in name


def _is_implied(one: Difference, lock: Lock, current: Lock) -> bool:
    """Whether a difference follows from another one, or from the lock being of an earlier version of MSL.

    A changed space has another encoding and other blocks. Locks of earlier versions have neither the encoding nor the
    revisions of blocks.
    """
    if one.section == "versions" and _is_revision(one.name):
        return one.locked is None or one.current is None
    if (one.section, one.name) != ("digests", "encoding"):
        return False
    return one.locked is None or lock.digests.get("space") != current.digests.get("space")


def write_lock(lock: Lock, path: Path) -> None:
    write_atomically(path, lock_to_text(lock))


def read_lock(path: Path) -> Lock:
    """Reads a lock file; raises StoreError if it does not exist or is damaged."""
    if not path.exists():
        raise StoreError("MSL513", f"there is no lock file {path}", "write it with `msl lock SPEC DATA`")
    with translated(path):
        content = path.read_bytes()
    try:
        return text_to_lock(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, UserError) as error:
        raise StoreError(
            "MSL513",
            f"the lock file {path} cannot be read: {error}",
            "settle a merge conflict in it if there is one, or write it anew with `msl lock SPEC DATA`",
        ) from error


def lock_to_text(lock: Lock) -> str:
    """A lock as TOML, with one entry per line and sorted, so that two versions can be compared with `diff`."""
    lines = [f"format = {_FORMAT}", f"seed = {lock.seed}"]
    for section in (*_SECTIONS, *([_PARENT] if lock.parent else [])):
        entries: Mapping[str, Plain] = getattr(lock, section)
        lines += ["", f"[{section}]", *(f"{_key(name)} = {_value(entries[name])}" for name in sorted(entries))]
    return _HEADER + "\n".join(lines) + "\n"


def text_to_lock(text: str) -> Lock:
    """The inverse of `lock_to_text`; raises UserError or TOMLDecodeError for a text that is not a lock."""
    content = tomllib.loads(text)
    if content.get("format") != _FORMAT:
        raise UserError(f"its format is {content.get('format')!r}, and only {_FORMAT} is known")
    expected = {"format", "seed", *_SECTIONS}
    if content.keys() - {_PARENT} != expected:
        raise UserError(f"it has to have the entries {', '.join(sorted(expected))}, and no others")
    if type(content["seed"]) is not int:
        raise UserError("the seed has to be a whole number")
    return Lock(content["seed"], *(_section(name, content.get(name, {})) for name in (*_SECTIONS, _PARENT)))


def _section(name: str, entries: Any) -> dict[str, Any]:
    allowed = (str, int, float, bool) if name in ("bounds", _PARENT) else (str,)
    if not isinstance(entries, dict) or not all(isinstance(entry, allowed) for entry in entries.values()):
        raise UserError(f"[{name}] has to hold plain values")
    return entries


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Plain) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
    return repr(value)


def _text(text: str) -> str:
    """A TOML string. All escapes of JSON are valid in TOML, but JSON does not escape the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _value_or_nothing(value: Plain | None) -> str:
    return "nothing" if value is None else _value(value)
