"""Two iterations of each swarm and of the pattern, computed by hand from fixed random numbers and given losses."""

from __future__ import annotations

import numpy as np
import pytest
from strategy_options import FixedNumbers, options

from msl.search.base import Observation, Query, SearchSpace
from msl.search.strategies.bpso import bpso
from msl.search.strategies.pattern import pattern
from msl.search.strategies.pso import pso
from msl.search.strategy_context import Setting, Strategy


def points(asks: list[Query]) -> list[list[float]]:
    return [[round(float(dimension), 9) for dimension in ask.vector] for ask in asks]


def told(search_space: SearchSpace, asks: list[Query], *losses: float) -> list[Observation]:
    """Answers as a decoder gives them: dimensions with levels in the middle of their values."""
    return [
        Observation(search_space.centres(search_space.cells(ask.vector)), (loss,))
        for ask, loss in zip(asks, losses, strict=True)
    ]


def just_above(loss: float) -> float:
    """What a loss as low as this one is below, and no higher loss is."""
    return float(np.nextafter(loss, np.inf))


def ends(strategy: Strategy, answers: list[Observation]) -> bool:
    with pytest.raises(StopIteration):
        strategy.send(answers)
    return True


def test_particle_swarm() -> None:
    search_space = SearchSpace.continuous(2)
    # Positions, then r1 and r2 of both particles for each of the two iterations.
    rng = FixedNumbers(
        *(0.2, 0.4, 0.9, 0.5),
        *(0.5, 0.5, 0.5, 0.5),
        *(0.3, 0.3, 1.0, 0.5),
        *(0.7, 0.7, 0.5, 0.25),
        *(0.9, 0.9, 0.5, 0.5),
    )
    strategy = pso(Setting(search_space, options("pso(swarm = 2, iterations = 2)"), rng))  # type: ignore[arg-type]

    asks = next(strategy)
    assert points(asks) == [[0.2, 0.4], [0.9, 0.5]]
    assert [ask.cutoff for ask in asks] == [None, None]

    # W = 1.2, but nothing moves yet. The first particle leads and is its own best: it stays. The second:
    # v = 2·1·(0.2 − 0.9) = −1.4 and 2·0.5·(0.4 − 0.5) = −0.1; x = (−0.5 → 0, 0.4).
    asks = strategy.send(told(search_space, asks, 0.1, 0.7))
    assert points(asks) == [[0.2, 0.4], [0.0, 0.4]]
    assert [ask.cutoff for ask in asks] == [just_above(0.1), just_above(0.7)]

    # The second got worse, so its best is where it started. W = 0.4:
    # v = 0.4·(−1.4) + 2·0.5·(0.9 − 0) + 2·0.5·(0.2 − 0) = 0.54
    # and 0.4·(−0.1) + 2·0.25·(0.5 − 0.4) + 2·0.5·(0.4 − 0.4) = 0.01.
    asks = strategy.send(told(search_space, asks, 0.1, 0.9))
    assert points(asks) == [[0.2, 0.4], [0.54, 0.41]]
    assert ends(strategy, told(search_space, asks, 0.1, 0.2))
    assert rng.left == 0


def test_particles_go_on_from_where_the_decoder_put_them() -> None:
    """Three values: 0.5 is the middle of the second, to which 0.4 is rounded before the next step."""
    search_space = SearchSpace.of([3])
    rng = FixedNumbers(0.4, 0.9, 0.5, 0.5, 0.5, 0.25)
    strategy = pso(Setting(search_space, options("pso(swarm = 2, iterations = 1)"), rng))  # type: ignore[arg-type]
    asks = next(strategy)
    # The second particle is at 5/6: v = 2·0.25·(0.5 − 5/6) = −1/6.
    asks = strategy.send(told(search_space, asks, 0.1, 0.2))
    assert [float(ask.vector[0]) for ask in asks] == pytest.approx([0.5, 5 / 6 - 1 / 6])


