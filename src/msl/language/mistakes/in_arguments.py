"""Rules for arguments: values, domains and defaults with the signs or the order of other languages.

Each rule underlines exactly the text that its help replaces.
"""

from __future__ import annotations

from msl.diagnostics.diagnostic import Diagnostic
from msl.language.mistakes.unreadable import UnreadableStatement
from msl.language.tokens import ENDING_TOKENS, RESERVED

_BEGINS_ITEM = frozenset({"CALL", "LPAR", "LBRACE", "COMMA"})
_KINDS = frozenset({"INT", "REAL", "BOOL", "VECTOR"})
_PREFIXES = frozenset({"f", "r", "b", "u", "fr", "rf", "br", "rb"})


def value_sign(statement: UnreadableStatement) -> Diagnostic | None:
    """`degree == 2`, `C := 1`, `C => 1`, `C -> 1`, `time <= 10min`: `=` gives a value, `:` a domain."""
    token, before = statement.token, statement.before
    if not statement.in_list or statement.in_condition or token.type not in {"COMPARE", "EQUALS"}:
        return None
    joined = {"COMPARE": {"EQUALS", "MINUS"}, "EQUALS": {"COLON"}}[token.type]
    signs = 2 if before.type in joined and statement.touches else 1
    if signs == 1 and token.type == "EQUALS":
        return None
    name, begins = statement.near(-signs), statement.near(-signs - 1)
    if name is None or begins is None or name.type not in {"NAME", "STRING"} or begins.type not in _BEGINS_ITEM:
        return None
    sign = statement.text(1 - signs, 0)
    if signs == 2 or sign == "==" or statement.tokens[0].type == "BUDGET":
        return statement.error(
            "MSL035", "the value of an argument follows `=`", "write `=`", statement.span(1 - signs, 0)
        )
    value = statement.text(1, statement.item_end(1))
    if sign == "!=":
        message = "an argument gives a value or a domain; conditions on models belong in `require`"
        return statement.error("MSL001", message, f"write `require {statement.near(-3)}.{name} != {value}` for it")
    ends = f"low..{value}" if sign.startswith("<") else f"{value}..high"
    message = f"`{sign}` compares, but an argument gives a value or a domain"
    help = f"for a domain write `{name}: {ends}`; conditions on models belong in `require`"
    return statement.error("MSL001", message, help)


def sign_after_kind(statement: UnreadableStatement) -> Diagnostic | None:
    """`units: int < 5`, `rate: real > 0`: a range has two ends."""
    token, before = statement.token, statement.before
    if token.type != "LESS" or before.type not in {"INT", "REAL"}:
        return None
    value = statement.text(1, statement.item_end(1)) or "5"
    ends = f"low..{value}" if str(token).startswith("<") else f"{value}..high"
    help = f"write `{before} {ends}`; both ends are in the range"
    return statement.error("MSL001", "a range has two ends", help)


def loose_vector(statement: UnreadableStatement) -> Diagnostic | None:
    """`vector of int 1..5`, `list(3) of int 1..5`, `vector(1..3) of bool`: a vector has a length in parentheses."""
    token, before = statement.token, statement.before
    if token.type == "OF":
        domain = statement.text(1, statement.item_end(1)) or "int 1..9"
        if before.type == "VECTOR":
            help = f"write `vector(3) of {domain}`, or a parameter that tells the length in place of 3"
            return statement.error("MSL001", "a vector needs its length", help)
        if str(before) == "best":
            return statement.error(
                "MSL285",
                "the domain follows `best` directly",
                f"write `{domain}`",
                statement.span(0, statement.item_end(1)),
            )
        called, opened = statement.near(-4), statement.near(-3)
        if before.type == "RPAR" and called is not None and called.type == "NAME" and str(opened) == "(":
            help = f"write `vector({statement.text(-2, -2)}) of {domain}`"
            whole = statement.span(-4, statement.item_end(1))
            return statement.error("MSL001", "only a vector is `of` something", help, whole)
        if before.type == "RPAR":
            return statement.error("MSL001", "only a vector is `of` something", f"write `vector(…) of {domain}`")
    if str(before) == "best" and (around := statement.near(-2)) is not None and around.type == "OF":
        message = "`best` tries the values of a parameter, not those of the elements of a vector"
        return statement.error("MSL285", message, "remove it", statement.span(-1, -1))
    opened = statement.near(-3)
    if token.type == "DOTDOT" and opened is not None and opened.type == "VECTOR":
        ends = statement.text(-1, 1)
        help = f"declare the length before it, `length: int {ends}`, and write `vector(length) of …`"
        return statement.error("MSL001", "the length of a vector is a number or a parameter, not a range", help)
    return None


