"""Truth: three values, occurrences bound in turn, and what requirements see is all that decides."""

from __future__ import annotations

import numpy as np
import pytest
from generators import FACTS, conditions, spaces
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msl.encode.codec import space_to_codec
from msl.space.conditions import (
    AllOf,
    AnyOf,
    Comparison,
    Computed,
    Condition,
    FactTerm,
    IsTrue,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
    Sibling,
    ValueIs,
)
from msl.space.evaluate_conditions import Derivation, broken, constant, holds, occurrences, outcome_of
from msl.space.formulas import Facts
from msl.space.model_traits import Abstraction
from msl.space.spec import Space
from msl.space.values import BlockType, BlockValue, Branches, Model, Step, SymbolValue, Value

PCA = BlockType("pca", "clop", "transformer", None, "pkg:PCA")
SVC = BlockType("svc", "clop", "learner", None, "pkg:SVC")
NEAR = BlockType("near", "sbm", "distance", None, "pkg:Near")
N, GAMMA = Parameter(PCA, "n"), Parameter(SVC, "gamma")
TABLE = Facts(n_samples=100, n_features=8, n_classes=3, task="classification")


def _pca(n: Value) -> BlockValue:
    return BlockValue(PCA, (("n", n),))


def _rejects(condition: Condition, *steps: Step, when: Condition | None = None, facts: Facts | None = TABLE) -> bool:
    return broken([Requirement(condition, when)], Derivation(Model(steps)), facts) is not None


# --- what rejects -----------------------------------------------------------------------------------------------------


def test_only_a_false_condition_rejects() -> None:
    small = Comparison("<", N, Literal(3))
    assert not _rejects(small, _pca(2))
    assert _rejects(small, _pca(3))
    assert not _rejects(small)  # pca is absent: undefined
    assert not _rejects(Negation(small))


def test_only_a_true_if_lets_it_reject() -> None:
    false = Negation(Present(PCA))
    assert _rejects(false, _pca(5), when=Comparison(">", N, Literal(3)))
    assert not _rejects(false, _pca(2), when=Comparison(">", N, Literal(3)))
    assert not _rejects(false, _pca(2), when=Comparison(">", GAMMA, Literal(3)))


def test_every_occurrence_must_meet_it() -> None:
    small = Comparison("<", N, Literal(3))
    assert _rejects(small, _pca(1), _pca(5))
    assert _rejects(small, Branches(((_pca(1),), (_pca(1), _pca(7)))))
    assert not _rejects(small, _pca(1), _pca(2))


def test_paths_of_two_owners_are_bound_to_each_pair() -> None:
    below = Comparison("<", N, GAMMA)
    svc = BlockValue(SVC, (("gamma", 4.0),))
    assert not _rejects(below, _pca(1), _pca(3), svc)
    assert _rejects(below, _pca(1), _pca(5), svc)


def test_two_parameters_of_one_owner_are_of_one_occurrence() -> None:
    both = Comparison("<", N, Parameter(PCA, "m"))
    first, second = (BlockValue(PCA, (("n", n), ("m", n + 1))) for n in (1, 9))
    assert not _rejects(both, first, second)


# --- three values -----------------------------------------------------------------------------------------------------

TRUE, FALSE, UNDEFINED = Present(PCA), Present(SVC), Comparison("<", GAMMA, Literal(1))
_TABLE = {
    ("and", TRUE, UNDEFINED): None,
    ("and", FALSE, UNDEFINED): False,
    ("and", TRUE, TRUE): True,
    ("or", TRUE, UNDEFINED): True,
    ("or", FALSE, UNDEFINED): None,
    ("or", FALSE, FALSE): False,
}


@pytest.mark.parametrize(("parts", "expected"), _TABLE.items())
def test_and_or_not(parts: tuple[str, Condition, Condition], expected: bool | None) -> None:
    join = AllOf if parts[0] == "and" else AnyOf
    for items in (parts[1:], parts[:0:-1]):
        condition = join(items)  # type: ignore[arg-type]
        assert _rejects(condition, _pca(1)) == (expected is False)
        assert _rejects(Negation(condition), _pca(1)) == (expected is True)


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        (Comparison("==", N, Literal(None)), None),
        (Comparison("!=", N, Literal(None)), None),
        (Comparison("<", N, Literal("x")), None),
        (Comparison("==", N, Literal(4.0)), True),
        (Comparison("==", N, Literal(True)), False),
        (ValueIs(N, (None,)), False),
        (ValueIs(N, (3, 4)), True),
        (IsTrue(N), None),
        (Comparison("<=", N, FactTerm("n_features")), True),
        (Comparison("==", Computed("/", (FactTerm("n_features"), Literal(2))), N), True),
        (Comparison("<", Computed("/", (N, Literal(3))), Literal(1.3333333333333333)), False),
        (Comparison("<", Computed("/", (N, Literal(0))), Literal(1)), None),
        (Comparison("<", Computed("sqrt", (Computed("-", (N,)),)), Literal(1)), None),
        (Comparison("==", Computed("max", (N, Literal(2), Literal(3))), Literal(4)), True),
    ],
)
def test_values(condition: Condition, truth: bool | None) -> None:
    assert _rejects(condition, _pca(4)) == (truth is False)
    assert _rejects(Negation(condition), _pca(4)) == (truth is True)


