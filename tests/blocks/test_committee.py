"""Committees: what members say together, against scikit-learn's own votes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from msl.blocks.base.chain import ChainClassifier, ChainRegressor
from msl.blocks.ensembles import CommitteeClassifier, CommitteeRegressor, voted

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


class _Says(BaseEstimator):
    """A member that answers with the columns that it is told to take for its outputs."""

    def __init__(self, columns: tuple[int, int] = (0, 1)) -> None:
        self.columns = columns

    def fit_arrays(self, X: Any, y: Any, n_classes: int) -> None:
        pass

    def outputs(self, X: Any) -> Any:
        return X[:, list(self.columns)]


def test_scores_that_are_no_probabilities_are_made_so_before_they_are_averaged() -> None:
    """A margin of 30 is not thirty votes: it is one member that is sure."""
    rows = np.array([[30.0, -30.0, 0.1, 0.9], [-2.0, 2.0, 0.4, 0.6]])
    committee = CommitteeClassifier([_Says((0, 1)), _Says((2, 3)), _Says((2, 3))], None, "soft")
    committee.fit(rows, [0, 1])
    assert committee.predict(rows).tolist() == [1, 1]
    assert committee.predict_proba(rows)[0] == pytest.approx([(1 + 0.2) / 3, (0 + 1.8) / 3])


def test_what_is_said_of_a_row_does_not_hang_on_the_others() -> None:
    """One row beyond [0, 1] must not make the outputs of all rows something else."""
    trained_on = np.array([[0.9, 0.1, 0.2, 0.8], [0.3, 0.7, 0.9, 0.1]])
    asked = np.array([[0.9, 0.1, 0.2, 0.8], [1.3, -0.3, 0.2, 0.8], [0.4, 0.6, 0.9, 0.1]])
    committee = CommitteeClassifier([_Says((0, 1)), _Says((2, 3))], None, "soft").fit(trained_on, [0, 1])
    together = committee.predict_proba(asked)
    alone = [committee.predict_proba(asked[[row]])[0] for row in range(3)]
    assert together == pytest.approx(np.array(alone), abs=1e-15)
    assert together[:2] == pytest.approx(np.array([[0.55, 0.45], [0.6, 0.4]]))


def test_another_way_to_vote_is_refused() -> None:
    with pytest.raises(ValueError, match="hard or soft, not 'sotf'"):
        voted([np.eye(2)], [1.0], 2, "sotf")  # type: ignore[arg-type]


def test_a_tied_hard_vote_goes_to_whom_the_first_member_among_them_chose() -> None:
    ballots = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [2, 1, 0, 1], [2, 1, 0, 0], [2, 1, 0, 2]])
    members = [np.eye(3)[ballots[:, member]] for member in range(4)]
    together = voted(members, [1.0] * 4, 3, "hard")
    assert together.argmax(axis=1).tolist() == [0, 1, 1, 0, 2]
    alone = [voted([one[[row]] for one in members], [1.0] * 4, 3, "hard")[0] for row in range(5)]
    assert (together == alone).all()
    assert together.sum(axis=1) == pytest.approx(np.ones(5))


def test_a_committee_saved_before_there_was_a_choice_votes_as_it_did() -> None:
    X, y = _few_columns()
    old = CommitteeClassifier([ChainClassifier([], DecisionTreeClassifier(random_state=0))]).fit(X, y)
    del old.__dict__["voting"]
    assert (old.predict(X) == old.members[0].learner.predict(X)).all()
