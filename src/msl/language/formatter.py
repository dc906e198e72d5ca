"""Format a text in the standard layout, keep its comments, and verify that its meaning is unchanged.

The result is parsed again and must have the same tree, the same spelling of every number and the same comments in the
same order, and formatting it again must change nothing. Otherwise the formatter has a bug: it reports this and leaves
the text as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.language import ast
from msl.language.parser import text_to_ast
from msl.language.printer import file_to_text
from msl.language.tokens import Comments

_MOST_PASSES = 4  # a comment in an unusual place, such as inside a range, may need two


def format_source(source: Source) -> tuple[str, list[Diagnostic]]:
    """The formatted text, with its original kind of line ends; unchanged, with diagnostics, if it cannot be parsed."""
    file, diagnostics = text_to_ast(source)
    if diagnostics:
        return source.text, diagnostics
    text, after = source.text, file
    for _ in range(_MOST_PASSES):
        before, text = text, file_to_text(after, Comments(Source(source.name, text), after.comments), len(text))
        if text == before:
            return (text.replace("\n", "\r\n") if _ends_lines_with_crlf(source.text) else text), []
        after, diagnostics = text_to_ast(Source(source.name, text))
        if diagnostics or after != file or _numbers(after) != _numbers(file):
            return source.text, [_bug(source, _first_difference(file, after), "the result would mean something else")]
        if [comment.text for comment in after.comments] != [comment.text for comment in file.comments]:
            return source.text, [_bug(source, Span(0, 0), "a comment would be lost or moved past another")]
    return source.text, [_bug(source, Span(0, 0), "formatting the result again would change it")]


def _numbers(file: ast.File) -> list[str]:
    """The spelling of every number, which the comparison of trees ignores."""
    return [node.text for statement in file.statements for node in _nodes(statement) if isinstance(node, ast.Number)]


def _nodes(node: ast.Node) -> Iterator[ast.Node]:
    pending = [node]
    while pending:
        yield (node := pending.pop())
        pending.extend(ast.children(node))


def _first_difference(file: ast.File, reread: ast.File) -> Span:
    for index, statement in enumerate(file.statements):
        if index >= len(reread.statements) or reread.statements[index] != statement:
            return statement.span
    return Span(0, 0)


def _bug(source: Source, span: Span, label: str) -> Diagnostic:
    return Diagnostic(
        "MSL099",
        Severity.ERROR,
        "this is a bug in the formatter; the text is left as it was",
        Label(source, span, label),
        help="please report it with this file",
    )


def _ends_lines_with_crlf(text: str) -> bool:
    first = text.find("\n")
    return first > 0 and text[first - 1] == "\r"
