"""The table as arrays for an evaluation: rows, targets, and which columns are categorical or have missing values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from msl.blocks.base.block import Floats
from msl.blocks.base.build import ColumnKinds
from msl.data.table import Table
from msl.diagnostics.user_error import UserError
from msl.evaluate.splits import Rows, SplitGroups


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """`y` holds codes of classes, or numbers when `n_classes` is 0."""

    X: Floats
    y: NDArray[Any]
    n_classes: int
    population: SplitGroups
    columns: ColumnKinds
    #: How much each row counts, in fits and in metrics; None where all count the same.
    weights: Floats | None = None

    @classmethod
    def of(cls, table: Table) -> Dataset:
        """The rows of a table whose target is known."""
        if table.y is None:
            raise UserError(f"models can only be evaluated where the target is known, and {table.origin} lacks it")
        n_classes = len(table.classes)
        symbolic = tuple(np.flatnonzero(table.is_symbolic).tolist())
        incomplete = tuple(np.flatnonzero(table.missing_counts).tolist())
        population = SplitGroups(len(table), table.y if n_classes else None, table.groups, table.order, table.folds)
        symbols = tuple(column.categories for column in table.schema.columns)
        facts = table.facts
        columns = ColumnKinds(
            *(table.X.shape[1], symbolic, incomplete, table.names, facts.dates, facts.texts, facts.ordered),
            symbols=symbols,
        )
        return cls(table.X, table.y, n_classes, population, columns, table.weights)

    @classmethod
    def of_arrays(cls, X: Floats, y: NDArray[Any], n_classes: int) -> Dataset:
        """Rows of numbers, some of which may be missing, without groups or order."""
        population = SplitGroups(len(X), y if n_classes else None)
        incomplete = tuple(np.flatnonzero(np.isnan(X).any(axis=0)).tolist())
        return cls(X, y, n_classes, population, ColumnKinds(X.shape[1], (), incomplete))

    @property
    def task(self) -> str:
        return "classification" if self.n_classes else "regression"


# --- rows that are gathered only when needed --------------------------------------------------------------------------
#
# The test rows of a large table need not be in memory while models are fitted on the others.


class LazyRows:
    """Rows that are made at the first use, which frees what they are made of."""

    __slots__ = ("_made", "_make")

    #: The size is not known yet, so that no cache may keep it.
    nbytes: ClassVar[int] = sys.maxsize

    def __init__(self, make: Callable[[], Floats]) -> None:
        self._make: Callable[[], Floats] | None = make
        self._made: Floats | None = None

    def rows(self) -> Floats:
        if self._made is None:
            assert self._make is not None
            self._made = self._make()
            self._make = None
        return self._made


def at_hand(rows: Floats | LazyRows) -> Floats:
    """The rows, made now if they are lazy."""
    return rows.rows() if isinstance(rows, LazyRows) else rows


def taken(values: NDArray[Any], rows: Rows) -> NDArray[Any]:
    """These rows, read-only: a view if they are consecutive, else a copy."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
        return read_only(values[rows[0] : rows[-1] + 1])
    return read_only(values[rows])


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, read-only: models that share it must not change it."""
    for part in _parts(array):
        part.flags.writeable = False
    return array


def bytes_of(rows: Any) -> int:
    """How much memory rows take: full, sparse, or not made yet."""
    return sum(int(part.nbytes) for part in _parts(rows))


def _parts(rows: Any) -> tuple[Any, ...]:
    """The arrays that hold rows; those of sparse ones are three."""
    return (rows.data, rows.indices, rows.indptr) if sparse.issparse(rows) else (rows,)
