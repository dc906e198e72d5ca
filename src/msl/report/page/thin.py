"""Thin: fewer dots where they would lie on top of each other, so that a page of a long run stays small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

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
