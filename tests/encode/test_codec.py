"""Codec: models and vectors are each other's inverse, on generated spaces of every kind and in both layouts."""

from __future__ import annotations

import operator
import re
from contextlib import suppress
from itertools import combinations, permutations

import numpy as np
import pytest
from brute_force import all_models, typed_steps
from example_spaces import block, choice, kms, psms, seq, use
from generators import FACTS, spaces, spelt_out
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from msl.encode.codec import Codec, space_to_codec
from msl.space.conditions import Comparison, FactTerm, Literal, Parameter, Present, Requirement, Sibling, ValueIs
from msl.space.enumerate.count import Models
from msl.space.evaluate_conditions import Derivation, broken
from msl.space.formulas import Facts
from msl.space.membership import NotInSpace
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
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
from msl.space.resolve import resolve
from msl.space.spec import Space
from msl.space.values import BlockValue, Branches, Model, SymbolValue

TABLE = Facts(n_samples=200, n_features=30, n_classes=2, task="classification")
encodings = st.sampled_from(["shared", "separate"])
slow_draws = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


def _points(codec: Codec, seed: int, count: int = 12) -> np.ndarray:
    """Points of the cube, some on its faces and some outside."""
    rng = np.random.default_rng(seed)
    points = rng.random((count, codec.n_dimensions))
    points[0], points[1] = 0.0, 1.0
    points[2] = rng.normal(0.5, 2.0, codec.n_dimensions)
    points[3] = rng.choice([np.nan, np.inf, -np.inf, 0.5], codec.n_dimensions)
    return points


@settings(max_examples=100, suppress_health_check=slow_draws)
@given(spaces(finite=False), encodings, st.integers(0, 9))
def test_a_model_comes_back_from_its_vector(space: Space, encoding: str, seed: int) -> None:
    codec = space_to_codec(space, encoding)
    batch = codec.decode(_points(codec, seed))
    for model in batch:
        if isinstance(model, Model):
            vector = codec.encode(model)
            assert typed_steps(codec.model(vector).steps) == typed_steps(model.steps)
            again = codec.decode(vector[None, :])
            active = again.active[0]
            np.testing.assert_array_equal(again.snapped[0][active], vector[active])
            unused = [slot for slot in np.flatnonzero(~active) if vector[slot] != 0.5]
            assert all("order" in {m.kind for m in codec.dimensions[slot].meanings} for slot in unused)


@settings(max_examples=100, suppress_health_check=slow_draws)
@given(spaces(finite=False), encodings, st.integers(0, 9))
def test_what_is_written_back_is_the_same_point(space: Space, encoding: str, seed: int) -> None:
    codec = space_to_codec(space, encoding)
    points = _points(codec, seed)
    batch = codec.decode(points)
    again = codec.decode(batch.snapped)
    assert [repr(one) for one in again] == [repr(one) for one in batch]
    np.testing.assert_array_equal(again.snapped, batch.snapped)
    np.testing.assert_array_equal(again.active, batch.active)
    assert ((batch.snapped >= 0) & (batch.snapped <= 1)).all()
    clipped = np.nan_to_num(points, nan=0.5, posinf=1, neginf=0).clip(0, 1)
    np.testing.assert_array_equal(batch.snapped[~batch.active], clipped[~batch.active])


@settings(max_examples=100, suppress_health_check=slow_draws)
@given(spaces(finite=False), encodings, st.integers(0, 9))
def test_dimensions_without_effect_have_none(space: Space, encoding: str, seed: int) -> None:
    codec = space_to_codec(space, encoding)
    points = _points(codec, seed)
    batch = codec.decode(points)
    moved = np.where(batch.active, points, np.random.default_rng(seed + 1).random(points.shape))
    assert [repr(one) for one in codec.decode(moved)] == [repr(one) for one in batch]


@settings(max_examples=100, suppress_health_check=slow_draws)
@given(spaces(finite=False), encodings, st.integers(0, 9))
def test_one_by_one_is_all_at_once(space: Space, encoding: str, seed: int) -> None:
    codec = space_to_codec(space, encoding)
    points = _points(codec, seed)
    alone, together = codec.decode(points), codec.decode(points)
    assert [repr(alone[row]) for row in range(len(points))] == [repr(one) for one in together.models()]
    assert repr(alone[-1]) == repr(together[-1])


