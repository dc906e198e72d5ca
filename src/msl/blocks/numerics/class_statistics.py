"""Statistics of the features by class, and helpers for classes that are absent from a fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.safe_scaling import ROUNDING, RangeScaling, range_scaling


@dataclass(frozen=True, slots=True)
class ClassSamples:
    """Counts, means and squared deviations: one row a class, one column a feature, in units of the scaled columns."""

    counts: Floats
    means: Floats
    squares: Floats  # sums of squared deviations from the class's own mean

    def between(self) -> Floats:
        """The sum of squares between the classes."""
        total_mean = self.counts @ self.means / self.counts.sum()
        squares: Floats = self.counts @ (self.means - total_mean) ** 2
        return squares

    def within(self) -> Floats:
        """The sum of squares within the classes."""
        squares: Floats = self.squares.sum(axis=0)
        return squares


def class_samples(X: Floats, y: Codes, n_classes: int, weights: Floats | None = None) -> ClassSamples:
    """The statistics of all classes, each of which must have rows; with weights, rows count as that many."""
    scaling = range_scaling(X, axis=0)
    n_features = X.shape[1]
    counts, means = np.empty(n_classes), np.empty((n_classes, n_features))
    squares = np.empty((n_classes, n_features))
    for code in range(n_classes):
        own = y == code
        counts[code], means[code], squares[code] = (
            one_sample(X[own], scaling) if weights is None else weighted_sample(X[own], scaling, weights[own])
        )
    return ClassSamples(counts, means, squares)


def one_sample(rows: Floats, scaling: RangeScaling) -> tuple[int, Floats, Floats]:
    """Count, means and sums of squared deviations, which are exactly zero where all rows are equal."""
    count = len(rows)
    deviations = scaling.apply(rows)
    mean = deviations.mean(axis=0)
    deviations -= mean
    # Corrects for the rounding of the mean, because of which equal rows would seem to differ.
    rest = deviations.mean(axis=0)
    squares = np.einsum("ij,ij->j", deviations, deviations) - count * rest**2
    squares[squares <= count * (ROUNDING * scaling.span[0]) ** 2] = 0.0
    return count, mean, squares


def weighted_sample(rows: Floats, scaling: RangeScaling, weights: Floats) -> tuple[float, Floats, Floats]:
    """As `one_sample`, with a weight for each row: its count is the sum of the weights."""
    count = float(weights.sum())
    deviations = scaling.apply(rows)
    mean = weights @ deviations / count
    squares = weights @ (deviations - mean) ** 2
    squares[squares <= count * (ROUNDING * scaling.span[0]) ** 2] = 0.0
    return count, mean, squares


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """One class against the rest: counts and squared deviations of both, and the distance between their means."""

    count: float
    rest_count: float
    distance: Floats
    squares: Floats
    rest_squares: Floats

    @property
    def freedom(self) -> float:
        return self.count + self.rest_count - 2

    def pooled_error(self) -> Floats:
        """The standard error of the distance, assuming the same variance in both samples."""
        variance = (self.squares + self.rest_squares) / max(self.freedom, 1.0)
        error: Floats = np.sqrt(variance * (1 / self.count + 1 / self.rest_count))
        return error


def one_against_rest(samples: ClassSamples) -> Iterator[TwoSamples]:
    """Each class against the rest; of two classes only one, since the other comparison is the same."""
    n_classes = len(samples.counts)
    for code in range(1 if n_classes == 2 else 0, n_classes):
        rest = np.arange(n_classes) != code
        counts, means = samples.counts[rest], samples.means[rest]
        rest_mean = counts @ means / counts.sum()
        yield TwoSamples(
            count=float(samples.counts[code]),
            rest_count=float(counts.sum()),
            distance=np.abs(samples.means[code] - rest_mean),
            squares=samples.squares[code],
            rest_squares=samples.squares[rest].sum(axis=0) + counts @ (means - rest_mean) ** 2,
        )


def ratio(signal: Floats, noise: Floats) -> Floats:
    """signal / noise: 0 where there is no signal, infinite where there is signal and no noise."""
    quotient = np.where(signal > 0.0, np.inf, 0.0)
    np.divide(signal, noise, out=quotient, where=noise > 0.0)
    return quotient


# --- Classes that are absent from a fold ------------------------------------------------------------------------------
#
# A fold may have no rows of a small class. Learners are fitted to the present classes, coded 0 … k - 1, and give absent
# classes the lowest score.


def present_classes(y: NDArray[Any], n_classes: int) -> tuple[Codes, Codes]:
    """The classes that occur in `y`, and `y` recoded as positions among them."""
    present = np.flatnonzero(np.bincount(y, minlength=n_classes))
    return (present, y) if len(present) == n_classes else (present, np.searchsorted(present, y))


def signed_targets(codes: Codes, n_present: int) -> Floats:
    """One column a class, +1 for the class and -1 for the rest; two classes need one column, +1 for the second."""
    if n_present == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
    return np.where(codes[:, np.newaxis] == np.arange(n_present), 1.0, -1.0)


def balanced_weights(codes: Codes, n_present: int) -> Floats:
    """Row weights with the same sum in every class and a mean of one."""
    counts = np.bincount(codes, minlength=n_present)
    weights: Floats = (len(codes) / (n_present * counts))[codes]
    return weights


def class_totals(codes: Codes, n_present: int, weights: Floats | None) -> NDArray[Any]:
    """The number of rows of each class, or the sum of their weights."""
    return np.bincount(codes, weights, minlength=n_present)


def class_shares(codes: Codes, n_present: int, weights: Floats | None = None) -> Floats:
    """For each row the share of all rows, or of their weights, that are of its class."""
    total = len(codes) if weights is None else weights.sum()
    shares: Floats = (class_totals(codes, n_present, weights) / total)[codes]
    return shares


def scores_of_all(scores: Floats, present: Codes, n_classes: int) -> Floats:
    """Scores of all classes, from one column for each present class, or one column for two present classes."""
    if len(present) == 2 and scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    if len(present) == n_classes:
        return scores
    spread = np.repeat(scores.min(axis=1, keepdims=True) - 1.0, n_classes, axis=1)
    spread[:, present] = scores
    return spread


def probabilities_of_all(probabilities: Floats, present: Codes, n_classes: int) -> Floats:
    """Probabilities of all classes: 0 for absent ones."""
    if len(present) == n_classes:
        return probabilities
    spread = np.zeros((len(probabilities), n_classes))
    spread[:, present] = probabilities
    return spread
