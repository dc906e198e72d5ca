"""Map rows to their kernel values with a few reference points (Ortiz-Bejar, Tellez and Graff, 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import BlockTransformer, Floats, SlotValue, resolve_slot, slot_constraint
from msl.blocks.numerics.kmeans import means
from msl.blocks.public import public
from msl.blocks.similarity.distances import DISTANCES, Difference, Distance
from msl.blocks.similarity.fitted_distance import FittedDistance, fit_metric
from msl.blocks.similarity.reference_points import REFERENCES, FarthestFirst, References, TrainingRows


class KernelFunction(SlotValue):
    """A function of the distance d to a reference and of sigma, the size of its region."""

    def values(self, lengths: Floats, sigma: Floats) -> Floats:
        """The kernel values; `lengths` are distances (rows, references), `sigma` has one size a reference."""
        raise NotImplementedError


@public
class LinearKernel(KernelFunction):
    """The distance itself."""

    def values(self, lengths: Floats, sigma: Floats) -> Floats:
        return lengths


@public
class GaussianKernel(KernelFunction):
    """exp(-d / sigma)."""

    def values(self, lengths: Floats, sigma: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.exp(-lengths / sigma)


@public
class SigmoidKernel(KernelFunction):
    """1 / (1 + exp(sigma - d))."""

    def values(self, lengths: Floats, sigma: Floats) -> Floats:
        return np.asarray(expit(lengths - sigma))


@public
class CauchyKernel(KernelFunction):
    """1 / (1 + d / sigma)."""

    def values(self, lengths: Floats, sigma: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + lengths / sigma))


KERNELS: Mapping[str, type[KernelFunction]] = {
    "linear": LinearKernel,
    "gaussian": GaussianKernel,
    "sigmoid": SigmoidKernel,
    "cauchy": CauchyKernel,
}


@public
@dataclass(frozen=True, slots=True)
class KernelRegions:
    """Reference points, as rows and in the coordinates of the metric, with the size of the region of each."""

    metric: FittedDistance
    points: Floats
    placed: Floats
    sigma: Floats


@public
class KernelMap(BlockTransformer):
    """Maps a row x to [f(x, c_1) … f(x, c_n)], with the kernel f and the reference points c.

    Parameters
    ----------
    references : str or References
        How the points are chosen from the training rows.
    n : int
        The number of points.
    points : "centers" or "centroids"
        The chosen points themselves, or the means of the rows that belong to each: the rows nearest to it, or with
        `density` the rows removed with it.
    distance : str or Distance
        The distance between a row and a point.
    kernel : str or KernelFunction
        The function of this distance. Its width sigma is the largest distance of a point to a row that is nearest to
        it; for a point without other rows, the distance to the nearest other point. With `fft`, whose references are
        evenly apart, all points have one width: the distance at which the traversal chose its last row.
    random_state : int or None
        The seed of the choice of points.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "references": slot_constraint(REFERENCES, References),
        "n": [Interval(Integral, 1, None, closed="left")],
        "points": [StrOptions({"centers", "centroids"})],
        "distance": slot_constraint(DISTANCES, Distance),
        "kernel": slot_constraint(KERNELS, KernelFunction),
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }
    shared_parameters = frozenset({"references", "n", "points", "distance", "random_state"})

    def __init__(
        self,
        references: str | References = "kmeans",
        n: int = 16,
        points: str = "centers",
        distance: str | Distance = "euclidean",
        kernel: str | KernelFunction = "gaussian",
        random_state: int | None = 0,
    ) -> None:
        self.references = references
        self.n = n
        self.points = points
        self.distance = distance
        self.kernel = kernel
        self.random_state = random_state

    @property
    def needs_target(self) -> bool:  # type: ignore[override]
        """Only some methods of choosing references use the target."""
        chooser = self.references
        return (REFERENCES.get(chooser, References) if isinstance(chooser, str) else chooser).needs_classes

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> KernelRegions:
        distance = resolve_slot(self.distance, DISTANCES, Distance, "distance")
        metric = fit_metric(X, y, n_classes, distance, np.ones(X.shape[1]), Difference(), Difference(), ())
        training = TrainingRows.of(X, y, n_classes, metric)
        chooser = resolve_slot(self.references, REFERENCES, References, "references")
        chosen = chooser.choose(training, self.n, np.random.default_rng(self.random_state))
        points = chosen.points
        if self.points == "centroids":
            cells = chosen.cells
            if cells is None:
                cells = metric.powers(training.placed, metric.place(points)).argmin(axis=1)
            used, cells = np.unique(cells, return_inverse=True)
            points = means(X, cells, len(used))
        placed = metric.place(points)
        reach = traversal_reach(metric, metric.place(chosen.points)) if isinstance(chooser, FarthestFirst) else None
        sigma = region_sizes(metric, training.placed, placed) if reach is None else np.full(len(points), reach)
        return KernelRegions(metric, points, placed, sigma)

    def fit_prepared(self, prepared: KernelRegions, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.regions_ = prepared

    def transform_arrays(self, X: Floats) -> Floats:
        metric = self.regions_.metric
        lengths = metric.lengths(metric.powers(metric.place(X), self.regions_.placed))
        return resolve_slot(self.kernel, KERNELS, KernelFunction, "kernel").values(lengths, self.regions_.sigma)

    def complexity(self) -> float:
        """The number of references."""
        return float(len(self.regions_.points))


def traversal_reach(metric: FittedDistance, centers: Floats) -> float | None:
    """The distance of the last row that a farthest-first traversal chose to the nearest of those before it: every row
    is within it of a centre. None for a single centre."""
    if len(centers) < 2:
        return None
    return float(metric.lengths(metric.powers(centers[-1:], centers[:-1]).min(axis=1))[0])


def region_sizes(metric: FittedDistance, rows: Floats, references: Floats) -> Floats:
    """The largest distance from each reference to a row whose nearest reference it is."""
    powers = metric.powers(rows, references)
    nearest = powers.argmin(axis=1)
    largest = np.zeros(len(references))
    np.maximum.at(largest, nearest, powers[np.arange(len(rows)), nearest])
    alone = np.flatnonzero(largest == 0)
    if len(alone):
        others = metric.powers(references[alone], references)
        nearest_other = np.where(others > 0, others, np.inf).min(axis=1)
        largest[alone] = np.where(np.isfinite(nearest_other), nearest_other, np.nan)
    sizes = metric.lengths(largest)
    # All rows are equal: any size will do.
    return np.where(np.isnan(sizes), 1.0, sizes)
