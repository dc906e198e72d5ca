"""Random forests with scikit-learn's trees, grown faster on small tables and shared between forests of several sizes.

The first 100 trees of a forest of 1000 are the forest of 100 with the same seed. Forests that differ only in their
number of trees therefore grow, and predict with, the same trees.
"""

from __future__ import annotations

import inspect
from math import sqrt
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import BlockLearner, BlockRegressor, Codes, Floats, ProbabilisticClassifier
from msl.blocks.numerics.class_statistics import balanced_weights, class_totals, present_classes, probabilities_of_all
from msl.blocks.numerics.safe_scaling import unit_scale
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

try:
    from sklearn.ensemble._forest import _generate_sample_indices
    from sklearn.tree._criterion import MSE, Gini
    from sklearn.tree._splitter import BestSplitter
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree
except ImportError:  # private names, which another release may not have
    _generate_sample_indices = None

#: Trees compare in single precision: columns larger than this are scaled down, columns smaller than one up.
LARGEST_SINGLE = 2.0**100
#: The sums of predictions are kept after every so many trees.
STRIDE = 64


class SharedTrees:
    """The trees of all forests that differ only in their number of trees, grown when they are needed.

    `n_classes` is 0 for regression.
    """

    def __init__(
        self,
        X: Floats,
        y: NDArray[Any],
        n_classes: int,
        max_features: int,
        weights: Floats | None,
        random_state: int | RandomState | None,
    ) -> None:
        self.scale = single_scale(X)
        self._rows = in_single(X, self.scale)
        self._growth = TreeGrowth(self._rows, y, n_classes, max_features, weights, random_state)
        self._trees: list[Any] = []
        self._leaves: list[int] = []

    def trees(self, units: int) -> list[Any]:
        """The first `units` trees."""
        if units > len(self._trees):
            self._trees = self._growth.grown(self._trees, units)
            self._leaves += [tree.n_leaves for tree in self._trees[len(self._leaves) :]]
        return self._trees[:units]

    def n_leaves(self, units: int) -> int:
        """The number of leaves of the first `units` trees, which must have been grown before."""
        return sum(self._leaves[:units])

    @property
    def nbytes(self) -> int:
        """An estimate of the memory in use: rows, nodes, and values of leaves."""
        nodes = sum(tree.node_count for tree in self._trees)
        values = self._trees[0].value[0].nbytes if self._trees else 0
        return int(self._rows.nbytes + nodes * (64 + values) + 2000 * len(self._trees))


class TreeSums:
    """The summed predictions of the first trees for some rows, kept after every STRIDE trees for other forests."""

    def __init__(self, rows: NDArray[np.float32]) -> None:
        self._rows = rows
        self._sums: list[Floats] = []
        #: The number of trees of the last forest and their sum, from which a forest with a few more goes on.
        self._last: tuple[int, Floats | float] = 0, 0.0

    def mean(self, trees: list[Any]) -> Floats:
        """The mean prediction, summed in the order of the trees: earlier calls do not change its last digits."""
        count, total = self._last
        if count <= len(trees) < count + STRIDE:
            total = self._added(trees[count:], total)
            self._last = len(trees), total
            return np.asarray(total / len(trees))
        while len(self._sums) < len(trees) // STRIDE:
            done = len(self._sums) * STRIDE
            self._sums.append(self._added(trees[done : done + STRIDE], self._sums[-1] if self._sums else 0.0))
        kept = len(trees) // STRIDE
        total = self._added(trees[kept * STRIDE :], self._sums[kept - 1] if kept else 0.0)
        self._last = len(trees), total
        return np.asarray(total / len(trees))

    def _added(self, trees: list[Any], total: Floats | float) -> Floats:
        for tree in trees:
            total = total + tree.predict(self._rows)
        return np.asarray(total)

    @property
    def nbytes(self) -> int:
        return int(self._rows.nbytes + sum(total.nbytes for total in (*self._sums, np.asarray(self._last[1]))))


