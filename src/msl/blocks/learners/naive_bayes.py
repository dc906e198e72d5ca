"""Naive Bayes classifiers, which assume that features are independent within each class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from msl.blocks.base.block import Codes, Floats, ProbabilisticClassifier
from msl.blocks.numerics.class_statistics import class_totals, present_classes, probabilities_of_all
from msl.blocks.numerics.safe_scaling import row_blocks, unit_scale, weighted_moments
from msl.blocks.public import public

#: The `var_smoothing` of scikit-learn's GaussianNB: a fraction of the largest variance, added to all.
VARIANCE_SMOOTHING = 1e-9
#: Scaled features are clipped here, far beyond where any density differs from zero.
LARGEST_DEVIATION = 1e100


@public
class GaussianBayes(ProbabilisticClassifier):
    """Gaussian naive Bayes: scikit-learn's GaussianNB, also for features whose squares overflow or underflow."""

    takes_weights = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._fit(X, y, n_classes, None)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self._fit(X, y, n_classes, weights)

    def _fit(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        self.scale_ = unit_scale(X)
        _, spread = weighted_moments(X * self.scale_, np.ones(()), weights)
        smoothing = VARIANCE_SMOOTHING * spread.max()
        self.log_prior_, self.mean_, variance = class_moments(X, self.scale_, codes, len(self.present_), weights)
        self.variance_ = variance + smoothing if smoothing > 0.0 else np.ones_like(variance)

    def outputs(self, X: Floats) -> Floats:
        log_joint = self.log_prior_ + gaussian_log_likelihood(scaled_rows(X, self.scale_), self.mean_, self.variance_)
        return probabilities_of_all(softmax(log_joint, axis=1), self.present_, self.n_classes_)

    def complexity(self) -> float:
        return float(self.mean_.size + self.variance_.size)


@public
class NaiveBayes(ProbabilisticClassifier):
    """Naive Bayes with a Gaussian for numeric columns and a Bernoulli distribution for binary ones.

    A column with exactly two values is binary, also after standardizing; a new value counts as the nearer of the two.
    The estimates of small classes are smoothed by additional rows: for a Gaussian one row with the deviation of the
    whole column, for a Bernoulli distribution one row of each value (Laplace smoothing). Constant columns are ignored.
    """

    takes_weights = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self._fit(X, y, n_classes, None)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self._fit(X, y, n_classes, weights)

    def _fit(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        self.scale_ = unit_scale(X, axis=0)
        lowest, highest = X.min(axis=0) * self.scale_, X.max(axis=0) * self.scale_
        binary = np.ones(X.shape[1], dtype=np.bool_)
        for block in row_blocks(X):
            rows = X[block] * self.scale_
            binary &= ((rows == lowest) | (rows == highest)).all(axis=0)
        self.binary_ = np.flatnonzero(binary & (lowest < highest))
        self.numeric_ = np.flatnonzero(~binary)

        numeric, scale = X[:, self.numeric_], self.scale_[self.numeric_]
        counts = class_totals(codes, n_present, weights)[:, np.newaxis]
        self.log_prior_, self.mean_, variance = class_moments(numeric, scale, codes, n_present, weights)
        self.variance_ = (counts * variance + weighted_moments(numeric, scale, weights)[1]) / (counts + 1.0)

        self.middle_ = (lowest + highest)[self.binary_] / 2.0
        ones = X[:, self.binary_] * self.scale_[self.binary_] > self.middle_
        if weights is not None:
            ones = ones * weights[:, np.newaxis]
        ones_of_class = np.stack([ones[codes == code].sum(axis=0) for code in range(n_present)])
        self.log_one_ = np.log((ones_of_class + 1.0) / (counts + 2.0))
        self.log_zero_ = np.log((counts - ones_of_class + 1.0) / (counts + 2.0))

    def outputs(self, X: Floats) -> Floats:
        scaled = scaled_rows(X, self.scale_)
        numeric, ones = scaled[:, self.numeric_], (scaled[:, self.binary_] > self.middle_).astype(np.float64)
        del scaled  # saves memory for many rows
        log_joint = self.log_prior_ + gaussian_log_likelihood(numeric, self.mean_, self.variance_)
        log_joint += ones @ (self.log_one_ - self.log_zero_).T + self.log_zero_.sum(axis=1)
        return probabilities_of_all(softmax(log_joint, axis=1), self.present_, self.n_classes_)

    def complexity(self) -> float:
        return float(self.mean_.size + self.variance_.size + self.log_one_.size)


def class_moments(
    X: Floats, scale: Floats, codes: Codes, n_present: int, weights: Floats | None = None
) -> tuple[Floats, Floats, Floats]:
    """The logarithms of the class frequencies, and the means and variances of the scaled columns in each class."""
    members = [codes == code for code in range(n_present)]
    own = [None if weights is None else weights[rows] for rows in members]
    moments = [weighted_moments(X[rows], scale, each) for rows, each in zip(members, own, strict=True)]
    means, variances = zip(*moments, strict=True)
    log_prior = np.log(class_totals(codes, n_present, weights) / (len(codes) if weights is None else weights.sum()))
    return log_prior, np.stack(means), np.stack(variances)


def scaled_rows(X: Floats, scale: Floats) -> Floats:
    with np.errstate(over="ignore"):
        rows = X * scale
    return np.clip(rows, -LARGEST_DEVIATION, LARGEST_DEVIATION, out=rows)


def gaussian_log_likelihood(X: Floats, mean: Floats, variance: Floats) -> Floats:
    """The log likelihood of each class, one a column, up to a constant that all classes share."""
    columns, parts = [], np.empty_like(X)
    for m, v in zip(mean, variance, strict=True):
        np.subtract(X, m, out=parts)
        np.square(parts, out=parts)
        np.divide(parts, v, out=parts)
        columns.append(-0.5 * (np.log(v).sum() + parts.sum(axis=1)))
    return np.column_stack(columns)
