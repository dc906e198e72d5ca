"""Learners and transformers that answer with what they should not; most of them in the first few rows alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

#: How many rows get an odd answer.
FEW = 3


class _Learner(BaseEstimator):
    """Is right about nothing in particular: Gaussian naive Bayes, or the mean."""

    def fit(self, X: Any, y: Any) -> _Learner:
        self.classes_ = np.unique(y)
        self.inner_ = GaussianNB().fit(X, y)
        return self

    def _said(self, X: Any) -> Any:
        return self.inner_.predict(X)


class Predicts(ClassifierMixin, _Learner):
    """`predict` alone; `what` says what is odd."""

    def __init__(self, what: str = "nothing") -> None:
        self.what = what

    def predict(self, X: Any) -> Any:
        said = self._said(X)
        match self.what:
            case "nan":
                said = said.astype(float)
                said[:FEW] = np.nan
            case "infinity":
                said = said.astype(float)
                said[:FEW] = np.inf
            case "unknown":
                said[:FEW] = 7
            case "half":
                said = said + 0.5
            case "text":
                said = np.array(["setosa", "versicolor", "virginica"])[said]
            case "digits":
                said = said.astype(str)
            case "objects":
                said = said.astype(object)
                said[:FEW] = None
            case "masked":
                said = np.ma.masked_array(said, np.arange(len(said)) < FEW)
            case "complex":
                said = said + 1j
            case "short":
                said = said[:-1]
            case "matrix":
                said = np.column_stack([said, said])
            case "column":
                said = said[:, None]
            case "list":
                said = said.tolist()
            case "floats":
                said = said.astype(np.float32)
            case "numbers as objects":
                said = said.astype(object)
        return said


class Probabilities(Predicts):
    def predict_proba(self, X: Any) -> Any:
        said = self.inner_.predict_proba(X)
        match self.what:
            case "nan":
                said[:FEW, 0] = np.nan
            case "infinity":
                said[:FEW, 0] = np.inf
            case "negative":
                said[:FEW, 0] -= 0.5
                said[:FEW, 1] += 0.5
            case "nobody":
                said[:FEW] = 0.0
            case "half of them":
                said[:FEW] *= 0.5
            case "too much":
                said *= 2.0
            case "one column":
                said = said[:, 1]
            case "a class too few":
                said = said[:, 1:]
            case "a class too many":
                said = np.column_stack([said, np.zeros(len(said))])
            case "a list":
                said = [said, said]
            case "ragged":
                said = [[1.0], [0.5, 0.5]]
            case "text":
                said = said.astype(str)
            case "single precision":
                said = said.astype(np.float32)
            case "half precision":
                said = said.astype(np.float16)
            case "a hair below zero":
                said[:FEW] = np.clip(said[:FEW], 1e-9, 1.0)
                said[:FEW, 0] -= 1e-8
        return said


class Reversed(Predicts):
    """Its classes stand in another order, and it says so."""

    def fit(self, X: Any, y: Any) -> Reversed:
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.inner_.predict_proba(X)[:, ::-1]


class ForeignClasses(Reversed):
    def fit(self, X: Any, y: Any) -> ForeignClasses:
        super().fit(X, y)
        self.classes_ = np.array(["a", "b", "c"])
        return self


class NoClasses(Predicts):
    """Not even `classes_`."""

    def fit(self, X: Any, y: Any) -> NoClasses:
        super().fit(X, y)
        del self.classes_
        return self


class Scores(Predicts):
    def decision_function(self, X: Any) -> Any:
        said = self.inner_.predict_joint_log_proba(X)
        match self.what:
            case "nan":
                said[:FEW, 0] = np.nan
            case "overflow":
                said = np.where(said == said.max(axis=1, keepdims=True), np.inf, said)
            case "underflow":
                said = np.where(said == said.max(axis=1, keepdims=True), said, -np.inf)
            case "all of them":
                said[:FEW] = np.inf
            case "none of them":
                said[:FEW] = -np.inf
            case "one column":
                said = said[:, 0]
        return said


class Pairs(SVC):
    """Compares classes in pairs, of which three have three."""

    def __init__(self) -> None:
        super().__init__(decision_function_shape="ovo")


class Outliers(DummyClassifier):
    """Knows nothing of some rows, gives each class a probability of 0, and does not know what to predict either."""

    def predict(self, X: Any) -> Any:
        return np.full(len(X), np.nan)

    def predict_proba(self, X: Any) -> Any:
        said = super().predict_proba(X)
        said[:FEW] = 0.0
        return said


class Numbers(RegressorMixin, BaseEstimator):
    def __init__(self, what: str = "nothing") -> None:
        self.what = what

    def fit(self, X: Any, y: Any) -> Numbers:
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        said: Any = np.full(len(X), self.mean_)
        match self.what:
            case "nan":
                said[:FEW] = np.nan
            case "infinity":
                said[:FEW] = -np.inf
            case "text":
                said = said.astype(str)
            case "two columns":
                said = np.column_stack([said, said])
            case "a row":
                said = said[None, :]
            case "column":
                said = said[:, None]
            case "complex":
                said = said + 1j
        return said


class Makes(TransformerMixin, BaseEstimator):
    def __init__(self, what: str = "nothing") -> None:
        self.what = what

    def fit(self, X: Any, y: Any = None) -> Makes:
        return self

    def transform(self, X: Any) -> Any:
        match self.what:
            case "nan":
                made = X.copy()
                made[:FEW, 0] = np.nan
                return made
            case "infinity":
                made = X.copy()
                made[:FEW, 0] = np.inf
                return made
            case "text":
                return X.astype(str)
            case "words":
                return np.full(X.shape, "word")
            case "objects":
                return np.full(X.shape, None)
            case "complex":
                return X + 1j
            case "too few":
                return X[1:]
            case "one dimension":
                return X[:, 0]
            case "three dimensions":
                return X[:, :, None]
            case "nothing left":
                return X[:, :0]
            case "ragged":
                return [[1.0], [1.0, 2.0]]
            case "sparse":
                return csr_matrix(X)
            case "numbers as objects":
                return X.astype(object)
        return X


class OddLater(Predicts):
    """Well-behaved while it is judged on few rows, NaN for the row of a table whose first value is 99."""

    def predict(self, X: Any) -> Any:
        said = self._said(X).astype(float)
        said[X[:, 0] == 99.0] = np.nan
        return said


class RaisesLater(Predicts):
    def predict(self, X: Any) -> Any:
        if (X[:, 0] == 99.0).any():
            raise RuntimeError("never seen such a thing")
        return self._said(X)
