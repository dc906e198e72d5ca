"""Mistaken arguments: values, domains and defaults given with the signs and in the order of other languages.

What each of these underlines is what its help replaces.
"""

from __future__ import annotations

from msl.diagnostics.diagnostic import Diagnostic
from msl.language.mistakes.unreadable import Trouble
from msl.language.tokens import ENDING_TOKENS, RESERVED

_BEGINS_ITEM = frozenset({"CALL", "LPAR", "LBRACE", "COMMA"})
_KINDS = frozenset({"INT", "REAL", "BOOL", "VECTOR"})
_PREFIXES = frozenset({"f", "r", "b", "u", "fr", "rf", "br", "rb"})


def value_sign(trouble: Trouble) -> Diagnostic | None:
    """`degree == 2`, `C := 1`, `C => 1`, `C -> 1`, `time <= 10min`: `=` gives a value, `:` a domain."""
    token, before = trouble.token, trouble.before
    if not trouble.in_list or trouble.in_condition or token.type not in {"COMPARE", "EQUALS"}:
        return None
    joined = {"COMPARE": {"EQUALS", "MINUS"}, "EQUALS": {"COLON"}}[token.type]
    signs = 2 if before.type in joined and trouble.touches else 1
    if signs == 1 and token.type == "EQUALS":
        return None
    name, begins = trouble.near(-signs), trouble.near(-signs - 1)
    if name is None or begins is None or name.type not in {"NAME", "STRING"} or begins.type not in _BEGINS_ITEM:
        return None
    sign = trouble.text(1 - signs, 0)
    if signs == 2 or sign == "==" or trouble.tokens[0].type == "BUDGET":
        return trouble.error("MSL035", "`=` gives a value", "write `=`", trouble.span(1 - signs, 0))
    value = trouble.text(1, trouble.item_end(1))
    if sign == "!=":
        message = "an argument gives a value or a domain; what models have to fulfil stands in `require`"
        return trouble.error("MSL001", message, f"write `require {trouble.near(-3)}.{name} != {value}` for it")
    ends = f"low..{value}" if sign.startswith("<") else f"{value}..high"
    message = f"`{sign}` compares, and an argument gives a value or a domain"
    help = f"for a domain write `{name}: {ends}`; what models have to fulfil stands in `require`"
    return trouble.error("MSL001", message, help)


def brackets_of_a_call(trouble: Trouble) -> Diagnostic | None:
    """`svm{C = 1}`, `svm[C = 1]`: arguments stand in parentheses."""
    token, before = trouble.token, trouble.before
    if token.type not in {"LBRACE", "LSQB"} or before.type != "NAME" or trouble.tokens[0].type == "BLOCK":
        return None
    end = trouble.closing(0)
    if trouble.in_condition or end is None:
        return None
    inner = trouble.text(1, end - 1) if end > 1 else ""
    return trouble.error("MSL035", "arguments stand in parentheses", f"write `({inner})`", trouble.span(0, end))


def arguments_without_brackets(trouble: Trouble) -> Diagnostic | None:
    """`svm C = 1`, `svm with C = 1`: arguments stand in parentheses."""
    if trouble.tokens[0].type not in {"PART", "CHAIN", "SEARCH", "ENSEMBLE"} or trouble.in_list:
        return None
    before, first = trouble.before, 0
    if str(trouble.token) in ("with", "where", "using"):
        first = 1
    name, sign = trouble.near(first), trouble.near(first + 1)
    named = name is not None and name.type in {"NAME", "STRING"} and sign is not None
    if (
        before.type != "NAME"
        or str(before) == "lambda"
        or not named
        or sign is None
        or sign.type not in {"EQUALS", "COLON"}
    ):
        return None
    end = first
    while (after := trouble.near(end + 1)) is not None and after.type not in {"THROUGH", "BAR", "AMPERSAND", "RPAR"}:
        end += 1
    help = f"write `{before}({trouble.text(first, end)})`"
    return trouble.error("MSL035", "arguments stand in parentheses", help, trouble.span(-1, end))


