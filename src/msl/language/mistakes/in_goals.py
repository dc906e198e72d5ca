"""Mistaken goals: objectives, estimates, strategies, limits and requirements joined as other languages join them.

What each of these underlines is what its help replaces.
"""

from __future__ import annotations

from msl.diagnostics.diagnostic import Diagnostic
from msl.language.literals import BYTES, MEANT_UNIT, SECONDS
from msl.language.mistakes.unreadable import Trouble
from msl.language.tokens import ENDING_TOKENS, token_span

_GOALS = frozenset({"MINIMIZE", "MAXIMIZE"})
_IMPLIES = frozenset({"implies", "then", "THEN"})
#: What other tools call files of data.
_TABLES = (".csv", ".tsv", ".parquet", ".gz", ".arff", ".xlsx", ".json")


def estimate_without_by(trouble: Trouble) -> Diagnostic | None:
    """`minimize ber cv = 5`, `minimize ber cv(folds = 5)`, `minimize ber, by cv(5)`, `minimize ber (by cv(5))`."""
    if trouble.tokens[0].type not in _GOALS:
        return None
    token, before, after = trouble.token, trouble.before, trouble.near(1)
    message = "`by` stands before an estimate"
    if token.type == "BY" and before.type == "COMMA":
        objective = trouble.near(-2)
        return trouble.error("MSL035", "no comma stands before `by`", f"write `{objective} by`", trouble.span(-2, 0))
    if token.type == "LPAR" and after is not None and after.type == "BY" and (end := trouble.closing(0)) is not None:
        help = f"write `{trouble.text(1, end - 1)}`"
        return trouble.error("MSL035", "`by` needs no parentheses", help, trouble.span(0, end))
    if token.type == "EQUALS" and before.type == "NAME" and after is not None:
        joined = trouble.near(-2)
        call = f"{before}({trouble.text(1, trouble.rest)})"
        if joined is not None and joined.type == "BY":
            message = f"the options of `{before}` stand in parentheses"
            return trouble.error("MSL035", message, f"write `{call}`", trouble.span(-1, trouble.rest))
        if joined is not None and joined.type == "COMMA":
            objective = trouble.near(-3)
            return trouble.error("MSL035", message, f"write `{objective} by {call}`", trouble.span(-3, trouble.rest))
    if token.type != "NAME" or before.type not in ENDING_TOKENS or after is None:
        return None
    if after.type == "CALL":
        return trouble.error("MSL035", message, f"write `by {token}`")
    if after.type in {"EQUALS", "NUMBER"} and trouble.rest > 0:
        value = trouble.text(2 if after.type == "EQUALS" else 1, trouble.rest)
        return trouble.error("MSL035", message, f"write `by {token}({value})`", trouble.span(0, trouble.rest))
    return None


def objectives_joined(trouble: Trouble) -> Diagnostic | None:
    """`minimize ber and features`: objectives are listed."""
    if trouble.tokens[0].type not in _GOALS or trouble.token.type not in {"AND", "AMPERSAND"}:
        return None
    return trouble.error("MSL035", "a comma stands between objectives", "write `,`")


def strategies_joined(trouble: Trouble) -> Diagnostic | None:
    """`search random, pattern`, `random >> pattern`, `random -> pattern`: `then` joins strategies."""
    if trouble.tokens[0].type != "SEARCH" or not trouble.accepts("THEN") or trouble.in_brackets:
        return None
    token, after = trouble.token, trouble.near(1)
    arrow = token.type in {"MINUS", "EQUALS"} and str(after) == ">"
    if not arrow and token.type not in {"COMMA", "THROUGH", "PLUS", "BAR", "AMPERSAND", "AND", "COMPARE"}:
        return None
    return trouble.error("MSL035", "`then` stands between strategies", "write `then`", trouble.span(0, int(arrow)))


def nothing_to_combine(trouble: Trouble) -> Diagnostic | None:
    """`ensemble none`: a spec without the statement builds none."""
    if trouble.tokens[0].type != "ENSEMBLE" or trouble.token.type not in {"NONE", "FALSE"}:
        return None
    whole = token_span(trouble.tokens[0]).to(token_span(trouble.token))
    return trouble.error("MSL001", "`ensemble` names what is built", "remove it: without it nothing is built", whole)


