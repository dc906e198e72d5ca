"""The widest margin with a ridge on the kernel's diagonal: Newton's method on the set of support vectors.

A ridge r on the diagonal of a hard margin is a penalty ξ² / 2r on every row that falls short of the margin by ξ. That
objective is quadratic as long as the same rows fall short, so each Newton step solves the linear system of those rows
alone, and when they stay the same the optimum is reached to the last digit. Its cost hardly rises as the ridge falls,
unlike that of methods that move two multipliers at a time.

Mangasarian (2002), A finite Newton method for classification; Chapelle (2007), Training a support vector machine in
the primal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from msl.blocks.base import Codes, Floats
from msl.blocks.kernel_machine import ridge_solve

#: Newton steps; a dozen is the rule.
MOST_STEPS = 200


@dataclass(frozen=True, slots=True)
class Margin:
    """f = K α + b, and its `values` on the training rows; only support vectors have multipliers other than zero."""

    multipliers: Floats
    offset: float
    values: Floats

    def towards(self, other: Margin, part: float) -> Margin:
        return Margin(
            self.multipliers + part * (other.multipliers - self.multipliers),
            self.offset + part * (other.offset - self.offset),
            self.values + part * (other.values - self.values),
        )

    def without_traces(self, short: Codes) -> Margin:
        """Multipliers that are left over from earlier steps, next to nothing, are taken for nothing."""
        multipliers = np.zeros_like(self.multipliers)
        multipliers[short] = self.multipliers[short]
        return Margin(multipliers, self.offset, self.values)


def widest_margin(kernel: Floats, signs: Floats, ridge: float) -> Margin:
    """The machine for two classes, coded ±1, both of them present."""
    short = np.arange(len(signs))
    current = touching(kernel, signs, ridge, short)
    part = 1.0
    for _ in range(MOST_STEPS):
        previous, short = short, np.flatnonzero(signs * current.values < 1.0)
        if part == 1.0 and np.array_equal(short, previous):
            break
        target = touching(kernel, signs, ridge, short)
        part = best_part(current, target, signs, ridge)
        if part == 0.0:  # as far as rounding lets one go
            return current.without_traces(short)
        current = target if part == 1.0 else current.towards(target, part)
    return current


def touching(kernel: Floats, signs: Floats, ridge: float, short: Codes) -> Margin:
    """The optimum if the rows that fall short were exactly these."""
    inside = kernel if len(short) == len(kernel) else kernel[short[:, np.newaxis], short]
    right_sides = np.ones((len(short), 2))
    right_sides[:, 1] = signs[short]
    of_one, of_signs = ridge_solve(inside, ridge, right_sides).T
    offset = of_signs.sum() / of_one.sum()
    multipliers = np.zeros(len(signs))
    multipliers[short] = of_signs - offset * of_one
    return Margin(multipliers, float(offset), kernel @ multipliers + offset)


def best_part(start: Margin, target: Margin, signs: Floats, ridge: float) -> float:
    """The part of the way from start to target, at most all of it, at which the objective is lowest.

    Along the way the objective is convex and smooth, so its lowest point is where its derivative changes sign.
    """
    change = target.values - start.values
    along = change - (target.offset - start.offset)
    slope = float(start.multipliers @ along)
    curvature = float(target.multipliers @ along) - slope
    change *= signs
    shortfall = 1.0 - signs * start.values

    def derivative(part: float) -> float:
        return slope + part * curvature - float(np.maximum(shortfall - part * change, 0.0) @ change) / ridge

    if derivative(1.0) <= 0.0:
        return 1.0
    if derivative(0.0) >= 0.0:
        return 0.0
    return float(brentq(derivative, 0.0, 1.0, xtol=1e-9, rtol=1e-3))