def dictionary(trouble: Trouble) -> Diagnostic | None:
    """`svm({"C": 1})`, `svm(**params)`: arguments are written out."""
    token, before = trouble.token, trouble.before
    message = "arguments are written out, each with its name"
    if before.type not in {"CALL", "COMMA"} or not trouble.in_list:
        return None
    if str(token) in ("*", "**"):
        return trouble.error("MSL001", message, "write `name = value` for each")
    end = trouble.closing(0) if token.type == "LBRACE" else None
    if end is None:
        return None
    items, at = [], 1
    while at < end:
        key, sign, last = trouble.near(at), trouble.near(at + 1), trouble.item_end(at)
        if key is None or sign is None or key.type not in {"NAME", "STRING"} or sign.type not in {"COLON", "EQUALS"}:
            return None
        items.append(f"{_plain(str(key))} = {trouble.text(at + 2, last)}")
        at = last + 2
    return trouble.error("MSL035", message, f"write `{', '.join(items)}`", trouble.span(0, end)) if items else None


def _plain(key: str) -> str:
    """A name without its quotes, where it needs none."""
    inner = key.strip('"')
    return inner if inner.isidentifier() and inner.isascii() and inner not in RESERVED else key


def letter_before_text(trouble: Trouble) -> Diagnostic | None:
    """`f"svc"`, `r"a"`: texts have no kinds."""
    if trouble.token.type not in {"STRING", "QUOTED"} or not trouble.touches or str(trouble.before) not in _PREFIXES:
        return None
    text = '"' + str(trouble.token).strip("'\"") + '"'
    return trouble.error("MSL035", "a text has no letter before it", f"write `{text}`", trouble.span(-1, 0))


def default_with_a_sign(trouble: Trouble) -> Diagnostic | None:
    """`int 1..5 default = 3`, `int 1..5, default = 3`: the value follows the word."""
    token, before = trouble.token, trouble.before
    if token.type not in {"EQUALS", "COLON"} or before.type != "DEFAULT":
        return None
    message = "`default` is followed by the value, at once"
    value_end = trouble.item_end(1)
    value = trouble.text(1, value_end)
    comma, domain = trouble.near(-2), trouble.near(-3)
    if comma is not None and comma.type == "COMMA" and domain is not None and domain.type in ENDING_TOKENS:
        return trouble.error("MSL035", message, f"write `{domain} default {value}`", trouble.span(-3, value_end))
    return trouble.error("MSL035", message, f"write `default {value}`", trouble.span(-1, value_end))


def default_in_brackets(trouble: Trouble) -> Diagnostic | None:
    """`real 1..2 (default 1)`, `real 1..2 [1]`: the default stands behind its domain, without brackets."""
    token, inner = trouble.token, trouble.near(1)
    if token.type not in {"LPAR", "LSQB"} or not trouble.accepts("DEFAULT", "COMMA") or inner is None:
        return None
    end = trouble.closing(0)
    if end is None or (token.type == "LPAR") != (inner.type == "DEFAULT"):
        return None
    first = 2 if inner.type == "DEFAULT" else 1
    sign = trouble.near(first)
    first += sign is not None and sign.type in {"EQUALS", "COLON"}
    after = trouble.near(end + 1)
    scale = "log " if after is not None and after.type == "LOG" else ""  # as in SMAC's `[1, 9] [3]log`
    help = f"write `{scale}default {trouble.text(first, end - 1)}`"
    return trouble.error("MSL035", "the default has no brackets", help, trouble.span(0, end + bool(scale)))


def default_before_domain(trouble: Trouble) -> Diagnostic | None:
    """`p default 3: int 1..5`, `p = 3: int 1..5`: the default follows the domain."""
    at = 0 if trouble.token.type == "DEFAULT" else -2 if trouble.token.type == "COLON" else None
    if at is None or trouble.tokens[0].type != "BLOCK" or not trouble.in_list:
        return None
    begins, name, sign, value, colon = (trouble.near(at + offset) for offset in (-2, -1, 0, 1, 2))
    if begins is None or name is None or sign is None or value is None or colon is None:
        return None
    if begins.type not in _BEGINS_ITEM or name.type not in {"NAME", "STRING"} or colon.type != "COLON":
        return None
    if sign.type not in {"DEFAULT", "EQUALS"}:
        return None
    end = trouble.item_end(at + 3)
    help = f"write `{name}: {trouble.text(at + 3, end)} default {value}`"
    return trouble.error("MSL035", "the default follows the domain", help, trouble.span(at - 1, end))


