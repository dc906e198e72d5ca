"""References: the points that rows are compared with, as small parameter objects that choose them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Filling, Floats
from msl.blocks.numerics.kmeans import k_means, means
from msl.blocks.public import public
from msl.blocks.similarity.distances import Difference, Distance, FeatureDistance, Overlap
from msl.blocks.similarity.fitted_distance import FittedDistance
from msl.blocks.similarity.neighbours import TIE, Neighbours
from msl.blocks.similarity.placement import Scaled
from msl.blocks.similarity.voting import UniformWeighting, Weighting, class_outputs
from msl.diagnostics.user_error import UserError


@dataclass(frozen=True, slots=True)
class ReferenceTable:
    """The rows that references are chosen from, with the metric that compares them; `n_classes` is 0 for numbers."""

    X: Floats
    y: NDArray[Any]
    n_classes: int
    metric: FittedDistance
    placed: Floats

    @classmethod
    def of(cls, X: Floats, y: NDArray[Any], n_classes: int, metric: FittedDistance) -> ReferenceTable:
        return cls(X, y, n_classes, metric, metric.place(X))

    def powers_to(self, row: int) -> Floats:
        """D^power from every row to one of them."""
        return np.asarray(self.metric.powers(self.placed, self.placed[row : row + 1])[:, 0])


@public
@dataclass(frozen=True, slots=True)
class ReferencePoints:
    """Points in the space of the rows.

    `rows` says which training rows they are, `classes` which classes they have, and `cells` to which of them each
    training row belongs: None where they are no rows, have no classes, or leave it to the distance.
    """

    points: Floats
    rows: Codes | None = None
    classes: Codes | None = None
    cells: Codes | None = None


class References(Filling):
    """A way to choose references from training rows."""

    #: Looks at the target, which must hold classes.
    needs_classes: ClassVar[bool] = False
    #: Makes points that are no rows, which symbols have no meaning for.
    makes_points: ClassVar[bool] = False

    def choose(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> ReferencePoints:
        """About n references; fewer when rows are equal, and as many as it takes where the method decides itself."""
        self.check()
        if self.needs_classes and not library.n_classes:
            raise UserError(f"{type(self).__name__} chooses references by their classes; it cannot do regression")
        if self.makes_points and library.metric.specials:
            raise UserError(
                f"{type(self).__name__} makes new points, which symbols do not have; "
                "use all_rows, fft, density, random_rows, edited or condensed"
            )
        return self.points(library, min(n, len(library.X)), rng)

    def points(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> ReferencePoints:
        rows = self.rows(library, n, rng)
        return ReferencePoints(library.X[rows], rows)

    def rows(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> Codes:
        """The rows chosen, for methods that choose rows."""
        raise NotImplementedError


@public
class AllRows(References):
    """All training rows."""

    def points(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> ReferencePoints:
        return ReferencePoints(library.X, np.arange(len(library.X)))


@public
class RandomRows(References):
    """Rows drawn at random."""

    def rows(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> Codes:
        return np.sort(rng.choice(len(library.X), size=n, replace=False))


@public
class KMeans(References):
    """The centroids of k-means on the features in use, with their weights; always by euclidean distance."""

    makes_points = True

    def points(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> ReferencePoints:
        columns = library.metric.numeric
        placement = Scaled.fitted(library.X[:, columns], np.ones(len(columns)), power=2.0)
        clusters = k_means(placement.place(library.X[:, columns]) * np.sqrt(library.metric.importance), n, rng)
        return ReferencePoints(means(library.X, clusters.labels, len(clusters.centroids)))


@public
class FarthestFirst(References):
    """Farthest-first traversal from a random row; it ends early when every row is as good as chosen."""

    def rows(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> Codes:
        chosen = [int(rng.integers(len(library.X)))]
        nearest = library.powers_to(chosen[0])
        while len(chosen) < n and nearest.any():
            chosen.append(int(nearest.argmax()))
            nearest = np.minimum(nearest, library.powers_to(chosen[-1]))
        return np.array(chosen)


@public
class Density(References):
    """A random row, its nearest rows removed with it, and again, each time about one n-th of all rows.

    What is removed together belongs together, also where a row is nearer to a reference that was chosen later.
    """

    def points(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> ReferencePoints:
        left = np.arange(len(library.X))
        cells = np.empty(len(left), dtype=np.intp)
        chosen = []
        for number, part in enumerate(np.array_split(left, n)):
            row = int(rng.choice(left))
            chosen.append(row)
            powers = library.powers_to(row)[left]
            powers[left == row] = -1.0
            order = powers.argsort(kind="stable")
            cells[left[order[: len(part)]]] = number
            left = left[np.sort(order[len(part) :])]
        rows = np.array(chosen)
        return ReferencePoints(library.X[rows], rows, cells=cells)


@public
class Edited(References):
    """Rows that their neighbours classify rightly (Wilson, 1972); all rows when none would be left."""

    needs_classes = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {"neighbours": [Interval(Integral, 1, None, closed="left")]}

    def __init__(self, neighbours: int = 3) -> None:
        self.neighbours = neighbours

    def rows(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> Codes:
        everything = np.arange(len(library.X))
        if len(everything) == 1:
            return everything
        own = np.eye(library.n_classes)[library.y]
        hood = Neighbours(library.metric, library.placed, library.placed, leave_one_out=True).nearest(self.neighbours)
        outputs = class_outputs(hood, UniformWeighting(), own, own.sum(axis=0) - own, risk=None)
        right = np.flatnonzero(outputs.argmax(axis=1) == library.y)
        return right if len(right) else everything


@public
class Condensed(References):
    """The rows needed to classify all others rightly with one neighbour (Hart, 1968), in the order of the table.

    The first row is kept; then every row that the kept ones get wrong, pass after pass, until none is. A row is
    right when its class has more than half of the nearest kept rows.
    """

    needs_classes = True

    def rows(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> Codes:
        nearest = np.full(len(library.X), np.inf)
        own_votes = np.zeros(len(library.X))
        votes = np.zeros(len(library.X))
        kept = np.zeros(len(library.X), dtype=bool)
        row = 0
        while row < len(kept):
            powers = library.powers_to(row)
            same = library.y == library.y[row]
            closer, equal = powers < nearest * (1.0 - TIE), np.abs(powers - nearest) <= nearest * TIE
            own_votes = np.where(closer, same, own_votes + (equal & same))
            votes = np.where(closer, 1.0, votes + equal)
            nearest = np.minimum(nearest, powers)
            kept[row] = True
            # The pass goes on behind the row; when nothing is wrong there, a new one starts at the top.
            wrong = np.flatnonzero(~kept & (own_votes * 2.0 <= votes))
            if not len(wrong):
                break
            behind = wrong[wrong > row]
            row = int(behind[0] if len(behind) else wrong[0])
        return np.flatnonzero(kept)


@public
class LVQ(References):
    """Learning vector quantisation (LVQ1, Kohonen, 1990): each row pulls its nearest prototype when they have the
    same class and pushes it away otherwise, at a rate that falls to 0. Each class has prototypes by its share of the
    rows, one at least, which start at random rows and never leave the range of the data."""

    needs_classes = True
    makes_points = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "rate": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(self, epochs: int = 20, rate: float = 0.1) -> None:
        self.epochs = epochs
        self.rate = rate

    def points(self, library: ReferenceTable, n: int, rng: np.random.Generator) -> ReferencePoints:
        start = self.start_rows(library, n, rng)
        prototypes, classes = library.X[start], library.y[start]
        placed = library.metric.place(prototypes)
        low, high = library.X.min(axis=0), library.X.max(axis=0)
        steps = self.epochs * len(library.X)
        orders = [rng.permutation(len(library.X)) for _ in range(self.epochs)]
        for step, row in enumerate(np.concatenate(orders)):
            winner = int(library.metric.powers(library.placed[row : row + 1], placed)[0].argmin())
            rate = self.rate * (1.0 - step / steps)
            towards = rate if classes[winner] == library.y[row] else -rate
            with np.errstate(over="ignore"):
                moved = prototypes[winner] * (1.0 - towards) + library.X[row] * towards
            prototypes[winner] = np.clip(moved, low, high)
            placed[winner] = library.metric.place(prototypes[winner : winner + 1])[0]
        return ReferencePoints(prototypes, classes=classes)

    @staticmethod
    def start_rows(library: ReferenceTable, n: int, rng: np.random.Generator) -> Codes:
        counts = np.bincount(library.y, minlength=library.n_classes)
        wanted = np.minimum(np.maximum(np.round(n * counts / counts.sum()).astype(int), 1), counts)
        return np.concatenate(
            [
                rng.choice(np.flatnonzero(library.y == code), size=wanted[code], replace=False)
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


# --- What references stand for: the class probabilities, or the number, of each. --------------------------------------


def class_probabilities(library: ReferenceTable, chosen: ReferencePoints, placed: Floats, soft: bool) -> Floats:
    """One line of class probabilities a reference.

    Hard: a reference has its own class; one that has none takes the most frequent class of the rows nearest to it.
    Soft: the class frequencies of those rows. A reference that is nearest to no row looks at the row nearest to it.
    """
    own = chosen.classes if chosen.rows is None else library.y[chosen.rows]
    identity = np.eye(library.n_classes)
    if own is not None and not soft:
        return np.asarray(identity[own])
    cells = nearest_references(library, placed)
    codes = cells * library.n_classes + library.y
    counts = np.bincount(codes, minlength=len(placed) * library.n_classes).reshape(-1, library.n_classes)
    counts = counts.astype(np.float64)
    empty = counts.sum(axis=1) == 0
    if empty.any():
        counts[empty] = identity[library.y[nearest_rows(library, placed[empty])]]
    if soft:
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
    # Ties go to the class that is more frequent in the whole table.
    frequency = np.bincount(library.y, minlength=library.n_classes)
    return np.asarray(identity[(counts + frequency / (2.0 * len(library.y))).argmax(axis=1)])


def number_values(library: ReferenceTable, chosen: ReferencePoints, placed: Floats, soft: bool) -> Floats:
    """One number a reference: its own, or the mean of the rows nearest to it."""
    if chosen.rows is not None and not soft:
        return np.asarray(library.y[chosen.rows], dtype=np.float64)
    cells = nearest_references(library, placed)
    counts = np.bincount(cells, minlength=len(placed))
    values = np.bincount(cells, weights=library.y / counts[cells], minlength=len(placed))
    empty = counts == 0
    if empty.any():
        values[empty] = library.y[nearest_rows(library, placed[empty])]
    return np.asarray(values, dtype=np.float64)


def nearest_references(library: ReferenceTable, placed: Floats) -> Codes:
    """The reference nearest to each row, the first on ties."""
    return np.asarray(library.metric.powers(library.placed, placed).argmin(axis=1))


def nearest_rows(library: ReferenceTable, placed: Floats) -> Codes:
    """The row nearest to each reference, the first on ties."""
    return np.asarray(library.metric.powers(placed, library.placed).argmin(axis=1))


# --- The setting of a similarity-based learner: the contents of all its slots. ----------------------------------------


@public
@dataclass(frozen=True, slots=True, eq=False)
class SimilaritySettings:
    """What M = {X, Δ, D, k, G, R, p(R), E, S} stands for, ready for use."""

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
    """The cost of each decision (column) when each class is true (row), if given."""
    return class_matrix(setting.risk, n_classes, "risk")


def similarity_matrix(setting: SimilaritySettings, n_classes: int) -> Floats | None:
    """What goes to each class (column) of a vote for each class (row), if given."""
    matrix = class_matrix(setting.class_similarity, n_classes, "class_similarity")
    if matrix is not None and np.any(matrix < 0):
        raise UserError("class_similarity must hold numbers of at least 0")
    return matrix


def class_matrix(values: ArrayLike | None, n_classes: int, name: str) -> Floats | None:
    """A matrix with a row and a column for each class, or none."""
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
