"""A weighted sum of matrices that is updated when a few weights change, without losing digits.

Subtracting a term from a sum leaves rounding errors relative to the size of the term, which break ties and make zero
distances non-zero. So nothing is subtracted: sums over ranges of terms are kept in a segment tree, and the sum without
a few terms is added up from the ranges that do not contain them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.linalg.blas import daxpy

from msl.blocks.base.block import Codes, Floats

#: If more weights change than this, a new sum over all terms is cheaper.
FEW = 6
#: Ranges of up to this many terms are not stored but added term by term, which saves memory traffic.
LEAF = 4

Range = tuple[int, int]
#: A matrix and its factor in the sum.
Part = tuple[Floats, float]


class PartialSums:
    """Σ w_i T_i of non-negative terms T and weights w, for weights of which mostly a few change at a time.

    If weights only increase, the increase is added to the last sum. Otherwise the tree is used. It holds sums for base
    weights; the sum for weights that differ from the base in a few places is made of sums of the unchanged terms. The
    base moves to the weights that consecutive calls have in common.
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
        #: Nested ranges, the largest first, each with the parts of the sum outside of it.
        self._path: list[tuple[Range, list[Part]]] = []
        self._outside: dict[int, Floats] = {}

    @property
    def nbytes(self) -> int:
        """The most memory that terms and tree can take."""
        return 2 * self._terms.nbytes

    def at(self, weights: Floats) -> Floats:
        """The sum for these weights, in a matrix that the next call overwrites. The caller may set entries whose terms
        are all zero to infinity, where they stay."""
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
        """Some entries of the sum for these weights, added in the order of the terms. The last digits of `at` depend on
        earlier calls; these do not."""
        used = np.flatnonzero(weights)
        return np.asarray((self._terms[used[:, None], rows, columns] * weights[used, None]).sum(axis=0))

    def _follow(self, weights: Floats) -> None:
        """Moves the base to the weights that the last two calls share; sums that change are recomputed when needed."""
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
        """The sum of all terms but one at the base weights. The sum outside a range is the sum outside its parent plus
        the sum of its sibling, so that most of it is known from the last call for a term nearby."""
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
        """The parts of the sum over a range at the base weights; none if all its weights are zero."""
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
    """The largest ranges of the tree below `span` that contain none of the given places."""
    low, high = span
    inside = [place for place in lacking if low <= place < high]
    if not inside:
        yield span
    elif high - low > 1:
        middle = (low + high) // 2
        yield from ranges_without((low, middle), inside)
        yield from ranges_without((middle, high), inside)
