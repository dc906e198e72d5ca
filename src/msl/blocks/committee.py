"""Committee: several models that vote — the estimator of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from msl.blocks.base import Floats


def voted(outputs: Sequence[Floats], weights: Sequence[float], n_classes: int, random_state: int) -> Floats:
    """Shares of the vote for each class, ties broken at random (seeded); the weighted mean for numbers."""
    share = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    if n_classes == 0:
        mean: Floats = np.tensordot(share, np.array(outputs), axes=1)
        return mean
    rows = np.arange(len(outputs[0]))
    votes = np.zeros((len(rows), n_classes))
    for one, weight in zip(outputs, share, strict=True):
        votes[rows, one.argmax(axis=1)] += weight
    tied = votes >= votes.max(axis=1, keepdims=True) - 1e-12
    lots = np.random.default_rng(random_state).random(votes.shape) * tied
    votes += 1e-9 * (lots == lots.max(axis=1, keepdims=True))
    shares: Floats = votes / votes.sum(axis=1, keepdims=True)
    return shares


class _Committee(BaseEstimator):
    """What committees for both tasks share."""

    def __init__(
        self, members: Sequence[Any] = (), weights: Sequence[float] | None = None, random_state: int = 0
    ) -> None:
        self.members = members
        self.weights = weights
        self.random_state = random_state

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Fits every member on validated rows."""
        self.n_classes_ = n_classes
        for member in self.members:
            member.fit_arrays(X, y, n_classes)

    def outputs(self, X: Floats) -> Floats:
        weights = [1.0] * len(self.members) if self.weights is None else self.weights
        return voted([member.outputs(X) for member in self.members], weights, self.n_classes_, self.random_state)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_classes_")

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, order="C", reset=False, ensure_all_finite="allow-nan")
        return rows


class CommitteeClassifier(ClassifierMixin, _Committee):
    """Members vote; `predict_proba` gives the shares of the vote."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.fit_arrays(rows, codes, len(self.classes_))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        winners: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return winners

    def predict_proba(self, X: ArrayLike) -> Floats:
        return self.outputs(self._validated(X))


class CommitteeRegressor(RegressorMixin, _Committee):
    """The mean of the members."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, numbers = validate_data(
            self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_all_finite="allow-nan"
        )
        self.fit_arrays(rows, np.asarray(numbers, dtype=np.float64), 0)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        return self.outputs(self._validated(X))