def test_binary_particle_swarm() -> None:
    search_space = SearchSpace.of([2, 2])
    rng = FixedNumbers(
        *(0.1, 0.9, 0.7, 0.2),  # below one half is off: (0, 1) and (1, 0)
        *(0.5, 0.5, 0.5, 0.5),
        *(0.9, 0.9, 0.5, 1.0),
        *(0.49, 0.51, 0.32, 0.82),
        *(0.2, 0.4, 0.6, 0.6),
        *(0.3, 0.1, 1.0, 1.0),
        *(0.32, 0.67, 0.115, 0.93),
    )
    strategy = bpso(Setting(search_space, options("bpso(swarm = 2, iterations = 2)"), rng))  # type: ignore[arg-type]

    asks = next(strategy)
    assert points(asks) == [[0, 1], [1, 0]]

    # The leader has no velocity: each bit is on with one half, so 0.49 switches on and 0.51 off. The other one:
    # v = 1.49618·0.5·(0 − 1) = −0.74809 and 1.49618·1·(1 − 0) = 1.49618, so 0.32124 and 0.81701 against 0.32 and 0.82.
    asks = strategy.send(told(search_space, asks, 0.1, 0.7))
    assert points(asks) == [[1, 0], [1, 0]]

    # The first is worse than before, its best is still (0, 1):
    # v = 1.49618·(0.2 + 0.3)·(0 − 1) = −0.74809 and 1.49618·(0.4 + 0.1)·(1 − 0) = 0.74809: 0.32124 and 0.67876.
    # The second is where its best is, and follows the first's:
    # v = 0.7298·(−0.74809) + 1.49618·(0 − 1) = −2.04214 and 0.7298·1.49618 + 1.49618 = 2.58809: 0.11487 and 0.93009.
    asks = strategy.send(told(search_space, asks, 0.5, 0.7))
    assert points(asks) == [[1, 1], [0, 1]]
    assert ends(strategy, told(search_space, asks, 1.0, 1.0))
    assert rng.left == 0


def test_a_velocity_of_bits_is_clamped() -> None:
    """With vmax = 0.5 a bit that is drawn on is on with at most 1 / (1 + e^−0.5) = 0.62246."""
    search_space = SearchSpace.of([2])
    rng = FixedNumbers(0.9, 0.1, 0.5, 0.5, 0.5, 1.0, 0.4, 0.623)
    call = "bpso(swarm = 2, iterations = 1, vmax = 0.5)"
    strategy = bpso(Setting(search_space, options(call), rng))  # type: ignore[arg-type]
    asks = next(strategy)
    assert points(strategy.send(told(search_space, asks, 0.1, 0.2))) == [[1], [0]]


def test_pattern_search() -> None:
    search_space = SearchSpace.continuous(2)
    rng = FixedNumbers(0.3, 0.6)
    strategy = pattern(Setting(search_space, options("pattern(evaluations = 11)"), rng))  # type: ignore[arg-type]
    here = [0.3, 0.6]
    answers = [
        # Half the range: up along each axis, then down, each from the best point at the time.
        ([0.3, 0.6], 1.0, None),
        ([0.8, 0.6], 0.5, 1.0),
        ([0.8, 1.0], 0.7, 0.5),
        ([0.3, 0.6], 1.0, 0.5),
        ([0.8, 0.1], 0.4, 0.5),
        # A quarter.
        ([1.0, 0.1], 0.9, 0.4),
        ([0.8, 0.35], 0.3, 0.4),
        ([0.55, 0.35], 0.2, 0.3),
        ([0.55, 0.1], 0.8, 0.2),
        # An eighth, until the evaluations are used.
        ([0.675, 0.35], 0.2, 0.2),
        ([0.55, 0.475], 0.6, 0.2),
    ]
    asks = next(strategy)
    for number, (here, loss, cutoff) in enumerate(answers):
        assert points(asks) == [here]
        assert asks[0].cutoff == (None if cutoff is None else just_above(cutoff))
        answer = told(search_space, asks, loss)
        if number + 1 < len(answers):
            asks = strategy.send(answer)
    assert ends(strategy, answer)


