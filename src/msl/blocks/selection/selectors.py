"""Feature selectors: by a mask (`keep`), by a ranking with thresholds, and by recursive elimination (`svcrfe`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.utils._param_validation import Interval

from msl.blocks.base.block import BlockTransformer, Codes, Floats
from msl.blocks.numerics.class_statistics import present_classes
from msl.blocks.numerics.safe_scaling import standard_columns
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError


class FeatureSelector(BlockTransformer, SelectorMixin):
    """A transformer that keeps some of the columns, at least one, in their order."""

    mask_: NDArray[np.bool_]
    selected_: Codes

    def keep_columns(self, chosen: Codes, n_columns: int) -> None:
        """Stores the chosen columns, given in any order."""
        self.mask_ = np.zeros(n_columns, dtype=np.bool_)
        self.mask_[chosen] = True
        self.selected_ = np.flatnonzero(self.mask_)

    def transform_arrays(self, X: Floats) -> Floats:
        """The kept columns; X itself, not a copy, if all are kept."""
        if len(self.selected_) == len(self.mask_):
            return X
        return X.take(self.selected_, axis=1)

    def complexity(self) -> float:
        return float(len(self.selected_))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        return self.mask_


@public
class KeepFeatures(FeatureSelector):
    """Keeps the columns whose entry in `features` is true: all if `features` is None, the first if no entry is true."""

    takes_symbols = True
    takes_missing = True
    row_by_row = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"features": ["array-like", None]}

    def __init__(self, features: Sequence[bool] | NDArray[np.bool_] | None = None) -> None:
        self.features = features

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        n_columns = X.shape[1]
        if self.features is None:
            self.keep_columns(np.arange(n_columns), n_columns)
            return
        mask = np.asarray(self.features)
        if mask.shape != (n_columns,):
            raise UserError(
                f"Keep got a mask of shape {mask.shape} for rows with {n_columns} features; "
                f"give `features` exactly {n_columns} entries, one a feature"
            )
        if not np.isin(mask, (0, 1)).all():
            raise UserError("Keep needs a mask of booleans (or of 0 and 1); to keep features by number, make a mask")
        chosen = np.flatnonzero(mask)
        self.keep_columns(chosen if len(chosen) else np.array([0]), n_columns)


# --- Selection by a ranking -------------------------------------------------------------------------------------------


FMAX = [Interval(Integral, 1, None, closed="left"), None]
SHARE = [Interval(Real, 0, 1, closed="both")]
#: The number of values sorted at a time: enough for vectorised work, few enough for the cache.
BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class Ranking:
    """The scores of all features, their order, best first, and what tests of significance say about them."""

    scores: Floats
    order: Codes
    pvalues: Floats | None
    discovery: Floats | None

    @classmethod
    def by(cls, scores: Floats, pvalues: Floats | None = None, evidence: Floats | None = None) -> Self:
        """A ranking by descending scores; of equal scores the earlier column is first.

        The rate of false discoveries counts the features in the order of the `evidence`, which is that of the scores
        unless it is given.
        """
        order = np.argsort(-scores, kind="stable")
        by_evidence = order if evidence is None else np.argsort(-evidence, kind="stable")
        return cls(
            scores=scores,
            order=order,
            pvalues=pvalues,
            discovery=None if pvalues is None else false_discovery(pvalues, by_evidence),
        )


def unit_weights(scores: Floats) -> Floats:
    """Scores divided by the largest one. Negative scores become 0, and finite ones if another is infinite."""
    best = scores.max()
    if best <= 0.0:
        return np.zeros_like(scores)
    if np.isinf(best):
        return np.isposinf(scores).astype(np.float64)
    weights: Floats = np.maximum(scores, 0.0) / best
    return weights


def false_discovery(pvalues: Floats, order: Codes) -> Floats:
    """The share of false discoveries if the features up to each one were kept: p · features / rank, at most 1.

    This is the plain estimate of CLOP. The adjusted p-values of Benjamini and Hochberg (1995) are its smallest value
    from each rank on.
    """
    n_tests = len(pvalues)
    rates = np.empty(n_tests)
    rates[order] = pvalues[order] * (n_tests / np.arange(1, n_tests + 1))
    return np.minimum(rates, 1.0)


class Ranker(FeatureSelector):
    """Keeps the `fmax` best of the features whose score is above `wmin`; fails if there is none.

    With `relative`, `wmin` is a share of the best score, which features must reach, and the best one always stays.
    `fmax=None` means all features.
    """

    needs_target = True
    shared_parameters: ClassVar[frozenset[str] | None] = frozenset()
    #: Whether the target may be numeric.
    serves_regression: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX, "wmin": SHARE, "relative": ["boolean"]}

    def __init__(self, fmax: int | None = None, wmin: float = 0.0, relative: bool = False) -> None:
        self.fmax = fmax
        self.wmin = wmin
        self.relative = relative

    def rank(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        """Ranks the features; `n_classes` is 0 for regression, else all of at least two classes have rows."""
        raise NotImplementedError

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Ranking:
        if n_classes == 0:
            if not self.serves_regression:
                raise UserError(
                    f"{type(self).__name__} compares classes, but the target holds numbers; "
                    "for regression take FTest, Pearson, Relief, ForestImportance, SVCElimination or GramSchmidt"
                )
            return self.rank(X, y, 0)
        present, codes = present_classes(y, n_classes)
        if len(present) == 1:
            # With one class all features are equal.
            return Ranking.by(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        return self.rank(X, codes, len(present))

    def passes(self, ranking: Ranking) -> NDArray[np.bool_]:
        """The features that pass all thresholds."""
        if self.relative:
            return unit_weights(ranking.scores) >= self.wmin
        return ranking.scores > self.wmin

    def fit_prepared(self, prepared: Ranking, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        passing = prepared.order[self.passes(prepared)[prepared.order]][: self.fmax]
        if not len(passing):
            if not self.relative:
                raise UserError(
                    f"{type(self).__name__} keeps no feature: none of {X.shape[1]} passes its thresholds "
                    f"({self._thresholds()}) at n_samples = {len(X)}; the best score is {prepared.scores.max():.4g}. "
                    "Lower `wmin`, raise the limits of significance, or take a ranker of `extras`, which always keeps "
                    "the best feature"
                )
            passing = prepared.order[:1]
        self.keep_columns(passing, X.shape[1])
        self.scores_, self.pvalues_ = prepared.scores, prepared.pvalues

    def _thresholds(self) -> str:
        names = [name for name in ("wmin", "pval", "fdrmax") if hasattr(self, name)]
        return ", ".join(f"{name} = {getattr(self, name):.4g}" for name in names)


class SignificanceRanker(Ranker):
    """A ranker with p-values: features also need one of at most `pval`, and a false discovery rate of at most
    `fdrmax`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Ranker._parameter_constraints,
        "pval": SHARE,
        "fdrmax": SHARE,
    }

    def __init__(
        self,
        fmax: int | None = None,
        wmin: float = 0.0,
        pval: float = 1.0,
        fdrmax: float = 1.0,
        relative: bool = False,
    ) -> None:
        super().__init__(fmax, wmin, relative)
        self.pval = pval
        self.fdrmax = fdrmax

    def passes(self, ranking: Ranking) -> NDArray[np.bool_]:
        if ranking.pvalues is None or ranking.discovery is None:
            raise TypeError(f"{type(self).__name__} ranks without p-values")
        significant = (ranking.pvalues <= self.pval) & (ranking.discovery <= self.fdrmax)
        return super().passes(ranking) & significant


