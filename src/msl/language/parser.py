"""Parse a text into a syntax tree, statement by statement, so that one mistake does not hide the next.

Statement keywords are reserved, so they mark where statements begin even in a file that is full of errors. A statement
that cannot be parsed gives one diagnostic and is recorded as broken, so that what depends on it is not reported again.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from itertools import pairwise
from threading import Lock
from types import ModuleType
from typing import Any

from lark import Token
from lark.exceptions import UnexpectedToken

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity, in_reading_order
from msl.diagnostics.source import Source, Span
from msl.language import ast
from msl.language.ast_builder import AstBuilder
from msl.language.tokens import CLOSING_TOKENS, ENDING_TOKENS, OPENING_TOKENS, STATEMENT_TOKENS, Grammar, token_span
from msl.record import record

MOST_CHARACTERS = 4_000_000
MOST_TOKENS = 400_000
MOST_LEVELS = 100
MOST_TERMS = 200

_WORD = re.compile(r"\w+")
_lock = Lock()  # the grammar and its builder are shared and hold the current text


def text_to_ast(source: Source) -> tuple[ast.File, list[Diagnostic]]:
    """The statements of a text, and the syntax errors. The file is complete if there are none."""
    if len(source.text) > MOST_CHARACTERS:
        return ast.File((), broken=(ast.Broken(None, None),)), [_too_large(source)]
    if (unmerged := conflict_marks(source)) is not None:
        return ast.File((), broken=(ast.Broken(None, None),)), [unmerged]
    with _lock:
        builder, grammar = _parser()
        builder.begin(source)
        read = grammar.tokens(source.text, MOST_TOKENS)
        if read is None:
            return ast.File((), broken=(ast.Broken(None, None),)), [_too_large(source)]
        tokens, comments = read
        reading = _Reading(source, grammar, builder)
        for start, end in _segments(source, tokens):
            reading.segment(tokens[start:end], tokens[end] if end < len(tokens) else None)
        file = ast.File(tuple(reading.statements), tuple(comments), tuple(reading.broken))
        return file, in_reading_order(reading.diagnostics + builder.problems)


def _mistakes() -> ModuleType:
    """The explanations of syntax errors, which a correct file does not need."""
    return import_module("msl.language.mistakes.answer")


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
        f"and {MOST_TOKENS:,} tokens and comments are allowed",
        where,
        help="split it into several files and combine them with `use`",
    )


def _segments(source: Source, tokens: list[Token]) -> list[tuple[int, int]]:
    """The start and end of each statement: it starts with a keyword, or with a word that was meant to be one."""
    starts, depth = [0], 0
    for index, token in enumerate(tokens):
        if token.type in STATEMENT_TOKENS:
            starts.append(index)
            depth = 0
        elif token.type in OPENING_TOKENS:
            depth += 1
        elif token.type in CLOSING_TOKENS:
            depth = max(0, depth - 1)
        elif depth == 0 and index and _begins_statement(source, tokens, index):
            starts.append(index)
    return [(start, end) for start, end in pairwise([*starts, len(tokens)]) if start < end]


def _begins_statement(source: Source, tokens: list[Token], index: int) -> bool:
    """Whether a name on a new line, outside brackets and after a complete statement, was meant as a keyword.

    `fidelity` may follow the fields of a block on a line of its own, and so may the parameter that it names.
    """
    if tokens[index].type != "NAME" or tokens[index - 1].type not in ENDING_TOKENS:
        return False
    if _is_fidelity(tokens, index) or _is_fidelity(tokens, index - 1):
        return False
    return _begins_line(source, tokens, index)


def _is_fidelity(tokens: list[Token], index: int) -> bool:
    return index > 0 and tokens[index].value == "fidelity" and tokens[index - 1].type == "RBRACE"


def _begins_line(source: Source, tokens: list[Token], index: int) -> bool:
    between = source.text[token_span(tokens[index - 1]).end : token_span(tokens[index]).start]
    return "\n" in between or "\r" in between


class _Reading:
    """One pass over a text: the statements so far, and the syntax errors."""

    def __init__(self, source: Source, grammar: Grammar, builder: AstBuilder) -> None:
        self.source, self.grammar, self.builder = source, grammar, builder
        self.statements: list[ast.Statement] = []
        self.broken: list[ast.Broken] = []
        self.diagnostics: list[Diagnostic] = []
        self._swallow_next = False
        self._skip_before = 0

    def segment(self, tokens: list[Token], following: Token | None) -> None:
        """Parse the tokens between two keywords: a statement, and anything written after it by mistake."""
        if self._swallow_next:
            self._swallow_next = False
            return
        if (
            token_span(tokens[0]).start < self._skip_before
        ):  # inside a comment of another language that is reported already
            return
        rest = tokens
        while rest:
            rest = self._first(rest, following)

    def _first(self, tokens: list[Token], following: Token | None) -> list[Token]:
        """Parse the first statement of some tokens; return the tokens after it."""
        misspelt = tokens[0].type not in STATEMENT_TOKENS
        if misspelt:
            diagnostic, meant = _mistakes().misspelt_statement(self.source, tokens)
            self.diagnostics.append(diagnostic)
            self._skip_reported(diagnostic)
            if meant is None:
                self.broken.append(ast.Broken(None, None))
                return []
            tokens = [Token.new_borrow_pos(meant.upper(), meant, tokens[0]), *tokens[1:]]
        problems = len(self.builder.problems)
        statement, failure = self._statement(tokens)
        if statement is not None:
            self._accept(statement, sound=len(self.builder.problems) == problems)
            return []
        assert failure is not None
        rest = failure.index
        if failure.complete_before and rest < len(tokens) and _begins_line(self.source, tokens, rest):
            before, _ = self._statement(tokens[:rest])
            if before is not None:
                self._accept(before, sound=len(self.builder.problems) == problems)
                return tokens[rest:]
        noted = len(self.diagnostics)
        self._break(tokens, failure, following)
        if misspelt:
            del self.diagnostics[noted:]  # these errors follow from the misspelt word
        return []

    def _skip_reported(self, diagnostic: Diagnostic) -> None:
        """Skip what a diagnostic covers beyond its span: a comment of several lines, the body of a function."""
        end: int = import_module("msl.language.mistakes.in_signs").end_of_reported_text(self.source, diagnostic)
        self._skip_before = max(self._skip_before, end)

    def _accept(self, statement: ast.Statement, sound: bool) -> None:
        """Keep a statement; one with a mistake counts as broken, or the mistake would be reported twice."""
        if not sound:
            self.broken.append(_broken_declaration(self.source.slice(statement.span)))
            return
        text = self.source.slice(statement.span)
        # Each level, and each sign, needs at least one character.
        if len(text) > MOST_LEVELS and (levels := ast.depth(statement)) > MOST_LEVELS:
            message = f"this statement is nested too deeply: at most {MOST_LEVELS} levels are allowed"
            self._refuse(statement, f"{levels} levels", message, "name its inner pieces with `part`")
        elif sum(map(text.count, "+-*/^")) >= MOST_TERMS and (terms := ast.most_terms(statement)) >= MOST_TERMS:
            message = f"an arithmetic expression in this statement is too long: at most {MOST_TERMS} terms are allowed"
            help = "write a product of equal factors as one number, or split the statement"
            self._refuse(statement, f"{terms + 1:,} terms", message, help)
        else:
            self.statements.append(statement)

    def _refuse(self, statement: ast.Statement, label: str, message: str, help: str) -> None:
        """Report a statement that is too large, and count it as broken."""
        start = statement.span.start
        where = Label(self.source, Span(start, start + 1), label)
        self.diagnostics.append(Diagnostic("MSL017", Severity.ERROR, message, where, help=help))
        self.broken.append(_broken_declaration(self.source.slice(statement.span)))

    def _break(self, tokens: list[Token], failure: Failure, following: Token | None) -> None:
        name_taken = _mistakes().reserved_as_name(self.source, failure, tokens, following)
        if name_taken is not None:
            self._swallow_next = failure.index >= len(tokens)
            self.diagnostics.append(name_taken)
        else:
            self.diagnostics.append(_mistakes().explain(self.source, failure, tokens))
            self._skip_reported(self.diagnostics[-1])
        self.broken.append(_broken_declaration(" ".join(map(str, tokens[:2]))))
        if self._swallow_next and following is not None:
            self.broken.append(ast.Broken(None, str(following)))

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
            del self.builder.problems[noted:]  # `accepts` runs the builder, too
            return None, Failure(read, accepted)


def _broken_declaration(text: str) -> ast.Broken:
    """The keyword and the name that a broken statement starts with."""
    words = _WORD.findall(text[:200])
    return ast.Broken(words[0] if words else None, words[1] if len(words) > 1 else None)


# --- where parsing stopped --------------------------------------------------------------------------------------------


@record
class Failure:
    """Where parsing a statement stopped: the index of the unexpected token, and the token types expected there."""

    index: int
    accepted: frozenset[str]

    @property
    def complete_before(self) -> bool:
        """Whether the tokens before are a complete statement."""
        return "$END" in self.accepted


# --- unresolved merge conflicts of git --------------------------------------------------------------------------------


_MARK = re.compile(r"^(?:<{7}|>{7})(?!\S)[^\r\n]*|^(?:={7}|\|{7})(?!\S)[^\r\n]*", re.MULTILINE)
_MOST_SHOWN = 4


def conflict_marks(source: Source) -> Diagnostic | None:
    """One diagnostic for a file with conflict markers; the rest of it is not checked."""
    if "<<<<<<<" not in source.text and ">>>>>>>" not in source.text:
        return None
    marks = [Span(*match.span()) for match in _MARK.finditer(source.text)]
    sides = [mark for mark in marks if source.text[mark.start] in "<>"]
    if not sides:
        return None
    first, *others = marks[marks.index(sides[0]) :]
    conflicts = max(sum(source.text[mark.start] == sign for mark in sides) for sign in "<>")
    what = "an unresolved merge conflict" if conflicts == 1 else f"{conflicts} unresolved merge conflicts"
    also = tuple(Label(source, mark, "") for mark in others[:_MOST_SHOWN])
    help = "keep one version of each conflict, and remove the marker lines of git"
    message = f"this file contains {what}"
    return Diagnostic("MSL034", Severity.ERROR, message, Label(source, first, "the conflict begins here"), also, help)
