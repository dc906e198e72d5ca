"""Resolve: bounds become numbers, and what a table rules out is removed and told."""

from __future__ import annotations

from fractions import Fraction

import pytest
from example_spaces import block, choice, psms, seq, use

from msl.space.enumerate.count import count
from msl.space.formulas import Facts, Formula, evaluate, fold, limits
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Listing,
    Marked,
    Node,
    Param,
    Permute,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
)
from msl.space.numbers import excess
from msl.space.resolve import NothingLeft, resolve
from msl.space.spec import Space

TABLE = Facts(n_samples=100, n_features=8, n_classes=3, task="classification")
FEATURES, SAMPLES = Formula("n_features"), Formula("n_samples")
GOOD = use("good", n=IntRange(1, FEATURES))
#: Its range is empty for 8 features.
BAD = use("bad", n=IntRange(10, FEATURES))
CLASSES, NUMBERS = (use(block(task, "learner", task=task)) for task in ("classification", "regression"))


def _resolved(node: Node, facts: Facts = TABLE) -> Node:
    return resolve(Space(node), facts)[0].root


def _param(node: Node) -> Node:
    found = _resolved(use("a", x=node))
    assert isinstance(found, BlockUse)
    return found.params[0].node


# --- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (IntRange(2, Formula("min", (1000, FEATURES))), IntRange(2, 8)),
        (IntRange(Formula("/", (FEATURES, 3)), Formula("/", (SAMPLES, 3))), IntRange(3, 33)),
        (IntRange(1, FEATURES, step=3), IntRange(1, 7, step=3)),
        (IntRange(1, Formula("sqrt", (SAMPLES,)), log=True), IntRange(1, 10, log=True)),
        (RealRange(0, Formula("/", (1, FEATURES))), RealRange(0.0, 0.125)),
        (RealRange(Formula("/", (1, SAMPLES)), 1, log=True), RealRange(0.01, 1.0, log=True)),
        (Vector(FEATURES, Bool()), Vector(8, Bool())),
        (Vector(3, IntRange(1, FEATURES)), Vector(3, IntRange(1, 8))),
        (Regions(15, FEATURES), Regions(15, 8)),
        (Const(Formula("/", (FEATURES, 2))), Const(4)),
        (Listing((IntRange(1, FEATURES), Const(1))), Listing((IntRange(1, 8), Const(1)))),
        (Symbol("x", (Param("n", IntRange(1, FEATURES)),)), Symbol("x", (Param("n", IntRange(1, 8)),))),
    ],
)
def test_bounds_become_numbers(node: Node, expected: Node) -> None:
    assert _param(node) == expected


def test_defaults_follow_the_table() -> None:
    default = Formula("min", (16, FEATURES))
    found = _resolved(BlockUse(block("a"), (Param("n", IntRange(1, FEATURES), default, True),)))
    assert isinstance(found, BlockUse)
    assert (found.params[0].default, found.params[0].has_default) == (8, True)


def test_formulas_are_exact() -> None:
    assert evaluate(Formula("/", (FEATURES, 3)), TABLE) == Fraction(8, 3)
    assert fold("/", [1, 3]) == 1 / 3
    assert fold("*", [2, 3]) == 6
    assert fold("-", [FEATURES]) == Formula("-", (FEATURES,))
    assert limits(Formula("min", (50, FEATURES))) == (1, 50)


# --- what goes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (choice(GOOD, BAD), GOOD),
        (choice(GOOD, BAD, Empty()), choice(GOOD, Empty())),
        (Subset((GOOD, BAD)), Subset((GOOD,))),
        (Arrange(0, 2, (GOOD, BAD)), Arrange(0, 1, (GOOD,))),
        (Repeat(0, 2, BAD), Empty()),
        (seq(choice(BAD, Empty()), GOOD), seq(Empty(), GOOD)),
        (Marked("x:p", choice(GOOD, BAD)), Marked("x:p", GOOD)),
        (choice(CLASSES, NUMBERS), CLASSES),
        (choice(GOOD, seq(GOOD, BAD)), GOOD),
        (choice(GOOD, Permute((GOOD, BAD))), GOOD),
        (choice(GOOD, Union((GOOD, BAD))), GOOD),
        (choice(GOOD, Repeat(1, 2, BAD)), GOOD),
        (choice(GOOD, Arrange(2, 2, (GOOD, BAD))), GOOD),
        (choice(GOOD, Marked("x:p", BAD)), GOOD),
    ],
)
def test_what_the_table_rules_out_is_removed(node: Node, expected: Node) -> None:
    assert _resolved(node) == _resolved(expected)


def test_an_alternative_of_a_value_is_removed_alone() -> None:
    domain = choice(Symbol("x", (Param("n", IntRange(10, FEATURES)),)), Const("y"))
    assert _param(domain) == Const("y")


def test_removals_are_told() -> None:
    _, removals = resolve(Space(seq(choice(GOOD, BAD), choice(CLASSES, NUMBERS))), TABLE)
    assert [(removal.what, removal.why) for removal in removals] == [
        ("bad", "n has no value left in 10..n_features"),
        ("regression", "serves regression only"),
    ]


@pytest.mark.parametrize("node", [BAD, seq(GOOD, BAD), choice(BAD, NUMBERS), Repeat(1, 3, BAD)])
def test_nothing_left(node: Node) -> None:
    with pytest.raises(NothingLeft, match=r"nothing in this space fits the table: .*10\.\.n_features") as caught:
        resolve(Space(node), TABLE)
    assert caught.value.removals


def test_other_tables_other_spaces() -> None:
    task = Facts(100, 8, 0, "regression")
    assert _resolved(choice(CLASSES, NUMBERS), task) == NUMBERS
    for features, structures in ((1, 8 * 10), (2, 1_880)):
        found, _ = resolve(psms(), Facts(100, features, 2, "classification"))
        assert count(found).structures == structures


def test_shared_pieces_stay_shared() -> None:
    found = _resolved(Sequence((GOOD, choice(GOOD, Empty()), GOOD)))
    assert isinstance(found, Sequence)
    assert isinstance(found.steps[1], Choice)
    assert found.steps[0] is found.steps[2] is found.steps[1].options[0]


def test_requirements_and_facts_go_along() -> None:
    found, _ = resolve(psms(), TABLE)
    assert found.facts == TABLE
    assert found.requirements == psms().requirements


# --- The largest numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("largest", "beyond"),
    [
        (IntRange(2**53 - 9, 2**53), IntRange(2**53 - 9, 2**53 + 1)),
        (IntRange(1, 2**40, log=True), IntRange(1, 2**40 + 1, log=True)),
        (IntRange(0, 2**48 - 1, step=1), IntRange(0, 2**48, step=1)),
        (RealRange(1e-250, 1e250), RealRange(1, 1.01e250)),
        (RealRange(0, 1, step=2.0**-47), RealRange(0, 1, step=2.0**-48)),
        (Vector(100_000, Bool()), Vector(100_001, Bool())),
        (Regions(25_000, 3), Regions(25_001, 3)),
    ],
    ids=lambda node: type(node).__name__,
)
def test_the_largest_domain_that_can_be_searched_is_and_none_beyond_it(largest: Node, beyond: Node) -> None:
    assert excess(largest) is None
    assert excess(beyond) is not None
