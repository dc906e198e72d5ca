"""The estimator of a whole pipeline, as a scikit-learn classifier or regressor around models that work on plain arrays.

A chain has steps before the learner, the learner, and steps after it that change its outputs. Blocks of this package
are called through `fit_arrays` and `outputs`; scikit-learn's estimators and users' own through `fit`, `transform`,
`predict_proba` or `decision_function`. Rows are validated once, in `fit` and `predict` of the whole estimator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from msl.blocks.base.accepted_columns import beside, rows_for
from msl.blocks.base.block import Block, Floats
from msl.blocks.base.check_outputs import (
    BadOutputs,
    checked_columns,
    checked_outputs,
    class_codes,
    decision_scores,
    has_missing,
    in_class_order,
    made_columns,
    predicted_classes,
    predicted_numbers,
    predicted_probabilities,
)
from msl.blocks.base.load import estimator_code
from msl.blocks.base.row_weights import counts_rows, fit_with_weights
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError


class ArrayModel(BaseEstimator, ABC):
    """A model on validated rows, which may have missing values."""

    n_classes_: int

    @abstractmethod
    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None) -> None:
        """Fits on validated rows; `y` holds codes of classes, or numbers when `n_classes` is 0.

        `weights` say how much each row counts in the fit of learners, as `sample_weight` of scikit-learn does.
        """

    @abstractmethod
    def outputs(self, X: Floats) -> Floats:
        """A number for each row, or one for each row and class, the largest of which is the prediction."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, order="C", reset=False, ensure_all_finite="allow-nan")
        return rows


class ArrayClassifier(ClassifierMixin, ArrayModel):
    """The scikit-learn interface of a classifier."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.fit_arrays(rows, codes, len(self.classes_), _weights_of(sample_weight, rows))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        winners: NDArray[Any] = self.classes_[self.outputs(self._validated(X)).argmax(axis=1)]
        return winners

    def predict_proba(self, X: ArrayLike) -> Floats:
        return probabilities(self.outputs(self._validated(X)))


class ArrayRegressor(RegressorMixin, ArrayModel):
    """The scikit-learn interface of a regressor."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        rows, numbers = validate_data(
            self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_all_finite="allow-nan"
        )
        self.fit_arrays(rows, np.asarray(numbers, dtype=np.float64), 0, _weights_of(sample_weight, rows))
        return self

    def predict(self, X: ArrayLike) -> Floats:
        return self.outputs(self._validated(X))


def _weights_of(sample_weight: ArrayLike | None, rows: Floats) -> Floats | None:
    if sample_weight is None:
        return None
    weights: Floats = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    return weights


def sum_to_one(outputs: Floats) -> bool:
    """Whether the outputs of every row sum to one, as probabilities do and margins do not."""
    return bool((np.abs(outputs.sum(axis=1) - 1.0) <= 1e-6).all())


def are_probabilities(outputs: Floats) -> bool:
    return bool(outputs.min(initial=0.0) >= 0.0) and sum_to_one(outputs)


def probabilities(outputs: Floats) -> Floats:
    """Outputs as class probabilities: unchanged if they are probabilities already, else by softmax.

    Outputs that sum to one but leave [0, 1] are clipped and rescaled row by row instead, so that the probabilities of
    a row do not depend on the other rows.
    """
    if are_probabilities(outputs):
        return outputs
    return shares(outputs) if sum_to_one(outputs) else np.asarray(softmax(outputs, axis=1))


def shares(values: Floats) -> Floats:
    """Each row divided by its sum, after negative values are set to zero."""
    positive = np.maximum(values, 0.0)
    scaled: Floats = positive / positive.sum(axis=1, keepdims=True)
    return scaled


# --- The steps of a chain ---------------------------------------------------------------------------------------------