def strongest(scores: list[Floats] | Floats, pvalues: list[Floats] | Floats, evidence: Floats | None = None) -> Ranking:
    """The ranking by the largest score of each feature; all arrays have one row a comparison."""
    smallest = np.min(pvalues, axis=0)
    most = None if evidence is None else np.max(evidence, axis=0)
    return Ranking.by(np.max(scores, axis=0), np.minimum(len(pvalues) * smallest, 1.0), most)


def feature_blocks(X: Floats) -> Iterator[tuple[slice, Floats]]:
    """Blocks of features, as contiguous rows, so that sorting is fast and its arrays stay small."""
    width = max(1, BLOCK // len(X))
    for start in range(0, X.shape[1], width):
        block = slice(start, start + width)
        yield block, np.ascontiguousarray(X[:, block].T)


# --- Recursive feature elimination ------------------------------------------------------------------------------------


@public
class SVCElimination(FeatureSelector):
    """Recursive feature elimination with a linear support vector machine (Guyon et al., 2002); keeps `fmax` features.

    Each round drops the half of the features with the smallest weights. Features are standardised first, so that their
    weights are comparable. One elimination down to a single feature gives the result for every `fmax`; scikit-learn's
    RFE does not rank the features that it drops together, and would need an elimination for each `fmax`.
    """

    needs_target = True
    shared_parameters = frozenset[str]()
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"fmax": FMAX}

    def __init__(self, fmax: int | None = None) -> None:
        self.fmax = fmax

    def prepare(self, X: Floats, y: NDArray[Any], n_classes: int) -> Codes:
        """The features, from the last one left to the first one dropped."""
        columns = standard_columns(X)
        target: NDArray[Any]
        if n_classes:
            present, target = present_classes(y, n_classes)
            if len(present) == 1:
                return np.arange(X.shape[1])
            machine = LinearSVC(dual=False)
        else:
            target = standard_columns(y[:, np.newaxis])[:, 0]
            machine = LinearSVR(dual=False, loss="squared_epsilon_insensitive")
        return elimination_order(columns, target, machine)

    def fit_prepared(self, prepared: Codes, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.keep_columns(prepared[: self.fmax], X.shape[1])


def elimination_order(columns: Floats, target: NDArray[Any], machine: Any) -> Codes:
    """All features, best first: each round ranks the features left and drops the worse half."""
    left = np.arange(columns.shape[1])
    dropped: list[Codes] = []
    while len(left) > 1:
        with warnings.catch_warnings():
            # Nearly converged weights rank features as well, so the warning would only mislead.
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(columns[:, left], target)
        importance = (np.atleast_2d(machine.coef_) ** 2).sum(axis=0)
        ranked = np.argsort(-importance, kind="stable")
        half = len(left) // 2
        dropped.append(left[ranked[half:]])
        left = np.sort(left[ranked[:half]])
    return np.concatenate([left, *reversed(dropped)])
