"""Feature weights by best-first search: a whole run on incremental distances, and what they save in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.figures import Row, timed
from msl import ModelSearch
from msl.blocks.similarity.leave_one_out import FEW, PartialSums
from msl.blocks.similarity.leave_one_out import LeaveOneOut as Table

WEIGHTS = """use sbm
chain nearest = sbm(weights: vector(n_features) of real 0..1 step 0.1, k = 1, rest = default)
minimize error by loo()
search best_first(start = sbm(k = 1), channels = [weights], gain = 0%)
"""


@dataclass(slots=True)
class Sums:
    """How the sums of distances were reached: from a neighbouring setting, or afresh from all features."""

    near: int = 0
    afresh: int = 0


@contextmanager
def counted() -> Iterator[Sums]:
    found = Sums()
    reach, near_base = PartialSums.at, PartialSums._sum_near_base

    def at(self: PartialSums, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        found.near += 1
        return reach(self, weights)

    def sum_near_base(self: PartialSums, weights: NDArray[np.float64]) -> None:
        if np.count_nonzero(weights != self._base) > FEW:
            found.near -= 1
            found.afresh += 1
        near_base(self, weights)

    with patch.object(PartialSums, "at", at), patch.object(PartialSums, "_sum_near_base", sum_near_base):
        yield found


def best_first(quick: bool) -> Iterator[Row]:
    """A whole best-first search of feature weights with one neighbour on 351 × 34, through the engine and its store:
    on incremental distances, and with the distances of each setting computed for themselves."""
    columns = 8 if quick else 34
    X, y = make_classification(351, columns, n_informative=max(5, columns // 3), random_state=0)

    def searched() -> ModelSearch:
        return ModelSearch(WEIGHTS).fit(X, y)

    with counted() as sums:
        own, found = timed(searched)
    with patch.object(Table, "_terms_of", lambda self, setting: None):
        plain, usual = timed(searched)
    assert found.best_model_ == usual.best_model_
    assert found.summary_["fits"] == 0, found.summary_
    evaluations = found.evaluations_.height
    alone, _ = timed(lambda: cross_val_predict(KNeighborsClassifier(1), X, y, cv=LeaveOneOut()))
    yield (
        f"best-first search of {evaluations} weights of 351 × {columns}, sums from a neighbour's",
        (sums.near / (sums.near + sums.afresh)),
        None,
        "part",
    )
    yield "  fits in the whole run", float(found.summary_["fits"]), 0.0, "fits"
    yield "  the whole run, against distances computed for each setting", plain / own, None, "times as fast"
    yield (
        "  the whole run, against LeaveOneOut of scikit-learn for each",
        alone * evaluations / own,
        100.0,
        "times as fast",
    )
    yield "  an evaluation with search, engine and store", 1e3 * own / evaluations, None, "ms"
