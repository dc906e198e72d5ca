"""Linear logistic regression by maximum likelihood, without a penalty."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq, qr
from scipy.special import expit, logit

from msl.blocks.base.block import Codes, Floats, ProbabilisticClassifier
from msl.blocks.numerics.class_statistics import present_classes, probabilities_of_all, signed_targets
from msl.blocks.numerics.safe_scaling import reject_huge, unit_scale
from msl.blocks.public import public

#: The largest number of steps, which only separable classes reach; about six are usual.
MOST_STEPS = 100
#: The fit ends when no coefficient changes by more than this, relative to its size.
TOLERANCE = 1e-6
#: Fitted probabilities stay this far from 0 and 1.
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
#: The smallest root of a row's weight, relative to the largest.
LEAST_ROOT = LEAST_PROBABILITY ** (2 / 3)
#: Coefficients smaller than this count as this large when their change is judged.
SMALL_COEFFICIENT = LEAST_PROBABILITY**0.5


@public
class LinearLogistic(ProbabilisticClassifier):
    """Logistic regression by iteratively reweighted least squares, as MATLAB's `glmfit`, which CLOP calls.

    Columns that depend linearly on others get a coefficient of zero. The likelihood of classes that a plane separates
    has no maximum: the coefficients grow until all rows are as probable as numbers can tell from certain, or for 100
    steps. More than two classes are fitted one against the rest, and their probabilities normalised.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        reject_huge(X, type(self).__name__)
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        n_fits = {1: 0, 2: 1}.get(n_present, n_present)
        self.coef_, self.intercept_ = np.zeros((X.shape[1], n_fits)), np.zeros(n_fits)
        if n_fits == 0:
            return
        scale = unit_scale(X, axis=0)
        design = np.column_stack([np.ones(len(X)), X * scale])
        used = independent_columns(design)
        for fit, signs in enumerate(signed_targets(codes, n_present).T):
            coefficients = np.zeros(design.shape[1])
            coefficients[used] = most_likely(design[:, used], (signs > 0).astype(np.float64))
            self.intercept_[fit], self.coef_[:, fit] = coefficients[0], coefficients[1:] * scale

    def outputs(self, X: Floats) -> Floats:
        reject_huge(X, type(self).__name__)
        probabilities = expit(X @ self.coef_ + self.intercept_)
        if len(self.present_) == 1:
            probabilities = np.ones((len(X), 1))
        elif len(self.present_) == 2:
            probabilities = np.hstack([1.0 - probabilities, probabilities])
        else:
            # No row is without a probability: one that all classes refuse is shared evenly.
            probabilities = np.maximum(probabilities, LEAST_PROBABILITY)
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities_of_all(probabilities, self.present_, self.n_classes_)

    def complexity(self) -> float:
        """The number of weights that are not zero."""
        return float(np.count_nonzero(self.coef_))


def independent_columns(design: Floats) -> Codes:
    """A largest set of columns that do not depend linearly on each other."""
    triangle, order = qr(design, mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > diagonal[0] * max(design.shape) * LEAST_PROBABILITY).sum())
    return np.sort(order[:rank])


def most_likely(design: Floats, target: Floats) -> Floats:
    """The coefficients with the greatest likelihood of a target of 0 and 1."""
    coefficients = np.zeros(design.shape[1])
    probability = (target + 0.5) / 2.0
    odds = logit(probability)
    for _ in range(MOST_STEPS):
        weights = probability * (1.0 - probability)
        root = np.sqrt(weights)
        root = np.maximum(root, root.max() * LEAST_ROOT)
        response = odds + (target - probability) / weights
        before = coefficients
        coefficients = lstsq(root[:, np.newaxis] * design, root * response, lapack_driver="gelsy", check_finite=False)[
            0
        ]
        odds = design @ coefficients
        probability = np.clip(expit(odds), LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
        change = np.abs(coefficients - before)
        settled = (change <= TOLERANCE * np.maximum(np.abs(before), SMALL_COEFFICIENT)).all()
        if settled or (np.abs(target - probability) <= LEAST_PROBABILITY).all():
            break
    return coefficients
