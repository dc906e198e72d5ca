"""Orthogonal directions: features chosen by Gram-Schmidt orthogonalisation, and principal components."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from msl.blocks.axes import PrincipalAxes
from msl.blocks.base import BlockTransformer, Floats
from msl.blocks.forward import ForwardSelection
from msl.blocks.frame import frame_of, row_blocks, standard_columns
from msl.blocks.keep import FeatureSelector
from msl.blocks.present import present_classes, signed_targets
from msl.blocks.public import public
from msl.blocks.ranking import FMAX


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
            raise ValueError(
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
