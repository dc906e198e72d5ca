"""Ranks: several methods compared over many data sets, after Demšar (2006)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Scores = Mapping[str, Mapping[str, float]]
DIGITS = 9


def common_rows(scores: Scores) -> tuple[list[str], NDArray[np.float64]]:
    """The data sets that every method has a score for, and the scores, a row for each and a column a method.

    Means of equal figures in another order differ in their last digits, so scores are rounded: ties decide ranks.
    """
    methods = list(scores)
    shared = (
        [name for name in scores[methods[0]] if all(name in scores[method] for method in methods)] if methods else []
    )
    rows = np.array([[scores[method][name] for method in methods] for name in shared], dtype=float)
    return shared, rows.round(DIGITS)


def average_ranks(scores: Scores) -> dict[str, float]:
    """Of each method over the data sets that all have, 1 being the best; equal scores share their ranks."""
    shared, rows = common_rows(scores)
    if not shared:
        return {}
    means = np.mean([stats.rankdata(row) for row in rows], axis=0)
    return dict(zip(scores, means.tolist(), strict=True))


def critical_difference(methods: int, data_sets: int, alpha: float = 0.05) -> float:
    """Nemenyi's: average ranks that differ by more are significantly different."""
    if methods < 2 or data_sets < 1:
        return float("nan")
    quantile = stats.studentized_range.ppf(1 - alpha, methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * data_sets)))


def friedman(scores: Scores) -> float:
    """The chance of such ranks if all methods were equal."""
    shared, rows = common_rows(scores)
    if len(shared) < 2 or rows.shape[1] < 3:
        return float("nan")
    return float(stats.friedmanchisquare(*rows.T).pvalue)
