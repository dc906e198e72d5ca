"""PrefixCache: what steps made of a fold, kept for the next model that starts with the same steps.

Capped in bytes. What saves the fewest seconds for each byte goes first; what was not used for long counts less and
less, so that a cache does not stay full of what a search has left behind (Cherkasova, 1998: greedy dual size
frequency).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from msl.evaluate.size import approximate_size

T = TypeVar("T")

#: Nothing larger than this part of the cap is kept: it would push out everything else.
_LARGEST_PART = 0.25
#: Down to this part of the cap is room made, so that it is made rarely.
_REST = 0.9


class Got(NamedTuple, Generic[T]):
    """A value, and whether it was computed now."""

    value: T
    is_new: bool


@dataclass(slots=True)
class _Entry:
    value: Any
    #: What it took to compute, and with what it grew by later.
    first_seconds: float
    seconds: float
    size: int
    uses: int
    worth: float


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """What a cache has done so far: uses and the seconds that they saved at least, what was computed and dropped, and
    the bytes that it keeps and kept at most."""

    hits: int
    misses: int
    seconds_saved: float
    evictions: int
    bytes: int
    most_bytes: int


class PrefixCache:
    """Values by key; `get` computes what is not there. A key of None is never kept.

    `lent` are arrays that stay in memory in any case, such as the table.
    """

    def __init__(self, most_bytes: int, lent: Collection[Any] = ()) -> None:
        self._cap, self._largest = most_bytes, _LARGEST_PART * most_bytes
        self._lent = lent
        self._entries: dict[Hashable, _Entry] = {}
        self._bytes = self._most_bytes = 0
        self._hits = self._misses = self._evictions = 0
        self._seconds_saved = 0.0
        self._age = 0.0

    def get(self, key: Hashable | None, compute: Callable[[], T], shared: Collection[Any] = ()) -> Got[T]:
        """The value of a key, computed unless it is there.

        `shared` are arrays in the value that others keep too, such as the rows that a step was given.
        """
        entry = None if key is None else self._entries.get(key)
        if entry is not None:
            entry.uses += 1
            entry.worth = self._worth(entry.seconds, entry.uses, entry.size)
            self._hits += 1
            self._seconds_saved += entry.first_seconds
            return Got(entry.value, False)
        start = perf_counter()
        value = compute()
        seconds = perf_counter() - start
        self._misses += 1
        if key is not None and self._cap:
            self._keep(key, value, seconds, shared)
        return Got(value, True)

    def weigh(self, key: Hashable | None, seconds: float, shared: Collection[Any] = ()) -> None:
        """Weighs a value again that may have grown by a use that took so many seconds."""
        entry = None if key is None else self._entries.get(key)
        if entry is None or isinstance(entry.value, np.ndarray):
            return
        size = self._size(entry.value, shared)
        if size <= entry.size:
            return
        self._bytes += size - entry.size
        entry.size = size
        entry.seconds += seconds
        entry.worth = self._worth(entry.seconds, entry.uses, size)
        if self._bytes > self._cap:
            self._make_room()
        self._most_bytes = max(self._most_bytes, self._bytes)

    def figures(self) -> CacheFigures:
        return CacheFigures(
            self._hits, self._misses, self._seconds_saved, self._evictions, self._bytes, self._most_bytes
        )

    def has_room(self, size: int) -> bool:
        """Whether a value of so many bytes may be kept."""
        return size <= self._largest

    def _size(self, value: Any, shared: Collection[Any]) -> int:
        """The bytes that a value adds. Parts too large to be kept on their own are kept by it, if at all."""
        return approximate_size(value, [*self._lent, *[part for part in shared if part.nbytes <= self._largest]])

    def _worth(self, seconds: float, uses: int, size: int) -> float:
        """Seconds saved by a use, for each byte; `_age` is what the last entry dropped was worth."""
        return self._age + seconds * uses / size

    def _keep(self, key: Hashable, value: Any, seconds: float, shared: Collection[Any]) -> None:
        size = self._size(value, shared)
        if not self.has_room(size):
            return
        self._entries[key] = _Entry(value, seconds, seconds, size, 1, self._worth(seconds, 1, size))
        self._bytes += size
        if self._bytes > self._cap:
            self._make_room()
        self._most_bytes = max(self._most_bytes, self._bytes)

    def _make_room(self) -> None:
        for key in sorted(self._entries, key=lambda key: self._entries[key].worth):
            if self._bytes <= _REST * self._cap:
                return
            dropped = self._entries.pop(key)
            self._age = dropped.worth
            self._bytes -= dropped.size
            self._evictions += 1
