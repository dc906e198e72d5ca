"""Array model: an estimator of scikit-learn around a model that works on plain arrays. Rows are validated here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from msl.blocks.base import Floats


class ArrayModel(BaseEstimator, ABC):
    """Fits and answers on validated rows; what is missing in them is the model's own matter."""

    n_classes_: int

    @abstractmethod
    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Fits on validated rows; `y` holds codes of classes, or numbers when `n_classes` is 0."""

    @abstractmethod
    def outputs(self, X: Floats) -> Floats:
        """A number for each row, or for each row and class: the largest is the class."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, order="C", reset=False, ensure_all_finite="allow-nan")
        return rows


class ArrayClassifier(ClassifierMixin, ArrayModel):
    """A model of classes."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.fit_arrays(rows, codes, len(self.classes_))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        winners: NDArray[Any] = self.classes_[self.outputs(self._validated(X)).argmax(axis=1)]
        return winners

    def predict_proba(self, X: ArrayLike) -> Floats:
        return probabilities(self.outputs(self._validated(X)))


class ArrayRegressor(RegressorMixin, ArrayModel):
    """A model of numbers."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, numbers = validate_data(
            self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_all_finite="allow-nan"
        )
        self.fit_arrays(rows, np.asarray(numbers, dtype=np.float64), 0)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        return self.outputs(self._validated(X))


def sum_to_one(outputs: Floats) -> bool:
    """Whether the outputs of every row do, as probabilities do and margins do not."""
    return bool((np.abs(outputs.sum(axis=1) - 1.0) <= 1e-6).all())


def are_probabilities(outputs: Floats) -> bool:
    return bool(outputs.min(initial=0.0) >= 0.0) and sum_to_one(outputs)


def probabilities(outputs: Floats) -> Floats:
    """Outputs as probabilities of the classes: as they are when they are, else by softmax.

    Those that sum to one and go beyond [0, 1] are brought back, row by row: a model whose outputs always sum to one
    says the same of a row whatever other rows it is asked of.
    """
    if are_probabilities(outputs):
        return outputs
    return shares(outputs) if sum_to_one(outputs) else softmax(outputs)


def shares(values: Floats) -> Floats:
    """Each row over its sum, of what is not negative in it: probabilities that went beyond [0, 1] are brought back."""
    positive = np.maximum(values, 0.0)
    scaled: Floats = positive / positive.sum(axis=1, keepdims=True)
    return scaled


def softmax(outputs: Floats) -> Floats:
    raised = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    scaled: Floats = raised / raised.sum(axis=1, keepdims=True)
    return scaled