def kind_without_colon(trouble: Trouble) -> Diagnostic | None:
    """`C real 1..2`, `real C: 1..2`, `real C 1..2`: the name comes first, then `:` and the domain."""
    token, before, begins = trouble.token, trouble.before, trouble.near(-2)
    if begins is None or before.type not in {"NAME", "STRING"}:
        return None
    message = "`:` stands between a parameter and its domain"
    if token.type in _KINDS and begins.type in _BEGINS_ITEM and trouble.in_list:
        return trouble.error("MSL035", message, f"write `{before}: {token}`", trouble.span(-1, 0))
    first = trouble.near(-3)
    if begins.type not in {"INT", "REAL"} or first is None or first.type not in _BEGINS_ITEM:
        return None
    if token.type == "COLON":
        return trouble.error("MSL035", message, f"write `{before}: {begins}`", trouble.span(-2, 0))
    if token.type == "NUMBER":
        return trouble.error("MSL035", message, f"write `{before}: {begins}`", trouble.span(-2, -1))
    return None


def brackets_of_a_range(trouble: Trouble) -> Diagnostic | None:
    """`real [1, 2]`, `real[1..2]`, `int(1, 10)`: a kind is followed by `low..high`."""
    at = next((i for i in range(0, -5, -1) if (t := trouble.near(i)) is not None and t.type in {"INT", "REAL"}), None)
    at = at if at is not None else _kind_before_brackets(trouble)
    if at is None:
        return None
    opened = trouble.near(at + 1)
    end = trouble.closing(at + 1) if opened is not None and opened.type in {"LPAR", "LSQB", "CALL"} else None
    if end is None:
        return None
    inner = trouble.text(at + 2, end - 1)
    low, sign, high = inner.partition(",") if "," in inner else inner.partition("..")
    if not sign or not high.strip() or "," in high or ".." in high:
        return None
    kind = trouble.near(at)
    help = f"write `{kind} {low.strip()}..{high.strip()}`"
    return trouble.error("MSL035", f"`{kind}` is followed by a range, without brackets", help, trouble.span(at, end))


def _kind_before_brackets(trouble: Trouble) -> int | None:
    """The kind right before brackets that close right before the token: the list in `real [1, 2]` was read whole."""
    if trouble.before.type not in {"RSQB", "RPAR"}:
        return None
    for offset in range(-2, -12, -1):
        token = trouble.near(offset)
        if token is None:
            return None
        if token.type in {"INT", "REAL"} and trouble.closing(offset + 1) == -1:
            return offset
    return None


def step_of_a_range(trouble: Trouble) -> Diagnostic | None:
    """`int 1..10 by 2`, `1..10:2`, `1..10..2`: `step` is followed by the step."""
    token, after = trouble.token, trouble.near(1)
    if token.type not in {"BY", "COLON", "DOTDOT"} or not trouble.accepts("STEP") or after is None:
        return None
    if after.type != "NUMBER":
        return None
    first = -1 if trouble.touches else 0  # a word needs a space before it
    end = f"{trouble.before} " if trouble.touches else ""
    help = f"write `{end}step {after}`"
    return trouble.error("MSL035", f"`{token}` does not give a step", help, trouble.span(first, 1))


def scale_of_a_range(trouble: Trouble) -> Diagnostic | None:
    """`1e-3..1 logscale`, `1e-3..1 log10`: the scale is called `log`."""
    token = str(trouble.token).lower()
    if trouble.token.type != "NAME" or not trouble.accepts("LOG") or not token.startswith(("log", "exp")):
        return None
    return trouble.error("MSL035", f"`{trouble.token}` is no scale", "write `log`")


def kind_alone(trouble: Trouble) -> Diagnostic | None:
    """`C: int`: a kind begins a range."""
    if trouble.before.type not in {"INT", "REAL"} or trouble.token.type not in {"COMMA", "RBRACE", "RPAR"}:
        return None
    message = f"`{trouble.before}` begins a range, and there is none"
    return trouble.error("MSL001", message, f"write `{trouble.before} 1..10`", trouble.span(-1, -1))


def role_after_equals(trouble: Trouble) -> Diagnostic | None:
    """`block b = learner "m:C" { … }`: a new block has a role, and `:` stands before it."""
    sign = trouble.near(-2)
    if trouble.tokens[0].type != "BLOCK" or trouble.token.type != "STRING" or sign is None or sign.type != "EQUALS":
        return None
    message = "`=` derives a block from another; a new one has a role behind `:`"
    return trouble.error("MSL035", message, f"write `: {trouble.before}`", trouble.span(-2, -1))
