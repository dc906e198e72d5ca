"""Record: frozen, slotted dataclasses that are quick to define.

The standard decorator compiles six methods for every class, 0.8 ms each time; with well over a hundred classes that is
most of the time a command takes to start. Here only `__init__` is compiled, the rest is shared. To `dataclasses`, to
type checkers and to `match` a record is a frozen dataclass.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, field
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_MISSING: Any = dataclasses.MISSING


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Makes a class a frozen, slotted dataclass, compared and hashed by the fields that take part.

    Give it a docstring: for a class without one, `dataclasses` works out its signature, longer work than all the rest.
    """
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    own = dataclasses.fields(made)
    compared = tuple(f.name for f in own if f.compare)
    made.__init__ = _initialiser(own, hasattr(made, "__post_init__"), made)
    made.__repr__ = _shown
    made.__eq__ = _equality(compared)
    made.__hash__ = _hashing(compared)
    made.__setattr__ = made.__delattr__ = _frozen
    made.__getstate__, made.__setstate__ = _state, _restore
    return made  # type: ignore[no-any-return]


def _initialiser(own: tuple[dataclasses.Field[Any], ...], checks: bool, made: type) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    positional: list[str] = ["self"]
    keyword: list[str] = []
    body: list[str] = []
    for place, one in enumerate(own):
        value = one.name
        if one.default_factory is not _MISSING:
            names[f"_factory{place}"] = one.default_factory
            value = f"_factory{place}() if {one.name} is _missing else {one.name}" if one.init else f"_factory{place}()"
        elif not one.init:
            continue
        if one.init:
            argument = one.name
            if one.default is not _MISSING:
                names[f"_default{place}"] = one.default
                argument += f"=_default{place}"
            elif one.default_factory is not _MISSING:
                argument += "=_missing"
            (keyword if one.kw_only else positional).append(argument)
        body.append(f" _set(self, {one.name!r}, {value})")
    if checks:
        body.append(" self.__post_init__()")
    arguments = ", ".join([*positional, *(["*", *keyword] if keyword else [])])
    found: dict[str, Any] = {}
    exec(f"def __init__({arguments}):\n" + "\n".join(body or [" pass"]), names, found)
    made_init: Callable[..., None] = found["__init__"]
    made_init.__qualname__ = f"{made.__qualname__}.__init__"
    return made_init


def _equality(compared: tuple[str, ...]) -> Callable[[Any, object], bool]:
    key = attrgetter(*compared) if compared else lambda instance: ()

    def equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented  # type: ignore[no-any-return]
        return bool(key(self) == key(other))

    return equal


def _hashing(compared: tuple[str, ...]) -> Callable[[Any], int]:
    key = attrgetter(*compared) if compared else lambda instance: ()

    def hashed(self: Any) -> int:
        return hash((self.__class__.__name__, key(self)))

    return hashed


def _shown(self: Any) -> str:
    values = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr)
    return f"{type(self).__qualname__}({values})"


def _frozen(self: Any, name: str, value: Any = None) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


# --- Collector: Python's search for garbage in cycles, paused while trees are built that have none. -------------------


@contextmanager
def paused_collector() -> Iterator[None]:
    """Does without the collector, whose share would grow with what is built; it is as before afterwards."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
