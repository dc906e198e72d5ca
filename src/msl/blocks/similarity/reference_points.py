"""Reference points, which rows are compared with: chosen from the training rows, with class probabilities or values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Codes, Floats, SlotValue
from msl.blocks.public import public
from msl.blocks.similarity.fitted_distance import FittedDistance
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