@settings(max_examples=120, suppress_health_check=slow_draws)
@given(spaces(), encodings, st.integers(0, 9))
def test_decoded_models_are_those_of_brute_force(space: Space, encoding: str, seed: int) -> None:
    assume(Models(Space(space.root, (), space.facts)).number <= 1_000)
    expected = all_models(spelt_out(space))
    codec = space_to_codec(space, encoding)
    for outcome in codec.decode(_points(codec, seed, 40)):
        if isinstance(outcome, Model):
            assert typed_steps(outcome.steps) in expected
        else:
            assert outcome.requirement in space.requirements


@settings(max_examples=100, suppress_health_check=slow_draws)
@given(spaces(), encodings)
def test_every_model_has_a_vector_and_no_other_has(space: Space, encoding: str) -> None:
    free = Space(space.root, (), space.facts)
    assume(Models(free).number <= 300)
    codec = space_to_codec(space, encoding)
    inside = {typed_steps(model.steps) for model in Models(space)}
    for model in Models(free):
        if typed_steps(model.steps) in inside:
            assert typed_steps(codec.model(codec.encode(model)).steps) == typed_steps(model.steps)
        else:
            with pytest.raises(NotInSpace, match="requirement") as caught:
                codec.encode(model)
            assert caught.value.requirement in space.requirements


@pytest.mark.parametrize("encoding", ["shared", "separate"])
@pytest.mark.parametrize(
    "options",
    [
        (RealRange(0, 1, step=0.5), Const(1)),
        (Const(1), RealRange(0, 1, step=0.5)),
        (RealRange(0, 1), Const(1)),
        (RealRange(0, 4, step=1), IntRange(0, 4)),
        (RealRange(0, 1, step=1), Bool(), IntRange(0, 1)),
    ],
)
def test_a_whole_number_is_not_taken_for_the_real_beside_it(options: tuple[Node, ...], encoding: str) -> None:
    """1 and 1.0 are two models, which a class may treat unlike: `max_features = 1` is one of them, 1.0 all."""
    codec = space_to_codec(Space(use("a", v=choice(*options))), encoding)
    for model in codec.decode(_points(codec, 1, 50)).models():
        assert isinstance(model, Model)
        assert typed_steps(codec.model(codec.encode(model)).steps) == typed_steps(model.steps)


def test_a_whole_number_is_a_real_where_nothing_else_takes_it() -> None:
    codec = space_to_codec(Space(use("a", v=choice(RealRange(0, 2), Const("auto")))))
    (step,) = codec.model(codec.encode(Model((BlockValue(block("a"), (("v", 1),)),)))).steps
    assert isinstance(step, BlockValue)
    assert repr(dict(step.params)["v"]) == "1.0"


@settings(max_examples=100, suppress_health_check=slow_draws)
@given(spaces(finite=False), spaces(finite=False), st.integers(0, 9))
def test_a_model_of_another_space_is_refused_or_comes_to_rest(one: Space, other: Space, seed: int) -> None:
    codec, source = space_to_codec(one), space_to_codec(other)
    for model in source.decode(_points(source, seed)):
        if isinstance(model, Model):
            with suppress(NotInSpace):
                rounded = codec.model(codec.encode(model))
                assert [type(step) for step in rounded.steps] == [type(step) for step in model.steps]
                assert codec.model(codec.encode(rounded)) == rounded


# --- canonical models -------------------------------------------------------------------------------------------------


A, B, C = use("a"), use("b"), use("c")
ONE, TWO, THREE = (BlockValue(block(name), ()) for name in "abc")


def _models(root: Node) -> set[Model]:
    codec = space_to_codec(Space(root))
    return {
        outcome
        for outcome in codec.decode(np.random.default_rng(0).random((400, codec.n_dimensions)))
        if isinstance(outcome, Model)
    }


@pytest.mark.parametrize(
    ("root", "steps"),
    [
        (Permute((A, choice(B, Empty()))), [(ONE,), (ONE, TWO), (TWO, ONE)]),
        (Union((A, choice(B, Empty()))), [(ONE,), (Branches(((ONE,), (TWO,))),)]),
        (Union((choice(A, Empty()), Empty())), [(ONE,), ()]),
        (Union((Sequence((A, B)), choice(C, Empty()))), [(ONE, TWO), (Branches(((ONE, TWO), (THREE,))),)]),
        (Union((Union((A, choice(B, Empty()))), C)), None),
        (Sequence((choice(A, Empty()), Empty(), B)), [(TWO,), (ONE, TWO)]),
        (Repeat(0, 2, A), [(), (ONE,), (ONE, ONE)]),
        (Subset((A, B)), [(), (ONE,), (TWO,), (ONE, TWO)]),
        (Arrange(1, 2, (A, B)), [(ONE,), (TWO,), (ONE, TWO), (TWO, ONE)]),
    ],
)
def test_models_are_canonical(root: Node, steps: list[tuple[object, ...]] | None) -> None:
    if steps is None:
        steps = [(Branches(((ONE,), (THREE,))),), (Branches(((ONE,), (TWO,), (THREE,))),)]
    assert _models(root) == {Model(row) for row in steps}  # type: ignore[arg-type]


