"""Committees: what members say together, against scikit-learn's own votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from msl.blocks.chain import ChainClassifier, ChainRegressor
from msl.blocks.committee import CommitteeClassifier, CommitteeRegressor, voted

CLASSIFIERS = [LogisticRegression(max_iter=5_000), GaussianNB(), KNeighborsClassifier(7)]
WEIGHTS = [[1.0, 1.0, 1.0], [0.2, 0.5, 0.3]]


def _few_columns() -> tuple[Any, Any]:
    """Two columns of the wines, so that the members do not agree on all rows."""
    X, y = load_wine(return_X_y=True)
    return X[:, [1, 2]], y


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_soft_vote_is_that_of_scikit_learn(weights: list[float]) -> None:
    X, y = _few_columns()
    ours = CommitteeClassifier([ChainClassifier([], clone(one)) for one in CLASSIFIERS], weights, "soft").fit(X, y)
    theirs = VotingClassifier([(str(n), clone(one)) for n, one in enumerate(CLASSIFIERS)], voting="soft")
    theirs.set_params(weights=weights).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X))
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_a_hard_vote_is_that_of_scikit_learn_where_there_are_no_ties() -> None:
    X, y = _few_columns()
    weights = [0.2, 0.45, 0.35]
    ours = CommitteeClassifier([ChainClassifier([], clone(one)) for one in CLASSIFIERS], weights).fit(X, y)
    theirs = VotingClassifier([(str(n), clone(one)) for n, one in enumerate(CLASSIFIERS)], weights=weights).fit(X, y)
    assert (ours.predict(X) == theirs.predict(X)).all()
    soft = CommitteeClassifier([ChainClassifier([], clone(one)) for one in CLASSIFIERS], weights, "soft").fit(X, y)
    assert (ours.predict(X) != soft.predict(X)).any(), "the two votes differ on some rows"


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_numbers_are_averaged_by_either_vote(voting: Any, weights: list[float]) -> None:
    X, y = load_diabetes(return_X_y=True)
    members = [Ridge(), KNeighborsRegressor(5), Ridge(alpha=30.0)]
    ours = CommitteeRegressor([ChainRegressor([], clone(one)) for one in members], weights, voting).fit(X, y)
    theirs = VotingRegressor([(str(n), clone(one)) for n, one in enumerate(members)], weights=weights).fit(X, y)
    assert ours.predict(X) == pytest.approx(theirs.predict(X))


def test_scores_that_are_no_probabilities_are_made_so_before_they_are_averaged() -> None:
    """A margin of 30 is not thirty votes: it is one member that is sure."""
    margins = np.array([[30.0, -30.0]])
    sure = np.array([[0.1, 0.9]])
    assert voted([margins, sure, sure], [1.0, 1.0, 1.0], 2, "soft", 0).argmax() == 1


def test_ties_of_a_hard_vote_are_broken_by_the_seed_alone() -> None:
    halves = [np.tile([1.0, 0.0], (200, 1)), np.tile([0.0, 1.0], (200, 1))]
    first, again, other = (voted(halves, [1.0, 1.0], 2, "hard", seed).argmax(axis=1) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert 60 < first.sum() < 140, "both classes win"


def test_a_committee_saved_before_there_was_a_choice_votes_as_it_did() -> None:
    X, y = _few_columns()
    old = CommitteeClassifier([ChainClassifier([], DecisionTreeClassifier(random_state=0))]).fit(X, y)
    del old.__dict__["voting"]
    assert (old.predict(X) == old.members[0].learner.predict(X)).all()
