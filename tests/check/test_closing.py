"""`=` closes a parameter and everything inside its value; `:` opens what the value declares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.space.canonical.digest import space_digest
from msl.space.membership import Membership
from msl.space.resolve import resolve
from msl.space.spec import Space
from msl.space.to_text import model_to_text, node_to_text
from specs import TABLE, checked, codes, only_error, sound

#: A kernel with parameters, one of which has alternatives with parameters of their own.
KERNELS = """block one: learner "mine:One" {
  kernel: linear | rbf(gamma: real 0.1..1 default 0.5, bend: soft(edge: int 1..4) | hard default soft) default linear,
  c: int 1..3,
}
"""
ADA = 'use sklearn\nblock ada: learner "sklearn.ensemble:AdaBoost*" { estimator: any sklearn.learner, n: int 1..50 }\n'


def space(text: str) -> Space:
    return resolve(sound(text).space, TABLE)[0]


def dimensions(text: str) -> int:
    return space_to_codec(space(text)).n_dimensions


def same(text: str, other: str) -> bool:
    return space_digest(sound(text).space) == space_digest(sound(other).space)


@pytest.mark.parametrize(
    ("use", "closed"),
    [
        ("one(c = 1, kernel = rbf)", "one(c = 1, kernel = rbf(gamma = 0.5, bend = soft(edge = 1)))"),
        ('one(c = 1, kernel = "rbf")', "one(c = 1, kernel = rbf(gamma = 0.5, bend = soft(edge = 1)))"),
        ("one(rbf, 1)", "one(c = 1, kernel = rbf(gamma = 0.5, bend = soft(edge = 1)))"),
        (
            "one(c = 1, kernel = rbf(gamma: 0.2..0.4))",
            "one(c = 1, kernel = rbf(gamma: 0.2..0.4, bend = soft(edge = 1)))",
        ),
        ("one(c = 1, kernel = rbf(bend = soft))", "one(c = 1, kernel = rbf(gamma = 0.5, bend = soft(edge = 1)))"),
        (
            "one(c = 1, kernel = rbf(bend: soft))",
            "one(c = 1, kernel = rbf(gamma = 0.5, bend = soft(edge: 1..4)))",
        ),
        (
            "one(c = 1, kernel: rbf(bend = soft))",
            "one(c = 1, kernel = rbf(gamma: 0.1..1, bend = soft(edge = 1)))",
        ),
        (
            "one(c = 1, kernel: rbf)",
            "one(c = 1, kernel = rbf(gamma: 0.1..1, bend: soft(edge: 1..4) | hard))",
        ),
        (
            "one(c = 1, kernel: linear | rbf(gamma = 0.3))",
            "one(c = 1, kernel: linear | rbf(gamma = 0.3, bend: soft | hard))",
        ),
    ],
)
def test_what_is_inside_a_value_follows_its_sign(use: str, closed: str) -> None:
    assert same(f"{KERNELS}chain m = {use}", f"{KERNELS}chain m = {closed}")


def test_a_closed_value_has_no_dimension() -> None:
    assert dimensions("use sbm\nchain m = knn(distance = minkowski, rest = default)") == 0
    assert dimensions("use sbm\nchain m = knn(distance: minkowski, rest = default)") == 1


def test_a_block_that_is_a_value_is_closed_or_open() -> None:
    assert dimensions(f"{ADA}chain m = ada(estimator = decision_tree, n = 3)") == 0
    assert dimensions(f"{ADA}chain m = ada(estimator = decision_tree(max_depth: 1..3), n = 3)") == 1
    assert dimensions(f"{ADA}chain m = ada(estimator: decision_tree, n = 3)") == dimensions(
        "use sklearn\nchain m = decision_tree"
    )


def test_a_derived_block_closes_too() -> None:
    text = f"{KERNELS}block two = one {{ kernel = rbf, c = 1 }}\n"
    assert dimensions(f"{text}chain m = two") == 0
    opened = f"{KERNELS}block two = one {{ kernel: rbf, c = 1 }}\n"
    assert same(f"{opened}chain m = two", f"{KERNELS}chain m = one(kernel: rbf, c = 1)")


def test_parts_of_catalogues_are_as_open_as_they_were_released() -> None:
    for part, inside in (("lvq_classifier", "epochs"), ("gaussian_classifier", "width"), ("rbf_like", "overlap")):
        assert f"{inside}: " in node_to_text(sound(f"use sbm\nchain m = {part}").space.root)


@pytest.mark.parametrize(
    "use",
    [
        "kernel = rbf(rest = default)",
        "kernel = rbf(gamma = 0.5, bend = hard)",
        "kernel = rbf(gamma: 0.2..0.3, bend = hard)",
        "kernel = linear",
        "kernel: rbf",
    ],
)
def test_nothing_is_reported_where_nothing_was_open(use: str) -> None:
    assert "MSL242" not in codes(f"{KERNELS}chain m = one(c = 1, {use})")


@pytest.mark.parametrize("use", ["kernel = rbf", "kernel = rbf(gamma = 0.5)", "kernel = rbf(gamma: 0.2..0.3)"])
def test_the_old_form_is_told_of(use: str) -> None:
    assert codes(f"{KERNELS}chain m = one(c = 1, {use})") == ["MSL242"]


def test_a_start_and_a_model_close_without_a_word() -> None:
    text = "use sbm\nchain m = knn\nsearch best_first(start = knn(distance = minkowski))"
    assert "MSL242" not in codes(text)
    model, problems = text_to_model("knn(k = 3, distance = minkowski, weighting = uniform)", Source("s", "use sbm\n"))
    assert model is not None
    assert not problems
    assert model_to_text(model) == "knn(distance = minkowski(alpha = 3.0), k = 3, weighting = uniform)"


def test_what_a_used_file_means_is_told_too() -> None:
    files = {"part.msl": "use sbm\npart near = knn(distance = minkowski, rest = default)\n"}
    spec = Source("main.msl", 'use "part.msl"\nchain m = near\n', "main.msl")
    found = check_source(spec, read_file=lambda path: files[path])
    assert [d.code for d in found.changed_meanings] == ["MSL242"]


@pytest.mark.parametrize(
    "use", ["kernel: linear", "kernel: rbf(rest = default)", "kernel: rbf(gamma = 1, bend = hard)"]
)
def test_a_colon_wants_something_open(use: str) -> None:
    assert only_error(f"{KERNELS}chain m = one(c = 1, {use})").code == "MSL087"


def test_a_default_keeps_room_for_a_use_to_narrow_it() -> None:
    text = f"{KERNELS.replace('default linear', 'default rbf')}chain m = one(c = 1, kernel: rbf(gamma: 0.6..0.9))"
    assert checked(text).spec is not None
    root = sound(f"{KERNELS.replace('default linear', 'default rbf')}chain m = one(c = 1, rest = default)").space.root
    assert "gamma = 0.5" in node_to_text(root)


GAMMA = st.sampled_from(["", "gamma = 0.3", "gamma: 0.2..0.4"])
BEND = st.sampled_from(["", "bend = soft", "bend = hard", "bend: soft", "bend = soft(edge: 2..3)", "bend: soft | hard"])


@given(sign=st.sampled_from([" =", ":"]), gamma=GAMMA, bend=BEND, rest=st.sampled_from(["", "rest = default"]))
def test_a_space_prints_as_itself_and_holds_its_models(sign: str, gamma: str, bend: str, rest: str) -> None:
    inside = ", ".join(filter(None, (gamma, bend, rest)))
    text = f"{KERNELS}chain m = one(c = 1, kernel{sign} rbf({inside}))"
    if checked(text).spec is None:
        assert sign == ":"  # nothing was left to open
        return
    root = sound(text).space.root
    printed = f"{KERNELS}chain m = {node_to_text(root)}"
    assert same(text, printed)
    assert "MSL242" not in codes(printed)  # what is printed says all that it means
    codec = space_to_codec(space(text))
    model = codec.model([0.3] * codec.n_dimensions)
    assert text_to_model(model_to_text(model), Source("s", KERNELS))[0] == model
    Membership(space(text)).derive(model)
