"""Strategies where there is hardly anything to search, nothing that can be judged, or far too much of everything."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator

import numpy as np
import pytest
from strategy_options import options

from msl.check.names.block_declarations import Blocks
from msl.check.names.catalogues import shipped_strategies
from msl.check.names.library import Library
from msl.diagnostics.diagnostic import Report
from msl.search.base import Event, Observation, Query, SearchSpace, Vector
from msl.search.stages import Limits, Stage, load_strategy, then
from msl.search.strategy_context import Strategy
from msl.space.nodes import Bool, Choice, Const, IntRange, Node, RealRange, Symbol
from msl.testing.conformance import Played, play
from msl.testing.toy_problems import Problem, conditional, sphere, two_bowls

pytestmark = pytest.mark.filterwarnings("error")
SEVERAL = ("nspso", "cmdpso")
#: `confirm` asks only for what others have found, `start` for what it was given.
FINDERS = [name for name in shipped_strategies() if name not in ("confirm", "start", "portfolio")]


def ends_of(node: Node) -> Iterator[str]:
    """The texts of the values at the ends of a domain: the bounds of numbers, every alternative."""
    match node:
        case IntRange(low=low, high=high) | RealRange(low=low, high=high):
            yield from (f"{low:g}" if isinstance(low, float) else str(low), str(high))
        case Bool():
            yield from ("true", "false")
        case Choice(options=alternatives):
            for alternative in alternatives:
                yield from ends_of(alternative)
        case Symbol(name=name, params=params) if params:
            ends = [list(ends_of(param.node)) for param in params]
            yield f"{name}({', '.join(each[0] for each in ends)})"
            yield f"{name}({', '.join(each[-1] for each in ends)})"
        case Symbol(name=name):
            yield name
        case Const(value=value):
            yield "none" if value is None else str(value)


def extreme_calls() -> Iterator[str]:
    """Every option of every strategy at each end of what the catalogue declares for it."""
    report = Report()
    declarations = Library(report).implied("strategy").declarations
    for name in shipped_strategies():
        declared = Blocks(report).declared(declarations[name])
        assert declared is not None
        for param in declared.params:
            option = f'"{param.name}"' if param.name == "step" else param.name
            yield from (f"{name}({option} = {end})" for end in ends_of(param.node))


def is_sound(played: Played) -> bool:
    """No batch is empty, and every point is in the cube."""
    points = [ask.vector for ask in played.queries]
    return all(played.batches) and all(bool(((point >= 0) & (point <= 1)).all()) for point in points)


@pytest.mark.parametrize("call", list(extreme_calls()))
def test_an_option_at_its_end(call: str) -> None:
    """A first batch of more than the limit is made, and left at that."""
    name = call.partition("(")[0]
    for problem in (two_bowls(),) if name in SEVERAL else (conditional(), sphere(1)):
        assert is_sound(play(load_strategy(name), options(call), problem, limit=150))


class NoModels(SearchSpace):
    """A cube in which no point is a model."""

    __slots__ = ()

    def decode(self, vector: Vector) -> Hashable | None:
        return None


def many_bits(size: int) -> SearchSpace:
    on = np.arange(size)
    none = dict.fromkeys(range(size), 0)
    return SearchSpace.of(np.full(size, 2), heads=on, absent=none, families=none, channels={"all": tuple(range(size))})


TERRAINS: dict[str, SearchSpace] = {
    "a single model": SearchSpace.of([]),
    "one value": SearchSpace.of([1]),
    "one real": SearchSpace.continuous(1),
    "one bit": SearchSpace.of([2], heads=[0], absent={0: 0}),
    "no models": NoModels.continuous(3),
    "10,000 reals": SearchSpace.continuous(10_000),
    "10,000 bits": many_bits(10_000),
}


def all_fail(problem: Problem, ask: Query, number: int) -> Observation:
    return Observation(problem.written_back(ask.vector), (math.inf,) * problem.objectives)


def wild(problem: Problem, ask: Query, number: int) -> Observation:
    """Losses that are no losses, or the largest there are."""
    loss = (math.nan, math.inf, -math.inf, 0.3, 1e308, -1e308)[number % 6]
    return Observation(problem.written_back(ask.vector), (loss,) * problem.objectives, float(number % 3))


@pytest.mark.parametrize("answer", [all_fail, wild], ids=["all fail", "wild losses"])
@pytest.mark.parametrize("search_space", TERRAINS.values(), ids=list(TERRAINS))
@pytest.mark.parametrize("name", [*FINDERS, "confirm"])  # `start` needs a file of models
def test_hostile_spaces(
    name: str, search_space: SearchSpace, answer: Callable[[Problem, Query, int], Observation]
) -> None:
    reference = (1.0, 1.0) if name in SEVERAL else None
    problem = Problem("hostile", search_space, lambda point: (0.5,), 0.0, reference=reference)
    limit = 150 if search_space.n_dimensions > 1_000 else 1_000
    with np.errstate(all="raise", under="ignore"):
        played = play(load_strategy(name), options(name), problem, answer=answer, limit=limit)
    assert is_sound(played)
    assert all(math.isfinite(one.loss) for event in played.events for one in event.chosen)


SMALL = {"occam_ga": "occam_ga(population = 20, generations = 3)"}


@pytest.mark.parametrize("evaluations", [1, 7])
@pytest.mark.parametrize("name", FINDERS)
def test_a_budget_below_the_first_batch(name: str, evaluations: int) -> None:
    """A swarm larger than the budget is cut short; a budget of one is one evaluation."""
    search_space = SearchSpace.of([3, 0, 2])
    stage = Stage(load_strategy(name), options(SMALL.get(name, name)), search_space)
    objectives = 2 if name in SEVERAL else 1
    events: list[Event] = []
    running = then([stage], 0, Limits(evaluations=evaluations), objectives, events.append)
    asked = 0
    asks = next(running, None)
    while asks is not None:
        asked += len(asks)
        asks = answered(running, [Observation(ask.vector, (float(ask.vector.sum()),) * objectives) for ask in asks])
    assert asked == evaluations
    assert events[-1].figures["why"] == "all evaluations are used"


@pytest.mark.parametrize("name", FINDERS)
def test_a_single_model_is_soon_evaluated(name: str) -> None:
    """The search ends when all models are known, which halving finds out on all rows only at its third rung."""
    search_space = SearchSpace.of([])
    assert search_space.size == 1
    objectives = 2 if name in SEVERAL else 1
    running = then([Stage(load_strategy(name), options(name), search_space)], 0, Limits(evaluations=1_000), objectives)
    batches = 0
    asks: list[Query] | None = next(running)
    while asks is not None:
        batches += 1
        asks = answered(running, [Observation(np.zeros(0), (0.5,) * objectives) for _ in asks])
    assert batches == (3 if name == "halving" else 1)


def answered(running: Strategy, told: list[Observation]) -> list[Query] | None:
    """What is asked next, or None at the end."""
    try:
        return running.send(told)
    except StopIteration:
        return None


def test_a_count_of_models_does_not_overflow() -> None:
    assert many_bits(10_000).size == 2**10_000
    assert SearchSpace.of([3, 4]).size == 12
    assert SearchSpace.of([3, 0]).size is None


def test_minus_infinity_is_no_loss() -> None:
    assert Observation(np.zeros(1), (-math.inf, 0.3)).losses == (math.inf, 0.3)
