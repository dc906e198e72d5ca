"""Map shares in [0, 1] to values and back: bins of equal width for levels, linear or logarithmic for numbers.

Reading gives the values and the rounded shares: the centre of the bin for anything with levels, so that all points of a
bin become the same point; a continuous real keeps its clipped share. Continuous reals are rounded to the decimal grid
of `msl.space.numbers`: printed models are short, and encoding a decoded model gives the same model to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from msl.diagnostics.user_error import UserError
from msl.space.nodes import Bool, IntRange, RealRange
from msl.space.numbers import (
    DIGITS,
    MOST_LEVELS,
    MOST_LOG,
    decimals,
    ends,
    level_count,
    level_value,
    tidy,
    whole_numbers,
)

Ends = tuple[float, float]
Shares = NDArray[np.float64]
Values = NDArray[Any]

#: Powers of ten that are exact as doubles.
_POWERS = 10.0 ** np.arange(23)
#: How many neighbouring doubles are tried to find a share that reads as exactly the value.
_NUDGES = 64


class Scale(Protocol):
    """`levels` is None for a continuous real."""

    @property
    def levels(self) -> int | None: ...

    @property
    def ends(self) -> Ends:
        """The numbers at the shares 0 and 1, in the units of the values: a share between is the number between."""
        ...

    def read(self, shares: Shares) -> tuple[Values, Shares]:
        """The values, and the shares to write back."""
        ...

    def share(self, value: Any) -> float:
        """The share that is read as this value."""
        ...

    def near(self, share: float, step: float) -> list[float]:
        """The shares of the neighbouring values; a continuous real is moved by a step of the cube."""
        ...


def scale_of(node: IntRange | RealRange | Bool) -> Scale:
    """The scale of a domain with known ends."""
    match node:
        case Bool():
            return YesNo()
        case IntRange(log=True):
            return LogWhole(whole_numbers(node))
        case IntRange():
            return Whole(whole_numbers(node))
        case RealRange():
            return OpenReal(node) if level_count(node) is None else SteppedReal(node)


@dataclass(frozen=True, slots=True)
class Steps:
    """Levels 0, 1, … in bins of equal width."""

    levels: int

    def __post_init__(self) -> None:
        if self.levels > MOST_LEVELS:
            raise UserError(f"{self.levels:,} values are more than one dimension can tell apart")

    @property
    def ends(self) -> Ends:
        """The levels as people count them: 1, 2, …"""
        return 0.5, self.levels + 0.5

    def read(self, shares: Shares) -> tuple[Values, Shares]:
        levels = np.minimum((shares * self.levels).astype(np.int64), self.levels - 1)
        return levels, (levels + 0.5) / self.levels

    def share(self, value: int) -> float:
        return (value + 0.5) / self.levels

    def level(self, share: float) -> int:
        return min(int(share * self.levels), self.levels - 1)

    def near(self, share: float, step: float) -> list[float]:
        level = self.level(share)
        return [self.share(other) for other in (level - 1, level + 1) if 0 <= other < self.levels]


@dataclass(frozen=True, slots=True)
class YesNo:
    """False below one half."""

    levels: int = 2
    #: No is 0 and yes is 1.
    ends: Ends = (-0.5, 1.5)

    def read(self, shares: Shares) -> tuple[Values, Shares]:
        values = shares >= 0.5
        return values, np.where(values, 0.75, 0.25)

    def share(self, value: bool) -> float:
        return 0.75 if value else 0.25

    def near(self, share: float, step: float) -> list[float]:
        return [self.share(share < 0.5)]


@dataclass(frozen=True, slots=True)
class Whole:
    """Whole numbers in bins of equal width."""

    numbers: range
    steps: Steps = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", Steps(len(self.numbers)))

    @property
    def levels(self) -> int:
        return self.steps.levels

    @property
    def ends(self) -> Ends:
        return self.numbers[0] - self.numbers.step / 2, self.numbers[-1] + self.numbers.step / 2

    def read(self, shares: Shares) -> tuple[Values, Shares]:
        levels, snapped = self.steps.read(shares)
        return self.numbers.start + levels * self.numbers.step, snapped

    def share(self, value: int) -> float:
        return self.steps.share(self.numbers.index(value))

    def near(self, share: float, step: float) -> list[float]:
        return self.steps.near(share, step)


@dataclass(frozen=True, slots=True)
class LogWhole:
    """Whole numbers with bins as wide as log(n + ½) - log(n - ½), so that both ends have a full bin."""

    numbers: range

    def __post_init__(self) -> None:
        if self.numbers[0] < 1:
            raise UserError(f"`log` needs a low end above 0, and this is {self.numbers[0]}")
        if self.numbers[-1] > MOST_LOG:
            raise UserError(f"`log` up to {self.numbers[-1]:,} is more than one dimension can tell apart")

    @property
    def levels(self) -> int:
        return len(self.numbers)

    @property
    def ends(self) -> Ends:
        """Decades."""
        low, high = self._span
        return low / math.log(10), high / math.log(10)

    @property
    def _span(self) -> tuple[float, float]:
        return math.log(self.numbers[0] - 0.5), math.log(self.numbers[-1] + 0.5)

    def read(self, shares: Shares) -> tuple[Values, Shares]:
        low, high = self._span
        values = np.rint(np.exp(low + shares * (high - low))).clip(self.numbers[0], self.numbers[-1])
        centres = (np.log(values - 0.5) + np.log(values + 0.5)) / 2
        return values.astype(np.int64), (centres - low) / (high - low)

    def share(self, value: int) -> float:
        low, high = self._span
        return ((math.log(value - 0.5) + math.log(value + 0.5)) / 2 - low) / (high - low)

    def near(self, share: float, step: float) -> list[float]:
        value = int(self.read(np.array([share]))[0][0])
        return [self.share(other) for other in (value - 1, value + 1) if other in self.numbers]


@dataclass(frozen=True, slots=True)
class SteppedReal:
    """Reals a step apart, in bins of equal width."""

    node: RealRange
    steps: Steps = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", Steps(level_count(self.node) or 1))

    @property
    def levels(self) -> int:
        return self.steps.levels

    @property
    def ends(self) -> Ends:
        half = (self.node.step or 0.0) / 2
        return level_value(self.node, 0) - half, level_value(self.node, self.levels - 1) + half

    def read(self, shares: Shares) -> tuple[Values, Shares]:
        levels, snapped = self.steps.read(shares)
        met, places = np.unique(levels, return_inverse=True)
        values = np.array([level_value(self.node, int(level)) for level in met], dtype=np.float64)
        return values[places.reshape(levels.shape)], snapped

    def share(self, value: float) -> float:
        low, _ = ends(self.node)
        return self.steps.share(0 if self.node.step is None else round((value - low) / self.node.step))

    def near(self, share: float, step: float) -> list[float]:
        return self.steps.near(share, step)


@dataclass(frozen=True, slots=True)
class OpenReal:
    """Continuous reals on a linear or logarithmic scale."""

    node: RealRange
    levels: None = None

    def __post_init__(self) -> None:
        if self.node.log and ends(self.node)[0] <= 0:
            raise UserError(f"`log` needs a low end above 0, and this is {ends(self.node)[0]}")

    @property
    def ends(self) -> Ends:
        """The range, or its decades on a logarithmic scale."""
        low, high = ends(self.node)
        return (math.log10(low), math.log10(high)) if self.node.log else (float(low), float(high))

    def read(self, shares: Shares) -> tuple[Values, Shares]:
        low, high = ends(self.node)
        if self.node.log:
            start, end = math.log(low), math.log(high)
            values = significant(np.exp(start + shares * (end - start)))
        else:
            values = to_places(low + shares * (high - low), decimals(self.node))
        values = np.where(shares <= 0.0, low, np.where(shares >= 1.0, high, values.clip(low, high)))
        return values + 0.0, shares

    def share(self, value: float) -> float:
        low, high = ends(self.node)
        value = tidy(self.node, value)
        if value in (low, high):
            return float(value == high)
        if self.node.log:
            share = (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
        else:
            share = (value - low) / (high - low)
        return self._nudged(min(max(share, 0.0), 1.0), value)

    def near(self, share: float, step: float) -> list[float]:
        return [moved for moved in (max(share - step, 0.0), min(share + step, 1.0)) if moved != share]

    def _nudged(self, share: float, value: float) -> float:
        """The nearest share that reads as exactly the value; the inverse may miss it by the last bits."""
        below = above = share
        for _ in range(_NUDGES):
            for candidate in (below, above):
                if self.read(np.array([candidate]))[0][0] == value:
                    return candidate
            below, above = math.nextafter(below, 0.0), math.nextafter(above, 1.0)
        return share


def to_places(values: Values, places: int) -> Values:
    """Rounded to this many decimals; as `msl.space.numbers.rounded`."""
    power = 10.0 ** abs(places)
    rounded: Values = np.rint(values * power) / power if places >= 0 else np.rint(values / power) * power
    return rounded


def significant(values: Values) -> Values:
    """Positive numbers rounded to twelve significant digits, each the double nearest to that decimal number."""
    places = (DIGITS - 1) - np.floor(np.log10(values)).astype(np.int64)
    exact = np.abs(places) < len(_POWERS)
    powers = _POWERS[np.abs(places).clip(0, len(_POWERS) - 1)]
    with np.errstate(over="ignore"):  # in the branch that is not taken
        rounded: Values = np.where(places >= 0, np.rint(values * powers) / powers, np.rint(values / powers) * powers)
    if not exact.all():  # a power of ten that is not exact would not give the nearest double
        far = [float(f"{value:.{DIGITS - 1}e}") for value in values[~exact]]
        rounded[~exact] = far
    return rounded