def test_two_vectors_of_one_model() -> None:
    codec = space_to_codec(Space(Permute((choice(A, Empty()), choice(B, Empty())))))
    order, first, second = 0, 1, 2
    point = np.full(3, 0.25)
    point[second] = 0.75
    other = point.copy()
    other[order] = 0.75
    batch = codec.decode(np.array([point, other]))
    assert batch[0] == batch[1] == Model((ONE,))
    assert not batch.active[:, order].any()
    assert batch.active[:, [first, second]].all()


def test_parameters_stand_in_declared_order_with_fixed_ones_and_without_absent_ones() -> None:
    layers = BlockUse(
        block("net", "learner"),
        (
            Param("depth", IntRange(1, 2)),
            Param("loss", Const("log")),
            Param("second", IntRange(8, 9), condition=Comparison("==", Sibling("depth"), Literal(2))),
            Param("kernel", choice(Const("linear"), Symbol("rbf", (Param("gamma", Const(0.5)),)))),
            Param("wide", Bool(), condition=Comparison("<", Sibling("gamma"), Literal(1))),
        ),
    )
    found = {model.steps[0].params for model in _models(layers)}  # type: ignore[union-attr]
    rbf = SymbolValue("rbf", (("gamma", 0.5),))
    expected = {
        (("depth", depth), ("loss", "log"), *second, ("kernel", kernel), *wide)
        for depth, seconds in ((1, [()]), (2, [(("second", 8),), (("second", 9),)]))
        for second in seconds
        for kernel, wides in (("linear", [()]), (rbf, [(("wide", False),), (("wide", True),)]))
        for wide in wides
    }
    assert found == expected


def test_at_least_one_unit_of_regions_is_on() -> None:
    codec = space_to_codec(Space(use("rbf", centers=Regions(3, 2))))
    assert codec.n_dimensions == 9
    point = np.full((1, 9), 0.1)
    batch = codec.decode(point)
    assert batch[0].steps[0].params == (("centers", ((0.1, 0.1), None, None)),)  # type: ignore[union-attr]
    np.testing.assert_array_equal(batch.active[0], [1, 1, 1, 1, 0, 0, 1, 0, 0])
    assert batch.snapped[0, 0] == 0.75


# --- requirements -----------------------------------------------------------------------------------------------------


def test_the_broken_requirement_is_named() -> None:
    space, _ = resolve(kms(), TABLE)
    codec = space_to_codec(space)
    rng = np.random.default_rng(3)
    batch = codec.decode(rng.random((500, codec.n_dimensions)))
    rejected = [outcome for outcome in batch if isinstance(outcome, NotInSpace)]
    assert {outcome.requirement for outcome in rejected} == set(space.requirements)
    assert 0 < len(rejected) < 250
    np.testing.assert_array_equal(batch.feasible(), [isinstance(outcome, Model) for outcome in batch])
    for outcome in batch:
        if isinstance(outcome, Model):
            assert broken(space.requirements, Derivation(outcome), TABLE) is None


def test_a_way_that_meets_the_requirements_is_found_among_several() -> None:
    first, second = Marked("x:first", choice(A, Empty())), Marked("x:second", choice(A, Empty()))
    only_second = Requirement(Present(block("a"), "x:second"))
    codec = space_to_codec(Space(Sequence((first, second)), (only_second,)))
    vector = codec.encode(Model((ONE,)))
    assert codec.model(vector) == Model((ONE,))
    with pytest.raises(NotInSpace, match="breaks the requirement"):
        codec.encode(Model(()))


