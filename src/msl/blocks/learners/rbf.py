"""Radial basis function networks: units around centres, linear output weights by least squares."""

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
    Filling,
    Floats,
    GeneralisedTable,
    filled,
    slot_constraint,
)
from msl.blocks.numerics.kmeans import k_means
from msl.blocks.public import public
from msl.blocks.similarity.placement import Scaled
from msl.diagnostics.user_error import UserError

# --- Radial basis functions, as small parameter objects. --------------------------------------------------------------


class Basis(Filling):
    """The response of a unit by the distance v to its centre and its width σ."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        """`squares` are v², `widths` are σ, one a column."""
        raise NotImplementedError


@public
class GaussianBasis(Basis):
    """exp(-v² / σ²)."""

    def values(self, squares: Floats, widths: Floats) -> Floats:
        # Beyond this the response is nothing beside any other, and numbers near underflow are slow to compute with.
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


# --- Radial basis function networks: units around centres, linear output weights by least squares. --------------------


#: The width of a unit is overlap · WIDTH_FACTOR · the distance to the nearest other centre.
WIDTH_FACTOR = 5.0
#: The smallest overlap: below it a unit answers at its own centre only, and a width of 0 has no meaning.
LEAST_OVERLAP = 1e-3
#: The boxes of the regions must be the same for every network on the same rows, so that a place in them keeps its
#: meaning: they never depend on `random_state`.
REGION_SEED = 0

#: One region a place: a point of the unit cube, or None where the unit is off.
RegionCenters = Sequence[Sequence[float] | None]


@public
@dataclass(slots=True)
class CentreRegions:
    """The different inputs of a table in an order of their own, scaled, and the boxes around their clusters.

    Found when asked for and kept. Neither the order of the rows nor how often one comes changes anything.
    """

    placement: Scaled
    inputs: Floats
    _boxes: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Floats) -> CentreRegions:
        # As if for fourth powers: squares of distances, times weights, must not overflow for far queries.
        inputs = np.unique(X, axis=0)
        placement = Scaled.fitted(inputs, np.ones(X.shape[1]), power=4.0)
        return cls(placement, placement.place(inputs))

    def boxes(self, n_regions: int) -> tuple[Floats, Floats]:
        """The lowest and the highest corner of each region; with fewer clusters than regions, they come again."""
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
    """Rows in the regions of their table, and the centres that they suggest, kept for sibling networks."""

    regions: CentreRegions
    rows: Floats
    _centroids: dict[tuple[int, int | None], Floats] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Floats, regions: CentreRegions | None = None) -> CentreLayout:
        """In the regions of these rows themselves unless others are given."""
        regions = regions or CentreRegions.of(X)
        return cls(regions, regions.placement.place(X))

    def centroids(self, units: int, random_state: int | None) -> Floats:
        key = units, random_state
        if key not in self._centroids:
            self._centroids[key] = k_means(self.rows, units, np.random.default_rng(random_state)).centroids
        return self._centroids[key]

    def in_boxes(self, networks: Sequence[RegionCenters], n_regions: int) -> list[Floats]:
        """For each network on that many regions the centres of its units that are on; the middle of the first region
        when all are off."""
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
    """h(x) = w₀ + Σ w_i z(|x - c_i|).

    `centers` is a list with an entry for each region (a box around a k-means cluster of the rows): `None` when its
    unit is off, else its place in the box, each coordinate from 0 to 1; or "kmeans", with the number of `units`; or
    "all_rows". The width of a unit is overlap · 5 · its distance to the nearest other centre. The `ridge` is on all
    weights of the centred targets.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "centers": [StrOptions({"kmeans", "all_rows"}), "array-like"],
        "units": [Interval(Integral, 1, None, closed="left")],
        "overlap": [Interval(Real, 0, None, closed="left")],
        "basis": slot_constraint(BASES, Basis),
        "ridge": [Interval(Real, 0, None, closed="left")],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }
    # The layout finds boxes and centroids when it is asked for them, so it depends on no parameter.
    shared_parameters = frozenset[str]()
    has_places = True

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
    def lay_out(cls, inputs: Floats) -> CentreRegions:
        return CentreRegions.of(inputs)

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> CentreLayout:
        return CentreLayout.of(X)

    def prepare_in(self, laid_out: CentreRegions, X: Floats, y: NDArray[Any], n_classes: int) -> CentreLayout:
        return CentreLayout.of(X, laid_out)

    def fit_prepared(self, prepared: CentreLayout, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.placement_ = prepared.regions.placement
        self.centers_ = placed_centers([self], prepared)[0]
        squares = cdist(prepared.rows, self.centers_, "sqeuclidean")
        self.widths_ = unit_widths(cdist(self.centers_, self.centers_, "sqeuclidean"), squares, self.overlap)
        targets = target_columns(y, n_classes)
        self.means_ = targets.mean(axis=0)
        self.weights_ = ridge_weights(self._design(squares), targets - self.means_, self.ridge)

    def _design(self, squares: Floats) -> Floats:
        return design(filled(self.basis, BASES, Basis, "basis"), squares, self.widths_)

    def linear_outputs(self, X: Floats) -> Floats:
        """One column for each target."""
        squares = cdist(self.placement_.place(X), self.centers_, "sqeuclidean")
        return np.asarray(self._design(squares) @ self.weights_ + self.means_)

    def complexity(self) -> float:
        """The number of units."""
        return float(len(self.centers_))

    @classmethod
    def generalised_table(
        cls, X: Floats, y: NDArray[Any], n_classes: int, laid_out: CentreRegions | None = None
    ) -> GeneralisedTable:
        # It is made for these networks, and so imports this module.
        from msl.blocks.learners.rbf_batch import NetworkBatch

        return NetworkBatch(X, y, n_classes, laid_out)


@public
class RBFNetworkClassifier(RBFNetwork, BlockClassifier):
    """A network with one output a class, fitted to 1 for the class and 0 for the others."""

    def outputs(self, X: Floats) -> Floats:
        return self.linear_outputs(X)


@public
class RBFNetworkRegressor(RBFNetwork, BlockRegressor):
    """A network with one output."""

    def outputs(self, X: Floats) -> Floats:
        return self.linear_outputs(X)[:, 0]


def placed_centers(networks: Sequence[RBFNetwork], layout: CentreLayout) -> list[Floats]:
    """The centres of each network, in the layout's units."""
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
    centres (…, rows, units). A centre without another one elsewhere takes the root mean square distance of the rows
    instead, or 1 when all rows lie on it."""
    nearest = np.where(between > 0, between, np.inf).min(axis=-1)
    lonely = np.isinf(nearest)
    if lonely.any():
        # Copied, so that the order of the sum, and its last digit, do not depend on the other networks of a batch.
        squares = np.ascontiguousarray(np.swapaxes(to_rows, -1, -2)[lonely])
        nearest[lonely] = np.where(squares.any(axis=1), squares.mean(axis=1), 1.0)
    return np.asarray(np.maximum(overlap, LEAST_OVERLAP) * WIDTH_FACTOR * np.sqrt(nearest))


def design(basis: Basis, squares: Floats, widths: Floats) -> Floats:
    """The responses of the units, behind a column of ones; `squares` is (rows, units)."""
    return np.column_stack([np.ones(len(squares)), basis.values(squares, widths)])


def target_columns(y: NDArray[Any], n_classes: int) -> Floats:
    """Targets as columns: one of 0 and 1 for each class, or the numbers."""
    if n_classes:
        return np.asarray(np.eye(n_classes)[y])
    return np.asarray(y, dtype=np.float64)[:, None]


def ridge_weights(Z: Floats, targets: Floats, ridge: float) -> Floats:
    """The weights with the least sum of squared errors and of ridge times squared weights; the shortest on ties."""
    if ridge > 0:
        Z = np.vstack([Z, np.sqrt(ridge) * np.eye(Z.shape[1])])
        targets = np.vstack([targets, np.zeros((Z.shape[1], targets.shape[1]))])
    return np.asarray(np.linalg.lstsq(Z, targets, rcond=None)[0])
