"""LogitBoost on shallow regression trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import Codes, Floats, ProbabilisticClassifier
from msl.blocks.numerics.class_statistics import present_classes, probabilities_of_all
from msl.blocks.public import public

#: The limit of the working response, which is large for rows with confident wrong predictions. It is that of CLOP; the
#: authors of LogitBoost recommend 2 to 4.
LARGEST_RESPONSE = 10.0
#: The smallest weight of a row, for rows with confident right predictions.
LEAST_WEIGHT = 1e-15


@public
class LogitBoost(ProbabilisticClassifier):
    """Additive logistic regression by Newton steps, each fitted by a regression tree (LogitBoost).

    Two classes take one tree a round (algorithm 3), more classes one tree a class and round (algorithm 6) of Friedman,
    Hastie and Tibshirani (2000), Additive logistic regression, Annals of Statistics 28.

    Parameters
    ----------
    units : int
        The number of rounds.
    shrinkage : float
        The learning rate.
    depth : int
        The number of levels of splits in a tree.
    """

    takes_weights = True
    #: Sorting the rows depends on no parameter.
    shared_parameters = frozenset()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "units": [Interval(Integral, 1, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="neither")],
        "depth": [Interval(Integral, 1, 16, closed="both")],
    }

    def __init__(self, units: int = 50, shrinkage: float = 0.3, depth: int = 1) -> None:
        self.units = units
        self.shrinkage = shrinkage
        self.depth = depth

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> SortedRows:
        return SortedRows.of(X)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        self.fit_prepared(self.prepare(X, y, n_classes), X, y, n_classes, weights)

    def fit_prepared(
        self, prepared: SortedRows, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None
    ) -> None:
        self.n_classes_ = n_classes
        self.present_, codes = present_classes(y, n_classes)
        n_present = len(self.present_)
        if n_present == 1:
            self.trees_ = ShallowTrees.empty(0, self.depth)
        elif n_present == 2:
            self.trees_ = self._fit_two(prepared, codes, weights)
        else:
            self.trees_ = self._fit_many(prepared, codes, n_present, weights)

    def _fit_two(self, rows: SortedRows, codes: Codes, counts: Floats | None) -> ShallowTrees:
        trees = ShallowTrees.empty(self.units, self.depth)
        score = np.zeros(len(codes))
        for tree in range(self.units):
            score += self.shrinkage / 2.0 * grow_tree(trees, tree, rows, codes == 1, expit(2.0 * score), counts)
        return trees

    def _fit_many(self, rows: SortedRows, codes: Codes, n_present: int, counts: Floats | None) -> ShallowTrees:
        trees = ShallowTrees.empty(self.units * n_present, self.depth)
        is_class = codes[:, np.newaxis] == np.arange(n_present)
        sums = np.zeros(is_class.shape)
        for first_tree in range(0, self.units * n_present, n_present):
            probability = softmax(self._symmetric(sums), axis=1)
            for code in range(n_present):
                own, p = is_class[:, code], probability[:, code]
                sums[:, code] += grow_tree(trees, first_tree + code, rows, own, p, counts)
        return trees

    def _symmetric(self, sums: Floats) -> Floats:
        """Scores from the sums of trees: they sum to zero over the classes, as in the authors' symmetric model."""
        n_present = sums.shape[1]
        scores: Floats = self.shrinkage * (n_present - 1) / n_present * (sums - sums.mean(axis=1, keepdims=True))
        return scores

    def outputs(self, X: Floats) -> Floats:
        return self._of_sums(self.trees_.sums(X, self._trees_a_round), len(X))

    @property
    def _trees_a_round(self) -> int:
        return len(self.present_) if len(self.present_) > 2 else 1

    def _of_sums(self, sums: Floats, n_rows: int) -> Floats:
        """The outputs, from the sums of the trees' values."""
        if len(self.present_) == 1:
            probabilities = np.ones((n_rows, 1))
        elif len(self.present_) == 2:
            second = expit(self.shrinkage * sums)
            probabilities = np.hstack([1.0 - second, second])
        else:
            probabilities = softmax(self._symmetric(sums), axis=1)
        return probabilities_of_all(probabilities, self.present_, self.n_classes_)

    def with_less(self, parameter: str, value: int) -> Self:
        smaller = super().with_less(parameter, value)
        smaller.trees_ = self.trees_.first(value * self._trees_a_round)
        return smaller

    def path_outputs(self, X: Floats, query: Any = None) -> Callable[[LogitBoost], Floats]:
        running = RunningSums(self.trees_, X, self._trees_a_round)
        return lambda smaller: smaller._of_sums(running.of_first(len(smaller.trees_.features)), len(X))

    def complexity(self) -> float:
        """The number of leaves of all trees."""
        return float(self.trees_.n_leaves())