SVC = block("svc", "learner")
SVC_USE = use(SVC, degree=IntRange(1, 3), gamma=RealRange(0.1, 2))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (Model((BlockValue(SVC, (("degree", 9), ("gamma", 0.5))),)), "`svc.degree = 9` is outside"),
        (Model((BlockValue(SVC, (("degree", 2), ("gamma", 3.0))),)), "`svc.gamma = 3.0` is outside"),
        (Model((BlockValue(SVC, (("degree", True), ("gamma", 0.5))),)), "`svc.degree = true` is outside"),
        (Model((BlockValue(SVC, (("degree", 2),)),)), "lacks its parameter `gamma`"),
        (Model((BlockValue(SVC, (("degree", 2), ("gamma", 0.5), ("c", 1))),)), "has no parameter `c`"),
        (Model((BlockValue(block("knn"), ()),)), "step 1 is `knn`, and the space has `a`, `svc` there"),
        (Model((ONE,)), "the model ends after 1 steps, and the space goes on with `svc`"),
        (
            Model((ONE, BlockValue(SVC, (("degree", 2), ("gamma", 0.5))), ONE)),
            "step 3 is `a`, and the space ends",
        ),
        (Model((Branches(((ONE,), (TWO,))),)), "step 1 is branches"),
    ],
)
def test_why_a_model_is_not_in_the_space(model: Model, reason: str) -> None:
    codec = space_to_codec(Space(seq(choice(A, Empty()), SVC_USE)))
    with pytest.raises(NotInSpace, match=re.escape(reason)):
        codec.encode(model)


def test_a_conditional_parameter_that_should_not_be_there() -> None:
    net = BlockUse(
        block("net"),
        (Param("n", IntRange(1, 2)), Param("m", IntRange(1, 5), condition=Comparison("==", Sibling("n"), Literal(2)))),
    )
    codec = space_to_codec(Space(net))
    with pytest.raises(NotInSpace, match="does not exist beside"):
        codec.encode(Model((BlockValue(block("net"), (("n", 1), ("m", 3))),)))


def test_a_real_with_many_digits_is_rounded() -> None:
    codec = space_to_codec(Space(SVC_USE))
    model = codec.model(codec.encode(Model((BlockValue(SVC, (("degree", 2), ("gamma", 1 / 3))),))))
    assert dict(model.steps[0].params)["gamma"] == 0.33333333333  # type: ignore[union-attr]


def test_ranges_that_overlap_may_round_unlike() -> None:
    coarse, fine = RealRange(-3, 7.5), RealRange(0, 1)
    codec = space_to_codec(Space(use(SVC, gamma=choice(coarse, fine))))
    model = Model((BlockValue(SVC, (("gamma", 0.123456789012),)),))
    assert codec.model(codec.encode(model)) == model
    assert codec.encode(model)[0] == 0.75


def test_requirements_on_values_reject_vectors() -> None:
    cheap = Requirement(Comparison("<=", Parameter(SVC, "degree"), Literal(1)), text="svc.degree <= 1")
    codec = space_to_codec(Space(SVC_USE, (cheap,)))
    batch = codec.decode(np.array([[0.1, 0.5], [0.9, 0.5]]))
    assert isinstance(batch[0], Model)
    assert isinstance(batch[1], NotInSpace)
    assert "svc.degree <= 1" in batch[1].reason
    with pytest.raises(NotInSpace):
        codec.model([0.9, 0.5])


# --- the cube ---------------------------------------------------------------------------------------------------------


def test_vectors_of_the_wrong_shape() -> None:
    codec = space_to_codec(Space(SVC_USE))
    with pytest.raises(ValueError, match="have 2 dimensions"):
        codec.decode(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="have 2 dimensions"):
        codec.decode(np.zeros(2))


def test_a_space_with_nothing_open_has_no_dimensions() -> None:
    codec = space_to_codec(Space(seq(A, use("svc", c=Const(1)))))
    assert codec.n_dimensions == 0
    assert codec.decode(np.zeros((2, 0))).models() == [codec.model([])] * 2
    assert codec.encode(codec.model([])).shape == (0,)


def test_no_vectors_are_no_models() -> None:
    for space in (psms(), kms()):
        codec = space_to_codec(resolve(space, TABLE)[0])
        batch = codec.decode(np.empty((0, codec.n_dimensions)))
        assert (len(batch), batch.models(), batch.snapped.shape) == (0, [], (0, codec.n_dimensions))
        assert batch.feasible().shape == (0,)


def test_a_space_that_needs_a_table() -> None:
    with pytest.raises(ValueError, match="resolve it against one first"):
        space_to_codec(psms())


