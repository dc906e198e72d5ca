"""Selectors keep some of the columns: what all of them share, and `Keep`, whose mask is a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin

from msl.blocks.base import BlockTransformer, Codes, Floats
from msl.blocks.public import public


class FeatureSelector(BlockTransformer, SelectorMixin):
    """A transformer that keeps some columns, in the order in which they came, and at least one."""

    mask_: NDArray[np.bool_]
    selected_: Codes

    def keep_columns(self, chosen: Codes, n_columns: int) -> None:
        """Remembers the chosen columns, in whatever order they are given."""
        self.mask_ = np.zeros(n_columns, dtype=np.bool_)
        self.mask_[chosen] = True
        self.selected_ = np.flatnonzero(self.mask_)

    def transform_arrays(self, X: Floats) -> Floats:
        """The kept columns; X itself, not a copy, when all are kept."""
        if len(self.selected_) == len(self.mask_):
            return X
        return X.take(self.selected_, axis=1)

    def complexity(self) -> float:
        return float(len(self.selected_))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.mask_


@public
class KeepFeatures(FeatureSelector):
    """Keeps the columns whose entry in `features` is true; all without a mask, the first when the mask has none."""

    takes_symbols = True
    takes_missing = True
    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"features": ["array-like", None]}

    def __init__(self, features: Sequence[bool] | NDArray[np.bool_] | None = None) -> None:
        self.features = features

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        n_columns = X.shape[1]
        if self.features is None:
            self.keep_columns(np.arange(n_columns), n_columns)
            return
        mask = np.asarray(self.features)
        if mask.shape != (n_columns,):
            raise ValueError(
                f"Keep got a mask of shape {mask.shape} for rows with {n_columns} features; "
                f"give `features` exactly {n_columns} entries, one a feature"
            )
        if not np.isin(mask, (0, 1)).all():
            raise ValueError("Keep needs a mask of booleans (or of 0 and 1); to keep features by number, make a mask")
        chosen = np.flatnonzero(mask)
        self.keep_columns(chosen if len(chosen) else np.array([0]), n_columns)
