"""Radial basis function (RBF) networks: units around centres, with linear output weights by least squares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import xlogy
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import (
    Block,
    BlockClassifier,
    BlockRegressor,
    Floats,
    GcvTable,
    SlotValue,
    resolve_slot,
    slot_constraint,
)
from msl.blocks.numerics.kmeans import k_means
from msl.blocks.public import public
from msl.blocks.similarity.safe_coordinates import Scaled
from msl.diagnostics.user_error import UserError

# --- Radial basis functions -------------------------------------------------------------------------------------------


class Basis(SlotValue):
    """The response of a unit: a function of the distance v to its centre and of its width σ."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        """The responses; `squares` are v², `widths` are σ, one a column."""
        raise NotImplementedError


@public
class GaussianBasis(Basis):
    """exp(-v² / σ²)."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        # Smaller responses do not matter, and subnormal numbers are slow to compute with.
        exponents = squares / -np.square(widths)
        np.maximum(exponents, -300.0, out=exponents)
        return np.exp(exponents, out=exponents)


@public
class ThinPlateBasis(Basis):
    """v² log v, which has no width."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.asarray(0.5 * xlogy(squares, squares))


@public
class MultiquadricBasis(Basis):
    """(v² + σ²)^½."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.sqrt(squares + np.square(widths))


