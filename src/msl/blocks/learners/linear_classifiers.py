"""Linear classifiers: Zarbi and the naive Bayes of CLOP, which follow from the means and deviations of the classes, and
logistic regression.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq, qr
from scipy.special import expit, logit

from msl.blocks.base.block import BlockClassifier, Codes, Floats, ProbabilisticClassifier
from msl.blocks.numerics.class_statistics import (
    class_samples,
    class_totals,
    present_classes,
    probabilities_of_all,
    scores_of_all,
    signed_targets,
)
from msl.blocks.numerics.safe_scaling import range_scaling, reject_huge, unit_scale, weighted_moments
from msl.blocks.public import public

#: The largest weight: that of a feature without variance inside the classes would be infinite.
LARGEST_WEIGHT = 1e9


class LinearRule(BlockClassifier):
    """The scores x · coef_ + intercept_: one column a class, or one column for two classes, positive for the second."""

    takes_weights = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._fit(X, y, n_classes, None)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self._fit(X, y, n_classes, weights)

    def _fit(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None) -> None:
        reject_huge(X, type(self).__name__)
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        if n_present == 1:
            self.coef_, self.intercept_ = np.zeros((X.shape[1], 1)), np.zeros(1)
        else:
            self.coef_, self.intercept_ = self.rule(X, codes, n_present, weights)

    def rule(self, X: Floats, codes: Codes, n_present: int, rows: Floats | None) -> tuple[Floats, Floats]:
        """Weights and intercepts for at least two classes, all of which have rows; `rows` are the weights of rows."""
        raise NotImplementedError

    def outputs(self, X: Floats) -> Floats:
        reject_huge(X, type(self).__name__)
        return scores_of_all(X @ self.coef_ + self.intercept_, self.present_, self.n_classes_)

    def complexity(self) -> float:
        return float(self.coef_.size)


@public
class Zarbi(LinearRule):
    """score = Σ w (x - (μ₊ + μ₋) / 2) with w = (μ₊ - μ₋) / (σ₊ + σ₋ + m), over the features.

    μ and σ are the means and standard deviations of the two classes, and m is the median of σ₊ + σ₋ over the features,
    so that no feature with a small deviation outweighs all others. More classes are fitted one against the rest.
    Golub et al. (1999), Molecular classification of cancer, Science 286; the median as in CLOP.
    """

    def rule(self, X: Floats, codes: Codes, n_present: int, rows: Floats | None) -> tuple[Floats, Floats]:
        # One scale for all columns: the median compares their deviations.
        scale = unit_scale(X)
        constant = X.max(axis=0) == X.min(axis=0)
        weights, intercepts = [], []
        for positive in range(1 if n_present == 2 else 0, n_present):
            inside = codes == positive
            own, others = (None, None) if rows is None else (rows[inside], rows[~inside])
            mean, variance = weighted_moments(X[inside], scale, own)
            mean_of_rest, variance_of_rest = weighted_moments(X[~inside], scale, others)
            noise = np.sqrt(variance) + np.sqrt(variance_of_rest)
            weights.append(signal_to_noise(mean - mean_of_rest, noise + np.median(noise)))
            weights[-1][constant] = 0.0
            intercepts.append(-(weights[-1] * ((mean + mean_of_rest) / 2.0 / scale)).sum())
        return np.column_stack(weights), np.array(intercepts)


def signal_to_noise(signal: Floats, noise: Floats) -> Floats:
    limited = np.maximum(noise, np.abs(signal) / LARGEST_WEIGHT)
    return np.divide(signal, limited, out=np.zeros_like(signal), where=limited > 0.0)


# --- Naive Bayes ------------------------------------------------------------------------------------------------------


@public
class PooledBayes(LinearRule):
    """The naive Bayes of CLOP: one variance a feature for both classes, which makes a linear rule.

    Two classes: w = (μ₊ - μ₋) / 2s², intercept = Σ (μ₋² - μ₊²) / 2s² + log(f₊ / f₋), with s² the pooled variance, 1
    where it is zero, and f the frequencies of the classes. The weights are half of those that the Gaussian model has,
    as they are in CLOP; a `bias` behind it makes up for that. If the whole table has only two values, Bernoulli
    distributions, whose rates are smoothed by one row with the mean rate of the class. More than two classes: the
    nearest centroid.
    """

    def rule(self, X: Floats, codes: Codes, n_present: int, rows: Floats | None) -> tuple[Floats, Floats]:
        if n_present > 2:
            return nearest_centroid(X, codes, n_present, rows)
        low, high = float(X.min()), float(X.max())
        if X.size > 2 and low < high and np.isin(X, (low, high)).all():
            return bernoulli_rule(np.equal(X, high), codes, low, high, rows)
        return gaussian_rule(X, codes, rows)


def gaussian_rule(X: Floats, codes: Codes, rows: Floats | None = None) -> tuple[Floats, Floats]:
    scaling, samples = range_scaling(X, axis=0), class_samples(X, codes, 2, rows)
    factor = scaling.factor[0]
    variance = samples.within() / max(samples.counts.sum() - 2, 1)
    variance[variance == 0.0] = factor[variance == 0.0] ** 2  # that is one, before scaling
    negative, positive = samples.means + scaling.middle[0]
    weights = np.zeros_like(variance)
    np.divide(positive - negative, 2.0 * variance, out=weights, where=factor > 0.0)
    prior = np.log(samples.counts[1] / samples.counts[0])
    return (weights * factor)[:, np.newaxis], np.array([prior - weights @ (positive + negative)])


def bernoulli_rule(
    is_high: NDArray[np.bool_], codes: Codes, low: float, high: float, rows: Floats | None = None
) -> tuple[Floats, Floats]:
    """The rule for a table of two values, which count as 0 and 1."""
    counts = class_totals(codes, 2, rows)
    counted = is_high if rows is None else is_high * rows[:, np.newaxis]
    ones = np.stack([counted[codes == code].sum(axis=0) for code in (0, 1)])
    mean_rates = (ones / counts[:, np.newaxis]).mean(axis=1, keepdims=True)
    rates = (ones + mean_rates) / (counts[:, np.newaxis] + 1.0)
    # A class with only one of the values would make its opposite impossible, and the score infinite.
    rates = np.clip(rates, 0.5 / (counts.sum() + 1.0), 1.0 - 0.5 / (counts.sum() + 1.0))
    if_one, if_zero = np.log(rates[1] / rates[0]), np.log((1.0 - rates[1]) / (1.0 - rates[0]))
    weights = (if_one - if_zero) / (high - low)
    prior = np.log((counts[1] + 1.0) / (counts[0] + 1.0))
    return weights[:, np.newaxis], np.array([if_zero.sum() + prior - low * weights.sum()])


def nearest_centroid(X: Floats, codes: Codes, n_present: int, rows: Floats | None = None) -> tuple[Floats, Floats]:
    """2 c · x - c · c, the negative squared distance to each centroid without the part that all classes share."""
    scale = unit_scale(X)
    members = [codes == code for code in range(n_present)]
    centroids = np.stack([np.average(X[own], axis=0, weights=None if rows is None else rows[own]) for own in members])
    centroids *= scale
    return 2.0 * scale * centroids.T, -np.einsum("ij,ij->i", centroids, centroids)


# --- Logistic regression by maximum likelihood, without a penalty -----------------------------------------------------


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

    takes_weights = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._fit(X, y, n_classes, None)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self._fit(X, y, n_classes, weights)

    def _fit(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None) -> None:
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
        used = independent_columns(design if weights is None else design * np.sqrt(weights)[:, np.newaxis])
        for fit, signs in enumerate(signed_targets(codes, n_present).T):
            coefficients = np.zeros(design.shape[1])
            coefficients[used] = most_likely(design[:, used], (signs > 0).astype(np.float64), weights)
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


def most_likely(design: Floats, target: Floats, rows: Floats | None = None) -> Floats:
    """The coefficients with the greatest likelihood of a target of 0 and 1; `rows` are the weights of rows."""
    coefficients = np.zeros(design.shape[1])
    probability = (target + 0.5) / 2.0
    odds = logit(probability)
    for _ in range(MOST_STEPS):
        weights = probability * (1.0 - probability)
        root = np.sqrt(weights if rows is None else weights * rows)
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