def test_complete_polling_takes_the_best_of_a_sweep() -> None:
    search_space = SearchSpace.continuous(2)
    rng = FixedNumbers(0.3, 0.6)
    call = "pattern(evaluations = 10, poll = complete)"
    strategy = pattern(Setting(search_space, options(call), rng))  # type: ignore[arg-type]
    asks = next(strategy)
    asks = strategy.send(told(search_space, asks, 1.0))
    assert points(asks) == [[0.8, 0.6], [0.3, 1.0], [0.0, 0.6], [0.3, 0.1]]
    asks = strategy.send(told(search_space, asks, 0.5, 0.9, 1.1, 0.4))
    assert points(asks) == [[0.55, 0.1], [0.3, 0.35], [0.05, 0.1], [0.3, 0.0]]
    asks = strategy.send(told(search_space, asks, 0.5, 0.5, 0.5, 0.5))
    assert points(asks) == [[0.425, 0.1]], "the last of ten evaluations"


def test_steps_of_a_pattern_end_where_they_lead_to_the_same_value() -> None:
    """A dimension with four values: from the middle of one, a step of 1/8 reaches the next, and 1/16 none."""
    search_space = SearchSpace.of([4])
    rng = FixedNumbers(0.3)
    strategy = pattern(Setting(search_space, options("pattern"), rng))  # type: ignore[arg-type]
    asks = next(strategy)
    asked = points(asks)
    for _ in range(5):
        asks = strategy.send(told(search_space, asks, 1.0))
        asked.extend(points(asks))
    assert ends(strategy, told(search_space, asks, 1.0))
    # 0.375 is the middle of [0.25, 0.5): both steps of 1/2 leave it, 1/4 too, 1/8 only up.
    assert asked == [[0.3], [0.875], [0.0], [0.625], [0.125], [0.5]]


def test_a_shuffled_pattern_skips_no_step_and_makes_all_evaluations() -> None:
    """The four values of above: every sweep is a step up and one down, also where both are rounded back."""
    search_space = SearchSpace.of([4])
    call = "pattern(evaluations = 12, shuffle = true)"
    strategy = pattern(Setting(search_space, options(call), FixedNumbers(0.3)))  # type: ignore[arg-type]
    asks = next(strategy)
    asked, repeats = points(asks), [asks[0].repeat]
    # The value is met again at 1/8 down, with a lower loss on these splits: it is the one to beat from then on.
    losses = [1.0, 1.1, 1.2, 1.3, 1.1, 1.2, 0.9, 1.0, 0.95, 1.0, 1.0]
    for loss in losses:
        asks = strategy.send(told(search_space, asks, loss))
        asked.extend(points(asks))
        repeats.append(asks[0].repeat)
    assert asks[0].cutoff == just_above(0.9)
    assert ends(strategy, told(search_space, asks, 1.0))
    assert asked == [
        [0.3],
        [0.875],
        [0.0],
        [0.625],
        [0.125],
        [0.5],
        [0.25],
        *([[0.4375], [0.3125]]),
        [0.40625],
        [0.34375],
        [0.390625],
    ]
    assert repeats == list(range(1, 13)), "every evaluation has splits of its own"


def test_the_ramp_of_inertia() -> None:
    """From 1.2 to 0.4 over the first half of 50 iterations, by 0.032 each."""
    from msl.search.operators.swarm import inertia_schedule

    inertia = inertia_schedule(options("pso")["inertia"], 50)
    assert [round(inertia(t), 9) for t in (1, 2, 25, 26, 27, 50)] == [1.2, 1.168, 0.432, 0.4, 0.4, 0.4]
    assert inertia_schedule(0.7, 50)(20) == 0.7
    over_all = inertia_schedule(options("pso(inertia = ramp(1, 0, over = 1))")["inertia"], 4)
    np.testing.assert_allclose([over_all(t) for t in range(1, 6)], [1, 0.75, 0.5, 0.25, 0])
