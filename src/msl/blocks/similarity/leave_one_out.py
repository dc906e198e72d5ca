"""Leave-one-out outputs of similarity-based learners on a fixed table, exact and without refits.

A learner that compares with all rows needs one matrix of distances for all fits: leaving out a row means ignoring its
column. Between settings that differ in a few feature weights only a few terms of the matrix change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import daxpy
from sklearn.base import clone

from msl.blocks.base.block import Block, Codes, Floats, LooResult
from msl.blocks.numerics.matrices import sorted_lines
from msl.blocks.similarity.distances import Distance
from msl.blocks.similarity.fitted_distance import FittedDistance, feature_importance, fit_metric
from msl.blocks.similarity.knn import (
    SimilarityClassifier,
    SimilarityLearner,
    SimilarityRegressor,
    SimilaritySettings,
    risk_matrix,
    similarity_matrix,
    votes_of,
)
from msl.blocks.similarity.neighbour_search import (
    TIE,
    Neighbourhood,
    Neighbours,
    near_candidates,
    nearest_hood,
    radius_candidates,
    radius_hood,
)
from msl.blocks.similarity.reference_points import AllRows
from msl.blocks.similarity.weightings import (
    FieldWeighting,
    NeighbourWeighting,
    Weighting,
    class_outputs,
    number_outputs,
)
from msl.diagnostics.user_error import UserError


@dataclass(frozen=True, slots=True)
class Terms:
    """The distances between all rows, feature by feature; `columns` are the features of the terms."""

    metric: FittedDistance
    columns: Codes
    sums: PartialSums


class LeaveOneOut:
    """The outputs of a similarity-based learner for each row of a table, fitted on all other rows.

    Use one object for many settings on the same table: it keeps the distances of each feature, within `memory` bytes.
    """

    def __init__(self, X: Floats, y: NDArray[Any], n_classes: int, memory: int = 1 << 28) -> None:
        """`y` holds class codes, or numbers if `n_classes` is 0."""
        if len(X) < 2:
            raise UserError("leave-one-out needs at least two rows")
        # Sorted by class, so that the nearest row of each class is the minimum of a contiguous block.
        self._order = np.argsort(y, kind="stable") if n_classes else np.arange(len(X))
        self._X = np.ascontiguousarray(X[self._order])
        self._y = y[self._order]
        self._n_classes = n_classes
        self._memory = memory
        self._terms: dict[Hashable, Terms] = {}
        if n_classes:
            counts = np.bincount(self._y, minlength=n_classes)
            stops = np.cumsum(counts)
            self._spans = [slice(stop - count, stop) for stop, count in zip(stops, counts, strict=True)]
            self._own = np.eye(n_classes)[self._y]
            self._frequency = counts - self._own

    def outputs(
        self,
        features: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        distance: str | Distance = "euclidean",
        k: int = 1,
        weighting: str | Weighting = "uniform",
    ) -> Floats:
        """Class probabilities (rows, classes) or predictions (rows) of the learner with these parameters."""
        kind = SimilarityClassifier if self._n_classes else SimilarityRegressor
        return self.outputs_of(kind(features, weights, distance, k, weighting))

    @staticmethod
    def serves(learner: Block) -> bool:
        """Whether `loo` accepts this learner."""
        return isinstance(learner, SimilarityLearner) and on_all_rows(learner.setting())

    def loo(self, learner: SimilarityLearner) -> LooResult:
        """The leave-one-out outputs of a learner, and its mean complexity and number of features."""
        setting = learner.setting()
        features = np.count_nonzero(feature_importance(setting.features, setting.weights, self._X.shape[1]))
        return LooResult(self.outputs_of(learner), float((len(self._X) - 1) * features), float(features))

    def outputs_of(self, learner: SimilarityLearner) -> Floats:
        """The leave-one-out outputs of a learner."""
        setting = learner.setting()
        if not on_all_rows(setting):
            raise UserError("leave-one-out without refits needs a similarity learner on all rows with hard classes")
        setting.weighting.check()
        importance = feature_importance(setting.features, setting.weights, self._X.shape[1])
        if is_fitted_to_rows(setting):
            outputs = self._refitted(learner)
        elif (terms := self._terms_of(setting)) is not None:
            outputs = self._from_powers(terms, importance, setting)
        else:
            outputs = self._from_rows(importance, setting)
        ordered = np.empty_like(outputs)
        ordered[self._order] = outputs
        return ordered

    def _metric(self, setting: SimilaritySettings, importance: Floats) -> FittedDistance:
        return fit_metric(
            self._X,
            self._y,
            self._n_classes,
            setting.distance,
            importance,
            setting.numbers,
            setting.symbols,
            setting.symbolic_columns,
        )

    def _terms_of(self, setting: SimilaritySettings) -> Terms | None:
        """The distances of each feature; None if the distance is not their sum, if they need too much memory, or if all
        references vote, so that there are no candidates to select."""
        rows, features = self._X.shape
        if isinstance(setting.weighting, FieldWeighting):
            return None
        if not setting.distance.decomposable or 2 * features * rows * rows * 8 > self._memory:
            return None
        slots = setting.distance, setting.numbers, setting.symbols
        key = (*(slot.identity() for slot in slots), setting.symbolic_columns)
        if key not in self._terms:
            terms = self._new_terms(setting)
            if terms is None:
                return None
            while sum(kept.sums.nbytes for kept in [*self._terms.values(), terms]) > self._memory:
                del self._terms[next(iter(self._terms))]
            self._terms[key] = terms
        return self._terms[key]

    def _new_terms(self, setting: SimilaritySettings) -> Terms | None:
        metric = self._metric(setting, np.ones(self._X.shape[1]))
        if metric.placement.unit != 1.0:
            # A feature of extreme scale would cost the others their digits, even if it is switched off.
            return None
        placed = metric.place(self._X)
        terms = np.empty((self._X.shape[1], len(self._X), len(self._X)))
        for place, values in enumerate(placed.T[: len(metric.numeric)]):
            metric.distance.terms(values, values, out=terms[place])
        for place, special in enumerate(metric.specials, start=len(metric.numeric)):
            gaps = special.gaps.between(placed[:, place], placed[:, place])
            terms[place] = metric.special_term(gaps, weight=1.0)
        columns = np.array([*metric.numeric, *(special.column for special in metric.specials)], dtype=np.intp)
        return Terms(metric, columns, PartialSums(terms))

    def _from_rows(self, importance: Floats, setting: SimilaritySettings) -> Floats:
        metric = self._metric(setting, importance)
        placed = metric.place(self._X)
        query = Neighbours(metric, placed, placed, leave_one_out=True)
        weighting = setting.weighting
        sizes = weighting.sizes(metric, placed, None) if isinstance(weighting, FieldWeighting) else None
        rows = np.arange(len(placed))
        parts = [self._voted(hood, votes, setting, rows[part]) for part, hood, votes in votes_of(query, setting, sizes)]
        return np.concatenate(parts)

    def _from_powers(self, terms: Terms, importance: Floats, setting: SimilaritySettings) -> Floats:
        weights = importance[terms.columns]
        powers = terms.sums.at(weights)
        powers.reshape(-1)[:: len(powers) + 1] = np.inf
        plain = setting.radius is None and setting.risk is None and setting.class_similarity is None
        assert isinstance(setting.weighting, NeighbourWeighting)
        everything = np.arange(len(powers))
        if not (self._n_classes and setting.k == 1 and plain):
            hood = hood_of_powers(terms, weights, powers, setting, everything)
            return self._voted(hood, setting.weighting.shares(hood), setting, everything)
        outputs, unclear = self._nearest_class(powers)
        if len(unclear):
            hood = hood_of_powers(terms, weights, powers[unclear], setting, unclear)
            outputs[unclear] = self._voted(hood, setting.weighting.shares(hood), setting, unclear)
        return outputs

    def _nearest_class(self, powers: Floats) -> tuple[Floats, Codes]:
        """For one neighbour: the class of the nearest rows where they agree, and the rows where they do not."""
        nearest = np.empty((self._n_classes, len(powers)))
        for code, span in enumerate(self._spans):
            # The matrix is symmetric, and minima over rows are faster.
            powers[span].min(axis=0, initial=np.inf, out=nearest[code])
        near = nearest <= nearest.min(axis=0) * (1.0 + TIE)
        several = np.count_nonzero(near) > len(powers)
        unclear = np.flatnonzero(near.sum(axis=0) > 1) if several else np.empty(0, dtype=np.intp)
        return near.T.astype(np.float64), unclear

    def _voted(self, hood: Neighbourhood, votes: Floats, setting: SimilaritySettings, rows: Codes) -> Floats:
        if not self._n_classes:
            return number_outputs(hood, votes, np.asarray(self._y, dtype=np.float64))
        similarity = similarity_matrix(setting, self._n_classes)
        probabilities = self._own if similarity is None else self._own @ similarity
        risk = risk_matrix(setting, self._n_classes)
        return class_outputs(hood, votes, probabilities, self._frequency[rows], risk)

    def _refitted(self, learner: SimilarityLearner) -> Floats:
        """One fit for each row, for distances and weightings that are fitted to the training rows."""
        outputs = []
        for row in range(len(self._X)):
            others = np.arange(len(self._X)) != row
            fitted = clone(learner)
            fitted.fit_arrays(self._X[others], self._y[others], self._n_classes)
            outputs.append(fitted.outputs(self._X[row : row + 1])[0])
        return np.array(outputs)


def on_all_rows(setting: SimilaritySettings) -> bool:
    """Whether the learner compares with all training rows, each with its own target."""
    return isinstance(setting.references, AllRows) and not setting.soft


def is_fitted_to_rows(setting: SimilaritySettings) -> bool:
    """Whether leaving out a row changes the distances between the others, or the weights of their votes."""
    weighting = setting.weighting
    return (
        setting.distance.fitted_to_rows
        or setting.symbols.fitted_to_rows
        or setting.numbers.fitted_to_rows
        or (isinstance(weighting, FieldWeighting) and weighting.sizes_depend_on_references)
    )


def hood_of_powers(
    terms: Terms, weights: Floats, powers: Floats, setting: SimilaritySettings, rows: Codes
) -> Neighbourhood:
    """The neighbourhoods of the given rows, from their lines of the matrix of powers, infinite from a row to itself.

    The matrix selects the candidates. Their powers are then summed again in a fixed order, so that the outputs do not
    depend on earlier calls, not even in the last digit.
    """
    if setting.radius is None:
        k = min(setting.k, powers.shape[1] - 1)
        lines, columns, _ = near_candidates(powers, k)
    else:
        lines, columns, _ = radius_candidates(terms.metric.lengths(powers), setting.radius)
    sums = terms.sums.entries(weights, rows[lines], columns)
    order, sorted_powers = sorted_lines(lines, columns, sums, len(rows))
    if setting.radius is None:
        return nearest_hood(terms.metric, order, sorted_powers, k)
    return radius_hood(order, terms.metric.lengths(sorted_powers), setting.radius)


# --- A sum of matrices that is updated when a few weights change ------------------------------------------------------
#
# Subtracting a term from a sum leaves rounding errors relative to the size of the term, which break ties and make zero
# distances non-zero. So nothing is subtracted: sums over ranges of terms are kept in a segment tree, and the sum
# without a few terms is added up from the ranges that do not contain them.

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
