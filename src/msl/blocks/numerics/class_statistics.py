"""Samples: counts, means and squared deviations of every feature in each class, and in a class against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.safe_scaling import ROUNDING, Frame, frame_of


@dataclass(frozen=True, slots=True)
class ClassSamples:
    """One row a class, one column a feature, in the frame of the columns."""

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


def class_samples(X: Floats, y: Codes, n_classes: int) -> ClassSamples:
    """The samples of all classes; each must be present."""
    frame = frame_of(X, axis=0)
    n_features = X.shape[1]
    counts, means = np.empty(n_classes), np.empty((n_classes, n_features))
    squares = np.empty((n_classes, n_features))
    for code in range(n_classes):
        counts[code], means[code], squares[code] = one_sample(X[y == code], frame)
    return ClassSamples(counts, means, squares)


def one_sample(rows: Floats, frame: Frame) -> tuple[int, Floats, Floats]:
    """Count, means and sums of squared deviations, the latter exactly zero when all rows agree."""
    count = len(rows)
    deviations = frame.apply(rows)
    mean = deviations.mean(axis=0)
    deviations -= mean
    # The mean is rounded: without this correction equal rows would seem to differ by what the rounding left.
    rest = deviations.mean(axis=0)
    squares = np.einsum("ij,ij->j", deviations, deviations) - count * rest**2
    squares[squares <= count * (ROUNDING * frame.span[0]) ** 2] = 0.0
    return count, mean, squares


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """A class and the rest: counts, means and squared deviations of both, and the distance of the means."""

    count: float
    rest_count: float
    distance: Floats
    squares: Floats
    rest_squares: Floats

    @property
    def freedom(self) -> float:
        return self.count + self.rest_count - 2

    def pooled_error(self) -> Floats:
        """The standard error of the distance, for one deviation common to both samples."""
        variance = (self.squares + self.rest_squares) / max(self.freedom, 1.0)
        error: Floats = np.sqrt(variance * (1 / self.count + 1 / self.rest_count))
        return error


def one_against_rest(samples: ClassSamples) -> Iterator[TwoSamples]:
    """Each class against the rest; once for two classes, where both ways are the same."""
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
    """Signal over noise: nothing without a signal, infinite for a signal without noise."""
    quotient = np.where(signal > 0.0, np.inf, 0.0)
    np.divide(signal, noise, out=quotient, where=noise > 0.0)
    return quotient


# --- The classes that are present: a fold may have lost a tiny class, which must then get the lowest score. -----------
#
# A learner fits the present classes alone, coded 0 … k - 1, and spreads its scores over all classes at the end.


def present_classes(y: NDArray[Any], n_classes: int) -> tuple[Codes, Codes]:
    """The classes that occur in `y`, and `y` coded by its place among them."""
    present = np.flatnonzero(np.bincount(y, minlength=n_classes))
    return (present, y) if len(present) == n_classes else (present, np.searchsorted(present, y))


def signed_targets(codes: Codes, n_present: int) -> Floats:
    """Columns of +1 for a class and -1 for the rest; two classes need one column, +1 for the second."""
    if n_present == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
    return np.where(codes[:, np.newaxis] == np.arange(n_present), 1.0, -1.0)


def balanced_weights(codes: Codes, n_present: int) -> Floats:
    """Weights of the rows that give every class the same sum; their mean is one."""
    counts = np.bincount(codes, minlength=n_present)
    weights: Floats = (len(codes) / (n_present * counts))[codes]
    return weights


def scores_of_all(scores: Floats, present: Codes, n_classes: int) -> Floats:
    """Scores of all classes, from one column for each present class, or one column when two are present."""
    if len(present) == 2 and scores.shape[1] == 1:
        scores = np.hstack([-scores, scores])
    if len(present) == n_classes:
        return scores
    spread = np.repeat(scores.min(axis=1, keepdims=True) - 1.0, n_classes, axis=1)
    spread[:, present] = scores
    return spread


def probabilities_of_all(probabilities: Floats, present: Codes, n_classes: int) -> Floats:
    """Probabilities of all classes: an absent one has none."""
    if len(present) == n_classes:
        return probabilities
    spread = np.zeros((len(probabilities), n_classes))
    spread[:, present] = probabilities
    return spread
