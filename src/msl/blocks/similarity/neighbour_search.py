"""Find the k nearest references of each row, with all that are as near as the k-th, or all within a radius.

Distances whose powers differ by less than one part in 10^9 (`TIE`) are equal. Summing the same terms in another order
changes about one part in 10^15, and true differences in real tables are far larger than either. scikit-learn's
NearestNeighbors returns exactly k neighbours, so that ties depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from msl.blocks.base.block import Codes, Floats
from msl.blocks.numerics.matrices import Mask, chosen_places, sorted_lines, upper_bounds
from msl.blocks.public import public
from msl.blocks.similarity.fitted_distance import FittedDistance

#: The relative difference up to which two powers of distances are equal.
TIE = 1e-9
#: A relative error of a power that can neither make nor break a tie.
NEGLIGIBLE = 1e-10
#: Rows, their references and the powers (or lengths) between them.
Candidates = tuple[Codes, Codes, Floats]
#: The number of distances computed at once: one megabyte, which fits in the cache.
CHUNK = 1 << 17
#: From this many coordinate differences on, a matrix product finds candidates faster.
PRODUCT_WORK = 1 << 17


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The neighbours of each row, nearest first; rows with fewer than others are padded with non-members.

    Where every reference is a neighbour of every row, they are in their own order and `references` is a single line.
    """

    references: Codes
    lengths: Floats
    members: Mask
    #: The distance of the k-th neighbour, or the radius.
    reach: Floats

    def references_of(self, rows: Codes) -> Codes:
        """Those of some rows: a line for each, or the single line."""
        return self.references if self.references.ndim == 1 else self.references[rows]


