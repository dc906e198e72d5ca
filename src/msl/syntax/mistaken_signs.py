"""Mistaken signs: quotes, brackets, comments and other signs that MSL does not have, or not there."""

from __future__ import annotations

from lark import Token

from msl.syntax.tokens import RESERVED, token_span
from msl.syntax.trouble import CLOSERS, OPENERS, Trouble, never_closed
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source, Span

_DOUBLED = {"&&": ("and", "&"), "||": ("or", "|"), "**": ("*", "*")}
_COMMENTS = ("//", "/*", "--", "<!--")
#: What word processors and other languages make of our signs.
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
    "¬": "not",
    "∧": "and",
    "∨": "or",
    "!": "not",
}


def foreign_comment(source: Source, token: Token) -> Diagnostic | None:
    """`// …`, `/* … */`, `-- …`: comments of other languages."""
    start = token_span(token).start
    line = source.line_span(source.position(start).line)
    indent = len(source.slice(line)) - len(source.slice(line).lstrip())
    for place in (start, line.start + indent):
        sign = next((sign for sign in _COMMENTS if source.text.startswith(sign, place)), None)
        if sign is not None:
            span = Span(place, place + len(sign))
            return _error("MSL004", source, span, f"`{sign}` starts no comment", "write `#`")
    return None


def stray_sign(source: Source, token: Token, in_brackets: bool = False) -> Diagnostic | None:
    """A sign that no statement can hold."""
    text, span = str(token), token_span(token)
    match token.type:
        case "OPEN_STRING":
            help = 'a text ends with `"` on the line it began on; write `\\n` for a line break'
            return _error("MSL005", source, span, "this text is never closed", help)
        case "QUOTED":
            name = text.strip("'")
            plain = name if name.isidentifier() and name not in RESERVED else f'"{name}"'
            return _error("MSL006", source, span, "texts take double quotes", f"write `{plain}`")
        case "DOUBLED":
            word, single = _DOUBLED[text]
            if text == "**":
                return _error(
                    "MSL004", source, span, "there is no power operator", "write `x * x`, `sqrt(x)` or `1e-3`"
                )
            help = f"between conditions write `{word}`, between steps `{single}`"
            return _error("MSL013", source, span, f"`{text}` is not an operator", help)
        case "UNKNOWN":
            return _unknown_sign(source, text, span, in_brackets)
    return None


def _unknown_sign(source: Source, text: str, span: Span, in_brackets: bool) -> Diagnostic:
    if not text.isprintable():
        name = f"the invisible character U+{ord(text):04X}"
        return _error("MSL004", source, span, f"{name} has no meaning here", "remove it, or write a plain space")
    if text == "^":
        return _error("MSL004", source, span, "there is no power operator", "write `x * x`, `sqrt(x)` or `1e-3`")
    if text in _LOOKALIKES:
        help = f"write `{_LOOKALIKES[text]}`"
    elif text == ";":
        help = "write `,`" if in_brackets else "remove it: statements need no sign at their end"
    elif text == "\\":
        help = "remove it: line breaks carry no meaning"
    elif text.isalpha():
        help = "names are made of the letters a to z, digits and `_`; other texts stand in double quotes"
    else:
        help = "remove it, or put the text that it belongs to in double quotes"
    return _error("MSL004", source, span, f"`{text}` has no meaning here", help)


def wrong_bracket(trouble: Trouble) -> Diagnostic | None:
    """A closing bracket that closes nothing, or another kind."""
    text = str(trouble.token)
    if text not in OPENERS or trouble.token.type == "STRING":
        return None
    opened = never_closed(trouble.tokens[: trouble.failure.index])
    if opened is None:
        return trouble.error("MSL003", f"`{text}` closes nothing", "remove it, or open it before")
    if CLOSERS[str(opened)] == text:
        return None
    also = (Label(trouble.source, token_span(opened), "opened here"),)
    return trouble.error("MSL003", f"`{text}` does not close `{opened}`", f"write `{CLOSERS[str(opened)]}`", also=also)


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


def braces_for_alternatives(trouble: Trouble) -> Diagnostic | None:
    """`degree: {1, 2}`: a set, as other languages write it."""
    if trouble.token.type != "LBRACE" or not trouble.accepts("INT"):
        return None
    items: list[str] = []
    offset = 1
    while (token := trouble.near(offset)) is not None and token.type in {"NAME", "NUMBER", "STRING", "COMMA"}:
        if token.type != "COMMA":
            items.append(str(token))
        offset += 1
    is_set = token is not None and token.type == "RBRACE" and items
    help = f"write `{' | '.join(items)}`" if is_set else "join alternatives with `|`"
    return trouble.error("MSL001", "braces hold the parameters of a block, not alternatives", help)


def parentheses_for_braces(trouble: Trouble) -> Diagnostic | None:
    """`block b: learner "m:C" (…)`: the parameters of a declaration stand in braces."""
    if trouble.token.type not in {"LPAR", "CALL"} or trouble.failure.accepted != {"LBRACE"}:
        return None
    message = "the parameters that a block declares stand in braces"
    return trouble.error("MSL001", message, "write `{ … }`")


def _error(code: str, source: Source, span: Span, message: str, help: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, Label(source, span), help=help)
