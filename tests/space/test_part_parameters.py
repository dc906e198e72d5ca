"""Parameters of parts against brute force: the space is the set of the part's steps with values put in."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from brute_force import all_models, typed_steps
from hypothesis import assume, given
from hypothesis import strategies as st
from part_spaces import spaces
from small_spaces import A, B

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.encode.sample import enumerate_models, sample
from msl.space.canonical.digest import space_digest
from msl.space.defaults import closed
from msl.space.diff.compare import compare_spaces, diff_spaces
from msl.space.enumerate.count import Models, _way_count, count
from msl.space.enumerate.equivalence import Relation, relate
from msl.space.formulas import Facts, Formula, rises_or_falls, substituted
from msl.space.membership import Membership, NotInSpace
from msl.space.nodes import BlockUse, Choice, Computed, Const, IntRange, Marked, Param, RealRange
from msl.space.part_parameters import expanded
from msl.space.spec import Space
from msl.space.values import Model


def _expected(space: Space) -> frozenset[object]:
    """The models by brute force, where they are few."""
    assume(_way_count(space.root) < 300)
    return all_models(space)


@given(spaces)
def test_count_and_models_are_those_of_brute_force(space: Space) -> None:
    expected = _expected(space)
    assert count(space).models == len(expected)
    listed = [typed_steps(model.steps) for model in Models(space)]
    assert len(listed) == len(set(listed))
    assert set(listed) == expected


@given(spaces, st.sampled_from(["shared", "separate"]))
def test_every_model_comes_back_from_its_vector(space: Space, encoding: str) -> None:
    expected = _expected(space)
    codec = space_to_codec(space, encoding)  # type: ignore[arg-type]
    for model in Models(space):
        vector = codec.encode(model)
        assert codec.model(vector) == model
    assert {typed_steps(model.steps) for model in enumerate_models(codec)} == expected


@given(spaces, st.sampled_from(["shared", "separate"]), st.integers(0, 2**32))
def test_decoded_models_are_those_of_brute_force(space: Space, encoding: str, seed: int) -> None:
    expected = _expected(space)
    codec = space_to_codec(space, encoding)  # type: ignore[arg-type]
    batch = codec.decode(np.random.default_rng(seed).random((60, codec.n_dimensions)))
    singles = codec.decode(np.asarray(batch.snapped))
    for row, outcome in enumerate(batch):
        if isinstance(outcome, Model):
            assert typed_steps(outcome.steps) in expected
            again = singles[row]
            assert isinstance(again, Model)
            assert again == outcome
        assert batch.feasible()[row] == isinstance(outcome, Model)


@given(spaces, spaces)
def test_a_model_of_another_space_is_a_member_where_brute_force_has_it(space: Space, other: Space) -> None:
    expected = _expected(space)
    _expected(other)
    deriver = Membership(space)
    for model in Models(other):
        try:
            deriver.derive(model)
            is_in = True
        except NotInSpace:
            is_in = False
        assert is_in == (typed_steps(model.steps) in expected)


def test_a_model_without_steps_is_not_in_a_space_without_models() -> None:
    """The inner part has no value that fits, so that no step was ever wanted."""
    beyond = Computed(Formula("one:outer.k"), IntRange(5, 6))
    inner = Marked("one:inner", BlockUse(A), (Param("k", beyond),))
    outer = Marked("one:outer", inner, (Param("k", Const(2)),))
    with pytest.raises(NotInSpace, match="nothing"):
        Membership(Space(outer)).derive(Model(()))


def test_a_block_of_which_a_parameter_has_no_value_is_in_no_structure() -> None:
    without = BlockUse(A, (Param("u", Choice(())),))
    found = count(Space(Choice((without, BlockUse(B)))))
    assert (found.models, found.structures) == (1, 1)


@given(spaces, spaces)
def test_spaces_relate_as_their_models_do(old: Space, new: Space) -> None:
    before, after = _expected(old), _expected(new)
    verdict = relate(old, new).relation
    if before == after:
        assert verdict is Relation.SAME
    elif before <= after:
        assert verdict is Relation.WIDENED
    elif before >= after:
        assert verdict is Relation.NARROWED
    else:
        assert verdict is Relation.CHANGED
    if space_digest(old) == space_digest(new):
        assert before == after


@given(spaces)
def test_a_part_and_its_alternatives_written_out_have_one_digest(space: Space) -> None:
    plain = Space(space.root)
    _expected(plain)
    assume(count(plain).models)
    assert space_digest(plain) == space_digest(Space(expanded(space.root)))


@given(spaces, st.integers(0, 2**32))
def test_draws_are_models_and_reach_all(space: Space, seed: int) -> None:
    expected = _expected(space)
    assume(1 <= len(expected) <= 6)
    models = Models(space)
    rng = Random(seed)
    assert {typed_steps(models.draw(rng).steps) for _ in range(60 * len(expected))} == expected
    drawn = sample(space_to_codec(space), 5, np.random.default_rng(seed), by="models")
    assert all(isinstance(outcome, Model) and typed_steps(outcome.steps) in expected for outcome in drawn)


# --- formulas over open reals, and names that mean nothing -------------------------------------------------------


_REAL = Formula("one:p.r")
_FORMULAS = st.recursive(
    st.just(_REAL),
    lambda inner: st.one_of(
        st.builds(lambda x, c: Formula("*", (x, c)), inner, st.sampled_from([-2, 0, 3])),
        st.builds(lambda x, c: Formula("+", (x, c)), inner, st.sampled_from([-1, 0.5, 2])),
        st.builds(lambda x, c: Formula("-", (c, x)), inner, st.sampled_from([1, 2])),
        st.builds(lambda x, c: Formula("/", (c, x)), inner, st.sampled_from([-1, 2])),
        st.builds(lambda x, c: Formula("^", (x, c)), inner, st.sampled_from([-2, -1, 0, 0.5, 2, 3])),
        st.builds(lambda x, c: Formula("^", (c, x)), inner, st.sampled_from([-2, 0, 0.5, 2])),
        st.builds(lambda x, c: Formula("min", (x, c)), inner, st.sampled_from([0, 1])),
        st.builds(lambda x: Formula("max", (x, -3)), inner),
        st.builds(lambda x, name: Formula(name, (x,)), inner, st.sampled_from(["sqrt", "log", "floor", "-"])),
    ),
    max_leaves=4,
)


@given(_FORMULAS, st.sampled_from([(-1.0, 2.0), (0.0, 1.0), (0.5, 3.0), (-2.0, -0.5)]))
def test_a_formula_that_is_said_to_rise_or_fall_does_so_at_every_point(
    formula: Formula, ends: tuple[float, float]
) -> None:
    if not rises_or_falls(formula, "one:p.r", {"one:p.r": ends}):
        return
    low, high = ends
    values = [float(substituted(formula, {"one:p.r": low + (high - low) * i / 60})) for i in range(61)]  # type: ignore[arg-type]
    steps = [after - before for before, after in pairwise(values)]
    assert all(step >= -1e-9 for step in steps) or all(step <= 1e-9 for step in steps)


@given(_FORMULAS, st.integers(2, 6))
def test_the_pieces_of_a_range_have_all_values_of_a_formula(formula: Formula, most: int) -> None:
    whole = Formula("floor", (formula,))
    assume(rises_or_falls(whole, "one:p.r", {"one:p.r": (0.25, 2.0)}))
    use = BlockUse(A, (Param("u", Computed(whole, IntRange(-most, most))),))
    part = Marked("one:p", use, (Param("r", RealRange(0.25, 2.0)),))
    found = {model.steps[0].params[0][1] for model in Models(Space(part))}  # type: ignore[union-attr]
    seen = {substituted(whole, {"one:p.r": 0.25 + 1.75 * i / 3000}) for i in range(3001)}
    assert {value for value in seen if abs(value) <= most} <= found  # type: ignore[arg-type]
    assert found <= set(range(-most, most + 1))
    assert all(min(seen) <= value <= max(seen) for value in found)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("formula", "low", "high", "expected"),
    [
        (Formula("/", (1, _REAL)), -1.0, 2.0, False),
        (Formula("/", (1, _REAL)), 0.0, 2.0, False),
        (Formula("/", (1, _REAL)), 0.1, 2.0, True),
        (Formula("^", (_REAL, 2)), -1.0, 1.0, False),
        (Formula("^", (_REAL, 2)), 0.0, 1.0, True),
        (Formula("^", (_REAL, 3)), -1.0, 1.0, True),
        (Formula("^", (-2, _REAL)), 0.0, 1.0, False),
        (Formula("^", (Formula("n_features"), _REAL)), 0.0, 1.0, True),
        (Formula("sqrt", (Formula("-", (1, _REAL)),)), 0.0, 1.0, True),
        (Formula("sqrt", (Formula("-", (1, _REAL)),)), 0.0, 2.0, False),
        (Formula("log", (_REAL,)), 0.0, 1.0, False),
        (Formula("^", (2, Formula("*", (_REAL, 2000)))), -1.0, 1.0, False),
    ],
)
def test_gaps_and_turns_are_known(formula: Formula, low: float, high: float, expected: bool) -> None:
    assert rises_or_falls(formula, "one:p.r", {"one:p.r": (low, high)}) is expected


_BLOCKS = (
    'block sel: selector "sklearn.feature_selection:SelectKBest" { k: int 1..n_features }\n'
    'block near: learner "sklearn.neighbors:KNeighbors*" { n_neighbors: int 1..20 }\n'
)


def _two_parts(one: str, own: str, other: str, theirs: str) -> str:
    """Parts that wait for the table, one in the other, under these names."""
    return (
        f"{_BLOCKS}part {one}({own}: int 1..n_features) = sel(k = {own}) >> near(n_neighbors = min(20, {own} + 1))\n"
        f"part {other}({theirs}: int 1..n_features, z{theirs}: int 1..5) ="
        f" {one}({own} = max(1, {theirs} - z{theirs}))\n"
        f"chain m = {one} | {other}\nrequire {one}.{own} != 3\n"
    )


@pytest.mark.parametrize("facts", [None, Facts(100, 6, 2, "classification")])
def test_no_digest_depends_on_the_names_of_parts_and_their_parameters(facts: Facts | None) -> None:
    texts = [_two_parts("a", "k", "b", "j"), _two_parts("b", "j", "a", "k"), _two_parts("q", "w", "c", "v")]
    spaces = []
    for text in texts:
        spec = check_source(Source("m.msl", text), facts).spec
        assert spec is not None
        spaces.append(spec.space)
    assert len({space_digest(space) for space in spaces}) == 1
    changed = check_source(Source("m.msl", texts[0].replace("k + 1", "k + 2")), facts).spec
    assert changed is not None
    assert space_digest(changed.space) != space_digest(spaces[0])
    assert diff_spaces(spaces[0], spaces[1]) == ()
    assert compare_spaces(spaces[0], changed.space).relation is (
        Relation.UNDECIDED if facts is None else Relation.CHANGED
    )
    assert diff_spaces(spaces[0], changed.space)


def test_two_parts_of_which_a_requirement_names_one_are_not_mixed_up() -> None:
    def space(named: str) -> Space:
        text = (
            f"{_BLOCKS}part a(k: int 1..n_features) = sel(k = k) >> near(n_neighbors = 3)\n"
            "part b(k: int 1..n_features) = sel(k = k) >> near(n_neighbors = 5)\n"
            f"chain m = a | b\nrequire {named}.k < 3\n"
        )
        spec = check_source(Source("m.msl", text)).spec
        assert spec is not None
        return spec.space

    assert space_digest(space("a")) != space_digest(space("b"))


def test_a_block_without_a_value_at_the_defaults_is_left_as_it_is() -> None:
    """A computed value outside its domain is a choice between nothing: closing it is no failure."""
    without = BlockUse(A, (Param("u", Choice(())),))
    assert closed(without) == without
