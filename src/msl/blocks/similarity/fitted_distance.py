"""A distance fitted to training rows, with selected and weighted features, numeric and categorical."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from msl.blocks.base.block import Codes, Floats
from msl.blocks.public import public
from msl.blocks.similarity.distances import Distance, FeatureDistance, Gaps
from msl.blocks.similarity.safe_coordinates import Placement
from msl.diagnostics.user_error import UserError


@public
@dataclass(frozen=True, slots=True)
class SpecialColumn:
    """A column with a feature distance of its own, such as a categorical one."""

    column: int
    weight: float
    gaps: Gaps


@public
@dataclass(frozen=True, slots=True)
class FittedDistance:
    """D^power between rows: over numeric columns, and special columns with feature distances of their own.

    `place` turns rows into the coordinates of the numeric columns, followed by the special columns as they are.
    """

    distance: Distance
    numeric: Codes
    importance: Floats
    placement: Placement
    specials: tuple[SpecialColumn, ...]

    @property
    def n_features(self) -> int:
        """The number of features in use."""
        return len(self.numeric) + len(self.specials)

    @property
    def quadratic(self) -> bool:
        """Whether `powers` are only weighted sums of squared coordinate differences."""
        return self.distance.quadratic and not self.specials

    def place(self, X: Floats) -> Floats:
        placed = self.placement.place(X[:, self.numeric])
        if self.specials:
            placed = np.hstack([placed, X[:, [special.column for special in self.specials]]])
        return placed

    def powers(self, A: Floats, B: Floats) -> Floats:
        """D^power between all pairs of placed rows, in the units of the placement."""
        bulk = A.shape[1] - len(self.specials)
        powers = self.distance.powers(A[:, :bulk], B[:, :bulk], self.placement.weights)
        self.settle(powers)
        for place, special in enumerate(self.specials, start=bulk):
            term = special.gaps.between(A[:, place], B[:, place])
            self.distance.join(powers, self.special_term(term, special.weight), out=powers)
        return powers

    def settle(self, powers: Floats) -> None:
        """Sets rounding errors between equal rows to 0."""
        if self.placement.floor:
            powers[powers <= self.placement.floor] = 0.0

    def special_term(self, gaps: Floats, weight: float) -> Floats:
        """s Δ^power, in the units of the placement."""
        return np.asarray(weight * (gaps / self.placement.unit) ** self.distance.power)

    def lengths(self, powers: Floats) -> Floats:
        """The distances themselves."""
        return self.distance.true_lengths(powers, self.placement.unit)


def fit_metric(
    X: Floats,
    y: NDArray[Any],
    n_classes: int,
    distance: Distance,
    importance: Floats,
    numbers: FeatureDistance,
    symbols: FeatureDistance,
    symbolic_columns: Sequence[int],
) -> FittedDistance:
    """Fits a distance to the columns whose `importance` is above 0."""
    distance.check()
    symbolic = set(symbolic_columns)
    outside = symbolic - set(range(X.shape[1]))
    if outside:
        raise UserError(
            f"symbolic_columns names column {min(outside)}, but the table has columns 0 to {X.shape[1] - 1}"
        )
    numeric: list[int] = []
    specials: list[SpecialColumn] = []
    for column in map(int, np.flatnonzero(importance)):
        feature_distance = symbols if column in symbolic else numbers
        gaps = feature_distance.gaps(X[:, column], y, n_classes)
        if gaps is None:
            numeric.append(column)
        else:
            specials.append(SpecialColumn(column, float(importance[column]), gaps))
    if specials and not distance.takes_symbols:
        raise UserError(
            f"{type(distance).__name__} is a distance of numbers and cannot use the feature distance "
            f"{type(numbers if specials[0].column not in symbolic else symbols).__name__}; "
            "use euclidean, manhattan, minkowski, chebyshev or canberra, or turn the symbols into numbers first"
        )
    chosen = np.array(numeric, dtype=np.intp)
    placement = distance.placement(X[:, chosen], importance[chosen], least_spread=1.0 if specials else 0.0)
    return FittedDistance(distance, chosen, importance[chosen], placement, tuple(specials))


def feature_importance(features: ArrayLike | None, weights: ArrayLike | None, n_features: int) -> Floats:
    """The weight of each feature, 0 for features that are switched off."""
    importance = np.ones(n_features) if weights is None else np.array(weights, dtype=np.float64)
    if importance.shape != (n_features,):
        raise UserError(f"weights must hold one number for each of the {n_features} features; got {importance.shape}")
    if not np.all(np.isfinite(importance)) or np.any(importance < 0):
        raise UserError("weights must be finite numbers of at least 0")
    if features is not None:
        mask = np.asarray(features)
        if mask.shape != (n_features,):
            raise UserError(
                f"features must hold one truth value for each of the {n_features} features; got {mask.shape}"
            )
        importance[~mask.astype(bool)] = 0.0
    return importance