def test_too_much_for_one_dimension() -> None:
    with pytest.raises(ValueError, match="more than one dimension can tell apart"):
        space_to_codec(Space(use("a", n=IntRange(0, 2**60))))
    with pytest.raises(ValueError, match="more than one dimension can tell apart"):
        space_to_codec(Space(Permute(tuple(use(f"b{i}") for i in range(20)))))
    with pytest.raises(ValueError, match="`log` needs a low end above 0"):
        space_to_codec(Space(use("a", n=RealRange(0.0, 1.0, log=True))))
    with pytest.raises(ValueError, match="`shared` or `separate`"):
        space_to_codec(Space(A), "other")  # type: ignore[arg-type]


def test_nesting_beyond_reason_is_refused() -> None:
    root: Node = A
    for number in range(400):
        root = Choice((Sequence((root, use(f"b{number}"))), use(f"c{number}")))
    with pytest.raises(ValueError, match="nest"):
        space_to_codec(Space(root))


def test_large_vectors() -> None:
    codec = space_to_codec(Space(use("sbm", weights=Vector(2_000, RealRange(0, 1, step=0.1)), mask=Vector(3, Bool()))))
    batch = codec.decode(np.random.default_rng(0).random((4, codec.n_dimensions)))
    for model in batch:
        assert codec.model(codec.encode(model)) == model  # type: ignore[arg-type]


@pytest.mark.slow
def test_particle_swarm_models_come_back() -> None:
    space, _ = resolve(psms(), TABLE)
    for encoding in ("shared", "separate"):
        codec = space_to_codec(space, encoding)
        models = codec.decode(np.random.default_rng(7).random((300, codec.n_dimensions))).models()
        vectors = np.array([codec.encode(model) for model in models])  # type: ignore[arg-type]
        assert codec.decode(vectors).models() == models


def test_encodings_have_the_same_models() -> None:
    space, _ = resolve(psms(), TABLE)
    shared, separate = space_to_codec(space), space_to_codec(space, "separate")
    for model in shared.decode(np.random.default_rng(8).random((50, shared.n_dimensions))):
        assert isinstance(model, Model)
        assert separate.model(separate.encode(model)) == model
        assert shared.model(shared.encode(model)) == model


def test_facts_decide_conditions() -> None:
    few = Comparison("<", Sibling("n"), FactTerm("n_classes"))
    net = BlockUse(block("net"), (Param("n", IntRange(1, 2)), Param("m", IntRange(1, 5), condition=few)))
    codec = space_to_codec(Space(net, (), FACTS))
    assert [len(model.steps[0].params) for model in codec.decode([[0.1, 0.1], [0.9, 0.1]])] == [2, 1]  # type: ignore[union-attr]


def test_values_of_alternatives_are_found_by_their_names() -> None:
    kernel = choice(Symbol("rbf", (Param("gamma", RealRange(0, 1)),)), Symbol("cosine"))
    limit = Requirement(Comparison("<", Parameter(SVC, "gamma"), Literal(0.5)))
    plain = Requirement(ValueIs(Parameter(SVC, "kernel"), ("cosine",)))
    codec = space_to_codec(Space(use(SVC, kernel=kernel), (limit,)))
    assert [isinstance(o, Model) for o in codec.decode([[0.1, 0.2], [0.1, 0.9], [0.9, 0.9]])] == [True, False, True]
    codec = space_to_codec(Space(use(SVC, kernel=kernel), (plain,)))
    assert [isinstance(o, Model) for o in codec.decode([[0.1, 0.2], [0.9, 0.9]])] == [False, True]


# --- neighbours -------------------------------------------------------------------------------------------------------


def test_near_an_order_two_members_are_exchanged_or_one_is_added_or_left_out() -> None:
    codec = space_to_codec(Space(Arrange(1, 3, tuple(use(name) for name in "abcd"))))
    orders = {tuple(order) for size in (1, 2, 3) for order in permutations("abcd", size)}

    def read(share: float) -> tuple[str, ...]:
        model = codec.decode(np.array([[share]]))[0]
        assert isinstance(model, Model)
        return tuple(step.block.name for step in model.steps if isinstance(step, BlockValue))

    def is_near(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
        if len(one) == len(other):
            return set(one) == set(other) and sum(map(operator.ne, one, other)) == 2
        return other[:-1] == one or other in combinations(one, len(one) - 1)

    shares = (np.arange(len(orders)) + 0.5) / len(orders)
    assert {read(share) for share in shares} == orders
    for share in shares:
        order = read(share)
        near = [read(other) for other in codec.readers([share])[0].near(share, 0.1)]
        assert sorted(near) == sorted(other for other in orders if is_near(order, other))