def test_what_needs_a_table_is_undefined_without_one() -> None:
    many = Comparison(">", FactTerm("n_samples"), Literal(1_000))
    assert _rejects(many, facts=TABLE)
    assert not _rejects(many, facts=None)
    assert not _rejects(Negation(many), facts=None)


# --- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("came_to", "options", "truth"),
    [
        ([(_pca(1),)], (PCA,), True),
        ([(_pca(1),)], (SVC, None), False),
        ([()], (None,), True),
        ([()], (PCA,), False),
        ([], (None,), True),
        ([], (PCA,), False),
        ([(_pca(1), _pca(2))], (PCA,), False),
        ([(Branches(((_pca(1),), (_pca(2),))),)], (PCA,), False),
        ([(_pca(1),), ()], (PCA,), False),
        ([(_pca(1),), ()], (PCA, None), True),
    ],
)
def test_part_is(came_to: list[tuple[Step, ...]], options: tuple[BlockType | None, ...], truth: bool) -> None:
    steps = tuple(step for steps in came_to for step in steps)
    derivation = Derivation(Model(steps), tuple(("x:p", part) for part in came_to))
    rejected = broken([Requirement(PartIs("x:p", options))], derivation, None) is not None
    assert rejected == (not truth)


def test_a_mark_limits_a_path_to_its_part() -> None:
    derivation = Derivation(Model((_pca(1), _pca(9))), (("x:p", (_pca(1),)),))
    inside = Requirement(Comparison("<", Parameter(PCA, "n", "x:p"), Literal(5)))
    anywhere = Requirement(Comparison("<", N, Literal(5)))
    assert broken([inside], derivation, None) is None
    assert broken([inside, anywhere], derivation, None) == anywhere
    assert broken([Requirement(Negation(Present(PCA, "x:q")))], derivation, None) is None


# --- values inside values ---------------------------------------------------------------------------------------------


def test_parameters_of_an_alternative_are_the_blocks_own() -> None:
    rbf = BlockValue(SVC, (("kernel", SymbolValue("rbf", (("gamma", 0.5),))),))
    assert _rejects(Comparison(">", GAMMA, Literal(1)), rbf)
    assert not _rejects(ValueIs(Parameter(SVC, "kernel"), ("rbf",)), rbf)


def test_blocks_that_are_values_are_contained() -> None:
    inner = BlockValue(NEAR, (("p", 2),))
    outer = BlockValue(SVC, (("distance", inner), ("more", (1, SymbolValue("x", (("d", inner),))))))
    assert [found.block.name for found in occurrences((outer,))] == ["svc", "near", "near"]
    assert _rejects(Negation(Present(NEAR)), outer)
    assert _rejects(Comparison(">", Parameter(NEAR, "p"), Literal(5)), outer)
    assert not _rejects(ValueIs(Parameter(SVC, "distance"), (NEAR,)), outer)


# --- conditional parameters -------------------------------------------------------------------------------------------


def test_only_a_true_condition_makes_a_parameter_exist() -> None:
    two = Comparison("==", Sibling("n"), Literal(2))
    assert holds(two, {"n": 2})
    assert not holds(two, {"n": 3})
    assert not holds(two, {})
    assert not holds(Negation(two), {})
    assert holds(Comparison("<", Sibling("gamma"), Literal(1)), {"kernel": SymbolValue("rbf", (("gamma", 0.5),))})
    assert holds(Comparison("<", Sibling("n"), FactTerm("n_features")), {"n": 3}, TABLE)
    assert not holds(Comparison("<", Sibling("n"), FactTerm("n_features")), {"n": 3})


def test_constants() -> None:
    assert constant(Computed("min", (FactTerm("n_features"), Literal(50))), TABLE) == 8
    assert constant(Literal("x"), None) == "x"


# --- traits -----------------------------------------------------------------------------------------------------------


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(spaces(finite=False), st.lists(st.builds(Requirement, conditions, st.none() | conditions), max_size=3))
def test_what_is_seen_decides_as_the_whole_model_does(space: Space, requirements: list[Requirement]) -> None:
    codec = space_to_codec(Space(space.root, (), space.facts))
    abstraction = Abstraction(requirements, FACTS)
    for model in codec.decode(np.random.default_rng(0).random((10, codec.n_dimensions))):
        assert isinstance(model, Model)
        for parts in (
            (),
            (("one:p", model.steps[:1]), ("one:q", model.steps)),
            (("one:p", ()), ("one:p", model.steps)),
        ):
            derivation = Derivation(model, parts)
            expected = broken(requirements, derivation, FACTS)
            assert (abstraction.first_broken(abstraction.traits(derivation)) is None) == (expected is None)


def test_the_outcome_of_a_part() -> None:
    """The block if it is one step, None without steps, and no block's if there are several or branches."""
    pca, svc = BlockValue(PCA, ()), BlockValue(SVC, ())
    assert outcome_of((pca,)) == PCA.key
    assert outcome_of(()) is None
    assert outcome_of((pca, svc)) is False
    assert outcome_of((Branches(((pca,), (svc,))),)) is False
