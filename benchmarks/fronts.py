"""Fronts: sets of solutions that weigh errors against features — the average one, the best one, and their volume."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from msl.search.operators.pareto import hypervolume, non_dominated

#: Number of features and error rate.
Point = tuple[int, float]


def average_front(runs: Sequence[Sequence[Point]]) -> list[Point]:
    """For each number of features the mean error over the solutions of all runs, as the paper joins its runs."""
    errors: dict[int, list[float]] = {}
    for run in runs:
        for features, error in run:
            errors.setdefault(features, []).append(error)
    return [(features, float(np.mean(errors[features]))) for features in sorted(errors)]


def best_front(runs: Sequence[Sequence[Point]]) -> list[Point]:
    """The solutions of all runs that no other dominates, each once."""
    union = sorted({point for run in runs for point in run})
    return [union[place] for place in sorted(non_dominated(np.array(union, dtype=float)))] if union else []


def volume(front: Sequence[Point], all_features: int) -> float:
    """The share of the unit square that a front dominates, features counted as shares of all."""
    if not front:
        return 0.0
    losses = np.array([(features / all_features, error) for features, error in front])
    return float(hypervolume(losses, (1.0, 1.0)))


def dominated_share(solutions: Sequence[Point], front: Sequence[Point]) -> float:
    """How many of the solutions a front reaches or beats in both."""
    beaten = [any(f <= features and e <= error for f, e in front) for features, error in solutions]
    return float(np.mean(beaten)) if beaten else float("nan")
