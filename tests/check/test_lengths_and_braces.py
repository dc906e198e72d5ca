"""Vectors as long as a parameter says, and alternatives with names of their own, from the text to the class."""

from __future__ import annotations

import numpy as np
import pytest

from msl.blocks.base.recipes import flat_parameters
from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.language.formatter import format_source
from msl.space.canonical.digest import space_digest
from msl.space.diff.compare import diff_spaces
from msl.space.enumerate.count import Models, count
from msl.space.membership import Membership, NotInSpace
from msl.space.spec import Space
from msl.space.to_text import model_to_text
from msl.space.values import BlockValue, Model
from specs import TABLE

NET = """block net: learner "mine:Net" {
  n_layers: int 1..3,
  units: vector(n_layers) of int 8..10 default 9,
  first: conv { width: 3 | 5, act: relu { slope: 1 | 2 } | tanh {} } | dense { units: int 16..18 },
  others: vector(n_layers - 1) of (conv { width: 3 | 5 } | dense { units: 1 | 2 } | pool {}),
  rate: 1 | 2 if first.width > 3,
}
"""


def space_of(text: str) -> Space:
    checked = check_source(Source("net.msl", text), TABLE)
    assert checked.spec is not None, [diagnostic.message for diagnostic in checked.diagnostics]
    return checked.spec.space


def with_net(chain: str) -> Space:
    return space_of(f"{NET}chain model = {chain}\n")


def test_the_count_is_the_sum_over_lengths() -> None:
    others = 5  # two of conv, two of dense, and pool
    first = 3 + 3 * 2 + 3  # conv of 3, conv of 5 with a rate, dense
    assert count(with_net("net")).models == first * sum(3**n * others ** (n - 1) for n in (1, 2, 3))


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_a_model_is_the_same_after_its_vector_and_after_its_text(encoding: str) -> None:
    space = with_net("net")
    codec = space_to_codec(space, encoding)  # type: ignore[arg-type]
    vectors = np.random.default_rng(0).random((300, codec.layout.n_dimensions))
    for model in map(codec.model, vectors):
        assert codec.model(codec.encode(model)) == model
        assert text_to_model(model_to_text(model), Source("net.msl", NET)) == (model, [])


def test_elements_beyond_the_length_are_out_of_use() -> None:
    space = with_net("net(first = dense { units = 16 }, others: vector(n_layers - 1) of pool {}, rate = 1)")
    codec = space_to_codec(space, "shared")
    assert codec.layout.n_dimensions == 1 + 3
    assert codec.decode(np.zeros((1, 4))).active[0].tolist() == [True, True, False, False]
    assert codec.decode(np.ones((1, 4))).active[0].tolist() == [True] * 4


def test_the_class_gets_tuples_and_dictionaries() -> None:
    given = "net(n_layers = 2, units = [8, 10], first = conv { width = 3, act = tanh {} }, others = [pool {}])"
    model, _ = text_to_model(given, Source("net.msl", NET))
    assert model is not None
    step = model.steps[0]
    assert isinstance(step, BlockValue)
    assert flat_parameters(step) == {
        "n_layers": 2,
        "units": (8, 10),
        "first": {"name": "conv", "width": 3, "act": {"name": "tanh"}},
        "others": ({"name": "pool"},),
    }


def test_a_list_of_another_length_is_no_model() -> None:
    space, longer = with_net("net(n_layers = 1)"), with_net("net(n_layers = 2)")
    model = next(iter(Models(longer)))
    with pytest.raises(NotInSpace):
        Membership(space).derive(model)
    block = model.steps[0]
    assert isinstance(block, BlockValue)
    params = tuple((name, 1 if name == "n_layers" else value) for name, value in block.params)
    with pytest.raises(NotInSpace, match="has 2 elements, but needs 1"):
        Membership(with_net("net")).derive(Model((BlockValue(block.block, params),)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("net(n_layers = 2)", "net(n_layers = 2, units: [8..10, 8..10])"),
        ("net(first: conv)", "net(first: conv { width = 3 } | conv { width = 5 })"),
    ],
)
def test_the_same_models_have_the_same_digest(one: str, other: str) -> None:
    assert diff_spaces(with_net(one), with_net(other)) == ()
    assert space_digest(with_net(one)) == space_digest(with_net(other))


def test_lengths_one_by_one_are_the_same_models() -> None:
    assert diff_spaces(with_net("net(n_layers: 1..2)"), with_net("net(n_layers = 1) | net(n_layers = 2)")) == ()


def test_differences_inside_are_told() -> None:
    changes = diff_spaces(with_net("net"), with_net("net(units: vector(n_layers) of 8..9)"))
    assert [(change.path, change.old_text, change.new_text) for change in changes] == [
        (("net", "units"), "int 8..10", "int 8..9")
    ]


def test_the_rest_is_closed_at_one_value_for_every_length() -> None:
    models = list(Models(with_net("net(n_layers: 1..3, first = dense, rest = default)")))
    assert {dict(model.steps[0].params)["units"] for model in models} == {(9,), (9, 9), (9, 9, 9)}  # type: ignore[union-attr]


def test_a_requirement_reaches_inside() -> None:
    free, bound = with_net("net"), space_of(f"{NET}chain model = net\nrequire net.first.width < 5")
    assert count(bound).models == count(free).models * 6 // 12  # type: ignore[operator]


def test_a_vector_does_not_exist_without_its_length() -> None:
    text = 'block a: learner "m:A" { deep: bool, n: int 1..2 if deep, u: vector(n) of bool }\nchain model = a'
    assert count(space_of(text)).models == 1 + 2 + 4


def test_a_derived_block_may_change_the_length_and_the_elements() -> None:
    text = f"{NET}block wide = net {{ n_layers: int 2..4, units: vector(n_layers) of int 1..2 }}\nchain model = wide"
    lengths = {len(dict(model.steps[0].params)["units"]) for model in Models(space_of(text))}  # type: ignore[union-attr,arg-type]
    assert lengths == {2, 3, 4}
    wrong = f"{NET}block wide = net {{ n_layers: int 0..4 }}\nchain model = wide"
    assert [d.code for d in check_source(Source("net.msl", wrong)).diagnostics] == ["MSL187"]


def test_layout_and_comments_survive_formatting() -> None:
    text = NET.replace("n_layers: int 1..3,", "n_layers: int 1..3,  # depth").replace("tanh {}", "tanh {  }")
    once = format_source(Source("net.msl", text))[0]
    assert "# depth" in once
    assert once.count("tanh {}") == 1
    assert format_source(Source("net.msl", once)) == (once, [])
