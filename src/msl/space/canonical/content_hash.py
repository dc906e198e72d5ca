"""Plain data kept under the hash of its content, so that equal pieces are one entry wherever they occur."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256

Plain = None | bool | int | float | str | tuple["Plain", ...]
Entry = tuple[Plain, ...]
#: The SHA-256 of an entry. An entry names its pieces by their keys, so a key stands for everything below it.
Key = str


#: JSON without any freedom: sorted keys, no blanks, ASCII, and `1`, `1.0`, `true` and `"1"` all different.
_canonical = json.JSONEncoder(sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def content_hash(plain: object) -> Key:
    """The SHA-256 of plain data: the same for lists and tuples, whatever the order of a mapping."""
    return sha256(_canonical.encode(plain).encode("ascii")).hexdigest()


class Entries:
    """A growing store; an entry begins with a word that says what the rest of it means."""

    def __init__(self) -> None:
        self._by_key: dict[Key, Entry] = {}
        self._keys: dict[Entry, Key] = {}

    def add(self, *entry: Plain) -> Key:
        """The key of an entry. Its first word fixes the kinds of all others, so that no 1 meets a 1.0 in one place."""
        key = self._keys.get(entry)
        if key is None:
            key = self._keys[entry] = content_hash(entry)
            self._by_key[key] = entry
        return key

    def __getitem__(self, key: Key) -> Entry:
        return self._by_key[key]

    def kind(self, key: Key) -> str:
        """The word that an entry begins with."""
        return str(self._by_key[key][0])

    def pieces(self, key: Key, kind: str) -> tuple[Key, ...]:
        """The pieces of an entry of this kind, which holds nothing but keys; any other entry is its own only piece."""
        entry = self._by_key[key]
        return tuple(map(str, entry[1:])) if entry[0] == kind else (key,)

    def below(self, roots: Iterable[Key]) -> Mapping[Key, Entry]:
        """The entries that the roots are made of, and no others."""
        found: dict[Key, Entry] = {}
        pending = list(roots)
        while pending:
            key = pending.pop()
            if key not in found:
                found[key] = self._by_key[key]
                pending.extend(piece for piece in _strings(found[key][1:]) if piece in self._by_key)
        return dict(sorted(found.items()))


def _strings(plain: Plain) -> Iterable[str]:
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, tuple):
        for piece in plain:
            yield from _strings(piece)
