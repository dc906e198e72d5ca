"""Relations of sets: proven as brute force finds them, with reals, scales and tables, and undecided with a reason."""

from __future__ import annotations

import pytest
from boxes import boxes_of, cut_otherwise, kinds, space_of, values_of, without_scales
from brute_force import all_models
from example_spaces import EXAMPLES, N_FEATURES, N_SAMPLES, block, choice, numbers, optional, seq, use
from generators import FACTS, spelt_out
from generators import spaces as generated
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from small_spaces import requirements
from small_spaces import spaces as small

from msl.space.canonical.digest import space_digest
from msl.space.conditions import Comparison, FactTerm, Literal, Negation, Parameter, Present, Requirement, ValueIs
from msl.space.enumerate.count import _way_count
from msl.space.enumerate.disjoint_sets import WorkLimit
from msl.space.enumerate.equivalence import Relation, Verdict, relate
from msl.space.formulas import Formula
from msl.space.nodes import Choice, Const, IntRange, Node, Permute, RealRange, Sequence, Subset, Union, Vector
from msl.space.spec import Space

SLOW = settings(suppress_health_check=list(HealthCheck), max_examples=150)
SAME, WIDENED, NARROWED, CHANGED, UNDECIDED = Relation


def relation_of(old: frozenset[object], new: frozenset[object]) -> Relation:
    if old == new:
        return SAME
    return WIDENED if old < new else NARROWED if new < old else CHANGED


def check_against_brute_force(old: Space, new: Space) -> None:
    assume(max(_way_count(space.root) for space in (old, new)) < 3_000)
    relation = relation_of(all_models(spelt_out(old)), all_models(spelt_out(new)))
    assert relate(old, new).relation is relation
    if space_digest(old) == space_digest(new):
        assert relation is SAME


@SLOW
@given(small, small)
def test_small_spaces(old: Space, new: Space) -> None:
    check_against_brute_force(old, new)


@SLOW
@given(generated(), generated())
def test_spaces_of_every_kind(old: Space, new: Space) -> None:
    check_against_brute_force(old, new)


@SLOW
@given(small, small, requirements)
def test_spaces_that_are_often_the_same(one: Space, other: Space, more: tuple[Requirement, ...]) -> None:
    both = Space(Choice((one.root, other.root)), one.requirements)
    check_against_brute_force(one, both)
    check_against_brute_force(both, one)
    check_against_brute_force(one, Space(one.root, (*one.requirements, *more)))
    rows = Sequence((one.root, other.root)), Sequence((other.root, one.root))
    check_against_brute_force(Space(Choice(rows)), Space(Choice(rows[::-1]), more))


@SLOW
@given(st.data(), kinds)
def test_alternatives_of_one_block(data: st.DataObject, pieces: list[st.SearchStrategy[Node]]) -> None:
    """Equal sets on equal scales have equal digests here, and no others have."""
    old = data.draw(boxes_of(pieces))
    new = data.draw(cut_otherwise(old) | boxes_of(pieces))
    before, after = values_of(old), values_of(new)
    assert (space_digest(space_of(old)) == space_digest(space_of(new))) is (before == after)
    verdict = relate(space_of(old), space_of(new))
    assert verdict.relation is relation_of(without_scales(before), without_scales(after))
    if verdict.relation is SAME:
        assert verdict.same_scales is (before == after)


# --- reals --------------------------------------------------------------------------------------------------------

a, b, c = use("a", k=RealRange(0, 1)), use("b"), use("c")
k = Parameter(a.block, "k")


def under(*conditions: Comparison | ValueIs, root: Node = a) -> Space:
    return Space(root, tuple(map(Requirement, conditions)))


def half(sign: str) -> Comparison:
    return Comparison(sign, k, Literal(0.5))


REALS = [
    (under(), under(half("!=")), NARROWED),
    (under(half("<")), under(half("<=")), WIDENED),
    (under(half("<=")), Space(use("a", k=RealRange(0, 0.5))), SAME),
    (under(half("<")), Space(use("a", k=RealRange(0, 0.5))), WIDENED),
    (under(half("==")), Space(use("a", k=Const(0.5))), SAME),
    (under(half("<=")), under(half(">=")), CHANGED),
    (under(), Space(choice(use("a", k=RealRange(0, 0.7)), use("a", k=RealRange(0.3, 1)))), SAME),
    (under(), Space(use("a", k=RealRange(0, 1, step=0.25))), NARROWED),
    (under(), Space(use("a", k=IntRange(0, 1))), CHANGED),
    (
        Space(choice(use("a", k=RealRange(0, 0.5), m=Const(1)), use("a", k=RealRange(0.5, 1), m=Const(2)))),
        Space(use("a", k=RealRange(0, 1), m=IntRange(1, 2))),
        WIDENED,
    ),
]


@pytest.mark.parametrize(("old", "new", "relation"), REALS)
def test_ranges_of_reals(old: Space, new: Space, relation: Relation) -> None:
    turned = {WIDENED: NARROWED, NARROWED: WIDENED}
    assert relate(old, new).relation is relation
    assert relate(new, old).relation is turned.get(relation, relation)


