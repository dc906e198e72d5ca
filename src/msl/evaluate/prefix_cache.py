"""PrefixCache: what steps made of a fold, kept for the next model that starts with the same steps.

Capped in bytes. What saves the fewest seconds for each byte goes first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(slots=True)
class _Entry:
    value: Any
    seconds: float
    size: int
    uses: int = 0

    @property
    def worth(self) -> float:
        """Seconds that a further use would save, for each byte it takes."""
        return self.seconds * (1 + self.uses) / self.size


class PrefixCache:
    """Values by key; `get` computes what is not there and counts what was saved."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.hits = 0
        self.seconds_saved = 0.0
        self._entries: dict[Hashable, _Entry] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> tuple[T, float]:
        """The value of a key and the seconds it took when it was computed."""
        entry = self._entries.get(key)
        if entry is not None:
            entry.uses += 1
            self.hits += 1
            self.seconds_saved += entry.seconds
            return entry.value, entry.seconds
        start = perf_counter()
        value = compute()
        seconds = perf_counter() - start
        size = approximate_size(value)
        if size <= self.most_bytes // 4:
            self._entries[key] = _Entry(value, seconds, size)
            self.bytes += size
            self._shrink()
        return value, seconds

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def _shrink(self) -> None:
        """Drops the least worthy down to nine tenths of the cap, so that shrinking is rare."""
        if self.bytes <= self.most_bytes:
            return
        for key in sorted(self._entries, key=lambda key: self._entries[key].worth):
            if self.bytes <= 0.9 * self.most_bytes:
                return
            self.bytes -= self._entries.pop(key).size


def approximate_size(value: Any, depth: int = 0) -> int:
    """Bytes of the arrays inside a value, found through its attributes a few levels down."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes) + 128
    if depth > 4 or isinstance(value, str | int | float | bool | type(None)):
        return sys.getsizeof(value)
    if isinstance(value, dict):
        return 64 + sum(approximate_size(item, depth + 1) for item in value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return 64 + sum(approximate_size(item, depth + 1) for item in value)
    return 64 + approximate_size(getattr(value, "__dict__", {}), depth + 1)
