"""Numbers that depend on the table, such as `min(1000, n_features)`, evaluated exactly once the table is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Literal

from msl.record import record

Exact = int | Fraction | float

#: What a formula may ask of a table, with the least value it can have.
FACTS: Mapping[str, int] = {"n_features": 1, "n_samples": 1, "n_classes": 0}

FUNCTIONS: Mapping[str, Callable[..., Exact]] = {
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "sqrt": lambda x: math.sqrt(x),
    "log": lambda x: math.log(x),
    "floor": lambda x: math.floor(x),
    "ceil": lambda x: math.ceil(x),
}
#: Powers beyond 2 to plus or minus this are out of the range of floats.
_MOST_BITS = 1_000
#: How many operands a function takes; None is one or more.
OPERANDS: Mapping[str, int | None] = {"min": None, "max": None, "sqrt": 1, "log": 1, "floor": 1, "ceil": 1}


@record
class Formula:
    """An operation on amounts; a fact of the table, or a parameter of a part, is an operation without operands."""

    operation: str
    operands: tuple[Amount, ...] = ()

    def __str__(self) -> str:
        if not self.operands:
            return self.operation
        if self.operation in FUNCTIONS:
            return f"{self.operation}({', '.join(map(str, self.operands))})"
        texts = [f"({x})" if isinstance(x, Formula) and x.operation in "+-*/^" else str(x) for x in self.operands]
        if self.operation == "^" and texts[0].startswith("-"):
            texts[0] = f"({texts[0]})"
        return f"-{texts[0]}" if len(texts) == 1 else f" {self.operation} ".join(texts)


Amount = int | float | Formula


def evaluate(amount: Amount, facts: Facts) -> Exact:
    """The number; raises ArithmeticError or ValueError where it has none, such as a division by zero."""
    if not isinstance(amount, Formula):
        return amount
    if not amount.operands:
        fact: int = getattr(facts, amount.operation)
        return fact
    return apply(amount.operation, [evaluate(operand, facts) for operand in amount.operands])


def apply(operation: str, values: list[Exact]) -> Exact:
    """One operation on numbers; division is exact."""
    if operation in FUNCTIONS:
        return FUNCTIONS[operation](*values)
    if len(values) == 1:
        return -values[0]
    left, right = values
    match operation:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "^":
            return power(left, right)
        case _:
            if isinstance(left, float) or isinstance(right, float):
                return float(left) / float(right)
            return Fraction(left) / Fraction(right)


def power(base: Exact, exponent: Exact) -> Exact:
    """Exact for a whole exponent of a whole number or a fraction.

    Raises OverflowError where the value is far beyond what a float can hold, and ValueError for a root of a negative
    number.
    """
    exponent = plain(exponent) if isinstance(exponent, Fraction) else exponent
    if base == 0 and exponent < 0:
        raise ZeroDivisionError
    if base not in (0, 1, -1) and abs(exponent * math.log2(abs(float(base)))) > _MOST_BITS:
        raise OverflowError
    if isinstance(base, int | Fraction) and isinstance(exponent, int):
        return base**exponent if isinstance(base, int) and exponent >= 0 else Fraction(base) ** exponent
    return math.pow(base, exponent)


def fold(operation: str, operands: list[Amount]) -> Amount:
    """A formula, or its value when nothing in it depends on a table."""
    if any(isinstance(operand, Formula) for operand in operands):
        return Formula(operation, tuple(operands))
    return plain(apply(operation, list(operands)))  # type: ignore[arg-type]


def substituted(amount: Amount, values: Mapping[str, object]) -> Amount:
    """A formula with these values put in, computed as far as possible."""
    if not isinstance(amount, Formula):
        return amount
    if not amount.operands:
        value = values.get(amount.operation, amount)
        if isinstance(value, bool) or not isinstance(value, int | float | Formula):
            raise ValueError("arithmetic needs numbers")
        return value
    operands = [substituted(operand, values) for operand in amount.operands]
    if any(isinstance(operand, Formula) for operand in operands):
        return Formula(amount.operation, tuple(operands))
    return plain(apply(amount.operation, operands))  # type: ignore[arg-type]


def plain(value: Exact) -> int | float:
    """An exact value as an int where it is one, else as a float."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def depends_on(amount: Amount, names: Container[str]) -> bool:
    """Whether a formula uses one of these facts of a table or parameters of a part."""
    if not isinstance(amount, Formula):
        return False
    if not amount.operands:
        return amount.operation in names
    return any(depends_on(operand, names) for operand in amount.operands)


def limits(amount: Amount) -> tuple[float, float]:
    """Between which values an amount lies whatever the table; infinite where nothing is known."""
    if not isinstance(amount, Formula):
        return float(amount), float(amount)
    if not amount.operands:
        return float(FACTS[amount.operation]), math.inf
    below = [limits(operand) for operand in amount.operands]
    lows, highs = [low for low, _ in below], [high for _, high in below]
    match amount.operation:
        case "min":
            return min(lows), min(highs)
        case "max":
            return max(lows), max(highs)
        case "+":
            return sum(lows), sum(highs)
        case "sqrt":
            return math.sqrt(max(lows[0], 0)), math.sqrt(max(highs[0], 0))
        case "floor" | "ceil":
            return lows[0] - 1, highs[0] + 1
        case "*" if min(lows) >= 0:
            return math.prod(lows), math.prod(highs)
        case "^" if lows[0] >= 1 and lows[1] == highs[1] >= 0:
            return _raised(lows[0], lows[1]), _raised(highs[0], lows[1])
    return -math.inf, math.inf