def brackets_of_a_call(statement: UnreadableStatement) -> Diagnostic | None:
    """`svm{C = 1}`, `svm[C = 1]`: arguments go in parentheses."""
    token, before = statement.token, statement.before
    if token.type not in {"LBRACE", "LSQB"} or before.type != "NAME" or statement.tokens[0].type == "BLOCK":
        return None
    end = statement.closing(0)
    if statement.in_condition and token.type == "LSQB" and end is not None:
        message = "the elements of a list cannot be compared"
        help = "compare a parameter that is no list, such as the one that tells its length"
        return statement.error("MSL035", message, help, statement.span(-1, end))
    if statement.in_condition or end is None:
        return None
    inner = statement.text(1, end - 1) if end > 1 else ""
    return statement.error("MSL035", "arguments go in parentheses", f"write `({inner})`", statement.span(0, end))


def arguments_without_brackets(statement: UnreadableStatement) -> Diagnostic | None:
    """`svm C = 1`, `svm with C = 1`: arguments go in parentheses."""
    if statement.tokens[0].type not in {"PART", "CHAIN", "SEARCH", "ENSEMBLE"} or statement.in_list:
        return None
    before, first = statement.before, 0
    if str(statement.token) in ("with", "where", "using"):
        first = 1
    name, sign = statement.near(first), statement.near(first + 1)
    named = name is not None and name.type in {"NAME", "STRING"} and sign is not None
    if (
        before.type != "NAME"
        or str(before) == "lambda"
        or str(name) == "weight"  # of an alternative: `weight_without_number` answers
        or not named
        or sign is None
        or sign.type not in {"EQUALS", "COLON"}
    ):
        return None
    end = first
    while (after := statement.near(end + 1)) is not None and after.type not in {"THROUGH", "BAR", "AMPERSAND", "RPAR"}:
        end += 1
    help = f"write `{before}({statement.text(first, end)})`"
    return statement.error("MSL035", "arguments go in parentheses", help, statement.span(-1, end))


def dictionary(statement: UnreadableStatement) -> Diagnostic | None:
    """`svm({"C": 1})`, `svm(**params)`: arguments are written one by one."""
    token, before = statement.token, statement.before
    message = "arguments are written one by one, each with its name"
    if before.type == "CALL" and str(statement.near(-2)) == "cost" and token.type == "LBRACE":
        help = (
            "a row for each true class, as in `cost([[0, 1], [5, 0]])`, or errors by name: `cost([[ill, healthy, 5]])`"
        )
        return statement.error("MSL035", "the costs of errors are a list of lists", help)
    if before.type not in {"CALL", "COMMA"} or not statement.in_list:
        return None
    if str(token) in ("*", "**"):
        return statement.error("MSL001", message, "write `name = value` for each")
    end = statement.closing(0) if token.type == "LBRACE" else None
    if end is None:
        return None
    items, at = [], 1
    while at < end:
        key, sign, last = statement.near(at), statement.near(at + 1), statement.item_end(at)
        if key is None or sign is None or key.type not in {"NAME", "STRING"} or sign.type not in {"COLON", "EQUALS"}:
            return None
        items.append(f"{_plain(str(key))} = {statement.text(at + 2, last)}")
        at = last + 2
    return statement.error("MSL035", message, f"write `{', '.join(items)}`", statement.span(0, end)) if items else None


def _plain(key: str) -> str:
    """A name without its quotes, where it needs none."""
    inner = key.strip('"')
    return inner if inner.isidentifier() and inner.isascii() and inner not in RESERVED else key


