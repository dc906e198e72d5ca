"""Blocks that leave something behind in their process, and a learner that fares worse for each of it."""

from __future__ import annotations

import decimal
import locale
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import sklearn
import sklearn.preprocessing
import sklearn.utils.validation
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

_median = np.median
_handler = signal.getsignal(signal.SIGUSR1)
#: What this module itself knows of the past.
FITTED: list[str] = []


def _patched(*arguments: Any, **options: Any) -> Any:
    return _median(*arguments, **options) + 100.0


class Unpicky:
    """What a scaler becomes under a careless patch."""

    def __call__(self, X: Any, *arguments: Any, **options: Any) -> Any:
        return np.zeros_like(X)


LEAKS: dict[str, Callable[[], object]] = {
    "seterr": lambda: np.seterr(all="raise"),
    "filters": lambda: setattr(warnings, "filters", [("error", None, Warning, None, 0)]),
    "recursion": lambda: sys.setrecursionlimit(150),
    "config": lambda: sklearn.set_config(transform_output="pandas"),
    "patch": lambda: setattr(np, "median", _patched),
    "patched class": lambda: setattr(sklearn.preprocessing.StandardScaler, "transform", Unpicky()),
    "folder": lambda: os.chdir("/"),
    "environment": lambda: os.environ.update(MSL_TEST_LEAK="1"),
    "random": lambda: (random.seed(1), np.random.seed(1)),  # noqa: NPY002 - the global generators are what is meant
    "path": lambda: sys.path.insert(0, "/nowhere"),
    "handler": lambda: signal.signal(signal.SIGUSR1, lambda number, frame: None),
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"),
    "decimal": lambda: setattr(decimal.getcontext(), "prec", 3),
    "thread": lambda: threading.Thread(target=threading.Event().wait, daemon=True).start(),
    "own module": lambda: FITTED.append("leak"),
}
_FOLDER, _LOCALE, _PATH, _THREADS = (
    os.getcwd(),
    locale.setlocale(locale.LC_ALL),
    len(sys.path),
    threading.active_count(),
)


def found_leaks() -> list[str]:
    """What is not as it was when this module was imported."""
    checks = {
        "seterr": np.geterr()["under"] == "raise",
        "filters": len(warnings.filters) == 1 and warnings.filters[0][0] == "error",
        "recursion": sys.getrecursionlimit() < 500,
        "config": sklearn.get_config()["transform_output"] != "default",
        "patch": np.median is not _median,
        "patched class": isinstance(vars(sklearn.preprocessing.StandardScaler).get("transform"), Unpicky),
        "folder": os.getcwd() != _FOLDER,
        "environment": "MSL_TEST_LEAK" in os.environ,
        "path": len(sys.path) != _PATH,
        "handler": signal.getsignal(signal.SIGUSR1) != _handler,
        "locale": locale.setlocale(locale.LC_ALL) != _LOCALE,
        "decimal": decimal.getcontext().prec == 3,
        "thread": threading.active_count() > _THREADS + 1,
        "own module": bool(FITTED),
    }
    return [name for name, is_leaked in checks.items() if is_leaked]


class Leak(TransformerMixin, BaseEstimator):
    """Leaves its rows alone, and something behind."""

    def __init__(self, what: str = "seterr", marker: float = 0.0) -> None:
        self.what = what
        self.marker = marker

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        LEAKS[self.what]()
        return X


class Sensitive(ClassifierMixin, BaseEstimator):
    """The class whose mean is the nearest; fails if it finds a third of the leaks or more, and is worse for each."""

    def __init__(self, marker: float = 0.0) -> None:
        self.marker = marker

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Self:
        leaks = found_leaks()
        if len(leaks) >= 5:
            raise ValueError(f"found {', '.join(leaks)}")
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == kind].mean(axis=0) for kind in self.classes_]) + self.marker * 0.1
        self.means_ *= 1.0 + len(leaks) + np.random.normal(scale=1e-3)  # noqa: NPY002
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return self.classes_[((X[:, None, :] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]
