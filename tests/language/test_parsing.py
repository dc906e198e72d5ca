"""Parsing: spans that match the text, statements read in spite of mistakes, limits instead of crashes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from random_trees import files

from msl.diagnostics.render import render
from msl.diagnostics.source import Source
from msl.language import ast
from msl.language.literals import BadLiteral, number_value, string_value
from msl.language.parser import MOST_CHARACTERS, MOST_LEVELS, text_to_ast
from msl.language.printer import ast_to_text

CORPUS = Path(__file__).parents[1] / "corpus"


def read(text: str) -> ast.File:
    file, diagnostics = text_to_ast(Source("a.msl", text))
    assert not diagnostics, render(diagnostics)
    return file


def nodes(node: ast.Node) -> Iterator[ast.Node]:
    yield node
    for child in ast.children(node):
        yield from nodes(child)


# --- the corpus -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted((CORPUS / "good").glob("*.msl")), ids=lambda path: path.stem)
def test_the_good_corpus_is_read(path: Path) -> None:
    file = read(path.read_text(encoding="utf-8"))
    assert file.statements
    assert not file.broken


#: Merges left open, what other languages and tools write, and own words in wrong places.
_OF_OTHERS = {"MSL034", "MSL035", "MSL036", "MSL197", "MSL285", "MSL289"}


#: Priors, weights and orders: some of their mistakes are in the syntax, some in the numbers.
_OF_BOTH = {"MSL157", "MSL158", "MSL159", "MSL205"}


def syntax_codes(text: str) -> list[str]:
    """The codes that a bad file announces, those of the syntax alone; `5,000` can be read."""
    expected = text.splitlines()[0].removeprefix("# expect: ").split()
    return [code for code in expected if (code <= "MSL020" and code != "MSL012") or code in _OF_OTHERS]


@pytest.mark.parametrize("path", sorted((CORPUS / "bad").glob("*.msl")), ids=lambda path: path.stem)
def test_the_bad_corpus_gives_the_codes_it_announces(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")
    file, diagnostics = text_to_ast(Source(path.name, text))
    assert [one.code for one in diagnostics if one.code not in _OF_BOTH] == syntax_codes(text)
    assert diagnostics or not file.broken


def test_every_code_of_the_syntax_is_in_the_corpus() -> None:
    announced = {code for path in (CORPUS / "bad").glob("*.msl") for code in syntax_codes(path.read_text("utf-8"))}
    assert announced >= {f"MSL{number:03}" for number in range(1, 21) if number != 12}


# --- spans ------------------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(files)
def test_every_span_holds_its_node(file: ast.File) -> None:
    """Each node, cut out by its span and read alone, is the node; children lie inside their parents, in order."""
    text = ast_to_text(file)
    for statement in read(text).statements:
        for node in nodes(statement):
            spans = [child.span for child in ast.children(node)]
            assert all(node.span.start <= span.start < span.end <= node.span.end for span in spans)
            assert all(before.end <= after.start for before, after in pairwise(spans))
            piece = text[node.span.start : node.span.end]
            if isinstance(node, ast.Statement):
                assert read(piece).statements == (node,)
            elif isinstance(node, ast.Expression) and not isinstance(node, ast.Default):
                check_piece(piece, node)


def check_piece(piece: str, node: ast.Expression) -> None:
    condition, diagnostics = text_to_ast(Source("a.msl", f"require {piece}"))
    space, more = text_to_ast(Source("a.msl", f"part x = {piece}"))
    readings = [] if diagnostics else [condition.statements[0].condition]  # type: ignore[union-attr]
    readings += [] if more else [space.statements[0].space]  # type: ignore[union-attr]
    value, wrong = text_to_ast(Source("a.msl", f"part x = f(p: {piece})"))  # braces are for values alone
    readings += [] if wrong else [value.statements[0].space.arguments[0].value]  # type: ignore[union-attr]
    assert node in readings


def test_comments_are_kept_with_their_places() -> None:
    text = "# one\nseed 7 # two  \n\n#three"
    file = read(text)
    assert [comment.text for comment in file.comments] == ["# one", "# two", "#three"]
    assert [text[comment.span.start :][:5].strip() for comment in file.comments] == ["# one", "# two", "#thre"]


# --- what the signs mean ----------------------------------------------------------------------------------------------


def space_of(text: str) -> ast.Expression:
    (part,) = read(f"part x = {text}").statements
    assert isinstance(part, ast.Part)
    return part.space


def path(text: str) -> ast.Path:
    return ast.Path(tuple(ast.Name(word) for word in text.split(".")))


A, B, C = path("a"), path("b"), path("c")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("a | b | c", ast.Choice((A, B, C))),
        ("(a | b) | c", ast.Choice((ast.Choice((A, B)), C))),
        ("a >> (b & c)?", ast.Sequence((A, ast.Optional(ast.Union((B, C)))))),
        ("a - b + c", ast.Arithmetic(("-", "+"), (A, B, C))),
        ("a + b * c", ast.Arithmetic(("+",), (A, ast.Arithmetic(("*",), (B, C))))),
        ("-3", ast.Number(-3)),
        ("-3s", ast.Negative(ast.Number(3, "s"))),
        ("- a", ast.Negative(A)),
        ("-2^2", ast.Negative(ast.Arithmetic(("^",), (ast.Number(2), ast.Number(2))))),
        ("2^-a", ast.Arithmetic(("^",), (ast.Number(2), ast.Negative(A)))),
        ("a^b^a", ast.Arithmetic(("^",), (A, ast.Arithmetic(("^",), (B, A))))),
        ("a*b^2", ast.Arithmetic(("*",), (A, ast.Arithmetic(("^",), (B, ast.Number(2)))))),
        ("a..b", ast.Range(None, A, B)),
        ("int 1..9 step 2", ast.Range("int", ast.Number(1), ast.Number(9), step=ast.Number(2))),
        ("vector(a) of int 1..9", ast.Vector(A, ast.Range("int", ast.Number(1), ast.Number(9)))),
        ("any a.b", ast.AnyOf(path("a.b"))),
        ("f(a, )", ast.Call(path("f"), (ast.Argument(None, False, A),))),
        ("partx", path("partx")),
        ('"log" | none', ast.Choice((ast.String("log"), ast.Nothing()))),
        ('"log"(a)', ast.Call(path("log"), (ast.Argument(None, False, A),))),
        ("log(a)", ast.Call(path("log"), (ast.Argument(None, False, A),))),
        ('"a b"(b = a)', ast.Call(ast.Path((ast.Name("a b"),)), (ast.Argument(ast.Name("b"), False, A),))),
        ("1..a log", ast.Range(None, ast.Number(1), A, log=True)),
        ("50%", ast.Number(0.5)),
    ],
)
def test_spaces(text: str, node: ast.Expression) -> None:
    assert space_of(text) == node


def test_conditions_bind_as_in_mathematics() -> None:
    (require,) = read("require not a == 1 and b or c is a | b if d").statements
    first = ast.And((ast.Not(ast.Compare("==", A, ast.Number(1))), B))
    assert require == ast.Require(ast.Or((first, ast.Is(C, (A, B)))), path("d"))


def test_line_breaks_carry_no_meaning() -> None:
    text = (CORPUS / "good" / "everything.msl").read_text(encoding="utf-8")
    code = "\n".join(line.split("#")[0] for line in text.splitlines())
    assert read(" ".join(code.split())) == read(text)


# --- recovery ---------------------------------------------------------------------------------------------------------


def test_one_broken_statement_leaves_the_others() -> None:
    file, diagnostics = text_to_ast(Source("a.msl", "seed 7\npart x = (a | \npart y = b\nrequire | c\nbudget()\n"))
    assert [type(statement) for statement in file.statements] == [ast.Seed, ast.Part, ast.Budget]
    assert [diagnostic.primary.position.line for diagnostic in diagnostics] == [2, 4]
    assert file.broken == (ast.Broken("part", "x"), ast.Broken("require", None))


def test_a_misspelt_keyword_is_read_as_what_was_meant() -> None:
    file, diagnostics = text_to_ast(Source("a.msl", "prat x = a\nchian y = x\n"))
    assert [type(statement) for statement in file.statements] == [ast.Part, ast.Chain]
    assert [diagnostic.code for diagnostic in diagnostics] == ["MSL007", "MSL007"]


def test_the_second_mistake_of_a_misspelt_statement_waits() -> None:
    _, diagnostics = text_to_ast(Source("a.msl", "prat x = = a\n"))
    assert [diagnostic.code for diagnostic in diagnostics] == ["MSL007"]


@pytest.mark.slow
def test_a_thousand_misspelt_lines_are_a_thousand_messages() -> None:
    _, diagnostics = text_to_ast(Source("a.msl", "prat x = a\n" * 1000))
    assert [diagnostic.primary.position.line for diagnostic in diagnostics] == list(range(1, 1001))


def test_diagnostics_come_in_reading_order() -> None:
    _, diagnostics = text_to_ast(Source("a.msl", "part x = a | b >> c\npart = a\npart y = 5sec\n"))
    assert [diagnostic.primary.position.line for diagnostic in diagnostics] == [1, 2, 3]


# --- limits -----------------------------------------------------------------------------------------------------------


def test_deep_nesting_is_told() -> None:
    _, (diagnostic,) = text_to_ast(Source("a.msl", "part x = " + "f(" * 3000 + "a" + ")" * 3000))
    assert diagnostic.code == "MSL017"
    assert str(MOST_LEVELS) in diagnostic.message


@pytest.mark.slow
def test_deep_parentheses_are_no_nesting() -> None:
    assert space_of("(" * 3000 + "a" + ")" * 3000) == A


def test_a_file_that_is_too_large_is_told_at_once() -> None:
    _, (diagnostic,) = text_to_ast(Source("a.msl", "#" * (MOST_CHARACTERS + 1)))
    assert diagnostic.code == "MSL017"


def test_threads_do_not_mix_their_texts() -> None:
    results: dict[int, ast.File] = {}

    def work(number: int) -> None:
        for _ in range(20):
            results[number] = read(f"part p{number} = a{number} | b{number}\n" * 5)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(ast_to_text(results[n].statements[0]) == f"part p{n} = a{n} | b{n}" for n in range(4))


# --- literals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("7", 7, None),
        ("1_000", 1000, None),
        ("1e3", 1000.0, None),
        ("0.5%", 0.005, None),
        ("30s", 30, "s"),
        ("2GB", 2, "GB"),
    ],
)
def test_numbers(text: str, value: float, unit: str | None) -> None:
    assert number_value(text) == (value, unit)
    assert type(number_value(text)[0]) is type(value)


@pytest.mark.parametrize("text", ["5sec", "5x", "1e999", "1" * 201])
def test_numbers_that_are_none(text: str) -> None:
    with pytest.raises(BadLiteral):
        number_value(text)


def test_texts() -> None:
    assert string_value(r'"a\"b\\c\nd\u{e9}\u{1F600}"') == 'a"b\\c\ndé😀'
    for wrong in (r'"\x"', r'"\u{110000}"', r'"\u{D800}"'):
        with pytest.raises(BadLiteral):
            string_value(wrong)
