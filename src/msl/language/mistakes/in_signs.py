"""Rules for quotes, brackets, comment signs and other characters that MSL does not have, or not there."""

from __future__ import annotations

import re
import unicodedata

from lark import Token

from msl.diagnostics.diagnostic import Diagnostic, Label, Severity
from msl.diagnostics.source import Source, Span
from msl.language.mistakes.unreadable import CLOSERS, OPENERS, UnreadableStatement, never_closed
from msl.language.tokens import RESERVED, token_span

_JOINING = frozenset({"THROUGH", "BAR", "AMPERSAND"})
#: Full-width closing brackets, as typed with East Asian input methods.
_WIDE = {")": "）", "]": "］", "}": "｝"}
_DOUBLED = {"&&": ("and", "&"), "||": ("or", "|"), "**": ("*", "*")}
_COMMENTS = ("//", "/*", "--", "<!--", '"""')
#: Signs that start a comment in other languages, but only at the start of a line.
_COMMENTS_OF_LINES = ("%", ";")
_SMART = re.compile(r"[“”„‟«»‘’‚]([^“”„‟«»‘’‚\r\n\"]*)[“”„‟«»‘’‚]")
#: The rest of a line that ends with a colon, and the lines below that are indented.
_BODY = re.compile(r"[^\n]*:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]+[^\n]*\n?|\r?\n)*")
_BASE = r"[0-9][0-9_]*(?:\.[0-9]+)?"
_EXPONENT = r"[-+]?\s*[0-9]+"
_POWER = re.compile(rf"({_BASE})\s*(?:\^|\*\*)\s*({_EXPONENT})")
_STARS = re.compile(r"\s*\*\*\s*")
_END = rf"-?{_BASE}(?:\s*(?:\^|\*\*)\s*{_EXPONENT}|[eE][+-]?[0-9]+)?"
_RANGE_OF_POWERS = re.compile(rf"({_END})\s*\.\.\s*({_END})")
_NEAR = 100
_LONGEST_SKIPPED = 10_000  # a bound, so that a file full of these is not slow to check
#: Characters that look like signs of MSL, or mean the same elsewhere.
_LOOKALIKES = {
    "“": '"',
    "”": '"',
    "„": '"',
    "‘": '"',
    "’": '"',
    "–": "-",
    "—": "-",
    "−": "-",
    "×": "*",
    "÷": "/",
    "…": "..",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "→": ">>",
    "⇒": ">>",
    "⟶": ">>",
    "≫": ">>",
    "»": ">>",
    "«": '"',
    "·": "*",
    "¦": "|",
    "、": ",",
    "。": ".",
    "¬": "not",
    "∧": "and",
    "∨": "or",
    "!": "not",
}


def comment_sign(source: Source, token: Token) -> Diagnostic | None:
    """`// …`, `/* … */`, `-- …`, `% …`: comment signs of other languages."""
    start = token_span(token).start
    line = source.line_span(source.position(start).line)
    indent = len(source.slice(line)) - len(source.slice(line).lstrip())
    for place in (start, line.start + indent, max(start - 1, line.start)):
        sign = next((sign for sign in _COMMENTS if source.text.startswith(sign, place)), None)
        if sign is None and place == line.start + indent and source.text.startswith(_COMMENTS_OF_LINES, place):
            sign = source.text[place]
        if sign is not None:
            span = Span(place, place + len(sign))
            return _error("MSL004", source, span, f"`{sign}` does not start a comment", "write `#`")
    return None


def end_of_reported_text(source: Source, diagnostic: Diagnostic) -> int:
    """The end of the multi-line comment or function body that a diagnostic reports; 0 if it is neither."""
    closers = {"/*": "*/", "<!--": "-->", '"""': '"""'}
    span = diagnostic.primary.span
    text = source.slice(span)
    if diagnostic.code == "MSL004" and text in closers:
        end = source.text.find(closers[text], span.end, span.end + _LONGEST_SKIPPED)
        return end + len(closers[text]) if end >= 0 else 0
    if diagnostic.code == "MSL035" and text.endswith(".msl"):  # a file without quotes: this `msl` is not the keyword
        return span.end
    if diagnostic.code == "MSL007" and text in ("def", "class", "for", "while", "with", "if"):
        body = _BODY.match(source.text, span.end, span.end + _LONGEST_SKIPPED)
        return body.end() if body is not None else 0
    return 0


def stray_sign(source: Source, token: Token, in_brackets: bool = False) -> Diagnostic | None:
    """A character that no statement can contain."""
    text, span = str(token), token_span(token)
    match token.type:
        case "OPEN_STRING":
            help = 'a string ends with `"` on the line where it starts; write `\\n` for a line break'
            return _error("MSL005", source, span, "this string is never closed", help)
        case "QUOTED":
            name = text.strip("'")
            plain = name if name.isidentifier() and name not in RESERVED else f'"{name}"'
            return _error("MSL006", source, span, "strings take double quotes", f"write `{plain}`")
        case "DOUBLED":
            word, single = _DOUBLED[text]
            if text == "**":
                return power(source, span)
            help = f"between conditions write `{word}`, between steps `{single}`"
            return _error("MSL013", source, span, f"`{text}` is not an operator", help)
        case "UNKNOWN":
            return _unknown_sign(source, text, span, in_brackets)
    return None


