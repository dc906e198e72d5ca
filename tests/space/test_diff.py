"""Diffs: each kind of edit is told as what it is, in the right place; nothing is told exactly when the sets agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from brute_force import all_models
from example_spaces import EXAMPLES, block, choice, everything, numbers, optional, param, psms, seq, texts, use
from generators import spaces as generated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_spaces import respelt
from small_spaces import spaces as small
from test_digest import DIFFERENT, SAME, Edit

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.report.changes import changes_to_text
from msl.space.canonical.digest import space_digest
from msl.space.conditions import Comparison, Literal, Negation, Parameter, PartIs, Present, Requirement, Sibling
from msl.space.diff.compare import compare_spaces, diff_spaces
from msl.space.diff.pieces import Change, Kind
from msl.space.enumerate.equivalence import Relation, Verdict
from msl.space.formulas import Formula, at_most
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

SLOW = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=150)
spaces = small | generated(finite=False)


def counted(old: Space, new: Space) -> list[Change]:
    return [change for change in diff_spaces(old, new) if change.counts]


# --- nothing is told exactly when the sets agree ------------------------------------------------------------------

#: Edits of the table that change the digest and, as is proven, not the set: either way (b, b) is forbidden.
SAME_IN_OTHER_WORDS = {"which of two parts with the same content depends on the other"}


@SLOW
@given(spaces, spaces)
def test_nothing_is_told_exactly_when_both_are_the_same(one: Space, other: Space) -> None:
    verdict = compare_spaces(one, other)
    assert (counted(one, other) == []) is (verdict == Verdict(Relation.SAME))
    if space_digest(one) == space_digest(other):
        assert verdict == Verdict(Relation.SAME)


@SLOW
@given(small, small)
def test_nothing_is_told_exactly_when_brute_force_finds_the_same(one: Space, other: Space) -> None:
    assert (counted(one, other) == []) is (all_models(one) == all_models(other))


@SLOW
@given(st.data(), spaces)
def test_a_space_does_not_differ_from_itself_however_it_is_spelt(data: st.DataObject, space: Space) -> None:
    assert diff_spaces(space, space) == ()
    assert counted(space, data.draw(respelt(space))) == []


@pytest.mark.parametrize("edit", [*SAME, *DIFFERENT], ids=lambda edit: edit.what)
def test_agrees_with_the_table_of_digests(edit: Edit) -> None:
    before, after = (given if isinstance(given, Space) else Space(given) for given in (edit.before, edit.after))
    is_same = edit in SAME or edit.what in SAME_IN_OTHER_WORDS
    assert (counted(before, after) == []) is is_same
    assert (counted(after, before) == []) is is_same


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_papers_spaces(name: str) -> None:
    space = EXAMPLES[name]()
    assert diff_spaces(space, EXAMPLES[name]()) == ()
    for other in EXAMPLES.keys() - {name}:
        assert counted(space, EXAMPLES[other]())


# --- each edit is told as what it is ------------------------------------------------------------------------------

a, b, c, d = use("a"), use("b"), use("c"), use("d")
svc, nb, rf = (use(block(name, "learner"), k=IntRange(1, 9)) for name in ("svc", "nb", "rf"))


def of(node: Node) -> Node:
    return use("svc", gamma=node)


def lines(old: Node | Space, new: Node | Space) -> list[str]:
    pair = (given if isinstance(given, Space) else Space(given) for given in (old, new))
    return changes_to_text(diff_spaces(*pair)).splitlines()


k_is_1 = Comparison("==", Sibling("k"), Literal(1))


def _units(low: int, high: int) -> Node:
    return use(svc.block, k=IntRange(low, high))


TOLD: list[tuple[Node | Space, Node | Space, list[str]]] = [
    # alternatives and steps
    (Marked("f:learn", choice(svc, rf)), Marked("f:learn", choice(rf, svc, nb)), ["+ alternative nb in learn"]),
    (choice(svc, nb, rf), choice(nb, rf), ["- alternative svc in learner"]),
    (seq(a, choice(svc, nb)), seq(a, choice(svc, nb, rf)), ["+ alternative rf in learner"]),
    (seq(a, b), seq(a, c, b), ["+ step c in the chain"]),
    (seq(a, b, c), seq(a, c), ["- step b in the chain"]),
    (a, seq(b, a), ["+ step b in the chain"]),
    (seq(a, b), seq(a, d), ["- step b in the chain", "+ step d in the chain"]),
    (a, b, ["~ the chain: a -> b (changed)"]),
    (seq(a, b, c, d), seq(b, c, d, a), ["> a in the chain: step 1 -> step 4 (moved)"]),
    (Union((a, b)), Union((a, b, c)), ["+ branch c in the chain"]),
    (seq(a, b), seq(a, optional(b)), ["~ b: b -> b? (opened: now optional)"]),
    (
        seq(a, optional(choice(svc, nb))),
        seq(a, choice(svc, nb)),
        ["~ learner: (svc | nb)? -> svc | nb (fixed: no longer optional)"],
    ),
    (Permute((a, b)), Permute((b, c, a)), ["+ member c in the chain"]),
    (seq(a, b), Permute((b, a)), ["~ the chain: a >> b -> permute(b, a) (changed: in sequence, now in any order)"]),
    (Arrange(0, 2, (a, b, c)), Arrange(1, 2, (a, b, c)), ["~ the chain: 0..2 -> 1..2 (narrowed: how many)"]),
    (Repeat(1, 2, a), Repeat(1, 3, a), ["~ a: 1..2 -> 1..3 (widened: how often)"]),
    (Subset((a, b)), Subset((a, b, c)), ["+ member c in the chain"]),
    (
        seq(a, optional(Marked("f:pick", choice(svc, nb)))),
        seq(a, optional(Marked("f:pick", choice(svc, nb, rf)))),
        ["+ alternative rf in pick"],
    ),
    (
        seq(a, Marked("f:pick", choice(svc, nb)), b),
        Permute((b, Marked("f:pick", choice(svc, nb)))),
        [
            "~ the chain: a >> pick >> b -> permute(b, pick) (changed: in sequence, now in any order)",
            "- member a in the chain",
        ],
    ),
    (seq(a, b), seq(a, Marked("f:pick", choice(svc, nb)), b), ["+ step pick in the chain"]),
    # domains
    (
        of(RealRange(1e-3, 1, log=True)),
        of(RealRange(1e-4, 1, log=True)),
        ["~ svc > gamma: real 1e-3..1 log -> real 1e-4..1 log (widened)"],
    ),
    (of(IntRange(1, 10)), of(IntRange(2, 9)), ["~ svc > gamma: int 1..10 -> int 2..9 (narrowed)"]),
    (of(IntRange(1, 10)), of(IntRange(5, 20)), ["~ svc > gamma: int 1..10 -> int 5..20 (changed)"]),
    (of(RealRange(1, 9)), of(RealRange(1, 9, log=True)), ["~ svc > gamma: real 1..9 -> real 1..9 log (rescaled)"]),
    (
        of(RealRange(1, 9)),
        of(RealRange(1, 99, log=True)),
        ["~ svc > gamma: real 1..9 -> real 1..99 log (rescaled, widened)"],
    ),
    (of(IntRange(1, 9)), of(IntRange(1, 9, step=2)), ["~ svc > gamma: int 1..9 -> int 1..9 step 2 (restepped)"]),
    (
        of(RealRange(0, 1, step=0.1)),
        of(RealRange(0, 1)),
        ["~ svc > gamma: real 0..1 step 0.1 -> real 0..1 (restepped)"],
    ),
    (of(RealRange(0, 1)), of(Const(0.5)), ["~ svc > gamma: real 0..1 -> 0.5 (fixed)"]),
    (of(Const(0.5)), of(RealRange(0, 1)), ["~ svc > gamma: 0.5 -> real 0..1 (opened)"]),
    (of(Const(0.5)), of(Const(1.0)), ["~ svc > gamma: 0.5 -> 1.0 (changed)"]),
    (of(numbers(4, 8)), of(numbers(4, 8, 16)), ["~ svc > gamma: 4 | 8 -> 4 | 8 | 16 (widened)"]),
    (of(numbers(1, 2, 3)), of(IntRange(1, 9)), ["~ svc > gamma: 1 | 2 | 3 -> int 1..9 (widened)"]),
    (of(Bool()), of(Const(True)), ["~ svc > gamma: bool -> true (fixed)"]),
    (of(IntRange(1, 9)), of(RealRange(1, 9)), ["~ svc > gamma: int 1..9 -> real 1..9 (changed)"]),
    (of(texts("x", "y")), of(texts("x", "z")), ["~ svc > gamma: x | y -> x | z (changed)"]),
    (
        of(IntRange(1, Formula("min", (50, Formula("n_features"))))),
        of(IntRange(1, Formula("min", (100, Formula("n_features"))))),
        ["~ svc > gamma: int 1..min(50, n_features) -> int 1..min(100, n_features) (widened)"],
    ),
    (
        of(choice(Const(None), IntRange(2, 9))),
        of(choice(Const(None), IntRange(2, 12))),
        ["~ svc > gamma: none | int 2..9 -> none | int 2..12 (widened)"],
    ),
    (of(Vector(3, IntRange(1, 2))), of(Vector(3, IntRange(1, 3))), ["~ svc > gamma: int 1..2 -> int 1..3 (widened)"]),
    (of(Vector(3, Bool())), of(Vector(4, Bool())), ["~ svc > gamma: 3 -> 4 (changed: size of the vector)"]),
    (
        of(Listing((IntRange(1, 2), Const(1)))),
        of(Listing((IntRange(1, 3), Const(1)))),
        ["~ svc > gamma > element 1: int 1..2 -> int 1..3 (widened)"],
    ),
    # alternatives with parameters of their own, and blocks as values
    (
        of(choice(Symbol("rbf", (Param("w", RealRange(0, 1)),)), Const("linear"))),
        of(choice(Const("linear"), Symbol("rbf", (Param("w", RealRange(0, 2)),)))),
        ["~ svc > gamma > rbf > w: real 0..1 -> real 0..2 (widened)"],
    ),
    (of(choice(svc, nb)), of(choice(svc, nb, rf)), ["+ alternative rf(k: int 1..9) in svc > gamma"]),
    (of(svc), of(choice(svc, a)), ["~ svc > gamma: svc(k: int 1..9) -> svc(k: int 1..9) | a (opened)"]),
    (of(choice(svc, a)), of(svc), ["~ svc > gamma: svc(k: int 1..9) | a -> svc(k: int 1..9) (fixed)"]),
    # several alternatives of one block
    (choice(_units(1, 4), _units(5, 9), nb), choice(_units(1, 9), rf, nb), ["+ alternative rf in learner"]),
    (
        choice(_units(1, 4), _units(5, 9), nb),
        choice(_units(1, 20), nb),
        ["~ learner > svc: svc(k: int 1..4) | svc(k: int 5..9) -> svc(k: int 1..20) (widened)"],
    ),
    (
        choice(_units(1, 4), _units(5, 9)),
        choice(_units(2, 3), _units(7, 12)),
        ["~ learner > svc: svc(k: int 1..4) | svc(k: int 5..9) -> svc(k: int 2..3) | svc(k: int 7..12) (changed)"],
    ),
    (
        seq(choice(seq(a, b), seq(b, a)), c),
        seq(Permute((a, b)), use("c", k=Const(1))),
        ["+ parameter k = 1 in c"],
    ),
    (
        of(choice(numbers(1, 2), a)),
        of(choice(IntRange(1, 2), b)),
        ["- alternative a in svc > gamma", "+ alternative b in svc > gamma"],
    ),
    (
        of(IntRange(1, 9, step=2)),
        of(IntRange(0, 9, step=2)),
        ["~ svc > gamma: int 1..9 step 2 -> int 0..9 step 2 (changed)"],
    ),
    (
        of(IntRange(1, 9, step=2)),
        of(IntRange(1, 20, step=3)),
        ["~ svc > gamma: int 1..9 step 2 -> int 1..20 step 3 (restepped, changed)"],
    ),
    (
        of(choice(RealRange(0, 1), Const(None))),
        of(choice(RealRange(0, 2), Const(None))),
        ["~ svc > gamma: real 0..1 | none -> real 0..2 | none (widened)"],
    ),
    (
        choice(_units(1, 9), a),
        choice(BlockUse(svc.block, (Param("k", IntRange(1, 4, log=True)),)), _units(5, 9), a),
        ["~ svc: svc(k: int 1..9) -> svc(k: int 1..4 log) | svc(k: int 5..9) (rescaled)"],
    ),
    # parameters
    (use("svc"), use("svc", k=IntRange(1, 2)), ["+ parameter k: int 1..2 in svc"]),
    (seq(a, use("svc", k=Const(1))), seq(a, use("svc")), ["- parameter k = 1 in svc"]),
    (
        BlockUse(svc.block, (Param("k", Bool()), Param("w", Bool(), condition=k_is_1))),
        BlockUse(svc.block, (Param("k", Bool()), Param("w", Bool()))),
        ["~ svc > w: if k == 1 -> always (condition changed)"],
    ),
    (
        BlockUse(svc.block, (param("k", Bool(), False),)),
        BlockUse(svc.block, (Param("k", Bool()),)),
        ["  svc > k: default false -> none declared"],
    ),
    # requirements
    (
        Space(choice(svc, nb, rf), (Requirement(Present(svc.block), text="svc"),)),
        Space(choice(svc, nb, rf), (Requirement(Negation(Present(nb.block))),)),
        ["- require svc", "+ require not nb"],
    ),
]


@pytest.mark.parametrize(("old", "new", "told"), TOLD, ids=[told[-1][0] for told in TOLD])
def test_is_told(old: Node | Space, new: Node | Space, told: list[str]) -> None:
    assert lines(old, new) == told


def test_paths_lead_to_the_place() -> None:
    old = psms()
    new = replace(old, root=_edited(old.root))
    assert [(change.kind, change.path) for change in diff_spaces(old, new)] == [
        (Kind.NARROWED, ("learn", "svc", "degree")),
        (Kind.REMOVED, ("learn",)),
    ]


def _edited(root: Node) -> Node:
    assert isinstance(root, Sequence)
    first, learn, bias = root.steps
    assert isinstance(learn, Marked)
    assert isinstance(learn.node, Choice)
    options = []
    for option in learn.node.options:
        assert isinstance(option, BlockUse)
        if option.block.name == "svc":
            option = replace(
                option,
                params=tuple(replace(p, node=IntRange(1, 2)) if p.name == "degree" else p for p in option.params),
            )
        if option.block.name != "naive":
            options.append(option)
    return Sequence((first, replace(learn, node=Choice(tuple(options))), bias))


def test_a_part_that_is_used_twice_is_told_once() -> None:
    before, after = (use("svc", k=IntRange(1, high)) for high in (2, 3))
    assert len(diff_spaces(Space(seq(before, a, before)), Space(seq(after, a, after)))) == 1


@pytest.mark.slow
def test_forty_doublings_end() -> None:
    def doubled(high: int) -> Node:
        node: Node = use("svc", k=IntRange(1, high))
        for _ in range(40):
            node = Union((Choice((node, a)), node))
        return node

    assert [change.kind for change in diff_spaces(Space(doubled(2)), Space(doubled(3)))] == [Kind.WIDENED]


def test_a_requirement_stays_when_its_block_goes() -> None:
    rule = Requirement(Comparison("<", Parameter(svc.block, "k"), Literal(5)))
    changes = diff_spaces(Space(choice(svc, nb, rf), (rule,)), Space(choice(nb, rf), (rule,)))
    assert [(change.kind, change.old_text) for change in changes] == [(Kind.REMOVED, "svc")]


def test_a_part_that_is_called_otherwise_is_no_change_of_its_requirement() -> None:
    def space(name: str, *more: Node) -> Space:
        return Space(seq(Marked(f"f:{name}", choice(a, b)), *more), (Requirement(PartIs(f"f:{name}", (a.block,))),))

    assert [change.kind for change in diff_spaces(space("p"), space("renamed", c))] == [Kind.ADDED]


def test_what_only_requirements_tell_apart_is_told() -> None:
    p, q = Marked("f:p", choice(a, b)), Marked("f:q", choice(a, b))
    rule = (Requirement(PartIs("f:p", (a.block,))),)
    (change,) = diff_spaces(Space(seq(p, q), rule), Space(seq(q, p), rule))
    assert change.kind is Kind.CHANGED
    assert "requirements" in change.detail


def test_whole_spaces_are_told_briefly() -> None:
    for change in diff_spaces(psms(), everything()):
        assert max(len(change.old_text), len(change.new_text)) <= 80


def test_colour_is_optional_and_changes_no_words() -> None:
    changes = diff_spaces(Space(choice(svc, nb)), Space(choice(svc, rf)))
    plain, coloured = changes_to_text(changes), changes_to_text(changes, colour=True)
    assert "\x1b" not in plain
    assert coloured.splitlines()[0] == f"\x1b[31m{plain.splitlines()[0]}\x1b[0m"
    assert changes_to_text(()) == ""


n, m = Formula("n_features"), Formula("n_samples")


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        (1, 2, True),
        (2, 1, False),
        (Formula("min", (50, n)), 50, True),
        (Formula("min", (50, n)), Formula("min", (n, 100)), True),
        (Formula("min", (100, n)), Formula("min", (50, n)), False),
        (n, m, False),
        (1, n, True),
        (n, Formula("max", (n, m)), True),
        (Formula("max", (1, 2)), 2, True),
        (n, Formula("min", (n, 10)), False),
    ],
)
def test_at_most(one: Formula | int, other: Formula | int, answer: bool) -> None:
    assert at_most(one, other) is answer


def test_empty_and_single_groups() -> None:
    assert diff_spaces(Space(Empty()), Space(Subset(()))) == ()
    assert lines(Empty(), a) == ["~ the chain: none -> a (changed)"]


PART_TOLD = [
    ("int 2..4", "max_depth = d", "int 2..5", "max_depth = d", ["~ t > d: int 2..4 -> int 2..5 (widened)"]),
    (
        "int 2..4",
        "max_depth = d, min_samples_leaf = d",
        "int 2..4",
        "max_depth = d, min_samples_leaf = 2 * d",
        ["~ t > min_samples_leaf: t.d -> floor(2 * t.d) (changed)"],
    ),
    (
        "int 2..4",
        "max_depth = d",
        "int 2..4, e: 1 | 2",
        "max_depth = d, min_samples_leaf = e",
        ["+ parameter e: 1 | 2 in t", "~ t > min_samples_leaf: 1 -> t.e (changed)"],
    ),
]


@pytest.mark.parametrize(("domain", "values", "new_domain", "new_values", "told"), PART_TOLD)
def test_parameters_of_parts_are_told_where_they_are_declared(
    domain: str, values: str, new_domain: str, new_values: str, told: list[str]
) -> None:
    """Also from one file to another, and with a requirement on the part, which stays what it is."""
    spaces = []
    for name, (declared, put_in) in (("old.msl", (domain, values)), ("new.msl", (new_domain, new_values))):
        text = (
            f"use sklearn\npart t(d: {declared}) = decision_tree({put_in}, rest = default)\n"
            "chain m = standard_scaler(rest = default)? >> t\nrequire t.d != 3\n"
        )
        spec = check_source(Source(name, text)).spec
        assert spec is not None
        spaces.append(spec.space)
    assert lines(*spaces) == told
    assert lines(spaces[0], spaces[0]) == []
