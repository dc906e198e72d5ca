"""Best-first search: its levels, its inner searches against brute force and SciPy, and a problem of the monks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from strategy_options import options

from msl.report.search_trace import levels_table
from msl.search.base import Channel, Event, Observation, Query, SearchSpace, Vector, channels_of
from msl.search.strategies.best_first import (
    backward,
    best_first,
    climb,
    coordinate,
    exhaustive,
    forward,
    optimise,
    quantised,
    simplex,
)
from msl.search.strategy_context import Inner, Setting, interleave
from msl.testing.conformance import Played, play
from msl.testing.toy_problems import Problem

Loss = Callable[[Vector], float]


def run(inner: Inner, search_space: SearchSpace, loss: Loss, asked: list[Query] | None = None) -> Observation:
    """Drives an inner search to its end."""
    try:
        asks = next(inner)
        while True:
            if asked is not None:
                asked.extend(asks)
            asks = inner.send([told(search_space, ask.vector, loss) for ask in asks])
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def told(search_space: SearchSpace, vector: Vector, loss: Loss) -> Observation:
    point = search_space.centres(search_space.cells(vector))
    return Observation(point, (loss(point),), complexity=float(search_space.cells(point).sum()))


def channel(search_space: SearchSpace, *dimensions: int, steps: int = 11, patience: int = 5) -> Channel:
    return Channel("all", dimensions or tuple(range(search_space.n_dimensions)), search_space, steps, patience)


def random_loss(search_space: SearchSpace, seed: int) -> Loss:
    """A loss of its own for every model."""
    rng = np.random.default_rng(seed)
    table = {search_space.decode(point): float(rng.random()) for point in search_space.walk(3)}
    return lambda point: table[search_space.decode(point)]


# --- inner searches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_exhaustive_finds_the_best_of_all(seed: int) -> None:
    search_space = SearchSpace.of([3, 4, 2])
    loss = random_loss(search_space, seed)
    start = told(search_space, np.full(3, 0.1), loss)
    asked: list[Query] = []
    found = run(exhaustive(channel(search_space), start), search_space, loss, asked)
    assert found.loss == min(loss(point) for point in search_space.walk(3))
    assert len(asked) == 3 * 4 * 2 - 1, "all but the one it starts from"


def test_a_channel_holds_the_other_genes() -> None:
    search_space = SearchSpace.of([3, 4, 2])
    loss = random_loss(search_space, 0)
    start = told(search_space, np.full(3, 0.9), loss)
    for inner in (exhaustive, coordinate, climb, quantised):
        found = run(inner(channel(search_space, 0, 1), start), search_space, loss)
        assert found.vector[2] == start.vector[2]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("inner", [coordinate, climb])
def test_at_the_end_no_change_of_one_gene_helps(inner: Callable[[Channel, Observation], Inner], seed: int) -> None:
    search_space = SearchSpace.of([4, 4, 4])
    loss = random_loss(search_space, seed)
    start = told(search_space, np.full(3, 0.1), loss)
    found = run(inner(channel(search_space), start), search_space, loss)
    cells = search_space.cells(found.vector)
    for dimension, value in product(range(3), range(4)):
        other = cells.copy()
        other[dimension] = value
        assert loss(search_space.centres(other)) >= found.loss


def test_climbing_takes_the_best_change_and_a_coordinate_the_first() -> None:
    search_space = SearchSpace.of([3, 3])
    drops = {(0, 0): 9.0, (1, 0): 8.0, (0, 2): 1.0, (2, 0): 7.5, (2, 2): 0.5, (2, 1): 6.0}

    def loss(point: Vector) -> float:
        return drops.get(tuple(int(cell) for cell in search_space.cells(point)), 10.0)  # type: ignore[arg-type]

    asked: list[Query] = []
    start = told(search_space, np.full(2, 0.1), loss)
    assert run(climb(channel(search_space), start), search_space, loss).loss == 0.5
    assert run(coordinate(channel(search_space), start), search_space, loss, asked).loss == 0.5
    assert [search_space.cells(ask.vector).tolist() for ask in asked][:4] == [[1, 0], [2, 0], [2, 1], [2, 2]]


def test_of_equals_the_one_that_changes_least_is_taken() -> None:
    """Loss and complexity alike, a weight of 0.9 is nearer to what was there than one of 0.6."""
    search_space = SearchSpace.of([11, 11])
    good = {(6, 10), (9, 10)}

    def loss(point: Vector) -> float:
        return 0.1 if tuple(search_space.cells(point).astype(int).tolist()) in good else 0.2

    start = Observation(search_space.centres(np.array([10.0, 10.0])), (0.2,))
    for inner in (exhaustive, coordinate, climb, quantised):
        search = inner(channel(search_space), start)
        found = run_plainly(search, search_space, loss)
        assert search_space.cells(found.vector).tolist() == [9, 10], inner.__name__


def run_plainly(search: Inner, search_space: SearchSpace, loss: Loss) -> Observation:
    """Drives an inner search, all models being as simple as each other."""
    try:
        asks = next(search)
        while True:
            asks = search.send(
                [Observation(search_space.centres(search_space.cells(a.vector)), (loss(a.vector),)) for a in asks]
            )
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def test_searches_of_a_large_space_wait_for_their_turn() -> None:
    """What all of them would ask for at once would not fit into memory."""
    search_space = SearchSpace.continuous(300)
    here = Observation(np.zeros(300), (1.0,))
    searches = [
        exhaustive(Channel(str(dimension), (dimension,), search_space, 11, 5), here) for dimension in range(300)
    ]
    running = interleave(searches)
    asks, sizes = next(running), []
    found: list[Observation] | None = None
    while found is None:
        sizes.append(len(asks))
        try:
            asks = running.send([Observation(ask.vector, (1.0 - float(ask.vector.sum()),)) for ask in asks])
        except StopIteration as end:
            found = end.value
    assert sum(sizes) == 300 * 10
    assert max(sizes) < 600
    assert [float(one.vector.sum()) for one in found] == [1.0] * 300


def features(size: int = 6) -> SearchSpace:
    return SearchSpace.of(np.full(size, 2), absent=dict.fromkeys(range(size), 0), start=np.full(size, 0.75))


def on(point: Vector) -> set[int]:
    return set(np.flatnonzero(point >= 0.5).tolist())


def test_forward_starts_from_nothing_and_backward_from_what_is_there() -> None:
    search_space = features()

    def loss(point: Vector) -> float:
        return 1.0 - 0.2 * len(on(point) & {1, 4}) + 0.01 * len(on(point))

    start = told(search_space, np.full(6, 0.75), loss)
    asked: list[Query] = []
    assert on(run(forward(channel(search_space, patience=0), start), search_space, loss, asked).vector) == {1, 4}
    assert [len(on(ask.vector)) for ask in asked] == [1] * 6 + [2] * 5 + [3] * 4, "one step in vain, then no more"
    asked.clear()
    assert on(run(backward(channel(search_space, patience=0), start), search_space, loss, asked).vector) == {1, 4}
    assert [len(on(ask.vector)) for ask in asked] == [5] * 6 + [4] * 5 + [3] * 4 + [2] * 3 + [1] * 2


def test_patience_leads_through_a_stretch_that_does_not_help() -> None:
    """Nothing helps but three features at once."""
    search_space = features()

    def loss(point: Vector) -> float:
        return 0.1 if on(point) >= {0, 1, 2} else 0.5 + 0.001 * min(on(point), default=9)

    start = told(search_space, np.array([0.25, 0.25, 0.25, 0.25, 0.25, 0.75]), loss)
    assert run(forward(channel(search_space, patience=0), start), search_space, loss).loss == 0.5
    assert run(forward(channel(search_space, patience=2), start), search_space, loss).loss == 0.1


def test_what_is_as_good_and_simpler_is_better() -> None:
    search_space = features(4)
    start = told(search_space, np.full(4, 0.75), lambda point: 0.3)
    found = run(backward(channel(search_space), start), search_space, lambda point: 0.3)
    assert len(on(found.vector)) == 0
    assert run(forward(channel(search_space), found), search_space, lambda point: 0.3) is found


def test_a_switch_that_is_absent_at_its_second_value() -> None:
    search_space = SearchSpace.of([2, 2], absent={0: 1})
    assert channel(search_space).off(0, search_space.start) == 0.75
    assert channel(search_space).on(0, search_space.start) == 0.25
    assert (channel(search_space).off(1, search_space.start), channel(search_space).on(1, search_space.start)) == (
        0.25,
        0.75,
    )


@pytest.mark.parametrize("seed", range(4))
def test_simplex_walks_as_scipys(seed: int) -> None:
    """The same points in the same order as SciPy's Nelder and Mead, for a bowl inside the cube."""
    rng = np.random.default_rng(seed)
    tilt = rng.normal(size=(3, 3))
    bowl = tilt @ tilt.T + np.eye(3)
    centre = rng.uniform(0.4, 0.6, size=3)
    start = np.full(3, 0.45)

    def loss(x: Vector) -> float:
        return float((x - centre) @ bowl @ (x - centre))

    search_space = SearchSpace.continuous(3)
    asked: list[Query] = []
    found = run(simplex(Observation(start, (loss(start),)), (0, 1, 2)), search_space, loss, asked)
    corners = np.vstack([start, start + 0.25 * np.eye(3)])
    visited: list[Vector] = []

    def scipy_loss(x: Vector) -> float:
        visited.append(x.copy())
        return loss(x)

    minimize(scipy_loss, start, method="Nelder-Mead", options={"initial_simplex": corners, "maxfev": len(asked) + 1})
    common = min(len(asked), len(visited) - 1)
    assert common > 40
    np.testing.assert_allclose([ask.vector for ask in asked[:common]], visited[1 : common + 1], atol=1e-12)
    np.testing.assert_allclose(found.vector, centre, atol=0.01)


