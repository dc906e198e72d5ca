"""Bounds: between which values an objective lies when its measures are only known to lie between some."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msl.space.spec import Combined, Loss, Measured, Weight

Interval = tuple[float, float]

ANYTHING: Interval = (-math.inf, math.inf)
#: What a measure can be before anything is known; any other is a number of at least 0.
_LIMITS: Mapping[str, Interval] = {
    "ber": (0.0, 1.0),
    "error": (0.0, 1.0),
    "auc": (0.0, 1.0),
    "f1": (0.0, 1.0),
    "positive_f1": (0.0, 1.0),
    "mcc": (-1.0, 1.0),
    "r2": (-math.inf, 1.0),
}


def loss_bounds(loss: Loss, known: Mapping[str, Interval]) -> Interval:
    """The bounds of an objective, given those of measures; of others, what they can be at all."""
    match loss:
        case Measured(name=name):
            return known.get(name) or _LIMITS.get(name, (0.0, math.inf))
        case Weight(value=value):
            return (value, value)
        case Combined(operation=operation, operands=(left,)):
            low, high = loss_bounds(left, known)
            return (-high, -low) if operation == "-" else ANYTHING
        case Combined(operation=operation, operands=(left, right)):
            return _combined(operation, loss_bounds(left, known), loss_bounds(right, known))
    return ANYTHING


def _combined(operation: str, left: Interval, right: Interval) -> Interval:
    match operation:
        case "+":
            return (left[0] + right[0], left[1] + right[1])
        case "-":
            return (left[0] - right[1], left[1] - right[0])
        case "*":
            return _product(left, right)
        case "/" if right[0] > 0.0 or right[1] < 0.0:
            return _product(left, (1.0 / right[1], 1.0 / right[0]))
    return ANYTHING


def _product(left: Interval, right: Interval) -> Interval:
    # Nothing of what is boundless is nothing: a measure itself is always a number.
    corners = [0.0 if 0.0 in (a, b) else a * b for a in left for b in right]
    return (min(corners), max(corners))
