"""Learners that warn of everything they do, and at their import too."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB

warnings.warn("this package is old", FutureWarning, stacklevel=1)


class Noisy(GaussianNB):
    def fit(self, X: Any, y: Any) -> Noisy:
        for number in range(3):
            warnings.warn(f"Maximum number of iteration reached after {number} steps", ConvergenceWarning, stacklevel=1)
        super().fit(X, y)
        return self

    def predict_proba(self, X: Any) -> Any:
        warnings.warn("invalid value encountered in predict", RuntimeWarning, stacklevel=1)
        return super().predict_proba(X)
