"""The setting of a similarity-based learner: the contents of all its slots."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from msl.blocks.base import Floats
from msl.blocks.distance import Distance
from msl.blocks.feature_distance import Difference, FeatureDistance, Overlap
from msl.blocks.public import public
from msl.blocks.references import AllRows, References
from msl.blocks.weighting import Weighting


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
        raise ValueError("class_similarity must hold numbers of at least 0")
    return matrix


def class_matrix(values: ArrayLike | None, n_classes: int, name: str) -> Floats | None:
    """A matrix with a row and a column for each class, or none."""
    if values is None:
        return None
    if not n_classes:
        raise ValueError(f"{name} speaks of classes; it must be None for regression")
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes) or not np.all(np.isfinite(matrix)):
        raise ValueError(
            f"{name} must be a matrix of {n_classes} x {n_classes} finite numbers, a row and a column a class"
        )
    return matrix
