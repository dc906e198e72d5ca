"""Defaults: what a parameter is where nothing is said about it."""

from __future__ import annotations

import pytest
from example_spaces import choice, numbers, use

from msl.space.defaults import closed
from msl.space.nodes import Bool, Const, Empty, IntRange, Node, RealRange, Subset


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (Bool(), Const(False)),
        (IntRange(3, 9), Const(3)),
        (RealRange(1, 9), Const(1.0)),
        (numbers(4, 8), Const(4)),
        (Subset((use("a"), use("b"))), Empty()),
        (choice(use("a"), use("b")), use("a")),
    ],
)
def test_the_first_and_lowest_of_everything(node: Node, expected: Node) -> None:
    found = closed(node)
    assert found == expected
    assert not isinstance(found, Const) or type(found.value) is type(expected.value)  # type: ignore[union-attr]
