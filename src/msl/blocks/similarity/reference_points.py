"""Reference points, which rows are compared with: all training rows, some of them, or new points made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import Codes, Floats, SlotValue
from msl.blocks.numerics.kmeans import k_means, means
from msl.blocks.public import public
from msl.blocks.similarity.fitted_distance import FittedDistance
from msl.blocks.similarity.neighbour_search import TIE, Neighbours
from msl.blocks.similarity.safe_coordinates import Scaled
from msl.blocks.similarity.weightings import UniformWeighting, class_outputs
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

    `rows` are their numbers if they are training rows, `classes` their classes if they have any, `cells` the point that
    each training row belongs to if this is not the nearest, and `radii` those of their spheres if they differ.
    """

    points: Floats
    rows: Codes | None = None
    classes: Codes | None = None
    cells: Codes | None = None
    radii: Floats | None = None


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


# --- Methods of choosing them -----------------------------------------------------------------------------------------


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


# --- References that are found row by row: training rows are presented in the order of the table ----------------------

#: A sphere that shrinks from a row ends just before it, by more than rounding could undo.
JUST_BEFORE = 1.0 - 1e-6


@public
class Coulomb(References):
    """Restricted Coulomb energy (RCE; Reilly, Cooper and Elbaum, 1982): rows with spheres of their own radius.

    A row in no sphere of its class becomes a reference, with a sphere of the `largest_radius`. Spheres of other classes
    that the row is in shrink until it is outside. All rows are presented again until nothing changes. So every training
    row is in a sphere of its class and in none of another, except among equal rows of different classes.
    """

    needs_classes = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {"largest_radius": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, largest_radius: float = 1.0) -> None:
        self.largest_radius = largest_radius

    def points(self, training: TrainingRows, n: int, rng: np.random.Generator) -> ReferencePoints:
        rows: list[int] = []
        lengths = np.empty((0, len(training.X)))
        radii, classes = np.empty(0), np.empty(0, dtype=np.intp)
        changed = True
        while changed:
            changed = False
            for row, own in enumerate(training.y):
                inside = lengths[:, row] <= radii * (1.0 + TIE)
                too_large = inside & (classes != own) & (radii > 0)
                if too_large.any():
                    radii = np.where(too_large, lengths[:, row] * JUST_BEFORE, radii)
                    changed = True
                if not (inside & (classes == own)).any():
                    rows.append(row)
                    lengths = np.vstack([lengths, training.metric.lengths(training.powers_to(row))])
                    radii, classes = np.append(radii, float(self.largest_radius)), np.append(classes, own)
                    changed = True
        chosen = np.array(rows)
        return ReferencePoints(training.X[chosen], chosen, radii=radii)


@public
class OnLine(References):
    """On-line learning with a partial memory: each row is seen once and kept only if it is needed.

    A row is kept if the kept rows nearest to it, at least `neighbours` of them, do not give its class the most votes.
    The memory has at most `n_references` rows. When it is full, the one with the worst record is forgotten (the number
    of times that it was among those neighbours of a row of its class, minus the times of another class), or the
    `oldest`.
    """

    needs_classes = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "neighbours": [Interval(Integral, 1, None, closed="left")],
        "forget": [StrOptions({"worst", "oldest"})],
    }

    def __init__(self, neighbours: int = 1, forget: str = "worst") -> None:
        self.neighbours = neighbours
        self.forget = forget

    def rows(self, training: TrainingRows, n: int, rng: np.random.Generator) -> Codes:
        memory: list[int] = []  # oldest first
        record = np.zeros(len(training.X), dtype=np.intp)
        for row, own in enumerate(training.y):
            near = self.nearest(training, memory, row)
            same = training.y[near] == own
            record[near] += np.where(same, 1, -1)
            votes = np.bincount(training.y[near], minlength=training.n_classes)
            if votes[own] == 0 or (votes > votes[own]).any() or (votes == votes[own]).sum() > 1:
                if len(memory) == n:
                    memory.remove(min(memory, key=record.__getitem__) if self.forget == "worst" else memory[0])
                memory.append(row)
        return np.sort(memory)

    def nearest(self, training: TrainingRows, memory: list[int], row: int) -> Codes:
        """The kept rows nearest to a row, with all at the distance of the last."""
        kept = np.array(memory, dtype=np.intp)
        if len(kept) <= self.neighbours:
            return kept
        powers: Floats = training.metric.powers(training.placed[row : row + 1], training.placed[kept])[0]
        last = np.partition(powers, self.neighbours - 1)[self.neighbours - 1]
        return kept[powers <= last * (1.0 + TIE)]


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
