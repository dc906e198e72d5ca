"""Inertia: how much of its speed a particle keeps, constant or falling in a straight line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msl.space.value import SymbolValue


def inertia_schedule(option: Any, iterations: int) -> Callable[[int], float]:
    """The inertia of iteration t = 1, 2, …: `ramp(first, last, over)` falls over that share of the iterations."""
    if not isinstance(option, SymbolValue):
        return lambda t: float(option)
    given = dict(option.params)
    first, last, over = float(given["first"]), float(given["last"]), float(given["over"])  # type: ignore[arg-type]
    length = max(iterations * over, 1.0)
    return lambda t: first - (first - last) * min((t - 1) / length, 1.0)
