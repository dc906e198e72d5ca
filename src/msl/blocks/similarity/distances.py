"""Distances between rows, and distances between the values of one feature.

Every distance is made of feature distances Δ: D^power = Σ s_i Δ_i^power with feature weights s. Rows are compared by
D^power, which has the same order and needs no root; `lengths` takes the root. Distances are small parameter objects for
the slots of similarity-based learners; `pairwise` of each gives plain distances between two tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats, SlotValue
from msl.blocks.public import public
from msl.blocks.similarity.safe_coordinates import Directions, Placement, Quartered, Scaled, Whitened

__all__ = [
    "DISTANCES",
    "FEATURE_DISTANCES",
    "Angle",
    "Canberra",
    "Chebyshev",
    "Difference",
    "Distance",
    "Euclidean",
    "FeatureDistance",
    "Gaps",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "Overlap",
    "OverlapGaps",
    "ValueDifference",
    "ValueGaps",
]


class Distance(SlotValue):
    """A distance between two rows.

    `placement` fits a coordinate system to training rows; `powers` gives D^power between rows in its coordinates.
    """

    #: Whether D^power is a weighted sum over features of `terms`, so that it can be updated for one weight.
    decomposable: ClassVar[bool] = False
    #: Whether `powers` are weighted sums of squared coordinate differences.
    quadratic: ClassVar[bool] = False
    #: Whether the distance is fitted to the training rows, so that leaving one out changes all distances.
    fitted_to_rows: ClassVar[bool] = False
    #: Whether it can be combined with distances of categorical features; others are defined for numbers only.
    takes_symbols: ClassVar[bool] = True
    #: How the terms of several features are combined.
    join: ClassVar[np.ufunc] = np.add

    @property
    def power(self) -> float:
        return 1.0

    def placement(self, X: Floats, weights: Floats, least_spread: float = 0.0) -> Placement:
        """The coordinate system fitted to rows; `least_spread` is the spread of categorical features beside them."""
        return Scaled.fitted(X, weights, self.power, least_spread)

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        raise NotImplementedError

    def terms(self, a: Floats, b: Floats, out: Floats | None = None) -> Floats:
        """Δ^power of one feature between all pairs of values; only for decomposable distances."""
        raise TypeError(f"{type(self).__name__} is not a sum over features")

    def lengths(self, powers: Floats) -> Floats:
        return powers

    def true_lengths(self, powers: Floats, unit: float) -> Floats:
        """Distances in the units of the rows, limited to the largest floating-point number."""
        with np.errstate(over="ignore"):
            return np.minimum(self.lengths(powers) * unit, np.finfo(np.float64).max)

    def pairwise(self, A: ArrayLike, B: ArrayLike, weights: ArrayLike | None = None) -> Floats:
        """All distances between the rows of A and of B, to which the distance is fitted."""
        rows, table = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
        importance = np.ones(table.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
        self.check()
        placement = self.placement(table, importance)
        powers = self.powers(placement.place(rows), placement.place(table), placement.weights)
        powers[powers <= placement.floor] = 0.0
        return self.true_lengths(powers, placement.unit)


@public
class Euclidean(Distance):
    """The root of the sum of squared differences."""

    decomposable = True
    quadratic = True

    @property
    def power(self) -> float:
        return 2.0

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        return weighted_cdist(A, B, "sqeuclidean", weights)

    def terms(self, a: Floats, b: Floats, out: Floats | None = None) -> Floats:
        difference = np.subtract(a[:, None], b, out=out)
        return np.square(difference, out=difference)

    def lengths(self, powers: Floats) -> Floats:
        return np.sqrt(powers)


@public
class Manhattan(Distance):
    """The sum of absolute differences."""

    decomposable = True

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        return weighted_cdist(A, B, "cityblock", weights)

    def terms(self, a: Floats, b: Floats, out: Floats | None = None) -> Floats:
        difference = np.subtract(a[:, None], b, out=out)
        return np.abs(difference, out=difference)


@public
class Minkowski(Distance):
    """The alpha-th root of the sum of alpha-th powers: manhattan for alpha = 1, euclidean for alpha = 2."""

    decomposable = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {"alpha": [Interval(Real, 0, 64, closed="right")]}

    def __init__(self, alpha: float = 3.0) -> None:
        self.alpha = alpha

    @property
    def power(self) -> float:
        return float(self.alpha)

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        if self.alpha == 1:
            return weighted_cdist(A, B, "cityblock", weights)
        if self.alpha == 2:
            return weighted_cdist(A, B, "sqeuclidean", weights)
        lengths = weighted_cdist(A, B, "minkowski", weights, p=self.alpha)
        return np.power(lengths, self.alpha, out=lengths)

    def terms(self, a: Floats, b: Floats, out: Floats | None = None) -> Floats:
        difference = np.subtract(a[:, None], b, out=out)
        return np.power(np.abs(difference, out=difference), self.alpha, out=difference)

    def lengths(self, powers: Floats) -> Floats:
        return np.asarray(powers ** (1.0 / self.alpha))


@public
class Chebyshev(Distance):
    """The largest weighted difference over the features."""

    join = np.maximum

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        # SciPy uses weights as a mask here; a weight must scale the difference of its feature instead.
        return weighted_cdist(A * weights, B * weights, "chebyshev", np.ones_like(weights))


@public
class Canberra(Distance):
    """The sum of |x - z| / (|x| + |z|): small values count as much as large ones."""

    decomposable = True

    def placement(self, X: Floats, weights: Floats, least_spread: float = 0.0) -> Placement:
        return Quartered(weights)

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        return weighted_cdist(A, B, "canberra", weights)

    def terms(self, a: Floats, b: Floats, out: Floats | None = None) -> Floats:
        size = np.add.outer(np.abs(a), np.abs(b))
        difference = np.subtract(a[:, None], b, out=out)
        return np.divide(np.abs(difference, out=difference), size, out=difference, where=size > 0)


@public
class Angle(Distance):
    """The angle between two rows in radians, whatever their lengths.

    Of two unit rows |u - v| = 2 sin(angle / 2), which is exact for small angles where the cosine is not.
    """

    quadratic = True
    takes_symbols = False

    @property
    def power(self) -> float:
        return 2.0

    def placement(self, X: Floats, weights: Floats, least_spread: float = 0.0) -> Placement:
        return Directions.fitted(weights)

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        return weighted_cdist(A, B, "sqeuclidean", weights)

    def lengths(self, powers: Floats) -> Floats:
        return np.asarray(2.0 * np.arcsin(np.minimum(np.sqrt(powers) / 2.0, 1.0)))


@public
class Mahalanobis(Distance):
    """The length of (C + ridge · I)^-½ (x - z), for columns divided by their standard deviation, with their correlation
    matrix C."""

    quadratic = True
    fitted_to_rows = True
    takes_symbols = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {"ridge": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, ridge: float = 1e-3) -> None:
        self.ridge = ridge

    @property
    def power(self) -> float:
        return 2.0

    def placement(self, X: Floats, weights: Floats, least_spread: float = 0.0) -> Placement:
        return Whitened.fitted(X, weights, self.ridge)

    def powers(self, A: Floats, B: Floats, weights: Floats) -> Floats:
        return weighted_cdist(A, B, "sqeuclidean", weights)

    def lengths(self, powers: Floats) -> Floats:
        return np.sqrt(powers)


def weighted_cdist(A: Floats, B: Floats, metric: str, weights: Floats, **options: Any) -> Floats:
    """SciPy's `cdist`: without weights, which is faster, if all are 1, and zeros if there are no features."""
    if A.shape[1] == 0:
        return np.zeros((len(A), len(B)))
    if np.any(weights != 1.0):
        options["w"] = weights
    distances: Floats = cdist(A, B, metric, **options)  # type: ignore[call-overload]
    return distances


