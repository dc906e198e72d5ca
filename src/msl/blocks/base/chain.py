"""Array model: an estimator of scikit-learn around a model that works on plain arrays. Rows are validated here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from msl.blocks.base.block import Block, Floats
from msl.blocks.base.estimator_code import estimator_code
from msl.blocks.base.outputs import (
    BadOutputs,
    checked_columns,
    checked_outputs,
    class_codes,
    decision_scores,
    in_class_order,
    made_columns,
    predicted_classes,
    predicted_numbers,
    predicted_probabilities,
)
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError


class ArrayModel(BaseEstimator, ABC):
    """Fits and answers on validated rows; what is missing in them is the model's own matter."""

    n_classes_: int

    @abstractmethod
    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        """Fits on validated rows; `y` holds codes of classes, or numbers when `n_classes` is 0."""

    @abstractmethod
    def outputs(self, X: Floats) -> Floats:
        """A number for each row, or for each row and class: the largest is the class."""

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
    """A model of classes."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, labels = validate_data(self, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.fit_arrays(rows, codes, len(self.classes_))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        winners: NDArray[Any] = self.classes_[self.outputs(self._validated(X)).argmax(axis=1)]
        return winners

    def predict_proba(self, X: ArrayLike) -> Floats:
        return probabilities(self.outputs(self._validated(X)))


class ArrayRegressor(RegressorMixin, ArrayModel):
    """A model of numbers."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, numbers = validate_data(
            self, X, y, dtype=np.float64, order="C", y_numeric=True, ensure_all_finite="allow-nan"
        )
        self.fit_arrays(rows, np.asarray(numbers, dtype=np.float64), 0)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        return self.outputs(self._validated(X))


def sum_to_one(outputs: Floats) -> bool:
    """Whether the outputs of every row do, as probabilities do and margins do not."""
    return bool((np.abs(outputs.sum(axis=1) - 1.0) <= 1e-6).all())


def are_probabilities(outputs: Floats) -> bool:
    return bool(outputs.min(initial=0.0) >= 0.0) and sum_to_one(outputs)


def probabilities(outputs: Floats) -> Floats:
    """Outputs as probabilities of the classes: as they are when they are, else by softmax.

    Those that sum to one and go beyond [0, 1] are brought back, row by row: a model whose outputs always sum to one
    says the same of a row whatever other rows it is asked of.
    """
    if are_probabilities(outputs):
        return outputs
    return shares(outputs) if sum_to_one(outputs) else softmax(outputs)


def shares(values: Floats) -> Floats:
    """Each row over its sum, of what is not negative in it: probabilities that went beyond [0, 1] are brought back."""
    positive = np.maximum(values, 0.0)
    scaled: Floats = positive / positive.sum(axis=1, keepdims=True)
    return scaled


def softmax(outputs: Floats) -> Floats:
    raised = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    scaled: Floats = raised / raised.sum(axis=1, keepdims=True)
    return scaled


# --- Chain: the estimator of a whole model — steps before the learner, the learner, posts on its outputs. -------------
#
# Blocks of this package work on plain arrays (`fit_arrays`, `outputs`); scikit-learn's estimators and users' own are
# used through `fit`, `transform`, `predict_proba` or `decision_function`. Rows are validated once, at the door.


@public
class Branch:
    """Steps side by side on the same input, their columns joined."""

    def __init__(self, branches: Sequence[Sequence[Any]]) -> None:
        self.branches = branches

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> Floats:
        """Fits every branch and gives the joined columns of the training rows."""
        return np.hstack([fit_steps(branch, X, y, n_classes) for branch in self.branches])

    def transform_arrays(self, X: Floats) -> Floats:
        return np.hstack([apply_steps(branch, X) for branch in self.branches])

    def asked(self, X: Floats) -> Floats:
        return np.hstack([_asked_steps(branch, X) for branch in self.branches])


def fit_steps(steps: Sequence[Any], X: Floats, y: NDArray[Any], n_classes: int) -> Floats:
    """Fits steps one after the other; what the last one makes of the training rows, which can be learnt from."""
    for step in steps:
        with naming(step):
            X = checked_columns(fit_step(step, X, y, n_classes), X)
    return X


def fit_step(step: Any, X: Floats, y: NDArray[Any], n_classes: int) -> Floats:
    """Fits one step and gives its output for the training rows."""
    if isinstance(step, Branch):
        return step.fit_arrays(X, y, n_classes)
    if isinstance(step, Block):
        step.fit_arrays(X, y, n_classes)
        transformed: Floats = step.transform_arrays(X)
        return transformed
    with estimator_code:
        return made_columns(step.fit_transform(X, y) if hasattr(step, "fit_transform") else step.fit(X, y).transform(X))


def apply_steps(steps: Sequence[Any], X: Floats) -> Floats:
    for step in steps:
        if isinstance(step, Branch | Block):
            X = step.transform_arrays(X)
            continue
        with estimator_code:
            X = made_columns(step.transform(X))
    return X


def _asked_steps(steps: Sequence[Any], X: Floats) -> Floats:
    """As `apply_steps`, of rows that nobody has seen: a gap in front of a block that cannot take it is a ValueError."""
    for step in steps:
        with naming(step):
            if isinstance(step, Branch):
                X = step.asked(X)
                continue
            _refuse_gaps(step, X)
            X = checked_columns(apply_steps([step], X), X)
    return X


