"""Split a text into tokens: keywords and names, calls and groups, and the comments between them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msl.diagnostics.source import Source, Span
from msl.language.ast import Comment

if TYPE_CHECKING:
    from lark import Token, Transformer

#: `best` is a word only between one of these signs and what a domain starts with; elsewhere it is a name.
_SIGNS_BEFORE_BEST = frozenset({"COLON", "EQUALS"})
_DOMAIN_STARTS = frozenset("NUMBER INT REAL BOOL VECTOR MINUS LPAR NAME STRING NONE TRUE FALSE LSQB ANY BEST".split())
#: In the order of the documentation.
STATEMENTS = "msl use data block part chain require minimize maximize search ensemble budget seed".split()
WORDS = "as for by then if and or not is any none true false default int real bool log step vector of".split()
RESERVED = frozenset(STATEMENTS) | frozenset(WORDS)
#: Reserved words that are also functions, if `(` follows directly.
FUNCTION_WORDS = frozenset({"log"})
#: What makes a keyword of the name `on` before it: no name could stand there.
_AFTER_ON = frozenset({"NAME", "STRING", "LSQB"})
STATEMENT_TOKENS = frozenset(word.upper() for word in STATEMENTS)
OPENING_TOKENS = frozenset({"LPAR", "CALL", "LSQB", "LBRACE"})
CLOSING_TOKENS = frozenset({"RPAR", "RSQB", "RBRACE"})
#: What may be the last token of a statement.
ENDING_TOKENS = CLOSING_TOKENS | frozenset("NAME NUMBER STRING QUESTION NONE TRUE FALSE DEFAULT BOOL LOG".split())

#: Names of the tokens without a fixed spelling.
NAMES_FOR_PEOPLE = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": 'a string in "quotes"',
    "COMPARE": "a comparison such as `==` or `<=`",
    "PRIOR": "a prior",
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
    "CARET": "^",
    "LESS": "<",
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
    """A terminal of the grammar, for messages."""
    if terminal in NAMES_FOR_PEOPLE:
        return NAMES_FOR_PEOPLE[terminal]
    return f"`{_SIGNS.get(terminal, terminal.lower())}`"


def is_identifier(text: str) -> bool:
    """Whether a name needs no quotes."""
    return text.isascii() and text.isidentifier() and text not in RESERVED


class _TooMany(Exception):
    """A text has more comments than allowed."""


class Grammar:
    """The parse tables and the lexer. Building them takes 0.1 s, so they are kept in the user's cache folder."""

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
        self.lark.lexer = self.lark._build_lexer()  # otherwise `lex` builds one for every text

    def _note_comment(self, token: Token) -> Token:
        self._comments.append(token)
        if len(self._comments) > self._most:
            raise _TooMany
        return token

    def tokens(self, text: str, most: int) -> tuple[list[Token], list[Comment]] | None:
        """All tokens of any text, and its comments; None if there are more than `most`.

        It stops there, because a token takes hundreds of bytes.
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
    """The file for the parse tables: in the user's cache folder, if no other user can write to it.

    Lark stores them as a pickle, which must not come from another user.
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


#: The names of priors, and those that other tools have for distributions, which the checker answers.
PRIOR_WORDS = frozenset(
    """
    normal lognormal gauss gaussian norm truncnorm Normal qnormal lognorm log_normal qlognormal LogNormal uniform
    quniform Uniform loguniform log_uniform qloguniform reciprocal beta gamma exponential triangular
    """.split()
)
#: What the word `weight` and a prior follow where they are one.
_WEIGHED = CLOSING_TOKENS - {"RBRACE"} | frozenset("NAME NUMBER STRING QUESTION NONE TRUE FALSE BOOL LOG".split())

_BEFORE_WEIGHT = _WEIGHED | {"DEFAULT", "ON", "RBRACE"}


def _with_keywords(tokens: Iterator[Token]) -> Iterator[Token]:
    """With the types of keywords. `weight` stays a name unless it is between an operand and a number, and the name of a
    prior unless it is between an operand and `(`. In `on weight 3`, `on` is the name that has the weight."""
    before: Token | None = None
    held: Token | None = None
    owner: Token | None = None
    for token in _with_reserved(tokens):
        if held is not None:
            if held.value == "weight" and token.type in ("NUMBER", "MINUS"):
                held.type = "WEIGHT"
                if owner is not None and owner.type == "ON":
                    owner.type = "NAME"
            elif held.value in PRIOR_WORDS and token.type == "CALL":
                held.type = "PRIOR"
            yield held
            held = None
        if token.type == "NAME" and before is not None and _may_be_keyword(token.value, before.type):
            held, owner = token, before
        else:
            yield token
        before = token
    if held is not None:
        yield held


def _may_be_keyword(name: str, before: str) -> bool:
    return (name in PRIOR_WORDS and before in _WEIGHED) or (name == "weight" and before in _BEFORE_WEIGHT)