def letter_before_text(statement: UnreadableStatement) -> Diagnostic | None:
    """`f"svc"`, `r"a"`: strings have no prefixes."""
    if (
        statement.token.type not in {"STRING", "QUOTED"}
        or not statement.touches
        or str(statement.before) not in _PREFIXES
    ):
        return None
    text = '"' + str(statement.token).strip("'\"") + '"'
    return statement.error("MSL035", "a string has no prefix", f"write `{text}`", statement.span(-1, 0))


def default_with_a_sign(statement: UnreadableStatement) -> Diagnostic | None:
    """`int 1..5 default = 3`, `int 1..5, default = 3`: the value follows the word."""
    token, before = statement.token, statement.before
    if token.type not in {"EQUALS", "COLON"} or before.type != "DEFAULT":
        return None
    message = "the value follows `default` directly"
    value_end = statement.item_end(1)
    value = statement.text(1, value_end)
    comma, domain = statement.near(-2), statement.near(-3)
    if comma is not None and comma.type == "COMMA" and domain is not None and domain.type in ENDING_TOKENS:
        return statement.error("MSL035", message, f"write `{domain} default {value}`", statement.span(-3, value_end))
    return statement.error("MSL035", message, f"write `default {value}`", statement.span(-1, value_end))


def default_in_brackets(statement: UnreadableStatement) -> Diagnostic | None:
    """`real 1..2 (default 1)`, `real 1..2 [1]`: the default follows its domain, without brackets."""
    token, inner = statement.token, statement.near(1)
    if token.type not in {"LPAR", "LSQB"} or not statement.accepts("DEFAULT", "COMMA") or inner is None:
        return None
    end = statement.closing(0)
    if end is None or (token.type == "LPAR") != (inner.type == "DEFAULT"):
        return None
    if token.type == "LSQB" and statement.item_end(1) + 1 != end:  # several values: alternatives, perhaps in an order
        return _list_of_alternatives(statement, end)
    first = 2 if inner.type == "DEFAULT" else 1
    sign = statement.near(first)
    first += sign is not None and sign.type in {"EQUALS", "COLON"}
    after = statement.near(end + 1)
    scale = "log " if after is not None and after.type == "LOG" else ""  # as in SMAC's `[1, 9] [3]log`
    help = f"write `{scale}default {statement.text(first, end - 1)}`"
    return statement.error(
        "MSL035", "a default is written without brackets", help, statement.span(0, end + bool(scale))
    )


def _list_of_alternatives(statement: UnreadableStatement, end: int) -> Diagnostic | None:
    """`level: ordered [low, high]`, `kind: categorical [a, b]`"""
    word = str(statement.before)
    if statement.before.type != "NAME":
        return None
    sign = "<" if word.casefold().startswith("ord") else "|"
    items, at = [], 1
    while at < end:
        last = statement.item_end(at)
        items.append(statement.text(at, last))
        at = last + 2
    message = f"alternatives {'in an order ' if sign == '<' else ''}are joined by `{sign}`"
    return statement.error("MSL035", message, f"write `{f' {sign} '.join(items)}`", statement.span(-1, end))


def default_before_domain(statement: UnreadableStatement) -> Diagnostic | None:
    """`p default 3: int 1..5`, `p = 3: int 1..5`: the default follows the domain."""
    at = 0 if statement.token.type == "DEFAULT" else -2 if statement.token.type == "COLON" else None
    if at is None or statement.tokens[0].type != "BLOCK" or not statement.in_list:
        return None
    begins, name, sign, value, colon = (statement.near(at + offset) for offset in (-2, -1, 0, 1, 2))
    if begins is None or name is None or sign is None or value is None or colon is None:
        return None
    if begins.type not in _BEGINS_ITEM or name.type not in {"NAME", "STRING"} or colon.type != "COLON":
        return None
    if sign.type not in {"DEFAULT", "EQUALS"}:
        return None
    end = statement.item_end(at + 3)
    help = f"write `{name}: {statement.text(at + 3, end)} default {value}`"
    return statement.error("MSL035", "the default follows the domain", help, statement.span(at - 1, end))


