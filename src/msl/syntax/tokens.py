"""Tokens: the words and signs of a text, with keywords told from names and calls from groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msl.syntax.ast import Comment
from msl.text.source import Span

if TYPE_CHECKING:
    from lark import Token, Transformer

STATEMENTS = (
    "msl use data block part chain require minimize maximize search ensemble budget seed".split()  # in docs' order
)
WORDS = "as for by then if and or not is any none true false default int real bool log step vector of".split()
RESERVED = frozenset(STATEMENTS) | frozenset(WORDS)
#: Reserved words that are functions too, and then touch their `(`.
FUNCTION_WORDS = frozenset({"log"})
STATEMENT_TOKENS = frozenset(word.upper() for word in STATEMENTS)
OPENING_TOKENS = frozenset({"LPAR", "CALL", "LSQB", "LBRACE"})
CLOSING_TOKENS = frozenset({"RPAR", "RSQB", "RBRACE"})
#: What may be the last token of a statement.
ENDING_TOKENS = CLOSING_TOKENS | frozenset("NAME NUMBER STRING QUESTION NONE TRUE FALSE DEFAULT BOOL LOG".split())

#: What a person calls a token that has no spelling of its own.
NAMES_FOR_PEOPLE = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": 'a text in "quotes"',
    "COMPARE": "a comparison such as `==` or `<=`",
    "$END": "the end of the statement",
}
_SIGNS = {
    "THROUGH": ">>",
    "BAR": "|",
    "AMPERSAND": "&",
    "QUESTION": "?",
    "DOTDOT": "..",
    "DOT": ".",
    "COLON": ":",
    "EQUALS": "=",
    "PLUS": "+",
    "MINUS": "-",
    "STAR": "*",
    "SLASH": "/",
    "LPAR": "(",
    "CALL": "(",
    "RPAR": ")",
    "LSQB": "[",
    "RSQB": "]",
    "LBRACE": "{",
    "RBRACE": "}",
    "COMMA": ",",
}


def in_words(terminal: str) -> str:
    """A terminal of the grammar as a person would name it."""
    if terminal in NAMES_FOR_PEOPLE:
        return NAMES_FOR_PEOPLE[terminal]
    return f"`{_SIGNS.get(terminal, terminal.lower())}`"


def is_identifier(text: str) -> bool:
    """Whether a name can stand without quotes."""
    return text.isascii() and text.isidentifier() and text not in RESERVED


class _TooMany(Exception):
    """A text has more comments than are read."""


class Grammar:
    """The grammar's tables, and the tokens of a text. Building takes 0.1 s: made once, and kept in the user's cache."""

    def __init__(self, transformer: Transformer[Token, Any]) -> None:
        from lark import Lark

        self._comments: list[Token] = []
        self._most = 0
        self.lark = Lark(
            _grammar_text(),
            parser="lalr",
            lexer="basic",
            start=["statement", "stray"],
            maybe_placeholders=False,
            transformer=transformer,
            lexer_callbacks={"COMMENT": self._note_comment},
            cache=_tables_file(),
        )
        self.lark.lexer = self.lark._build_lexer()  # `lex` would build one for every text

    def _note_comment(self, token: Token) -> Token:
        self._comments.append(token)
        if len(self._comments) > self._most:
            raise _TooMany
        return token

    def tokens(self, text: str, most: int) -> tuple[list[Token], list[Comment]] | None:
        """All tokens of a text, whatever it holds, and its comments; None where there are more than `most` of them.

        Reading stops there, since a token takes hundreds of bytes.
        """
        self._comments, self._most = [], most
        try:
            tokens = list(islice(_with_keywords(self.lark.lex(text)), most + 1))
        except _TooMany:
            return None
        if len(tokens) > most:
            return None
        return tokens, [Comment(str(token).rstrip(), token_span(token)) for token in self._comments]


def _grammar_text() -> str:
    """From the installed package, or beside the sources in an editable checkout."""
    folders = (Path(__file__).parents[1], Path(__file__).parents[3])
    installed, beside = (folder / "grammar" / "msl.lark" for folder in folders)
    return (installed if installed.is_file() else beside).read_text(encoding="utf-8")


def _tables_file() -> str | bool:
    """Where the built tables are kept: in the user's own cache folder, which nobody else may write to.

    Lark keeps them as a pickle under a digest of the grammar and of the versions, so the folder must be the user's.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "msl"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except (OSError, RuntimeError):
        return False
    private = found.st_uid == os.getuid() and not found.st_mode & 0o022 if hasattr(os, "getuid") else True
    return str(folder / "grammar.tables") if private and os.access(folder, os.W_OK) else False


def token_span(token: Token) -> Span:
    if token.start_pos is None or token.end_pos is None:
        return Span(0, 0)
    return Span(token.start_pos, token.end_pos)


def _with_keywords(tokens: Iterator[Token]) -> Iterator[Token]:
    previous: Token | None = None
    for token in tokens:
        if token.type == "NAME" and token.value in RESERVED:
            token.type = token.value.upper()
        elif token.type == "LPAR" and previous is not None and previous.end_pos == token.start_pos:
            if previous.value in FUNCTION_WORDS:
                previous.type = "NAME"
            if previous.type in {"NAME", "STRING"}:
                token.type = "CALL"
        previous = token
        yield token
