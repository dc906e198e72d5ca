"""Registry: strategies by name — those that ship, and those that other packages offer as entry points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any, cast

import numpy as np

from msl.check.names.catalogues import GROUP, Offer, offers
from msl.diagnostics.user_error import UserError
from msl.search.base import Event, Observation, Query, SearchSpace, Vector, ended
from msl.search.setting import Setting, Strategy, StrategyFunction

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
        return cast(StrategyFunction, getattr(import_module(f"msl.search.strategies.{name}"), name))
    offer = offers().get(name)
    if offer is not None:
        return _loaded(offer)
    close = get_close_matches(name, strategy_names(), 1)
    advice = f"did you mean `{close[0]}`?" if close else f"strategies are {', '.join(strategy_names())}"
    raise UserError(f"`{name}` is not a strategy; {advice}")


def _loaded(offer: Offer) -> StrategyFunction:
    try:
        found = EntryPoint(offer.name, offer.target, GROUP).load()
    except (ImportError, AttributeError) as trouble:
        message = f"the strategy `{offer.name}` of the package `{offer.package}` cannot be loaded: {trouble}"
        raise UserError(message) from trouble
    if not callable(found):
        raise UserError(f"the strategy `{offer.name}` is not a function but {type(found).__name__}")
    return cast(StrategyFunction, found)


# --- Stages: `search a then b` — strategies one after the other on one memory of evaluations, within one budget. ------


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A strategy, its options, the cube that it searches, and where it was told to start.

    One that judges `again` what others found is run also when there is nothing more to find.
    """

    strategy: StrategyFunction
    options: Mapping[str, Any]
    search_space: SearchSpace
    start: Vector | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """How many evaluations may be asked for, reused ones included, and a loss that is good enough."""

    evaluations: int | None = None
    until: float | None = None


NO_LIMITS = Limits()


def then(
    stages: Sequence[Stage],
    seed: int,
    limits: Limits = NO_LIMITS,
    objectives: int = 1,
    note: Callable[[Event], None] = lambda event: None,
) -> Strategy:
    """Runs the stages as one strategy.

    Each stage knows every outcome so far, in the terms of its own cube, and draws from (seed, stage): what one stage
    does with its randomness changes nothing for the next. It ends when the last stage does, or when the evaluations are
    used up (the last batch is cut short). When a loss is good enough, or every model has been evaluated, only what was
    found is judged again.
    """
    memory = Memory()
    left = limits.evaluations
    is_found = False
    for number, stage in enumerate(stages):
        if is_found and not stage.again:
            continue
        setting = Setting(
            search_space=stage.search_space,
            options=stage.options,
            rng=np.random.default_rng([seed, number]),
            known=memory.seen_from(stage.search_space),
            objectives=objectives,
            start=stage.start,
            note=_numbered(note, number),
        )
        strategy = stage.strategy(setting)
        asks = next(strategy, None)
        while asks is not None:
            granted = asks if left is None else asks[:left]
            told = yield [replace(ask, stage=number) for ask in granted]
            memory.add(stage.search_space, granted, told)
            if left is not None:
                left -= len(told)
            is_over = left == 0
            why = None if stage.again else _why_found(limits.until, objectives, told, memory.all_of(stage.search_space))
            is_found = why is not None
            if why is None and is_over:
                why = "all evaluations are used"
            # The last answers are heard too: what a strategy stands by may be among them.
            asks = _next(strategy, told) if len(told) == len(asks) else None
            if why is not None:
                strategy.close()
                note(ended(why))
                if is_over:
                    return
                break


def _next(strategy: Strategy, told: list[Observation]) -> list[Query] | None:
    try:
        return strategy.send(told)
    except StopIteration:
        return None


def _why_found(until: float | None, objectives: int, told: list[Observation], models: int | None) -> str | None:
    """Why there is nothing more to find; `models` is how many there are, if all of them are known."""
    if until is not None and objectives == 1 and any(one.is_exact and one.loss <= until for one in told):
        return "a loss is good enough"
    if models is None:
        return None
    return "the only model of the space was evaluated" if models == 1 else f"all {models:,} models were evaluated"


def _numbered(note: Callable[[Event], None], stage: int) -> Callable[[Event], None]:
    return lambda event: note(replace(event, figures={**event.figures, "stage": stage}))


@dataclass(slots=True)
class Memory:
    """All outcomes on all rows, and which models they cover; those on a part of the rows do not compare with others."""

    _outcomes: list[tuple[SearchSpace, Observation]] = field(default_factory=list)
    _models: set[Hashable] = field(default_factory=set)

    def add(self, search_space: SearchSpace, asks: Sequence[Query], told: Sequence[Observation]) -> None:
        whole = [(ask, one) for ask, one in zip(asks, told, strict=True) if ask.share == 1.0]
        self._outcomes.extend((search_space, one) for _, one in whole)
        if search_space.size is not None:  # on splits of their own, models can be judged again
            models = (search_space.decode(one.vector) for ask, one in whole if ask.repeat == 0)
            self._models.update(model for model in models if model is not None)

    def all_of(self, search_space: SearchSpace) -> int | None:
        """How many models there are, if they are all known."""
        return search_space.size if search_space.size is not None and len(self._models) >= search_space.size else None

    def seen_from(self, search_space: SearchSpace) -> list[Observation]:
        """The outcomes as points of this cube; those that have none in it are left out."""
        return list(self._translated(search_space))

    def _translated(self, search_space: SearchSpace) -> Iterator[Observation]:
        for origin, one in self._outcomes:
            if origin is search_space:
                yield one
            elif (model := origin.decode(one.vector)) is not None and (
                vector := search_space.encode(model)
            ) is not None:
                yield replace(one, vector=vector)