def kind_without_colon(statement: UnreadableStatement) -> Diagnostic | None:
    """`C real 1..2`, `real C: 1..2`, `real C 1..2`: the name comes first, then `:` and the domain."""
    token, before, begins = statement.token, statement.before, statement.near(-2)
    if begins is None or before.type not in {"NAME", "STRING"}:
        return None
    message = "a parameter and its domain are separated by `:`"
    if token.type in _KINDS and begins.type in _BEGINS_ITEM and statement.in_list:
        return statement.error("MSL035", message, f"write `{before}: {token}`", statement.span(-1, 0))
    first = statement.near(-3)
    if begins.type not in {"INT", "REAL"} or first is None or first.type not in _BEGINS_ITEM:
        return None
    if token.type == "COLON":
        return statement.error("MSL035", message, f"write `{before}: {begins}`", statement.span(-2, 0))
    if token.type == "NUMBER":
        return statement.error("MSL035", message, f"write `{before}: {begins}`", statement.span(-2, -1))
    return None


def brackets_of_a_range(statement: UnreadableStatement) -> Diagnostic | None:
    """`real [1, 2]`, `real[1..2]`, `int(1, 10)`: a kind is followed by `low..high`."""
    at = next((i for i in range(0, -5, -1) if (t := statement.near(i)) is not None and t.type in {"INT", "REAL"}), None)
    at = at if at is not None else _kind_before_brackets(statement)
    if at is None:
        return None
    opened = statement.near(at + 1)
    end = statement.closing(at + 1) if opened is not None and opened.type in {"LPAR", "LSQB", "CALL"} else None
    if end is None:
        return None
    inner = statement.text(at + 2, end - 1)
    low, sign, high = inner.partition(",") if "," in inner else inner.partition("..")
    if not sign or not high.strip() or "," in high or ".." in high:
        return None
    kind = statement.near(at)
    help = f"write `{kind} {low.strip()}..{high.strip()}`"
    return statement.error(
        "MSL035", f"`{kind}` is followed by a range, without brackets", help, statement.span(at, end)
    )


def _kind_before_brackets(statement: UnreadableStatement) -> int | None:
    """The kind right before brackets that close right before the token, as in `real [1, 2]`."""
    if statement.before.type not in {"RSQB", "RPAR"}:
        return None
    for offset in range(-2, -12, -1):
        token = statement.near(offset)
        if token is None:
            return None
        if token.type in {"INT", "REAL"} and statement.closing(offset + 1) == -1:
            return offset
    return None


def step_of_a_range(statement: UnreadableStatement) -> Diagnostic | None:
    """`int 1..10 by 2`, `1..10:2`, `1..10..2`: `step` is followed by the step."""
    token, after = statement.token, statement.near(1)
    if token.type not in {"BY", "COLON", "DOTDOT"} or not statement.accepts("STEP") or after is None:
        return None
    if after.type != "NUMBER":
        return None
    first = -1 if statement.touches else 0  # a word needs a space before it
    end = f"{statement.before} " if statement.touches else ""
    help = f"write `{end}step {after}`"
    return statement.error("MSL035", "the step of a range is written with `step`", help, statement.span(first, 1))


def scale_of_a_range(statement: UnreadableStatement) -> Diagnostic | None:
    """`1e-3..1 logscale`, `1e-3..1 log10`: the scale is called `log`."""
    token = str(statement.token).lower()
    if statement.token.type != "NAME" or not statement.accepts("LOG") or not token.startswith(("log", "exp")):
        return None
    return statement.error("MSL035", f"`{statement.token}` is not a scale", "write `log`")


def kind_alone(statement: UnreadableStatement) -> Diagnostic | None:
    """`C: int`: a range follows the kind."""
    if statement.before.type not in {"INT", "REAL"} or statement.token.type not in {"COMMA", "RBRACE", "RPAR"}:
        return None
    message = f"`{statement.before}` must be followed by a range"
    return statement.error("MSL001", message, f"write `{statement.before} 1..10`", statement.span(-1, -1))


def role_after_equals(statement: UnreadableStatement) -> Diagnostic | None:
    """`block b = learner "m:C" { … }`: a new block has a role, after `:`."""
    sign = statement.near(-2)
    if statement.tokens[0].type != "BLOCK" or statement.token.type != "STRING" or sign is None or sign.type != "EQUALS":
        return None
    message = "`=` derives a block from another one; a new block has a role, after `:`"
    return statement.error("MSL035", message, f"write `: {statement.before}`", statement.span(-2, -1))