def test_a_simplex_walks_on_over_weights_with_a_step() -> None:
    """Weights in tenths, as the paper quantises them: the corners move on the reals, whatever models they round to."""
    search_space = SearchSpace.of([11, 11, 11, 11])
    best = np.array([2, 9, 0, 5])

    def loss(vector: Vector) -> float:
        return float(np.square(search_space.cells(vector) - best).sum())

    start = search_space.centres(np.array([10.0, 10.0, 10.0, 10.0]))
    asked: list[Query] = []
    found = run(simplex(told(search_space, start, loss), (0, 1, 2, 3)), search_space, loss, asked)
    assert len({search_space.decode(query.vector) for query in asked}) > 30
    assert found.loss <= 2 < 0.02 * loss(start)


def test_the_search_that_suits_a_channel() -> None:
    """All values of a choice; a grid for many numbers; one dimension after the other where values have no order."""
    search_space = SearchSpace.of([5, *[11] * 4, *[9] * 4], ordered=[False, *[True] * 4, *[False] * 4])

    def asks(inner: str, *dimensions: int) -> int:
        asked: list[Query] = []
        start = told(search_space, search_space.start, lambda point: 1.0)
        run(optimise(channel(search_space, *dimensions), start, inner), search_space, lambda point: 1.0, asked)
        return len(asked)

    assert asks("auto", 0) == 4
    assert asks("auto", 5, 6, 7, 8) == 4 * 8, "a round of coordinates"
    assert asks("coordinate", 1, 2, 3, 4) == 4 * 10
    assert asks("simplex", 0) == asks("forward", 0) == asks("auto", 0), "what does not suit is not done"
    assert asks("exhaustive", 1, 2) == 11 * 11 - 1


