"""Counting: exact against brute force on generated spaces, the papers' figures, and bounds where it is too costly."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from brute_force import all_models, typed_steps
from example_spaces import block, choice, kms, numbers, psms, seq, use
from generators import FACTS, spaces, spelt_out
from hypothesis import HealthCheck, assume, event, given, settings
from scipy.stats import binomtest, chisquare

from msl.space.conditions import Comparison, Computed, Literal, Negation, Parameter, Present, Requirement
from msl.space.enumerate.count import Models, count, share_interval
from msl.space.formulas import Facts, Formula
from msl.space.nodes import (
    Arrange,
    BlockUse,
    Bool,
    Choice,
    Const,
    Empty,
    IntRange,
    Listing,
    Node,
    Permute,
    RealRange,
    Regions,
    Repeat,
    Sequence,
    Subset,
    Union,
    Vector,
)
from msl.space.resolve import resolve
from msl.space.spec import Space
from msl.space.values import BlockType, BlockValue

MOST_LISTED = 3_000


def _listed(space: Space) -> frozenset[object]:
    """All models by brute force, where there are not too many ways to come by one."""
    free = Space(space.root, (), space.facts)
    assume(Models(free).number <= MOST_LISTED)
    return all_models(spelt_out(space))


def _structure(typed: object) -> object:
    """Which blocks in which order, of a model as brute force writes it."""
    if isinstance(typed, tuple) and typed and typed[0] == "branches":
        return ("branches", *(_structure(branch) for branch in typed[1:]))
    if isinstance(typed, tuple) and len(typed) == 4 and isinstance(typed[3], frozenset):
        return typed[:3]
    assert isinstance(typed, tuple)
    return tuple(_structure(step) for step in typed)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(spaces())
def test_count_and_models_are_those_of_brute_force(space: Space) -> None:
    expected = _listed(space)
    found = count(space)
    event(f"requirements: {len(space.requirements)}, rejected some: {len(expected) < Models(space, free=True).number}")
    assert found.exact
    assert found.models == len(expected)
    assert found.structures == len({_structure(model) for model in expected})
    assert found.open_reals == 0
    listed = [typed_steps(model.steps) for model in Models(space)]
    assert len(listed) == len(expected)
    assert set(listed) == expected


# --- the papers' spaces -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("facts", [None, Facts(200, 30, 2, "classification")])
def test_particle_swarm_space(facts: Facts | None) -> None:
    space = psms() if facts is None else resolve(psms(), facts)[0]
    found = count(space)
    assert (found.models, found.structures, found.codes) == (None, 1_880, 2_080)
    assert (found.exact, found.open_reals) == (True, 5)
    assert "infinitely many" in found.reason


def test_kernel_space_has_4420_models() -> None:
    found = count(kms())
    assert (found.models, found.exact, found.open_reals) == (4_420, True, 0)
    assert count(Space(kms().root)).models == 4 * 5 * 2 * 2 * 4 * 17


@pytest.mark.slow
def test_a_chain_of_a_thousand_choices() -> None:
    steps = tuple(Choice(tuple(use(f"b{i}_{j}") for j in range(10))) for i in range(1000))
    found = count(Space(Sequence(steps)))
    assert found.models == found.structures == found.codes == 10**1000


def test_parts_inside_parts_are_not_written_out() -> None:
    part: Node = choice(use("a"), use("b", n=IntRange(1, 4)))
    for _ in range(12):
        part = Sequence((part, part))
    assert count(Space(part)).models == 5 ** (2**12)


def test_equal_optional_steps_are_counted_once() -> None:
    chain = Sequence((choice(use("a"), use("b"), Empty()),) * 40)
    assert count(Space(chain)).structures == sum(2**k for k in range(41))


# --- a space is a set -------------------------------------------------------------------------------------------------


SVC = block("svc", "learner")


@pytest.mark.parametrize(
    ("root", "models"),
    [
        (choice(use(SVC, degree=IntRange(1, 3)), use(SVC, degree=Const(1))), 3),
        (choice(use(SVC, degree=IntRange(1, 10)), use(SVC, degree=IntRange(5, 15, step=5))), 11),
        (choice(use(SVC, degree=IntRange(0, 10**9, step=2)), use(SVC, degree=IntRange(0, 10**9, step=3))), 666_666_668),
        (use(SVC, degree=choice(IntRange(1, 5), Const(3), Const(9))), 6),
        (use(SVC, degree=choice(Const(1), Const(1.0), Const(True))), 3),
        (use(SVC, mask=choice(Vector(2, Bool()), Listing((Const(True), Bool())))), 4),
        (Permute((choice(use("a"), Empty()), choice(use("b"), Empty()))), 5),
        (Permute((use("a"), use("a"))), 1),
        (Arrange(0, 2, (use("a"), use("b"), use("c"))), 1 + 3 + 6),
        (Subset((use("a"), use("b"), use("a"))), 7),
        (Repeat(0, 3, choice(use("a"), use("b"))), 15),
        (Union((use("a"), choice(use("b"), Empty()))), 2),
        (Union((Union((use("a"), use("b"))), use("c"))), 1),
        (choice(Union((Union((use("a"), use("b"))), use("c"))), Union((use("a"), Union((use("b"), use("c")))))), 1),
        (use(SVC, mask=Vector(20, Bool())), 2**20),
        (use(SVC, weights=Vector(3, RealRange(0, 1, step=0.1))), 11**3),
        (use(SVC, share=RealRange(0, 1, step=0.1)), 11),
        (use(SVC, n=IntRange(1, 1000, log=True)), 1000),
    ],
)
def test_sets(root: Node, models: int) -> None:
    found = count(Space(root))
    assert (found.models, found.exact) == (models, True)


def test_overlapping_reals_are_infinitely_many() -> None:
    root = choice(use(SVC, gamma=RealRange(0, 2)), use(SVC, gamma=RealRange(1, 3)), use(SVC, gamma=Const(1.0)))
    found = count(Space(root))
    assert (found.models, found.structures, found.open_reals, found.exact) == (None, 1, 1, True)


def test_regions_are_infinitely_many() -> None:
    found = count(Space(use("rbf", "learner", centers=Regions(15, 4))))
    assert (found.models, found.open_reals) == (None, 60)


def test_requirements_can_close_all_reals() -> None:
    root = choice(use(SVC, gamma=RealRange(0, 1)), use("knn", "learner", k=IntRange(1, 5)))
    found = count(Space(root, (Requirement(Negation(Present(SVC))),)))
    assert (found.models, found.structures, found.open_reals, found.reason) == (5, 1, 0, "")


@pytest.mark.parametrize(
    ("root", "codes"),
    [
        (Permute((Subset((use("a"), choice(use("b"), use("c")))), choice(use("d"), Empty()))), 2 * (2 * 3) * 2),
        (Arrange(1, 2, (use("a"), choice(use("b"), use("c")))), 3 + 2 * 2),
        (Repeat(1, 3, choice(use("b"), use("c"))), 2 + 4 + 8),
        (Union((choice(use("a"), Empty()), choice(use("b"), use("a")))), 4),
    ],
)
def test_codes_are_the_settings_of_structural_choices(root: Node, codes: int) -> None:
    assert count(Space(root)).codes == codes


# --- without a table --------------------------------------------------------------------------------------------------


def test_without_a_table_structures_are_counted_and_models_wait() -> None:
    n_features = Formula("n_features")
    chain = seq(choice(use("pca", n=IntRange(1, n_features)), Empty()), choice(use("nb"), use("knn", k=IntRange(1, 9))))
    found = count(Space(chain))
    assert (found.models, found.structures, found.codes, found.reason) == (None, 4, 4, "depends on the data")
    resolved, _ = resolve(Space(chain), Facts(50, 6, 2, "classification"))
    assert count(resolved).models == 7 * 10


def test_without_a_table_constant_bounds_are_enough() -> None:
    assert count(Space(use("knn", k=IntRange(1, 9)))).models == 9


def test_vectors_over_features_wait_for_the_table() -> None:
    features = Formula("n_features")
    weights = count(Space(use("sbm", weights=Vector(features, RealRange(0, 1)))))
    assert (weights.models, weights.open_reals) == (None, None)
    assert "depends on the data" in weights.reason
    mask = Space(use("sbm", mask=Vector(features, Bool())))
    assert count(mask).models is None
    assert count(resolve(mask, Facts(50, 100, 2, "classification"))[0]).models == 2**100


# --- requirements that look at numbers --------------------------------------------------------------------------------

A, B = block("a"), block("b")


def _pair(most: int) -> Node:
    return seq(use(A, x=IntRange(1, most)), use(B, y=IntRange(1, most)))


def test_a_comparison_of_two_parameters_is_exact_while_it_is_cheap() -> None:
    below = Requirement(Comparison("<", Parameter(A, "x"), Parameter(B, "y")))
    assert count(Space(_pair(60), (below,))).models == 60 * 59 // 2


def test_a_comparison_with_a_number_costs_nothing() -> None:
    small = Requirement(Comparison("<=", Parameter(A, "x"), Literal(10)))
    assert count(Space(_pair(10**12), (small,))).models == 10 * 10**12


@pytest.mark.slow
def test_too_costly_is_said_and_bounded() -> None:
    product = Computed("*", (Parameter(A, "x"), Parameter(B, "y")))
    space = Space(_pair(1000), (Requirement(Comparison("<=", product, Literal(250_000))),))
    truth = sum(min(1000, 250_000 // x) for x in range(1, 1001))
    found = count(space, work=50_000)
    assert not found.exact
    assert found.models is not None
    assert found.models_interval is not None
    assert found.models_interval.low <= truth <= found.models_interval.high
    assert found.models_interval.high - found.models_interval.low < 0.1 * 1000**2
    assert found.reason


def test_reals_that_are_compared_with_each_other_leave_structures_bounded() -> None:
    chain = seq(use(A, x=RealRange(0, 1)), choice(use(B, y=RealRange(0, 1)), use("c")))
    found = count(Space(chain, (Requirement(Comparison("<", Parameter(A, "x"), Parameter(B, "y"))),)))
    assert (found.models, found.exact) == (None, False)
    assert found.structures_interval is not None
    assert found.structures_interval.low <= 2 <= found.structures_interval.high


def test_an_empty_space_has_no_models() -> None:
    found = count(Space(use(A), (Requirement(Negation(Present(A))),)))
    assert (found.models, found.structures, found.exact) == (0, 0, True)


@pytest.mark.parametrize(("hits", "draws"), [(0, 20), (20, 20), (3, 50), (700, 2000), (1, 2000)])
def test_interval_of_a_share(hits: int, draws: int) -> None:
    expected = binomtest(hits, draws).proportion_ci(0.99, method="exact")
    assert share_interval(hits, draws, 0.99) == pytest.approx((expected.low, expected.high), abs=1e-9)


# --- drawing and listing ----------------------------------------------------------------------------------------------


def test_every_model_is_drawn_as_often() -> None:
    overlap = choice(use(SVC, degree=IntRange(1, 6)), use(SVC, degree=IntRange(4, 8)))
    chain = seq(
        Permute((choice(use("a", n=IntRange(1, 2)), Empty()), choice(use("b"), use("c"), Empty()))),
        overlap,
    )
    limit = Requirement(Comparison("<=", Parameter(SVC, "degree"), Literal(6)), Present(block("b")))
    models = Models(Space(chain, (limit,), FACTS))
    listed = list(models)
    assert len(listed) == len(set(listed)) == models.number
    rng = Random(1)
    seen = dict.fromkeys(listed, 0)
    for _ in range(40 * models.number):
        seen[models.draw(rng)] += 1
    assert chisquare(list(seen.values())).pvalue > 0.001


@pytest.mark.slow
def test_listing_is_lazy() -> None:
    steps = tuple(Choice(tuple(use(f"b{i}_{j}") for j in range(10))) for i in range(1000))
    assert len(set(islice(Models(Space(Sequence(steps))), 50))) == 50


def test_a_real_that_a_requirement_leaves_out_is_not_drawn() -> None:
    learner = use("a", k=RealRange(0, 1))
    space = Space(learner, (Requirement(Comparison("!=", Parameter(learner.block, "k"), Literal(0.5))),))
    rng = Random(1)
    drawn = [Models(space).draw(rng).steps[0] for _ in range(50)]
    assert not any(isinstance(step, BlockValue) and step.params == (("k", 0.5),) for step in drawn)


def test_an_open_real_takes_as_many_values_as_asked() -> None:
    space = Space(use(SVC, gamma=RealRange(1e-4, 100, log=True), shrinkage=RealRange(0, 1)))
    values = [dict(model.steps[0].params) for model in Models(space, steps=3)]  # type: ignore[union-attr]
    assert {v["gamma"] for v in values} == {1e-4, 0.1, 100.0}
    assert {v["shrinkage"] for v in values} == {0.0, 0.5, 1.0}
    assert len(values) == 9
    with pytest.raises(ValueError, match="a real is open"):
        list(Models(space))


def test_one_class_under_two_names_is_one_model() -> None:
    names = [BlockType(name, "one", "learner", None, "pkg:Same") for name in ("first", "second")]
    assert count(Space(Choice(tuple(BlockUse(name) for name in names)))).models == 1
    rejected = Requirement(Negation(Present(names[0])))
    assert count(Space(Choice(tuple(BlockUse(name) for name in names)), (rejected,))).models == 1
    both = tuple(Requirement(Negation(Present(name))) for name in names)
    assert count(Space(Choice(tuple(BlockUse(name) for name in names)), both)).models == 0


def test_numbers_in_order() -> None:
    assert count(Space(use("knn", k=numbers(1, 5, 11, 21)))).models == 4
    assert count(Space(use("knn", k=numbers(1, 5, 11, 21), b=Bool()))).models == 8
