"""A learner whose error rate, and whose failures, are known functions of its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Planted(ClassifierMixin, BaseEstimator):
    """Follows the column that tells the class, and errs on a share of the rows that falls as `a` grows.

    `b` has no effect; a `kind` of `bad` errs on every other row; more `low` than `high` cannot be fitted.
    """

    def __init__(self, a: float = 0.5, b: float = 0.5, kind: str = "good", low: int = 0, high: int = 9) -> None:
        self.a, self.b, self.kind, self.low, self.high = a, b, kind, low, high

    def fit(self, X: Any, y: Any) -> Planted:
        if self.low > self.high:
            raise ValueError("low is above high")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        # The second column is a number of the row, spread evenly over 0 to 1: which rows are erred on is no luck.
        errs = X[:, 1] < (0.5 if self.kind == "bad" else 0.4 * (1.0 - self.a))
        return self.classes_[(X[:, 0] > 0).astype(int) ^ errs.astype(int)]
