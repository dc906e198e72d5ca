"""Samples: counts, means and squared deviations of every feature in each class, and in a class against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from msl.blocks.base import Codes, Floats
from msl.blocks.frame import ROUNDING, Frame, frame_of


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