def limit_of_a_search(trouble: Trouble) -> Diagnostic | None:
    """`search random for 10min`, `search random until 500`: limits stand in a statement of their own."""
    if trouble.tokens[0].type != "SEARCH" or trouble.in_brackets:
        return None
    number, unit = trouble.near(1), trouble.near(2)
    if number is None or number.type != "NUMBER" or trouble.token.type not in {"FOR", "NAME"}:
        return None
    limit = limit_meant(str(number), str(unit) if unit is not None else "")
    help = f"write `budget({limit})`"
    return trouble.error("MSL035", "limits stand in a statement of their own", help, trouble.span(0, trouble.rest))


def limit_meant(number: str, unit: str = "") -> str:
    """The option of `budget` that a number stands for: `10min` is a time, `500` a number of evaluations."""
    written = number + MEANT_UNIT.get(unit, MEANT_UNIT.get(unit.lower(), ""))
    digits = written.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    name = written[len(digits) :]
    return f"{'time' if name in SECONDS else 'memory' if name in BYTES else 'evaluations'} = {written}"


def options_of_a_statement(trouble: Trouble) -> Diagnostic | None:
    """`budget 10 min`, `budget{time = 1h}`, `data: {target: class}`: options stand in parentheses."""
    keyword, token = trouble.tokens[0], trouble.token
    if trouble.failure.index != 1 or keyword.type not in {"BUDGET", "DATA"}:
        return None
    first = 1 if token.type in {"EQUALS", "COLON"} else 0
    opened = trouble.near(first)
    if opened is None:
        return None
    text = trouble.text(first, trouble.rest)
    if keyword.type == "DATA" and text.strip("\"'").endswith(_TABLES):
        message = "the table is no part of the spec"
        help = f"remove this, and name the table in the command: `msl run SPEC {text.strip(chr(34))}`"
        return trouble.error("MSL001", message, help, token_span(keyword).to(trouble.span(0, trouble.rest)))
    whole = token_span(keyword).to(trouble.span(0, trouble.rest))
    message = f"what `{keyword}` says stands in parentheses"
    if opened.type in {"LBRACE", "LSQB"} and trouble.closing(first) == trouble.rest:
        inner = trouble.text(first + 1, trouble.rest - 1)
        return trouble.error("MSL035", message, f"write `{keyword}({inner})`", whole)
    if keyword.type == "BUDGET" and opened.type == "NUMBER" and trouble.rest - first <= 1:
        unit = trouble.near(first + 1)
        limit = limit_meant(str(opened), str(unit) if unit is not None else "")
        return trouble.error("MSL035", message, f"write `{keyword}({limit})`", whole)
    return None


def implication(trouble: Trouble) -> Diagnostic | None:
    """`require a => b`, `a -> b`, `a implies b`, `if a then b`: the condition comes last, behind `if`."""
    if trouble.tokens[0].type != "REQUIRE" or trouble.in_brackets:
        return None
    token, after = trouble.token, trouble.near(1)
    message = "what a requirement depends on stands behind `if`"
    whole = token_span(trouble.tokens[0]).to(token_span(trouble.tokens[-1]))
    start = 1 - trouble.failure.index  # of the first token after the keyword
    if token.type == "IF" and start == 0:
        joint = next((i for i in range(1, trouble.rest) if str(trouble.near(i)) in _IMPLIES | {","}), None)
        if joint is None:
            return trouble.error("MSL001", message, "write `require … if …`")
        help = f"write `require {trouble.text(joint + 1, trouble.rest)} if {trouble.text(1, joint - 1)}`"
        return trouble.error("MSL035", message, help, whole)
    arrow = str(token) == ">" and trouble.before.type == "MINUS" and trouble.touches
    two_signs = arrow or (token.type == "EQUALS" and str(after) == ">" and not _compares_number(trouble))
    if not (two_signs or str(token) in _IMPLIES or str(token) == "unless") or trouble.rest < 1:
        return None
    first_sign = -1 if trouble.before.type == "MINUS" else 0
    last_sign = 1 if token.type == "EQUALS" else 0
    left, right = trouble.text(start, first_sign - 1), trouble.text(last_sign + 1, trouble.rest)
    if any(str(other) in ("if", "else", "=>", *_IMPLIES) for other in trouble.tokens[trouble.failure.index + 1 :]):
        return trouble.error("MSL001", message, "write `require … if …`")
    help = f"write `require {right} if {left}`"
    if str(token) == "unless":
        help = f"write `require {left} if not ({right})`"
    return trouble.error("MSL035", message, help, whole)


