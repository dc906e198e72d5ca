"""Registry: strategies by name — those that ship, and those that other packages offer as entry points.

A package offers one in the group `msl.strategies`: the name that a spec uses, and `module:function`.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from msl.search.setting import StrategyFunction

GROUP = "msl.strategies"
BUILT_IN = ("pso", "bpso", "pattern", "random", "grid", "best_first", "occam_ga", "nspso", "cmdpso", "halving", "auto")


def strategy_names() -> tuple[str, ...]:
    """All that can be named, those that ship first."""
    return (*BUILT_IN, *sorted(_offered()))


def load_strategy(name: str) -> StrategyFunction:
    """The generator function of a strategy. What ships cannot be replaced by a package."""
    if name in BUILT_IN:
        return _called(getattr(import_module(f"msl.search.{name}"), name), name)
    if name in _offered():
        return _called(_offered()[name].load(), name)
    close = get_close_matches(name, strategy_names(), 1)
    advice = f"did you mean `{close[0]}`?" if close else f"strategies are {', '.join(strategy_names())}"
    raise ValueError(f"`{name}` is not a strategy; {advice}")


@cache
def _offered() -> dict[str, EntryPoint]:
    """The first package that offers a name has it, by the order of their names."""
    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if point.name not in BUILT_IN:
            found.setdefault(point.name, point)
    return found


def _called(found: object, name: str) -> StrategyFunction:
    if not callable(found):
        raise ValueError(f"the strategy `{name}` is not a function but {type(found).__name__}")
    return cast(Callable[..., object], found)  # type: ignore[return-value]
