"""Describe a statement that cannot be parsed: its tokens, and where parsing stopped. The input of every rule."""

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
class UnreadableStatement:
    """A statement with an unexpected token; offsets in its methods count from that token. (Not for an early end.)"""

    source: Source
    tokens: list[Token]
    failure: Failure

    @property
    def token(self) -> Token:
        """The unexpected token."""
        return self.tokens[self.failure.index]

    @property
    def before(self) -> Token:
        """The token before it; at the start of the statement, the same token."""
        return self.tokens[max(self.failure.index - 1, 0)]

    @property
    def touches(self) -> bool:
        """Whether there is no space before the token."""
        return token_span(self.before).end == token_span(self.token).start

    def near(self, offset: int) -> Token | None:
        """The token at an offset from the unexpected one, if there is one."""
        index = self.failure.index + offset
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def span(self, first: int, last: int) -> Span:
        """The span from one offset to another; beyond the end, to the last token."""
        tokens = self.tokens
        start, end = max(self.failure.index + first, 0), min(self.failure.index + last, len(tokens) - 1)
        return token_span(tokens[start]).to(token_span(tokens[end]))

    def text(self, first: int, last: int) -> str:
        """The text from one offset to another, on one line."""
        return " ".join(self.source.slice(self.span(first, last)).split())

    @property
    def rest(self) -> int:
        """The offset of the last token of the statement."""
        return len(self.tokens) - 1 - self.failure.index

    def closing(self, offset: int) -> int | None:
        """The offset where the bracket at an offset is closed."""
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
        """The offset of the last token of the list item at an offset."""
        depth = 0
        for index in range(self.failure.index + offset, len(self.tokens)):
            token = self.tokens[index]
            if depth == 0 and (token.type == "COMMA" or token.type in CLOSING_TOKENS):
                return index - self.failure.index - 1
            depth += (token.type in OPENING_TOKENS) - (token.type in CLOSING_TOKENS)
        return self.rest

    @property
    def in_list(self) -> bool:
        """Whether it is among the arguments of a call, the options of a statement or the fields of a block."""
        opened = never_closed(self.tokens[: self.failure.index])
        return opened is not None and (opened.type in {"CALL", "LBRACE"} or opened is self.tokens[1])

    def accepts(self, *terminals: str) -> bool:
        """Whether each of these token types was expected."""
        return self.failure.accepted.issuperset(terminals)

    @property
    def in_condition(self) -> bool:
        """Whether it is in a condition: in a `require`, or after the `if` of the same parameter."""
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
        """A diagnostic at the token, or at the span `at`."""
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
