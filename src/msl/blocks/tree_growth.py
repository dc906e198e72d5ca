"""Tree growth: the trees of scikit-learn's random forests, grown without the estimators around them.

On small tables a forest spends most of its time on making, cloning and checking an estimator for each of its trees.
The compiled parts beneath are the same here, told the same, so that the trees are the same.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.ensemble._forest import _generate_sample_indices
from sklearn.tree._criterion import MSE, Gini
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import DepthFirstTreeBuilder, Tree
from sklearn.utils import check_random_state

from msl.blocks.base import Codes, Floats

#: How the parts were told before and after scikit-learn 1.9 differs: with another way it grows its trees itself.
IS_KNOWN = list(inspect.signature(_generate_sample_indices).parameters) == [
    "random_state", "n_samples", "n_samples_bootstrap", "sample_weight",
]  # fmt: skip
_DEEPEST = np.iinfo(np.int32).max


class TreeGrowth:
    """Grows tree after tree of a forest with `max_features` at each split; `n_classes` is 0 for numbers.

    `weights` are those of the rows, None where all weigh the same. Rows are in single precision.
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
        if not IS_KNOWN or np.isnan(rows).any():
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
        """So many trees, of which some are known."""
        if self._forest is None:
            return known + [self._next() for _ in range(units - len(known))]
        self._forest.set_params(n_estimators=units)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            self._forest.fit(self._rows, self._y, self._weights)
        return [tree.tree_ for tree in self._forest.estimators_]

    def _next(self) -> Tree:
        n_rows, n_features = self._rows.shape
        seed = self._seeds.randint(_DEEPEST)
        self._rng.seed(seed)
        drawn = _generate_sample_indices(self._rng, n_rows, n_rows, self._weights)
        times = np.bincount(drawn, minlength=n_rows).astype(np.float64)
        self._rng.seed(seed)  # the draw and the splits start from the same seed
        tree = Tree(n_features, self._counts, 1)
        self._builder.build(tree, self._rows, self._targets, times, None)
        return tree
