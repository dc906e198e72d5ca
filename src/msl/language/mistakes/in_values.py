"""Rules for numbers, units, ranges and defaults, written as in other languages."""

from __future__ import annotations

import re

from msl.diagnostics.diagnostic import Diagnostic, Label
from msl.diagnostics.source import Span
from msl.language.literals import MEANT_UNIT
from msl.language.mistakes.unreadable import UnreadableStatement
from msl.language.tokens import ENDING_TOKENS, token_span

_FRACTION = re.compile(r"\.[0-9][0-9_]*([eE][+-]?[0-9]+)?")
_GROUPED = r"[1-9][0-9]{0,2}(?:[,'][0-9]{3})+(?![0-9])"
_THOUSANDS = re.compile(rf"({_GROUPED})(?:\.\.({_GROUPED}|[0-9][0-9_]*))?")
_CLOCK = re.compile(r"[0-9]{1,4}(?::[0-9]{2}){1,2}(?![0-9:])")
#: Types of other languages, and the kinds of numbers here.
_KINDS = {
    "float": "real",
    "double": "real",
    "number": "real",
    "uniform": "real",
    "continuous": "real",
    "integer": "int",
    "discrete": "int",
}
_RANGE_WORDS = frozenset({"to", "until", "through", "upto"})
_DOMAIN_WORDS = frozenset({"in", "between", "from", "within", "of"})


def separated_unit(statement: UnreadableStatement) -> Diagnostic | None:
    """`10 minutes`"""
    before, token = statement.before, statement.token
    unit = MEANT_UNIT.get(str(token).lower())
    if before.type != "NUMBER" or unit is None:
        return None
    span = token_span(before).to(token_span(token))
    return statement.error("MSL011", "a unit follows its number without a space", f"write `{before}{unit}`", span)


def separated_percent(statement: UnreadableStatement) -> Diagnostic | None:
    """`30 %`"""
    if str(statement.token) != "%" or statement.before.type != "NUMBER":
        return None
    help = f"write `{statement.before}%`"
    return statement.error("MSL011", "a percent sign follows its number without a space", help, statement.span(-1, 0))


def comma_in_a_number(statement: UnreadableStatement) -> Diagnostic | None:
    """`int 1,000..2,000`, `1'000`: a thousands separator outside a list."""
    if statement.before.type != "NUMBER" or not statement.touches:
        return None
    match = _THOUSANDS.match(statement.source.text, token_span(statement.before).start)
    if match is None:
        return None
    ends = [re.sub(r"[,']", "_", end) for end in match.groups() if end is not None]
    message = "thousands are separated by `_`"
    return statement.error("MSL010", message, f"write `{'..'.join(ends)}`", Span(*match.span()))


def duration_with_colons(statement: UnreadableStatement) -> Diagnostic | None:
    """`time = 10:00`, `time = 1:30:00`: a duration has a unit."""
    if statement.tokens[0].type != "BUDGET" or statement.token.type != "COLON" or statement.before.type != "NUMBER":
        return None
    match = _CLOCK.match(statement.source.text, token_span(statement.before).start)
    if match is None:
        return None
    pieces = [int(piece) for piece in match[0].split(":")]
    seconds = sum(piece * 60**place for place, piece in enumerate(reversed(pieces)))
    unit, size = next((unit, size) for unit, size in (("h", 3600), ("min", 60), ("s", 1)) if seconds % size == 0)
    return statement.error(
        "MSL011", "a duration is a number with a unit", f"write `{seconds // size}{unit}`", Span(*match.span())
    )


def number_in_pieces(statement: UnreadableStatement) -> Diagnostic | None:
    """`5 000`, `.5`, `5.`: numbers as they are written elsewhere."""
    before, token = statement.before, statement.token
    start, end = token_span(before), token_span(token)
    if before.type == token.type == "NUMBER" and len(token) == 3 and token.isdigit() and before.isdigit():
        return statement.error(
            "MSL010", "a number is written without spaces", f"write `{before}_{token}`", start.to(end)
        )
    if token.type == "DOT" and before.type == "NUMBER" and statement.touches:
        help = f"write `{before}`, or `{before}.0`"
        return statement.error("MSL010", "a number does not end with a dot", help, start.to(end))
    fraction = _FRACTION.match(statement.source.text, end.start)
    if fraction is not None and before.type not in ENDING_TOKENS:
        span = Span(*fraction.span())
        return statement.error("MSL010", "a number does not begin with a dot", f"write `0{fraction[0]}`", span)
    return None


