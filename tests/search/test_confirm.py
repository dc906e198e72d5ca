"""Confirm: the best so far asked for again, turn by turn; the mean over the turns decides."""

from __future__ import annotations

import numpy as np
import pytest

from msl.search.base import Event, Observation, Query
from msl.search.strategies.confirm import CONFIRMED, FIRST_CONFIRMING_REPEAT, confirm
from msl.search.strategy_context import Setting
from msl.testing.toy_problems import sphere, two_bowls


def options(top: int = 30, repeats: int = 5) -> dict[str, int]:
    return {"top": top, "repeats": repeats}


def known(losses: list[float]) -> list[Observation]:
    dimensions = sphere().search_space.n_dimensions
    return [Observation(np.full(dimensions, place / 100), (loss,), place) for place, loss in enumerate(losses)]


def confirmed(
    told: list[Observation], given: dict[str, int], luck: dict[tuple[int, int], float]
) -> tuple[list[list[Query]], list[Event]]:
    """What is asked, and noted; `luck` is what a point (by its place) comes to in a turn, else its own loss."""
    events: list[Event] = []
    setting = Setting(sphere().search_space, given, np.random.default_rng(0), told, note=events.append)
    running = confirm(setting)
    batches = []
    asks = next(running, None)
    while asks is not None:
        batches.append(asks)
        places = [round(float(ask.vector[0]) * 100) for ask in asks]
        answers = [
            Observation(
                ask.vector,
                (luck.get((place, ask.repeat - FIRST_CONFIRMING_REPEAT + 1), told[place].loss),),
                told[place].complexity,
            )
            for ask, place in zip(asks, places, strict=True)
        ]
        try:
            asks = running.send(answers)
        except StopIteration:
            asks = None
    return batches, events


def places(asks: list[Query]) -> list[int]:
    return [round(float(ask.vector[0]) * 100) for ask in asks]


@pytest.mark.parametrize(("top", "repeats"), [(2, 3), (3, 1), (50, 2)])
def test_the_best_of_unlike_losses_are_asked_again_in_every_turn(top: int, repeats: int) -> None:
    batches, _ = confirmed(known([0.4, 0.1, 0.1, 0.3, 0.2]), options(top, repeats), {})
    # 1 and 2 have one loss: the simpler of them stands for both.
    assert [places(batch) for batch in batches] == [[1, 4, 3, 0][:top]] * repeats
    assert [{ask.repeat for ask in batch} for batch in batches] == [
        {FIRST_CONFIRMING_REPEAT + repeat} for repeat in range(repeats)
    ]
    assert all(ask.cutoff is None and ask.share == 1.0 for batch in batches for ask in batch)


def test_the_mean_of_the_turns_decides_and_the_loss_that_it_was_found_at_does_not() -> None:
    luck = {(0, 1): 0.5, (0, 2): 0.3, (1, 1): 0.2, (1, 2): 0.4, (2, 1): 0.1, (2, 2): 0.6}
    _, events = confirmed(known([0.0, 0.1, 0.2]), options(3, 2), luck)
    assert [event.kind for event in events] == [CONFIRMED] * 2
    first, last = events
    assert places([Query(first.chosen[0].vector)]) == [2], "after one turn it is the luck of that turn"
    assert last.stands
    assert places([Query(one.vector) for one in last.kept]) == [1, 2, 0]
    assert [one.loss for one in last.kept] == pytest.approx([0.3, 0.35, 0.4])
    assert last.figures["found_at"] == [0.1, 0.2, 0.0]


def test_a_model_that_fails_in_a_turn_is_not_chosen() -> None:
    _, events = confirmed(known([0.0, 0.1]), options(2, 2), {(0, 2): np.inf})
    assert places([Query(events[-1].chosen[0].vector)]) == [1]
    assert len(events[-1].kept) == 1


def test_without_models_it_says_so() -> None:
    batches, events = confirmed([Observation(np.zeros(2), (np.inf,))], options(), {})
    assert batches == []
    assert events[-1].figures["why"] == "there is no model to confirm"


def test_a_front_is_confirmed_as_a_front() -> None:
    search_space = two_bowls().search_space
    told = [Observation(np.full(search_space.n_dimensions, x), (x, 1 - x)) for x in (0.1, 0.5, 0.9)]
    events: list[Event] = []
    setting = Setting(search_space, options(repeats=1), np.random.default_rng(0), told, 2, note=events.append)
    running = confirm(setting)
    asks = next(running)
    answers = [Observation(ask.vector, (0.2, 0.2) if ask.vector[0] == 0.5 else (0.3, 0.3)) for ask in asks]
    with pytest.raises(StopIteration):
        running.send(answers)
    assert [one.vector[0] for one in events[-1].chosen] == [0.5]
    assert len(events[-1].kept) == 3


def test_a_model_that_was_judged_on_several_splits_is_one_finalist() -> None:
    one, other = known([0.2, 0.3])
    luckier = Observation(one.vector, (0.1,), one.complexity)
    batches, events = confirmed([one, other, luckier], options(5, 1), {})
    assert places(batches[0]) == [0, 1]
    assert events[-1].figures["found_at"] == [0.1, 0.3]
