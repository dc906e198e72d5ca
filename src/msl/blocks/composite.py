"""Learners made of learners: out-of-fold predictions as columns, stacking, and voting.

Folds are seeded and lie inside the rows that a block is fitted on, so that no row that judges a model is ever seen.
They know the classes of these rows; groups and the order of a table do not reach blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone, is_classifier
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from msl.blocks.base.complexity import complexity
from msl.blocks.base.row_weights import fit_with_weights, request_weights, takes_weights
from msl.blocks.public import public

_METHODS = ("predict_proba", "decision_function", "predict")


@public
class OutOfFoldPredictions(TransformerMixin, BaseEstimator):
    """The predictions of a learner as columns: class probabilities, else decision values, else what it predicts.

    `fit_transform` predicts the rows of each fold by a learner that was fitted on the others, as in stacking (Wolpert,
    1992); `transform` uses the learner that was fitted on all rows. For two classes there is one column.
    """

    #: The learner gets the columns as they are: encoders and imputers are put into it.
    hands_on_columns = True

    def __init__(self, learner: Any = None, folds: int = 5, random_state: int | None = None) -> None:
        self.learner = learner
        self.folds = folds
        self.random_state = random_state

    #: Weights of rows are for the learner inside.
    weighs_learner = True

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self.learner_ = _fitted(clone(self.learner), X, y, sample_weight)
        self.method_ = next(method for method in _METHODS if hasattr(self.learner_, method))
        self.n_features_in_ = np.shape(X)[1]
        return self

    def fit_transform(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> NDArray[np.float64]:
        self.fit(X, y, sample_weight)
        splits = folds_of(y, self.folds, self.random_state, is_classifier(self.learner_))
        learner = clone(self.learner)
        if sample_weight is None or not takes_weights(learner):
            return self._columns(cross_val_predict(learner, X, y, cv=splits, method=self.method_))
        with config_context(enable_metadata_routing=True):
            request_weights(learner)
            given = {"sample_weight": sample_weight}
            return self._columns(cross_val_predict(learner, X, y, cv=splits, method=self.method_, params=given))

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return self._columns(getattr(self.learner_, self.method_)(X))

    def _columns(self, predicted: Any) -> NDArray[np.float64]:
        columns = np.asarray(predicted, dtype=np.float64)
        if columns.ndim == 1:
            return columns[:, None]
        return columns[:, 1:] if self.method_ == "predict_proba" and columns.shape[1] == 2 else columns

    def complexity(self) -> float:
        return complexity(self.learner_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _fitted(learner: Any, X: ArrayLike, y: ArrayLike, weights: ArrayLike | None) -> Any:
    """The learner, fitted with the weights of rows if it takes any."""
    if weights is None or not takes_weights(learner):
        return learner.fit(X, y)
    fit_with_weights(learner, X, y, weights)
    return learner


def folds_of(y: ArrayLike, folds: int, seed: int | None, of_classes: bool) -> KFold | StratifiedKFold:
    """Shuffled folds, stratified by class; no more of them than the rarest class has rows, and at least two."""
    if not of_classes:
        return KFold(max(2, min(folds, len(np.asarray(y)))), shuffle=True, random_state=seed)
    rarest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
    return StratifiedKFold(max(2, min(folds, rarest)), shuffle=True, random_state=seed)


# --- lists of learners ------------------------------------------------------------------------------------------------


def _has(method: str) -> Any:
    """Available where the ensemble has the method; before a fit, where it will have it."""
    return available_if(lambda self: hasattr(self.model_ if hasattr(self, "model_") else self._speaker(), method))


class _Listed(BaseEstimator):
    """A learner around an ensemble of scikit-learn, which takes its members with names."""

    estimators: Sequence[Any]

    def _named(self) -> list[tuple[str, Any]]:
        return [(f"learner_{number}", learner) for number, learner in enumerate(self.estimators, 1)]

    def _new(self, folds: Any) -> Any:
        """The ensemble of scikit-learn, not yet fitted."""
        raise NotImplementedError

    def _folds(self, y: ArrayLike) -> Any:
        """The folds that a fit needs, if it needs any."""

    def _speaker(self) -> Any:
        """An estimator that is not fitted, and has the methods that the ensemble will have."""
        return self._new(None)

    @property
    def takes_weights(self) -> bool:
        """Whether a learner among them can count rows by weights."""
        return any(map(takes_weights, self.estimators))

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        self.model_ = _fitted(self._new(self._folds(y)), X, y, sample_weight)
        self.n_features_in_ = np.shape(X)[1]
        if hasattr(self.model_, "classes_"):
            self.classes_ = self.model_.classes_
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        check_is_fitted(self)
        predicted: NDArray[Any] = self.model_.predict(X)
        return predicted

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        shares: NDArray[np.float64] = self.model_.predict_proba(X)
        return shares

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = self.model_.decision_function(X)
        return scores

    def complexity(self) -> float:
        return complexity(self.model_)


class _Stack(_Listed):
    def __init__(
        self,
        estimators: Sequence[Any] = (),
        final_estimator: Any = None,
        folds: int = 5,
        passthrough: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.folds = folds
        self.passthrough = passthrough
        self.random_state = random_state

    @property
    def takes_weights(self) -> bool:
        """Whether the last learner and one of the others can count rows by weights."""
        last = self.final_estimator
        return super().takes_weights and (last is None or takes_weights(last))

    def _folds(self, y: ArrayLike) -> Any:
        return folds_of(y, self.folds, self.random_state, is_classifier(self))

    def _speaker(self) -> Any:
        if self.final_estimator is not None:
            return self.final_estimator
        return LogisticRegression() if is_classifier(self) else RidgeCV()  # those of scikit-learn

    def _stacked(self, kind: Any, folds: Any) -> Any:
        final = None if self.final_estimator is None else clone(self.final_estimator)
        return kind(self._named(), final, cv=folds, passthrough=self.passthrough)


@public
class StackClassifier(ClassifierMixin, _Stack):
    """Stacking: a learner on the out-of-fold predictions of others."""

    def _new(self, folds: Any) -> Any:
        return self._stacked(StackingClassifier, folds)


@public
class StackRegressor(RegressorMixin, _Stack):
    """Stacking: a learner on the out-of-fold predictions of others."""

    def _new(self, folds: Any) -> Any:
        return self._stacked(StackingRegressor, folds)


@public
class VoteClassifier(ClassifierMixin, _Listed):
    """Several learners on the same rows vote with their classes (hard) or their probabilities (soft)."""

    def __init__(self, estimators: Sequence[Any] = (), voting: str = "hard") -> None:
        self.estimators = estimators
        self.voting = voting

    def _new(self, folds: Any) -> Any:
        return VotingClassifier(self._named(), voting=self.voting)


@public
class VoteRegressor(RegressorMixin, _Listed):
    """The mean of several learners on the same rows."""

    def __init__(self, estimators: Sequence[Any] = ()) -> None:
        self.estimators = estimators

    def _new(self, folds: Any) -> Any:
        return VotingRegressor(self._named())
