"""What a block takes as it is: symbols coded as numbers, missing values, symbols as categories, sparse rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, chi2, f_classif
from sklearn.impute import MissingIndicator
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import Binarizer, MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from msl.blocks.base.block import Block, Floats
from msl.blocks.base.check_outputs import BadOutputs
from msl.blocks.base.load import load_class, parameter_names
from msl.space.values import BlockType, BlockValue, Step

#: Learners of scikit-learn that split on sets of symbols, and the parameter that names the columns.
_CATEGORICAL = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
_NAMES_CATEGORIES = "categorical_features"
#: The most symbols a column that they take where their declaration says nothing else.
_MOST_BINS = 255
MERGE_RARE = BlockType("merge_rare", "msl", "transformer", None, "msl.blocks:MergeRare")


def hands_on_columns(found: type) -> bool:
    """Whether the learner inside a block gets the columns as they reach the block."""
    return bool(getattr(found, "hands_on_columns", False))


def takes_symbols(estimator: Any) -> bool:
    if isinstance(estimator, Block) and estimator.takes_symbols:
        return True
    if "symbolic_columns" in parameter_names(type(estimator)) or isinstance(estimator, MissingIndicator):  # type: ignore[arg-type]
        return True
    return bool(_input_tag(estimator, "categorical"))


def takes_missing(estimator: Any) -> bool:
    return bool(_input_tag(estimator, "allow_nan"))


def _input_tag(estimator: Any, name: str) -> bool:
    try:
        return bool(getattr(get_tags(estimator).input_tags, name))
    except Exception:  # not a scikit-learn estimator, so it has no tags
        return False


# --- Symbols as categories --------------------------------------------------------------------------------------------


def takes_categories(found: type, value: BlockValue) -> bool:
    """Whether a learner takes symbols as categories, and its declaration does not say otherwise."""
    return issubclass(found, _CATEGORICAL) and all(name != _NAMES_CATEGORIES for name, _ in value.params)


def splits_on_symbols(following: tuple[Step, ...], task: str, trusted: Collection[str]) -> bool:
    """Whether the next step is a learner that splits on sets of symbols, so that they should not be encoded."""
    step = following[0] if following else None
    if not isinstance(step, BlockValue) or step.block.role != "learner":
        return False
    found = load_class(step.block, task, trusted)
    return takes_categories(found, step) or bool(getattr(found, "splits_on_symbols", False))


def joined_places(branches: Sequence[tuple[tuple[int, ...], int | None]]) -> tuple[int, ...] | None:
    """The places of symbols in the joined columns of branches, each with the places in it and how many columns it has;
    None if they are not known, because a branch of which that is not known comes before others."""
    start, places = 0, list[int]()
    for position, (symbols, width) in enumerate(branches):
        places += [start + place for place in symbols]
        if width is None and position + 1 < len(branches):
            return None
        start += width or 0
    return tuple(places)


def with_categories(value: BlockValue, symbols: tuple[int, ...]) -> tuple[BlockValue, BlockValue]:
    """The step that leaves no column more symbols than the learner takes, and the learner, told where they are."""
    most = dict(value.params).get("max_bins", _MOST_BINS)
    before = BlockValue(MERGE_RARE, (("symbolic_columns", symbols), ("most", most)))
    return before, BlockValue(value.block, (*value.params, (_NAMES_CATEGORIES, symbols)))


# --- Sparse rows ------------------------------------------------------------------------------------------------------
#
# One-hot encoding and weighted words give hundreds of columns, nearly all of them 0. Such rows stay sparse (CSR) as
# long as what follows takes them and gives the same result as for full rows, within the tolerance of its solver. That is
# why ridges and stochastic gradients, which have other solvers or steps for sparse rows, are not among these, nor trees
# that add up fractions: there the last digits decide between splits that are equally good.


#: The most bytes of sparse rows that are made full for a block that takes no others.
MOST_FULL_BYTES = 2 << 30
_TAKE_SPARSE = (
    *(TfidfTransformer, Normalizer, MaxAbsScaler, Binarizer, VarianceThreshold, TruncatedSVD),
    *(LinearSVC, LinearSVR, Lasso, ElasticNet, BernoulliNB, ComplementNB, MultinomialNB),
)


def takes_sparse(estimator: Any, lacks_values: bool = False) -> bool:
    """Whether a fitted or unfitted estimator takes sparse rows, and does with them what it does with full ones; with
    `lacks_values`, rows in which some are missing too."""
    if lacks_values and not isinstance(estimator, StandardScaler | MaxAbsScaler):
        return False
    match estimator:
        case StandardScaler():
            return not estimator.with_mean
        case LogisticRegression():
            return estimator.solver in ("lbfgs", "liblinear")
        case DecisionTreeClassifier() | RandomForestClassifier() | ExtraTreesClassifier():
            return estimator.class_weight is None
        case SVC() | SVR():
            return bool(estimator.kernel == "linear")
        case SelectKBest() | SelectPercentile():
            return estimator.score_func in (chi2, f_classif)
    own = getattr(estimator, "takes_sparse", None)
    return type(estimator) in _TAKE_SPARSE if own is None else bool(own)


def rows_for(step: Any, rows: Floats) -> Floats:
    """Rows as a step takes them: full ones, unless they are sparse and it takes those."""
    if not sparse.issparse(rows) or takes_sparse(step):
        return rows
    size = 8 * rows.shape[0] * rows.shape[1]
    if size > MOST_FULL_BYTES:
        shape = f"{rows.shape[0]:,} rows of {rows.shape[1]:,} columns that are nearly all 0"
        what = f"gets {shape}, and takes no sparse rows: in full they have {size / 1e9:.1f} GB"
        help = "put `truncated_svd` or a selector before it, or encode fewer symbols"
        raise BadOutputs("memory", f"{what}; {help}", block=type(step).__name__)
    full: Floats = rows.toarray()
    return full


def beside(parts: Sequence[Floats]) -> Floats:
    """The columns of some rows next to each other; sparse if any of them are."""
    if any(map(sparse.issparse, parts)):
        return sparse.hstack(parts, format="csr", dtype=np.float64)
    return np.hstack(parts)