@public
class Branch:
    """Several sequences of steps on the same input, whose columns are joined, as in scikit-learn's FeatureUnion."""

    #: Each of them makes of the rows what it takes.
    takes_sparse = True

    def __init__(self, branches: Sequence[Sequence[Any]]) -> None:
        self.branches = branches

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None) -> Floats:
        """Fits every branch and returns the joined columns of the training rows."""
        return beside([fit_steps(branch, X, y, n_classes, weights) for branch in self.branches])

    def transform_arrays(self, X: Floats) -> Floats:
        return beside([apply_steps(branch, X) for branch in self.branches])

    def transform_new(self, X: Floats) -> Floats:
        return beside([_apply_to_new_rows(branch, X) for branch in self.branches])


def fit_steps(
    steps: Sequence[Any], X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None
) -> Floats:
    """Fits steps one after the other and returns the checked output of the last one for the training rows."""
    for step in steps:
        with naming(step):
            X = rows_for(step, X)
            X = checked_columns(fit_step(step, X, y, n_classes, weights), X, step)
    return X


def fit_step(step: Any, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None) -> Floats:
    """Fits one step and returns its output for the training rows.

    Weights of rows are for learners, as in pipelines of scikit-learn: of the steps, only one that holds a learner of
    its own gets them.
    """
    if isinstance(step, Branch):
        return step.fit_arrays(X, y, n_classes, weights)
    if isinstance(step, Block):
        step.fit_arrays(X, y, n_classes)
        transformed: Floats = step.transform_arrays(X)
        return transformed
    with estimator_code:
        if weights is not None and getattr(step, "weighs_learner", False):
            return made_columns(step.fit_transform(X, y, sample_weight=weights))
        return made_columns(step.fit_transform(X, y) if hasattr(step, "fit_transform") else step.fit(X, y).transform(X))


def apply_steps(steps: Sequence[Any], X: Floats) -> Floats:
    for step in steps:
        X = rows_for(step, X)
        if isinstance(step, Branch | Block):
            X = step.transform_arrays(X)
            continue
        with estimator_code:
            X = made_columns(step.transform(X))
    return X


def _apply_to_new_rows(steps: Sequence[Any], X: Floats) -> Floats:
    """As `apply_steps`, with checks: a missing value before a block that cannot take it is a ValueError."""
    for step in steps:
        with naming(step):
            if isinstance(step, Branch):
                X = step.transform_new(X)
                continue
            X = rows_for(step, X)
            _reject_missing(step, X)
            X = checked_columns(apply_steps([step], X), X, step)
    return X


def _reject_missing(block: Any, X: Floats) -> None:
    """Raises ValueError if a block of ours cannot take these rows; other classes validate their input themselves."""
    if isinstance(block, Block) and not get_tags(block).input_tags.allow_nan and has_missing(X):
        raise UserError(f"{type(block).__name__} cannot take missing values")


@contextmanager
def naming(block: Any) -> Iterator[None]:
    """Adds the name of the block to any BadOutputs raised inside."""
    try:
        yield
    except BadOutputs as wrong:
        wrong.block = wrong.block or type(block).__name__
        raise


def fit_learner(learner: Any, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None) -> None:
    """Fits a learner, with the weights of rows if it takes any."""
    counts = counts_rows(learner, weights)
    if isinstance(learner, Block):
        if counts:
            assert weights is not None
            learner.fit_weighted(X, y, n_classes, weights)
        else:
            learner.fit_arrays(X, y, n_classes)
        return
    with estimator_code:
        if counts:
            fit_with_weights(learner, X, y, weights)
        else:
            learner.fit(X, y)


def learner_outputs(learner: Any, X: Floats, n_classes: int) -> Floats:
    """One score for each row and class, the largest of which is the prediction; for regression one number a row."""
    if isinstance(learner, Block):
        own: Floats = learner.outputs(X)
        return own
    with estimator_code:
        return _foreign_outputs(learner, X, n_classes)


