"""Choose the reference points that rows are compared with, and their class probabilities or values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats, SlotValue
from msl.blocks.numerics.kmeans import k_means, means
from msl.blocks.public import public
from msl.blocks.similarity.distances import Difference, Distance, FeatureDistance, Overlap
from msl.blocks.similarity.fitted_distance import FittedDistance
from msl.blocks.similarity.neighbours import TIE, Neighbours
from msl.blocks.similarity.placement import Scaled
from msl.blocks.similarity.voting import UniformWeighting, Weighting, class_outputs
from msl.diagnostics.user_error import UserError


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """The rows that references are chosen from, with their metric; `n_classes` is 0 for regression."""

    X: Floats
    y: NDArray[Any]
    n_classes: int
    metric: FittedDistance
    placed: Floats

    @classmethod
    def of(cls, X: Floats, y: NDArray[Any], n_classes: int, metric: FittedDistance) -> TrainingRows:
        return cls(X, y, n_classes, metric, metric.place(X))

    def powers_to(self, row: int) -> Floats:
        """D^power from every row to one of them."""
        return np.asarray(self.metric.powers(self.placed, self.placed[row : row + 1])[:, 0])


@public
@dataclass(frozen=True, slots=True)
class ReferencePoints:
    """Reference points.

    `rows` are their numbers if they are training rows, `classes` their classes if they have any, and `cells` the point
    that each training row belongs to if this is not the nearest.
    """

    points: Floats
    rows: Codes | None = None
    classes: Codes | None = None
    cells: Codes | None = None


class References(SlotValue):
    """A method of choosing references from training rows."""

    #: Whether it uses the target, which must hold classes.
    needs_classes: ClassVar[bool] = False
    #: Whether it makes new points, which is impossible for categorical features.
    makes_points: ClassVar[bool] = False

    def choose(self, training: TrainingRows, n: int, rng: np.random.Generator) -> ReferencePoints:
        """About n references: fewer if rows are equal, another number for methods that find it themselves."""
        self.check()
        if self.needs_classes and not training.n_classes:
            raise UserError(f"{type(self).__name__} chooses references by their classes; it cannot do regression")
        if self.makes_points and training.metric.specials:
            raise UserError(
                f"{type(self).__name__} makes new points, which symbols do not have; "
                "use all_rows, fft, density, random_rows, edited or condensed"
            )
        return self.points(training, min(n, len(training.X)), rng)

    def points(self, training: TrainingRows, n: int, rng: np.random.Generator) -> ReferencePoints:
        rows = self.rows(training, n, rng)
        return ReferencePoints(training.X[rows], rows)

    def rows(self, training: TrainingRows, n: int, rng: np.random.Generator) -> Codes:
        """The chosen rows, for methods that choose rows."""
        raise NotImplementedError


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
        outputs = class_outputs(hood, UniformWeighting(), own, own.sum(axis=0) - own, risk=None)
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
}


# --- Class probabilities and values of references ---------------------------------------------------------------------


def class_probabilities(training: TrainingRows, chosen: ReferencePoints, placed: Floats, soft: bool) -> Floats:
    """The class probabilities of each reference, one a row.

    Hard: a reference has its own class, or else the most frequent class of the rows nearest to it. Soft: the class
    frequencies of those rows. A reference that is nearest to no row uses the row nearest to it.
    """
    own = chosen.classes if chosen.rows is None else training.y[chosen.rows]
    identity = np.eye(training.n_classes)
    if own is not None and not soft:
        return np.asarray(identity[own])
    cells = nearest_references(training, placed)
    codes = cells * training.n_classes + training.y
    counts = np.bincount(codes, minlength=len(placed) * training.n_classes).reshape(-1, training.n_classes)
    counts = counts.astype(np.float64)
    empty = counts.sum(axis=1) == 0
    if empty.any():
        counts[empty] = identity[training.y[nearest_rows(training, placed[empty])]]
    if soft:
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
    # Ties go to the class that is more frequent in the whole table.
    frequency = np.bincount(training.y, minlength=training.n_classes)
    return np.asarray(identity[(counts + frequency / (2.0 * len(training.y))).argmax(axis=1)])


def number_values(training: TrainingRows, chosen: ReferencePoints, placed: Floats, soft: bool) -> Floats:
    """The value of each reference: its own target, or the mean target of the rows nearest to it."""
    if chosen.rows is not None and not soft:
        return np.asarray(training.y[chosen.rows], dtype=np.float64)
    cells = nearest_references(training, placed)
    counts = np.bincount(cells, minlength=len(placed))
    values = np.bincount(cells, weights=training.y / counts[cells], minlength=len(placed))
    empty = counts == 0
    if empty.any():
        values[empty] = training.y[nearest_rows(training, placed[empty])]
    return np.asarray(values, dtype=np.float64)


def nearest_references(training: TrainingRows, placed: Floats) -> Codes:
    """The reference nearest to each row, the first on ties."""
    return np.asarray(training.metric.powers(training.placed, placed).argmin(axis=1))


def nearest_rows(training: TrainingRows, placed: Floats) -> Codes:
    """The row nearest to each reference, the first on ties."""
    return np.asarray(training.metric.powers(placed, training.placed).argmin(axis=1))


# --- The parameters of a similarity-based learner ---------------------------------------------------------------------


@public
@dataclass(frozen=True, slots=True, eq=False)
class SimilaritySettings:
    """M = {X, Δ, D, k, G, R, p(R), E, S} of Duch and Grudzinski: all choices of a similarity-based learner."""

    k: int
    distance: Distance
    weighting: Weighting
    features: ArrayLike | None = None
    weights: ArrayLike | None = None
    references: References = field(default_factory=AllRows)
    n_references: int = 1
    numbers: FeatureDistance = field(default_factory=Difference)
    symbols: FeatureDistance = field(default_factory=Overlap)
    symbolic_columns: tuple[int, ...] = ()
    radius: float | None = None
    soft: bool = False
    risk: ArrayLike | None = None
    class_similarity: ArrayLike | None = None
    random_state: int | None = 0


def risk_matrix(setting: SimilaritySettings, n_classes: int) -> Floats | None:
    """The cost of predicting each class (column) when each class is true (row), if given."""
    return class_matrix(setting.risk, n_classes, "risk")


def similarity_matrix(setting: SimilaritySettings, n_classes: int) -> Floats | None:
    """The part of a vote for each class (row) that goes to each class (column), if given."""
    matrix = class_matrix(setting.class_similarity, n_classes, "class_similarity")
    if matrix is not None and np.any(matrix < 0):
        raise UserError("class_similarity must hold numbers of at least 0")
    return matrix


def class_matrix(values: ArrayLike | None, n_classes: int, name: str) -> Floats | None:
    """A matrix with a row and a column for each class, or None."""
    if values is None:
        return None
    if not n_classes:
        raise UserError(f"{name} speaks of classes; it must be None for regression")
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes) or not np.all(np.isfinite(matrix)):
        raise UserError(
            f"{name} must be a matrix of {n_classes} x {n_classes} finite numbers, a row and a column a class"
        )
    return matrix
