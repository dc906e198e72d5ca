"""Committee: several models that vote — the estimator of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from msl.blocks.base.block import Floats
from msl.blocks.base.chain import ArrayClassifier, ArrayModel, ArrayRegressor, shares, softmax, sum_to_one
from msl.blocks.public import public
from msl.diagnostics.user_error import UserError

Voting = Literal["hard", "soft"]


def voted(outputs: Sequence[Floats], weights: Sequence[float], n_classes: int, voting: Voting) -> Floats:
    """What members say together: the shares of the vote of each class, or the mean of what they say.

    In a soft vote that must be probabilities.
    """
    if voting not in ("hard", "soft"):
        raise UserError(f"members vote hard or soft, not {voting!r}")
    share = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    if n_classes == 0 or voting == "soft":
        mean: Floats = np.tensordot(share, np.array(outputs), axes=1)
        return mean
    return _ballot(outputs, share, n_classes)


def as_probabilities(outputs: Floats, given: bool) -> Floats:
    """What a member says, for a soft vote; `given` says that its outputs are meant as probabilities.

    That is settled once for a member, by the rows that it was fitted on: what is said of a row must not hang on which
    others are asked with it.
    """
    return shares(outputs) if given else softmax(outputs)


def _ballot(outputs: Sequence[Floats], share: Floats, n_classes: int) -> Floats:
    """Each member's vote is for one class. Of classes with as many votes, the one that the first member to vote for any
    of them has chosen is ahead: members stand in order, and what is said of a row hangs on that row alone.
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
    """What committees for both tasks share."""

    voting: Voting = "hard"  # of the class too: committees saved before there was a choice have none of their own

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
        """A committee of members that are fitted already; `gives_probabilities` says which of them give them."""
        committee = cls(members, weights, voting)
        committee.n_classes_ = n_classes
        if committee._averages_probabilities():
            committee.given_probabilities_ = list(gives_probabilities)
        return committee

    def fit_arrays(self, X: Floats, y: NDArray[Any], n_classes: int) -> None:
        self.n_classes_ = n_classes
        for member in self.members:
            member.fit_arrays(X, y, n_classes)
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
    """Members vote; `predict_proba` gives the shares of the vote, or the mean of their probabilities if it is soft."""


@public
class CommitteeRegressor(ArrayRegressor, _Committee):
    """The mean of the members."""