def _refuse_gaps(block: Any, X: Floats) -> None:
    """Foreign classes look at their rows themselves."""
    if isinstance(block, Block) and not get_tags(block).input_tags.allow_nan and np.isnan(X).any():
        raise UserError(f"{type(block).__name__} cannot take missing values")


@contextmanager
def naming(block: Any) -> Iterator[None]:
    """What is wrong with the outputs of a block is told with its name."""
    try:
        yield
    except BadOutputs as wrong:
        wrong.block = wrong.block or type(block).__name__
        raise


def fit_learner(learner: Any, X: Floats, y: NDArray[Any], n_classes: int) -> None:
    if isinstance(learner, Block):
        learner.fit_arrays(X, y, n_classes)
    else:
        with estimator_code:
            learner.fit(X, y)


def learner_outputs(learner: Any, X: Floats, n_classes: int) -> Floats:
    """One score a class for each row (one number for regression), the largest of which is the prediction."""
    if isinstance(learner, Block):
        own: Floats = learner.outputs(X)
        return own
    with estimator_code:
        return _foreign_outputs(learner, X, n_classes)


def _foreign_outputs(learner: Any, X: Floats, n_classes: int) -> Floats:
    """The outputs of a learner of scikit-learn or of the user, by whichever method it has."""
    if n_classes == 0:
        return predicted_numbers(learner.predict(X), len(X))
    if hasattr(learner, "predict_proba"):
        codes = class_codes(learner.classes_, n_classes)

        def named(rows: NDArray[np.bool_]) -> Floats:
            return predicted_classes(learner.predict(X[rows]), int(rows.sum()), n_classes)[:, codes]

        shares = predicted_probabilities(learner.predict_proba(X), len(X), len(codes), named)
        return in_class_order(shares, codes, n_classes, lowest=0.0)
    if hasattr(learner, "decision_function") and not _compares_pairs(learner):
        codes = class_codes(learner.classes_, n_classes)
        scores = decision_scores(learner.decision_function(X), len(X), len(codes))
        least = float(scores.min(initial=0.0))
        return in_class_order(scores, codes, n_classes, lowest=min(least - 1.0, float(np.nextafter(least, -np.inf))))
    return predicted_classes(learner.predict(X), len(X), n_classes)


def _compares_pairs(learner: Any) -> bool:
    """Whether the scores are of pairs of classes, of which there are as many as classes where there are three."""
    return getattr(learner, "decision_function_shape", None) == "ovo" and len(learner.classes_) > 2


def _middles(X: Floats) -> Floats:
    """The lower median of each column, which is one of its values; NaN for those with gaps. One column at a time, since
    tables may be large."""
    place = (len(X) - 1) // 2
    return np.array([np.nan if np.isnan(column).any() else np.partition(column, place)[place] for column in X.T])


class _Chain(ArrayModel):
    """What chains for both tasks share."""

    def __init__(self, steps: Sequence[Any] = (), learner: Any = None, posts: Sequence[Any] = ()) -> None:
        self.steps = steps
        self.learner = learner
        self.posts = posts

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        inner = fit_steps(self.steps, X, y, n_classes)
        fit_learner(self.learner, inner, y, n_classes)
        if self.posts:
            outputs = self._learnt(inner)
            for post in self.posts:
                with naming(post):
                    outputs = checked_outputs(fit_step(post, outputs, y, n_classes), len(X), n_classes)
        self.middles_ = _middles(X)

    def outputs(self, X: Floats) -> Floats:
        """What the learner says; raises BadOutputs where that is nothing that can be predicted from.

        A gap where the training rows had none, in front of a block that cannot take it, is filled in with the middle
        value of the column: no step was fitted to do so.
        """
        try:
            return self._outputs(X)
        except (ValueError, BadOutputs):
            filled = self._without_new_gaps(X)
            if filled is None:
                raise
            return self._outputs(filled)

    def can_take(self, X: Floats) -> bool:
        """Whether the blocks take rows as they are, so that no gap has to be filled in."""
        try:
            self._outputs(X)
        except (ValueError, BadOutputs):
            return False
        return True

    def _without_new_gaps(self, X: Floats) -> Floats | None:
        middles = getattr(self, "middles_", None)  # chains saved before there were any have none
        if middles is None or not isinstance(X, np.ndarray):
            return None
        new = np.isnan(X) & ~np.isnan(middles)
        return np.where(new, middles, X) if new.any() else None

    def _outputs(self, X: Floats) -> Floats:
        outputs = self._learnt(_asked_steps(self.steps, X))
        for post in self.posts:
            with naming(post):
                outputs = checked_outputs(apply_steps([post], outputs), len(X), self.n_classes_)
        return outputs

    def _learnt(self, inner: Floats) -> Floats:
        with naming(self.learner):
            _refuse_gaps(self.learner, inner)
            return checked_outputs(learner_outputs(self.learner, inner, self.n_classes_), len(inner), self.n_classes_)


@public
class ChainClassifier(ArrayClassifier, _Chain):
    """A model of classes."""


@public
class ChainRegressor(ArrayRegressor, _Chain):
    """A model of numbers."""
