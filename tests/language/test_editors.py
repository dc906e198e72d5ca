"""The grammar for editors knows the words of the language, and colours the examples as the parser reads them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from msl.check.check_spec import check_source
from msl.check.names.library import BUILT_IN
from msl.diagnostics.diagnostic import Format
from msl.diagnostics.render import render
from msl.diagnostics.source import Source, Span
from msl.language.ast_builder import AstBuilder
from msl.language.literals import UNITS
from msl.language.parser import MOST_TOKENS
from msl.language.tokens import FUNCTION_WORDS, RESERVED, STATEMENTS, Grammar, token_span
from msl.space.column_selectors import KINDS, REST
from msl.space.formulas import FUNCTIONS

EDITORS = Path(__file__).parents[2] / "editors" / "vscode"
GOOD = sorted((Path(__file__).parents[1] / "corpus" / "good").glob("*.msl"))
GRAMMAR: dict[str, Any] = json.loads((EDITORS / "syntaxes" / "msl.tmLanguage.json").read_text(encoding="utf-8"))
RULES: dict[str, Any] = GRAMMAR["repository"]


def words(rule: str) -> list[str]:
    """The alternatives of a rule that is a list of words."""
    found = re.search(r"\(([a-z_|]+)\)", RULES[rule]["match"])
    assert found is not None
    return found[1].split("|")


def test_every_reserved_word_is_highlighted_once() -> None:
    rules = [words(rule) for rule in ("statement", "domain", "constant", "word")]
    assert sorted(word for rule in rules for word in rule) == sorted(RESERVED)
    assert words("statement") == list(STATEMENTS)


def test_functions_and_combinators_are_highlighted() -> None:
    assert set(words("function")) == {*FUNCTIONS, *BUILT_IN, "regions"}
    assert set(words("function")) >= FUNCTION_WORDS


def test_the_words_for_columns_are_highlighted() -> None:
    rule = re.compile(RULES["columns"]["match"])
    for kind in (*KINDS, REST):
        found = rule.search(f"a & on {kind} (b)")
        assert found is not None
        assert found.groups() == ("on", kind)
    assert rule.search("on [age] (b)") is not None
    assert rule.search("on >> svc") is None


def test_units_are_part_of_numbers() -> None:
    units = re.search(r"\(([A-Za-z|%]+)\)\?$", RULES["number"]["match"])
    assert units is not None
    assert set(units[1].split("|")) == {*UNITS, "%"}


def test_every_rule_is_included_and_is_a_regular_expression() -> None:
    assert {pattern["include"].removeprefix("#") for pattern in GRAMMAR["patterns"]} == set(RULES)
    for rule in RULES.values():
        re.compile(rule.get("match") or rule["begin"])


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_numbers_comments_and_texts_are_those_that_the_parser_reads(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = Grammar(AstBuilder()).tokens(text, MOST_TOKENS)
    assert found is not None
    tokens, comments = found
    scan = re.compile(rf"(#.*$)|(\"(?:\\.|[^\"\\])*\")|({RULES['number']['match']})|\w+", re.MULTILINE)
    coloured = [Span(*match.span()) for match in scan.finditer(text) if match.lastindex]
    read = [token_span(token) for token in tokens if token.type in {"STRING", "NUMBER"}]
    assert coloured == sorted([*read, *(comment.span for comment in comments)])


def test_the_problem_matcher_reads_the_short_format() -> None:
    package = json.loads((EDITORS / "package.json").read_text(encoding="utf-8"))
    pattern = package["contributes"]["problemMatchers"][0]["pattern"]["regexp"]
    lines = render(check_source(Source("a b.msl", "use clop\nchain m = svk")).diagnostics, Format.SHORT).splitlines()
    match = re.fullmatch(pattern.strip("^$"), lines[0])
    assert match is not None
    assert match.groups()[:5] == ("a b.msl", "2", "11", "error", "MSL021")
