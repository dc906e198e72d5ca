"""Orthogonal directions: features chosen by Gram-Schmidt orthogonalisation, and principal components."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from msl.blocks.base.block import BlockTransformer, Codes, Floats
from msl.blocks.numerics.class_statistics import present_classes, signed_targets
from msl.blocks.numerics.matrices import PrincipalAxes
from msl.blocks.numerics.safe_scaling import frame_of, row_blocks, standard_columns
from msl.blocks.public import public
from msl.blocks.selection.selectors import FMAX, FeatureSelector
from msl.diagnostics.user_error import UserError


@public
class GramSchmidt(FeatureSelector):
    """Keeps `fmax` features, each the one that explains most of what the earlier ones left of the target.

    Forward selection with orthogonalisation (Stoppiglia et al., 2003); several classes are one target each, and what
    is explained of them is summed. Features that add nothing any more follow in the order of their own correlation.
    """

    needs_target = True
    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX}

    def __init__(self, fmax: int | None = None) -> None:
        self.fmax = fmax

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> ForwardSelection:
        """The selection before its first step: it goes as far as the largest `fmax` asked of it, once."""
        if n_classes:
            present, codes = present_classes(y, n_classes)
            targets = signed_targets(codes, len(present))
        else:
            targets = y[:, np.newaxis]
        length = np.sqrt(len(X))
        return ForwardSelection(standard_columns(X) / length, standard_columns(targets) / length)

    def fit_prepared(self, prepared: ForwardSelection, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        n_columns = X.shape[1]
        if self.fmax is None or self.fmax >= n_columns:
            self.keep_columns(np.arange(n_columns), n_columns)
        else:
            self.keep_columns(prepared.first(self.fmax), n_columns)


@public
class PrincipalComponents(ClassNamePrefixFeaturesOutMixin, BlockTransformer):
    """Replaces the features by their first `fmax` principal components, fewer when fewer have any variance.

    The largest loading of each component is positive.
    """

    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX}

    def __init__(self, fmax: int | None = None) -> None:
        self.fmax = fmax

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> tuple[float, Floats, PrincipalAxes]:
        """Factor and mean of the matrix, and its axes, which are found as far as siblings ask for them."""
        factor = float(frame_of(X, axis=None).factor.item()) or 1.0
        scaled = X if factor == 1.0 else X * factor
        mean = scaled.mean(axis=0)
        axes = PrincipalAxes(scaled, mean)
        if axes.spread / np.finfo(np.float64).max > factor:
            raise UserError(
                f"PrincipalComponents cannot work with features as large as {np.abs(X).max():.0e}: "
                "their components overflow; standardize them first"
            )
        return factor, mean, axes

    def fit_prepared(
        self, prepared: tuple[float, Floats, PrincipalAxes], X: Floats, y: NDArray[Any], n_classes: int
    ) -> None:
        self.factor_, self.mean_, axes = prepared
        lengths, loadings = axes.first(self.fmax)
        self.deviations_ = lengths / np.sqrt(max(len(X) - 1, 1)) / self.factor_
        self.loadings_ = np.ascontiguousarray(loadings)

    def transform_arrays(self, X: Floats) -> Floats:
        projected = np.empty((len(X), self.loadings_.shape[1]))
        for block in row_blocks(X):
            rows = X[block] if self.factor_ == 1.0 else X[block] * self.factor_
            np.matmul(rows - self.mean_, self.loadings_, out=projected[block])
        if self.factor_ != 1.0:
            projected /= self.factor_
        return projected

    def complexity(self) -> float:
        return float(self.loadings_.shape[1])

    @property
    def _n_features_out(self) -> int:
        return int(self.loadings_.shape[1])


# --- Forward selection of features by Gram-Schmidt orthogonalisation, as far as it is asked to go. --------------------


#: A squared length that has fallen to this part by subtraction is computed afresh, as pivoted QR does.
CANCELLED = 1e-6
#: What is left of a feature of length one when the earlier ones determine it (squared).
DEPENDENT = 1e-16
#: What is left of targets of length one when the features explain them (squared).
EXPLAINED = 1e-20
#: Scores that differ by this part are equal but for rounding.
EQUAL = 1e-12


class ForwardSelection:
    """A selection in progress, which never orthogonalises the features themselves.

    The products of the features with each new direction are enough to keep track of the squared length that each has
    left outside the directions so far, and of its products with what is left of the targets: one product of a vector
    with the matrix a step.
    """

    def __init__(self, features: Floats, targets: Floats) -> None:
        """Starts from centred columns of length one or zero."""
        self.features = features
        self.targets = targets
        self.products: Floats = features.T @ targets
        self.lengths: Floats = np.einsum("ij,ij->j", features, features)
        self.trusted = self.lengths.copy()
        self.chosen: list[int] = []
        self.directions = np.empty((16, len(features)))  # one a row, with room for more
        self.by_correlation = np.argsort(-self.scores(), kind="stable")
        self.finished = False

    def first(self, count: int) -> Codes:
        """The first `count` features of the selection."""
        while len(self.chosen) < count and not self.finished:
            self.step()
        rest = self.by_correlation[~np.isin(self.by_correlation, self.chosen)]
        return np.concatenate([np.array(self.chosen, dtype=np.intp), rest])[:count]

    def scores(self) -> Floats:
        """The squared length of the targets that each feature would explain beyond the earlier ones."""
        explained = np.zeros_like(self.lengths)
        np.divide((self.products**2).sum(axis=1), self.lengths, out=explained, where=self.lengths > DEPENDENT)
        return explained

    def step(self) -> None:
        """Chooses one more feature, or finishes when none is left that could explain anything."""
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
        """What columns have outside the directions; twice is enough against rounding (Giraud et al., 2005)."""
        directions = self.directions[: len(self.chosen)]
        for _ in range(2):
            columns = columns - directions.T @ (directions @ columns)
        return columns

    def refresh(self) -> None:
        """Computes afresh the lengths that subtraction has eaten."""
        eaten = np.flatnonzero((self.lengths > 0.0) & (self.lengths < CANCELLED * self.trusted))
        if len(eaten):
            left = self.outside(self.features[:, eaten])
            self.lengths[eaten] = self.trusted[eaten] = np.einsum("ij,ij->j", left, left)
