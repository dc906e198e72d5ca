"""The normal form: spellings of one set come together, different sets never do, and shared parts cost nothing."""

from __future__ import annotations

import json
from dataclasses import replace

from brute_force import all_models
from example_spaces import EXAMPLES, block, choice, everything, numbers, seq, use
from generators import spaces as generated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_spaces import respelt, spaces

from msl.space.canonical.normal_form import normal_form
from msl.space.conditions import Parameter, PartIs, Present, Requirement, ValueIs
from msl.space.formulas import Facts
from msl.space.nodes import Choice, Const, IntRange, Marked, Node, Permute, RealRange, Sequence, can_be_empty
from msl.space.spec import Space

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=200)


@SLOW
@given(st.data(), spaces | generated(finite=False))
def test_other_spellings_have_the_same_form(data: st.DataObject, space: Space) -> None:
    assert normal_form(data.draw(respelt(space))).key == normal_form(space).key


@SLOW
@given(spaces, spaces)
def test_equal_forms_mean_equal_sets(one: Space, other: Space) -> None:
    if normal_form(one).key == normal_form(other).key:
        assert all_models(one) == all_models(other)


@SLOW
@given(st.data(), spaces)
def test_a_small_edit_that_changes_the_set_changes_the_form(data: st.DataObject, space: Space) -> None:
    """Drops one requirement, or swaps the marks in them: the edits that a form by content alone would miss."""
    edited = data.draw(
        st.sampled_from([space.requirements[1:], space.requirements[:1], tuple(map(_swapped, space.requirements))])
    )
    other = Space(space.root, edited, space.facts)
    if all_models(space) != all_models(other):
        assert normal_form(space).key != normal_form(other).key


def _swapped(requirement: Requirement) -> Requirement:
    swap = {"one:p": "one:q", "one:q": "one:p"}
    match requirement.condition:
        case PartIs(mark=mark, options=options):
            return Requirement(PartIs(swap[mark], options), requirement.when)
        case Present(block=b, mark=str(mark)):
            return Requirement(Present(b, swap[mark]), requirement.when)
    return requirement


def test_the_form_is_plain_data_and_complete() -> None:
    for build in EXAMPLES.values():
        form = normal_form(build())
        assert json.loads(json.dumps(form.entries))
        assert form.root in form.entries
        assert set(form.forbidden) <= form.entries.keys()


def test_forty_doublings_are_as_quick_as_forty_steps() -> None:
    def doubled(times: int, innermost: Node) -> Node:
        node: Node = innermost
        for _ in range(times):
            node = Sequence((node, Choice((node, use("b")))))
        return node

    forms = {normal_form(Space(doubled(40, use("a", k=IntRange(1, high))))).key for high in (3, 4)}
    assert len(forms) == 2
    assert not can_be_empty(doubled(40, use("a")))


def test_nesting_deeper_than_the_stack() -> None:
    node: Node = use("a")
    for _ in range(5_000):
        node = Choice((Marked("f:p", node), use("b")))
    assert normal_form(Space(node)).key == normal_form(Space(choice(use("b"), use("a")))).key


def test_parts_of_equal_content_are_told_apart_by_place() -> None:
    """`require p is a` and `require q is a` differ when p comes first, and not when the order is free anyway."""
    a, b = use("a"), use("b")
    p, q = Marked("f:p", choice(a, b)), Marked("f:q", choice(a, b))

    def form(root: Node, *marks: str) -> str:
        return normal_form(Space(root, tuple(Requirement(PartIs(mark, (a.block,))) for mark in marks))).key

    assert form(seq(p, q), "f:p") != form(seq(p, q), "f:q")
    assert form(Permute((p, q)), "f:p") == form(Permute((p, q)), "f:q")
    assert form(seq(p, q), "f:p", "f:q") == form(seq(q, p), "f:p", "f:q")