def test_searches_side_by_side_ask_together() -> None:
    def counting(rounds: int, name: float) -> Inner:
        best = None
        for _ in range(rounds):
            (best,) = yield [Query(np.array([name]))]
        assert best is not None
        return best

    running = interleave([counting(1, 0.1), counting(3, 0.2), counting(2, 0.3)])
    asks = next(running)
    batches = []
    try:
        while True:
            batches.append([float(ask.vector[0]) for ask in asks])
            asks = running.send([Observation(ask.vector, (0.0,)) for ask in asks])
    except StopIteration as end:
        found = end.value
    assert batches == [[0.1, 0.2, 0.3], [0.2, 0.3], [0.2]]
    assert [float(one.vector[0]) for one in found] == [0.1, 0.2, 0.3]


# --- levels ---------------------------------------------------------------------------------------------


def table_problem(losses: dict[tuple[int, ...], float], levels: list[int], complexity: int | None = None) -> Problem:
    """Losses by the numbers of the values; what is not listed is 1. The complexity is the value of one dimension."""
    search_space = SearchSpace.of(levels, labels=("a", "b", "c")[: len(levels)])

    def loss(point: Vector) -> tuple[float, ...]:
        return (losses.get(tuple(int(cell) for cell in search_space.cells(point)), 1.0),)

    def how_complex(point: Vector) -> float:
        return 0.0 if complexity is None else float(search_space.cells(point)[complexity])

    return Problem("table", search_space, loss, 0.0, how_complex)


def levels_of(played: Played) -> list[Event]:
    return [event for event in played.events if event.kind == "level"]


def opened(played: Played) -> list[str]:
    return [row["channel"] for event in levels_of(played) for row in event.figures["rows"] if row["opened"]]


GREEDY = {
    (0, 0, 0): 0.50,
    (1, 0, 0): 0.40,
    (0, 1, 0): 0.45,
    (0, 0, 1): 0.48,
    (1, 1, 0): 0.39,
    (1, 0, 1): 0.40,
    (0, 1, 1): 0.10,
    (1, 1, 1): 0.38,
}


def test_each_level_opens_the_channel_that_gains_most() -> None:
    played = play(best_first, options("best_first"), table_problem(GREEDY, [2, 2, 2]))
    assert opened(played) == ["a", "b", "c"]
    assert played.events[-1].figures["why"] == "all channels are open"
    assert levels_table(played.events) == "\n".join(
        [
            "level  channel          score  values",
            "0      ref              50.0",
            "1      ref + a          60.0*  a = 1",
            "1      ref + b          55.0   b = 1",
            "1      ref + c          52.0   c = 1",
            "2      ref + a + b      61.0*  b = 1",
            "2      ref + a + c      60.0   c = 0",
            "3      ref + a + b + c  62.0*  c = 1",
        ]
    )


