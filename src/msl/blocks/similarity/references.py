"""Methods of choosing reference points: all rows, some of them, or new points made from them."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes
from msl.blocks.numerics.kmeans import k_means, means
from msl.blocks.public import public
from msl.blocks.similarity.incremental_references import Coulomb, OnLine
from msl.blocks.similarity.neighbour_search import TIE, Neighbours
from msl.blocks.similarity.reference_points import ReferencePoints, References, TrainingRows
from msl.blocks.similarity.safe_coordinates import Scaled
from msl.blocks.similarity.voting import class_outputs
from msl.blocks.similarity.weightings import UniformWeighting


@public
class AllRows(References):
    """All training rows."""

    def points(self, training: TrainingRows, n: int, rng: np.random.Generator) -> ReferencePoints:
        return ReferencePoints(training.X, np.arange(len(training.X)))


@public
class RandomRows(References):
    """Rows drawn at random."""

    def rows(self, training: TrainingRows, n: int, rng: np.random.Generator) -> Codes:
        return np.sort(rng.choice(len(training.X), size=n, replace=False))


@public
class KMeans(References):
    """The centroids of k-means on the weighted features, always with Euclidean distance."""

    makes_points = True

    def points(self, training: TrainingRows, n: int, rng: np.random.Generator) -> ReferencePoints:
        columns = training.metric.numeric
        placement = Scaled.fitted(training.X[:, columns], np.ones(len(columns)), power=2.0)
        clusters = k_means(placement.place(training.X[:, columns]) * np.sqrt(training.metric.importance), n, rng)
        return ReferencePoints(means(training.X, clusters.labels, len(clusters.centroids)))


@public
class FarthestFirst(References):
    """Farthest-first traversal from a random row; it ends early if every row equals a chosen one."""

    def rows(self, training: TrainingRows, n: int, rng: np.random.Generator) -> Codes:
        chosen = [int(rng.integers(len(training.X)))]
        nearest = training.powers_to(chosen[0])
        while len(chosen) < n and nearest.any():
            chosen.append(int(nearest.argmax()))
            nearest = np.minimum(nearest, training.powers_to(chosen[-1]))
        return np.array(chosen)


@public
class Density(References):
    """Repeatedly a random row, which is removed together with its nearest rows, each time about one n-th of all rows.

    Rows that are removed together belong to the same reference, even if a later reference is nearer.
    """

    def points(self, training: TrainingRows, n: int, rng: np.random.Generator) -> ReferencePoints:
        left = np.arange(len(training.X))
        cells = np.empty(len(left), dtype=np.intp)
        chosen = []
        for number, part in enumerate(np.array_split(left, n)):
            row = int(rng.choice(left))
            chosen.append(row)
            powers = training.powers_to(row)[left]
            powers[left == row] = -1.0
            order = powers.argsort(kind="stable")
            cells[left[order[: len(part)]]] = number
            left = left[np.sort(order[len(part) :])]
        rows = np.array(chosen)
        return ReferencePoints(training.X[rows], rows, cells=cells)


@public
class Edited(References):
    """Rows that their `neighbours` nearest rows classify correctly (Wilson, 1972); all rows if none would be left."""

    needs_classes = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {"neighbours": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, neighbours: int = 3) -> None:
        self.neighbours = neighbours

    def rows(self, training: TrainingRows, n: int, rng: np.random.Generator) -> Codes:
        everything = np.arange(len(training.X))
        if len(everything) == 1:
            return everything
        own = np.eye(training.n_classes)[training.y]
        hood = Neighbours(training.metric, training.placed, training.placed, leave_one_out=True).nearest(
            self.neighbours
        )
        outputs = class_outputs(hood, UniformWeighting().shares(hood), own, own.sum(axis=0) - own, risk=None)
        right = np.flatnonzero(outputs.argmax(axis=1) == training.y)
        return right if len(right) else everything


@public
class Condensed(References):
    """The rows needed to classify all others correctly with one neighbour (Hart, 1968).

    The first row is kept; then every row that the kept ones misclassify, in the order of the table, pass after pass,
    until there is none. A row is correct if more than half of the nearest kept rows have its class.
    """

    needs_classes = True

    def rows(self, training: TrainingRows, n: int, rng: np.random.Generator) -> Codes:
        nearest = np.full(len(training.X), np.inf)
        own_votes = np.zeros(len(training.X))
        votes = np.zeros(len(training.X))
        kept = np.zeros(len(training.X), dtype=bool)
        row = 0
        while row < len(kept):
            powers = training.powers_to(row)
            same = training.y == training.y[row]
            closer, equal = powers < nearest * (1.0 - TIE), np.abs(powers - nearest) <= nearest * TIE
            own_votes = np.where(closer, same, own_votes + (equal & same))
            votes = np.where(closer, 1.0, votes + equal)
            nearest = np.minimum(nearest, powers)
            kept[row] = True
            # The pass continues after the row; if no later row is wrong, a new pass starts at the first row.
            wrong = np.flatnonzero(~kept & (own_votes * 2.0 <= votes))
            if not len(wrong):
                break
            later = wrong[wrong > row]
            row = int(later[0] if len(later) else wrong[0])
        return np.flatnonzero(kept)


@public
class LVQ(References):
    """Learning vector quantisation (LVQ1, Kohonen, 1990).

    Each row attracts its nearest prototype if they have the same class and repels it otherwise, at a `rate` that
    decreases to 0 over the `epochs`. The number of prototypes of a class is proportional to its frequency, at least
    one. Prototypes start at random rows and stay within the range of the data.
    """

    needs_classes = True
    makes_points = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "rate": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(self, epochs: int = 20, rate: float = 0.1) -> None:
        self.epochs = epochs
        self.rate = rate

    def points(self, training: TrainingRows, n: int, rng: np.random.Generator) -> ReferencePoints:
        start = self.start_rows(training, n, rng)
        prototypes, classes = training.X[start], training.y[start]
        placed = training.metric.place(prototypes)
        low, high = training.X.min(axis=0), training.X.max(axis=0)
        steps = self.epochs * len(training.X)
        orders = [rng.permutation(len(training.X)) for _ in range(self.epochs)]
        for step, row in enumerate(np.concatenate(orders)):
            winner = int(training.metric.powers(training.placed[row : row + 1], placed)[0].argmin())
            rate = self.rate * (1.0 - step / steps)
            towards = rate if classes[winner] == training.y[row] else -rate
            with np.errstate(over="ignore"):
                moved = prototypes[winner] * (1.0 - towards) + training.X[row] * towards
            prototypes[winner] = np.clip(moved, low, high)
            placed[winner] = training.metric.place(prototypes[winner : winner + 1])[0]
        return ReferencePoints(prototypes, classes=classes)

    @staticmethod
    def start_rows(training: TrainingRows, n: int, rng: np.random.Generator) -> Codes:
        counts = np.bincount(training.y, minlength=training.n_classes)
        wanted = np.minimum(np.maximum(np.round(n * counts / counts.sum()).astype(int), 1), counts)
        return np.concatenate(
            [
                rng.choice(np.flatnonzero(training.y == code), size=wanted[code], replace=False)
                for code in range(len(counts))
            ]
        )


REFERENCES: Mapping[str, type[References]] = {
    "all_rows": AllRows,
    "kmeans": KMeans,
    "fft": FarthestFirst,
    "density": Density,
    "random_rows": RandomRows,
    "edited": Edited,
    "condensed": Condensed,
    "lvq": LVQ,
    "coulomb": Coulomb,
    "on_line": OnLine,
}