DISTANCES: Mapping[str, type[Distance]] = {
    "euclidean": Euclidean,
    "manhattan": Manhattan,
    "minkowski": Minkowski,
    "chebyshev": Chebyshev,
    "canberra": Canberra,
    "angle": Angle,
    "mahalanobis": Mahalanobis,
}


# --- Distances between the values of one feature, numeric or categorical ----------------------------------------------


class Gaps(Protocol):
    """The fitted distances between the values of one feature."""

    def between(self, a: Floats, b: Floats) -> Floats:
        """Δ of all pairs."""
        ...


class FeatureDistance(SlotValue):
    """A distance between two values of one feature."""

    #: Whether it is fitted to the training rows.
    fitted_to_rows: ClassVar[bool] = False

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        """The distances fitted to a training column; None for the plain difference of numbers."""
        raise NotImplementedError


@public
class Difference(FeatureDistance):
    """The difference of two numbers."""

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        return None


@public
class Overlap(FeatureDistance):
    """0 if two symbols are equal, 1 if they differ."""

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        return OverlapGaps()


@public
class ValueDifference(FeatureDistance):
    """The value difference metric (Stanfill and Waltz, 1986): ½ Σ_c |p(c | a) - p(c | b)|, from 0 to 1.

    p(c | a) is the frequency of class c in the rows with symbol a. For regression, it is the difference of the mean
    targets, divided by the range of the target. An unknown symbol has the frequencies (or the mean) of all rows.
    """

    fitted_to_rows = True

    def gaps(self, column: Floats, y: NDArray[Any], n_classes: int) -> Gaps | None:
        symbols, codes = np.unique(column, return_inverse=True)
        counts = np.bincount(codes)[:, None]
        if n_classes:
            cells = np.bincount(codes * n_classes + y, minlength=len(symbols) * n_classes)
            sums: Floats = cells.reshape(-1, n_classes) / 2.0
        else:
            low, high = y.min() / 2, y.max() / 2
            share = (y / 2 - low) / (high - low if high > low else 1.0)
            sums = np.bincount(codes, weights=share).astype(np.float64)[:, None]
        profiles = np.vstack([sums / counts, sums.sum(axis=0) / counts.sum()])
        return ValueGaps(symbols, np.abs(profiles[:, None, :] - profiles[None, :, :]).sum(axis=2))


@public
@dataclass(frozen=True, slots=True)
class OverlapGaps:
    def between(self, a: Floats, b: Floats) -> Floats:
        return np.not_equal.outer(a, b).astype(np.float64)


@public
@dataclass(frozen=True, slots=True)
class ValueGaps:
    """The distances between known symbols; the last row and column of the table are for unknown ones."""

    symbols: Floats
    table: Floats

    def between(self, a: Floats, b: Floats) -> Floats:
        return self.table[np.ix_(self.codes(a), self.codes(b))]

    def codes(self, values: Floats) -> Codes:
        places = np.minimum(np.searchsorted(self.symbols, values), len(self.symbols) - 1)
        return np.where(self.symbols[places] == values, places, len(self.symbols))


FEATURE_DISTANCES: Mapping[str, type[FeatureDistance]] = {
    "difference": Difference,
    "overlap": Overlap,
    "value_difference": ValueDifference,
}
