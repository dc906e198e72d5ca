"""Naive Bayes: classes by Bayes' rule, as if the features were independent within each class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from msl.blocks.base import Codes, Floats, ProbabilisticClassifier
from msl.blocks.magnitude import unit_scale
from msl.blocks.present import present_classes, probabilities_of_all

#: What scikit-learn's GaussianNB adds to all variances, as a part of the largest.
VARIANCE_SMOOTHING = 1e-9
#: Scaled features are clipped here, far outside of any density that could still be told from zero.
LARGEST_DEVIATION = 1e100


class GaussianBayes(ProbabilisticClassifier):
    """Gaussian naive Bayes, equal to scikit-learn's GaussianNB where that gives numbers at all."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        self.scale_ = unit_scale(X)
        scaled = X * self.scale_
        smoothing = VARIANCE_SMOOTHING * scaled.var(axis=0).max()
        self.log_prior_, self.mean_, variance = class_moments(scaled, codes, len(self.present_))
        self.variance_ = variance + smoothing if smoothing > 0.0 else np.ones_like(variance)

    def outputs(self, X: Floats) -> Floats:
        log_joint = self.log_prior_ + gaussian_log_likelihood(scaled_rows(X, self.scale_), self.mean_, self.variance_)
        return probabilities_of_all(softmax(log_joint, axis=1), self.present_, self.n_classes_)

    def complexity(self) -> float:
        return float(self.mean_.size + self.variance_.size)


class Naive(ProbabilisticClassifier):
    """Naive Bayes with a Gaussian for numeric columns and a Bernoulli distribution for binary ones.

    A column with two different values is binary, whatever they are (standardizing keeps it so); a new value counts as
    the nearer one. Tiny classes are kept sober by what is counted in addition: for a Gaussian one row that deviates as
    the whole column does, for a Bernoulli one row of each value (Laplace's rule). A constant column says nothing.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        self.scale_ = unit_scale(X, axis=0)
        scaled = X * self.scale_
        lowest, highest = scaled.min(axis=0), scaled.max(axis=0)
        binary = ((scaled == lowest) | (scaled == highest)).all(axis=0)
        self.binary_ = np.flatnonzero(binary & (lowest < highest))
        self.numeric_ = np.flatnonzero(~binary)

        numeric = scaled[:, self.numeric_]
        counts = np.bincount(codes, minlength=n_present)[:, np.newaxis]
        self.log_prior_, self.mean_, variance = class_moments(numeric, codes, n_present)
        self.variance_ = (counts * variance + numeric.var(axis=0)) / (counts + 1.0)

        self.middle_ = (lowest + highest)[self.binary_] / 2.0
        ones = scaled[:, self.binary_] > self.middle_
        ones_of_class = np.stack([ones[codes == code].sum(axis=0) for code in range(n_present)])
        self.log_one_ = np.log((ones_of_class + 1.0) / (counts + 2.0))
        self.log_zero_ = np.log((counts - ones_of_class + 1.0) / (counts + 2.0))

    def outputs(self, X: Floats) -> Floats:
        scaled = scaled_rows(X, self.scale_)
        log_joint = self.log_prior_ + gaussian_log_likelihood(scaled[:, self.numeric_], self.mean_, self.variance_)
        ones = (scaled[:, self.binary_] > self.middle_).astype(np.float64)
        log_joint += ones @ (self.log_one_ - self.log_zero_).T + self.log_zero_.sum(axis=1)
        return probabilities_of_all(softmax(log_joint, axis=1), self.present_, self.n_classes_)

    def complexity(self) -> float:
        return float(self.mean_.size + self.variance_.size + self.log_one_.size)


def class_moments(X: Floats, codes: Codes, n_present: int) -> tuple[Floats, Floats, Floats]:
    """The logarithms of the classes' frequencies, and the means and variances of the columns in each class."""
    rows = [X[codes == code] for code in range(n_present)]
    log_prior = np.log(np.bincount(codes, minlength=n_present) / len(codes))
    return log_prior, np.stack([r.mean(axis=0) for r in rows]), np.stack([r.var(axis=0) for r in rows])


def scaled_rows(X: Floats, scale: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.clip(X * scale, -LARGEST_DEVIATION, LARGEST_DEVIATION)


def gaussian_log_likelihood(X: Floats, mean: Floats, variance: Floats) -> Floats:
    """One column for each class, up to a constant that all classes share."""
    columns = [-0.5 * (np.log(v).sum() + ((X - m) ** 2 / v).sum(axis=1)) for m, v in zip(mean, variance, strict=True)]
    return np.column_stack(columns)