def range_sign(statement: UnreadableStatement) -> Diagnostic | None:
    """`1 to 10`, `1:10`, `1...10`: a range has two dots."""
    before, token, after = statement.before, statement.token, statement.near(1)
    if token.type == "DOT" and before.type == "DOTDOT" and statement.touches:
        span = token_span(before).to(token_span(token))
        return statement.error("MSL001", "a range is written with two dots", "write `..`", span)
    if token.type == "DOTDOT" and before.type == "COMMA" and after is not None and after.type in {"DOT", "COMMA"}:
        last = 3 if after.type == "DOT" else 2
        help = f"write `{statement.near(-2)}..{statement.near(last)}`"
        return statement.error(
            "MSL035", "a range is written with two dots between its ends", help, statement.span(-2, last)
        )
    is_word = token.type == "NAME" and str(token) in _RANGE_WORDS
    if not (is_word or token.type == "COLON") or not statement.accepts("DOTDOT"):
        return None
    if before.type not in {"NUMBER", "NAME", "RPAR"} or after is None or after.type not in {"NUMBER", "NAME", "MINUS"}:
        return None
    message = f"`{token}` does not make a range"
    if not before.type == after.type == "NUMBER":
        return statement.error("MSL001", message, "write `..` between its ends")
    kind = statement.near(-2)
    kind_text = f"{kind} " if kind is not None and kind.type in {"INT", "REAL"} else ""
    span = statement.span(-2 if kind_text else -1, 1)
    return statement.error("MSL001", message, f"write `{kind_text}{before}..{after}`", span)


def domain_word(statement: UnreadableStatement) -> Diagnostic | None:
    """`gamma in 1..2`, `gamma between 1 and 2`: a colon opens a dimension."""
    before, token, after = statement.before, statement.token, statement.near(1)
    opens = token.type in {"NAME", "OF"} and str(token) in _DOMAIN_WORDS and before.type == "NAME"
    if not opens or not statement.accepts("COMMA", "COLON") or after is None:
        return None
    rest = "…"
    if after.type == "NUMBER" and (word := statement.near(2)) is not None and (end := statement.near(3)) is not None:
        is_range = word.type in {"DOTDOT", "AND"} or str(word) in _RANGE_WORDS
        rest = f"{after}..{end}" if is_range and end.type == "NUMBER" else rest
    span = token_span(before).to(token_span(token))
    return statement.error("MSL001", f"the domain of `{before}` follows `:`", f"write `{before}: {rest}`", span)


def kind_word(statement: UnreadableStatement) -> Diagnostic | None:
    """`float 0..1`: kinds are `int` and `real`."""
    kind = _KINDS.get(str(statement.before))
    if kind is None or statement.token.type not in {"NUMBER", "MINUS", "LPAR"} or statement.in_condition:
        return None
    before = token_span(statement.before)
    return statement.error("MSL001", f"`{statement.before}` is not a kind of number", f"write `{kind}`", before)


