"""Partial sums: a weighted sum of matrices that follows small changes of its weights without losing digits.

Subtracting a term from a sum leaves rounding noise as large as what was subtracted, which breaks ties and makes zero
distances non-zero. So nothing is ever subtracted: sums over ranges of terms are kept in a tree, and the sum without a
few terms is put together from the ranges that lack them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.linalg.blas import daxpy

from msl.blocks.base.block import Codes, Floats

#: More changed weights than this make a fresh sum over all terms cheaper.
FEW = 6
#: Ranges of up to so many terms are added term by term, which saves memory that must be written.
LEAF = 4

Range = tuple[int, int]
#: A matrix and the factor it is to be added with.
Part = tuple[Floats, float]


class PartialSums:
    """Σ w_i T_i of non-negative terms T and weights w, for weights that mostly change a few at a time.

    When weights only grow, what they grow by is added to the last sum. Else the tree serves, which stands at a base
    setting of the weights: a setting near it is reached from sums of the unchanged terms, without moving the tree.
    The base follows what consecutive settings have in common.
    """

    def __init__(self, terms: Floats) -> None:
        """`terms` is (terms, rows, columns)."""
        self._terms = terms
        self._flat = terms.reshape(len(terms), -1)
        self._base: Floats = np.zeros(len(terms))
        self._last: Floats = np.zeros(len(terms))
        self._sum: Floats = np.zeros(terms.shape[1:])
        self._scratch: Floats = np.zeros(terms.shape[1:])
        self._inside: dict[Range, Floats] = {}
        self._fresh: set[Range] = set()
        #: Ranges from large to small, each with what the sum outside of it consists of.
        self._path: list[tuple[Range, list[Part]]] = []
        self._outside: dict[int, Floats] = {}

    @property
    def nbytes(self) -> int:
        """The memory that terms and tree may take."""
        return 2 * self._terms.nbytes

    def at(self, weights: Floats) -> Floats:
        """The sum at these weights, in a matrix that the next call changes. The caller may set entries of it to
        infinity whose terms are all zero, for good."""
        steps = weights - self._last
        changed = np.flatnonzero(steps)
        if len(changed) <= FEW and steps[changed].min(initial=0.0) >= 0.0:
            for place in changed:
                daxpy(self._flat[place], self._sum.reshape(-1), a=steps[place])
        else:
            self._follow(weights)
            self._sum_near_base(weights)
        self._last = weights.copy()
        return self._sum

    def entries(self, weights: Floats, rows: Codes, columns: Codes) -> Floats:
        """Some entries of the sum at these weights, added up in the order of the terms: the sums of `at` differ in
        their last digits by the way that led to them, these never do."""
        used = np.flatnonzero(weights)
        return np.asarray((self._terms[used[:, None], rows, columns] * weights[used, None]).sum(axis=0))

    def _follow(self, weights: Floats) -> None:
        """Moves the base where the last two settings agree; sums that this changes are computed when needed."""
        places = np.flatnonzero((weights == self._last) & (weights != self._base))
        if len(places):
            self._base[places] = weights[places]
            low, high = int(places[0]), int(places[-1])
            self._fresh = {span for span in self._fresh if not np.any((places >= span[0]) & (places < span[1]))}
            self._path = [step for step in self._path if step[0][0] <= low and high < step[0][1]]

    def _sum_near_base(self, weights: Floats) -> None:
        changed = np.flatnonzero(weights != self._base).tolist()
        if len(changed) > FEW:
            np.matmul(weights, self._flat, out=self._sum.reshape(-1))
            return
        if len(changed) == 1:
            rest = self._sum_without(changed[0])
        else:
            spans = ranges_without((0, len(weights)), changed)
            rest = [part for span in spans for part in self._range_sum(span)]
        self._add([*self._scaled(changed, weights[changed]), *rest], self._sum)

    def _sum_without(self, place: int) -> list[Part]:
        """The sum of all terms but one at the base. What lies outside of a range is what lies outside of the range
        around it, and the other half of that: the way to a place nearby is mostly known."""
        low, high = 0, len(self._base)
        parts: list[Part] = []
        for depth in range(high):
            if high - low == 1:
                break
            middle = (low + high) // 2
            sibling = (middle, high) if place < middle else (low, middle)
            low, high = (low, middle) if place < middle else (middle, high)
            if depth == len(self._path) or self._path[depth][0] != (low, high):
                del self._path[depth:]
                parts = [*parts, *self._range_sum(sibling)]
                if len(parts) > 1:
                    matrix = self._outside.setdefault(depth, np.empty_like(self._sum))
                    self._add(parts, matrix)
                    parts = [(matrix, 1.0)]
                self._path.append(((low, high), parts))
            parts = self._path[depth][1]
        return parts

    def _scaled(self, places: Iterable[int], weights: Iterable[float]) -> Iterator[Part]:
        return ((self._terms[place], float(weight)) for place, weight in zip(places, weights, strict=True) if weight)

    def _range_sum(self, span: Range) -> list[Part]:
        """What to add for the sum of the terms of a range at the base: nothing when they have no weight."""
        low, high = span
        if high - low <= LEAF:
            return list(self._scaled(range(low, high), self._base[low:high]))
        if span not in self._fresh:
            middle = (low + high) // 2
            parts = [*self._range_sum((low, middle)), *self._range_sum((middle, high))]
            if len(parts) < 2:
                return parts
            self._add(parts, self._inside.setdefault(span, np.empty_like(self._sum)))
            self._fresh.add(span)
        return [(self._inside[span], 1.0)]

    def _add(self, parts: list[Part], out: Floats) -> None:
        if not parts:
            out.fill(0.0)
        for place, (matrix, factor) in enumerate(parts):
            if place == 0:
                np.multiply(matrix, factor, out=out)
            elif factor == 1.0:
                out += matrix
            else:
                np.multiply(matrix, factor, out=self._scratch)
                out += self._scratch


def ranges_without(span: Range, lacking: list[int]) -> Iterator[Range]:
    """The largest ranges of the tree below `span` that hold none of the given places."""
    low, high = span
    inside = [place for place in lacking if low <= place < high]
    if not inside:
        yield span
    elif high - low > 1:
        middle = (low + high) // 2
        yield from ranges_without((low, middle), inside)
        yield from ranges_without((middle, high), inside)
