"""Columns: transformers that route the columns of a table to the branches of `&` without changing a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils._param_validation import StrOptions

from msl.blocks.base import BlockTransformer, Floats
from msl.blocks.public import public


@public
class Passthrough(OneToOneFeatureMixin, BlockTransformer):
    """Hands on its input as it is, missing values included."""

    takes_symbols = True
    takes_missing = True
    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        pass

    def transform_arrays(self, X: Floats) -> Floats:
        return X

    def complexity(self) -> float:
        return 0.0


@public
class Columns(Passthrough):
    """Keeps the columns of one kind, in their order; none at all when the table has none of that kind.

    Parameters
    ----------
    kind : "numeric", "symbolic" or "all"
        Which columns stay.
    symbolic_columns : sequence of int, or None
        The positions of the columns that hold symbols, as the table knows them; None when there are none. They count
        in the columns that reach this step, so a step that changes the columns may not come before it.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions({"numeric", "symbolic", "all"})],
        "symbolic_columns": ["array-like", None],
    }

    def __init__(
        self,
        kind: Literal["numeric", "symbolic", "all"] = "numeric",
        symbolic_columns: Sequence[int] | None = None,
    ) -> None:
        self.kind = kind
        self.symbolic_columns = symbolic_columns

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        symbolic = np.zeros(X.shape[1], dtype=bool)
        symbolic[self._positions(X.shape[1])] = True
        stays = {"numeric": ~symbolic, "symbolic": symbolic, "all": np.ones_like(symbolic)}[self.kind]
        self.kept_: NDArray[np.intp] = np.flatnonzero(stays)

    def _positions(self, n_columns: int) -> NDArray[np.intp]:
        """The symbolic columns' positions, all of them inside the table."""
        positions = np.asarray([] if self.symbolic_columns is None else self.symbolic_columns)
        if positions.size == 0:
            return np.empty(0, dtype=np.intp)
        if positions.ndim != 1 or not np.issubdtype(positions.dtype, np.integer):
            raise ValueError(
                f"symbolic_columns takes the positions of columns, as in [0, 3], not {self.symbolic_columns!r}"
            )
        if positions.min() < 0 or positions.max() >= n_columns:
            raise ValueError(
                f"symbolic_columns names the column {positions.max() if positions.min() >= 0 else positions.min()}, "
                f"but the columns here are 0 to {n_columns - 1}; put `columns` before the steps that change columns"
            )
        return positions.astype(np.intp)

    def transform_arrays(self, X: Floats) -> Floats:
        return X[:, self.kept_]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        names: NDArray[np.object_] = super().get_feature_names_out(input_features)
        return names[self.kept_]
