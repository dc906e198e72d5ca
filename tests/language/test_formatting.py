"""Formatting: the layouts kept as golden files, comments put anywhere, the guards."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_trees import files

import msl.catalogue
from msl.diagnostics.render import render
from msl.diagnostics.source import Source
from msl.language import ast, formatter
from msl.language.formatter import format_source
from msl.language.parser import text_to_ast
from msl.language.printer import COLUMNS, ast_to_text

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
GOOD = sorted((ROOT / "tests" / "corpus" / "good").glob("*.msl"))
SHIPPED = sorted([*Path(msl.catalogue.__file__).parent.glob("*.msl"), *(ROOT / "specs").glob("[!.]*.msl")])
LAYOUTS = sorted(path.name.removesuffix(".in.msl") for path in (HERE / "layout").glob("*.in.msl"))


def formatted(text: str) -> str:
    result, diagnostics = format_source(Source("a.msl", text))
    assert not diagnostics, render(diagnostics)
    return result


def tree(text: str) -> ast.File:
    file, diagnostics = text_to_ast(Source("a.msl", text))
    assert not diagnostics, render(diagnostics)
    return file


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_as_it_was(name: str) -> None:
    result = formatted((HERE / "layout" / f"{name}.in.msl").read_text(encoding="utf-8"))
    golden = HERE / "layout" / f"{name}.out.msl"
    if os.environ.get("MSL_WRITE_GOLDEN"):
        golden.write_text(result, encoding="utf-8")
    assert result == golden.read_text(encoding="utf-8")
    assert formatted(result) == result


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_the_good_corpus_is_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text


@pytest.mark.slow
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_is_shipped_formats_to_a_text_that_stays(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    once = formatted(text)
    assert formatted(once) == once
    assert tree(once) == tree(text)
    long_lines = [line for line in once.splitlines() if len(line) > COLUMNS]
    assert all(line.lstrip().startswith(("#", "block ")) for line in long_lines)  # neither can be broken


def test_a_printed_tree_is_formatted_already_but_for_blank_lines() -> None:
    for path in GOOD:
        file = tree(path.read_text(encoding="utf-8"))
        printed = ast_to_text(file)
        assert formatted(printed) == printed


# --- comments ---------------------------------------------------------------------------------------------------------

#: Where a comment may be put: beside blanks and brackets, never inside a text, a comment or a path.
_GAPS = re.compile(r'"(?:\\.|[^"\\\n])*"|#[^\n]*|(?<=[(\[{,\s])(?=\S)|(?=[)\]},])|(?=\s)')
_COMMENT_SHAPES = [" # c{}\n", "\n# c{}\n", "\n\n  # c{}\n\n"]


def gaps(text: str) -> list[int]:
    return [match.start() for match in _GAPS.finditer(text) if not match[0]] + [len(text)]


def with_comments(text: str, places: list[tuple[int, str]]) -> str:
    for number, (place, shape) in enumerate(sorted(places, reverse=True)):
        text = text[:place] + shape.format(number) + text[place:]
    return text


def check_comments_survive(text: str, commented: str) -> None:
    assert tree(commented) == tree(text)
    result = formatted(commented)
    assert tree(result) == tree(text)
    assert re.findall(r"# c\d+", result) == re.findall(r"# c\d+", commented)


@pytest.mark.slow
@pytest.mark.parametrize("path", [*GOOD, HERE / "layout" / "breaking.in.msl"], ids=lambda path: path.stem)
def test_comments_anywhere_in_the_corpus_are_kept(path: Path) -> None:
    rng = random.Random(path.stem)
    text = path.read_text(encoding="utf-8")
    everywhere = gaps(text)
    for count in [1] * 12 + [3] * 6 + [10] * 4 + [len(everywhere)]:
        places = [(place, rng.choice(_COMMENT_SHAPES)) for place in rng.sample(everywhere, min(count, len(everywhere)))]
        check_comments_survive(text, with_comments(text, places))


@pytest.mark.slow
@settings(max_examples=120)
@given(files, st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(_COMMENT_SHAPES)), max_size=6))
def test_comments_anywhere_in_any_tree_are_kept(file: ast.File, places: list[tuple[int, str]]) -> None:
    text = ast_to_text(file)
    everywhere = gaps(text)
    commented = with_comments(text, [(everywhere[place % len(everywhere)], shape) for place, shape in places])
    check_comments_survive(text, commented)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("\n \n", ""),
        ("# only\n\n\n# comments", "# only\n\n# comments\n"),
        ("seed 7", "seed 7\n"),
        ("\n\nseed 7\n\n\n\nmsl 1\n", "seed 7\n\nmsl 1\n"),
        ("seed 7   #   kept  as it is  ", "seed 7  #   kept  as it is\n"),
        ("part x = a # first\n| b\n", "part x = a  # first\n       | b\n"),
        ("part x = # why\na | b", "part x =  # why\n  a | b\n"),
        ("part x = f(\n# above\na = 1)", "part x = f(\n  # above\n  a = 1,\n)\n"),
        ("part x = f(a = 1, # beside\nb = 2\n# below\n)", "part x = f(\n  a = 1,  # beside\n  b = 2,\n  # below\n)\n"),
        ("part x = f( # head\n)", "part x = f(  # head\n)\n"),
        ("part x = f(\n# alone\n)", "part x = f(\n  # alone\n)\n"),
        ("part x = (a\n# between\n| b) >> c", "part x =\n  (a\n  # between\n  | b)\n  >> c\n"),
        ("part x = (a | b\n# last\n) >> c", "part x =\n  (a | b\n  # last\n  )\n  >> c\n"),
        ("data(a = 1,\n\n\nb = [1, # one\n2])", "data(\n  a = 1,\n\n  b = [\n    1,  # one\n    2,\n  ],\n)\n"),
        ("require a # one\nif b # two", "require a  # one\n  if b  # two\n"),
        ("search a() # one\nthen b() # two", "search a()  # one\n  then b()  # two\n"),
        ("use a, # one\nb # two", "use\n  a,  # one\n  b,  # two\n"),
        ("chain x = f(k: int # odd\n1..3)", "chain x = f(\n  k: int 1..3,  # odd\n)\n"),
    ],
)
def test_where_comments_and_blank_lines_go(before: str, after: str) -> None:
    assert formatted(before) == after


# --- line ends, errors and guards -------------------------------------------------------------------------------------


def test_windows_line_ends_stay() -> None:
    assert formatted("msl 1\r\n# c\r\nseed  7") == "msl 1\r\n# c\r\nseed 7\r\n"
    assert formatted("msl 1\r\nseed 7\r\n") == "msl 1\r\nseed 7\r\n"


def test_old_line_ends_become_ours() -> None:
    assert formatted("msl 1\rseed  7\r") == "msl 1\nseed 7\n"


def test_a_text_with_errors_stays_as_it_is() -> None:
    text = "seed   7\npart x = = a\n"
    result, diagnostics = format_source(Source("a.msl", text))
    assert result == text
    assert [diagnostic.code for diagnostic in diagnostics] == ["MSL001"]


@pytest.mark.parametrize(
    ("wrong_result", "reason"),
    [
        (lambda text: "seed 8\n", "mean something else"),
        (lambda text: "seed 7.0  # c\n", "mean something else"),
        (lambda text: "seed 7\n", "comment would be lost"),
        (lambda text: "seed  # c\n7 7\n", "mean something else"),
        (lambda text: "seed 7" + " " * (len(text) % 7 + 1) + "# c\n", "formatting the result again"),
    ],
)
def test_a_guard_that_fails_is_told_as_a_bug(monkeypatch, wrong_result, reason) -> None:
    source = Source("a.msl", "seed   7 # c")
    texts = iter([source.text])

    def broken_printer(file: ast.File, comments: object, end: int) -> str:
        return wrong_result("x" * end + next(texts, ""))

    monkeypatch.setattr(formatter, "file_to_text", broken_printer)
    result, (diagnostic,) = format_source(source)
    assert result == source.text
    assert diagnostic.code == "MSL099"
    assert "bug in the formatter" in diagnostic.message
    assert reason in diagnostic.primary.text
