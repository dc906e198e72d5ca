"""Local models: a nearest-neighbour model for each region of the data, and an interpolation between them.

Step 8 of the framework of Duch and Grudzinski (2001): where one model is not enough, several local ones are made, and
an interpolation selects the best or combines their results.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from msl.blocks.base.block import Block, BlockRegressor, Codes, Floats, ProbabilisticClassifier
from msl.blocks.public import public
from msl.blocks.similarity.distances import Euclidean
from msl.blocks.similarity.fitted_distance import FittedDistance
from msl.blocks.similarity.knn import KNNClassifier, KNNRegressor, SimilaritySettings, fit_references
from msl.blocks.similarity.leave_one_out import LeaveOneOut
from msl.blocks.similarity.reference_points import KMeans
from msl.blocks.similarity.weightings import RBFWeighting

#: The distances that a local model chooses from.
DISTANCES = ("euclidean", "manhattan", "chebyshev", "canberra")


class LocalModels(Block):
    """Regions around k-means centroids, each with the distance and number of neighbours that suit it best.

    The weight of a region at a row is exp(-(d / w)²), with the distance d to its centroid and w `overlap` times the gap
    to the nearest other centroid; the weights of all regions sum to one. The model of a region has the lowest
    leave-one-out error where the error of each row counts by the weight of the region there.

    Parameters
    ----------
    regions : int
        The number of local models.
    most_neighbours : int
        Each model has 1 to this many neighbours.
    overlap : float
        How far a region reaches, in units of the gap to the next one.
    interpolation : "soft" or "nearest"
        Whether the outputs of all models are averaged by the weights of their regions, or the model of the region with
        the largest weight decides.
    random_state : int or None
        The seed of k-means.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "regions": [Interval(Integral, 1, None, closed="left")],
        "most_neighbours": [Interval(Integral, 1, None, closed="left")],
        "overlap": [Interval(Real, 0, None, closed="neither")],
        "interpolation": [StrOptions({"soft", "nearest"})],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        regions: int = 4,
        most_neighbours: int = 9,
        overlap: float = 1.0,
        interpolation: str = "soft",
        random_state: int | None = 0,
    ) -> None:
        self.regions = regions
        self.most_neighbours = most_neighbours
        self.overlap = overlap
        self.interpolation = interpolation
        self.random_state = random_state

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        weighting = RBFWeighting(self.overlap)
        setting = SimilaritySettings(
            1, Euclidean(), weighting, None, None, KMeans(), self.regions, random_state=self.random_state
        )
        centroids = fit_references(setting, X, y, n_classes)
        self.metric_: FittedDistance = centroids.training.metric
        self.centroids_: Floats = centroids.placed
        self.sizes_: Floats = weighting.sizes(self.metric_, self.centroids_, None)
        self.n_rows_, self.n_features_ = X.shape
        kind = KNNClassifier if n_classes else KNNRegressor
        largest = min(self.most_neighbours, max(len(X) - 1, 1))
        candidates = [kind(k, distance) for distance in DISTANCES for k in range(1, largest + 1)]
        chosen = self._best_of_each_region(candidates, X, y, n_classes)
        places, self.model_of_region_ = np.unique(chosen, return_inverse=True)
        self.models_ = [candidates[place] for place in places]
        for model in self.models_:
            model.fit_arrays(X, y, n_classes)

    def _best_of_each_region(self, candidates: list[Any], X: Floats, y: NDArray[Any], n_classes: int) -> Codes:
        """The number of the best candidate of each region, the first of equal ones."""
        weights = self._weights(X)
        if len(X) < 2:
            return np.zeros(weights.shape[1], dtype=np.intp)
        table = LeaveOneOut(X, y, n_classes)
        costs = np.empty((len(candidates), weights.shape[1]))
        for place, candidate in enumerate(candidates):
            outputs = table.outputs_of(candidate)
            errors = outputs.argmax(axis=1) != y if n_classes else np.square(outputs - y)
            costs[place] = errors @ weights
        return np.asarray((costs <= costs.min(axis=0) * (1.0 + 1e-9)).argmax(axis=0))

    def _weights(self, X: Floats) -> Floats:
        """The weight of each region (column) at each row."""
        lengths = self.metric_.lengths(self.metric_.powers(self.metric_.place(X), self.centroids_))
        weights = RBFWeighting(self.overlap).shares(lengths, self.sizes_)
        if self.interpolation == "soft":
            return weights
        return np.eye(weights.shape[1])[weights.argmax(axis=1)]

    def outputs(self, X: Floats) -> Floats:
        of_models = self._weights(X) @ np.eye(len(self.models_))[self.model_of_region_]
        parts = [model.outputs(X) for model in self.models_]
        columns = of_models.T[:, :, None] if parts[0].ndim == 2 else of_models.T
        return np.asarray(sum(weight * part for weight, part in zip(columns, parts, strict=True)))

    def complexity(self) -> float:
        """The rows that are compared with, and the centroids."""
        return float((self.n_rows_ + len(self.centroids_)) * self.n_features_)


@public
class LocalModelsClassifier(LocalModels, ProbabilisticClassifier):
    """Nearest-neighbour classifiers of several regions, and an interpolation between their class probabilities."""


@public
class LocalModelsRegressor(LocalModels, BlockRegressor):
    """Nearest-neighbour regression in several regions, and an interpolation between them."""