def test_names_of_parts_that_depend_on_each_other_leave_no_trace() -> None:
    """Four parts with the same content in a row, each tied to another: only their places tell them apart."""
    a, b = use("a"), use("b")

    def form(names: str, *circles: str) -> str:
        root = seq(*(Marked(f"f:{name}", choice(a, b)) for name in names))
        ties = [(one, two) for circle in circles for one, two in zip(circle, circle[1:] + circle[0], strict=True)]
        rules = (Requirement(PartIs(f"f:{one}", (a.block,)), PartIs(f"f:{two}", (b.block,))) for one, two in ties)
        return normal_form(Space(root, tuple(rules))).key

    around = form("pqrs", "pqrs")
    assert {form("pqrs", "rspq"), form("qrsp", "qrsp"), form("srqp", "srqp"), form("wxyz", "wxyz")} == {around}
    assert len({around, form("pqrs", "pq", "rs"), form("pqrs", "pr", "qs"), form("pqrs", "prqs")}) == 4


def test_blocks_of_one_class_are_told_apart_when_a_requirement_does() -> None:
    forest, wide = block("rf"), block("wide", target="pkg.clop:rf")
    root = choice(use(forest, n=IntRange(1, 9)), use(wide, n=IntRange(1, 99)))

    def form(name: str | None) -> str:
        blocks = {"rf": forest, "wide": wide}
        rules = () if name is None else (Requirement(Present(blocks[name])),)
        return normal_form(Space(root, rules)).key

    assert len({form(None), form("rf"), form("wide")}) == 3


def test_a_requirement_on_what_is_not_there_is_none() -> None:
    a, gone = use("a", k=IntRange(1, 3)), block("gone")
    rules = (
        Requirement(Present(a.block), Present(gone)),
        Requirement(ValueIs(Parameter(gone, "k"), (1,))),
        Requirement(PartIs("f:gone", (None,))),
        Requirement(ValueIs(Parameter(gone, "k", "f:p"), (1,)), Present(a.block, "f:p")),
    )
    assert normal_form(Space(Marked("f:p", a), rules)).key == normal_form(Space(a)).key


def test_known_facts_decide_what_depends_on_them_alone() -> None:
    space = everything()
    small, large = (replace(space, facts=Facts(rows, 4, 2, "classification")) for rows in (100, 30_000))
    assert len(normal_form(small).forbidden) + 1 == len(normal_form(large).forbidden)


def test_sets_of_whole_numbers() -> None:
    def form(node: Node) -> str:
        return normal_form(Space(use("a", k=node))).root

    same = [
        (numbers(1, 2, 3), IntRange(1, 3)),
        (numbers(5, 3, 1), IntRange(1, 6, step=2)),
        (choice(IntRange(1, 3), Const(4)), IntRange(1, 4)),
        (choice(IntRange(1, 5, step=2), Const(8)), numbers(1, 3, 5, 8)),
        (choice(numbers(1, 2), Const(None)), choice(Const(None), IntRange(1, 2))),
        (IntRange(7, 7, log=True), Const(7)),
        (RealRange(0, 1, step=0.3), RealRange(0.0, 0.9, step=0.3)),
        (RealRange(2, 2), Const(2.0)),
        (RealRange(-0.0, 1), RealRange(0, 1)),
    ]
    for one, other in same:
        assert form(one) == form(other), (one, other)
    different = [
        numbers(1, 2, 3, 5),
        IntRange(1, 3),
        IntRange(1, 3, log=True),
        numbers(1.0, 2.0, 3.0),
        RealRange(1, 3),
        RealRange(1, 3, log=True),
        RealRange(1, 3, step=0.5),
        RealRange(1, 3, step=0.25),
        IntRange(1, 1_000_001, step=2),
        IntRange(0, 1_000_000, step=2),
        choice(IntRange(0, 1_000_000, step=2), Const(1)),
    ]
    assert len(set(map(form, different))) == len(different)
