"""Digests: a table of edits that must leave the space digest as it is, or must change it; models; runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from example_spaces import EXAMPLES, block, choice, numbers, optional, param, seq, texts, use
from hypothesis import given
from hypothesis import strategies as st

from msl.space.canonical.digest import model_digest, run_digest, space_digest
from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    Sibling,
    ValueIs,
)
from msl.space.formulas import Formula
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
    Repeat,
    Sequence,
    Subset,
    Symbol,
    Union,
    Vector,
)
from msl.space.spec import Space
from msl.space.values import BlockValue, Branches, Model, SymbolValue, Value

# --- the table: each row is an edit from one space to another ---------------------------------------------------


@dataclass(frozen=True)
class Edit:
    """What is edited, and the space before and after; text that means the same spaces can stand here just as well."""

    what: str
    before: Space | Node
    after: Space | Node

    def digests(self) -> tuple[str, str]:
        return space_digest(_space(self.before)), space_digest(_space(self.after))


def _space(given: Space | Node) -> Space:
    return given if isinstance(given, Space) else Space(given)


a, b, c = use("a", k=IntRange(1, 9)), use("b"), use("c")
svc = block("svc", "learner")
k_of_a = Parameter(a.block, "k")
small = Comparison("<", k_of_a, Literal(5))
marked = seq(Marked("f:p", choice(a, b)), Marked("f:q", choice(a, b, c)))
p, q = Marked("f:p", choice(a, b)), Marked("f:q", choice(b, a))


def of(node: Node) -> Node:
    """A block with this domain."""
    return use("a", k=node)


def rule(*conditions: Requirement, root: Node = marked) -> Space:
    return Space(root, conditions)


def _rbf(low: float, high: float) -> Node:
    return Symbol("rbf", (Param("g", RealRange(low, high)),))


def _conditional(n: Node) -> Node:
    asks = Comparison("==", Sibling("n"), Literal(2))
    return BlockUse(a.block, (Param("n", n), Param("m", Bool(), condition=asks)))


SAME = [
    Edit("order of alternatives", choice(a, b, c), choice(c, a, b)),
    Edit("an alternative twice", choice(a, b), choice(a, b, a)),
    Edit("alternatives in parentheses", choice(a, b, c), choice(choice(a, b), c)),
    Edit("one alternative alone", a, choice(a)),
    Edit("steps in parentheses", seq(a, b, c), seq(a, seq(b, c))),
    Edit("`none` as a step", seq(a, b), seq(a, Empty(), b)),
    Edit("branches in parentheses", Union((a, b, c)), Union((Union((a, b)), c))),
    Edit("`none` as a branch", Union((a, b)), Union((a, Empty(), b))),
    Edit("`?` on an optional step", optional(a), Choice((optional(a), Empty()))),
    Edit("subset of one", optional(a), Subset((a,))),
    Edit("subset as optional steps", Subset((a, b)), seq(optional(a), optional(b))),
    Edit("permute of one", a, Permute((a,))),
    Edit("order of members to permute", Permute((a, b, c)), Permute((c, b, a))),
    Edit("`none` to permute", Permute((a, b)), Permute((a, Empty(), b))),
    Edit("arrange all as permute", Arrange(3, 3, (a, b, c)), Permute((a, b, c))),
    Edit("arrange at most one as a choice", Arrange(0, 1, (a, b)), optional(choice(a, b))),
    Edit("order of members to arrange", Arrange(1, 2, (a, b, c)), Arrange(1, 2, (c, a, b))),
    Edit("repeat once", a, Repeat(1, 1, a)),
    Edit("repeat as often as written", seq(a, a, a), Repeat(3, 3, a)),
    Edit("optional repeat from zero", Repeat(0, 3, a), optional(Repeat(1, 3, a))),
    Edit("a part named, none speaks of it", seq(a, b), seq(Marked("f:p", a), b)),
    Edit("a fragment used twice or written twice", seq(c, c), seq(c, use("c"))),
    Edit("name of a block", use(block("svc")), use(block("machine", target="pkg.clop:svc"))),
    Edit("order of parameters", use("a", k=Const(1), m=Const(2)), use("a", m=Const(2), k=Const(1))),
    Edit("a default", BlockUse(a.block, (param("k", Bool(), True),)), BlockUse(a.block, (param("k", Bool(), False),))),
    Edit("no default any more", BlockUse(a.block, (param("k", Bool(), True),)), of(Bool())),
    Edit("bool spelt out", of(Bool()), of(choice(Const(True), Const(False)))),
    Edit("order of numbers", of(numbers(4, 8, 16)), of(numbers(16, 8, 4))),
    Edit("neighbouring numbers as a range", of(numbers(1, 2, 3)), of(IntRange(1, 3))),
    Edit("step one", of(IntRange(1, 3, step=1)), of(IntRange(1, 3))),
    Edit("an end that no step reaches", of(IntRange(1, 8, step=3)), of(IntRange(1, 7, step=3))),
    Edit("a range of one number", of(IntRange(4, 4)), of(Const(4))),
    Edit("whole ends of a real range", of(RealRange(0, 1)), of(RealRange(0.0, 1.0))),
    Edit(
        "order in a formula",
        of(IntRange(1, Formula("min", (50, Formula("n_features"))))),
        of(IntRange(1, Formula("min", (Formula("n_features"), 50)))),
    ),
    Edit("an alternative that another holds", choice(a, use("a", k=IntRange(2, 3))), a),
    Edit("an alternative cut in two", choice(use("a", k=IntRange(1, 4)), use("a", k=IntRange(5, 9))), a),
    Edit(
        "alternatives that overlap",
        choice(use("a", k=IntRange(1, 6), m=texts("x", "y")), use("a", k=IntRange(4, 9), m=texts("x", "y"))),
        use("a", k=IntRange(1, 9), m=texts("x", "y")),
    ),
    Edit(
        "corners cut one way or the other",
        choice(use("a", k=IntRange(1, 2), m=Const(1)), use("a", k=Const(1), m=IntRange(1, 2))),
        choice(use("a", k=Const(1), m=IntRange(1, 2)), use("a", k=Const(2), m=Const(1))),
    ),
    Edit(
        "an alternative of a value cut in two",
        of(choice(_rbf(0, 1), _rbf(1, 2), Const("x"))),
        of(choice(_rbf(0, 2), Const("x"))),
    ),
    Edit(
        "a list cut in two",
        of(choice(Listing((IntRange(1, 2),)), Listing((IntRange(3, 4),)))),
        of(Listing((IntRange(1, 4),))),
    ),
    Edit("reals that touch", of(choice(RealRange(0, 0.5), RealRange(0.5, 1))), of(RealRange(0, 1))),
    Edit("a real in a range of reals", of(choice(RealRange(0, 1), Const(0.5))), of(RealRange(0, 1))),
    Edit("a grid in a range of reals", of(choice(RealRange(0, 1), RealRange(0, 1, step=0.001))), of(RealRange(0, 1))),
    Edit("reals one step apart", of(numbers(0.1, 0.2, 0.3, 0.4)), of(RealRange(0.1, 0.4, step=0.1))),
    Edit("a grid of two", of(numbers(0.25, 0.75)), of(RealRange(0.25, 1, step=0.5))),
    Edit(
        "a grid and one of its values", of(choice(RealRange(0, 1, step=0.1), Const(0.3))), of(RealRange(0, 1, step=0.1))
    ),
    Edit(
        "neighbouring ranges on a logarithmic scale",
        of(choice(IntRange(1, 9, log=True), IntRange(10, 99, log=True))),
        of(IntRange(1, 99, log=True)),
    ),
    Edit(
        "a condition that both alternatives have",
        choice(_conditional(IntRange(1, 2)), _conditional(IntRange(3, 4))),
        _conditional(IntRange(1, 4)),
    ),
    Edit("a list of constants", of(Listing((Const(1), Const(2)))), of(Const((1, 2)))),
    Edit("an alternative without parameters", of(Symbol("rbf")), of(Const("rbf"))),
    Edit("a block as a value", of(use("d", w=Const(1))), of(Const(BlockValue(block("d"), (("w", 1),))))),
    Edit(
        "order of requirements, one twice",
        rule(Requirement(small), Requirement(Present(b.block))),
        rule(Requirement(Present(b.block)), Requirement(small), Requirement(small)),
    ),
    Edit("a comparison mirrored", rule(Requirement(small)), rule(Requirement(Comparison(">", Literal(5), k_of_a)))),
    Edit(
        "not less is at least",
        rule(Requirement(Negation(small))),
        rule(Requirement(Comparison(">=", k_of_a, Literal(5)))),
    ),
    Edit("twice not", rule(Requirement(small)), rule(Requirement(Negation(Negation(small))))),
    Edit(
        "`if` as `or not`",
        rule(Requirement(small, Present(b.block))),
        rule(Requirement(AnyOf((small, Negation(Present(b.block)))))),
    ),
    Edit(
        "`and` as two requirements",
        rule(Requirement(AllOf((small, Present(b.block))))),
        rule(Requirement(small), Requirement(Present(b.block))),
    ),
    Edit(
        "`is` with `|` as `or`",
        rule(Requirement(ValueIs(k_of_a, (1, 2)))),
        rule(Requirement(AnyOf((ValueIs(k_of_a, (2,)), ValueIs(k_of_a, (1,)))))),
    ),
    Edit("the text of a requirement", rule(Requirement(small, text="k < 5")), rule(Requirement(small, text="k  <  5"))),
    Edit(
        "name of a part that a requirement speaks of",
        rule(Requirement(PartIs("f:p", (b.block,)))),
        Space(
            seq(Marked("f:first", choice(a, b)), Marked("f:q", choice(a, b, c))),
            (Requirement(PartIs("f:first", (b.block,))),),
        ),
    ),
    Edit("a requirement on a block that is not there", marked, rule(Requirement(Negation(Present(block("gone")))))),
]


def _pair(k: int, m: int) -> Node:
    return use("a", k=Const(k), m=Const(m))


def _thirds(high: float) -> Node:
    return RealRange(0, high, step=1 / 3)


DIFFERENT = [
    Edit("an alternative more", choice(a, b), choice(a, b, c)),
    Edit("order of steps", seq(a, b), seq(b, a)),
    Edit("a step more", seq(a, b), seq(a, b, c)),
    Edit("a step optional", seq(a, b), seq(optional(a), b)),
    Edit("order of branches", Union((a, b)), Union((b, a))),
    Edit("branches as steps", Union((a, b)), seq(a, b)),
    Edit("order of a subset", Subset((a, b)), Subset((b, a))),
    Edit("permute instead of steps", seq(a, b), Permute((a, b))),
    Edit("permute of a nested permute", Permute((a, b, c)), Permute((a, Permute((b, c))))),
    Edit("arrange more", Arrange(0, 2, (a, b, c)), Arrange(0, 3, (a, b, c))),
    Edit("repeat more", Repeat(0, 2, a), Repeat(0, 3, a)),
    Edit("class of a block", use(block("d")), use(block("d", target="pkg.clop:other"))),
    Edit("task of a block", use(block("d")), use(block("d", task="regression"))),
    Edit("role of a block", use(block("d")), use(block("d", "selector"))),
    Edit("a parameter more", use("a"), use("a", k=Const(1))),
    Edit("name of a parameter", use("a", k=Const(1)), use("a", m=Const(1))),
    Edit("an end", of(IntRange(1, 9)), of(IntRange(1, 10))),
    Edit("log", of(IntRange(1, 9)), of(IntRange(1, 9, log=True))),
    Edit("log of reals", of(RealRange(1, 9)), of(RealRange(1, 9, log=True))),
    Edit("a step", of(IntRange(1, 9)), of(IntRange(1, 9, step=2))),
    Edit("a step of reals", of(RealRange(0, 1, step=0.1)), of(RealRange(0, 1, step=0.2))),
    Edit("whole numbers or reals", of(IntRange(1, 9)), of(RealRange(1, 9))),
    Edit(
        "an end that follows the table",
        of(IntRange(1, 50)),
        of(IntRange(1, Formula("min", (50, Formula("n_features"))))),
    ),
    Edit("another fact of the table", of(IntRange(1, Formula("n_features"))), of(IntRange(1, Formula("n_samples")))),
    Edit(
        "another fact at the end of a range of reals",
        of(RealRange(0, Formula("n_features"))),
        of(RealRange(0, Formula("n_samples"))),
    ),
    Edit(
        "one of several reals that are unevenly apart", of(numbers(0.1, 0.2, 0.6, 0.9)), of(numbers(0.1, 0.3, 0.6, 0.9))
    ),
    Edit("a gap", choice(use("a", k=IntRange(1, 4)), use("a", k=IntRange(6, 9))), a),
    Edit("a gap of reals", of(choice(RealRange(0, 0.4), RealRange(0.5, 1))), of(RealRange(0, 1))),
    Edit("one corner more", choice(_pair(1, 1), _pair(2, 2)), choice(_pair(1, 1), _pair(2, 2), _pair(1, 2))),
    Edit(
        "the scale of one alternative",
        choice(use("a", k=IntRange(1, 4)), use("a", k=IntRange(5, 9))),
        choice(use("a", k=IntRange(1, 4)), use("a", k=IntRange(5, 9, log=True))),
    ),
    Edit("how far a step with many digits is rounded", of(_thirds(1)), of(_thirds(1.05))),
    Edit("1 or 1.0", of(Const(1)), of(Const(1.0))),
    Edit("1 or true", of(Const(1)), of(Const(True))),
    Edit("1 or a text", of(Const(1)), of(Const("1"))),
    Edit("none or a text", of(Const(None)), of(Const("none"))),
    Edit("a value fixed", of(texts("x", "y")), of(Const("x"))),
    Edit("size of a vector", of(Vector(3, Bool())), of(Vector(4, Bool()))),
    Edit("order in a list", of(Const((1, 2))), of(Const((2, 1)))),
    Edit("parameter of an alternative", of(Symbol("rbf")), of(Symbol("rbf", (Param("g", Const(1)),)))),
    Edit(
        "condition of a parameter",
        BlockUse(a.block, (Param("n", IntRange(1, 2)), Param("m", Bool()))),
        BlockUse(
            a.block,
            (Param("n", IntRange(1, 2)), Param("m", Bool(), condition=Comparison("==", Sibling("n"), Literal(2)))),
        ),
    ),
    Edit("a requirement more", rule(), rule(Requirement(small))),
    Edit("a comparison or equal", rule(Requirement(small)), rule(Requirement(Comparison("<=", k_of_a, Literal(5))))),
    Edit("a comparison turned", rule(Requirement(small)), rule(Requirement(Comparison("<", Literal(5), k_of_a)))),
    Edit("a requirement with `if`", rule(Requirement(small)), rule(Requirement(small, Present(b.block)))),
    Edit(
        "`and` or `or`",
        rule(Requirement(AllOf((small, Present(b.block))))),
        rule(Requirement(AnyOf((small, Present(b.block))))),
    ),
    Edit(
        "which part a requirement speaks of",
        rule(Requirement(PartIs("f:p", (b.block,)))),
        rule(Requirement(PartIs("f:q", (b.block,)))),
    ),
    Edit(
        "which of two parts with the same content depends on the other",
        rule(Requirement(PartIs("f:p", (a.block,)), PartIs("f:q", (b.block,))), root=seq(p, q)),
        rule(Requirement(PartIs("f:q", (a.block,)), PartIs("f:p", (b.block,))), root=seq(p, q)),
    ),
    Edit(
        "either of two parts, or one part used twice",
        rule(Requirement(AnyOf((PartIs("f:p", (a.block,)), PartIs("f:q", (a.block,))))), root=seq(p, q)),
        rule(Requirement(PartIs("f:p", (a.block,))), root=seq(p, p)),
    ),
    Edit(
        "how far the part of a requirement reaches",
        rule(Requirement(PartIs("f:p", (b.block,))), root=seq(Marked("f:p", optional(b)), c)),
        rule(Requirement(PartIs("f:p", (b.block,))), root=Marked("f:p", seq(optional(b), c))),
    ),
    Edit(
        "one occurrence or any",
        rule(Requirement(Comparison("<", Parameter(a.block, "k", "f:p"), Literal(5)))),
        rule(Requirement(small)),
    ),
]


@pytest.mark.parametrize("edit", SAME, ids=lambda edit: edit.what)
def test_the_space_digest_does_not_change_with(edit: Edit) -> None:
    before, after = edit.digests()
    assert before == after


@pytest.mark.parametrize("edit", DIFFERENT, ids=lambda edit: edit.what)
def test_the_space_digest_changes_with(edit: Edit) -> None:
    before, after = edit.digests()
    assert before != after


def test_the_table_is_as_large_as_it_should_be() -> None:
    assert min(len(SAME), len(DIFFERENT)) >= 15


@pytest.mark.parametrize("build", EXAMPLES.values(), ids=EXAMPLES)
def test_a_digest_is_the_same_every_time_and_unlike_any_other(build: Callable[[], Space]) -> None:
    assert space_digest(build()) == space_digest(build())
    assert sum(space_digest(other()) == space_digest(build()) for other in EXAMPLES.values()) == 1


def test_digests_are_what_they_were() -> None:
    """Stored runs are found by these: when one changes, the number of the form changes with it."""
    assert (
        space_digest(Space(seq(a, optional(b)))) == "801363e835f2f6067884e26d69c6b68f984c351e91176886fe5ac11c49ad3dbc"
    )
    assert model_digest(model(("k", 1))) == "755526fe2acaa8bf8fe2a169eb295c5cf57eac275e61974d31852cee70628615"
    assert run_digest({"seed": 7, "space": "abc"}) == "9341c21654291ee390101fc769a80c92332377b98560788dd6c0d504f46b5651"


# --- models -----------------------------------------------------------------------------------------------------


def model(*params: tuple[str, Value]) -> Model:
    return Model((BlockValue(a.block, params), BlockValue(svc, ())))


def test_every_value_counts_with_its_kind() -> None:
    values: list[Value] = [1, 1.0, True, "1", None, "none", (1,), (), ((1,),), SymbolValue("x", (("u", 1),)), 2]
    assert len({model_digest(model(("k", value))) for value in values}) == len(values)


def test_order_of_parameters_and_names_of_blocks_do_not_count() -> None:
    assert model_digest(model(("k", 1), ("m", 2))) == model_digest(model(("m", 2), ("k", 1)))
    renamed = Model((BlockValue(block("other", target=a.block.target), (("k", 1),)), BlockValue(svc, ())))
    assert model_digest(renamed) == model_digest(model(("k", 1)))


def test_steps_and_branches_count_in_their_order() -> None:
    one, two = BlockValue(a.block, ()), BlockValue(b.block, ())
    models = [
        Model((one, two)),
        Model((two, one)),
        Model((Branches(((one,), (two,))),)),
        Model((Branches(((two,), (one,))),)),
        Model((Branches(((one, two), (one,))),)),
        Model((one,)),
        Model(()),
    ]
    assert len(set(map(model_digest, models))) == len(models)
    nested = Model((Branches(((Branches(((one,), (two,))),), (one,))),))
    assert model_digest(nested) == model_digest(Model((Branches(((one,), (two,), (one,))),)))


@given(st.lists(st.booleans(), max_size=6), st.lists(st.booleans(), max_size=6))
def test_models_with_other_vectors_are_other_models(one: list[bool], other: list[bool]) -> None:
    digests = [model_digest(model(("features", tuple(bits)))) for bits in (one, other)]
    assert (digests[0] == digests[1]) is (one == other)


# --- runs -------------------------------------------------------------------------------------------------------


def test_a_run_is_its_named_parts_whatever_their_order() -> None:
    parts = {"space": "abc", "seed": 7, "versions": {"numpy": "2.0", "msl": "1"}, "folds": (1, 2)}
    reordered = {"folds": [1, 2], "versions": {"msl": "1", "numpy": "2.0"}, "seed": 7, "space": "abc"}
    assert run_digest(parts) == run_digest(reordered)
    for name, changed in (("seed", 8), ("seed", 7.0), ("seed", "7"), ("folds", (2, 1)), ("versions", {})):
        assert run_digest(parts | {name: changed}) != run_digest(parts)
    assert run_digest({"a": 1}) != run_digest({"b": 1})


@pytest.mark.parametrize("part", [float("nan"), float("inf"), {1, 2}, {1: 2}, object(), b"x"], ids=type)
def test_what_has_no_plain_form_is_refused_with_its_name(part: object) -> None:
    with pytest.raises(ValueError, match=r"budget\.time"):
        run_digest({"budget": {"time": part}})
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        run_digest({"loop": loop})


def test_a_sequence_of_thousands_is_still_told_from_another() -> None:
    rows = [Sequence((a,) * length) for length in (4_095, 4_096, 4_097)]
    assert len({space_digest(Space(row)) for row in rows}) == 3
