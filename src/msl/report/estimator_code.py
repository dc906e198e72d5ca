"""Estimator code: an estimator as the Python expression that makes it, with the imports that the expression needs."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from msl.blocks.chain import Branch

_INDENT = "    "
_WIDEST = 100


class Unwritable(ValueError):
    """A parameter that no expression can make."""


class EstimatorCode:
    """Writes expressions and remembers what they import."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def imports(self) -> list[str]:
        """The lines of import, sorted; numpy is `np` in every expression and imported by the file."""
        return [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._names.items())]

    def imported(self, thing: type | Callable[..., Any]) -> str:
        """The name of a class or a function, which is imported from the shortest public module that has it."""
        if "<" in thing.__qualname__ or "." in thing.__qualname__ or thing.__module__ == "__main__":
            raise Unwritable(f"`{thing.__qualname__}` of `{thing.__module__}` cannot be imported by name")
        public = list(takewhile(lambda part: not part.startswith("_"), thing.__module__.split(".")))
        modules = [".".join(public[: length + 1]) for length in range(len(public))]
        module = next((module for module in modules if _has(module, thing)), thing.__module__)
        self._names.setdefault(module, set()).add(thing.__name__)
        return thing.__name__

    def expression(self, value: Any, depth: int = 0) -> str:
        """A value as Python writes it; `depth` is how far the lines of a long one are indented."""
        match value:
            case None | bool() | str() | int():
                return repr(value)
            case float():
                return repr(value) if math.isfinite(value) else f'float("{value}")'
            case np.generic():
                return self.expression(value.item(), depth)
            case np.ndarray():
                return f"np.array({self.expression(value.tolist(), depth)})"
            case list() | tuple():
                return self._listed(value, depth)
            case dict():
                pairs = [f"{self.expression(key)}: {self.expression(inner, depth + 1)}" for key, inner in value.items()]
                return _wrapped("{", pairs, "}", depth)
            case Branch():
                return self.call(self.imported(Branch), [self.expression(value.branches, depth + 1)], depth)
            case BaseEstimator():
                return self.call(self.imported(type(value)), self._arguments(value, depth + 1), depth)
        if isinstance(value, type) or inspect.isroutine(value):
            return self.imported(value)
        raise Unwritable(f"a parameter is a {type(value).__name__}, which cannot be written as code")

    def call(self, name: str, arguments: Iterable[str], depth: int = 0) -> str:
        """A call, on one line where it fits."""
        return _wrapped(f"{name}(", list(arguments), ")", depth)

    def _listed(self, values: list[Any] | tuple[Any, ...], depth: int) -> str:
        if isinstance(values, tuple) and len(values) == 1:
            return f"({self.expression(values[0], depth)},)"
        opening, closing = ("(", ")") if isinstance(values, tuple) else ("[", "]")
        return _wrapped(opening, [self.expression(inner, depth + 1) for inner in values], closing, depth)

    def _arguments(self, estimator: BaseEstimator, depth: int) -> list[str]:
        """What differs from the defaults of the class."""
        values = estimator.get_params(deep=False)
        return [
            f"{name}={self.expression(values[name], depth)}"
            for name, parameter in inspect.signature(type(estimator)).parameters.items()
            if name in values and not _is_default(values[name], parameter.default)
        ]


def _has(module: str, thing: Any) -> bool:
    try:
        return getattr(importlib.import_module(module), thing.__name__, None) is thing
    except ImportError:
        return False


def _is_default(value: Any, default: Any) -> bool:
    if default is inspect.Parameter.empty or isinstance(value, np.ndarray):
        return False
    if isinstance(value, list | tuple) and isinstance(default, list | tuple) and not (value or default):
        return True
    return value is default or (type(value) is type(default) and repr(value) == repr(default))


def _wrapped(opening: str, items: list[str], closing: str, depth: int) -> str:
    line = opening + ", ".join(items) + closing
    if "\n" not in line and len(line) + len(_INDENT) * depth <= _WIDEST:
        return line
    if not any("(" in item or "\n" in item for item in items) and opening in "([":
        return opening + ", ".join(items) + closing  # a long vector reads no better with a line for each number
    inner = _INDENT * (depth + 1)
    return opening + "".join(f"\n{inner}{item}," for item in items) + f"\n{_INDENT * depth}{closing}"
