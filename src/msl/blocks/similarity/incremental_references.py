"""References that are found row by row: training rows are presented one after the other, in the order of the table."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import Codes, Floats
from msl.blocks.public import public
from msl.blocks.similarity.neighbour_search import TIE
from msl.blocks.similarity.reference_points import ReferencePoints, References, TrainingRows

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