def _with_reserved(tokens: Iterator[Token]) -> Iterator[Token]:
    previous: Token | None = None
    before: str | None = None
    places = _Places()
    for token in tokens:
        if token.type == "COMPARE" and places.orders(token.value, previous):
            token.type = "LESS"
        elif token.type == "NAME" and token.value in RESERVED:
            token.type = token.value.upper()
        elif token.type == "LPAR" and previous is not None and previous.end_pos == token.start_pos:
            if previous.value in FUNCTION_WORDS:
                previous.type = "NAME"
            if previous.type in {"NAME", "STRING"}:
                token.type = "CALL"
        if previous is not None and previous.type == "NAME":
            if previous.value == "on" and token.type in _AFTER_ON:
                previous.type = "ON"
            elif previous.value == "best" and token.type in _DOMAIN_STARTS and before in _SIGNS_BEFORE_BEST:
                previous.type = "BEST"
        before, previous = None if previous is None else previous.type, token
        if token.type in _CHANGING_PLACES:
            places.pass_by(token)
        yield token


#: The tokens after which a text may be in another place.
_CHANGING_PLACES = STATEMENT_TOKENS | OPENING_TOKENS | CLOSING_TOKENS | {"COLON", "EQUALS", "COMMA", "IF"}


class _Places:
    """Where a text is: within a value, whose alternatives `<` orders, or where it compares."""

    def __init__(self) -> None:
        self._statement = ""
        self._open = [False]
        self._opened_by = [""]

    def orders(self, sign: str, after: Token | None) -> bool:
        """Whether a comparing sign stands between alternatives; in a part or a chain, only `<`."""
        if after is None or after.type in ("COLON", "EQUALS"):
            return False
        if self._statement == "DATA" and "LSQB" in self._opened_by:  # `data(ordered = [size(small < large)])`
            return sign not in ("==", "!=")
        return self._open[-1] and (sign == "<" if len(self._open) == 1 else sign not in ("==", "!="))

    def pass_by(self, token: Token) -> None:
        kind = token.type
        if kind in STATEMENT_TOKENS:
            self._statement, self._open, self._opened_by = kind, [False], [""]
        elif kind in OPENING_TOKENS:
            self._open.append(self._open[-1] and kind in ("LPAR", "LSQB"))
            self._opened_by.append(kind)
        elif kind in CLOSING_TOKENS:
            self._open, self._opened_by = self._open[:-1] or [False], self._opened_by[:-1] or [""]
        elif kind in ("COLON", "EQUALS"):
            self._open[-1] = len(self._open) > 1 or self._statement in ("PART", "CHAIN")
        elif kind == "IF" or (kind == "COMMA" and self._opened_by[-1] != "LSQB"):  # a list in a value has several
            self._open[-1] = False


# --- comments, in order, for the printer ------------------------------------------------------------------------------


#: What may come before the first word of a parenthesised expression.
_BEFORE_WORD = re.compile(r"(?:[( \t\f\r\n]|#[^\r\n]*)*")


@dataclass(frozen=True, slots=True)
class Placed:
    """A comment, whether it is alone on its line, and whether a blank line comes before it."""

    text: str
    own_line: bool
    after_blank: bool


class Comments:
    """The comments not yet printed. Each is returned once and in order, so none is lost or moved past another."""

    def __init__(self, source: Source, comments: Sequence[Comment]) -> None:
        self._source = source
        self._comments = comments
        self._next = 0

    @staticmethod
    def none() -> Comments:
        """For a tree without a text."""
        return Comments(Source("", ""), ())

    def take(self, before: int) -> list[Placed]:
        """The comments before an offset."""
        taken = []
        while self.any_before(before):
            taken.append(self._place(self._comments[self._next]))
            self._next += 1
        return taken

    def take_trailing(self, before: int) -> list[Placed]:
        """The next comment, if it is before an offset and on the same line as what it follows."""
        if not self.any_before(before) or self._place(self._comments[self._next]).own_line:
            return []
        self._next += 1
        return [self._place(self._comments[self._next - 1])]

    def any_before(self, offset: int) -> bool:
        return self._next < len(self._comments) and self._comments[self._next].span.start < offset

    def after_blank(self, offset: int) -> bool:
        """Whether a blank line comes before an offset."""
        return self._line_ends_before(offset) > 1

    def first_word(self, offset: int) -> int:
        """The offset of the first word of an expression, after leading parentheses and comments."""
        if not self._comments:
            return offset
        match = _BEFORE_WORD.match(self._source.text, offset)
        return match.end() if match else offset

    def _place(self, comment: Comment) -> Placed:
        start = comment.span.start
        line_ends = self._line_ends_before(start)
        return Placed(comment.text, line_ends > 0 or self._blank_up_to(start), line_ends > 1)

    def _line_ends_before(self, offset: int) -> int:
        blanks = self._blanks_before(offset)
        return blanks.count("\n") + blanks.replace("\r\n", "").count("\r")

    def _blank_up_to(self, offset: int) -> bool:
        return len(self._blanks_before(offset)) == offset

    def _blanks_before(self, offset: int) -> str:
        start = offset = min(offset, len(self._source.text))
        while start > 0 and self._source.text[start - 1] in " \t\f\r\n":
            start -= 1
        return self._source.text[start:offset]
