"""Rules for objectives, resampling, strategies, limits and requirements, written as in other languages.

Each rule underlines exactly the text that its help replaces.
"""

from __future__ import annotations

from msl.diagnostics.diagnostic import Diagnostic
from msl.language.literals import BYTES, MEANT_UNIT, SECONDS
from msl.language.mistakes.unreadable import UnreadableStatement
from msl.language.tokens import ENDING_TOKENS, token_span

_GOALS = frozenset({"MINIMIZE", "MAXIMIZE"})
_IMPLIES = frozenset({"implies", "then", "THEN"})
#: File extensions of tables.
_TABLES = (".csv", ".tsv", ".parquet", ".gz", ".arff", ".xlsx", ".json")


def estimate_without_by(statement: UnreadableStatement) -> Diagnostic | None:
    """`minimize ber cv = 5`, `minimize ber cv(folds = 5)`, `minimize ber, by cv(5)`, `minimize ber (by cv(5))`."""
    if statement.tokens[0].type not in _GOALS:
        return None
    token, before, after = statement.token, statement.before, statement.near(1)
    message = "the resampling method follows `by`"
    if token.type == "BY" and before.type == "COMMA":
        objective = statement.near(-2)
        return statement.error(
            "MSL035", "`by` follows the objective without a comma", f"write `{objective} by`", statement.span(-2, 0)
        )
    if token.type == "LPAR" and after is not None and after.type == "BY" and (end := statement.closing(0)) is not None:
        help = f"write `{statement.text(1, end - 1)}`"
        return statement.error("MSL035", "`by` needs no parentheses", help, statement.span(0, end))
    if token.type == "EQUALS" and before.type == "NAME" and after is not None:
        joined = statement.near(-2)
        call = f"{before}({statement.text(1, statement.rest)})"
        if joined is not None and joined.type == "BY":
            message = f"the options of `{before}` go in parentheses"
            return statement.error("MSL035", message, f"write `{call}`", statement.span(-1, statement.rest))
        if joined is not None and joined.type == "COMMA":
            objective = statement.near(-3)
            return statement.error(
                "MSL035", message, f"write `{objective} by {call}`", statement.span(-3, statement.rest)
            )
    if token.type != "NAME" or before.type not in ENDING_TOKENS or after is None:
        return None
    if after.type == "CALL":
        return statement.error("MSL035", message, f"write `by {token}`")
    if after.type in {"EQUALS", "NUMBER"} and statement.rest > 0:
        value = statement.text(2 if after.type == "EQUALS" else 1, statement.rest)
        return statement.error("MSL035", message, f"write `by {token}({value})`", statement.span(0, statement.rest))
    return None


def objectives_joined(statement: UnreadableStatement) -> Diagnostic | None:
    """`minimize ber and features`: objectives are listed."""
    if statement.tokens[0].type not in _GOALS or statement.token.type not in {"AND", "AMPERSAND"}:
        return None
    return statement.error("MSL035", "objectives are separated by commas", "write `,`")


def strategies_joined(statement: UnreadableStatement) -> Diagnostic | None:
    """`search random, pattern`, `random >> pattern`, `random -> pattern`: `then` joins strategies."""
    if statement.tokens[0].type != "SEARCH" or not statement.accepts("THEN") or statement.in_brackets:
        return None
    token, after = statement.token, statement.near(1)
    arrow = token.type in {"MINUS", "EQUALS"} and str(after) == ">"
    if not arrow and token.type not in {"COMMA", "THROUGH", "PLUS", "BAR", "AMPERSAND", "AND", "COMPARE"}:
        return None
    return statement.error("MSL035", "strategies are joined by `then`", "write `then`", statement.span(0, int(arrow)))


def nothing_to_combine(statement: UnreadableStatement) -> Diagnostic | None:
    """`ensemble none`: a spec without the statement builds none."""
    if statement.tokens[0].type != "ENSEMBLE" or statement.token.type not in {"NONE", "FALSE"}:
        return None
    whole = token_span(statement.tokens[0]).to(token_span(statement.token))
    return statement.error(
        "MSL001", "`ensemble` names the ensemble to build", "remove it: without it none is built", whole
    )