def grow_tree(
    trees: ShallowTrees, tree: int, rows: SortedRows, is_class: NDArray[np.bool_], p: Floats, counts: Floats | None
) -> Floats:
    """One Newton step: a tree fitted to the working response of a class with the current probability `p`.

    A row counts as `counts` says, or once.
    """
    weights = np.maximum(p * (1.0 - p), LEAST_WEIGHT)
    response = np.clip((is_class - p) / weights, -LARGEST_RESPONSE, LARGEST_RESPONSE)
    return trees.grow(tree, rows, weights if counts is None else weights * counts, response)


# --- Shallow regression trees, fitted by weighted least squares -------------------------------------------------------
#
# Boosting grows thousands of small trees on the same rows. The rows are therefore sorted by every feature only once,
# and a split keeps both halves sorted.


Bools = NDArray[np.bool_]

#: The largest number of tree-and-row pairs that a prediction holds at once.
PAIRS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Split:
    """The split of a node: rows whose feature is not above the threshold, here `members`, go left."""

    feature: int
    threshold: float
    members: Codes


@dataclass(frozen=True, slots=True)
class SortedRows:
    """The rows of a node by each feature: the row numbers `order[j]` and their values `values[j]`, ascending."""

    order: Codes
    values: Floats

    @classmethod
    def of(cls, X: Floats) -> SortedRows:
        columns = np.ascontiguousarray(X.T)
        order = np.argsort(columns, axis=1, kind="stable")
        return cls(order, np.take_along_axis(columns, order, axis=1))

    def halves(self, goes_left: Bools) -> tuple[SortedRows, SortedRows]:
        left = goes_left.take(self.order).ravel()
        return self._part(left), self._part(~left)

    def _part(self, chosen: Bools) -> SortedRows:
        shape = len(self.order), -1
        order, values = self.order.ravel().compress(chosen), self.values.ravel().compress(chosen)
        return SortedRows(order.reshape(shape), values.reshape(shape))

    def best_split(self, weights: Floats, residuals: Floats, noise: float) -> Split | None:
        """The split that lowers the weighted sum of squares most, the first on a tie; None if the gain is only noise.

        `residuals` are weighted distances from the node's mean, so they sum to zero over its rows, and a split gains
        S² / W_left + S² / W_right with S their sum on its left.
        """
        if self.order.shape[1] < 2:
            return None
        # Both sums at once as one complex sum, which takes no longer than a real one.
        sums = (weights + 1j * residuals).take(self.order[:, :-1]).cumsum(axis=1)
        total = weights.take(self.order[0]).sum()
        left_weight = sums.real
        right_weight = np.maximum(total - left_weight, np.finfo(np.float64).eps * total)
        gain = sums.imag**2
        gain /= left_weight
        gain /= right_weight
        gain *= self.values[:, 1:] > self.values[:, :-1]
        feature, place = divmod(int(gain.argmax()), gain.shape[1])
        if gain[feature, place] * total <= noise:
            return None
        threshold = midpoint(self.values[feature, place], self.values[feature, place + 1])
        return Split(feature, threshold, self.order[feature, : place + 1])


def midpoint(below: float, above: float) -> float:
    """The mean of two values, or the lower one where rounding would give the upper one."""
    middle = below / 2.0 + above / 2.0
    return float(middle if below <= middle < above else below)


