"""Equal priors: the outputs of a classifier as if all classes were equally frequent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.array_model import shares, sum_to_one
from msl.blocks.base import BlockPost, Floats
from msl.blocks.public import public


@public
class EqualPriors(BlockPost):
    """Divides the probability of each class by its share of the training rows.

    The balanced error rate is lowest where each row goes to the class with the largest quotient, as far as the
    probabilities are right; nothing is fitted to the training errors. Outputs that do not sum to 1 are taken for the
    logarithms of probabilities. A class without training rows keeps what it has.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        counts = np.bincount(y, minlength=X.shape[1])
        self.shares_ = np.where(counts > 0, counts / counts.sum(), 1.0)
        self.takes_probabilities_ = sum_to_one(X)

    def transform_arrays(self, X: Floats) -> Floats:
        if self.takes_probabilities_:
            return shares(X / self.shares_)
        logarithms: Floats = X - np.log(self.shares_)
        return logarithms

    def complexity(self) -> float:
        return 0.0
