"""Random specs with `on`, against a list of their models that is made beside the text, without the checker."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from msl.check.check_spec import check_source
from msl.check.read_models import ModelReader
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.space.canonical.digest import model_digest, space_digest
from msl.space.column_selectors import selector_of
from msl.space.enumerate.count import Models
from msl.space.enumerate.equivalence import Relation, relate
from msl.space.membership import Membership, NotInSpace
from msl.space.spec import Space
from msl.space.to_text import model_to_text, node_to_text
from msl.space.values import Branches, Model, Step

BLOCKS = """
block a: transformer "msl.blocks:Passthrough" { u: int 1..2 }
block b: transformer "msl.blocks:Columns" {}
block l: learner "sklearn.svm:SVC" {}
"""
#: The text of a selector, and what it is in a model.
SELECTORS = {
    "numbers": "numbers",
    "symbols": "symbols",
    "rest": "rest",
    "[age]": ("age",),
    '["age"]': ("age",),
    '[z, "in_*"]': ("in_*", "z"),
    '["in_*", z, z]': ("in_*", "z"),
    "[numbers]": ("numbers",),
}
#: A text and the models that it stands for, each a tuple of steps.
Written = tuple[str, frozenset[tuple[object, ...]]]
ATOMS: list[Written] = [
    ("a", frozenset({(("a", 1),), (("a", 2),)})),
    ("a(u = 1)", frozenset({(("a", 1),)})),
    ("b", frozenset({("b",)})),
    ("none", frozenset({()})),
]


def _in_a_row(ways: Iterable[tuple[tuple[object, ...], ...]]) -> frozenset[tuple[object, ...]]:
    return frozenset(tuple(step for steps in way for step in steps) for way in ways)


def _side_by_side(branches: tuple[tuple[object, ...], ...]) -> tuple[object, ...]:
    flat: list[object] = []
    for branch in branches:
        match branch:
            case (("&", *inner),):
                flat.extend(inner)
            case (_, *_):
                flat.append(branch)
    return () if not flat else flat[0] if len(flat) == 1 else (("&", *flat),)  # type: ignore[return-value]


def _on(selector: str, inner: Written) -> Written:
    text, models = inner
    return f"on {selector} ({text})", frozenset((("on", SELECTORS[selector]), *steps) for steps in models)


def _joined(sign: str, items: list[Written]) -> Written:
    text = f" {sign} ".join(text if text.isidentifier() else f"({text})" for text, _ in items)
    sets = [models for _, models in items]
    if sign == "|":
        return text, frozenset().union(*sets)
    ways = list(product(*sets))
    return text, _in_a_row(ways) if sign == ">>" else frozenset(map(_side_by_side, ways))


def _permuted(items: list[Written]) -> Written:
    text = f"permute({', '.join(text for text, _ in items)})"
    return text, _in_a_row(way for order in permutations(items) for way in product(*(models for _, models in order)))


def _optional(item: Written) -> Written:
    return f"({item[0]})?", item[1] | {()}


def _combined(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    some = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        st.builds(_on, st.sampled_from(sorted(SELECTORS)), inner),
        st.builds(_on, st.sampled_from(sorted(SELECTORS)), inner),
        st.builds(_joined, st.sampled_from(["&", "|", ">>", "&"]), some),
        st.builds(_optional, inner.filter(lambda one: one[0] != "none")),
        st.builds(_permuted, st.lists(inner, min_size=2, max_size=2)),
    )


written = st.recursive(st.sampled_from(ATOMS), _combined, max_leaves=6).filter(lambda one: len(one[1]) < 400)
encodings = st.sampled_from(["shared", "separate"])
MANY = settings(suppress_health_check=list(HealthCheck), max_examples=200, deadline=None)


def space_of(text: str) -> Space:
    """The space of a text; one that puts `on` where the columns are gone, or `rest` twice, is left out."""
    checked = check_source(Source("main.msl", f"{BLOCKS}chain m = ({text}) >> l"))
    errors = {each.code for each in checked.diagnostics if each.is_error}
    assert errors <= {"MSL340", "MSL199"}
    if errors:
        assume(False)
    assert checked.spec is not None
    return checked.spec.space


def plain(steps: tuple[Step, ...]) -> tuple[object, ...]:
    return tuple(map(_plain, steps))


def _plain(step: Step) -> object:
    if isinstance(step, Branches):
        return ("&", *map(plain, step.branches))
    selector = selector_of(step)
    if selector is not None:
        return ("on", selector)
    return ("a", step.params[0][1]) if step.block.name == "a" else step.block.name


@MANY
@given(written)
def test_models_are_those_that_are_listed(one: Written) -> None:
    space = space_of(one[0])
    models = Models(space)
    assert models.number == len(one[1])
    assert {plain(model.steps[:-1]) for model in models} == one[1]
    drawn = models.draw(Random(1))
    assert plain(drawn.steps[:-1]) in one[1]


@MANY
@given(written, encodings)
def test_every_model_is_encoded_decoded_and_spelt(one: Written, encoding: str) -> None:
    space = space_of(one[0])
    codec = space_to_codec(space, encoding)  # type: ignore[arg-type]
    reader = ModelReader(Source("main.msl", BLOCKS))
    for model in list(Models(space))[:30]:
        (again,) = codec.decode(codec.encode(model)[None, :])
        assert again == model
        read, problems = reader.read(model_to_text(model))
        assert read is not None, problems
        assert model_digest(read) == model_digest(model)


@MANY
@given(written)
def test_a_printed_space_reads_back(one: Written) -> None:
    space = space_of(one[0])
    printed = node_to_text(space.root)
    again = check_source(Source("main.msl", f"{BLOCKS}chain m = {printed}")).spec
    assert again is not None
    assert space_digest(again.space) == space_digest(space)


@MANY
@given(written, written)
def test_spaces_are_related_and_contain_models_as_listed(one: Written, other: Written) -> None:
    old, new = space_of(one[0]), space_of(other[0])
    expected = (
        Relation.SAME
        if one[1] == other[1]
        else Relation.WIDENED
        if one[1] < other[1]
        else Relation.NARROWED
        if other[1] < one[1]
        else Relation.CHANGED
    )
    assert relate(old, new).relation is expected
    if space_digest(old) == space_digest(new):
        assert one[1] == other[1]
    inside = Membership(new)
    for model in list(Models(old))[:20]:
        assert _is_in(inside, model) is (plain(model.steps[:-1]) in other[1])


def _is_in(membership: Membership, model: Model) -> bool:
    try:
        membership.derive(model)
    except NotInSpace:
        return False
    return True


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("on [z, age] (a)", 'on ["age", "z"] (a)'),
        ("on numbers (a >> b)", "on numbers (a) >> b"),
        ("on numbers (a?)", "on numbers (a | none)"),
        ("(on numbers (a) & on rest (b)) & on [age] (none)", "on numbers (a) & on rest (b) & on [age] (none)"),
    ],
)
def test_equal_sets_have_equal_digests(one: str, other: str) -> None:
    assert space_digest(space_of(one)) == space_digest(space_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("on numbers (a)", "on symbols (a)"),
        ("on numbers (a)", "on [numbers] (a)"),
        ("on numbers (a)", "a"),
        ("on numbers (a)", "(on numbers (a))?"),
        ("on [age] (a)", "on [age, z] (a)"),
    ],
)
def test_other_columns_are_other_models(one: str, other: str) -> None:
    assert space_digest(space_of(one)) != space_digest(space_of(other))
    assert relate(space_of(one), space_of(other)).relation is not Relation.SAME


def test_alternatives_that_start_alike_are_the_same_set() -> None:
    assert relate(space_of("on numbers (a) | on numbers (b)"), space_of("on numbers (a | b)")).relation is Relation.SAME


def test_parentheses_around_only_the_first_and_the_last_step_are_not_those_of_on() -> None:
    text = 'on ["(", age] ((a & b) >> (b & a))'
    (model, *_) = Models(space_of(text))
    assert model_to_text(model) == 'on ["(", age] ((a(u = 1) & b) >> (b & a(u = 1))) >> l'
    assert node_to_text(space_of(text).root) == 'on ["(", age] ((a(u: int 1..2) & b) >> (b & a(u: int 1..2))) >> l'
