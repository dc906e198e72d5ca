"""Load strategies by name, and run them one after the other as `search a then b` says."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.metadata import EntryPoint
from typing import Any, cast

import numpy as np

from msl.check.names.catalogues import offers, shipped_strategies
from msl.diagnostics.user_error import UserError
from msl.search.base import Event, Observation, Query, SearchSpace, Vector, ended
from msl.search.strategy_context import Setting, Strategy, StrategyFunction


def strategy_targets() -> dict[str, str]:
    """The target of each strategy that a spec can name, those that ship first. A package cannot replace these."""
    shipped = shipped_strategies()
    return shipped | {name: offer.target for name, offer in sorted(offers().items()) if name not in shipped}


def load_strategy(name: str) -> StrategyFunction:
    """The generator function of a strategy."""
    targets = strategy_targets()
    if name in targets:
        return load_target(name, targets[name])
    close = get_close_matches(name, targets, 1)
    advice = f"did you mean `{close[0]}`?" if close else f"strategies are {', '.join(targets)}"
    raise UserError(f"`{name}` is not a strategy; {advice}")


def load_target(name: str, target: str) -> StrategyFunction:
    """The generator function of a strategy whose declaration names this target."""
    try:
        found = EntryPoint(name, target, "msl.strategies").load()
    except (ImportError, AttributeError) as trouble:
        offer = None if name in shipped_strategies() else offers().get(name)
        package = "" if offer is None else f" of the package `{offer.package}`"
        raise UserError(f"the strategy `{name}`{package} cannot be loaded: {trouble}") from trouble
    if not callable(found):
        raise UserError(f"the strategy `{name}` is not a function but {type(found).__name__}")
    return cast(StrategyFunction, found)


# --- the stages of a search: one memory of evaluations, one budget ---


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A strategy, its options, the search space, the point to start from, and the points of given models.

    One that `reevaluates` what others found is also run when there is nothing more to find.
    """

    strategy: StrategyFunction
    options: Mapping[str, Any]
    search_space: SearchSpace
    start: Vector | None = None
    reevaluates: bool = False
    points: tuple[Vector, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """The most evaluations, reused ones included, and a loss at which the search ends."""

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
    """Runs the stages one after the other, as one strategy.

    Each stage knows all observations so far, as points of its own search space. Its random generator is seeded with
    (seed, stage), so it does not depend on the stages before it. The search ends with the last stage, or when the
    evaluations are used up; the last batch is then cut short. Once a loss is low enough, or every model has been
    evaluated, only stages that evaluate models again are run.
    """
    memory = Memory()
    left = limits.evaluations
    is_found = False
    for number, stage in enumerate(stages):
        if is_found and not stage.reevaluates:
            continue
        setting = Setting(
            search_space=stage.search_space,
            options=stage.options,
            rng=np.random.default_rng([seed, number]),
            known=memory.seen_from(stage.search_space),
            objectives=objectives,
            start=stage.start,
            points=stage.points,
            note=_numbered(note, number),
        )
        strategy = stage.strategy(setting)
        queries = next(strategy, None)
        while queries is not None:
            granted = queries if left is None else queries[:left]
            observations = yield [replace(query, stage=number) for query in granted]
            memory.add(stage.search_space, granted, observations)
            if left is not None:
                left -= len(observations)
            is_over = left == 0
            why = None
            if not stage.reevaluates:
                why = _why_found(limits.until, objectives, observations, memory.all_of(stage.search_space))
            is_found = why is not None
            if why is None and is_over:
                why = "all evaluations are used"
            # The strategy gets the last observations too: its result may be among them.
            queries = _next(strategy, observations) if len(observations) == len(queries) else None
            if why is not None:
                strategy.close()
                note(ended(why))
                if is_over:
                    return
                break


def _next(strategy: Strategy, observations: list[Observation]) -> list[Query] | None:
    try:
        return strategy.send(observations)
    except StopIteration:
        return None


def _why_found(until: float | None, objectives: int, observations: list[Observation], models: int | None) -> str | None:
    """Why the search can end; `models` is their number, if all of them have been evaluated."""
    if until is not None and objectives == 1 and any(one.is_exact and one.loss <= until for one in observations):
        return "a loss is good enough"
    if models is None:
        return None
    return "the only model of the space was evaluated" if models == 1 else f"all {models:,} models were evaluated"


def _numbered(note: Callable[[Event], None], stage: int) -> Callable[[Event], None]:
    return lambda event: note(replace(event, figures={**event.figures, "stage": stage}))


@dataclass(slots=True)
class Memory:
    """All observations on all rows, and the models that they cover. Those on a part of the rows do not compare."""

    _outcomes: list[tuple[SearchSpace, Observation]] = field(default_factory=list)
    _models: set[Hashable] = field(default_factory=set)

    def add(self, search_space: SearchSpace, queries: Sequence[Query], observations: Sequence[Observation]) -> None:
        whole = [(query, one) for query, one in zip(queries, observations, strict=True) if query.share == 1.0]
        self._outcomes.extend((search_space, one) for _, one in whole)
        if search_space.size is not None:  # a repeat is not another model
            models = (search_space.decode(one.vector) for query, one in whole if query.repeat == 0)
            self._models.update(model for model in models if model is not None)

    def all_of(self, search_space: SearchSpace) -> int | None:
        """The number of models, if all of them have been evaluated."""
        return search_space.size if search_space.size is not None and len(self._models) >= search_space.size else None

    def seen_from(self, search_space: SearchSpace) -> list[Observation]:
        """The observations as points of this search space; those of other models are left out."""
        return list(self._translated(search_space))

    def _translated(self, search_space: SearchSpace) -> Iterator[Observation]:
        for origin, one in self._outcomes:
            if origin is search_space:
                yield one
            elif (model := origin.decode(one.vector)) is not None and (
                vector := search_space.encode(model)
            ) is not None:
                yield replace(one, vector=vector)
