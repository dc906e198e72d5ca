"""Size: the bytes that a value keeps in memory, to a good approximation. One that has `nbytes` is taken at its word."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

#: Deeper than this nothing large is hidden, and whatever refers to half the program must not be walked through.
_DEEPEST = 8
#: Kinds of values that are small and have no parts, and about how small: not worth a closer look.
_SMALL: frozenset[type] = frozenset({int, float, complex, bool, type(None)})
_SMALL_BYTES = 32
_ATOMS: tuple[type, ...] = (str, bytes, *_SMALL, type, types.ModuleType)

Reader = Callable[[Any], Iterable[Any]]


def approximate_size(value: Any, but: Collection[Any] = ()) -> int:
    """The bytes of the arrays and objects inside a value, each counted once; those in `but` belong to others."""
    # The objects themselves are held, so that no number stands for two that come one after the other.
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
    """The array whose memory a view looks at."""
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        array = array.base
    return array


#: Found once a type, since a cache asks for the sizes of a few kinds of values over and over: how to get at the parts
#: of its values, and whether they may tell their bytes themselves.
_readers: dict[type, tuple[Reader | None, bool]] = {}


def _reader(kind: type) -> tuple[Reader | None, bool]:
    return _parts_of(kind), not issubclass(kind, (*_ATOMS, Mapping, list, tuple, set, frozenset))


def _parts_of(kind: type) -> Reader | None:
    """How to get at the parts of the values of a type; None if they have none."""
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
        return (value.__getstate__(),)  # compiled classes tell what they hold as they do to pickle
    except Exception:
        return ()
