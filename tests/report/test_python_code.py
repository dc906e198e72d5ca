"""Python code: what is written as a literal, a comment or a name is that and nothing else, whatever it holds."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msl.export.python_code import Code, Unwritable, comment, dotted_name, joined, literal, name, template

SCALARS = (
    st.text()
    | st.text(st.characters(categories=["Cs", "Cc", "Cf", "Zl", "Zp"]))
    | st.sampled_from(['"""', "'''", "\\", "\r", "\u2028", "\x00", "\ud800", '"); import os; #', "{{x}}"])
    | st.booleans()
    | st.none()
    | st.binary()
    | st.integers()
    | st.integers().map(lambda number: number * 10**5000)
    | st.floats()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


def same(one: Any, other: Any) -> bool:
    """Equal in value and type; NaN is NaN, and zero has a sign."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(same, one.values(), other.values()))
    return bool(one == other)


@given(VALUES)
def test_a_literal_gives_the_value_back(value: Any) -> None:
    text = literal(value).text
    text.encode()  # no lone surrogates
    tree = ast.parse(text.encode(), mode="eval")
    assert "\n" not in text
    called = [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call)]  # type: ignore[attr-defined]
    assert set(called) <= {"float"}
    assert same(eval(compile(tree, "literal", "eval"), {"float": float}), value)


@given(st.text() | st.text(st.characters(categories=["Cs", "Cc", "Cf", "Zl", "Zp"])))
def test_a_comment_is_nothing_but_a_comment(text: str) -> None:
    written = comment(text).text
    content = written.encode()
    assert ast.parse(b"'''A file.'''\n\n\n" + content).body[1:] == []
    kinds = {token.type for token in tokenize.tokenize(io.BytesIO(b"\n\n" + content).readline)}
    assert kinds <= {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}


def test_a_comment_keeps_its_lines() -> None:
    assert comment("a\r\nb\rc\n\nd\x0ce\u2028f\u202eg").text == "# a\n# b\n# c\n#\n# d\\x0ce\\u2028f\\u202eg"


@pytest.mark.parametrize("text", ["", "a b", "import", "a.b", "a;b", "a\n", "ａ", "None", "1a", "a\\", '"', "é"])
def test_only_names_are_names(text: str) -> None:
    with pytest.raises(Unwritable):
        name(text)
    if text != "a.b":
        with pytest.raises(Unwritable):
            dotted_name(f"package.{text}")
    assert dotted_name("package.module_2").text == "package.module_2"


class Shown(str):
    """Shows itself as something else than it is."""

    def __repr__(self) -> str:
        return "__import__('os').getcwd()"


@pytest.mark.parametrize("value", [Shown("x"), object(), 1j, {1, 2}, np.float64(1.5), [Shown("x")], {Shown("x"): 1}])
def test_what_is_no_plain_value_is_no_literal(value: Any) -> None:
    with pytest.raises(Unwritable):
        literal(value)


def test_no_raw_text_gets_in() -> None:
    raw: Any = "os.getcwd()"
    with pytest.raises(TypeError, match="only code goes into code"):
        template("x = {{value}}", value=raw)
    with pytest.raises(TypeError, match="only code goes into code"):
        joined("", [raw])
    for spoilt in (str, "{}".format, lambda code: f"{code}"):
        with pytest.raises(TypeError):
            spoilt(Code("1"))
    with pytest.raises(KeyError):
        template("{{forgotten}}")
    # What a piece holds is not looked at again.
    assert template("{{a}} {{b}}", a=literal("{{b}}"), b=literal(1)).text == "'{{b}}' 1"
