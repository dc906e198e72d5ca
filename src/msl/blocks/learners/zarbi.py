"""Linear learners without parameters: Zarbi, weighted by signal to noise."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import BlockClassifier, Floats
from msl.blocks.numerics.class_statistics import present_classes, scores_of_all
from msl.blocks.numerics.safe_scaling import reject_huge, scaled_moments, unit_scale
from msl.blocks.public import public

#: A feature without any spread inside the classes would weigh infinitely much.
LARGEST_WEIGHT = 1e9


@public
class Zarbi(BlockClassifier):
    """score = Σ w (x - (μ₊ + μ₋) / 2) with w = (μ₊ - μ₋) / (σ₊ + σ₋); each class against the rest beyond two.

    Golub et al. (1999), Molecular classification of cancer, Science 286.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        reject_huge(X, type(self).__name__)
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        positives = range(1, 2) if n_present == 2 else range(n_present)
        self.coef_ = np.zeros((X.shape[1], len(positives)))
        self.intercept_ = np.zeros(len(positives))
        if n_present == 1:
            return
        # Signal to noise is free of scale, so each column is brought to where its squares do not vanish.
        scale = unit_scale(X, axis=0)
        constant = X.max(axis=0) * scale == X.min(axis=0) * scale
        for column, positive in enumerate(positives):
            inside = codes == positive
            mean, variance = scaled_moments(X[inside], scale)
            mean_of_rest, variance_of_rest = scaled_moments(X[~inside], scale)
            weights = signal_to_noise(mean - mean_of_rest, np.sqrt(variance) + np.sqrt(variance_of_rest))
            weights[constant] = 0.0
            self.coef_[:, column] = weights
            self.intercept_[column] = -(weights * ((mean + mean_of_rest) / 2.0 / scale)).sum()

    def outputs(self, X: Floats) -> Floats:
        reject_huge(X, type(self).__name__)
        return scores_of_all(X @ self.coef_ + self.intercept_, self.present_, self.n_classes_)

    def complexity(self) -> float:
        return float(self.coef_.size)


def signal_to_noise(signal: Floats, noise: Floats) -> Floats:
    limited = np.maximum(noise, np.abs(signal) / LARGEST_WEIGHT)
    return np.divide(signal, limited, out=np.zeros_like(signal), where=limited > 0.0)
