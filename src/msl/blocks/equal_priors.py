"""Equal priors: the outputs of a classifier as if all classes were equally frequent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from msl.blocks.array_model import are_probabilities
from msl.blocks.base import BlockPost, Floats


class EqualPriors(BlockPost):
    """Divides the probability of each class by its share of the training rows.

    The balanced error rate is lowest where each row goes to the class with the largest quotient, as far as the
    probabilities are right; nothing is fitted to the training errors. Outputs that are no probabilities are taken for
    their logarithms. A class without training rows keeps its probability.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        counts = np.bincount(y, minlength=X.shape[1])
        self.shares_ = np.where(counts > 0, counts / counts.sum(), 1.0)
        self.given_probabilities_ = are_probabilities(X)

    def transform_arrays(self, X: Floats) -> Floats:
        quotients: Floats = (X if self.given_probabilities_ else softmax(X, axis=1)) / self.shares_
        return quotients / quotients.sum(axis=1, keepdims=True)

    def complexity(self) -> float:
        return 0.0
