"""Committee: several models that vote — the estimator of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from msl.blocks.array_model import ArrayClassifier, ArrayModel, ArrayRegressor, shares, softmax, sum_to_one
from msl.blocks.base import Floats

Voting = Literal["hard", "soft"]


def voted(
    outputs: Sequence[Floats], weights: Sequence[float], n_classes: int, voting: Voting, random_state: int
) -> Floats:
    """What members say together: the shares of the vote of each class, or the mean of what they say.

    In a soft vote that must be probabilities.
    """
    if voting not in ("hard", "soft"):
        raise ValueError(f"members vote hard or soft, not {voting!r}")
    share = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    if n_classes == 0 or voting == "soft":
        mean: Floats = np.tensordot(share, np.array(outputs), axes=1)
        return mean
    return _ballot(outputs, share, n_classes, random_state)


def as_probabilities(outputs: Floats, given: bool) -> Floats:
    """What a member says, for a soft vote; `given` says that its outputs are meant as probabilities.

    That is settled once for a member, by the rows that it was fitted on: what is said of a row must not hang on which
    others are asked with it.
    """
    return shares(outputs) if given else softmax(outputs)


def _ballot(outputs: Sequence[Floats], share: Floats, n_classes: int, random_state: int) -> Floats:
    """Each member's vote is for one class; ties are broken at random (seeded)."""
    rows = np.arange(len(outputs[0]))
    votes = np.zeros((len(rows), n_classes))
    for one, weight in zip(outputs, share, strict=True):
        votes[rows, one.argmax(axis=1)] += weight
    tied = votes >= votes.max(axis=1, keepdims=True) - 1e-12
    lots = np.random.default_rng(random_state).random(votes.shape) * tied
    votes += 1e-9 * (lots == lots.max(axis=1, keepdims=True))
    return shares(votes)


class _Committee(ArrayModel):
    """What committees for both tasks share."""

    voting: Voting = "hard"  # of the class too: committees saved before there was a choice have none of their own

    def __init__(
        self,
        members: Sequence[Any] = (),
        weights: Sequence[float] | None = None,
        voting: Voting = "hard",
        random_state: int = 0,
    ) -> None:
        self.members = members
        self.weights = weights
        self.voting = voting
        self.random_state = random_state

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
        return voted(outputs, weights, self.n_classes_, self.voting, self.random_state)

    def _averages_probabilities(self) -> bool:
        return self.voting == "soft" and self.n_classes_ > 0


class CommitteeClassifier(ArrayClassifier, _Committee):
    """Members vote; `predict_proba` gives the shares of the vote, or the mean of their probabilities if it is soft."""


class CommitteeRegressor(ArrayRegressor, _Committee):
    """The mean of the members."""
