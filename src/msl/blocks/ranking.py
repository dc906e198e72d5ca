"""A ranking of features by a score, and the base of the blocks that keep the best of one."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval

from msl.blocks.base import Codes, Floats
from msl.blocks.keep import FeatureSelector
from msl.blocks.present import present_classes

FMAX = [Interval(Integral, 1, None, closed="left"), None]
SHARE = [Interval(Real, 0, 1, closed="both")]


@dataclass(frozen=True, slots=True)
class Ranking:
    """All features, best first, with what decides whether they stay."""

    scores: Floats
    weights: Floats
    order: Codes
    pvalues: Floats | None
    discovery: Floats | None

    @classmethod
    def by(cls, scores: Floats, pvalues: Floats | None = None) -> Self:
        """Higher scores are better; of equal ones the earlier column is."""
        return cls(
            scores=scores,
            weights=unit_weights(scores),
            order=np.argsort(-scores, kind="stable"),
            pvalues=pvalues,
            discovery=None if pvalues is None else false_discovery(pvalues),
        )


def unit_weights(scores: Floats) -> Floats:
    """Scores as parts of the largest one; negative ones weigh nothing, and an infinite one leaves nothing to others."""
    best = scores.max()
    if best <= 0.0:
        return np.zeros_like(scores)
    if np.isinf(best):
        return np.isposinf(scores).astype(np.float64)
    weights: Floats = np.maximum(scores, 0.0) / best
    return weights


def false_discovery(pvalues: Floats) -> Floats:
    """The adjusted p-values of Benjamini and Hochberg (1995)."""
    order = np.argsort(-pvalues, kind="stable")
    n_tests = len(pvalues)
    adjusted = np.empty(n_tests)
    adjusted[order] = np.minimum.accumulate(pvalues[order] * (n_tests / np.arange(n_tests, 0, -1)))
    return np.minimum(adjusted, 1.0)


class Ranker(FeatureSelector):
    """Keeps the features among the `fmax` best whose weight, their score over the best score, is at least `wmin`.

    `fmax=None` means all. When nothing passes, the best feature stays.
    """

    needs_target = True
    shared_parameters: ClassVar[frozenset[str] | None] = frozenset()
    #: Whether numbers can be the target.
    serves_regression: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX, "wmin": SHARE}

    def __init__(self, fmax: int | None = None, wmin: float = 0.0) -> None:
        self.fmax = fmax
        self.wmin = wmin

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        """Ranks the features; every class is present and there are at least two, or none for regression."""
        raise NotImplementedError

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        if n_classes == 0:
            if not self.serves_regression:
                raise ValueError(
                    f"{type(self).__name__} compares classes, but the target holds numbers; "
                    "for regression take FTest, Pearson, Relief, ForestImportance, SVCElimination or GramSchmidt"
                )
            return self.rank(X, y, 0)
        present, codes = present_classes(y, n_classes)
        if len(present) == 1:
            # Nothing tells features apart when there is nothing to tell apart.
            return Ranking.by(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        return self.rank(X, codes, len(present))

    def passes(self, ranking: Ranking) -> NDArray[np.bool_]:
        """The features that no threshold removes."""
        return ranking.weights >= self.wmin

    def fit_prepared(self, prepared: Ranking, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        best = prepared.order[: self.fmax]
        passing = best[self.passes(prepared)[best]]
        self.keep_columns(passing if len(passing) else best[:1], X.shape[1])
        self.scores_, self.weights_, self.pvalues_ = prepared.scores, prepared.weights, prepared.pvalues


class SignificanceRanker(Ranker):
    """A ranker by a test: the p-value must be at most `pval` and the false discovery rate at most `fdrmax` too."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "pval": SHARE,
        "fdrmax": SHARE,
    }

    def __init__(self, fmax: int | None = None, wmin: float = 0.0, pval: float = 1.0, fdrmax: float = 1.0) -> None:
        super().__init__(fmax, wmin)
        self.pval = pval
        self.fdrmax = fdrmax

    def passes(self, ranking: Ranking) -> NDArray[np.bool_]:
        if ranking.pvalues is None or ranking.discovery is None:
            raise TypeError(f"{type(self).__name__} ranks without p-values")
        significant = (ranking.pvalues <= self.pval) & (ranking.discovery <= self.fdrmax)
        return super().passes(ranking) & significant
