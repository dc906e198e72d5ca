"""Printing: what is printed is read back as the same tree, with no parenthesis too many."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from random_trees import conditions, expressions, files

from msl.diagnostics.render import render
from msl.diagnostics.source import Source
from msl.language import ast
from msl.language.literals import quoted, spelt
from msl.language.parser import text_to_ast
from msl.language.printer import ast_to_text


def read(text: str) -> ast.File:
    file, diagnostics = text_to_ast(Source("a.msl", text))
    assert not diagnostics, render(diagnostics)
    return file


def nodes(node: ast.Node) -> Iterator[ast.Node]:
    yield node
    for child in ast.children(node):
        yield from nodes(child)


def kinds_of_numbers(file: ast.File) -> list[type]:
    """Trees compare 1 and 1.0 as equal; a printed tree must keep them apart."""
    everything = (node for statement in file.statements for node in nodes(statement))
    return [type(node.value) for node in everything if isinstance(node, ast.Number)]


@settings(max_examples=150)
@given(files)
def test_a_printed_tree_is_read_back_the_same(file: ast.File) -> None:
    text = ast_to_text(file)
    again = read(text)
    assert again == file
    assert kinds_of_numbers(again) == kinds_of_numbers(file)
    assert ast_to_text(again) == text
    assert all(line == line.rstrip() for line in text.splitlines())


def pairs_of_parentheses(text: str) -> list[tuple[int, int]]:
    pairs, opened, in_text, escaped = [], [], False, False
    for place, character in enumerate(text):
        if in_text:
            in_text, escaped = escaped or character != '"', character == "\\" and not escaped
        elif character == '"':
            in_text = True
        elif character == "(":
            opened.append(place)
        elif character == ")":
            pairs.append((opened.pop(), place))
    return pairs


def check_no_pair_can_go(text: str) -> None:
    tree = read(text)
    for start, end in pairs_of_parentheses(text):
        without = f"{text[:start]} {text[start + 1 : end]} {text[end + 1 :]}"
        file, diagnostics = text_to_ast(Source("a.msl", without))
        assert diagnostics or file != tree


@settings(max_examples=100)
@given(expressions)
def test_no_parenthesis_of_a_space_can_go(space: ast.Expression) -> None:
    check_no_pair_can_go(ast_to_text(ast.Part(ast.Name("x"), None, space)))


@settings(max_examples=100)
@given(conditions)
def test_no_parenthesis_of_a_condition_can_go(condition: ast.Condition) -> None:
    check_no_pair_can_go(ast_to_text(ast.Require(condition)))


NAME, PATH = ast.Name("k"), ast.Path((ast.Name("clop"), ast.Name("svc")))
ONE_OF_EACH = {
    "k": NAME,
    "clop.svc": PATH,
    "1e-5": ast.Number(1e-5),
    "30s": ast.Number(30, "s"),
    '"a\\"b"': ast.String('a"b'),
    "true": ast.Boolean(True),
    "none": ast.Nothing(),
    "default": ast.Default(),
    "bool": ast.Bool(),
    "[1, 2]": ast.ListOf((ast.Number(1), ast.Number(2))),
    "any clop.svc": ast.AnyOf(PATH),
    "(clop.svc | none)?": ast.Optional(ast.Choice((PATH, ast.Nothing()))),
    "int 1..9 log": ast.Range("int", ast.Number(1), ast.Number(9), log=True),
    "vector(k) of bool": ast.Vector(ast.Path((NAME,)), ast.Bool()),
    "k: bool default true if not k": ast.Argument(
        NAME, True, ast.Bool(), ast.Boolean(True), ast.Not(ast.Path((NAME,)))
    ),
    "clop 2 as k": ast.UseItem(ast.Name("clop"), ast.Number(2), NAME),
    "clop.svc by clop.svc": ast.Objective(PATH, PATH),
    "maximize clop.svc": ast.Goal(False, (ast.Objective(PATH),)),
    "seed 7": ast.Seed(ast.Number(7)),
    "ensemble clop.svc()": ast.Ensemble(ast.Call(PATH, ())),
}


@pytest.mark.parametrize("text", ONE_OF_EACH)
def test_any_node_can_be_printed(text: str) -> None:
    assert ast_to_text(ONE_OF_EACH[text]) == text


def test_statements_of_a_kind_stand_together() -> None:
    text = (
        'msl 1\nuse clop\n\nblock a: learner "m:A" {}\n\nblock b: learner "m:B" {}\n\n'
        "part x = a\npart y = b\n\nchain m = x\n\nminimize ber\nseed 7\n"
    )
    assert ast_to_text(read(text.replace("\n\n", "\n"))) == text
    assert ast_to_text(ast.File(())) == ""


def test_the_spelling_of_a_number_is_kept() -> None:
    text = "chain m = f(1_000, 1E5, 0.50, 0.5%, 1.0)\n"
    assert ast_to_text(read(text)) == text


@pytest.mark.parametrize(("value", "text"), [(1, "1"), (1.0, "1.0"), (1e-05, "1e-5"), (1e22, "1e22"), (-2.5, "-2.5")])
def test_a_number_that_nobody_spelt(value: float, text: str) -> None:
    assert spelt(value) == text


def test_texts_are_quoted_so_that_they_can_be_read() -> None:
    for text in ["", "a b", 'say "hi"', "back\\slash", "two\nlines", "\t\r\x00\x1b\u202e\u00a0", "漢字 é 😀"]:
        written = quoted(text)
        assert written.isprintable()
        (part,) = read(f"part x = {written}").statements
        assert isinstance(part, ast.Part)
        assert part.space == ast.String(text)


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(TypeError, match="Node is not"):
        ast_to_text(ast.Node())
