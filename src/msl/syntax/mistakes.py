"""Mistakes: what to say when a statement cannot be read — the words people really get wrong, then the general case."""

from __future__ import annotations

import re

from lark import Token

from msl.syntax.failure import Failure
from msl.syntax.literals import MEANT_UNIT
from msl.syntax.tokens import ENDING_TOKENS, RESERVED, STATEMENT_TOKENS, STATEMENTS, in_words, token_span
from msl.text.diagnostic import Diagnostic, Label, Severity
from msl.text.source import Source, Span
from msl.text.suggest import closest

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_OPENERS = {closer: opener for opener, closer in _CLOSERS.items()}
_DOUBLED = {"&&": ("and", "&"), "||": ("or", "|"), "**": ("*", "*")}
_FRACTION = re.compile(r"\.[0-9][0-9_]*([eE][+-]?[0-9]+)?")
#: Words that join others: where one stands out of place, it was hardly meant as a name.
_JOINING = frozenset("as for by then if and or not is of default".split())
#: Keywords that no sign follows.
_AT_ONCE = frozenset("MSL USE REQUIRE MINIMIZE MAXIMIZE SEARCH ENSEMBLE SEED".split())
#: What other languages write for such words.
_FOREIGN_WORDS = {"with": "by", "using": "by", "when": "if", "where": "if", "null": "none", "xor": "or"}
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
    word = str(culprit)
    if word not in RESERVED:
        return None
    followed_by = str(tokens[failure.index + 1]) if failure.index + 1 < len(tokens) else ""
    if word in _JOINING and "NUMBER" in failure.accepted and followed_by not in ("=", ":"):
        return None
    if failure.index and failure.index < len(tokens) and tokens[failure.index - 1].type == "DOT":
        help = f'for a parameter of that name write `."{word}"`'
    elif "STRING" in failure.accepted:
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
    in_condition = _in_condition(tokens, failure.index)
    in_brackets = _never_closed(tokens[: failure.index]) is not None
    return (
        _stray_sign(source, token, in_brackets)
        or _sign_after_keyword(source, tokens, failure.index)
        or _separated_unit(source, before, token)
        or _number_in_pieces(source, before, token)
        or (_condition_operator(source, before, token) if in_condition else _step_operator(source, before, token))
        or _space_before_call(source, before, token)
        or _wrong_bracket(source, tokens, failure.index)
        or _misspelt_word(source, failure, token)
        or _half_a_range(source, failure, tokens)
        or _option_without_call(source, tokens, failure.index)
        or _scale_of_a_value(source, before, token)
        or _default_of_a_value(source, failure, token)
        or _comma_between_steps(source, tokens, failure)
        or _missing_between(source, failure, before, token, in_condition)
        or _error(
            "MSL001",
            source,
            token_span(token),
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
    if len(tokens) == 1:
        message = f"{_found(tokens[-1])} is not finished"
    else:
        message = f"the statement ends after {_found(tokens[-1])}, and something is missing"
    return _error("MSL002", source, after, message, "", f"expected {_expected(failure.accepted)}")


def _never_closed(tokens: list[Token]) -> Token | None:
    stack: list[Token] = []
    for token in tokens:
        if str(token) in _CLOSERS and token.type != "STRING":
            stack.append(token)
        elif str(token) in _OPENERS and token.type != "STRING" and stack:
            stack.pop()
    return stack[-1] if stack else None


def _stray_sign(source: Source, token: Token, in_brackets: bool = False) -> Diagnostic | None:
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
            return _unknown_sign(source, text, span, in_brackets)
    return None


def _unknown_sign(source: Source, text: str, span: Span, in_brackets: bool) -> Diagnostic:
    if not text.isprintable():
        name = f"the invisible character U+{ord(text):04X}"
        return _error("MSL004", source, span, f"{name} has no meaning here", "", "remove it, or write a plain space")
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
    return _error("MSL004", source, span, f"`{text}` has no meaning here", "", help)


def _sign_after_keyword(source: Source, tokens: list[Token], index: int) -> Diagnostic | None:
    """`seed = 7`, `seed(7)`, `search: pso`: what follows a keyword follows it at once."""
    keyword, token = tokens[0], tokens[index]
    if index != 1 or keyword.type not in _AT_ONCE or token.type not in {"EQUALS", "COLON", "LPAR", "CALL"}:
        return None
    rest = [str(other) for other in tokens[2:] if str(other) != ")"]
    example = rest[0] if len(rest) == 1 else "…"
    message = f"`{keyword}` is followed by what it says, without `{token}`"
    return _error("MSL001", source, token_span(token), message, "", f"write `{keyword} {example}`")


def _option_without_call(source: Source, tokens: list[Token], index: int) -> Diagnostic | None:
    """`by cv 5`, `search pso 5`: options stand in parentheses."""
    before, token = tokens[index - 1], tokens[index]
    if token.type != "NUMBER" or before.type != "NAME" or index < 2:
        return None
    if tokens[index - 2].type not in {"BY", "THEN", "SEARCH", "ENSEMBLE"}:
        return None
    span = token_span(before).to(token_span(token))
    return _error(
        "MSL001", source, span, f"the options of `{before}` stand in parentheses", "", f"write `{before}({token})`"
    )


def _scale_of_a_value(source: Source, before: Token, token: Token) -> Diagnostic | None:
    """`gamma: 0.1 log`: only a range has a scale or a step."""
    if token.type not in {"LOG", "STEP"} or before.type != "NUMBER":
        return None
    message = f"`{token}` belongs to a range, and `{before}` is one value"
    return _error("MSL001", source, token_span(token), message, "", f"write a range before it: `{before}..… {token}`")


def _default_of_a_value(source: Source, failure: Failure, token: Token) -> Diagnostic | None:
    """`C = 3 default 4`: what is fixed has no default."""
    if token.type != "DEFAULT" or "COMMA" not in failure.accepted:
        return None
    help = "open the parameter with `:` and give it a domain, or remove `default`"
    return _error("MSL001", source, token_span(token), "`=` fixes a value, which has no default", "", help)


def _comma_between_steps(source: Source, tokens: list[Token], failure: Failure) -> Diagnostic | None:
    """`chain m = a, b`: commas separate arguments."""
    token = tokens[failure.index]
    follows_step = failure.index and tokens[failure.index - 1].type in ENDING_TOKENS
    if token.type != "COMMA" or not follows_step or tokens[0].type not in {"PART", "CHAIN"}:
        return None
    help = "for one step after another write `>>`, for a choice `|`"
    return _error("MSL001", source, token_span(token), "a comma does not join steps", "", help)


def _separated_unit(source: Source, before: Token, token: Token) -> Diagnostic | None:
    unit = MEANT_UNIT.get(str(token).lower())
    if before.type != "NUMBER" or unit is None:
        return None
    span = token_span(before).to(token_span(token))
    return _error("MSL011", source, span, "a unit touches its number", "", f"write `{before}{unit}`")


def _number_in_pieces(source: Source, before: Token, token: Token) -> Diagnostic | None:
    """`5 000`, `.5`, `5.`: numbers as they are written elsewhere."""
    start, end = token_span(before), token_span(token)
    if before.type == token.type == "NUMBER" and len(token) == 3 and token.isdigit() and before.isdigit():
        help = f"write `{before}_{token}`"
        return _error("MSL010", source, start.to(end), "a number has no spaces", "", help)
    if token.type == "DOT" and before.type == "NUMBER" and start.end == end.start:
        help = f"write `{before}`, or `{before}.0`"
        return _error("MSL010", source, start.to(end), "a number does not end with a dot", "", help)
    fraction = _FRACTION.match(source.text, end.start)
    if fraction is not None and before.type not in ENDING_TOKENS:
        span = Span(*fraction.span())
        return _error("MSL010", source, span, "a number does not begin with a dot", "", f"write `0{fraction[0]}`")
    return None


def _condition_operator(source: Source, before: Token, token: Token) -> Diagnostic | None:
    """`|`, `&`, `=`, `is not` or `in` where conditions are joined or compared."""
    span = token_span(token)
    if token.type in {"BAR", "AMPERSAND"}:
        word = "or" if token.type == "BAR" else "and"
        message = f"`{token}` joins steps, not conditions"
        return _error("MSL013", source, span, message, "", f"between conditions write `{word}`")
    if token.type == "EQUALS":
        return _error("MSL019", source, span, "`=` gives a value, it does not compare", "", "write `==`, or `is`")
    if token.type == "NOT" and before.type == "IS":
        message = "`not` stands before the whole condition"
        return _error("MSL001", source, span, message, "", "write `not (… is …)`")
    if str(token) == "in" and before.type in ENDING_TOKENS:
        help = "for one of several write `is`: `kernel is linear | rbf`"
        return _error("MSL001", source, span, "`in` is not an operator", "", help)
    return None


def _step_operator(source: Source, before: Token, token: Token) -> Diagnostic | None:
    """`>`, `->`, `>>>` for `>>`, and a `|` before the first alternative."""
    if token.type == "COMPARE" and str(token) == ">":
        touches = before.type in {"MINUS", "THROUGH"} and token_span(before).end == token_span(token).start
        span = token_span(before).to(token_span(token)) if touches else token_span(token)
        message = f"`{source.slice(span)}` does not join steps"
        return _error("MSL001", source, span, message, "", "for one step after another write `>>`")
    if token.type in {"BAR", "THROUGH", "AMPERSAND"} and before.type in {"EQUALS", "COLON", "LPAR", "CALL", "COMMA"}:
        message = f"`{token}` stands between two steps, and there is none before it"
        return _error("MSL001", source, token_span(token), message, "", "remove it")
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


def _misspelt_word(source: Source, failure: Failure, token: Token) -> Diagnostic | None:
    """A name where other words fit, and one of them is close: `steps` for `step`, `with` for `by`."""
    if token.type != "NAME":
        return None
    words = [terminal.lower() for terminal in failure.accepted if terminal.lower() in RESERVED]
    foreign = _FOREIGN_WORDS.get(str(token))
    meant = [foreign] if foreign in words else closest(str(token), words, 1) if len(token) > 2 else []
    if not meant:
        return None
    message = f"{_found(token)} does not fit here"
    return _error("MSL001", source, token_span(token), message, "", f"did you mean `{meant[0]}`?")


def _half_a_range(source: Source, failure: Failure, tokens: list[Token]) -> Diagnostic | None:
    """`int 1 to 10`, `int 1-10`, `int(1..10)`: a kind begins a range, and `..` makes one."""
    if "DOTDOT" not in failure.accepted or "COMMA" in failure.accepted or "$END" in failure.accepted:
        return None
    at = next((i for i in reversed(range(failure.index)) if tokens[i].type in {"INT", "REAL"}), None)
    if at is None:
        return None
    kind = tokens[at]
    help = f"write `{kind} 1..10`"
    if tokens[at + 1].type == "LPAR":
        return _error("MSL001", source, token_span(tokens[at + 1]), f"`{kind}` takes no parentheses", "", help)
    return Diagnostic(
        "MSL001",
        Severity.ERROR,
        f"`{kind}` begins a range, and its `..` is missing",
        Label(source, token_span(tokens[failure.index]), "`..` belongs before this"),
        (Label(source, token_span(kind), "the range begins here"),),
        help=help,
    )


def _missing_between(
    source: Source, failure: Failure, before: Token, token: Token, in_condition: bool
) -> Diagnostic | None:
    """Two names or values side by side: in a list a comma is missing, between steps and conditions an operator."""
    if token.type not in {"NAME", "STRING", "NUMBER"} or before.type not in ENDING_TOKENS:
        return None
    end = token_span(before).end
    gap = Span(end, end + 1)
    one, other = _found(before), _found(token)
    pair = f"{one} and {other}"
    if "COMMA" in failure.accepted:
        help = f"write {one[:-1]}, {other[1:]}"
        return _error("MSL001", source, gap, f"a comma is missing between {pair}", "", help)
    if in_condition:
        help = "join conditions with `and` or `or`"
        return _error("MSL001", source, gap, f"something is missing between {pair}", "", help)
    if {"BAR", "THROUGH"} <= failure.accepted:
        help = "join steps with `>>` (one after another), `|` (one of them) or `&` (side by side)"
        return _error("MSL001", source, gap, f"an operator is missing between {pair}", "", help)
    return None


def _in_condition(tokens: list[Token], index: int) -> bool:
    """Whether a token stands among conditions: in a `require`, or after the `if` of the same parameter."""
    if tokens[0].type == "REQUIRE":
        return True
    for token in reversed(tokens[:index]):
        if token.type in {"COMMA", "LBRACE", "CALL"}:
            return False
        if token.type == "IF":
            return True
    return False


def _found(token: Token) -> str:
    return f"`{token}`" if len(token) <= 40 else f"`{token[:37]}…`"


def _expected(accepted: frozenset[str]) -> str:
    """What would have fitted, in words; operators come last and are cut first, for they rarely are what is missing."""
    if "NOT" in accepted:
        return "a condition, such as `svc`, `k <= 10` or `kernel is linear | rbf`"
    if "INT" in accepted:
        return "a step, a value or a domain, such as `svc`, `0.5` or `int 1..10`"
    if {"NAME", "NUMBER", "LPAR"} <= accepted:
        return "a name or a number"
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
