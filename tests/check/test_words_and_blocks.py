"""A bare word that names a block is that block; a string is in quotes; if both make sense, the check warns."""

from __future__ import annotations

import pytest

from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.space.nodes import BlockUse, Choice, Const, Node, bottom_up
from msl.space.resolve import resolve
from msl.space.to_text import model_to_text
from specs import TABLE, codes, only_error, sound

USE = "use sklearn, sbm, kms\n"


def declared(field: str) -> tuple[Node, list[str]]:
    """The domain of the parameter `p` of a declaration, and the codes reported for it."""
    text = f'{USE}block outer: learner "mine:Outer" {{ p{field} }}\nchain m = outer'
    root = sound(text).space.root
    (found,) = [p.node for use in bottom_up(root) if isinstance(use, BlockUse) for p in use.params if p.name == "p"]
    return found, [code for code in codes(text) if code != "MSL228"]


def names(node: Node) -> list[object]:
    options = node.options if isinstance(node, Choice) else (node,)
    return [o.block.name if isinstance(o, BlockUse) else o.value for o in options if isinstance(o, BlockUse | Const)]


def test_words_that_name_steps_are_blocks_with_all_that_they_declare() -> None:
    node, codes = declared(": decision_tree | extra_tree")
    assert isinstance(node, Choice)
    assert all(isinstance(option, BlockUse) for option in node.options)
    assert node.options[0] == sound("use sklearn\nchain m = decision_tree").space.root
    assert codes == ["MSL243"]


def test_none_and_numbers_stand_beside_blocks() -> None:
    node, codes = declared(": none | decision_tree | 3")
    assert isinstance(node, Choice)
    assert sorted(type(option).__name__ for option in node.options) == ["BlockUse", "Const", "Const"]
    assert codes == ["MSL243"]


def test_after_equals_a_block_is_closed() -> None:
    node, codes = declared(" = decision_tree")
    assert isinstance(node, BlockUse)
    assert all(isinstance(param.node, Const) for param in node.params)
    assert codes == ["MSL243"]
    node, codes = declared(" = decision_tree(max_depth: 1..3)")
    assert isinstance(node, BlockUse)
    assert [p.name for p in node.params if not isinstance(p.node, Const)] == ["max_depth"]
    assert codes == []


@pytest.mark.parametrize("word", ["sklearn.decision_tree", "decision_tree()", "decision_tree(max_depth: 1..3)"])
def test_a_form_that_only_a_block_has_needs_no_word(word: str) -> None:
    node, codes = declared(f": {word}")
    assert isinstance(node, BlockUse)
    assert codes == []


@pytest.mark.parametrize("field", [': "decision_tree" | "extra_tree"', ' = "decision_tree"', ": relu | tanh"])
def test_quotes_and_other_words_are_texts(field: str) -> None:
    node, codes = declared(field)
    assert all(isinstance(name, str) for name in names(node))
    assert not [n for n in bottom_up(node) if isinstance(n, BlockUse)]
    assert codes == []


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        (": relu | logistic", 1),
        (': "relu" | logistic', 1),
        (": euclidean | manhattan", 2),
        (" = euclidean", 1),
        (": gaussian | poly", 1),
        (": decision_tree | pca", 2),
    ],
)
def test_where_both_make_sense_it_is_the_text_and_the_check_asks(field: str, asked: int) -> None:
    node, codes = declared(field)
    assert not [n for n in bottom_up(node) if isinstance(n, BlockUse)]
    assert codes == ["MSL244"] * asked


def test_a_word_before_parameters_of_its_own_is_not_the_block() -> None:
    node, codes = declared(": logistic(steepness: real 0..1) | relu")
    assert not [n for n in bottom_up(node) if isinstance(n, BlockUse)]
    assert codes == []


def test_a_declared_domain_decides_in_a_use() -> None:
    text = 'block near: learner "mine:Near" { metric: "euclidean" | "cosine" }\nchain m = near(metric = euclidean)'
    root = sound(f"{USE}{text}").space.root
    assert isinstance(root, BlockUse)
    assert root.params[0].node == Const("euclidean")


def test_two_alternatives_of_one_name_are_refused() -> None:
    text = f'{USE}block outer: learner "mine:Outer" {{ p: "linear" | kms.linear }}\nchain m = outer'
    assert only_error(text).code == "MSL103"


def test_models_with_blocks_inside_read_back() -> None:
    field = "p: decision_tree | extra_tree default extra_tree"
    text = f'{USE}block outer: learner "mine:Outer" {{ {field} }}\nchain m = outer'
    codec = space_to_codec(resolve(sound(text).space, TABLE)[0])
    for share in (0.1, 0.9):
        model = codec.model([share] * codec.n_dimensions)
        assert text_to_model(model_to_text(model), Source("s", text))[0] == model
