"""Strategies, and what they are written with.

what a strategy gets and returns       base (Query, Observation, SearchSpace, Event), strategy_context (Setting)
a strategy by its name                 stages.load_strategy
`search a then b` as one strategy      stages.then
the strategies that ship               strategies/, one file each; `msl.search.pso` is the function of that name
velocity, crossover, surrogates, …      operators/

Catalogues name a strategy by this package (`msl.search:pso`), whichever file it is in.
"""

from __future__ import annotations

from importlib import import_module


def __getattr__(name: str) -> object:
    """Imports a strategy when it is first used."""
    module = f"{__name__}.strategies.{name}"
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        if missing.name != module:
            raise
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`") from None
