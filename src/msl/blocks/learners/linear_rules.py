"""Linear classifiers that follow from the means and deviations of the classes: Zarbi and the naive Bayes of CLOP."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import BlockClassifier, Codes, Floats
from msl.blocks.numerics.class_statistics import class_samples, present_classes, scores_of_all
from msl.blocks.numerics.safe_scaling import range_scaling, reject_huge, scaled_moments_in_place, unit_scale
from msl.blocks.public import public

#: The largest weight: that of a feature without variance inside the classes would be infinite.
LARGEST_WEIGHT = 1e9


class LinearRule(BlockClassifier):
    """The scores x · coef_ + intercept_: one column a class, or one column for two classes, positive for the second."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        reject_huge(X, type(self).__name__)
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        if n_present == 1:
            self.coef_, self.intercept_ = np.zeros((X.shape[1], 1)), np.zeros(1)
        else:
            self.coef_, self.intercept_ = self.rule(X, codes, n_present)

    def rule(self, X: Floats, codes: Codes, n_present: int) -> tuple[Floats, Floats]:
        """Weights and intercepts for at least two classes, all of which have rows."""
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

    def rule(self, X: Floats, codes: Codes, n_present: int) -> tuple[Floats, Floats]:
        # One scale for all columns: the median compares their deviations.
        scale = unit_scale(X)
        constant = X.max(axis=0) == X.min(axis=0)
        weights, intercepts = [], []
        for positive in range(1 if n_present == 2 else 0, n_present):
            inside = codes == positive
            mean, variance = scaled_moments_in_place(X[inside], scale)
            mean_of_rest, variance_of_rest = scaled_moments_in_place(X[~inside], scale)
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

    def rule(self, X: Floats, codes: Codes, n_present: int) -> tuple[Floats, Floats]:
        if n_present > 2:
            return nearest_centroid(X, codes, n_present)
        low, high = float(X.min()), float(X.max())
        if X.size > 2 and low < high and np.isin(X, (low, high)).all():
            return bernoulli_rule(np.equal(X, high), codes, low, high)
        return gaussian_rule(X, codes)


def gaussian_rule(X: Floats, codes: Codes) -> tuple[Floats, Floats]:
    scaling, samples = range_scaling(X, axis=0), class_samples(X, codes, 2)
    factor = scaling.factor[0]
    variance = samples.within() / max(len(X) - 2, 1)
    variance[variance == 0.0] = factor[variance == 0.0] ** 2  # that is one, before scaling
    negative, positive = samples.means + scaling.middle[0]
    weights = np.zeros_like(variance)
    np.divide(positive - negative, 2.0 * variance, out=weights, where=factor > 0.0)
    prior = np.log(samples.counts[1] / samples.counts[0])
    return (weights * factor)[:, np.newaxis], np.array([prior - weights @ (positive + negative)])


def bernoulli_rule(is_high: NDArray[np.bool_], codes: Codes, low: float, high: float) -> tuple[Floats, Floats]:
    """The rule for a table of two values, which count as 0 and 1."""
    counts = np.bincount(codes, minlength=2)
    ones = np.stack([is_high[codes == code].sum(axis=0) for code in (0, 1)])
    mean_rates = (ones / counts[:, np.newaxis]).mean(axis=1, keepdims=True)
    rates = (ones + mean_rates) / (counts[:, np.newaxis] + 1.0)
    # A class with only one of the values would make its opposite impossible, and the score infinite.
    rates = np.clip(rates, 0.5 / (len(codes) + 1.0), 1.0 - 0.5 / (len(codes) + 1.0))
    if_one, if_zero = np.log(rates[1] / rates[0]), np.log((1.0 - rates[1]) / (1.0 - rates[0]))
    weights = (if_one - if_zero) / (high - low)
    prior = np.log((counts[1] + 1.0) / (counts[0] + 1.0))
    return weights[:, np.newaxis], np.array([if_zero.sum() + prior - low * weights.sum()])


def nearest_centroid(X: Floats, codes: Codes, n_present: int) -> tuple[Floats, Floats]:
    """2 c · x - c · c, the negative squared distance to each centroid without the part that all classes share."""
    scale = unit_scale(X)
    centroids = np.stack([X[codes == code].mean(axis=0) for code in range(n_present)]) * scale
    return 2.0 * scale * centroids.T, -np.einsum("ij,ij->i", centroids, centroids)