@public
@dataclass(frozen=True, slots=True)
class ShallowTrees:
    """Trees of one depth, one a row, each stored as a heap: the children of node i are 2i + 1 and 2i + 2.

    A node that did not split has an infinite threshold, so that all rows go left from it.
    """

    depth: int
    features: Codes
    thresholds: Floats
    values: Floats

    @classmethod
    def empty(cls, n_trees: int, depth: int) -> ShallowTrees:
        n_inner = 2**depth - 1
        features = np.zeros((n_trees, n_inner), dtype=np.intp)
        return cls(depth, features, np.full((n_trees, n_inner), np.inf), np.zeros((n_trees, n_inner + 1)))

    def grow(self, tree: int, rows: SortedRows, weights: Floats, response: Floats) -> Floats:
        """Grows one tree and returns its value for each row."""
        fitted = np.empty_like(response)
        weighted = weights * response
        squares = weighted * response
        pending: list[tuple[int, int, Codes, SortedRows | None]] = [(0, 0, rows.order[0], rows)]
        while pending:
            node, level, members, sorted_rows = pending.pop()
            mean = weighted.take(members).sum() / weights.take(members).sum()
            split = None
            if sorted_rows is not None:
                noise = np.finfo(np.float64).eps * squares.take(members).sum()
                split = sorted_rows.best_split(weights, weighted - weights * mean, noise)
            if sorted_rows is None or split is None:
                fitted[members] = mean
                leftmost_leaf = (node + 1) * 2 ** (self.depth - level) - 2**self.depth
                self.values[tree, leftmost_leaf] = mean
                continue
            self.features[tree, node] = split.feature
            self.thresholds[tree, node] = split.threshold
            goes_left = np.zeros(len(response), dtype=bool)
            goes_left[split.members] = True
            # Leaves need no sorted rows, and keeping them sorted is half of the work.
            left, right = sorted_rows.halves(goes_left) if level + 1 < self.depth else (None, None)
            right_members = members[~goes_left.take(members)]
            pending += [(2 * node + 2, level + 1, right_members, right), (2 * node + 1, level + 1, split.members, left)]
        return fitted

    def n_leaves(self) -> int:
        """The number of leaves: one for each tree and one for each split."""
        return int(np.isfinite(self.thresholds).sum()) + len(self.features)

    def sums(self, X: Floats, n_groups: int) -> Floats:
        """The sums of the trees' values for the rows of X, one column a group; tree i is in group i mod `n_groups`."""
        columns = np.ascontiguousarray(X.T)
        total = np.zeros((n_groups, len(X)))
        step = at_once(n_groups, len(X))
        for start in range(0, len(self.features), step):
            values = self.values_at(columns, slice(start, start + step))
            total += values.reshape(-1, n_groups, len(X)).sum(axis=0)
        return total.T

    def first(self, n_trees: int) -> ShallowTrees:
        return ShallowTrees(self.depth, self.features[:n_trees], self.thresholds[:n_trees], self.values[:n_trees])

    def values_at(self, columns: Floats, trees: slice) -> Floats:
        features, thresholds = self.features[trees], self.thresholds[trees]
        n_rows = columns.shape[1]
        row = np.arange(n_rows)
        node = np.zeros((len(features), n_rows), dtype=np.intp)
        for _ in range(self.depth):
            cell = np.take_along_axis(features, node, axis=1) * n_rows + row
            goes_right = columns.ravel().take(cell) > np.take_along_axis(thresholds, node, axis=1)
            node *= 2
            node += 1
            node += goes_right
        return np.take_along_axis(self.values[trees], node - (2**self.depth - 1), axis=1)


def at_once(n_groups: int, n_rows: int) -> int:
    """How many trees are summed at once, before their sum is added to that of the trees before them."""
    return max(1, PAIRS_AT_ONCE // (n_groups * n_rows)) * n_groups


class RunningSums:
    """`ShallowTrees.sums` of the first trees for ascending numbers of trees, in the same order of additions."""

    def __init__(self, trees: ShallowTrees, X: Floats, n_groups: int) -> None:
        self._trees, self._X, self._n_groups = trees, X, n_groups
        self._columns = np.ascontiguousarray(X.T)
        self._step = at_once(n_groups, len(X))
        self._start(0)

    def _start(self, n_trees: int) -> None:
        self._done = n_trees
        self._before = np.zeros((self._n_groups, len(self._X)))
        self._part = np.zeros_like(self._before)

    def of_first(self, n_trees: int) -> Floats:
        if len(self._X) * self._n_groups == 1:  # a single line of numbers is summed in pairs
            return self._trees.first(n_trees).sums(self._X, self._n_groups)
        if n_trees < self._done:
            self._start(0)
        while self._done < n_trees:
            if self._done % self._step == 0 and self._done:
                self._before, self._part = self._before + self._part, np.zeros_like(self._before)
            stop = min(n_trees, self._done - self._done % self._step + self._step)
            values = self._trees.values_at(self._columns, slice(self._done, stop))
            for values_of_round in values.reshape(-1, self._n_groups, len(self._X)):
                self._part = self._part + values_of_round
            self._done = stop
        return (self._before + self._part).T
