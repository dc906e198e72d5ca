"""Size: the bytes that a value keeps in memory, to a good approximation. One that has `nbytes` is taken at its word."""

from __future__ import annotations

import sys
import types
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

#: Deeper than this nothing large is hidden, and whatever refers to half the program must not be walked through.
_DEEPEST = 8
_ATOMS = (str, bytes, int, float, complex, bool, type(None), type, types.ModuleType)


def approximate_size(value: Any, but: Collection[Any] = ()) -> int:
    """The bytes of the arrays and objects inside a value, each counted once; those in `but` belong to others."""
    # The objects themselves are held, so that no number stands for two that come one after the other.
    met = {id(owner): owner for owner in map(_owner, but)}
    return _size(value, met, 0)


def _size(value: Any, met: dict[int, Any], depth: int) -> int:
    if isinstance(value, np.ndarray):
        value = _owner(value)
    if id(value) in met:
        return 0
    met[id(value)] = value
    own = sys.getsizeof(value)
    if isinstance(value, np.ndarray):
        return max(own, int(value.nbytes))
    if isinstance(told := getattr(value, "nbytes", None), int):
        return own + told
    if isinstance(value, _ATOMS) or depth == _DEEPEST:
        return own
    return own + sum(_size(part, met, depth + 1) for part in _parts(value))


def _owner(array: Any) -> Any:
    """The array whose memory a view looks at."""
    while isinstance(array, np.ndarray) and isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        yield from value
    elif own := getattr(value, "__dict__", None):
        yield from own.values()
    elif not callable(value):
        try:
            yield value.__getstate__()  # compiled classes and slotted ones tell what they hold as they do to pickle
        except Exception:
            return
