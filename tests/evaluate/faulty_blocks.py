"""Blocks that go wrong in every way that Python lets them."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin


class Copies(TransformerMixin, BaseEstimator):
    """Does nothing, well."""

    def fit(self, X: Any, y: Any = None) -> Copies:
        return self

    def transform(self, X: Any) -> Any:
        return X.copy()


class RefusesToBeMade(Copies):
    def __init__(self, size: int = 0) -> None:
        raise ValueError(f"never with {size}")


class FailsToFit(Copies):
    def fit(self, X: Any, y: Any = None) -> Copies:
        raise RuntimeError("no fit today")


class FailsToTransform(Copies):
    def transform(self, X: Any) -> Any:
        raise RuntimeError("no transform today")


class LeavesTheProgram(Copies):
    def fit(self, X: Any, y: Any = None) -> Copies:
        sys.exit(3)


class RunsOutOfMemory(Copies):
    def fit(self, X: Any, y: Any = None) -> Copies:
        raise MemoryError


class BrokenWords(Exception):
    def __str__(self) -> str:
        raise TypeError("no words either")


class FailsWithoutWords(Copies):
    def fit(self, X: Any, y: Any = None) -> Copies:
        raise BrokenWords


class TalksTooMuch(Copies):
    def fit(self, X: Any, y: Any = None) -> Copies:
        raise ValueError("x" * 100_000)


class LosesRows(Copies):
    def transform(self, X: Any) -> Any:
        return X[:-1]


class LosesColumns(Copies):
    def transform(self, X: Any) -> Any:
        return X[:, :0]


class MakesNaN(Copies):
    def transform(self, X: Any) -> Any:
        return np.where(X > 0, np.nan, X)


class MakesInfinity(Copies):
    def transform(self, X: Any) -> Any:
        return np.where(X > 0, np.inf, X)


class WritesIntoItsInput(Copies):
    def transform(self, X: Any) -> Any:
        X[:] = 0.0
        return X


class FloodsWithWarnings(Copies):
    def fit(self, X: Any, y: Any = None) -> Copies:
        for number in range(3000):
            warnings.warn(f"warning number {number} " + "!" * 1000, stacklevel=1)
        return self


class Majority(ClassifierMixin, BaseEstimator):
    """The most frequent class for every row."""

    def fit(self, X: Any, y: Any) -> Majority:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.best_ = int(counts.argmax())
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[self.best_])


class PredictsNaN(Majority):
    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), np.nan)


class PredictsTheWrongShape(Majority):
    def predict_proba(self, X: Any) -> Any:
        return np.ones((len(X), len(self.classes_) + 3))


class FailsToPredict(Majority):
    def predict(self, X: Any) -> Any:
        raise RuntimeError("no prediction today")


class NotALearner:
    pass