class Forest(BlockLearner):
    """The parameters of both forests, and their fit.

    Parameters
    ----------
    units : int
        The number of trees.
    mtry : int or None
        The number of features that each split tries, at most all of them; None is the rounded square root of the
        number of features.
    mtry_in_roots : bool
        Whether `mtry` counts in square roots of the number of features: 2 tries twice as many as None.
    balance : bool
        Whether classes are weighted by their inverse frequency.
    random_state : int, RandomState or None
        The seed of the bootstrap samples and of the features that the splits try.
    """

    # Trees are added to those already grown, so what is shared depends on every parameter but their number.
    shared_parameters = frozenset({"mtry", "balance", "random_state", "mtry_in_roots"})
    takes_weights = True
    query_parameters = shared_parameters

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "units": [Interval(Integral, 1, None, closed="left")],
        "mtry": [Interval(Integral, 1, None, closed="left"), None],
        "balance": ["boolean"],
        "random_state": ["random_state"],
        "mtry_in_roots": ["boolean"],
    }

    def __init__(
        self,
        units: int = 100,
        mtry: int | None = None,
        balance: bool = False,
        random_state: int | RandomState | None = None,
        mtry_in_roots: bool = False,
    ) -> None:
        self.units = units
        self.mtry = mtry
        self.balance = balance
        self.random_state = random_state
        self.mtry_in_roots = mtry_in_roots

    def _shared_trees(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None) -> SharedTrees:
        tried = root_of_features(X.shape[1])
        if self.mtry is not None:
            tried = int(self.mtry * sqrt(X.shape[1])) if self.mtry_in_roots else self.mtry
        return SharedTrees(X, y, n_classes, min(X.shape[1], tried), weights, self.random_state)

    def fit_prepared(self, prepared: SharedTrees, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.scale_ = prepared.scale
        self.trees_ = prepared.trees(self.units)
        self.n_leaves_ = prepared.n_leaves(self.units)

    def with_less(self, parameter: str, value: int) -> Self:
        smaller = super().with_less(parameter, value)
        smaller.trees_ = self.trees_[:value]
        smaller.n_leaves_ = sum(tree.n_leaves for tree in smaller.trees_)
        return smaller

    def prepare_query(self, X: Floats) -> TreeSums:
        # The compiled trees check no bounds: they would read beyond the end of rows that are too short.
        if X.shape[1] != self.scale_.size:
            raise UserError(f"the forest was grown on {self.scale_.size} features, not {X.shape[1]}")
        return TreeSums(in_single(X, self.scale_))

    def complexity(self) -> float:
        """The number of leaves of all trees."""
        return float(self.n_leaves_)


@public
class ForestRegressor(Forest, BlockRegressor):
    """A random forest for regression (Breiman, 2001), as scikit-learn's `RandomForestRegressor`.

    `balance` has no effect; it is there so that one declaration serves both tasks.
    """

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> SharedTrees:
        return self._shared_trees(X, y, 0, None)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        """The bootstrap samples draw rows in proportion to their weights."""
        self.fit_prepared(self._shared_trees(X, y, 0, weights), X, y, n_classes)

    def outputs_prepared(self, query: TreeSums) -> Floats:
        return query.mean(self.trees_)[:, 0]


@public
class ForestClassifier(Forest, ProbabilisticClassifier):
    """A random forest for classification (Breiman, 2001), as scikit-learn's `RandomForestClassifier`."""

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> SharedTrees:
        present, codes = present_classes(y, n_classes)
        weights = balanced_weights(codes, len(present)) if self.balance else None
        return self._shared_trees(X, codes, len(present), weights)

    def fit_weighted(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats) -> None:
        """The bootstrap samples draw rows in proportion to their weights."""
        present, codes = present_classes(y, n_classes)
        if self.balance:
            weights = weights / class_totals(codes, len(present), weights)[codes]
        self.fit_prepared(self._shared_trees(X, codes, len(present), weights), X, y, n_classes)

    def fit_prepared(self, prepared: SharedTrees, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        self.present_, _ = present_classes(y, n_classes)
        super().fit_prepared(prepared, X, y, n_classes)

    def outputs_prepared(self, query: TreeSums) -> Floats:
        return probabilities_of_all(query.mean(self.trees_), self.present_, self.n_classes_)


def root_of_features(n_features: int) -> int:
    """How many features a split tries unless it is told otherwise."""
    return max(1, round(sqrt(n_features)))


def single_scale(X: Floats) -> Floats:
    """Powers of two that bring columns beyond single precision into it; splits do not depend on a column's scale."""
    scale = unit_scale(X, axis=0)
    return np.where(scale < 1.0 / LARGEST_SINGLE, np.minimum(scale, 1.0) * LARGEST_SINGLE, np.maximum(scale, 1.0))


def in_single(X: Floats, scale: Floats) -> NDArray[np.float32]:
    limit = np.finfo(np.float32).max
    with np.errstate(over="ignore"):
        return np.clip(X * scale, -limit, limit).astype(np.float32)


# --- Growing trees with scikit-learn's private classes ----------------------------------------------------------------
#
# On small tables scikit-learn's forests spend most of their time on creating, cloning and validating an estimator for
# each tree. The compiled classes below them are called directly here, with the same arguments, so the trees are the
# same, node by node. `python -m benchmarks.blocks forests` measures the gain: about ten times on 100 rows, twice on
# 400, half as much again on 1000, little beyond. A test compares the trees and fails when a release of scikit-learn
# changes these classes; until it is adapted, forests are grown by the public classes.


#: Whether scikit-learn has the private classes as they are used below, which it has since 1.9.
PRIVATE_API_KNOWN = _generate_sample_indices is not None and list(
    inspect.signature(_generate_sample_indices).parameters
) == ["random_state", "n_samples", "n_samples_bootstrap", "sample_weight"]
_DEEPEST = np.iinfo(np.int32).max


class TreeGrowth:
    """Grows one tree of a forest after another, with `max_features` tried at each split.

    `rows` are in single precision, `n_classes` is 0 for regression, and `weights` are those of the rows, None where
    all weigh the same.
    """

    def __init__(
        self,
        rows: NDArray[np.float32],
        y: Codes | Floats,
        n_classes: int,
        max_features: int,
        weights: Floats | None,
        random_state: Any,
    ) -> None:
        self._rows, self._y, self._n_classes, self._weights = rows, y, n_classes, weights
        self._forest: Any = None
        if not PRIVATE_API_KNOWN or np.isnan(rows).any():
            kind = RandomForestClassifier if n_classes else RandomForestRegressor
            self._forest = kind(max_features=max_features, n_jobs=1, random_state=random_state, warm_start=True)
            return
        self._seeds = check_random_state(random_state)
        self._targets = np.ascontiguousarray(y[:, np.newaxis], dtype=np.float64)
        self._counts = np.array([max(n_classes, 1)], dtype=np.intp)
        self._rng = np.random.RandomState()
        criterion = Gini(1, self._counts) if n_classes else MSE(1, len(rows))
        splitter = BestSplitter(criterion, max_features, 1, 0.0, self._rng, None)
        self._builder = DepthFirstTreeBuilder(splitter, 2, 1, 0.0, _DEEPEST, 0.0)

    def grown(self, known: list[Any], units: int) -> list[Any]:
        """`units` trees, the first of which are the known ones."""
        if self._forest is None:
            return known + [self._next() for _ in range(units - len(known))]
        self._forest.set_params(n_estimators=units)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            self._forest.fit(self._rows, self._y, self._weights)
        return [tree.tree_ for tree in self._forest.estimators_]

    def _next(self) -> Any:
        n_rows, n_features = self._rows.shape
        seed = self._seeds.randint(_DEEPEST)
        self._rng.seed(seed)
        drawn = _generate_sample_indices(self._rng, n_rows, n_rows, self._weights)
        times = np.bincount(drawn, minlength=n_rows).astype(np.float64)
        self._rng.seed(seed)  # scikit-learn starts the bootstrap draw and the splits from the same seed
        tree = Tree(n_features, self._counts, 1)
        self._builder.build(tree, self._rows, self._targets, times, None)
        return tree
