"""An ensemble of several models: they vote, are averaged, or another learner is fitted on what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import ArrayClassifier, ArrayModel, ArrayRegressor, shares, sum_to_one
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

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
