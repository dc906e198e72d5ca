"""Share: between which bounds a share lies, judged from how many of some independent draws were hits."""

from __future__ import annotations

import math
from collections.abc import Callable

_HALVINGS = 60


def share_interval(hits: int, draws: int, confidence: float) -> tuple[float, float]:
    """The Clopper-Pearson interval: it misses the true share at most as often as the confidence allows."""
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _crossing(lambda share: 1 - _at_most(hits - 1, draws, share) > tail)
    high = 1.0 if hits == draws else _crossing(lambda share: _at_most(hits, draws, share) < tail)
    return low, high


def _crossing(is_above: Callable[[float], bool]) -> float:
    """Where something that is false for small shares becomes true."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return (low + high) / 2


def _at_most(hits: int, draws: int, share: float) -> float:
    """The probability of at most so many hits."""
    if share <= 0.0 or share >= 1.0:
        return 1.0 if share <= 0.0 or hits == draws else 0.0
    return math.fsum(
        math.exp(
            math.lgamma(draws + 1)
            - math.lgamma(k + 1)
            - math.lgamma(draws - k + 1)
            + k * math.log(share)
            + (draws - k) * math.log1p(-share)
        )
        for k in range(hits + 1)
    )