def test_it_stops_when_no_channel_gains_enough() -> None:
    played = play(best_first, options("best_first(gain = 2%)"), table_problem(GREEDY, [2, 2, 2]))
    assert opened(played) == ["a"]
    assert played.events[-1].figures["why"] == "no channel gains 0.02"
    # A gain that is exactly what is asked for is enough, in spite of rounding.
    played = play(best_first, options("best_first(gain = 1%)"), table_problem(GREEDY, [2, 2, 2]))
    assert opened(played) == ["a", "b", "c"]


def test_a_beam_finds_what_greed_misses() -> None:
    problem = table_problem(GREEDY, [2, 2, 2])
    assert play(best_first, options("best_first"), problem).result == pytest.approx(0.38)
    wide = play(best_first, options("best_first(beam = 2)"), problem)
    assert wide.result == pytest.approx(0.10)
    assert levels_of(wide)[-1].chosen[0].loss == pytest.approx(0.10)
    assert [len(event.kept) for event in levels_of(wide)] == [0, 2, 2, 1]


def test_levels_are_limited() -> None:
    assert opened(play(best_first, options("best_first(levels = 2)"), table_problem(GREEDY, [2, 2, 2]))) == ["a", "b"]


def test_equal_gains_open_the_simpler_model() -> None:
    losses = {(0, 0): 0.5, (1, 0): 0.3, (0, 1): 0.3}
    assert opened(play(best_first, options("best_first"), table_problem(losses, [2, 2], complexity=0)))[0] == "b"
    assert opened(play(best_first, options("best_first"), table_problem(losses, [2, 2], complexity=1)))[0] == "a"


def test_it_starts_where_it_is_told_else_at_the_best_else_at_the_reference() -> None:
    problem = table_problem({}, [2, 2, 2])
    known = [Observation(np.array([0.75, 0.75, 0.25]), (0.3,)), Observation(np.array([0.25, 0.75, 0.25]), (0.4,))]

    def first(**more: object) -> list[float]:
        setting = Setting(problem.search_space, options("best_first"), np.random.default_rng(0), **more)  # type: ignore[arg-type]
        return next(best_first(setting))[0].vector.tolist()

    assert first() == [0.25, 0.25, 0.25]
    assert first(known=known) == [0.75, 0.75, 0.25]
    assert first(known=known, start=np.array([0.25, 0.25, 0.75])) == [0.25, 0.25, 0.75]


def test_channels_without_genes_are_left_out() -> None:
    search_space = SearchSpace.of([2, 2], channels={"nothing": (), "both": (0, 1)})
    assert [channel.name for channel in channels_of(search_space, 11, 5)] == ["both"]


def test_a_problem_of_the_monks() -> None:
    """Monk 1: the class is on when the first two features are equal or the fifth is 1; 124 of the 432 rows.

    From the nearest neighbour with all features, selection and weights both find the three that matter.
    """
    grid = np.array(list(product(*(range(1, n + 1) for n in (3, 3, 2, 3, 4, 2)))), dtype=float)
    X = grid[np.random.default_rng(1).permutation(len(grid))[:124]]
    y = (X[:, 0] == X[:, 1]) | (X[:, 4] == 1)
    squares = (X[:, None] - X[None]) ** 2
    search_space = SearchSpace.of(
        [2] * 6 + [11] * 6,
        absent=dict.fromkeys(range(6), 0),
        channels={"features": tuple(range(6)), "weights": tuple(range(6, 12))},
        start=np.array([0.75] * 6 + [10.5 / 11] * 6),
    )

    def loss(point: Vector) -> tuple[float, ...]:
        """The leave-one-out error of the nearest neighbours, all of them at equal distances."""
        cells = search_space.cells(point)
        distances = squares @ (cells[:6] * cells[6:])
        np.fill_diagonal(distances, np.inf)
        nearest = distances <= distances.min(axis=1, keepdims=True)
        votes = (nearest & y).sum(axis=1) - (nearest & ~y).sum(axis=1)
        return (float(np.mean((votes > 0) != y)),)

    def used(point: Vector) -> set[int]:
        cells = search_space.cells(point)
        return set(np.flatnonzero(cells[:6] * cells[6:]).tolist())

    problem = Problem("monk 1", search_space, loss, 0.0, complexity=lambda point: float(len(used(point))))
    played = play(best_first, options("best_first"), problem)
    (first,) = [event for event in levels_of(played) if event.figures["level"] == 1]
    by_channel = {row["channel"]: row["loss"] for row in first.figures["rows"]}
    assert loss(search_space.start)[0] > 0.15
    assert max(by_channel.values()) < 0.05
    assert {0, 1, 4} <= used(played.events[-2].chosen[0].vector)
    assert played.result <= min(by_channel.values())
