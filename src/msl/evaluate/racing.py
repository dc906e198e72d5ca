"""Racing: a loss that can only grow as folds come in, so that a lost race ends early with the same verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.evaluate.scoring import Floats

ADDITIVE = frozenset({"ber", "error", "mse", "rmse", "mae"})
_SLACK = 1e-12  # sums in another order differ in the last digits; a race is only called when it is lost for certain


class Race:
    """The lower bound of one pooled measure while its folds come in; several pools are averaged."""

    def __init__(self, measure: str, judged: list[NDArray[Any]], n_classes: int) -> None:
        """`judged` holds, for each pool, the targets of all rows that will be judged."""
        self.measure, self.n_classes = measure, n_classes
        self._totals = [self._weights(y) for y in judged]
        self._wrong = [np.zeros(max(n_classes, 1)) for _ in judged]

    def _weights(self, y: NDArray[Any]) -> Floats:
        if self.measure == "ber":
            return np.bincount(y, minlength=self.n_classes).astype(np.float64)
        return np.array([float(len(y))])

    def add(self, pool: int, y: NDArray[Any], outputs: Floats) -> None:
        """Counts a fold's errors."""
        if self.measure == "ber":
            wrong = outputs.argmax(axis=1) != y
            self._wrong[pool] += np.bincount(y[wrong], minlength=self.n_classes)
        elif self.measure == "error":
            self._wrong[pool] += float((outputs.argmax(axis=1) != y).sum())
        else:
            distance = np.abs(y - outputs)
            self._wrong[pool] += float((distance if self.measure == "mae" else distance**2).sum())

    def bound(self) -> float:
        """The loss if every row still to come were right."""
        pools = []
        for wrong, total in zip(self._wrong, self._totals, strict=True):
            present = total > 0
            loss = float(np.mean(wrong[: len(total)][present] / total[present]))
            pools.append(loss**0.5 if self.measure == "rmse" else loss)
        return float(np.mean(pools)) * (1 - _SLACK)
