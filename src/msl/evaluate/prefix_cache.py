"""Cache fitted prefixes: the rows of a fold after some steps, for the next model that starts with the same steps.

Its size is limited in bytes. What saves the fewest seconds per byte is evicted first, and what has not been used for
long counts less and less (greedy dual size frequency; Cherkasova, 1998).
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from msl.evaluate.dataset import bytes_of

T = TypeVar("T")

#: Nothing larger than this share of the limit is kept: it would evict everything else.
_LARGEST_PART = 0.25
#: An eviction goes on down to this share of the limit, so that it is rare.
_REST = 0.9


class Got(NamedTuple, Generic[T]):
    """A value, and whether it was computed now."""

    value: T
    is_new: bool


@dataclass(slots=True)
class _Entry:
    value: Any
    #: The time that it took to compute, and with the time of what it grew by later.
    first_seconds: float
    seconds: float
    size: int
    uses: int
    worth: float


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """Statistics of a cache: hits and the seconds that they saved at least, misses, evictions, and its bytes now and at
    most."""

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
        """Measures a value again that may have grown by a use that took so many seconds."""
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
        """Whether a value of so many bytes is kept."""
        return size <= self._largest

    def _size(self, value: Any, shared: Collection[Any]) -> int:
        """The bytes that a value adds. Shared parts that are too large for an entry of their own count as its own."""
        return approximate_size(value, [*self._lent, *[part for part in shared if bytes_of(part) <= self._largest]])

    def _worth(self, seconds: float, uses: int, size: int) -> float:
        """Seconds saved by a use, per byte; `_age` is the worth of the last entry that was evicted."""
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


# --- the bytes that a value takes, approximately ----------------------------------------------------------------------


#: Nothing large is nested deeper, and objects that refer to half the program must not be walked through.
_DEEPEST = 8
#: Types of small values without parts, and about how many bytes they take.
_SMALL: frozenset[type] = frozenset({int, float, complex, bool, type(None)})
_SMALL_BYTES = 32
_ATOMS: tuple[type, ...] = (str, bytes, *_SMALL, type, types.ModuleType)

Reader = Callable[[Any], Iterable[Any]]


def approximate_size(value: Any, but: Collection[Any] = ()) -> int:
    """The bytes of the arrays and objects inside a value, each counted once; those in `but` are not counted.

    A value that has `nbytes` is not looked into.
    """
    # The objects themselves are held, so that no id is reused while they are counted.
    met = {id(owner): owner for owner in map(_owner, but)}
    total, level = 0, [value]
    for depth in range(_DEEPEST + 1):
        parts: list[Any] = []
        for value in level:
            kind = type(value)
            if kind in _SMALL:
                total += _SMALL_BYTES
                continue
            is_array = isinstance(value, np.ndarray)
            if is_array and value.base is not None:
                value = _owner(value)
            if id(value) in met:
                continue
            met[id(value)] = value
            own = sys.getsizeof(value)
            if is_array:
                total += max(int(value.nbytes), own)
                continue
            total += own
            if kind not in _readers:
                _readers[kind] = _reader(kind)
            read, may_tell = _readers[kind]
            if may_tell and isinstance(told := getattr(value, "nbytes", None), int):
                total += told
            elif read is not None and depth < _DEEPEST:
                parts += read(value)
        level = parts
    return total


def _owner(array: Any) -> Any:
    """The array that owns the memory of a view."""
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        array = array.base
    return array


#: By type, since a cache measures values of a few types over and over: how to list the parts of a value, and whether it
#: may have `nbytes`.
_readers: dict[type, tuple[Reader | None, bool]] = {}


def _reader(kind: type) -> tuple[Reader | None, bool]:
    return _parts_of(kind), not issubclass(kind, (*_ATOMS, Mapping, list, tuple, set, frozenset))


def _parts_of(kind: type) -> Reader | None:
    """How to list the parts of the values of a type; None if they have none."""
    if issubclass(kind, _ATOMS):
        return None
    if issubclass(kind, Mapping):
        return lambda value: value.values()
    if issubclass(kind, list | tuple | set | frozenset):
        return lambda value: value
    slots = [
        slot for base in kind.__mro__ for slot in vars(base).values() if isinstance(slot, types.MemberDescriptorType)
    ]
    if slots and not any("__call__" in vars(base) for base in kind.__mro__):
        return lambda value: _slotted(value, slots)
    return _attributes


def _slotted(value: Any, slots: list[types.MemberDescriptorType]) -> Iterable[Any]:
    parts = list(getattr(value, "__dict__", {}).values())
    for slot in slots:
        try:
            parts.append(slot.__get__(value))
        except AttributeError:  # not filled yet
            continue
    return parts


def _attributes(value: Any) -> Iterable[Any]:
    if own := getattr(value, "__dict__", None):
        return list(own.values())
    if callable(value):
        return ()
    try:
        return (value.__getstate__(),)  # compiled classes list what they hold for pickle
    except Exception:
        return ()
