"""Population: what splits may look at — the classes, the groups that stay together, the order in time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Rows by their classes (None for regression), groups and moments (None where the table has none)."""

    n_rows: int
    classes: Rows | None = None
    groups: Rows | None = None
    order: Rows | None = None

    @property
    def strata(self) -> Rows:
        """What each split is to have in proportion: the classes, or one stratum of all rows."""
        return np.zeros(self.n_rows, dtype=np.intp) if self.classes is None else self.classes

    def part(self, rows: Rows) -> Population:
        """Some of the rows."""

        def cut(values: Rows | None) -> Rows | None:
            return None if values is None else values[rows]

        return Population(len(rows), cut(self.classes), cut(self.groups), cut(self.order))

    def subsample(self, share: float, rng: np.random.Generator) -> Rows:
        """A share of the rows: whole groups, or every class in its proportion with two rows of each where it has two.

        The same draw with a larger share gives these rows and more.
        """
        if self.groups is not None:
            names = rng.permutation(np.unique(self.groups))
            return np.flatnonzero(np.isin(self.groups, names[: max(2, round(share * len(names)))]))
        chosen = []
        for stratum in np.unique(self.strata):
            rows = rng.permutation(np.flatnonzero(self.strata == stratum))
            chosen.append(rows[: max(min(2, len(rows)), round(share * len(rows)))])
        return np.sort(np.concatenate(chosen))
