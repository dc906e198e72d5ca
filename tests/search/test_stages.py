"""`then`: stages on one memory, in the terms of each one's cube, within one budget."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import pytest
from strategy_options import options

from msl.search.base import Event, Observation, Query, SearchSpace, Vector
from msl.search.stages import Limits, Stage, load_strategy, then
from msl.search.strategy_context import Setting, Strategy
from msl.testing.toy_problems import Problem, bits, mixed, sphere, two_bowls


def stage(call: str, search_space: SearchSpace, start: Vector | None = None) -> Stage:
    return Stage(load_strategy(call.split("(")[0]), options(call), search_space, start)


def run(
    problem: Problem, stages: list[Stage], seed: int = 0, limits: Limits | None = None
) -> tuple[list[list[Query]], list[Observation], list[Event]]:
    events: list[Event] = []
    running = then(stages, seed, limits or Limits(), problem.objectives, events.append)
    batches: list[list[Query]] = []
    told: list[Observation] = []
    asks = next(running, None)
    while asks is not None:
        batches.append(asks)
        answers = [
            Observation(point, problem.losses(point), problem.complexity(point))
            for point in (problem.written_back(ask.vector) for ask in asks)
        ]
        told.extend(answers)
        try:
            asks = running.send(answers)
        except StopIteration:
            asks = None
    return batches, told, events


def flat(batches: list[list[Query]]) -> list[Query]:
    return [ask for batch in batches for ask in batch]


class Recorder:
    """A strategy that asks for some points and keeps what it was given."""

    def __init__(self, size: int = 3) -> None:
        self.settings: list[Setting] = []
        self._size = size

    def __call__(self, setting: Setting) -> Strategy:
        self.settings.append(setting)
        yield [Query(point) for point in setting.rng.random((self._size, setting.search_space.n_dimensions))]


def test_each_stage_knows_all_before_it_and_draws_from_its_own_number() -> None:
    problem = sphere()
    recorder = Recorder()
    stages = [Stage(recorder, {}, problem.search_space)] * 3
    batches, told, _ = run(problem, stages, seed=5)
    assert [len(setting.known) for setting in recorder.settings] == [0, 3, 6]
    assert list(recorder.settings[2].known) == told[:6]
    assert [ask.stage for ask in flat(batches)] == [0] * 3 + [1] * 3 + [2] * 3
    firsts = [float(batch[0].vector[0]) for batch in batches]
    assert len(set(firsts)) == 3
    greedy = Recorder(size=50)
    longer, *_ = run(problem, [Stage(greedy, {}, problem.search_space), *stages[1:]], seed=5)
    assert float(longer[1][0].vector[0]) == firsts[1], "what a stage draws changes nothing for the next"
    other, *_ = run(problem, stages, seed=6)
    assert float(other[0][0].vector[0]) != firsts[0]


def test_a_point_strategy_starts_at_the_best() -> None:
    problem = sphere()
    stages = [
        stage("random(evaluations = 40)", problem.search_space),
        stage("pattern(evaluations = 30)", problem.search_space),
    ]
    batches, told, _ = run(problem, stages)
    best = min(told[:40], key=lambda one: one.loss)
    assert np.array_equal(flat(batches)[40].vector, best.vector)
    assert min(one.loss for one in told[40:]) < best.loss


def test_a_population_is_seeded_with_the_best_different_ones() -> None:
    problem = mixed()
    call = "pso(swarm = 4, iterations = 1)"
    stages = [stage("random(evaluations = 40)", problem.search_space), stage(call, problem.search_space)]
    batches, told, _ = run(problem, stages)
    best = sorted(told[:40], key=lambda one: one.loss)[:4]
    assert [ask.vector.tolist() for ask in flat(batches)[40:44]] == [one.vector.tolist() for one in best]


def test_an_explicit_start_comes_first() -> None:
    problem = sphere()
    start = np.array([0.9, 0.1])
    for call in ("pattern(evaluations = 5)", "pso(swarm = 3, iterations = 1)", "best_first"):
        stages = [stage("random(evaluations = 20)", problem.search_space), stage(call, problem.search_space, start)]
        batches, *_ = run(problem, stages)
        assert flat(batches)[20].vector.tolist() == [0.9, 0.1]


def test_evaluations_are_counted_over_all_stages_and_the_last_batch_is_cut() -> None:
    problem = sphere()
    stages = [stage("random(evaluations = 40)", problem.search_space), stage("pso(swarm = 7)", problem.search_space)]
    batches, told, events = run(problem, stages, limits=Limits(evaluations=50))
    assert [len(batch) for batch in batches] == [32, 8, 7, 3]
    assert len(told) == 50
    assert events[-1].kind == "end"
    assert events[-1].figures["why"] == "all evaluations are used"
    whole, *_ = run(problem, stages)
    for cut, uncut in zip(flat(batches), flat(whole), strict=False):
        assert np.array_equal(cut.vector, uncut.vector), "a limit changes nothing before it"


def test_a_loss_that_is_good_enough_ends_it() -> None:
    problem = sphere()
    _, told, events = run(problem, [stage("pso(iterations = 500)", problem.search_space)], limits=Limits(until=0.001))
    assert min(one.loss for one in told) <= 0.001
    assert min(one.loss for one in told[:-5]) > 0.001
    assert events[-1].figures["why"] == "a loss is good enough"


def test_good_enough_is_for_one_objective() -> None:
    problem = two_bowls()
    batches, *_ = run(
        problem, [stage("nspso(swarm = 4, iterations = 3)", problem.search_space)], limits=Limits(until=9.0)
    )
    assert len(batches) == 4


def test_it_ends_when_every_model_is_known() -> None:
    problem = bits(4)
    stages = [stage("bpso(swarm = 10, iterations = 500)", problem.search_space)]
    _, told, events = run(problem, stages)
    models = {problem.search_space.decode(one.vector) for one in told}
    assert len(models) == 16
    assert len(told) < 5010
    assert events[-1].figures["why"] == "all 16 models were evaluated"


class Listener(Recorder):
    """Notes what it was told last."""

    def __call__(self, setting: Setting) -> Strategy:
        while True:
            told = yield [Query(point) for point in setting.rng.random((self._size, setting.search_space.n_dimensions))]
            setting.note(Event("heard", {}, (told[0],), stands=True))


@pytest.mark.parametrize(
    ("limits", "rest"), [(Limits(evaluations=9), 0), (Limits(evaluations=10), 1), (Limits(until=9.0), 0)]
)
def test_the_last_answers_are_heard_unless_some_are_missing(limits: Limits, rest: int) -> None:
    problem = sphere()
    batches, told, events = run(problem, [Stage(Listener(), {}, problem.search_space)], limits=limits)
    heard = [event.chosen[0] for event in events if event.kind == "heard"]
    assert heard == told[: len(told) - rest : 3]
    assert len(batches[-1]) == (rest or 3)


def test_models_judged_on_splits_of_their_own_are_not_done_with() -> None:
    problem = bits(2)

    def again(setting: Setting) -> Strategy:
        for repeat in range(1, 6):
            yield [Query(np.array(point), repeat=repeat) for point in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))]

    batches, *_ = run(problem, [Stage(again, {}, problem.search_space)])
    assert len(batches) == 5


def test_losses_on_a_part_of_the_rows_are_not_remembered() -> None:
    problem = sphere()
    recorder = Recorder()
    stages = [stage("halving(evaluations = 39)", problem.search_space), Stage(recorder, {}, problem.search_space)]
    batches, *_ = run(problem, stages)
    whole = [ask for ask in flat(batches) if ask.stage == 0 and ask.share == 1.0]
    assert 0 < len(recorder.settings[0].known) == len(whole) < 10


class Doubled(SearchSpace):
    """The same models in another cube: twice the dimensions, of which only the first of each pair matters."""

    __slots__ = ()

    def decode(self, vector: Vector) -> Hashable | None:
        return np.ascontiguousarray(vector[::2]).tobytes()

    def encode(self, model: Hashable) -> Vector | None:
        assert isinstance(model, bytes)
        dimensions = np.frombuffer(model)
        return None if dimensions[0] > 0.5 else np.repeat(dimensions, 2)


def test_a_stage_sees_earlier_points_in_its_own_cube() -> None:
    problem = sphere()
    recorder = Recorder()
    doubled = Doubled.continuous(4)
    stages = [stage("random(evaluations = 30)", problem.search_space), Stage(recorder, {}, doubled)]
    _, told, _ = run(problem, stages[:1])
    running = then(stages, 0)
    asks = next(running)
    answers = iter(told)
    while asks[0].stage == 0:
        asks = running.send([next(answers) for _ in asks])
    expected = [one for one in told if one.vector[0] <= 0.5]
    assert 0 < len(expected) < 30
    assert [one.vector.tolist() for one in recorder.settings[0].known] == [
        np.repeat(one.vector, 2).tolist() for one in expected
    ]
    assert [one.loss for one in recorder.settings[0].known] == [one.loss for one in expected]


def test_events_say_which_stage_they_are_of() -> None:
    problem = sphere()
    stages = [
        stage("random(evaluations = 10)", problem.search_space),
        stage("pattern(evaluations = 10)", problem.search_space),
    ]
    *_, events = run(problem, stages)
    assert [event.figures["stage"] for event in events if event.kind == "batch"] == [0]
    assert {event.figures["stage"] for event in events if event.kind == "sweep"} == {1}


def test_a_stage_that_asks_nothing_is_passed_over() -> None:
    problem = bits(3)
    grid, random = stage("grid", problem.search_space), stage("random", problem.search_space)
    unknown_size = SearchSpace.of([2, 2, 2])
    object.__setattr__(unknown_size, "size", None)
    stages = [Stage(grid.strategy, grid.options, unknown_size), Stage(random.strategy, random.options, unknown_size)]
    batches, _, events = run(problem, stages)
    assert [ask.stage for ask in flat(batches)] == [0] * 8
    assert [event.figures["why"] for event in events if event.kind == "end"] == [
        "every model of the grid is known",
        "draws give no new model any more",
    ]


def test_failures_and_bounds_are_no_seeds() -> None:
    point = [np.full(2, 0.1 * number) for number in range(4)]
    known = [
        Observation(point[0], (math.inf,)),
        Observation(point[1], (0.1,), bound=True),
        Observation(point[2], (0.5,)),
        Observation(point[3], (0.5,), complexity=-1.0),
        Observation(point[2], (0.5,)),
    ]
    setting = Setting(SearchSpace.continuous(2), {}, np.random.default_rng(0), known)
    assert [seed.tolist() for seed in setting.seeds(5)] == [point[3].tolist(), point[2].tolist()]
    assert setting.first_points(4).shape == (4, 2)
    assert setting.first_points(1).tolist() == [point[3].tolist()]


class HalfEmpty(SearchSpace):
    """No models where the first dimension is below one half."""

    __slots__ = ()

    def decode(self, vector: Vector) -> Hashable | None:
        return None if vector[0] < 0.5 else vector.tobytes()


@pytest.mark.parametrize("call", ["random", "pso(swarm = 50)", "halving", "auto", "occam_ga(population = 50)"])
def test_first_points_are_models(call: str) -> None:
    search_space = HalfEmpty.continuous(2)
    strategy = load_strategy(call.split("(")[0])
    asks = next(strategy(Setting(search_space, options(call), np.random.default_rng(0))))
    assert all(ask.vector[0] >= 0.5 for ask in asks)
