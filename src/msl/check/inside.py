"""Inside: whether a value or a range lies in a declared domain, as far as can be told without a table."""

from __future__ import annotations

import math

from msl.space.formula import FACTS, Amount, Formula, limits
from msl.space.node import Choice, IntRange, Node, RealRange

_SLACK = 1e-9  # of a step: decimal steps such as 0.1 have no exact binary value
_WHOLE_OPERATIONS = frozenset({"min", "max", "+", "-", "*"})


def options_of(declared: Node) -> tuple[Node, ...]:
    """The alternatives of a domain, one where it is not a choice."""
    return declared.options if isinstance(declared, Choice) else (declared,)


def options_of_kind(declared: Node, kind: type) -> list[Node]:
    return [option for option in options_of(declared) if isinstance(option, kind)]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def may_lie_inside(amount: Amount, declared: IntRange | RealRange) -> bool:
    """Whether some table puts the amount between the ends: those that follow the table count as far as they can go."""
    low, high = limits(amount)
    return high >= limits(declared.low)[0] and low <= limits(declared.high)[1]


def is_on_grid(amount: Amount, declared: IntRange | RealRange) -> bool:
    """Whether an amount is one of the steps of a range; true where the range has none or the table decides."""
    if isinstance(amount, Formula) or isinstance(declared.low, Formula):
        return True
    if isinstance(declared, IntRange):
        return (amount - declared.low) % declared.step == 0
    return declared.step is None or _is_whole((amount - declared.low) / declared.step)


def has_finer_step(narrowed: IntRange | RealRange, declared: IntRange | RealRange) -> bool:
    """Whether a range has values between the steps of the declared one."""
    if isinstance(declared, IntRange):
        return isinstance(narrowed, IntRange) and narrowed.step % declared.step != 0
    if declared.step is None:
        return False
    return narrowed.step is None or not _is_whole(narrowed.step / declared.step)


def fitted(declared: IntRange | RealRange, value: object) -> int | float | Formula | None:
    """The value in the declared kind if it may be one of the range's, else None."""
    if isinstance(value, Formula):
        if not may_lie_inside(value, declared):
            return None
        return value if isinstance(declared, RealRange) or _is_whole_formula(value) else Formula("floor", (value,))
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if not may_lie_inside(value, declared) or not is_on_grid(value, declared):
        return None
    if isinstance(declared, RealRange):
        return float(value)
    return int(value) if value == int(value) else None


def nearest(declared: IntRange | RealRange, value: float) -> list[int | float]:
    """The values of a range just below and just above one that lies between them."""
    if isinstance(declared.low, Formula):
        return []
    step = declared.step or 1
    if not math.isfinite((value - declared.low) / step):
        return []
    below = declared.low + math.floor((value - declared.low) / step) * step
    tidy = [float(f"{x:.12g}") for x in (below, below + step)]
    found = [int(x) if isinstance(declared, IntRange) else x for x in tidy]
    return [x for x in found if may_lie_inside(x, declared)]


def _is_whole(steps: float) -> bool:
    return math.isfinite(steps) and abs(steps - round(steps)) <= _SLACK * max(1.0, abs(steps))


def _is_whole_formula(amount: Amount) -> bool:
    """Whether a formula has a whole value for every table."""
    if not isinstance(amount, Formula):
        return isinstance(amount, int)
    if amount.operation in FACTS or amount.operation in ("floor", "ceil"):
        return True
    return amount.operation in _WHOLE_OPERATIONS and all(map(_is_whole_formula, amount.operands))