def scale_before_range(statement: UnreadableStatement) -> Diagnostic | None:
    """`gamma: log 1..2` and `gamma: 1..2, log = true`: the scale follows its range."""
    token, after = statement.token, statement.near(1)
    if token.type != "LOG" or after is None:
        return None
    if statement.before.type == "COMMA" and after.type in {"COMMA", "RPAR", "RBRACE"}:
        high = statement.near(-2)
        message = "`log` follows the range that it scales, without a comma"
        return statement.error("MSL035", message, f"write `{high} log`", statement.span(-2, 0))
    if after.type == "NUMBER" and statement.accepts("INT"):
        low, sign, high = after, statement.near(2), statement.near(3)
        is_range = sign is not None and sign.type == "DOTDOT" and high is not None and high.type == "NUMBER"
        help = f"write `{low}..{high} log`" if is_range else "write it after the range: `1e-3..1 log`"
        span = statement.span(0, 3) if is_range else None
        return statement.error("MSL001", "`log` follows the range that it scales", help, span)
    value = statement.near(2)
    if after.type in {"EQUALS", "COLON"} and value is not None and str(value).lower() in {"true", "false"}:
        help = "write it after the range: `1e-3..1 log`"
        if str(value).lower() == "false":
            help = "leave it out: a range is searched evenly unless `log` follows it"
        return statement.error("MSL001", "`log` is not an argument: it follows the range that it scales", help)
    return None


def scale_of_a_value(statement: UnreadableStatement) -> Diagnostic | None:
    """`gamma: 0.1 log`: only a range has a scale or a step."""
    token, before = statement.token, statement.before
    if token.type not in {"LOG", "STEP"} or before.type != "NUMBER":
        return None
    message = f"`{token}` needs a range, but `{before}` is one value"
    return statement.error("MSL001", message, f"write a range before it: `{before}..… {token}`")


def default_of_a_value(statement: UnreadableStatement) -> Diagnostic | None:
    """`C = 3 default 4`: what is fixed has no default."""
    if statement.token.type != "DEFAULT" or not statement.accepts("COMMA"):
        return None
    help = "open the parameter with `:` and give it a domain, or remove `default`"
    return statement.error("MSL001", "a value that is fixed with `=` has no default", help)


def default_after_equals(statement: UnreadableStatement) -> Diagnostic | None:
    """`C: real 1..10 = 1`: the default follows `default`."""
    if statement.token.type != "EQUALS" or not statement.accepts("DEFAULT", "COMMA"):
        return None
    after = statement.near(1)
    value = after if after is not None and after.type in {"NUMBER", "NAME", "TRUE", "FALSE", "STRING"} else "…"
    return statement.error("MSL001", "the default of a domain follows the word `default`", f"write `default {value}`")


def half_a_range(statement: UnreadableStatement) -> Diagnostic | None:
    """`int 1 to 10`, `int 1-10`, `int(1..10)`: a kind begins a range, and `..` makes one."""
    if not statement.accepts("DOTDOT") or statement.accepts("COMMA") or statement.accepts("$END"):
        return None
    tokens = statement.tokens
    at = next((i for i in reversed(range(statement.failure.index)) if tokens[i].type in {"INT", "REAL"}), None)
    if at is None:
        return None
    kind = tokens[at]
    help = f"write `{kind} 1..10`"
    if tokens[at + 1].type == "LPAR":
        return statement.error("MSL001", f"`{kind}` takes no parentheses", help, token_span(tokens[at + 1]))
    if tokens[0].type in {"PART", "BLOCK"} and at + 2 == statement.failure.index and tokens[at + 1].type == "NAME":
        message = "the name comes first, then `:` and its domain"  # `part p(int k) = …`
        return statement.error("MSL001", message, f"write `{tokens[at + 1]}: {kind} 1..10`", statement.span(-2, -1))
    message = f"`{kind}` begins a range, but its `..` is missing"
    also = (Label(statement.source, token_span(kind), "the range begins here"),)
    return statement.error("MSL001", message, help, label="`..` belongs before this", also=also)


def pair_in_parentheses(statement: UnreadableStatement) -> Diagnostic | None:
    """`gamma: (0.001, 1)`: a range, as other languages write it."""
    if statement.token.type != "COMMA" or statement.before.type != "NUMBER":
        return None
    opened, high, closed = statement.near(-2), statement.near(1), statement.near(2)
    if opened is None or opened.type != "LPAR" or high is None or high.type != "NUMBER":
        return None
    if closed is None or closed.type != "RPAR":
        return None
    span = token_span(opened).to(token_span(closed))
    help = f"for a range write `{statement.before}..{high}`, for alternatives `{statement.before} | {high}`"
    return statement.error("MSL001", "two numbers in parentheses are not a domain", help, span)
