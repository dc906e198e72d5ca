"""Registry: strategies by name — those that ship, and those that other packages offer as entry points."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import cast

from msl.check.offers import GROUP, Offer, offers
from msl.search.setting import StrategyFunction

BUILT_IN = (
    "pso", "bpso", "pattern", "random", "grid", "best_first", "occam_ga", "nspso", "cmdpso", "halving", "auto",
    "confirm",
)  # fmt: skip


def strategy_names() -> tuple[str, ...]:
    """All that can be named, those that ship first."""
    return (*BUILT_IN, *sorted(set(offers()) - set(BUILT_IN)))


def load_strategy(name: str) -> StrategyFunction:
    """The generator function of a strategy. What ships cannot be replaced by a package."""
    if name in BUILT_IN:
        return cast(StrategyFunction, getattr(import_module(f"msl.search.{name}"), name))
    offer = offers().get(name)
    if offer is not None:
        return _loaded(offer)
    close = get_close_matches(name, strategy_names(), 1)
    advice = f"did you mean `{close[0]}`?" if close else f"strategies are {', '.join(strategy_names())}"
    raise ValueError(f"`{name}` is not a strategy; {advice}")


def _loaded(offer: Offer) -> StrategyFunction:
    try:
        found = EntryPoint(offer.name, offer.target, GROUP).load()
    except (ImportError, AttributeError) as trouble:
        message = f"the strategy `{offer.name}` of the package `{offer.package}` cannot be loaded: {trouble}"
        raise ValueError(message) from trouble
    if not callable(found):
        raise ValueError(f"the strategy `{offer.name}` is not a function but {type(found).__name__}")
    return cast(StrategyFunction, found)