def test_the_same_numbers_on_another_scale() -> None:
    linear, logarithmic = (Space(use("a", k=IntRange(1, 9, log=log))) for log in (False, True))
    assert relate(linear, logarithmic) == Verdict(SAME, same_scales=False)
    chains = (seq(use("a", k=IntRange(1, 9, log=log)), step) for log in (False, True) for step in (b, c))
    assert relate(Space(choice(*chains)), Space(seq(use("a", k=IntRange(1, 9)), choice(b, c)))).same_scales is False


# --- structures that no normal form brings together ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (choice(seq(a, c), seq(b, c)), seq(choice(a, b), c)),
        (Subset((a, b)), choice(optional(a), b, seq(a, b))),
        (Permute((a, b)), choice(seq(a, b), seq(b, a))),
        (Union((a, optional(b))), choice(a, Union((a, b)))),
        (use("a", w=Vector(2, IntRange(1, 2))), use("a", w=choice(*(Const((i, j)) for i in (1, 2) for j in (1, 2))))),
    ],
)
def test_the_same_set_in_another_structure(old: Node, new: Node) -> None:
    assert relate(Space(old), Space(new)) == Verdict(SAME)
    assert relate(Space(old), Space(choice(new, use("d")))).relation is WIDENED


def test_a_requirement_and_what_it_leaves() -> None:
    d, e = use("d", n=IntRange(1, 9)), use("d", n=IntRange(1, 4))
    small_n = Requirement(Comparison("<", Parameter(d.block, "n"), Literal(5)))
    assert relate(Space(choice(d, b), (small_n,)), Space(choice(b, e))) == Verdict(SAME)
    no_b = Requirement(Negation(Present(b.block)))
    assert relate(Space(choice(a, b, c), (no_b,)), Space(choice(a, c))) == Verdict(SAME)


def test_one_class_under_two_names() -> None:
    """The requirements of either space speak of names that the other does not know."""
    forest, wide = (block(name, target="pkg:Forest") for name in ("rf", "wide"))
    below = (Requirement(Comparison("<", Parameter(wide, "n"), Literal(5.0))),)
    old, new = Space(use(forest, n=RealRange(0, 9))), Space(use(wide, n=RealRange(0, 9)), below)
    assert relate(old, new).relation is NARROWED
    assert relate(Space(use(forest, n=RealRange(0, 5))), new).relation is NARROWED
    assert relate(new, Space(use(forest, n=RealRange(0, 5)))).relation is WIDENED


# --- tables -------------------------------------------------------------------------------------------------------


def bounded(*high: int | Formula) -> Space:
    return Space(seq(use("a", k=choice(*(IntRange(1, end) for end in high))), b))


def least(number: int) -> Formula:
    return Formula("min", (number, N_FEATURES))


TABLES = [
    (bounded(N_FEATURES), Space(seq(choice(use("a", k=IntRange(1, N_FEATURES)), c), b)), WIDENED),
    (bounded(least(50)), bounded(least(100)), WIDENED),
    (bounded(least(100)), bounded(least(50)), NARROWED),
    (bounded(least(100), least(50)), bounded(least(100)), SAME),
    (bounded(least(50)), bounded(50), WIDENED),
    (bounded(N_FEATURES), bounded(N_SAMPLES), UNDECIDED),
    (bounded(N_FEATURES, N_SAMPLES), bounded(N_SAMPLES, N_FEATURES), SAME),
    (bounded(least(50)), bounded(7), UNDECIDED),
    (
        Space(use("a", w=Vector(N_FEATURES, RealRange(0, 1)))),
        Space(use("a", w=Vector(N_SAMPLES, RealRange(0, 1)))),
        UNDECIDED,
    ),
    (bounded(9), Space(bounded(9).root, (Requirement(Comparison("<", FactTerm("n_samples"), Literal(9))),)), UNDECIDED),
    (bounded(N_FEATURES), Space(bounded(N_FEATURES).root, under(half("<")).requirements), UNDECIDED),
]


@pytest.mark.parametrize(("old", "new", "relation"), TABLES)
def test_what_holds_for_every_table(old: Space, new: Space, relation: Relation) -> None:
    verdict = relate(old, new)
    assert verdict.relation is relation
    assert ("--data" in verdict.reason) is (relation is UNDECIDED)


def test_what_is_undecided_says_why() -> None:
    two = use("a", k=RealRange(0, 1), m=RealRange(0, 1))
    compared = (Requirement(Comparison("<", k, Parameter(a.block, "m"))),)
    assert "compares it with another parameter" in relate(Space(two), Space(two, compared)).reason
    assert "different tables" in relate(Space(a, (), FACTS), Space(b)).reason
    long = seq(*(use("a", k=IntRange(1, 2 + i)) for i in range(50)))
    assert "too many cases" in relate(Space(long), Space(seq(long, optional(b))), WorkLimit(100)).reason


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_papers_spaces(name: str) -> None:
    space = EXAMPLES[name]()
    with_more = Space(choice(space.root, use("one_more")), space.requirements)
    asks_for_table = "--data" in relate(space, with_more).reason
    assert asks_for_table or relate(space, with_more).relation is WIDENED
    assert asks_for_table or relate(with_more, space).relation is NARROWED
    assert asks_for_table is (name == "everything")


def test_a_fine_grid_on_both_sides_is_not_listed() -> None:
    fine = use("a", k=RealRange(0, 1, step=1e-6))
    assert relate(Space(fine), Space(choice(fine, b))).relation is WIDENED
    assert relate(Space(choice(fine, use("d", k=numbers(1, 2)))), Space(fine)).relation is NARROWED
