"""Significance: how far a mean can be trusted, and whether one method beats another over pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

#: Means of equal figures in another order differ by less.
ROUNDING = 1e-12


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def standard_error(values: Sequence[float]) -> float:
    """Of the mean; not a number for fewer than two values."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def trimmed_mean(values: Sequence[float], share: float = 0.05) -> float:
    """The mean without this share at either end, as the networks' paper takes it against outliers."""
    return float(stats.trim_mean(values, share)) if len(values) else float("nan")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two methods on the same cells: how often the first was better, as good, worse, and the chance of that."""

    wins: int
    ties: int
    losses: int
    p_value: float

    def __str__(self) -> str:
        chance = "" if np.isnan(self.p_value) else f", Wilcoxon p = {self.p_value:.2g}"
        return f"{self.wins} won, {self.ties} tied, {self.losses} lost{chance}"


def compare_pairs(first: Sequence[float], second: Sequence[float]) -> Pairs:
    """Wilcoxon's signed-rank test, two-sided; lower is better. What rounding alone tells apart is a tie."""
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    difference[np.abs(difference) <= ROUNDING] = 0.0
    moved = difference[difference != 0]
    p_value = float(stats.wilcoxon(moved).pvalue) if len(moved) >= 5 else float("nan")
    return Pairs(int((difference < 0).sum()), int((difference == 0).sum()), int((difference > 0).sum()), p_value)


def verdict_on(ours: Sequence[float], target: float) -> str:
    """Ours against a figure of a paper: at or below it, within one standard error, or above."""
    average, error = mean(ours), standard_error(ours)
    if average <= target:
        return "reached"
    if np.isnan(error):
        return "above (one split)"
    return "within 1 s.e." if average - target <= error else "above"