def branches_of_a_program(trouble: Trouble) -> Diagnostic | None:
    """`svm if x else lda`, `x ? a : b`, `a <=> b`: conditions in places of their own."""
    token, before = trouble.token, trouble.before
    in_space = trouble.tokens[0].type in {"PART", "CHAIN"} and not trouble.in_list
    if in_space and token.type in {"IF", "FOR"}:
        help = "join alternatives with `|`; which of them go together is said by `require … if …`"
        return trouble.error("MSL001", f"`{token}` has no place in a space", help)
    if trouble.tokens[0].type != "REQUIRE":
        return None
    if token.type == "QUESTION" or str(token) == "else":
        return trouble.error(
            "MSL001", f"`{token}` has no place in a requirement", "write one `require … if …` for each case"
        )
    both_ways = str(token) == ">" and str(before) == "<=" and trouble.touches
    if (both_ways or str(token) == "iff") and trouble.rest > 0:
        left = trouble.text(1 - trouble.failure.index, -2 if both_ways else -1)
        right = trouble.text(1, trouble.rest)
        whole = token_span(trouble.tokens[0]).to(token_span(trouble.tokens[-1]))
        help = f"write `require {right} if {left}` and `require {left} if {right}`"
        return trouble.error("MSL035", "each way is a requirement of its own", help, whole)
    return None


def _compares_number(trouble: Trouble) -> bool:
    """`svc.C => 2`: a misspelt `>=`."""
    value = trouble.near(2)
    return value is not None and value.type in {"NUMBER", "MINUS"}


def comparison_sign(trouble: Trouble) -> Diagnostic | None:
    """`<>`, `=<`, `=>` and `===` for `!=`, `<=`, `>=` and `==`; `between` and `x["y"]`."""
    if not trouble.in_condition:
        return None
    token, before, after = trouble.token, trouble.before, trouble.near(1)
    if str(token) == ">" and str(before) == "<" and trouble.touches:
        return trouble.error("MSL035", "unlike things are told by `!=`", "write `!=`", trouble.span(-1, 0))
    if token.type == "EQUALS" and after is not None and after.type == "COMPARE":
        sign = {"=<": "<=", "=>": ">="}.get(trouble.text(0, 1))
        if sign is not None:
            return trouble.error("MSL035", "`=` follows `<` or `>`", f"write `{sign}`", trouble.span(0, 1))
    if token.type == "EQUALS" and before.type == "COMPARE" and str(before) in ("==", "!=") and trouble.touches:
        return trouble.error("MSL035", f"`{before}` compares", f"write `{before}`", trouble.span(-1, 0))
    if str(token) == "between" and before.type == "NAME":
        low, word, high = trouble.near(1), trouble.near(2), trouble.near(3)
        if low is not None and word is not None and high is not None and word.type == "AND":
            name = trouble.text(_path_start(trouble), -1)
            help = f"write `{name} >= {low} and {name} <= {high}`"
            return trouble.error("MSL035", "`between` is not an operator", help, trouble.span(_path_start(trouble), 3))
    if token.type == "LSQB" and before.type == "NAME" and after is not None and after.type in {"STRING", "NAME"}:
        closed = trouble.near(2)
        if closed is not None and closed.type == "RSQB":
            help = f"write `.{str(after).strip(chr(34))}`"
            return trouble.error("MSL035", "a dot stands before a parameter", help, trouble.span(0, 2))
    return None


def _path_start(trouble: Trouble) -> int:
    """Where the path begins that ends right before the token."""
    at = -1
    while (dot := trouble.near(at - 1)) is not None and dot.type == "DOT":
        at -= 2
    return at
