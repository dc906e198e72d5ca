"""Trouble: a statement that cannot be read — its tokens, and the place where reading stopped."""

from __future__ import annotations

from lark import Token

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.language.parser import Failure
from msl.language.tokens import CLOSING_TOKENS, OPENING_TOKENS, token_span
from msl.record import record

CLOSERS = {"(": ")", "[": "]", "{": "}"}
OPENERS = {closer: opener for opener, closer in CLOSERS.items()}


@record
class Trouble:
    """What each answer to a mistake looks at. The token that did not fit is there: an early end is another matter."""

    source: Source
    tokens: list[Token]
    failure: Failure

    @property
    def token(self) -> Token:
        """The one that did not fit."""
        return self.tokens[self.failure.index]

    @property
    def before(self) -> Token:
        """The one before it; at the very start, the same."""
        return self.tokens[max(self.failure.index - 1, 0)]

    @property
    def touches(self) -> bool:
        """Whether no space stands before the token."""
        return token_span(self.before).end == token_span(self.token).start

    def near(self, offset: int) -> Token | None:
        """The token so many places after the one that did not fit, or before it."""
        index = self.failure.index + offset
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def span(self, first: int, last: int) -> Span:
        """From the token so many places after the one that did not fit to another; beyond the end, the last one."""
        tokens = self.tokens
        start, end = max(self.failure.index + first, 0), min(self.failure.index + last, len(tokens) - 1)
        return token_span(tokens[start]).to(token_span(tokens[end]))

    def text(self, first: int, last: int) -> str:
        """What is written between two such tokens, on one line."""
        return " ".join(self.source.slice(self.span(first, last)).split())

    @property
    def rest(self) -> int:
        """How many places after the token that did not fit the last one of the statement is."""
        return len(self.tokens) - 1 - self.failure.index

    def closing(self, offset: int) -> int | None:
        """Where the bracket at an offset is closed."""
        depth = 0
        for index in range(self.failure.index + offset, len(self.tokens)):
            token = self.tokens[index]
            if token.type in OPENING_TOKENS:
                depth += 1
            elif token.type in CLOSING_TOKENS:
                depth -= 1
                if depth <= 0:
                    return index - self.failure.index
        return None

    def item_end(self, offset: int) -> int:
        """The last token of the list item that the one at an offset belongs to."""
        depth = 0
        for index in range(self.failure.index + offset, len(self.tokens)):
            token = self.tokens[index]
            if depth == 0 and (token.type == "COMMA" or token.type in CLOSING_TOKENS):
                return index - self.failure.index - 1
            depth += (token.type in OPENING_TOKENS) - (token.type in CLOSING_TOKENS)
        return self.rest

    @property
    def in_list(self) -> bool:
        """Whether it stands among the arguments of a call, the options of a statement or the fields of a block."""
        opened = never_closed(self.tokens[: self.failure.index])
        return opened is not None and (opened.type in {"CALL", "LBRACE"} or opened is self.tokens[1])

    def accepts(self, *terminals: str) -> bool:
        """Whether each of these would have fitted."""
        return self.failure.accepted.issuperset(terminals)

    @property
    def in_condition(self) -> bool:
        """Whether it stands among conditions: in a `require`, or after the `if` of the same parameter."""
        if self.tokens[0].type == "REQUIRE":
            return True
        for token in reversed(self.tokens[: self.failure.index]):
            if token.type in {"COMMA", "LBRACE", "CALL"}:
                return False
            if token.type == "IF":
                return True
        return False

    @property
    def in_brackets(self) -> bool:
        return never_closed(self.tokens[: self.failure.index]) is not None

    def error(
        self, code: str, message: str, help: str, at: Span | None = None, label: str = "", also: tuple[Label, ...] = ()
    ) -> Diagnostic:
        """A diagnostic at the token, or elsewhere."""
        where = Label(self.source, token_span(self.token) if at is None else at, label)
        return Diagnostic(code, Severity.ERROR, message, where, also, help)


def never_closed(tokens: list[Token]) -> Token | None:
    """The innermost bracket that is open after some tokens."""
    stack: list[Token] = []
    for token in tokens:
        if str(token) in CLOSERS and token.type != "STRING":
            stack.append(token)
        elif str(token) in OPENERS and token.type != "STRING" and stack:
            stack.pop()
    return stack[-1] if stack else None


def quoted(token: Token) -> str:
    """A token as a message shows it."""
    return f"`{token}`" if len(token) <= 40 else f"`{token[:37]}…`"