@public
class Neighbours:
    """The references near each query, computed when needed and kept for learners that use as many or fewer."""

    def __init__(
        self, metric: FittedDistance, queries: Floats, references: Floats, leave_one_out: bool = False
    ) -> None:
        """`queries` and `references` are placed rows; with `leave_one_out` they are the same rows."""
        self.metric = metric
        self.queries = queries
        self.references = references
        self.leave_one_out = leave_one_out
        self.available = len(references) - leave_one_out
        self._depth = 0
        self._lines: tuple[Codes, Floats] = (np.empty((0, 0), dtype=np.intp), np.empty((0, 0)))

    def nearest(self, k: int) -> Neighbourhood:
        """The k nearest, and every other reference at the distance of the k-th."""
        k = min(k, self.available)
        if k > self._depth:
            # Doubling bounds the number of searches for increasing k.
            self._depth = min(max(k, 2 * self._depth), self.available)
            found = self._product_candidates() if self._by_product() else self._plain_candidates()
            self._lines = trimmed(*self._sorted(found), self._depth)
        return nearest_hood(self.metric, *self._lines, k)

    def within(self, radius: float) -> Neighbourhood:
        """All references within the radius; the nearest for a row without any."""
        return radius_hood(*self._sorted(self._radius_candidates(radius)), radius)

    def everything(self) -> Iterator[tuple[slice, Neighbourhood]]:
        """All references, for some rows after the other; a row left out is infinitely far from itself."""
        for start, stop in self._chunks():
            powers = self._powers(start, stop)
            own = np.isinf(powers)
            lengths = self.metric.lengths(powers)
            lengths[own] = np.inf
            hood = Neighbourhood(np.arange(len(self.references)), lengths, ~own, lengths.max(axis=1))
            yield slice(start, stop), hood

    def _sorted(self, found: Iterator[Candidates]) -> tuple[Codes, Floats]:
        rows, columns, values = (np.concatenate(part) for part in zip(*found, strict=True))
        return sorted_lines(rows, columns, values, len(self.queries))

    def _chunks(self) -> Iterator[tuple[int, int]]:
        size = max(CHUNK // len(self.references), 1)
        for start in range(0, len(self.queries), size):
            yield start, min(start + size, len(self.queries))

    def _powers(self, start: int, stop: int) -> Floats:
        powers = self.metric.powers(self.queries[start:stop], self.references)
        self._exclude(powers, start, stop)
        return powers

    def _exclude(self, powers: Floats, start: int, stop: int) -> None:
        if self.leave_one_out:
            powers[np.arange(stop - start), np.arange(start, stop)] = np.inf

    def _by_product(self) -> bool:
        return self.metric.quadratic and self.queries.size * len(self.references) > PRODUCT_WORK

    def _plain_candidates(self) -> Iterator[Candidates]:
        for start, stop in self._chunks():
            rows, columns, powers = near_candidates(self._powers(start, stop), self._depth)
            yield start + rows, columns, powers

    def _radius_candidates(self, radius: float) -> Iterator[Candidates]:
        for start, stop in self._chunks():
            rows, columns, lengths = radius_candidates(self.metric.lengths(self._powers(start, stop)), radius)
            yield start + rows, columns, lengths

    def _product_candidates(self) -> Iterator[Candidates]:
        """|q - r|² = |q|² + |r|² - 2 q·r is fast, but its rounding errors are relative to |q|² + |r|². It selects
        candidates with a margin for this error; where the error matters, the distance is computed from differences."""
        weights = self.metric.placement.weights
        centre, roots = self.references.mean(axis=0), np.sqrt(weights)
        references = (self.references - centre) * roots
        squares = np.square(references).sum(axis=1)
        factors = np.vstack([-2.0 * references.T, squares])
        rounding = 4.0 * np.finfo(np.float64).eps * (len(factors) + 8)
        for start, stop in self._chunks():
            queries = np.ones((stop - start, len(factors)))
            np.multiply(self.queries[start:stop] - centre, roots, out=queries[:, :-1])
            sizes = np.square(queries[:, :-1]).sum(axis=1)
            errors = rounding * (sizes + squares.max())
            partial = queries @ factors
            self._exclude(partial, start, stop)
            bounds = upper_bounds(partial, self._depth)
            bounds += 2.0 * errors + TIE * np.maximum(bounds + sizes, 0.0)
            rows, columns = chosen_places(partial <= bounds[:, None])
            powers = partial[rows, columns] + sizes[rows]
            rough = np.flatnonzero(powers * NEGLIGIBLE < errors[rows])
            differences = self.queries[start + rows[rough]] - self.references[columns[rough]]
            powers[rough] = np.square(differences, out=differences) @ weights
            self.metric.settle(powers)
            yield start + rows, columns, powers


def near_candidates(powers: Floats, k: int) -> Candidates:
    """The k nearest of each row, those as near as the k-th, and a few others."""
    bounds = upper_bounds(powers, k) * (1.0 + TIE)
    rows, columns = chosen_places(powers <= bounds[:, None])
    return rows, columns, powers[rows, columns]


def radius_candidates(lengths: Floats, radius: float) -> Candidates:
    """All candidates within the radius; the nearest for a row without any."""
    bounds = np.maximum(lengths.min(axis=1), radius) * (1.0 + TIE)
    rows, columns = chosen_places(lengths <= bounds[:, None])
    return rows, columns, lengths[rows, columns]


def nearest_hood(metric: FittedDistance, columns: Codes, powers: Floats, k: int) -> Neighbourhood:
    """The neighbourhood of the k nearest, from sorted lines of candidates."""
    columns, powers = trimmed(columns, powers, k)
    lengths = metric.lengths(powers)
    members = powers <= powers[:, k - 1 : k] * (1.0 + TIE)
    return Neighbourhood(columns, np.where(members, lengths, lengths[:, k - 1 : k]), members, lengths[:, k - 1])


def radius_hood(columns: Codes, lengths: Floats, radius: float) -> Neighbourhood:
    """The neighbourhood within the radius, from sorted lines of candidates."""
    reach = np.maximum(lengths[:, 0], radius)
    members = lengths <= reach[:, None] * (1.0 + TIE)
    return Neighbourhood(columns, np.where(members, lengths, reach[:, None]), members, reach)


def trimmed(columns: Codes, powers: Floats, k: int) -> tuple[Codes, Floats]:
    """Lines cut to the k nearest and those as near as the k-th, to the largest number over the rows."""
    needed = int((powers <= powers[:, k - 1 : k] * (1.0 + TIE)).sum(axis=1).max())
    return columns[:, :needed], powers[:, :needed]
