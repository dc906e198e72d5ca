"""Mistakes: what to say when a statement cannot be read — the words people really get wrong, then the general case."""

from __future__ import annotations

from dataclasses import dataclass

from lark import Token

from msl.syntax.literals import MEANT_UNIT
from msl.syntax.tokens import RESERVED, STATEMENT_TOKENS, STATEMENTS, in_words, token_span
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source, Span
from msl.text.suggest import closest

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_OPENERS = {closer: opener for opener, closer in _CLOSERS.items()}
_DOUBLED = {"&&": ("and", "&"), "||": ("or", "|"), "**": ("*", "*")}
#: What other languages start such statements with.
_FOREIGN_STATEMENTS = {
    "import": "use",
    "include": "use",
    "from": "use",
    "def": "part",
    "let": "part",
    "pipeline": "chain",
    "model": "chain",
    "space": "chain",
    "constraint": "require",
    "assert": "require",
    "minimise": "minimize",
    "maximise": "maximize",
    "objective": "minimize",
    "optimize": "minimize",
    "strategy": "search",
    "limit": "budget",
    "random_state": "seed",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Where reading a statement stopped: the index of the token that did not fit, and what would have."""

    index: int
    accepted: frozenset[str]

    @property
    def complete_before(self) -> bool:
        """Whether what was read so far is a statement."""
        return "$END" in self.accepted


def misspelt_statement(source: Source, tokens: list[Token]) -> tuple[Diagnostic, str | None]:
    """Text where a statement should start, and the keyword that was probably meant."""
    word, span = str(tokens[0]), token_span(tokens[0])
    if tokens[0].type not in {"NAME", *(w.upper() for w in RESERVED)}:
        diagnostic = _stray_sign(source, tokens[0])
        if diagnostic is None:
            diagnostic = _error("MSL007", source, span, f"no statement starts with `{word}`", "", _statement_list())
        return diagnostic, None
    meant = _FOREIGN_STATEMENTS.get(word) or next(iter(closest(word, STATEMENTS, 1)), None)
    help = f"did you mean `{meant}`?" if meant else _statement_list()
    if meant is None and len(tokens) > 1 and tokens[1].type in {"EQUALS", "COLON"}:
        help = f"to name a piece of a space write `part {word} = …`"
    return _error("MSL007", source, span, f"`{word}` does not start a statement", "", help), meant


def reserved_as_name(
    source: Source, failure: Failure, tokens: list[Token], following: Token | None
) -> Diagnostic | None:
    """A keyword where a name belongs: inside the statement, or one that seemed to start the next."""
    if "NAME" not in failure.accepted:
        return None
    if failure.index < len(tokens):
        culprit = tokens[failure.index]
    elif following is not None and source.position(following.start_pos or 0).line == _line_of_end(source, tokens[-1]):
        culprit = following
    else:
        return None
    if str(culprit) not in RESERVED:
        return None
    word = str(culprit)
    if "STRING" in failure.accepted:
        help = f'for a parameter, a column or an alternative of that name write `"{word}"`'
    else:
        help = f"choose another name, such as `{word}_` or `my_{word}`"
    label = "has a meaning of its own"
    return _error("MSL008", source, token_span(culprit), f"`{word}` is a reserved word", label, help)


def explain(source: Source, failure: Failure, tokens: list[Token]) -> Diagnostic:
    """One syntax error: its own answer if it is a common one, else what was expected and what was found."""
    if failure.index >= len(tokens):
        return _unexpected_end(source, failure, tokens)
    token = tokens[failure.index]
    before = tokens[failure.index - 1] if failure.index else token
    span = token_span(token)
    return (
        _stray_sign(source, token)
        or _separated_unit(source, before, token)
        or _condition_operator(source, tokens, token, before, failure)
        or _space_before_call(source, before, token)
        or _wrong_bracket(source, tokens, failure.index)
        or _missing_comma(source, failure, before, token)
        or _error(
            "MSL001",
            source,
            span,
            f"{_found(token)} does not fit here",
            "",
            f"expected {_expected(failure.accepted)}",
        )
    )


def _unexpected_end(source: Source, failure: Failure, tokens: list[Token]) -> Diagnostic:
    end = token_span(tokens[-1]).end
    after = Span(end, min(end + 1, len(source.text)))
    if (opened := _never_closed(tokens)) is not None:
        closer = _CLOSERS[str(opened)]
        return Diagnostic(
            "MSL003",
            Severity.ERROR,
            f"`{opened}` is never closed",
            Label(source, token_span(opened), "opened here"),
            (Label(source, after, f"the statement ends here without `{closer}`"),),
            help=f"add `{closer}`",
        )
    last = str(tokens[-1])
    if len(tokens) == 1:
        message = f"`{last}` is not finished"
    else:
        message = f"the statement ends after `{last}`, and something is missing"
    return _error("MSL002", source, after, message, "", f"expected {_expected(failure.accepted)}")


def _never_closed(tokens: list[Token]) -> Token | None:
    stack: list[Token] = []
    for token in tokens:
        if str(token) in _CLOSERS and token.type != "STRING":
            stack.append(token)
        elif str(token) in _OPENERS and token.type != "STRING" and stack:
            stack.pop()
    return stack[-1] if stack else None


def _stray_sign(source: Source, token: Token) -> Diagnostic | None:
    text, span = str(token), token_span(token)
    match token.type:
        case "OPEN_STRING":
            help = 'a text ends with `"` on the line it began on; write `\\n` for a line break'
            return _error("MSL005", source, span, "this text is never closed", "", help)
        case "QUOTED":
            name = text.strip("'")
            plain = name if name.isidentifier() and name not in RESERVED else f'"{name}"'
            return _error("MSL006", source, span, "texts take double quotes", "", f"write `{plain}`")
        case "DOUBLED":
            word, single = _DOUBLED[text]
            if text == "**":
                return _error("MSL004", source, span, "there is no power operator", "", "write `x * x`, or `sqrt(x)`")
            help = f"between conditions write `{word}`, between steps `{single}`"
            return _error("MSL013", source, span, f"`{text}` is not an operator", "", help)
        case "UNKNOWN":
            shown = text if text.isprintable() else f"U+{ord(text):04X}"
            help = "remove it" if text in ";\\" else "names have letters, digits and `_`; write others in double quotes"
            return _error("MSL004", source, span, f"`{shown}` has no meaning here", "", help)
    return None


def _separated_unit(source: Source, before: Token, token: Token) -> Diagnostic | None:
    unit = MEANT_UNIT.get(str(token).lower())
    if before.type != "NUMBER" or unit is None:
        return None
    span = token_span(before).to(token_span(token))
    return _error("MSL011", source, span, "a unit touches its number", "", f"write `{before}{unit}`")


def _condition_operator(
    source: Source, tokens: list[Token], token: Token, before: Token, failure: Failure
) -> Diagnostic | None:
    """`|`, `&` or `=` where conditions are joined or compared."""
    in_condition = tokens[0].type == "REQUIRE" or any(t.type == "IF" for t in tokens[: failure.index])
    if not in_condition:
        return None
    span = token_span(token)
    if token.type in {"BAR", "AMPERSAND"}:
        word = "or" if token.type == "BAR" else "and"
        message = f"`{token}` joins steps, not conditions"
        return _error("MSL013", source, span, message, "", f"between conditions write `{word}`")
    if token.type == "EQUALS":
        return _error("MSL019", source, span, "`=` gives a value, it does not compare", "", "write `==`, or `is`")
    return None


def _space_before_call(source: Source, before: Token, token: Token) -> Diagnostic | None:
    if token.type != "LPAR" or before.type != "NAME":
        return None
    span = Span(token_span(before).end, token_span(token).end)
    return _error("MSL015", source, span, "a call's `(` touches its name", "", f"write `{before}(`")


def _wrong_bracket(source: Source, tokens: list[Token], index: int) -> Diagnostic | None:
    text = str(tokens[index])
    if text not in _OPENERS or tokens[index].type == "STRING":
        return None
    opened = _never_closed(tokens[:index])
    span = token_span(tokens[index])
    if opened is None:
        return _error("MSL003", source, span, f"`{text}` closes nothing", "", "remove it, or open it before")
    if _CLOSERS[str(opened)] == text:
        return None
    return Diagnostic(
        "MSL003",
        Severity.ERROR,
        f"`{text}` does not close `{opened}`",
        Label(source, span),
        (Label(source, token_span(opened), "opened here"),),
        help=f"write `{_CLOSERS[str(opened)]}`",
    )


def _missing_comma(source: Source, failure: Failure, before: Token, token: Token) -> Diagnostic | None:
    """A name or a value right after a value, inside brackets: a comma is missing far more often than an operator."""
    if "COMMA" not in failure.accepted or token.type not in {"NAME", "STRING", "NUMBER"}:
        return None
    end = token_span(before).end
    message = f"a comma is missing between `{before}` and `{token}`"
    return _error("MSL001", source, Span(end, end + 1), message, "", f"write `{before}, {token}`")


def _found(token: Token) -> str:
    return f"`{token}`" if len(token) <= 40 else f"`{token[:37]}…`"


def _expected(accepted: frozenset[str]) -> str:
    """What would have fitted, in words; operators come last and are cut first, for they rarely are what is missing."""
    first = [t for t in ("NAME", "NUMBER", "STRING", "$END") if t in accepted]
    signs = sorted(accepted - set(first) - STATEMENT_TOKENS - {"CALL"})
    words = list(dict.fromkeys(in_words(terminal) for terminal in first + signs))
    shown = words[:6]
    if len(words) == 1:
        return words[0]
    if len(words) > 6:
        return ", ".join(shown) + " or the like"
    return ", ".join(shown[:-1]) + f" or {shown[-1]}"


def _line_of_end(source: Source, token: Token) -> int:
    return source.position(token_span(token).end).line


def _statement_list() -> str:
    return "statements start with " + ", ".join(f"`{word}`" for word in STATEMENTS)


def _error(code: str, source: Source, span: Span, message: str, label: str, help: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, Label(source, span, label), help=help)
