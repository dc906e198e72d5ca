"""Comments: those of a text, handed out in order as the printer passes the places where they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from msl.syntax.ast import Comment
from msl.text.source import Source

#: What may stand before the first word of a parenthesised expression.
_BEFORE_WORD = re.compile(r"(?:[( \t\f\r\n]|#[^\r\n]*)*")


@dataclass(frozen=True, slots=True)
class Placed:
    """A comment, whether it has a line of its own, and whether a blank line stands before it."""

    text: str
    own_line: bool
    after_blank: bool


class Comments:
    """The comments not yet printed; each is handed out once and in order, so none is lost or moves past another."""

    def __init__(self, source: Source, comments: Sequence[Comment]) -> None:
        self._source = source
        self._comments = comments
        self._next = 0

    @staticmethod
    def none() -> Comments:
        """For a tree without a text."""
        return Comments(Source("", ""), ())

    def take(self, before: int) -> list[Placed]:
        """Those that stand before an offset."""
        taken = []
        while self.any_before(before):
            taken.append(self._place(self._comments[self._next]))
            self._next += 1
        return taken

    def take_trailing(self, before: int) -> list[Placed]:
        """The next one, if it stands before an offset and shares a line with what it follows: one comment or none."""
        if not self.any_before(before) or self._place(self._comments[self._next]).own_line:
            return []
        self._next += 1
        return [self._place(self._comments[self._next - 1])]

    def any_before(self, offset: int) -> bool:
        return self._next < len(self._comments) and self._comments[self._next].span.start < offset

    def after_blank(self, offset: int) -> bool:
        """Whether a blank line stands before what begins at an offset."""
        return self._line_ends_before(offset) > 1

    def first_word(self, offset: int) -> int:
        """Where the first word of an expression stands, past the parentheses and comments that it begins with."""
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
