"""Parameters of parts against brute force: the space is the set of the part's steps with values put in."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from brute_force import all_models, typed_steps
from hypothesis import assume, given
from hypothesis import strategies as st
from part_spaces import spaces
from small_spaces import A

from msl.encode.codec import space_to_codec
from msl.encode.sample import enumerate_models, sample
from msl.space.canonical.digest import space_digest
from msl.space.enumerate.count import Models, _way_count, count
from msl.space.enumerate.equivalence import Relation, relate
from msl.space.formulas import Formula
from msl.space.membership import Membership, NotInSpace
from msl.space.nodes import BlockUse, Computed, Const, IntRange, Marked, Param
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