def limit_of_a_search(statement: UnreadableStatement) -> Diagnostic | None:
    """`search random for 10min`, `search random until 500`: limits belong in a `budget` statement."""
    if statement.tokens[0].type != "SEARCH" or statement.in_brackets:
        return None
    number, unit = statement.near(1), statement.near(2)
    if number is None or number.type != "NUMBER" or statement.token.type not in {"FOR", "NAME"}:
        return None
    limit = limit_meant(str(number), str(unit) if unit is not None else "")
    help = f"write `budget({limit})`"
    return statement.error("MSL035", "limits belong in a `budget` statement", help, statement.span(0, statement.rest))


def limit_meant(number: str, unit: str = "") -> str:
    """The option of `budget` that a number stands for: `10min` is a time, `500` a number of evaluations."""
    written = number + MEANT_UNIT.get(unit, MEANT_UNIT.get(unit.lower(), ""))
    digits = written.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    name = written[len(digits) :]
    return f"{'time' if name in SECONDS else 'memory' if name in BYTES else 'evaluations'} = {written}"


def options_of_a_statement(statement: UnreadableStatement) -> Diagnostic | None:
    """`budget 10 min`, `budget{time = 1h}`, `data: {target: class}`: options go in parentheses."""
    keyword, token = statement.tokens[0], statement.token
    if statement.failure.index != 1 or keyword.type not in {"BUDGET", "DATA"}:
        return None
    first = 1 if token.type in {"EQUALS", "COLON"} else 0
    opened = statement.near(first)
    if opened is None:
        return None
    text = statement.text(first, statement.rest)
    if keyword.type == "DATA" and text.strip("\"'").endswith(_TABLES):
        message = "the table is not part of the spec"
        help = f"remove this, and name the table in the command: `msl run SPEC {text.strip(chr(34))}`"
        return statement.error("MSL001", message, help, token_span(keyword).to(statement.span(0, statement.rest)))
    whole = token_span(keyword).to(statement.span(0, statement.rest))
    message = f"the options of `{keyword}` go in parentheses"
    if opened.type in {"LBRACE", "LSQB"} and statement.closing(first) == statement.rest:
        inner = statement.text(first + 1, statement.rest - 1)
        return statement.error("MSL035", message, f"write `{keyword}({inner})`", whole)
    if keyword.type == "BUDGET" and opened.type == "NUMBER" and statement.rest - first <= 1:
        unit = statement.near(first + 1)
        limit = limit_meant(str(opened), str(unit) if unit is not None else "")
        return statement.error("MSL035", message, f"write `{keyword}({limit})`", whole)
    return None


def implication(statement: UnreadableStatement) -> Diagnostic | None:
    """`require a => b`, `a -> b`, `a implies b`, `if a then b`: the condition comes last, after `if`."""
    if statement.tokens[0].type != "REQUIRE" or statement.in_brackets:
        return None
    token, after = statement.token, statement.near(1)
    message = "the condition of a requirement comes last, after `if`"
    whole = token_span(statement.tokens[0]).to(token_span(statement.tokens[-1]))
    start = 1 - statement.failure.index  # of the first token after the keyword
    if token.type == "IF" and start == 0:
        joint = next((i for i in range(1, statement.rest) if str(statement.near(i)) in _IMPLIES | {","}), None)
        if joint is None:
            return statement.error("MSL001", message, "write `require … if …`")
        help = f"write `require {statement.text(joint + 1, statement.rest)} if {statement.text(1, joint - 1)}`"
        return statement.error("MSL035", message, help, whole)
    arrow = str(token) == ">" and statement.before.type == "MINUS" and statement.touches
    two_signs = arrow or (token.type == "EQUALS" and str(after) == ">" and not _compares_number(statement))
    if not (two_signs or str(token) in _IMPLIES or str(token) == "unless") or statement.rest < 1:
        return None
    first_sign = -1 if statement.before.type == "MINUS" else 0
    last_sign = 1 if token.type == "EQUALS" else 0
    left, right = statement.text(start, first_sign - 1), statement.text(last_sign + 1, statement.rest)
    if any(str(other) in ("if", "else", "=>", *_IMPLIES) for other in statement.tokens[statement.failure.index + 1 :]):
        return statement.error("MSL001", message, "write `require … if …`")
    help = f"write `require {right} if {left}`"
    if str(token) == "unless":
        help = f"write `require {left} if not ({right})`"
    return statement.error("MSL035", message, help, whole)


