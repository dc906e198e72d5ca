"""Swarms that ask for what they know: each alternative has a floor, and a swarm that only repeats is thrown anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from strategy_options import options

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.runner.search_space import ModelSearchSpace, space_to_search_space
from msl.search.base import Event, Observation, Query
from msl.search.operators.initialise import points_for_rare
from msl.search.strategies.auto import auto
from msl.search.strategies.bpso import bpso
from msl.search.strategies.pso import pso
from msl.search.strategy_context import Setting, StrategyFunction
from msl.space.evaluate_conditions import occurrences
from msl.space.formulas import Facts
from msl.space.resolve import resolve
from msl.space.values import Model

FACTS = Facts(100, 13, 2, "classification")
THREE = "use clop\nchain m = zarbi | naive | neural(units: 2..9, rest = default)\n"
MANY = """
use clop
part preprocess = subset(normalize, standardize, shift_scale)
part select = ftest | ttest | aucfs | odds_ratio | relief | rffs | svcrfe | pearson | zfilter | gs | s2n | pc_extract
part learn = zarbi | naive | klogistic | gkridge | logitboost | neural | svc | kridge | rf | lssvm
chain full_model = permute(preprocess, select?) >> learn >> bias
"""
NESTED = (
    "use clop\npart inner = naive | zarbi | kridge\npart outer = rf | inner | svc\nchain m = standardize >> outer\n"
)


def terrain_of(text: str, encoding: str = "shared") -> ModelSearchSpace:
    checked = check_source(Source("spec.msl", text), facts=FACTS)
    assert checked.spec is not None, [one.message for one in checked.diagnostics]
    return space_to_search_space(resolve(checked.spec.space, FACTS)[0], encoding)  # type: ignore[arg-type]


def played(
    strategy: StrategyFunction, call: str, search_space: ModelSearchSpace, seed: int = 0
) -> tuple[list[Query], list[Event], list[int]]:
    """All that was asked where `naive` is best and models of one learner are alike; the events; sizes of batches."""
    asks: list[Query] = []
    events: list[Event] = []
    sizes: list[int] = []
    running = strategy(Setting(search_space, options(call), np.random.default_rng(seed), note=events.append))
    batch = next(running, None)
    while batch is not None:
        asks += batch
        sizes.append(len(batch))
        try:
            batch = running.send([told(search_space, ask) for ask in batch])
        except StopIteration:
            batch = None
    return asks, events, sizes


def told(search_space: ModelSearchSpace, ask: Query) -> Observation:
    vector = np.array(search_space.codec.decode(ask.vector[None, :]).snapped[0])
    blocks = blocks_of(search_space, ask)
    loss = 0.1 if "naive" in blocks else 0.3 + 0.01 * len(str(sorted(blocks)))
    return Observation(vector, (loss,))


def blocks_of(search_space: ModelSearchSpace, ask: Query) -> set[str]:
    model = search_space.decode(ask.vector)
    return {one.block.name for one in occurrences(model.steps)} if isinstance(model, Model) else set()


def models(search_space: ModelSearchSpace, asks: list[Query]) -> list[object]:
    return [search_space.decode(ask.vector) for ask in asks]


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [pso, bpso])
@pytest.mark.parametrize("seed", range(8))
def test_with_a_floor_each_alternative_is_tried(strategy: StrategyFunction, seed: int) -> None:
    search_space = terrain_of(MANY)
    name = strategy.__name__
    asks, _, sizes = played(strategy, f"{name}(swarm = 3, iterations = 2, floor = 1)", search_space, seed)
    first = [blocks_of(search_space, ask) for ask in asks[: sizes[0]]]
    tried = set().union(*first)
    assert tried >= set("zarbi naive klogistic gkridge logitboost neural svc kridge rf lssvm".split())
    assert tried >= set("ftest ttest aucfs odds_ratio relief rffs svcrfe pearson zfilter gs s2n pc_extract".split())
    assert sizes[1:] == [3, 3]  # the swarm itself is as large as was asked for
    without, _, _ = played(strategy, f"{name}(swarm = 3, iterations = 2)", search_space, seed)
    assert [ask.vector.tobytes() for ask in asks[:3]] == [ask.vector.tobytes() for ask in without[:3]]


def test_a_floor_counts_and_the_best_of_the_first_batch_are_the_swarm() -> None:
    search_space = terrain_of(THREE)
    asks, events, sizes = played(pso, "pso(swarm = 2, iterations = 1, floor = 4)", search_space)
    first = [blocks_of(search_space, ask) for ask in asks[: sizes[0]]]
    for learner in ("zarbi", "naive", "neural"):
        assert sum(learner in blocks for blocks in first) >= 4
    assert [one.loss for one in events[0].kept] == [0.1, 0.1]


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_a_choice_inside_an_alternative_has_its_floor_too(encoding: str) -> None:
    search_space = terrain_of(NESTED, encoding)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        points = [rng.random(search_space.n_dimensions)]
        points += points_for_rare(search_space, points, 2, rng, 100)
        counts = [blocks_of(search_space, Query(point)) for point in points]
        for learner in ("rf", "naive", "zarbi", "kridge", "svc"):
            assert sum(learner in blocks for blocks in counts) >= 2, (seed, learner)


def test_alternatives_that_no_model_may_have_are_given_up() -> None:
    search_space = terrain_of(
        "use clop\npart scale = normalize | standardize\npart learn = zarbi | naive | svc\nchain m = scale >> learn\n"
        "require not svc\n"
    )
    rng = np.random.default_rng(0)
    found = points_for_rare(search_space, list(rng.random((3, search_space.n_dimensions))), 2, rng, 1_000)
    assert len(found) < 10
    assert all(search_space.decode(point) is not None for point in found)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("strategy", [pso, bpso])
def test_a_swarm_that_only_repeats_is_thrown_anew(strategy: StrategyFunction, seed: int) -> None:
    """As printed it settles on a few models; thrown anew, it never asks for a whole iteration of known ones."""
    search_space = terrain_of(THREE)
    call = f"{strategy.__name__}(swarm = 4, iterations = 30, inertia = 0.4"
    as_printed, _, _ = played(strategy, f"{call})", search_space, seed)
    asks, events, sizes = played(strategy, f"{call}, restart = 1)", search_space, seed)
    assert len(set(models(search_space, asks))) >= len(set(models(search_space, as_printed)))
    known: set[object] = set()
    place = 0
    for size in sizes:
        batch = set(models(search_space, asks[place : place + size]))
        assert batch - known
        known |= batch
        place += size
    if len(asks) < len(as_printed):  # ten models in all: then nothing is left to be thrown at
        assert len(known) == search_space.size == 10
        assert events[-1].figures["why"] == "all models are known"


def test_the_best_of_all_outlives_a_new_swarm() -> None:
    search_space = terrain_of(MANY)
    _, events, _ = played(pso, "pso(swarm = 3, iterations = 40, restart = 1, floor = 1)", search_space, 3)
    best = [event.figures["best"] for event in events if event.kind == "iteration"]
    assert best == sorted(best, reverse=True)
    assert all(event.chosen[0].loss == event.figures["best"] for event in events if event.chosen)


def test_the_same_seed_throws_the_same_swarm() -> None:
    search_space = terrain_of(THREE)
    call = "pso(swarm = 4, iterations = 20, restart = 2, floor = 2)"
    one, other = (played(pso, call, search_space, 7)[0] for _ in range(2))
    assert [ask.vector.tobytes() for ask in one] == [ask.vector.tobytes() for ask in other]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_auto_tries_each_alternative_that_there_is_room_for(seed: int) -> None:
    search_space = terrain_of(MANY)
    asks, _, sizes = played(auto, "auto(evaluations = 100)", search_space, seed)
    assert sizes[0] == 20
    tried = set().union(*(blocks_of(search_space, ask) for ask in asks[:20]))
    assert len(tried & set("zarbi naive klogistic gkridge logitboost neural svc kridge rf lssvm".split())) == 10


@pytest.mark.slow
def test_the_specs_of_the_papers_have_neither() -> None:
    """What a strategy does unless it is asked for more is what its paper prints."""
    for path in sorted((Path(__file__).parents[2] / "specs").glob("*.msl")):
        checked = check_source(Source(path.name, path.read_text(encoding="utf-8"), str(path)))
        for stage in checked.spec.search if checked.spec is not None else ():
            given = dict(stage.call.options)
            assert given.get("floor", 0) == 0
            assert given.get("restart") is None
