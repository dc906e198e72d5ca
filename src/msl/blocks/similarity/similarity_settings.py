"""The parameters of a similarity-based learner, with blocks in place of their names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from msl.blocks.base.block import Floats
from msl.blocks.public import public
from msl.blocks.similarity.distances import Difference, Distance, FeatureDistance, Overlap
from msl.blocks.similarity.reference_points import References
from msl.blocks.similarity.references import AllRows
from msl.blocks.similarity.weightings import Weighting
from msl.diagnostics.user_error import UserError


@public
@dataclass(frozen=True, slots=True, eq=False)
class SimilaritySettings:
    """M = {X, Δ, D, k, G, R, p(R), E, S} of Duch and Grudzinski: all choices of a similarity-based learner."""

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
    """The cost of predicting each class (column) when each class is true (row), if given."""
    return class_matrix(setting.risk, n_classes, "risk")


def similarity_matrix(setting: SimilaritySettings, n_classes: int) -> Floats | None:
    """The part of a vote for each class (row) that goes to each class (column), if given."""
    matrix = class_matrix(setting.class_similarity, n_classes, "class_similarity")
    if matrix is not None and np.any(matrix < 0):
        raise UserError("class_similarity must hold numbers of at least 0")
    return matrix


def class_matrix(values: ArrayLike | None, n_classes: int, name: str) -> Floats | None:
    """A matrix with a row and a column for each class, or None."""
    if values is None:
        return None
    if not n_classes:
        raise UserError(f"{name} speaks of classes; it must be None for regression")
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != (n_classes, n_classes) or not np.all(np.isfinite(matrix)):
        raise UserError(
            f"{name} must be a matrix of {n_classes} x {n_classes} finite numbers, a row and a column a class"
        )
    return matrix
