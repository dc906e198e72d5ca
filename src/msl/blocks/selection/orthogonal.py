"""Feature selection by Gram-Schmidt orthogonalisation, and principal components."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from msl.blocks.base.block import BlockTransformer, Codes, Floats
from msl.blocks.numerics.class_statistics import present_classes, signed_targets
from msl.blocks.numerics.matrices import PrincipalAxes
from msl.blocks.numerics.safe_scaling import range_scaling, row_blocks, standard_columns, unit_scale
from msl.blocks.public import public
from msl.blocks.selection.selectors import FMAX, FeatureSelector


@public
class GramSchmidt(FeatureSelector):
    """Keeps `fmax` features; each is the one that explains most of what the earlier ones leave of the target.

    Forward selection with orthogonalisation (Stoppiglia et al., 2003). Two classes are a target of -1 and 1; of more,
    each is a target of its own, and the explained parts are summed. Features that explain nothing more follow in the
    order of what they explain alone. Features and classes are taken as they are, so that a mean far from zero explains
    the larger class; `center` subtracts their means first, which is always done for a numeric target.
    """

    needs_target = True
    shared_parameters = frozenset({"center"})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX, "center": ["boolean"]}

    def __init__(self, fmax: int | None = None, center: bool = False) -> None:
        self.fmax = fmax
        self.center = center

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> ForwardSelection:
        """A selection before its first step; it continues as far as the largest `fmax` needs, once."""
        if n_classes:
            present, codes = present_classes(y, n_classes)
            targets = signed_targets(codes, len(present))
        else:
            targets = y[:, np.newaxis]
        if n_classes and not self.center:
            return ForwardSelection(unit_columns(X), unit_columns(targets))
        length = np.sqrt(len(X))
        return ForwardSelection(standard_columns(X) / length, standard_columns(targets) / length)

    def fit_prepared(self, prepared: ForwardSelection, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        n_columns = X.shape[1]
        if self.fmax is None or self.fmax >= n_columns:
            self.keep_columns(np.arange(n_columns), n_columns)
        else:
            self.keep_columns(prepared.first(self.fmax), n_columns)


def unit_columns(X: Floats) -> Floats:
    """Columns of length one; those that are zero stay zero."""
    columns = X * unit_scale(X, axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    columns /= np.where(lengths > 0.0, lengths, 1.0)
    return columns


@public
class PrincipalComponents(ClassNamePrefixFeaturesOutMixin, BlockTransformer):
    """Replaces the features by their first `fmax` principal components, or by fewer if only those have variance.

    Each component has length one over the training rows: the left singular vectors of the centred table, whose values
    are about 1 / √rows. The sign of a component is such that its largest loading is positive.
    """

    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX}

    def __init__(self, fmax: int | None = None) -> None:
        self.fmax = fmax

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> tuple[float, Floats, PrincipalAxes]:
        """Factor and mean of the matrix, and its principal axes, of which siblings compute as many as they need."""
        factor = float(range_scaling(X, axis=None).factor.item()) or 1.0
        scaled = X if factor == 1.0 else X * factor
        mean = scaled.mean(axis=0)
        return factor, mean, PrincipalAxes(scaled, mean)

    def fit_prepared(
        self, prepared: tuple[float, Floats, PrincipalAxes], X: Floats, y: NDArray[Any], n_classes: int
    ) -> None:
        self.factor_, self.mean_, axes = prepared
        lengths, loadings = axes.first(self.fmax)
        with np.errstate(over="ignore"):
            self.deviations_ = lengths / np.sqrt(max(len(X) - 1, 1)) / self.factor_
        self.loadings_ = np.ascontiguousarray(loadings / np.where(lengths > 0.0, lengths, 1.0))

    def transform_arrays(self, X: Floats) -> Floats:
        projected = np.empty((len(X), self.loadings_.shape[1]))
        for block in row_blocks(X):
            rows = X[block] if self.factor_ == 1.0 else X[block] * self.factor_
            np.matmul(rows - self.mean_, self.loadings_, out=projected[block])
        return projected

    def complexity(self) -> float:
        return float(self.loadings_.shape[1])

    @property
    def _n_features_out(self) -> int:
        return int(self.loadings_.shape[1])


# --- Forward selection ------------------------------------------------------------------------------------------------


#: A squared length that subtraction has reduced by this factor is recomputed, as in pivoted QR.
CANCELLED = 1e-6
#: Squared length left of a unit feature that is a linear combination of the earlier ones.
DEPENDENT = 1e-16
#: Squared length left of unit targets that the features explain completely.
EXPLAINED = 1e-20
#: Scores with a smaller relative difference are equal.
EQUAL = 1e-12


class ForwardSelection:
    """A selection in progress, which does not orthogonalise all features.

    The products of the features with each new direction are enough to update the squared length of each feature outside
    the directions so far, and its products with the rest of the targets. A step costs one vector-matrix product.
    """

    def __init__(self, features: Floats, targets: Floats) -> None:
        """Starts from columns of length one or zero."""
        self.features = features
        self.targets = targets
        self.products: Floats = features.T @ targets
        self.lengths: Floats = np.einsum("ij,ij->j", features, features)
        self.trusted = self.lengths.copy()
        self.chosen: list[int] = []
        self.directions = np.empty((16, len(features)))  # one a row, with spare rows
        self.by_correlation = np.argsort(-self.scores(), kind="stable")
        self.finished = False

    def first(self, count: int) -> Codes:
        """The first `count` features of the selection."""
        while len(self.chosen) < count and not self.finished:
            self.step()
        rest = self.by_correlation[~np.isin(self.by_correlation, self.chosen)]
        return np.concatenate([np.array(self.chosen, dtype=np.intp), rest])[:count]

    def scores(self) -> Floats:
        """The squared length of the targets that each feature would explain in addition to the earlier ones."""
        explained = np.zeros_like(self.lengths)
        np.divide((self.products**2).sum(axis=1), self.lengths, out=explained, where=self.lengths > DEPENDENT)
        return explained

    def step(self) -> None:
        """Chooses one more feature, or finishes if none explains anything more."""
        if not (self.lengths > DEPENDENT).any() or np.vdot(self.targets, self.targets) <= EXPLAINED:
            self.finished = True
            return
        scores = np.where(self.lengths > DEPENDENT, self.scores(), -1.0)
        best = int(np.argmax(scores >= scores.max() * (1.0 - EQUAL)))
        direction = self.outside(self.features[:, best])
        direction /= np.sqrt(direction @ direction)
        loadings = direction @ self.features
        target_loadings = direction @ self.targets
        self.targets = self.targets - np.outer(direction, target_loadings)
        self.products -= np.outer(loadings, target_loadings)
        if len(self.chosen) == len(self.directions):
            self.directions = np.vstack([self.directions, np.empty_like(self.directions)])
        self.directions[len(self.chosen)] = direction
        self.chosen.append(best)
        self.lengths = np.maximum(self.lengths - loadings**2, 0.0)
        self.lengths[best] = 0.0
        self.refresh()

    def outside(self, columns: Floats) -> Floats:
        """The part of columns orthogonal to the directions; two passes are accurate (Giraud et al., 2005)."""
        directions = self.directions[: len(self.chosen)]
        for _ in range(2):
            columns = columns - directions.T @ (directions @ columns)
        return columns

    def refresh(self) -> None:
        """Recomputes lengths that have lost digits to subtraction."""
        inexact = np.flatnonzero((self.lengths > 0.0) & (self.lengths < CANCELLED * self.trusted))
        if len(inexact):
            left = self.outside(self.features[:, inexact])
            self.lengths[inexact] = self.trusted[inexact] = np.einsum("ij,ij->j", left, left)