def _raised(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def interval(amount: Amount, known: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Between which values an amount lies while each name it mentions lies in its own interval; infinite if unknown."""
    if not isinstance(amount, Formula):
        return float(amount), float(amount)
    if not amount.operands:
        return known.get(amount.operation, (-math.inf, math.inf))
    below = [interval(operand, known) for operand in amount.operands]
    try:
        corners = _corners(amount.operation, below)
    except (ArithmeticError, ValueError):
        return -math.inf, math.inf
    return (-math.inf, math.inf) if any(map(math.isnan, corners)) else (min(corners), max(corners))


def _corners(operation: str, below: list[tuple[float, float]]) -> list[float]:
    """Values among which are the least and the largest; raises ArithmeticError or ValueError where there are none."""
    if operation in FUNCTIONS:
        ends = ([low for low, _ in below], [high for _, high in below])
        is_rounded = operation in ("floor", "ceil")
        return [x if is_rounded and math.isinf(x) else float(FUNCTIONS[operation](x, *more)) for x, *more in ends]
    if len(below) == 1:
        return [-below[0][0], -below[0][1]]
    (low, high), (start, end) = below
    match operation:
        case "+":
            return [low + start, high + end]
        case "-":
            return [low - end, high - start]
        case "/" if start <= 0 <= end:
            raise ZeroDivisionError
        case "^":
            if low < 0 and not start == end == int(start):
                raise ValueError
            turns = [0.0] if low < 0 < high and start >= 0 else []
            return turns + [math.pow(base, exponent) for base in (low, high) for exponent in (start, end)]
    signs = {"*": lambda x, y: x * y, "/": lambda x, y: x / y}
    return [signs[operation](x, y) for x in (low, high) for y in (start, end)]


#: No table has as many rows or columns as this.
_MOST_OF_A_TABLE = 2.0**50


def rises_or_falls(amount: Amount, name: str, known: Mapping[str, tuple[float, float]]) -> bool:
    """Whether a formula that mentions a name once is defined, and rises or falls, over the whole interval of the name.

    `known` has the intervals of the names; what the others are within theirs makes no difference.
    """
    known = {**{fact: (float(least), _MOST_OF_A_TABLE) for fact, least in FACTS.items()}, **known}
    return _is_monotonic(amount, name, known) and all(map(math.isfinite, interval(amount, known)))


def _is_monotonic(amount: Amount, name: str, known: Mapping[str, tuple[float, float]]) -> bool:
    if not isinstance(amount, Formula) or not amount.operands or not depends_on(amount, (name,)):
        return True
    if not all(_is_monotonic(operand, name, known) for operand in amount.operands):
        return False
    low, high = interval(amount.operands[-1], known)
    match amount.operation:
        case "/" if depends_on(amount.operands[1], (name,)):
            return low > 0 or high < 0
        case "log":
            return low > 0
        case "sqrt":
            return low >= 0
        case "^":
            base, exponent = amount.operands
            return _is_monotonic_power(interval(base, known), (low, high), depends_on(exponent, (name,)))
    return True


def _is_monotonic_power(base: tuple[float, float], exponent: tuple[float, float], varies: bool) -> bool:
    """Whether a power rises or falls with its base, or with its exponent where that `varies`."""
    largest = max(map(abs, exponent))
    if any(x != 0 and largest * abs(math.log2(abs(x))) > _MOST_BITS for x in base if math.isfinite(x)):
        return False
    if base[0] > 0 or (base[0] == 0 and exponent[0] > 0 and not varies):
        return True
    is_whole = not varies and exponent[0] == exponent[1] == int(exponent[0])
    return is_whole and (base[1] < 0 or (exponent[0] > 0 and exponent[0] % 2 == 1))


def at_most(one: Amount, other: Amount) -> bool:
    """Whether an amount is never above another, whatever the table, as far as can be told."""
    if one == other or limits(one)[1] <= limits(other)[0]:
        return True
    if isinstance(other, Formula) and other.operation == "min":
        return all(at_most(one, operand) for operand in other.operands)
    if isinstance(one, Formula) and one.operation == "max":
        return all(at_most(operand, other) for operand in one.operands)
    if isinstance(one, Formula) and one.operation == "min":
        return any(at_most(operand, other) for operand in one.operands)
    return isinstance(other, Formula) and other.operation == "max" and any(at_most(one, o) for o in other.operands)


# --- facts of the table ---


Task = Literal["classification", "regression"]


@record
class Facts:
    """Constants of a table before any split or step; bounds such as `min(50, n_features)` are computed from them.

    The columns are the features in the order in which vectors over features number them.
    """

    n_samples: int
    n_features: int
    #: 0 for regression.
    n_classes: int
    task: Task
    columns: tuple[str, ...] = ()
    #: The columns that hold symbols, and those that lack values somewhere; blocks may need them encoded or imputed.
    symbolic: tuple[str, ...] = ()
    #: The columns that are made of dates, and of text.
    dates: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    #: The columns whose symbols have an order.
    ordered: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    #: The classes as they are spelt, in the order of their codes.
    classes: tuple[str, ...] = ()
    #: How many folds `data(fold = …)` names; None without it.
    n_folds: int | None = None
    #: Whether rows have weights.
    has_weights: bool = False
    #: The target and why it was taken for it, for messages; empty where the user named it or the task.
    guessed_target: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.n_samples < 1 or self.n_features < 1:
            raise ValueError(f"a table has rows and features, not {self.n_samples} × {self.n_features}")
        if (self.task == "regression") != (self.n_classes == 0):
            raise ValueError(f"{self.task} does not go with {self.n_classes} classes")
        if self.columns and len(self.columns) != self.n_features:
            raise ValueError(f"{len(self.columns)} names for {self.n_features} features")
