"""Alternatives with an order: one ordered dimension, and the set of models of the same alternatives without one."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from msl.encode.codec import Codec, space_to_codec
from msl.encode.sample import enumerate_models
from msl.report.changes import orders_to_text
from msl.runner.plan import written_space
from msl.runner.search_space import space_to_search_space
from msl.search.base import Observation
from msl.search.operators.initialise import UnseenPoints
from msl.search.strategies.auto import PatternArm
from msl.search.strategy_context import Setting
from msl.space.canonical.digest import space_digest
from msl.space.diff.compare import diff_spaces
from msl.space.enumerate.count import Models, count
from msl.space.enumerate.equivalence import Relation, relate
from msl.space.spec import Spec
from msl.space.to_text import node_to_text
from specs import errors, only_error, sound

HEAD = """block tree: learner "mine:Tree" {
  pruning: none < light < strong default light,
  depth: 2 < 5 < 10 < none,
  layers: int 1..2,
  widths: vector(layers) of (narrow < "very wide" < true),
  shape: round | square(edge: weak < strong),
}
"""
TEXT = (
    HEAD
    + "part both(p: none < light < strong) = tree(pruning = p, depth = 5, rest = default)\nchain model = tree | both"
)
PLAIN = TEXT.replace(" < ", " | ")


def codec(text: str, encoding: str = "shared") -> Codec:
    return space_to_codec(sound(text).space, encoding)  # type: ignore[arg-type]


def near(text: str, name: str, encoding: str = "shared") -> set[tuple[object, object]]:
    """The pairs of values of a parameter of which one is a neighbour of the other."""
    spec, made = sound(text), codec(text, encoding)
    found = set()
    for model in Models(spec.space):
        vector = made.encode(model)
        for dimension, reader in made.readers(vector).items():
            if reader.meaning.path != f"tree.{name}":
                continue
            for share in reader.near(vector[dimension], 0.1):
                other = vector.copy()
                other[dimension] = share
                moved = made.model(other)
                found.add((dict(model.steps[0].params)[name], dict(moved.steps[0].params)[name]))  # type: ignore[union-attr]
    return found


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_only_neighbours_are_near(encoding: str) -> None:
    text = HEAD + "chain model = tree(layers = 1, widths = [narrow], shape = round)"
    order = [2, 5, 10, None]
    steps = {pair for low, high in pairwise(order) for pair in ((low, high), (high, low))}
    assert near(text, "depth", encoding) == steps
    words = near(text.replace("none < light < strong", "none | light | strong"), "pruning", encoding)
    assert words == {(one, other) for one, other in product([None, "light", "strong"], repeat=2) if one != other}
    assert near(text, "pruning", encoding) == {
        (None, "light"), ("light", None), ("light", "strong"), ("strong", "light"),
    }  # fmt: skip


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_the_space_is_that_of_the_same_alternatives_without_order(encoding: str) -> None:
    spec, plain = sound(TEXT), sound(PLAIN)
    by_hand = 3 * 4 * (3 + 9) * (1 + 2)  # what `both` has is in `tree`
    assert count(spec.space).models == count(plain.space).models == by_hand
    assert space_digest(spec.space) == space_digest(plain.space)
    assert relate(spec.space, plain.space).relation is Relation.SAME
    assert diff_spaces(spec.space, plain.space) == ()
    assert written_space(spec) != written_space(plain)
    made = codec(TEXT, encoding)
    assert len(set(enumerate_models(made))) == by_hand
    for model in list(Models(spec.space))[::7]:
        assert made.model(made.encode(model)) == model


def test_every_dimension_of_an_order_is_ordered() -> None:
    meanings = {(m.path, m.kind, m.levels) for m in codec(TEXT).layout.meanings}
    assert {("tree.pruning", "ordered", 3), ("tree.depth", "ordered", 4), ("both.p", "ordered", 3)} <= meanings
    assert {(f"tree.widths[{place}]", "ordered", 3) for place in (1, 2)} <= meanings
    assert {("tree.edge", "ordered", 2), ("tree.shape", "choice", 2)} <= meanings
    plain = {m.kind for m in codec(PLAIN).layout.meanings if m.path != "tree.layers"}
    assert plain == {"choice"}


@pytest.mark.parametrize("encoding", ["shared", "separate"])
def test_strategies_step_along_an_order(encoding: str) -> None:
    """A pattern search steps up and down an order, and tries every alternative of a plain choice."""
    head = 'block b: learner "m:B" { level: one < two < three < four < five }\nchain m = b\n'
    tried = []
    for text in (head, head.replace(" < ", " | ")):
        space = space_to_search_space(sound(text).space, encoding)  # type: ignore[arg-type]
        middle = Observation(np.array([0.5]), (1.0,))
        arm = PatternArm(Setting(space, {}, np.random.default_rng(0)), UnseenPoints(space, [middle]))
        arm._begin_sweep(middle.vector)
        tried.append(sorted(int(space.cells(arm._changed(middle.vector, *move))[0]) for move in arm._moves))
    assert tried[0] == [0, 4]  # half of the range away
    assert set(tried[1]) >= {0, 1, 3, 4}


@pytest.mark.parametrize(
    ("use", "text"),
    [
        ("pruning: strong | none", "none < strong"),
        ("pruning: light < strong", "light < strong"),
        ("depth: none | 5 | 2", "2 < 5 < none"),
        ("depth: 5 < none", "5 < none"),
    ],
)
def test_a_use_keeps_the_order_of_the_declaration(use: str, text: str) -> None:
    spec = sound(f"{HEAD}chain model = tree({use}, rest = default)")
    name = use.partition(":")[0]
    assert f"{name}: {text}" in node_to_text(spec.space.root)
    assert f"tree.{name}: {text}" in orders_to_text(spec.space.root)


def test_a_derived_block_has_an_order_of_its_own() -> None:
    other = HEAD + "block mine = tree { pruning: strong < light < none, depth: 2 | none }\nchain model = mine"
    orders = orders_to_text(sound(other).space.root)
    assert orders[:2] == ["mine.depth: 2 < none", "mine.pruning: strong < light < none"]


def test_a_text_is_printed_as_it_is_read() -> None:
    spec = sound(TEXT)
    use = node_to_text(sound(HEAD + "chain model = tree").space.root)
    again = sound(f"{HEAD}chain model = {use}")
    assert node_to_text(again.space.root) == use
    assert 'vector(layers) of (narrow < "very wide" < true)' in use
    assert isinstance(spec, Spec)


def test_weights_steer_draws_among_alternatives_with_an_order() -> None:
    text = 'block b: learner "mine:B" { size: small weight 6 < medium < large weight 3 }\nchain model = b'
    made = codec(text)
    drawn = made.decode(made.steered(np.random.default_rng(1).random((4_000, made.n_dimensions))))
    sizes = [dict(model.steps[0].params)["size"] for model in drawn]  # type: ignore[union-attr]
    shares = [sizes.count(size) / len(sizes) for size in ("small", "medium", "large")]
    assert np.allclose(shares, [0.6, 0.1, 0.3], atol=0.03)


@pytest.mark.parametrize(
    ("domain", "code", "words"),
    [
        ("none | light < strong", "MSL205", "if all of them have an order, write `none < light < strong`"),
        ("strong > light > none", "MSL205", "`none < light < strong`"),
        ("light <= strong", "MSL205", "is written `light < strong`"),
        ("2 < 5 < 10", "MSL206", "write `2 | 5 | 10`"),
        ("light < strong(depth: 1..5)", "MSL206", "by `|`"),
        ("none < 5 < 2", "MSL208", "from the lowest to the highest"),
        ("a < b < a", "MSL208", "remove one of them"),
    ],
)
def test_what_is_no_order_is_answered(domain: str, code: str, words: str) -> None:
    found = only_error(f'block b: learner "mine:B" {{ size: {domain} }}\nchain model = b')
    assert found.code == code
    assert words in (found.help or "")


@pytest.mark.parametrize(
    ("condition", "meant"),
    [
        ("tree.pruning < strong", "none | light"),
        ("tree.pruning <= light", "none | light"),
        ("strong > tree.pruning", "none | light"),
        ("tree.pruning >= light", "light | strong"),
        ("light < tree.pruning", "strong"),
    ],
)
def test_a_comparison_with_an_alternative_is_told_what_it_means(condition: str, meant: str) -> None:
    found = only_error(f"{HEAD}chain model = tree\nrequire {condition}")
    assert found.help == f"write `tree.pruning is {meant}`"
    assert not errors(f"{HEAD}chain model = tree\nrequire tree.pruning is {meant}")
