"""Which models vote: greedy choice by the loss of the vote, and the size at which a vote settles."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from msl.runner.choose_members import _consensus_size, _greedy
from msl.runner.choose_winner import Candidate
from msl.runner.plan import Plan
from msl.space.values import BlockType, BlockValue, Model


def candidate(number: int, complexity: float = 1.0) -> Candidate:
    block = BlockType("learner", "test", "learner", None, "test:Learner")
    return Candidate(Model((BlockValue(block, (("n", number),)),)), (number / 100,), complexity)


def numbers(chosen: Sequence[Candidate]) -> tuple[int, ...]:
    return tuple(int(one.losses[0] * 100 + 0.5) for one in chosen)


def test_the_one_that_helps_most_is_added_until_none_helps() -> None:
    pool = [candidate(1), candidate(2), candidate(3), candidate(4)]
    losses = {(1,): 0.5, (1, 3): 0.3, (1, 2): 0.4, (1, 3, 4): 0.2}
    chosen = _greedy(lambda members: losses.get(numbers(members), 0.9), pool, 4, False)
    assert numbers(chosen) == (1, 3, 4)
    assert numbers(_greedy(lambda members: losses.get(numbers(members), 0.9), pool, 2, False)) == (1, 3)


def test_of_two_that_help_as_much_the_simpler_is_added() -> None:
    pool = [candidate(1), candidate(2, complexity=5.0), candidate(3, complexity=2.0)]
    assert numbers(_greedy(lambda members: 1.0 / len(members), pool, 2, False)) == (1, 3)


def test_what_does_not_lower_the_loss_is_not_added() -> None:
    pool = [candidate(1), candidate(2)]
    assert numbers(_greedy(lambda members: 0.5, pool, 5, False)) == (1,)
    assert _greedy(lambda members: 0.5, [], 5, False) == []


def test_a_member_is_added_again_only_with_replacement() -> None:
    pool = [candidate(1), candidate(2)]
    assert numbers(_greedy(lambda members: 1.0 / len(members), pool, 3, True)) == (1, 1, 1)
    assert sorted(numbers(_greedy(lambda members: 1.0 / len(members), pool, 3, False))) == [1, 2]


def settled(changes: dict[int, int], members: int, rows: int = 100) -> int:
    """The size chosen where from each size to the next but one so many rows change their class."""
    labels, votes = np.zeros(rows, dtype=int), {}
    for size in range(3, 53, 2):
        votes[size] = np.eye(2)[labels]
        labels = labels.copy()
        labels[: changes.get(size, 0)] ^= 1
    plan = cast(Plan, SimpleNamespace(job=SimpleNamespace(dataset=SimpleNamespace(n_classes=2))))

    def vote(chosen: Sequence[Candidate]) -> Any:
        return votes[len(chosen)]

    return _consensus_size(plan, vote, [candidate(number) for number in range(members)])


def test_a_vote_has_settled_when_two_more_change_a_tenth_of_the_most() -> None:
    assert settled({3: 40, 5: 20, 7: 4, 9: 1}, 21) == 7
    assert settled({3: 40, 5: 30, 7: 20, 9: 15, 11: 25}, 13) == 9  # none settles: the least change
    assert settled({3: 40, 5: 20, 7: 4, 9: 1}, 9) == 7
    assert settled({}, 4) == 4  # too few to compare
