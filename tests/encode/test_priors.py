"""Priors and weights steer draws, never what is in the space: distributions against independent computations."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from generators import MAPPER, SCALER, spaces
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, truncnorm

from msl.encode.codec import Codec, space_to_codec
from msl.encode.priors import ByPrior, ByWeight, prior_of
from msl.encode.sample import sample
from msl.encode.scale import scale_of
from msl.space.canonical.digest import space_digest
from msl.space.conditions import Comparison, Literal, Parameter, Requirement, Sibling
from msl.space.diff.compare import diff_spaces
from msl.space.enumerate.count import count
from msl.space.nodes import (
    BlockUse,
    Choice,
    Const,
    Empty,
    IntRange,
    Node,
    Param,
    Prior,
    RealRange,
    Sequence,
    Vector,
    rebuilt,
)
from msl.space.spec import Space
from msl.space.to_text import node_to_text
from msl.space.values import Model

NORMAL, LOGNORMAL = Prior("normal", 4, 1.5), Prior("lognormal", 4, 0.8)


def _rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def _codec(root: Node, *requirements: Requirement, encoding: str = "shared") -> Codec:
    return space_to_codec(Space(root, requirements), encoding)  # type: ignore[arg-type]


def _fits(found: Counter[object], expected: dict[object, float]) -> bool:
    """A chi-square test that one seed in a thousand fails; every model that was drawn must be expected."""
    assert set(found) <= set(expected)
    total = sum(found.values())
    chances = {key: share / math.fsum(expected.values()) for key, share in expected.items()}
    statistic = sum((found[key] - total * share) ** 2 / (total * share) for key, share in chances.items())
    return bool(statistic < chi2.ppf(0.999, len(chances) - 1))


def _chances(numbers: list[int], prior: Prior) -> dict[int, float]:
    """The probability of what rounds to each number."""
    if prior.kind == "normal":
        cdf = truncnorm(-np.inf, np.inf, loc=prior.centre, scale=prior.spread).cdf
        return {n: cdf(n + 0.5) - cdf(n - 0.5) for n in numbers}
    cdf = truncnorm(-np.inf, np.inf, loc=math.log(prior.centre), scale=prior.spread).cdf  # type: ignore[arg-type]
    return {n: cdf(math.log(n + 0.5)) - cdf(math.log(n - 0.5)) for n in numbers}


def _with_u(node: Node) -> BlockUse:
    return BlockUse(SCALER, (Param("u", node),))


def _u(model: object) -> object:
    assert isinstance(model, Model)
    return dict(model.steps[0].params)["u"]  # type: ignore[union-attr]


# --- one range --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("prior", [NORMAL, LOGNORMAL])
def test_whole_numbers_follow_their_prior_whatever_the_scale(prior: Prior, log: bool) -> None:
    codec = _codec(_with_u(IntRange(1, 9, log=log, prior=prior)))
    drawn = Counter(map(_u, sample(codec, 20_000, _rng())))
    assert _fits(drawn, dict(_chances(list(range(1, 10)), prior)))


def test_chances_are_those_of_what_rounds_to_each_level() -> None:
    node = IntRange(1, 9, log=True, prior=LOGNORMAL)
    expected = _chances(list(range(1, 10)), LOGNORMAL)
    steer = prior_of(node, scale_of(node))
    assert steer is not None
    np.testing.assert_allclose(steer.chances(), np.array(list(expected.values())) / sum(expected.values()))


@pytest.mark.parametrize(
    ("node", "value_of"),
    [
        (RealRange(0, 1, prior=Prior("normal", 0.3, 0.2)), lambda x: x),
        (RealRange(1e-4, 100, log=True, prior=Prior("lognormal", 0.1, 2)), math.log),
        (RealRange(0.5, 100, prior=Prior("lognormal", 3, 1)), math.log),
    ],
)
def test_reals_have_the_quantiles_of_a_truncated_normal(node: RealRange, value_of: object) -> None:
    assert node.prior is not None
    shares = np.linspace(0, 1, 101)
    codec = _codec(_with_u(node))
    found = [_u(model) for model in codec.decode(codec.steered(shares[:, None]))]
    ends = [value_of(node.low), value_of(node.high), value_of(node.prior.centre)]  # type: ignore[operator]
    if node.prior.kind == "normal":
        ends[2] = node.prior.centre
    low, high = ((end - ends[2]) / node.prior.spread for end in ends[:2])
    expected = truncnorm(low, high, loc=ends[2], scale=node.prior.spread).ppf(shares)
    np.testing.assert_allclose([value_of(x) for x in found], expected, rtol=1e-6, atol=1e-9)  # type: ignore[operator]


@pytest.mark.parametrize("centre", [-1e6, -50.0, 0.5, 60.0, 1e6])
@pytest.mark.parametrize("spread", [1e-9, 1e-3, 1.0, 1e9])
def test_priors_far_outside_or_very_narrow_are_no_trouble(centre: float, spread: float) -> None:
    node = RealRange(0, 1, prior=Prior("normal", centre, spread))
    found = ByPrior(node.prior, scale_of(node), False)(np.linspace(0, 1, 11))  # type: ignore[arg-type]
    assert np.all((found >= 0) & (found <= 1))
    assert np.all(np.diff(found) >= 0)


def test_steps_and_vectors_follow_their_prior() -> None:
    prior = Prior("normal", 0.2, 0.15)
    cdf = truncnorm(-np.inf, np.inf, loc=0.2, scale=0.15).cdf
    expected = {x: cdf(x + 0.125) - cdf(x - 0.125) for x in (0.0, 0.25, 0.5, 0.75, 1.0)}
    stepped = RealRange(0, 1, step=0.25, prior=prior)
    assert _fits(Counter(map(_u, sample(_codec(_with_u(stepped)), 20_000, _rng()))), dict(expected))
    rows = sample(_codec(_with_u(Vector(3, stepped))), 5_000, _rng())
    assert _fits(Counter(value for row in rows for value in _u(row)), dict(expected))  # type: ignore[attr-defined]


# --- choices ----------------------------------------------------------------------------------------------------------


def test_weights_steer_choices_and_multiply_where_they_nest() -> None:
    inner = Choice((Const("a"), Const("b")), (2.0, 1.0))
    codec = _codec(_with_u(Choice((inner, Const("c")), (3.0, 1.0))))
    assert _fits(Counter(map(_u, sample(codec, 20_000, _rng()))), {"a": 6, "b": 3, "c": 1})


def test_a_weighted_share_keeps_its_place_in_the_option() -> None:
    found = ByWeight((3.0, 1.0))(np.array([0.0, 0.375, 0.7499, 0.75, 0.875, 1.0]))
    np.testing.assert_allclose(found, [0, 0.25, 0.49993, 0.5, 0.75, 1.0], atol=1e-4)


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_alternatives_that_share_a_dimension_keep_their_own_priors(encoding: str) -> None:
    low, high = Prior("normal", 1, 0.6), Prior("normal", 4, 0.6)
    root = Choice(
        (
            BlockUse(SCALER, (Param("u", IntRange(1, 4, prior=low)),)),
            BlockUse(MAPPER, (Param("u", IntRange(1, 4, prior=high)),)),
        ),
        (1.0, 2.0),
    )
    drawn = Counter((m.steps[0].block.name, _u(m)) for m in sample(_codec(root, encoding=encoding), 20_000, _rng()))  # type: ignore[union-attr]
    expected: dict[object, float] = {}
    for name, prior, weight in (("scaler", low, 1), ("mapper", high, 2)):
        chances = _chances([1, 2, 3, 4], prior)
        total = sum(chances.values())
        expected |= {(name, n): weight * share / total for n, share in chances.items()}
    assert _fits(drawn, expected)


def test_only_fresh_numbers_are_steered() -> None:
    codec = _codec(Sequence((_with_u(RealRange(0, 1, prior=Prior("normal", 0.9, 0.01))),) * 2))
    points = _rng().random((50, 2))
    fresh = np.array([[True, False]] * 50)
    steered = codec.steered(points, fresh)
    assert np.all(abs(steered[:, 0] - 0.9) < 0.05)
    np.testing.assert_array_equal(steered[:, 1], points[:, 1])


# --- draws of models --------------------------------------------------------------------------------------------------


def _weights_of_models(prior: Prior) -> dict[object, float]:
    """Two steps, the first with a prior, the second weighted or absent, each model by the product of its factors."""
    chances = _chances([1, 2, 3], prior)
    total = sum(chances.values())
    seconds = {("mapper", "x"): 4.0, ("mapper", "y"): 1.0 * 4.0, (): 0.5}
    return {(n, s): 3 * chances[n] / total * w for n, (s, w) in product(chances, seconds.items())}


def _two_steps(prior: Prior) -> Node:
    mapper = BlockUse(MAPPER, (Param("v", Choice((Const("x"), Const("y")))),))
    return Sequence((_with_u(IntRange(1, 3, prior=prior)), Choice((mapper, Empty()), (4.0, 0.5))))


def _key(model: object) -> object:
    assert isinstance(model, Model)
    second = model.steps[1:]
    return _u(model), (second[0].block.name, second[0].params[0][1]) if second else ()  # type: ignore[union-attr]


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_by_models_a_model_is_as_likely_as_its_factors_say(encoding: str) -> None:
    prior = Prior("normal", 2.5, 0.7)
    drawn = sample(_codec(_two_steps(prior), encoding=encoding), 6_000, _rng(), by="models")
    assert _fits(Counter(map(_key, drawn)), _weights_of_models(prior))


def test_by_models_requirements_leave_the_proportions_of_the_rest() -> None:
    prior = Prior("normal", 2.5, 0.7)
    rule = Requirement(Comparison(">=", Parameter(SCALER, "u"), Literal(2)))
    drawn = sample(_codec(_two_steps(prior), rule), 6_000, _rng(), by="models")
    expected = {key: share for key, share in _weights_of_models(prior).items() if key[0] >= 2}  # type: ignore[index]
    assert _fits(Counter(map(_key, drawn)), expected)


def test_by_models_conditional_parameters_count_as_often_as_they_exist() -> None:
    prior = Prior("normal", 3, 1)
    params = (
        Param("u", IntRange(1, 3, prior=prior)),
        Param("v", IntRange(1, 4), condition=Comparison("==", Sibling("u"), Literal(3))),
    )
    chances = _chances([1, 2, 3], prior)
    expected: dict[object, float] = {1: chances[1], 2: chances[2], 3: 4 * chances[3]}
    drawn = sample(_codec(BlockUse(SCALER, params)), 6_000, _rng(), by="models")
    assert _fits(Counter(map(_u, drawn)), expected)


# --- the space itself -------------------------------------------------------------------------------------------------


def _plain(node: Node) -> Node:
    def without(one: Node) -> Node:
        match one:
            case IntRange() | RealRange():
                return replace(one, prior=None)
            case Choice():
                return replace(one, weights=(), ordered=False)
            case Vector(element=IntRange() | RealRange() as element):
                return replace(one, element=replace(element, prior=None))
        return one

    return rebuilt(node, without)


@given(spaces())
def test_priors_weights_and_orders_are_no_part_of_the_space(space: Space) -> None:
    plain = replace(space, root=_plain(space.root))
    assert space_digest(plain) == space_digest(space)
    assert count(plain) == count(space)
    assert not diff_spaces(plain, space)
    assert node_to_text(plain.root) == node_to_text(space.root, priors=False)


@given(spaces(finite=False), st.sampled_from(["shared", "separate"]), st.integers(0, 2**32))
def test_steered_points_are_models_of_the_same_cube(space: Space, encoding: str, seed: int) -> None:
    codec = space_to_codec(space, encoding)  # type: ignore[arg-type]
    plain = space_to_codec(replace(space, root=_plain(space.root)), encoding)  # type: ignore[arg-type]
    points = _rng(seed).random((12, codec.n_dimensions))
    steered = codec.steered(points)
    assert np.all((steered >= 0) & (steered <= 1))
    assert [str(one) for one in codec.decode(steered)] == [str(one) for one in plain.decode(steered)]
    np.testing.assert_array_equal(plain.steered(points), points)
    for model in codec.decode(steered):
        if isinstance(model, Model):
            assert codec.decode(codec.encode(model)[None, :])[0] == plain.decode(plain.encode(model)[None, :])[0]
