"""Votes in an exported file count as `msl.blocks.ensembles` does, ties and margins included."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from msl.blocks.base.chain import ChainClassifier, ChainRegressor
from msl.blocks.ensembles import (
    CommitteeClassifier,
    CommitteeRegressor,
    StackedCommitteeClassifier,
    StackedCommitteeRegressor,
    as_probabilities,
    stack_columns,
)
from msl.export import python_template as texts
from msl.export.python_code import EstimatorCode, Unwritable
from msl.export.python_file import Exportable, _linear_form, export_python

SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, -1.0, 3.0])


class Member:
    """Says what it is told to."""

    def __init__(self, said: Any) -> None:
        self.said = np.array(said)

    def fit_arrays(self, X: Any, y: Any, n_classes: int) -> None:
        pass

    def outputs(self, X: Any) -> Any:
        return self.said


def exported_vote(text: str, **constants: Any) -> Any:
    names = {"np": np, "outputs": lambda member, X: member.outputs(X), **constants}
    exec(text, names)
    return names["vote"]


@given(
    said=st.integers(1, 5).flatmap(
        lambda members: st.lists(
            st.lists(st.lists(SCORES, min_size=3, max_size=3), min_size=4, max_size=4),
            min_size=members,
            max_size=members,
        )
    ),
    weights=st.lists(st.sampled_from([1.0, 0.5, 1 / 3, 0.1]), min_size=5, max_size=5),
    probable=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_votes_of_classes(said: Any, weights: list[float], probable: list[bool]) -> None:
    X, y = np.zeros((4, 1)), np.array([0, 1, 2, 0])
    values = [
        np.abs(np.array(one)) + 0.01 if share else np.array(one) for one, share in zip(said, probable, strict=False)
    ]
    values = [
        one / one.sum(axis=1, keepdims=True) if share else one for one, share in zip(values, probable, strict=False)
    ]
    members = [Member(one) for one in values]
    weights = weights[: len(members)]
    for voting, text in (("hard", texts.VOTE_HARD), ("soft", texts.VOTE_SOFT)):
        committee = CommitteeClassifier(members, weights, voting)  # type: ignore[arg-type]
        committee.fit_arrays(X, y, 3)
        constants = {"CLASSES": [0, 1, 2], "WEIGHTS": weights}
        if voting == "soft":
            constants["GIVE_PROBABILITIES"] = committee.given_probabilities_
        vote = exported_vote(text, **constants)
        assert np.array_equal(vote(members, X), committee.outputs(X))


def test_a_vote_of_numbers_is_the_weighted_mean() -> None:
    members, weights = [Member([1.0, 2.0]), Member([3.0, -1.0])], [1.0, 0.5]
    committee = CommitteeRegressor(members, weights)
    committee.fit_arrays(np.zeros((2, 1)), np.zeros(2), 0)
    vote = exported_vote(texts.VOTE_NUMBERS, WEIGHTS=weights)
    assert np.array_equal(vote(members, np.zeros((2, 1))), committee.outputs(np.zeros((2, 1))))


@pytest.mark.parametrize("k", [2, 3])
def test_a_stack_of_classes(k: int) -> None:
    rng = np.random.default_rng(k)
    raw = rng.normal(size=(3, 40, k))
    said = [np.exp(raw[0]) / np.exp(raw[0]).sum(axis=1, keepdims=True), raw[1], np.eye(k)[raw[2].argmax(axis=1)]]
    members, gives = [Member(one) for one in said], [True, False, True]
    columns = stack_columns([as_probabilities(*each) for each in zip(said, gives, strict=True)])
    assert columns.shape == (40, 3 if k == 2 else 9)
    final = ChainClassifier(steps=[StandardScaler()], learner=LogisticRegression(), posts=[])
    final.fit_arrays(columns, rng.permutation(np.arange(40) % k), k)
    stack = StackedCommitteeClassifier.of_fitted(members, final, k, gives)
    coefficients, intercepts = _linear_form(final)
    constants = {"CLASSES": list(range(k)), "GIVE_PROBABILITIES": gives}
    vote = exported_vote(texts.STACK_CLASSES, **constants, COEFFICIENTS=coefficients, INTERCEPTS=intercepts)
    assert vote(members, np.zeros((40, 1))) == pytest.approx(stack.outputs(np.zeros((40, 1))))


def test_a_stack_of_numbers() -> None:
    rng = np.random.default_rng(0)
    members = [Member(one) for one in rng.normal(size=(3, 30)) * 100 + 7]
    final = ChainRegressor(steps=[StandardScaler()], learner=Ridge(), posts=[])
    final.fit_arrays(stack_columns([one.said for one in members]), rng.normal(size=30), 0)
    stack = StackedCommitteeRegressor.of_fitted(members, final, 0, [False] * 3)
    coefficients, intercept = _linear_form(final)
    vote = exported_vote(texts.STACK_NUMBERS, COEFFICIENTS=coefficients, INTERCEPTS=intercept)
    assert vote(members, np.zeros((30, 1))) == pytest.approx(stack.outputs(np.zeros((30, 1))))


def test_a_stack_whose_last_learner_is_not_linear_is_refused() -> None:
    final = ChainRegressor(steps=[], learner=DecisionTreeRegressor(), posts=[])
    with pytest.raises(Unwritable, match="not linear"):
        _linear_form(final)


# --- names ------------------------------------------------------------------------------------------------


class Table(BaseEstimator):
    """A learner that is called what an exported file calls something else."""

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


def test_every_name_of_the_file_is_reserved() -> None:
    estimator = ChainClassifier(learner=Table())
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    estimator.fit_arrays(X, y, 2)
    given = Exportable("run", "text", estimator, ("a",), {}, "y", ("p", "q"), (), None, np.array([[0.0, 1.0]]))
    text = export_python(given)
    assert "import Table as Table_2" in text
    assert "return Table_2()" in text
    tree = ast.parse(text)
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {name.id for node in tree.body if isinstance(node, ast.Assign) for name in node.targets}  # type: ignore[attr-defined]
    own |= {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names} - {"numpy"}
    assert own | {"np", "zip", "print"} <= texts.reserved_names()
    names: dict[str, Any] = {"__name__": "exported"}
    exec(text, names)
    assert names["self_test"](names["fit"](X, y))


def test_a_name_is_given_once() -> None:
    code = EstimatorCode(["Table"])
    assert code.imported(Table).text == code.imported(Table).text == "Table_2"


@pytest.mark.parametrize(
    "text", [texts.VOTE_HARD, texts.VOTE_SOFT, texts.VOTE_NUMBERS, texts.STACK_CLASSES, texts.STACK_NUMBERS]
)
def test_no_place_is_left_open(text: str) -> None:
    assert "{{" not in text