def _unknown_sign(source: Source, text: str, span: Span, in_brackets: bool) -> Diagnostic:
    if not text.isprintable():
        name = f"the invisible character U+{ord(text):04X}"
        return _error("MSL004", source, span, f"{name} has no meaning here", "remove it, or write a plain space")
    smart = _SMART.match(source.text, span.start)
    if smart is not None:
        return _error("MSL035", source, Span(*smart.span()), "strings take straight quotes", f'write `"{smart[1]}"`')
    if unicodedata.category(text) == "No":  # a small raised number
        return power(source, span)
    plain = _LOOKALIKES.get(text) or unicodedata.normalize("NFKC", text)
    if plain != text and plain.isascii() and plain.isprintable():
        return _lookalikes(source, span, text, plain)
    if text == ";":
        help = "write `,`" if in_brackets else "remove it: statements do not end with a sign"
    elif text == "\\":
        help = "remove it: line breaks have no meaning"
    elif text.isalpha():
        help = "names consist of the letters a to z, digits and `_`; put any other name in double quotes"
    else:
        help = "remove it, or put the string that contains it in double quotes"
    return _error("MSL004", source, span, f"`{text}` has no meaning here", help)


def _lookalikes(source: Source, span: Span, text: str, plain: str) -> Diagnostic:
    """A character that looks like a sign of MSL; a bracket is reported with its partner."""
    also: tuple[Label, ...] = ()
    help = f"write `{plain}`"
    closer = CLOSERS.get(plain)
    partner = (
        source.text.find(_WIDE.get(closer, "\0"), span.end, span.end + _LONGEST_SKIPPED) if closer is not None else -1
    )
    if closer is not None and partner >= 0:
        also = (Label(source, Span(partner, partner + 1), ""),)
        help = f"write `{plain}` and `{closer}`"
    return Diagnostic("MSL004", Severity.ERROR, f"`{text}` has no meaning here", Label(source, span, ""), also, help)


def power(source: Source, span: Span) -> Diagnostic:
    """`2**-15..2**3`, `10²`: powers are written with `^`."""
    text = source.slice(span)
    message = f"`{text}` is not an operator: a power is written with `^`"
    near = (max(span.start - _NEAR, 0), span.end + _NEAR)
    for pattern in (_RANGE_OF_POWERS, _POWER):
        for match in pattern.finditer(source.text, *near):
            if match.start() <= span.start < match.end():
                meant = _STARS.sub("^", match[0])
                return _error("MSL035", source, Span(*match.span()), message, f"write `{meant}`")
    if text == "**":
        return _error("MSL035", source, span, message, "write `^`")
    return _error("MSL004", source, span, message, f"write `^{unicodedata.normalize('NFKC', text)}`")


def wrong_bracket(statement: UnreadableStatement) -> Diagnostic | None:
    """A closing bracket that closes nothing, or another kind."""
    text = str(statement.token)
    if text not in OPENERS or statement.token.type == "STRING":
        return None
    opened = never_closed(statement.tokens[: statement.failure.index])
    if opened is None:
        return statement.error("MSL003", f"`{text}` closes nothing", "remove it, or add the opening bracket")
    if CLOSERS[str(opened)] == text:
        return None
    also = (Label(statement.source, token_span(opened), "opened here"),)
    return statement.error(
        "MSL003", f"`{text}` does not close `{opened}`", f"write `{CLOSERS[str(opened)]}`", also=also
    )


def never_closed_bracket(source: Source, tokens: list[Token]) -> Diagnostic | None:
    """A bracket that is open when the statement ends."""
    opened = never_closed(tokens)
    if opened is None:
        return None
    end = token_span(tokens[-1]).end
    closer = CLOSERS[str(opened)]
    return Diagnostic(
        "MSL003",
        Severity.ERROR,
        f"`{opened}` is never closed",
        Label(source, token_span(opened), "opened here"),
        (Label(source, Span(end, min(end + 1, len(source.text))), f"the statement ends here without `{closer}`"),),
        help=f"add `{closer}`",
    )


def braces_for_alternatives(statement: UnreadableStatement) -> Diagnostic | None:
    """`degree: {1, 2}`: a set, as other languages write it."""
    if statement.token.type != "LBRACE" or not statement.accepts("INT"):
        return None
    items: list[str] = []
    offset = 1
    while (token := statement.near(offset)) is not None and token.type in {"NAME", "NUMBER", "STRING", "COMMA"}:
        if token.type != "COMMA":
            items.append(str(token))
        offset += 1
    is_set = token is not None and token.type == "RBRACE" and items
    joined = " | ".join(items)
    after = statement.near(offset + 1)
    if statement.before.type in _JOINING or (after is not None and after.type in _JOINING):
        joined = f"({joined})"
    help = (
        f"write `{joined}`"
        if is_set
        else "join alternatives with `|`: `conv { width: 3 | 5 } | dense { units: int 8..64 }`"
    )
    message = "braces are for the parameters of a block, not for alternatives"
    return statement.error("MSL001", message, help, statement.span(0, offset if is_set else 0))


def parentheses_for_braces(statement: UnreadableStatement) -> Diagnostic | None:
    """`block b: learner "m:C" (…)`: the parameters of a declaration go in braces."""
    if statement.token.type not in {"LPAR", "CALL"} or statement.failure.accepted != {"LBRACE"}:
        return None
    message = "the parameters that a block declares go in braces"
    return statement.error("MSL001", message, "write `{ … }`")


def _error(code: str, source: Source, span: Span, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, Label(source, span), help=help)
