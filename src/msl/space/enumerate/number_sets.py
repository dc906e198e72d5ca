"""Partition ranges and single numbers that may overlap into pieces that do not.

Each piece comes with the tags of all the ranges that it lies in. Where conditions observe a number, ranges are first
cut at the thresholds, so that conditions cannot tell apart the numbers of a piece, and one of them represents all.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from msl.space.enumerate.disjoint_sets import (
    Enumeration,
    Levels,
    Listed,
    OrderedSet,
    RealIntervals,
    TooCostly,
    disjoint_union,
)
from msl.space.model_traits import Precision
from msl.space.nodes import IntRange, RealRange
from msl.space.numbers import ends, evenly_spaced, level_count, whole_numbers

#: Ranges up to this size are written out where they overlap or every value is observed.
MOST_LISTED = 100_000

N = TypeVar("N", int, float)
Tag = Hashable
Pieces = dict[OrderedSet[Tag], Enumeration]


# --- integers -----------------------------------------------------------------------------------------


def cut_whole(node: IntRange, precision: Precision | None) -> Iterator[tuple[int | None, range]]:
    """The numbers of a range in pieces that conditions cannot tell apart, each with a number that represents it."""
    numbers = whole_numbers(node)
    if precision is None:
        yield None, numbers
    else:
        yield from ((numbers[piece][0], numbers[piece]) for piece in _indistinguishable(numbers, precision))


def split_whole(ranges: list[tuple[Tag, range]]) -> Pieces:
    """Ranges of integers as pieces that do not overlap, by the tags of the ranges that hold them."""
    if len(ranges) == 1:
        (tag, numbers), *_ = ranges
        return {OrderedSet((tag,)): Listed(numbers)}
    ranges = [(tag, numbers) for tag, numbers in ranges if numbers]
    found: dict[OrderedSet[Tag], list[range]] = defaultdict(list)
    for low, high, places in _covered([(numbers[0], numbers[-1] + 1) for _, numbers in ranges]):
        covering = [ranges[place] for place in places]
        period = math.lcm(*(numbers.step for _, numbers in covering)) if high - low > 1 else 1
        if period > MOST_LISTED:
            raise TooCostly("ranges with unlike steps overlap")
        for first in range(low, min(high, low + period)):
            tags = OrderedSet(tag for tag, numbers in covering if (first - numbers[0]) % numbers.step == 0)
            if tags:
                found[tags].append(range(first, high, period))
    return {tags: disjoint_union(map(Listed, pieces)) for tags, pieces in found.items()}


# --- reals --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RealInterval:
    """A piece of an open range; where the range was cut, the end is a point of its own and not in the interval."""

    node: RealRange
    has_low: bool = True
    has_high: bool = True

    def __contains__(self, value: float) -> bool:
        low, high = ends(self.node)
        return low < value < high or (value == low and self.has_low) or (value == high and self.has_high)


def cut_real(
    node: RealRange, precision: Precision | None, steps: int | None
) -> Iterator[tuple[float | None, Levels | RealInterval | tuple[float, ...]]]:
    """The same for reals; `steps` makes an open range a grid of so many values."""
    count = level_count(node)
    if count is None and steps is None:
        yield from _cut_interval(node, precision)
    elif count is not None and precision is None:
        yield None, Levels(node)
    else:
        values = evenly_spaced(node, steps) if count is None and steps is not None else _listed(Levels(node))
        if precision is None:
            yield None, tuple(values)
        else:
            yield from ((values[piece][0], tuple(values[piece])) for piece in _indistinguishable(values, precision))


def _cut_interval(
    node: RealRange, precision: Precision | None
) -> Iterator[tuple[float | None, RealInterval | tuple[float, ...]]]:
    if precision is None:
        yield None, RealInterval(node)
        return
    if precision.every_value:
        raise TooCostly("a requirement computes with a real, or compares it with another parameter")
    low, high = ends(node)
    points = sorted({float(t) for t in precision.thresholds if low <= t <= high})
    yield from ((point, (point,)) for point in points)
    edges = list(dict.fromkeys([low, *points, high]))
    for below, above in pairwise(edges):
        middle = below + (above - below) / 2
        if below < middle < above:
            yield middle, RealInterval(replace(node, low=below, high=above), below not in points, above not in points)


def split_real(
    points: list[tuple[Tag, Levels | tuple[float, ...]]], intervals: list[tuple[Tag, RealInterval]]
) -> Pieces:
    """Reals as pieces that do not overlap, by the tags of what holds them."""
    if points and not intervals and all(values == points[0][1] for _, values in points):
        values = points[0][1]
        return {OrderedSet(tag for tag, _ in points): values if isinstance(values, Levels) else Listed(values)}
    if len(intervals) == 1 and not points:
        tag, interval = intervals[0]
        return {OrderedSet((tag,)): RealIntervals((interval.node,))}
    tags: dict[float, list[Tag]] = defaultdict(list)
    for tag, values in points:
        for value in _listed(values):
            tags[value].append(tag)
    for value, found in tags.items():
        found.extend(tag for tag, interval in intervals if value in interval)
    alone: dict[OrderedSet[Tag], list[float]] = defaultdict(list)
    for value in sorted(tags):
        alone[OrderedSet(tags[value])].append(value)
    pieces: dict[OrderedSet[Tag], list[Enumeration]] = defaultdict(list)
    for key, found_alone in alone.items():
        pieces[key].append(Listed(tuple(found_alone)))
    for key, ranges in _overlaps(intervals).items():
        pieces[key].append(RealIntervals(tuple(ranges)))
    return {key: disjoint_union(found) for key, found in pieces.items()}


def _overlaps(intervals: list[tuple[Tag, RealInterval]]) -> dict[OrderedSet[Tag], list[RealRange]]:
    found: dict[OrderedSet[Tag], list[RealRange]] = defaultdict(list)
    for below, above, places in _covered([ends(interval.node) for _, interval in intervals]):
        piece = replace(intervals[places[0]][1].node, low=below, high=above)
        found[OrderedSet(intervals[place][0] for place in places)].append(piece)
    return found


def _covered(spans: Sequence[tuple[N, N]]) -> Iterator[tuple[N, N, list[int]]]:
    """The pieces between the ends of spans that some of them cover, each with the places of those, in their order."""
    opening: dict[N, list[int]] = defaultdict(list)
    closing: dict[N, list[int]] = defaultdict(list)
    for place, (low, high) in enumerate(spans):
        opening[low].append(place)
        closing[high].append(place)
    active: set[int] = set()
    for below, above in pairwise(sorted(opening.keys() | closing.keys())):
        active.difference_update(closing[below])
        active.update(opening[below])
        if active:
            yield below, above, sorted(active)


def _listed(values: Levels | tuple[float, ...]) -> Sequence[float]:
    if isinstance(values, tuple):
        return values
    if values.weight > MOST_LISTED:
        raise TooCostly(f"{values.weight:,} steps of a real would have to be told apart")
    return tuple(values)


# --- thresholds ------------------------------------------------------------------------------


def _indistinguishable(numbers: Sequence[float], precision: Precision) -> Iterator[slice]:
    """Slices of rising numbers by the thresholds: those below the first, the first itself, those up to the next, …"""
    if precision.every_value and len(numbers) > MOST_LISTED:
        raise TooCostly(f"{len(numbers):,} values of a parameter would have to be told apart")
    places = set(range(len(numbers) + 1)) if precision.every_value else {0, len(numbers)}
    for threshold in precision.thresholds:
        places.update((bisect_left(numbers, threshold), bisect_right(numbers, threshold)))
    ordered = sorted(places)
    return (slice(i, j) for i, j in pairwise(ordered))
