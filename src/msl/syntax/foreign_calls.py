"""Foreign calls: the functions by which other tools name domains, and what MSL writes for them."""

from __future__ import annotations

import math

from msl.syntax.literals import spelt
from msl.syntax.tokens import token_span
from msl.syntax.trouble import Trouble
from msl.text.diagnostic import Diagnostic

_LOG = ("loguniform", "log_uniform", "suggest_loguniform", "qloguniform", "logspace", "reciprocal", "lograndint")
#: Functions that draw a number between two others, and what follows the range.
RANGES = {
    **dict.fromkeys(("uniform", "suggest_float", "suggest_uniform", "float", "Real", "Float", "quniform"), ""),
    **dict.fromkeys(("UniformFloatHyperparameter", "UniformIntegerHyperparameter", "linspace", "uniformint"), ""),
    **dict.fromkeys(("randint", "suggest_int", "range", "Integer", "int", "between", "interval", "arange"), ""),
    **dict.fromkeys(_LOG, " log"),
}
#: Functions that choose one of several values.
CHOICES = frozenset(
    "choice choices pchoice categorical Categorical suggest_categorical one_of oneof CategoricalHyperparameter "
    "OrdinalHyperparameter Ordinal grid_search sample_from".split()
)
_RAISED = {"logspace": 10.0}


def range_meant(path: tuple[str, ...], ends: tuple[str, str], values: tuple[float, float], is_log: bool) -> str:
    """The range that such a function draws from: `loguniform(1e-3, 1)` is `1e-3..1 log`.

    `hp.loguniform` of hyperopt takes the logarithms of the ends, `logspace` of NumPy the powers of ten.
    """
    *qualifiers, name = path
    base = math.e if qualifiers[-1:] == ["hp"] and name in _LOG else _RAISED.get(name)
    if base is not None and all(abs(value) < 300 for value in values):
        ends = tuple(_rounded(base**value) for value in values)  # type: ignore[assignment]
    return f"{ends[0]}..{ends[1]}{' log' if is_log or RANGES[name] else ''}"


def _rounded(value: float) -> str:
    """To three digits that count: nobody means more by the power of a bound."""
    short = float(f"{value:.3g}")
    return spelt(int(short)) if short.is_integer() and short < 1e6 else spelt(short)


def domain_by_a_call(trouble: Trouble) -> Diagnostic | None:
    """`C: suggest_float("C", 1e-3, 1, log=True)`, `Float("C", bounds=(1e-3, 1))`: a domain is written out.

    Such a call cannot be read where `log` is given as an argument or where its bounds stand in parentheses.
    """
    opened = next((i for i in range(-1, -trouble.failure.index - 1, -1) if _calls_range(trouble, i)), None)
    end = trouble.closing(opened) if opened is not None else None
    if opened is None or end is None or end < 0:
        return None
    start = opened - 1
    while (dot := trouble.near(start - 1)) is not None and dot.type == "DOT":
        start -= 2
    numbers = _numbers(trouble, opened + 1, end)
    sign, key = trouble.near(start - 1), trouble.near(start - 2)
    if len(numbers) < 2 or sign is None or key is None or sign.type not in {"COLON", "EQUALS"}:
        return None
    path = tuple(str(trouble.near(at)) for at in range(start, opened, 2))
    is_log = "log=true" in "".join(trouble.text(opened, end).lower().split())
    (low, low_value), (high, high_value) = numbers[:2]
    domain = range_meant(path, (low, high), (low_value, high_value), is_log)
    message = "a domain is written out, not called"
    span = token_span(key).to(trouble.span(start, end))
    return trouble.error("MSL035", message, f"write `{key}: {domain}`", span)


def _calls_range(trouble: Trouble, offset: int) -> bool:
    token, name = trouble.near(offset), trouble.near(offset - 1)
    return token is not None and token.type == "CALL" and str(name) in RANGES


def _numbers(trouble: Trouble, first: int, last: int) -> list[tuple[str, float]]:
    """The numbers between two tokens, each as it is written and as it is."""
    found = []
    for offset in range(first, last):
        token, before = trouble.near(offset), trouble.near(offset - 1)
        if token is None or token.type != "NUMBER":
            continue
        sign = "-" if before is not None and before.type == "MINUS" else ""
        try:
            found.append((sign + str(token), float(sign + str(token).replace("_", ""))))
        except ValueError:
            continue
    return found
