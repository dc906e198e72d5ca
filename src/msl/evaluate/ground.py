"""Ground: the rows that models are judged on, and what is known of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from msl.blocks.adapt import ColumnKinds
from msl.blocks.base import Floats
from msl.evaluate.population import Population
from msl.evaluate.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """`y` holds codes of classes, or numbers when `n_classes` is 0."""

    X: Floats
    y: NDArray[Any]
    n_classes: int
    population: Population
    columns: ColumnKinds

    @classmethod
    def of(cls, table: Table) -> Ground:
        """The rows of a table whose target is known."""
        if table.y is None:
            raise ValueError(f"models can only be judged where the target is known, and {table.origin} lacks it")
        n_classes = len(table.classes)
        symbolic = tuple(np.flatnonzero(table.is_symbolic).tolist())
        incomplete = tuple(np.flatnonzero(table.missing_counts).tolist())
        population = Population(len(table), table.y if n_classes else None, table.groups, table.order)
        return cls(table.X, table.y, n_classes, population, ColumnKinds(table.X.shape[1], symbolic, incomplete))

    @classmethod
    def of_arrays(cls, X: Floats, y: NDArray[Any], n_classes: int) -> Ground:
        """Rows of numbers, some of them perhaps missing, in no groups and no order."""
        population = Population(len(X), y if n_classes else None)
        incomplete = tuple(np.flatnonzero(np.isnan(X).any(axis=0)).tolist())
        return cls(X, y, n_classes, population, ColumnKinds(X.shape[1], (), incomplete))

    @property
    def task(self) -> str:
        return "classification" if self.n_classes else "regression"
