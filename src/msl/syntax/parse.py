"""Parse: text to AST, one statement after another, so that one mistake does not hide the next.

Statement keywords are reserved, so they mark where statements begin even in a file that is full of errors. A statement
that cannot be read gives one diagnostic and is remembered as broken, so that nothing that depends on it is complained
about again.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any

from lark import Token
from lark.exceptions import UnexpectedToken

from msl.syntax import ast
from msl.syntax.build import AstBuilder
from msl.syntax.mistakes import Failure, explain, misspelt_statement, reserved_as_name
from msl.syntax.tokens import STATEMENT_TOKENS, Grammar, token_span
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source, Span

MOST_CHARACTERS = 4_000_000
MOST_TOKENS = 400_000
MOST_LEVELS = 100

_WORD = re.compile(r"\w+")
_lock = Lock()  # the grammar and its builder are made once and hold the text in hand


def text_to_ast(source: Source) -> tuple[ast.File, list[Diagnostic]]:
    """The statements of a text, and what could not be read. The file is whole when there is no diagnostic."""
    if len(source.text) > MOST_CHARACTERS:
        return ast.File((), broken=(ast.Broken(None, None),)), [_too_large(source)]
    with _lock:
        builder, grammar = _parser()
        builder.begin(source)
        tokens, comments = grammar.tokens(source.text)
        if len(tokens) > MOST_TOKENS:
            return ast.File((), broken=(ast.Broken(None, None),)), [_too_large(source)]
        reading = _Reading(source, grammar, builder)
        for position, (start, end) in enumerate(segments := _segments(tokens)):
            following = tokens[end] if position + 1 < len(segments) else None
            reading.segment(tokens[start:end], following)
        file = ast.File(tuple(reading.statements), tuple(comments), tuple(reading.broken))
        return file, reading.diagnostics + builder.problems


@cache
def _parser() -> tuple[AstBuilder, Grammar]:
    builder = AstBuilder()
    return builder, Grammar(builder)


def _too_large(source: Source) -> Diagnostic:
    where = Label(source, Span(0, min(1, len(source.text))), "this file")
    return Diagnostic(
        "MSL017",
        Severity.ERROR,
        f"the file is too large: at most {MOST_CHARACTERS // 1_000_000} million characters "
        f"and {MOST_TOKENS:,} words and signs are read",
        where,
        help="split it into files and take them with `use`",
    )


def _segments(tokens: list[Token]) -> list[tuple[int, int]]:
    """Where statements begin and end: each starts with its keyword; what comes before the first is one more."""
    starts = [i for i, token in enumerate(tokens) if token.type in STATEMENT_TOKENS]
    if tokens and (not starts or starts[0] != 0):
        starts.insert(0, 0)
    return list(pairwise([*starts, len(tokens)])) if tokens else []


class _Reading:
    """One pass over a text: the statements read so far, and what went wrong."""

    def __init__(self, source: Source, grammar: Grammar, builder: AstBuilder) -> None:
        self.source, self.grammar, self.builder = source, grammar, builder
        self.statements: list[ast.Statement] = []
        self.broken: list[ast.Broken] = []
        self.diagnostics: list[Diagnostic] = []
        self._swallow_next = False

    def segment(self, tokens: list[Token], following: Token | None) -> None:
        """Reads what stands between two keywords: a statement, and whatever was written after it by mistake."""
        if self._swallow_next:
            self._swallow_next = False
            return
        if tokens[0].type not in STATEMENT_TOKENS:
            self._stray(tokens, following)
            return
        noted = len(self.builder.problems)
        statement, failure = self._statement(tokens)
        if statement is not None:
            self._accept(statement, sound=len(self.builder.problems) == noted)
            return
        assert failure is not None
        rest = failure.index
        if failure.complete_before and rest < len(tokens) and self._begins_line(tokens, rest):
            before, _ = self._statement(tokens[:rest])
            if before is not None:
                self._accept(before, sound=len(self.builder.problems) == noted)
                self._stray(tokens[rest:], following)
                return
        self._break(tokens, failure, following)

    def _accept(self, statement: ast.Statement, sound: bool) -> None:
        """Keeps a statement; one with a mistake in it is as good as broken, or the mistake would be told twice."""
        if not sound:
            self.broken.append(_broken_declaration(self.source.slice(statement.span)))
            return
        if (levels := ast.depth(statement)) > MOST_LEVELS:
            where = Label(self.source, Span(statement.span.start, statement.span.start + 1), f"{levels} levels")
            message = f"this statement is nested too deeply: at most {MOST_LEVELS} levels are read"
            self._note(Diagnostic("MSL017", Severity.ERROR, message, where, help="name its inner pieces with `part`"))
            self.broken.append(_broken_declaration(self.source.slice(statement.span)))
            return
        self.statements.append(statement)

    def _stray(self, tokens: list[Token], following: Token | None) -> None:
        """Text that starts no statement; a misspelt keyword is read as what it was meant to be."""
        diagnostic, meant = misspelt_statement(self.source, tokens)
        self._note(diagnostic)
        if meant is not None:
            replaced = Token.new_borrow_pos(meant.upper(), meant, tokens[0])
            before = len(self.diagnostics)
            self.segment([replaced, *tokens[1:]], following)
            del self.diagnostics[before:]  # one word is wrong; what follows from it is not news
        else:
            self.broken.append(ast.Broken(None, None))

    def _break(self, tokens: list[Token], failure: Failure, following: Token | None) -> None:
        name_taken = reserved_as_name(self.source, failure, tokens, following)
        if name_taken is not None:
            self._swallow_next = failure.index >= len(tokens)
            self._note(name_taken)
        else:
            self._note(explain(self.source, failure, tokens))
        self.broken.append(_broken_declaration(" ".join(map(str, tokens[:2]))))
        if self._swallow_next and following is not None:
            self.broken.append(ast.Broken(None, str(following)))

    def _note(self, diagnostic: Diagnostic) -> None:
        self.diagnostics.append(diagnostic)

    def _statement(self, tokens: list[Token]) -> tuple[ast.Statement | None, Failure | None]:
        noted = len(self.builder.problems)
        parser = self.grammar.lark.parse_interactive(start="statement")
        read = 0
        try:
            for token in tokens:
                parser.feed_token(token)
                read += 1
            statement: Any = parser.feed_eof(tokens[-1])  # type: ignore[no-untyped-call]
            return statement, None
        except UnexpectedToken:
            del self.builder.problems[noted:]
            accepted = frozenset(parser.accepts())  # type: ignore[no-untyped-call]
            del self.builder.problems[noted:]  # asking what fits runs the builder on trial
            return None, Failure(read, accepted)

    def _begins_line(self, tokens: list[Token], index: int) -> bool:
        before, token = token_span(tokens[index - 1]), token_span(tokens[index])
        return "\n" in self.source.text[before.end : token.start] or "\r" in self.source.text[before.end : token.start]


def _broken_declaration(text: str) -> ast.Broken:
    """The keyword and the name that a broken statement starts with."""
    words = _WORD.findall(text[:200])
    return ast.Broken(words[0] if words else None, words[1] if len(words) > 1 else None)