@public
class InverseMultiquadricBasis(Basis):
    """(v² + σ²)^-½."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        return np.asarray(1.0 / np.sqrt(squares + np.square(widths)))


BASES: Mapping[str, type[Basis]] = {
    "gaussian": GaussianBasis,
    "thin_plate": ThinPlateBasis,
    "multiquadric": MultiquadricBasis,
    "inverse_multiquadric": InverseMultiquadricBasis,
}


# --- Networks ---------------------------------------------------------------------------------------------------------


#: The width of a unit is overlap · WIDTH_FACTOR · the distance to the nearest other centre.
WIDTH_FACTOR = 5.0
#: The smallest overlap: a unit with less responds only at its own centre.
LEAST_OVERLAP = 1e-3
#: Regions must be the same for every network on the same rows, so that positions in them mean the same points. They
#: therefore do not depend on `random_state`.
REGION_SEED = 0

#: For each region the position of its unit, a point of the unit cube, or None where the unit is off.
RegionCenters = Sequence[Sequence[float] | None]


@public
@dataclass(slots=True)
class CentreRegions:
    """The distinct rows of a table, sorted and scaled, and the bounding boxes of their k-means clusters.

    Boxes are computed when needed and kept. They depend neither on the order of the rows nor on repeated rows.
    """

    placement: Scaled
    inputs: Floats
    _boxes: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Floats) -> CentreRegions:
        # With the limits of fourth powers: squared distances to far rows, times weights, must not overflow.
        inputs = np.unique(X, axis=0)
        placement = Scaled.fitted(inputs, np.ones(X.shape[1]), power=4.0)
        return cls(placement, placement.place(inputs))

    def boxes(self, n_regions: int) -> tuple[Floats, Floats]:
        """The lowest and the highest corner of each region; if there are fewer clusters than regions, they repeat."""
        if n_regions not in self._boxes:
            clusters = k_means(self.inputs, n_regions, np.random.default_rng(REGION_SEED))
            members = [self.inputs[clusters.labels == label] for label in range(len(clusters.centroids))]
            again = np.arange(n_regions) % len(members)
            low = np.array([rows.min(axis=0) for rows in members])[again]
            high = np.array([rows.max(axis=0) for rows in members])[again]
            self._boxes[n_regions] = low, high
        return self._boxes[n_regions]


@public
@dataclass(slots=True)
class CentreLayout:
    """Scaled rows with the regions of their table, and their k-means centroids, kept for other networks."""

    regions: CentreRegions
    rows: Floats
    _centroids: dict[tuple[int, int | None], Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Floats, regions: CentreRegions | None = None) -> CentreLayout:
        """With regions fitted to these rows unless others are given."""
        regions = regions or CentreRegions.of(X)
        return cls(regions, regions.placement.place(X))

    def centroids(self, units: int, random_state: int | None) -> Floats:
        key = units, random_state
        if key not in self._centroids:
            self._centroids[key] = k_means(self.rows, units, np.random.default_rng(random_state)).centroids
        return self._centroids[key]

    def in_boxes(self, networks: Sequence[RegionCenters], n_regions: int) -> list[Floats]:
        """The centres of the units of each network; the middle of the first region if all units are off."""
        n_features = self.rows.shape[1]
        middle = [0.5] * n_features
        places: list[int] = []
        points: list[Sequence[float]] = []
        stops = []
        for centers in networks:
            on = [(place, center) for place, center in enumerate(centers) if center is not None] or [(0, middle)]
            places += [place for place, _ in on]
            points += [center for _, center in on]
            stops.append(len(points))
        try:
            inside = np.array(points, dtype=np.float64)
        except (TypeError, ValueError):
            inside = np.empty(0)
        if inside.shape != (len(points), n_features):
            raise UserError(
                f"centers must hold, for each region, None or {n_features} numbers from 0 to 1, one for each feature"
            )
        low, high = self.regions.boxes(n_regions)
        placed = low[places] + inside * (high[places] - low[places])
        return [placed[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]


class RBFNetwork(Block):
    """h(x) = w₀ + Σ w_i z(|x - c_i|), with units z around the centres c.

    Parameters
    ----------
    centers : "kmeans", "all_rows" or a list
        The centroids of k-means, all rows, or an entry for each region, which is the bounding box of a k-means cluster:
        the position of a unit in the box, each coordinate from 0 to 1, or None if the region has no unit.
    overlap : float
        The width of a unit is overlap · 5 · its distance to the nearest other centre.
    basis : str or Basis
        The response of a unit.
    ridge : float
        The penalty on the squared weights; targets are centred first.
    units : int
        The number of units for "kmeans".
    random_state : int or None
        The seed of k-means.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "centers": [StrOptions({"kmeans", "all_rows"}), "array-like"],
        "units": [Interval(Integral, 1, None, closed="left")],
        "overlap": [Interval(Real, 0, None, closed="left")],
        "basis": slot_constraint(BASES, Basis),
        "ridge": [Interval(Real, 0, None, closed="left")],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }
    # Boxes and centroids are computed when needed, so what is shared depends on no parameter.
    shared_parameters = frozenset[str]()
    has_coordinates = True

    def __init__(
        self,
        centers: str | RegionCenters = "kmeans",
        overlap: float = 0.5,
        basis: str | Basis = "gaussian",
        ridge: float = 0.0,
        units: int = 15,
        random_state: int | None = 0,
    ) -> None:
        self.centers = centers
        self.overlap = overlap
        self.basis = basis
        self.ridge = ridge
        self.units = units
        self.random_state = random_state

    @classmethod
    def fit_coordinates(cls, inputs: Floats) -> CentreRegions:
        return CentreRegions.of(inputs)

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> CentreLayout:
        return CentreLayout.of(X)

    def prepare_with(self, coordinates: CentreRegions, X: Floats, y: NDArray[Any], n_classes: int) -> CentreLayout:
        return CentreLayout.of(X, coordinates)

    def fit_prepared(self, prepared: CentreLayout, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.placement_ = prepared.regions.placement
        self.centers_ = placed_centers([self], prepared)[0]
        squares = cdist(prepared.rows, self.centers_, "sqeuclidean")
        self.widths_ = unit_widths(cdist(self.centers_, self.centers_, "sqeuclidean"), squares, self.overlap)
        targets = target_columns(y, n_classes)
        self.means_ = targets.mean(axis=0)
        Z = self._design(squares)
        self.weights_, parameters = ridge_weights(Z, targets - self.means_, self.ridge)
        self.gcv_ = generalised_error(Z @ self.weights_ + self.means_ - targets, parameters)

    def _design(self, squares: Floats) -> Floats:
        return design(resolve_slot(self.basis, BASES, Basis, "basis"), squares, self.widths_)

    def linear_outputs(self, X: Floats) -> Floats:
        """One column for each target."""
        squares = cdist(self.placement_.place(X), self.centers_, "sqeuclidean")
        return np.asarray(self._design(squares) @ self.weights_ + self.means_)

    def complexity(self) -> float:
        """The number of units."""
        return float(len(self.centers_))

    def fitted_gcv(self) -> float:
        return self.gcv_

    @classmethod
    def gcv_table(
        cls, X: Floats, y: NDArray[Any], n_classes: int, coordinates: CentreRegions | None = None
    ) -> GcvTable:
        # Imported here because it imports this module.
        from msl.blocks.learners.rbf_batch import NetworkBatch

        return NetworkBatch(X, y, n_classes, coordinates)


@public
class RBFNetworkClassifier(RBFNetwork, BlockClassifier):
    """An RBF network with one output for each class, fitted to 1 for the class and 0 for the others."""

    def outputs(self, X: Floats) -> Floats:
        return self.linear_outputs(X)


@public
class RBFNetworkRegressor(RBFNetwork, BlockRegressor):
    """An RBF network for regression."""

    def outputs(self, X: Floats) -> Floats:
        return self.linear_outputs(X)[:, 0]


def placed_centers(networks: Sequence[RBFNetwork], layout: CentreLayout) -> list[Floats]:
    """The centres of each network, in the scaled coordinates of the layout."""
    placed: dict[int, Floats] = {}
    by_regions: dict[int, dict[int, RegionCenters]] = defaultdict(dict)
    for place, network in enumerate(networks):
        if not isinstance(network.centers, str):
            by_regions[len(network.centers)][place] = network.centers
        elif network.centers == "kmeans":
            placed[place] = layout.centroids(network.units, network.random_state)
        else:
            placed[place] = np.unique(layout.rows, axis=0)
    for n_regions, searched in by_regions.items():
        if n_regions == 0:
            raise UserError("centers must name at least one region; None in its place switches its unit off")
        placed.update(zip(searched, layout.in_boxes(list(searched.values()), n_regions), strict=True))
    return [placed[place] for place in range(len(networks))]


def unit_widths(between: Floats, to_rows: Floats, overlap: Floats | float) -> Floats:
    """The width of each unit, from squared distances between the centres (…, units, units) and from the rows to the
    centres (…, rows, units). A centre without another one at a distance takes the root mean square distance of the
    rows instead, or 1 if all rows are equal to it."""
    nearest = np.where(between > 0, between, np.inf).min(axis=-1)
    lonely = np.isinf(nearest)
    if lonely.any():
        # Copied, so that the order of summation does not depend on the other networks of a batch.
        squares = np.ascontiguousarray(np.swapaxes(to_rows, -1, -2)[lonely])
        nearest[lonely] = np.where(squares.any(axis=1), squares.mean(axis=1), 1.0)
    return np.asarray(np.maximum(overlap, LEAST_OVERLAP) * WIDTH_FACTOR * np.sqrt(nearest))


def design(basis: Basis, squares: Floats, widths: Floats) -> Floats:
    """The design matrix: a column of ones and the responses of the units; `squares` is (rows, units)."""
    return np.column_stack([np.ones(len(squares)), basis.values(squares, widths)])


def target_columns(y: NDArray[Any], n_classes: int) -> Floats:
    """Targets as columns: one of 0 and 1 for each class, or the numbers."""
    if n_classes:
        return np.asarray(np.eye(n_classes)[y])
    return np.asarray(y, dtype=np.float64)[:, None]


def ridge_weights(Z: Floats, targets: Floats, ridge: float) -> tuple[Floats, float]:
    """Ridge regression: minimises squared errors + ridge · squared weights; the smallest weights on ties. With the
    effective number of parameters, the trace of the hat matrix."""
    if ridge > 0:
        Z = np.vstack([Z, np.sqrt(ridge) * np.eye(Z.shape[1])])
        targets = np.vstack([targets, np.zeros((Z.shape[1], targets.shape[1]))])
    weights, _, rank, singular = np.linalg.lstsq(Z, targets, rcond=None)
    # The squares of the singular values of Z itself are those of Z with the penalty below it, less the penalty.
    parameters = float(np.sum(1.0 - ridge / np.square(singular))) if ridge > 0 else float(rank)
    return np.asarray(weights), parameters


def generalised_error(residuals: Floats, parameters: float) -> float:
    """p · SSE / (p - m)² for p rows and m parameters, infinite if no degrees of freedom are left."""
    rows = len(residuals)
    freedom = rows - parameters
    return rows * float(np.square(residuals).sum()) / freedom**2 if freedom > 1e-9 * rows else float("inf")
