"""Learners made of learners: stacking and voting as blocks, and the ensembles that a run makes of its best models.

Folds are seeded and lie inside the rows that a block is fitted on, so that no row that judges a model is ever seen.
They know the classes of these rows; groups and the order of a table do not reach blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone, is_classifier
from sklearn.ensemble import StackingClassifier, StackingRegressor, VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import ArrayClassifier, ArrayModel, ArrayRegressor, shares, sum_to_one
from msl.blocks.base.complexity import complexity
from msl.blocks.base.row_weights import fit_with_weights, request_weights, takes_weights
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

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


# --- Ensembles of a run: its models vote, are averaged, or another learner is fitted on what they say -----------------

Voting = Literal["hard", "soft"]


def voted(outputs: Sequence[Floats], weights: Sequence[float], n_classes: int, voting: Voting) -> Floats:
    """The combined outputs of the members: for a hard vote the share of the votes of each class, else their mean.

    The outputs of a soft vote must be probabilities.
    """
    if voting not in ("hard", "soft"):
        raise UserError(f"members vote hard or soft, not {voting!r}")
    share = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    if n_classes == 0 or voting == "soft":
        mean: Floats = np.tensordot(share, np.array(outputs), axes=1)
        return mean
    return _ballot(outputs, share, n_classes)


def as_probabilities(outputs: Floats, given: bool) -> Floats:
    """The outputs of a member as probabilities, for a soft vote; `given` means that they are probabilities already.

    Whether they are is decided once for each member, on its training rows: the prediction for a row must not depend on
    the rows it is predicted with.
    """
    return shares(outputs) if given else np.asarray(softmax(outputs, axis=1))


#: Probabilities below this are as good as none, so that no single one decides a stack.
_LEAST = 1e-4


def stack_columns(outputs: Sequence[Floats]) -> Floats:
    """The columns that the last learner of a stack sees: the logarithms of the probabilities of each member relative to
    their mean, of two classes the log odds alone, or numbers."""
    columns = []
    for one in outputs:
        if one.ndim == 1:
            columns.append(one[:, np.newaxis])
            continue
        logs = np.log(np.clip(one, _LEAST, 1.0))
        columns.append(logs[:, 1:] - logs[:, :1] if one.shape[1] == 2 else logs - logs.mean(axis=1, keepdims=True))
    return np.hstack(columns).astype(np.float64)


def _ballot(outputs: Sequence[Floats], share: Floats, n_classes: int) -> Floats:
    """The share of the votes of each class; every member votes for one class.

    A tie goes to the tied class that the first member chose, or the second, and so on. Members are in a fixed order, so
    that the result for a row depends on that row alone.
    """
    rows = np.arange(len(outputs[0]))
    chosen = [one.argmax(axis=1) for one in outputs]
    votes = np.zeros((len(rows), n_classes))
    for one, weight in zip(chosen, share, strict=True):
        votes[rows, one] += weight
    tied = votes >= votes.max(axis=1, keepdims=True) - 1e-12
    settled = np.zeros(len(rows), dtype=np.bool_)
    for one in chosen:
        settles = tied[rows, one] & ~settled
        votes[rows[settles], one[settles]] += 1e-9
        settled |= settles
    return shares(votes)


class _Committee(ArrayModel):
    """What ensembles for classification and regression share."""

    voting: Voting = "hard"  # a class attribute too: older saved models have no attribute of their own

    def __init__(
        self,
        members: Sequence[Any] = (),
        weights: Sequence[float] | None = None,
        voting: Voting = "hard",
    ) -> None:
        self.members = members
        self.weights = weights
        self.voting = voting

    @classmethod
    def of_fitted(
        cls,
        members: Sequence[Any],
        weights: Sequence[float],
        voting: Voting,
        n_classes: int,
        gives_probabilities: Sequence[bool],
    ) -> Self:
        """An ensemble of fitted members; `gives_probabilities` says for each whether its outputs are probabilities."""
        committee = cls(members, weights, voting)
        committee.n_classes_ = n_classes
        if committee._averages_probabilities():
            committee.given_probabilities_ = list(gives_probabilities)
        return committee

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None) -> None:
        self.n_classes_ = n_classes
        given = () if weights is None else (weights,)
        for member in self.members:
            member.fit_arrays(X, y, n_classes, *given)
        if self._averages_probabilities():
            self.given_probabilities_ = [sum_to_one(member.outputs(X)) for member in self.members]

    def outputs(self, X: Floats) -> Floats:
        weights = [1.0] * len(self.members) if self.weights is None else self.weights
        outputs = [member.outputs(X) for member in self.members]
        if self._averages_probabilities():
            outputs = [as_probabilities(*each) for each in zip(outputs, self.given_probabilities_, strict=True)]
        return voted(outputs, weights, self.n_classes_, self.voting)

    def _averages_probabilities(self) -> bool:
        return self.voting == "soft" and self.n_classes_ > 0


@public
class CommitteeClassifier(ArrayClassifier, _Committee):
    """A vote of classifiers; `predict_proba` is the share of the votes, or the mean probability for a soft vote."""


@public
class CommitteeRegressor(ArrayRegressor, _Committee):
    """The weighted mean of the predictions of several regressors."""


class _Stacked(ArrayModel):
    """Members whose outputs are the columns of a last learner, `final`; it was fitted on outputs for rows held out."""

    def __init__(self, members: Sequence[Any] = (), final: Any = None) -> None:
        self.members = members
        self.final = final

    @classmethod
    def of_fitted(cls, members: Sequence[Any], final: Any, n_classes: int, gives_probabilities: Sequence[bool]) -> Self:
        """A stack of fitted members; `gives_probabilities` says for each whether its outputs are probabilities."""
        stacked = cls(members, final)
        stacked.n_classes_ = n_classes
        stacked.given_probabilities_ = list(gives_probabilities)
        return stacked

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int, weights: Floats | None = None) -> None:
        raise UserError("a stack of a run cannot be fitted again: its last learner saw outputs for rows held out")

    def outputs(self, X: Floats) -> Floats:
        said = [member.outputs(X) for member in self.members]
        if self.n_classes_:
            said = [as_probabilities(*each) for each in zip(said, self.given_probabilities_, strict=True)]
        found: Floats = self.final.outputs(stack_columns(said))
        return found


@public
class StackedCommitteeClassifier(ArrayClassifier, _Stacked):
    """A last classifier on what several classifiers say."""


@public
class StackedCommitteeRegressor(ArrayRegressor, _Stacked):
    """A last regressor on what several regressors say."""
