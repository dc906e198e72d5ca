"""Samples and grids: without bias, without repetition, and with a reason where there is nothing to find."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from example_spaces import block, choice, kms, psms, seq, use
from generators import FACTS, spaces
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from msl.encode.codec import Codec, space_to_codec
from msl.encode.sample import AlmostEmpty, enumerate_models, sample
from msl.space.conditions import (
    AllOf,
    Comparison,
    Computed,
    Literal,
    Negation,
    Parameter,
    PartIs,
    Present,
    Requirement,
)
from msl.space.enumerate.count import Models, count
from msl.space.formulas import Facts
from msl.space.nodes import (
    Empty,
    IntRange,
    Marked,
    Permute,
    RealRange,
    Regions,
    Vector,
)
from msl.space.resolve import resolve
from msl.space.spec import Space
from msl.space.values import Model

TABLE = Facts(n_samples=200, n_features=30, n_classes=2, task="classification")
#: Each test of chance alone would fail once in a thousand seeds; the generated ones, of which there are many, less.
LEVEL = 0.001
A, B, SVC = block("a"), block("b"), block("svc", "learner")


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _names(model: object) -> tuple[str, ...]:
    assert isinstance(model, Model)
    return tuple(step.block.name for step in model.steps)  # type: ignore[union-attr]


# --- every model as likely --------------------------------------------------------------------------------------------

uneven = seq(
    Permute((choice(use("a", n=IntRange(1, 3)), Empty()), choice(use("b"), use("c"), Empty()))),
    choice(use(SVC, degree=IntRange(1, 5)), use(SVC, degree=IntRange(3, 6)), use("nb")),
)
rule = Requirement(Comparison("<", Parameter(SVC, "degree"), Literal(5)), Present(A))


@pytest.mark.slow
@pytest.mark.parametrize("requirements", [(), (rule,)])
@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_by_models_every_model_is_as_likely(requirements: tuple[Requirement, ...], encoding: str) -> None:
    codec = space_to_codec(Space(uneven, requirements), encoding)
    every = list(enumerate_models(codec))
    seen = dict.fromkeys(every, 0)
    for model in sample(codec, 30 * len(every), _rng(4), by="models"):
        seen[model] += 1
    assert chisquare(list(seen.values())).pvalue > LEVEL


@pytest.mark.slow
def test_by_choices_models_are_not_as_likely() -> None:
    codec = space_to_codec(Space(uneven))
    seen = dict.fromkeys(enumerate_models(codec), 0)
    for model in sample(codec, 30 * len(seen), _rng(4)):
        seen[model] += 1
    assert chisquare(list(seen.values())).pvalue < 1e-6


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(spaces(), st.integers(0, 3))
def test_by_models_on_generated_spaces(space: Space, seed: int) -> None:
    number = count(space).models
    assert number is not None
    assume(4 <= number <= 40)
    codec = space_to_codec(space)
    assume(not codec.is_steered)  # with weights, models are not equally likely (tests/encode/test_priors.py)
    seen = Counter(repr(model) for model in sample(codec, 25 * number, _rng(seed), by="models"))
    assert len(seen) <= number
    assert chisquare([*seen.values(), *[0] * (number - len(seen))]).pvalue > LEVEL / 100


@pytest.mark.slow
def test_where_telling_apart_is_too_costly_models_are_drawn_and_rejected() -> None:
    product = Computed("*", (Parameter(A, "x"), Parameter(B, "y")))
    limit = Requirement(Comparison("<=", product, Literal(250_000)))
    chain = seq(use(A, x=IntRange(1, 1_000)), use(B, y=IntRange(1, 1_000)))
    codec = space_to_codec(Space(chain, (limit,)))
    xs = [dict(model.steps[0].params)["x"] for model in sample(codec, 600, _rng(1), by="models")]  # type: ignore[union-attr]
    weights = np.array([min(1_000, 250_000 // x) for x in range(1, 1_001)])
    below = np.array([(np.array(xs) <= edge).mean() for edge in (100, 250, 500)])
    expected = np.array([weights[:edge].sum() / weights.sum() for edge in (100, 250, 500)])
    np.testing.assert_allclose(below, expected, atol=0.06)


def test_open_reals_are_uniform_on_their_scale_and_all_else_as_likely() -> None:
    root = choice(use("a", g=RealRange(1e-4, 100, log=True)), use("b", n=IntRange(1, 3)))
    cut = Requirement(Comparison("!=", Parameter(A, "g"), Literal(50)))
    models = sample(space_to_codec(Space(root, (cut,))), 2_000, _rng(2), by="models").models()
    seen = Counter(_names(model) for model in models)
    assert chisquare([seen[("a",)], seen[("b",)]], [500, 1_500]).pvalue > LEVEL
    logs = [np.log10(dict(m.steps[0].params)["g"]) for m in models if _names(m) == ("a",)]  # type: ignore[union-attr]
    assert kstest((np.array(logs) + 4) / 6, "uniform").pvalue > LEVEL


@pytest.mark.parametrize("edges", [(), (3,), (3, 5, 7, 11)])
def test_a_requirement_that_rejects_next_to_nothing_changes_no_draw_by_models(edges: tuple[int, ...]) -> None:
    """Each edge parts an open real in three, as requirements see it; the pieces are no models of their own."""
    root = choice(use("a", g=RealRange(1, 100)), use("b", n=IntRange(1, 3)))
    cuts = tuple(Requirement(Comparison("!=", Parameter(A, "g"), Literal(edge))) for edge in edges)
    drawn = sample(space_to_codec(Space(root, cuts)), 200, _rng(7), by="models").models()
    assert drawn == sample(space_to_codec(Space(root)), 200, _rng(7), by="models").models()
    assert 25 < sum(_names(model) == ("a",) for model in drawn) < 75, "one in four, as `b` is three"


def test_where_requirements_leave_no_real_the_few_models_that_are_left_are_found() -> None:
    """One in ten thousand of what the structure allows: drawing and rejecting would hardly find it."""
    root = seq(choice(use("a", g=RealRange(1, 100)), Empty()), *(use(f"s{i}", n=IntRange(1, 100)) for i in range(2)))
    sevens = tuple(Requirement(Comparison("==", Parameter(block(f"s{i}"), "n"), Literal(7))) for i in range(2))
    codec = space_to_codec(Space(root, (Requirement(Negation(Present(A))), *sevens)))
    (model,) = set(sample(codec, 20, _rng(8), by="models").models())
    assert _names(model) == ("s0", "s1")


# --- every choice as likely -------------------------------------------------------------------------------------------


def test_by_choices_every_option_is_as_likely() -> None:
    space, _ = resolve(psms(), TABLE)
    batch = sample(space_to_codec(space), 3_000, _rng(5))
    learners = Counter(_names(model)[-2] for model in batch)
    assert len(learners) == 10
    assert chisquare(list(learners.values())).pvalue > LEVEL


@pytest.mark.slow
def test_by_choices_with_requirements_is_uniform_among_the_points_that_are_left() -> None:
    space, _ = resolve(kms(), TABLE)
    batch = sample(space_to_codec(space), 3_000, _rng(6))
    assert batch.feasible().all()
    names = ("density", "fft", "random_rows", "kmeans")
    seen = Counter(dict(model.steps[0].params)["references"].block.name for model in batch)  # type: ignore[union-attr]
    expected = np.array([4, 4, 4, 1]) * 3_000 / 13  # kmeans goes with one of two points and one of two distances
    assert chisquare([seen[name] for name in names], expected).pvalue > LEVEL


@pytest.mark.parametrize("by", ["choices", "models"])
def test_a_seed_gives_one_sample(by: str) -> None:
    codec = space_to_codec(resolve(kms(), TABLE)[0])
    first, second, other = (sample(codec, 40, _rng(seed), by=by).models() for seed in (3, 3, 4))
    assert first == second != other
    assert len(first) == 40
    assert sample(codec, 0, _rng(), by=by).models() == []


@pytest.mark.slow
def test_samples_and_grids_do_not_depend_on_hashes() -> None:
    script = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from itertools import islice
from example_spaces import everything
from generators import FACTS
from msl.encode.codec import space_to_codec
from msl.encode.sample import enumerate_models
from msl.encode.sample import sample
from msl.space.resolve import resolve
codec = space_to_codec(resolve(everything(), FACTS)[0])
print(sample(codec, 30, np.random.default_rng(0), by="models").models())
print(list(islice(enumerate_models(codec, steps=2), 200)))
"""
    folder = str(Path(__file__).parents[1] / "space")
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script, folder],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1_000


