"""Map values to positions on an axis, choose ticks, and thin out overlapping dots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from msl.report.html.markup import figure

#: Times the least value, from where on logarithms show more.
_WIDE = 30
#: How wide a letter of a tick's label is, and the room for all of them on the narrowest screen, in pixels.
_LETTER, _GAP, _NARROWEST = 7.0, 14.0, 250.0


@dataclass(frozen=True, slots=True)
class Tick:
    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high`, evenly or by their logarithms; `say` writes a tick's label, else it is a figure."""

    low: float
    high: float
    log: bool = False
    say: Callable[[float], str] | None = None

    @classmethod
    def of(
        cls,
        values: Iterable[float],
        *,
        log: bool = False,
        zero: bool = False,
        round_ends: bool = True,
        say: Callable[[float], str] | None = None,
    ) -> Scale:
        """Wide enough for these values and, with `zero`, from there; with `round_ends`, from tick to tick."""
        known = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(known), max(known)
        low = min(low, 0.0) if zero else low
        if log:
            low, high = (low, high) if low < high else (low / 2, high * 2)
            return cls(low / 1.1, high * 1.1, True, say) if round_ends else cls(low, high, True, say)
        if high - low <= max(1e-12 * max(abs(low), abs(high)), 1e-280):
            margin = abs(low) / 10 or 1.0
            low, high = low - (0 if zero and low == 0 else margin), high + margin
        if round_ends:
            step = _round_step((high - low) / 5)
            low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        return cls(low, high, False, say)

    def place(self, value: float) -> float:
        """From 0 at the low end to 1 at the high one; what lies beyond is put at the end."""
        if self.log:
            share = math.log(max(value, 1e-300) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)

    def ticks(self, most: int = 6, *, whole: bool = False, fitting: bool = False) -> list[Tick]:
        """At most so many; of `whole` numbers alone where they count things; `fitting` side by side on a phone."""
        ticks: list[Tick] = []
        for number in range(most, 1, -1):
            values = _decades(self.low, self.high, number) if self.log else _even(self.low, self.high, number, whole)
            say = self.say or _telling_apart(values)
            ticks = [Tick(self.place(value), say(value)) for value in values]
            if not fitting or sum(len(tick.label) * _LETTER + _GAP for tick in ticks) <= _NARROWEST:
                break
        return ticks


def is_wide(values: Iterable[float]) -> bool:
    """Whether positive values spread over so many orders of magnitude that a logarithmic axis is needed."""
    known = sorted(value for value in values if math.isfinite(value))
    if not known or known[0] <= 0:
        return False
    return known[min(int(0.9 * len(known)), len(known) - 1)] / known[0] > _WIDE


def _telling_apart(values: list[float]) -> Callable[[float], str]:
    """Figures with as many digits as neighbours need to differ, and no more than usual where they do not."""
    steps = [after - before for before, after in pairwise(values)]
    digits = math.ceil(math.log10(max(map(abs, values)) / min(steps))) + 2 if steps else 4
    return lambda value: figure(value, max(digits, 4))


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))


def _even(low: float, high: float, most: int, whole: bool) -> list[float]:
    step = _round_step((high - low) / most)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _decades(low: float, high: float, most: int) -> list[float]:
    """Powers of ten; where they are few, twice and five times these as well; where they are many, every second…"""
    for factors in ((1, 2, 5), (1, 3), (1,)):
        values = [factor * 10.0**power for power in _powers(low, high) for factor in factors]
        inside = [value for value in values if low <= value <= high]
        if len(inside) <= most:
            return inside or [low, high]
    every = math.ceil(len(inside) / most)
    return inside[::every]


def _powers(low: float, high: float) -> range:
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


# --- Thinning: fewer dots where they overlap, so that the page of a long run stays small ------------------------------


T = TypeVar("T")
_COLUMNS, _ROWS = 480, 120
MOST_DOTS = 4000


def thinned(
    dots: Sequence[T],
    place: Callable[[T], tuple[float, float]],
    keep: Callable[[T], bool] = lambda dot: False,
    most: int = MOST_DOTS,
) -> list[T]:
    """All dots if they are few, else the first of each small area, evenly over the sequence; some are always kept.

    `place` gives where a dot lies, both from 0 to 1.
    """
    if len(dots) <= most:
        return list(dots)
    seen: set[tuple[int, int]] = set()
    chosen: list[T] = []
    for dot in dots:
        x, y = place(dot)
        area = int(x * _COLUMNS), int(y * _ROWS)
        if keep(dot) or area not in seen:
            chosen.append(dot)
        seen.add(area)
    kept = sum(map(keep, chosen))
    if len(chosen) <= most or kept >= most:
        return chosen
    every = (len(chosen) - kept) / (most - kept)
    left, threshold = [], 0.0
    passed = 0
    for dot in chosen:
        if keep(dot):
            left.append(dot)
            continue
        if passed >= threshold:
            left.append(dot)
            threshold += every
        passed += 1
    return left