def branches_of_a_program(statement: UnreadableStatement) -> Diagnostic | None:
    """`svm if x else lda`, `x ? a : b`, `a <=> b`: conditionals of programming languages."""
    token, before = statement.token, statement.before
    in_space = statement.tokens[0].type in {"PART", "CHAIN"} and not statement.in_list
    if in_space and token.type in {"IF", "FOR"}:
        help = "join alternatives with `|`; to restrict their combinations write `require … if …`"
        return statement.error("MSL001", f"`{token}` is not allowed in a space", help)
    if statement.tokens[0].type != "REQUIRE":
        return None
    if token.type == "QUESTION" or str(token) == "else":
        return statement.error(
            "MSL001", f"`{token}` is not allowed in a requirement", "write one `require … if …` for each case"
        )
    both_ways = str(token) == ">" and str(before) == "<=" and statement.touches
    if (both_ways or str(token) == "iff") and statement.rest > 0:
        left = statement.text(1 - statement.failure.index, -2 if both_ways else -1)
        right = statement.text(1, statement.rest)
        whole = token_span(statement.tokens[0]).to(token_span(statement.tokens[-1]))
        help = f"write `require {right} if {left}` and `require {left} if {right}`"
        return statement.error("MSL035", "an equivalence is written as two requirements", help, whole)
    return None


def _compares_number(statement: UnreadableStatement) -> bool:
    """`svc.C => 2`: a misspelt `>=`."""
    value = statement.near(2)
    return value is not None and value.type in {"NUMBER", "MINUS"}


def comparison_sign(statement: UnreadableStatement) -> Diagnostic | None:
    """`<>`, `=<`, `=>` and `===` for `!=`, `<=`, `>=` and `==`; `between` and `x["y"]`."""
    if not statement.in_condition:
        return None
    token, before, after = statement.token, statement.before, statement.near(1)
    if str(token) == ">" and str(before) == "<" and statement.touches:
        return statement.error("MSL035", '"not equal" is written `!=`', "write `!=`", statement.span(-1, 0))
    if token.type == "EQUALS" and after is not None and after.type == "COMPARE":
        sign = {"=<": "<=", "=>": ">="}.get(statement.text(0, 1))
        if sign is not None:
            return statement.error("MSL035", "`=` comes after `<` or `>`", f"write `{sign}`", statement.span(0, 1))
    if token.type == "EQUALS" and before.type == "COMPARE" and str(before) in ("==", "!=") and statement.touches:
        return statement.error(
            "MSL035", f"there is no operator `{before}=`", f"write `{before}`", statement.span(-1, 0)
        )
    if str(token) == "between" and before.type == "NAME":
        low, word, high = statement.near(1), statement.near(2), statement.near(3)
        if low is not None and word is not None and high is not None and word.type == "AND":
            name = statement.text(_path_start(statement), -1)
            help = f"write `{name} >= {low} and {name} <= {high}`"
            return statement.error(
                "MSL035", "`between` is not an operator", help, statement.span(_path_start(statement), 3)
            )
    if token.type == "LSQB" and before.type == "NAME" and after is not None and after.type in {"STRING", "NAME"}:
        closed = statement.near(2)
        if closed is not None and closed.type == "RSQB":
            help = f"write `.{str(after).strip(chr(34))}`"
            return statement.error("MSL035", "a parameter follows a dot", help, statement.span(0, 2))
    return None


def _path_start(statement: UnreadableStatement) -> int:
    """Where the path begins that ends right before the token."""
    at = -1
    while (dot := statement.near(at - 1)) is not None and dot.type == "DOT":
        at -= 2
    return at