def test_wrong_ways_to_ask() -> None:
    codec = space_to_codec(Space(use("a")))
    with pytest.raises(ValueError, match="0 models or more"):
        sample(codec, -1, _rng())
    with pytest.raises(ValueError, match="by `choices` or by `models`"):
        sample(codec, 1, _rng(), by="luck")  # type: ignore[arg-type]


# --- (almost) empty spaces --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["choices", "models"])
def test_an_empty_space_is_explained(by: str) -> None:
    never = Requirement(Negation(Present(SVC)), text="not svc")
    seldom = Requirement(Comparison("<", Parameter(SVC, "degree"), Literal(3)), text="svc.degree < 3")
    codec = space_to_codec(Space(use(SVC, degree=IntRange(1, 3)), (seldom, never)))
    with pytest.raises(AlmostEmpty, match=r"is empty: no model.*`not svc` .*`svc.degree < 3`") as caught:
        sample(codec, 5, _rng(), by=by)
    assert sum(caught.value.rejected.values()) > 0


def _needle() -> Codec:
    steps = tuple(use(block(f"s{i}"), n=IntRange(1, 100)) for i in range(4))
    wanted = AllOf(tuple(Comparison("==", Parameter(block(f"s{i}"), "n"), Literal(7)) for i in range(4)))
    return space_to_codec(Space(seq(*steps), (Requirement(wanted, text="all are 7"),)))


