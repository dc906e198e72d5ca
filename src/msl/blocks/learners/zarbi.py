"""A linear classifier without parameters, weighted by signal to noise (Zarbi)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import BlockClassifier, Floats
from msl.blocks.numerics.class_statistics import present_classes, scores_of_all
from msl.blocks.numerics.safe_scaling import reject_huge, scaled_moments_in_place, unit_scale
from msl.blocks.public import public

#: The largest weight: that of a feature without variance inside the classes would be infinite.
LARGEST_WEIGHT = 1e9


@public
class Zarbi(BlockClassifier):
    """score = Σ w (x - (μ₊ + μ₋) / 2) with w = (μ₊ - μ₋) / (σ₊ + σ₋), over the features.

    μ and σ are the means and standard deviations of the two classes; more classes are fitted one against the rest.
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
        # Signal to noise does not depend on the scale of a column, so columns are scaled to where squares are safe.
        scale = unit_scale(X, axis=0)
        constant = X.max(axis=0) * scale == X.min(axis=0) * scale
        for column, positive in enumerate(positives):
            inside = codes == positive
            mean, variance = scaled_moments_in_place(X[inside], scale)
            mean_of_rest, variance_of_rest = scaled_moments_in_place(X[~inside], scale)
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