def _foreign_outputs(learner: Any, X: Floats, n_classes: int) -> Floats:
    """The outputs of a learner of scikit-learn or of the user, by whichever method it has."""
    if n_classes == 0:
        return predicted_numbers(learner.predict(X), X.shape[0])
    if hasattr(learner, "predict_proba"):
        codes = class_codes(learner.classes_, n_classes)

        def named(rows: NDArray[np.bool_]) -> Floats:
            return predicted_classes(learner.predict(X[rows]), int(rows.sum()), n_classes)[:, codes]

        shares = predicted_probabilities(learner.predict_proba(X), X.shape[0], len(codes), named)
        return in_class_order(shares, codes, n_classes, lowest=0.0)
    if hasattr(learner, "decision_function") and not _compares_pairs(learner):
        codes = class_codes(learner.classes_, n_classes)
        scores = decision_scores(learner.decision_function(X), X.shape[0], len(codes))
        least = float(scores.min(initial=0.0))
        return in_class_order(scores, codes, n_classes, lowest=min(least - 1.0, float(np.nextafter(least, -np.inf))))
    return predicted_classes(learner.predict(X), X.shape[0], n_classes)


def _compares_pairs(learner: Any) -> bool:
    """Whether the scores compare pairs of classes: of three classes there are as many pairs as classes."""
    return getattr(learner, "decision_function_shape", None) == "ovo" and len(learner.classes_) > 2


def _lower_medians(X: Floats) -> Floats:
    """The lower median of each column, which is one of its values; NaN for columns with missing values."""
    # One column at a time, since tables may be large.
    place = (len(X) - 1) // 2
    return np.array([np.nan if np.isnan(column).any() else np.partition(column, place)[place] for column in X.T])


class _Chain(ArrayModel):
    """What chains for classification and for regression share."""

    def __init__(self, steps: Sequence[Any] = (), learner: Any = None, posts: Sequence[Any] = ()) -> None:
        self.steps = steps
        self.learner = learner
        self.posts = posts

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None) -> None:
        self.n_classes_ = n_classes
        inner = rows_for(self.learner, fit_steps(self.steps, X, y, n_classes, weights))
        fit_learner(self.learner, inner, y, n_classes, weights)
        if self.posts:
            outputs = self._learner_outputs(inner)
            for post in self.posts:
                with naming(post):
                    outputs = checked_outputs(fit_step(post, outputs, y, n_classes), len(X), n_classes)
        self.middles_ = _lower_medians(X)

    def outputs(self, X: Floats) -> Floats:
        """The outputs of the learner and of the steps after it; raises BadOutputs if they are not valid.

        If a block rejects a missing value in a column that had none in training, the value is replaced by the median
        of the column: no step was fitted to impute it.
        """
        try:
            return self._outputs(X)
        except (ValueError, BadOutputs):
            imputed = self._imputed(X)
            if imputed is None:
                raise
            return self._outputs(imputed)

    def can_take(self, X: Floats) -> bool:
        """Whether the blocks accept these rows as they are, without any value imputed."""
        try:
            self._outputs(X)
        except (ValueError, BadOutputs):
            return False
        return True

    def _imputed(self, X: Floats) -> Floats | None:
        """The rows with the median in place of values that are missing where training had none; None without any."""
        middles = getattr(self, "middles_", None)  # absent in models that older versions saved
        if middles is None or not isinstance(X, np.ndarray):
            return None
        new = np.isnan(X) & ~np.isnan(middles)
        return np.where(new, middles, X) if new.any() else None

    def _outputs(self, X: Floats) -> Floats:
        outputs = self._learner_outputs(_apply_to_new_rows(self.steps, X))
        for post in self.posts:
            with naming(post):
                outputs = checked_outputs(apply_steps([post], outputs), len(X), self.n_classes_)
        return outputs

    def _learner_outputs(self, inner: Floats) -> Floats:
        with naming(self.learner):
            inner = rows_for(self.learner, inner)
            _reject_missing(self.learner, inner)
            outputs = learner_outputs(self.learner, inner, self.n_classes_)
            return checked_outputs(outputs, inner.shape[0], self.n_classes_)


@public
class ChainClassifier(ArrayClassifier, _Chain):
    """A pipeline for classification: `steps`, then the `learner`, then `posts`, which change its outputs."""


@public
class ChainRegressor(ArrayRegressor, _Chain):
    """A pipeline for regression: `steps`, then the `learner`, then `posts`, which change its outputs."""