@pytest.mark.slow
def test_an_almost_empty_space_is_explained() -> None:
    with pytest.raises(AlmostEmpty, match=r"almost empty: 1 models are left, and 0 of .*`all are 7`"):
        sample(_needle(), 3, _rng())


def test_by_models_the_needle_is_found() -> None:
    batch = sample(_needle(), 3, _rng(), by="models")
    assert [dict(step.params)["n"] for step in batch[0].steps] == [7, 7, 7, 7]  # type: ignore[union-attr]


# --- all models in turn -----------------------------------------------------------------------------------------------


def test_the_grid_of_the_kernel_space() -> None:
    codec = space_to_codec(resolve(kms(), TABLE)[0])
    every = list(enumerate_models(codec))
    assert len(every) == len(set(every)) == 4_420
    vectors = np.array([codec.encode(model) for model in every[::37]])
    assert codec.decode(vectors).models() == every[::37]


def test_a_grid_over_reals() -> None:
    codec = space_to_codec(
        Space(use("a", g=RealRange(1e-2, 1, log=True), c=Regions(2, 1), w=Vector(2, RealRange(0, 1))))
    )
    every = list(enumerate_models(codec, steps=3))
    assert len(every) == len(set(every)) == 3 * (4**2 - 1) * 9
    assert all(codec.model(codec.encode(model)) == model for model in every[::11])
    with pytest.raises(ValueError, match="a real is open"):
        enumerate_models(codec)
    with pytest.raises(ValueError, match="1 value or more"):
        enumerate_models(codec, steps=0)


def test_a_grid_is_lazy() -> None:
    codec = space_to_codec(resolve(psms(), TABLE)[0])
    assert len(set(islice(enumerate_models(codec, steps=4), 300))) == 300


@pytest.mark.slow
def test_a_grid_where_telling_apart_is_too_costly() -> None:
    product = Computed("*", (Parameter(A, "x"), Parameter(B, "y")))
    limit = Requirement(Comparison("<=", product, Literal(4)))
    chain = seq(use(A, x=IntRange(1, 1_000)), use(B, y=IntRange(1, 1_000)))
    found = list(islice(enumerate_models(space_to_codec(Space(chain, (limit,)))), 6))
    pairs = [tuple(value for step in model.steps for _, value in step.params) for model in found]  # type: ignore[union-attr]
    assert pairs == [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2)]


def test_a_grid_honours_what_parts_come_to() -> None:
    part = Marked("x:p", choice(use("a"), use("b"), Empty()))
    wanted = Requirement(PartIs("x:p", (None, B)))
    codec = space_to_codec(Space(seq(part, use("c")), (wanted,), FACTS))
    assert {_names(model) for model in enumerate_models(codec)} == {("b", "c"), ("c",)}
    assert Models(codec.space).number == 2
