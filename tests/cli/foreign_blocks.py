"""Classes as users have them: what they take through `**kwargs` they tell, keep to themselves, or set as attributes."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.tree import DecisionTreeClassifier


class Telling(ClassifierMixin, BaseEstimator):
    """As LightGBM does: `get_params` tells what came through `**kwargs`, and it keeps containers of `collections`."""

    def __init__(self, max_depth: int = 3, random_state: int = 0, **options: Any) -> None:
        self.max_depth, self.random_state = max_depth, random_state
        self._other = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"max_depth": self.max_depth, "random_state": self.random_state, **self._other}

    def _options(self) -> dict[str, Any]:
        return self._other

    def fit(self, X: Any, y: Any) -> Any:
        self.history_ = defaultdict(OrderedDict, {"fit": OrderedDict(rows=len(X))})
        self.tree_ = DecisionTreeClassifier(
            max_depth=self.max_depth, random_state=self.random_state, **self._options()
        ).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.tree_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Silent(Telling):
    """`get_params` does not tell."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"max_depth": self.max_depth, "random_state": self.random_state}


class Setting(Telling):
    """Each option becomes an attribute."""

    def __init__(self, max_depth: int = 3, random_state: int = 0, **options: Any) -> None:
        self.max_depth, self.random_state = max_depth, random_state
        for name, value in options.items():
            setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"max_depth": self.max_depth, "random_state": self.random_state}

    def _options(self) -> dict[str, Any]:
        known = {"max_depth", "random_state", "tree_", "classes_", "history_"}
        return {name: value for name, value in vars(self).items() if name not in known}


class Bare:
    """No estimator of scikit-learn: it has nothing but what a learner needs."""

    def __init__(self, max_depth: int = 3, **options: Any) -> None:
        self.max_depth, self.options = max_depth, options

    def fit(self, X: Any, y: Any) -> Any:
        self.tree_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0, **self.options).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)


class Single(TransformerMixin, BaseEstimator):
    """A step that hands on single precision."""

    def fit(self, X: Any, y: Any = None) -> Any:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X, dtype=np.float32)


class SVC(Telling):
    """A class whose name another package has too."""


class Layered(ClassifierMixin, BaseEstimator):
    """Takes as many layers as it is told, each a dictionary."""

    def __init__(self, n_layers: int = 1, units: Any = (8,), layers: Any = ({"name": "pool"},)) -> None:
        self.n_layers, self.units, self.layers = n_layers, units, layers

    def fit(self, X: Any, y: Any) -> Any:
        if len(self.units) != self.n_layers or [layer["name"] for layer in self.layers] == []:
            raise ValueError("not as many layers as told")
        self.tree_ = DecisionTreeClassifier(max_depth=sum(self.units), random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)
