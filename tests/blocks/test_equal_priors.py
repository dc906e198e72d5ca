"""Equal priors against Bayes' rule with priors set by hand, and against the quotients written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import GaussianNB

from msl.blocks.base.chain import probabilities
from msl.blocks.calibration import EqualPriors


def test_naive_bayes_becomes_the_one_with_equal_priors() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == 0)[:30], np.flatnonzero(y == 1)])
    X, y = X[rows][:, :3], y[rows]
    as_they_are, equal = GaussianNB().fit(X, y), GaussianNB(priors=[0.5, 0.5]).fit(X, y)
    outputs = as_they_are.predict_proba(X)
    moved = EqualPriors().fit(outputs, y).transform(outputs)
    assert moved == pytest.approx(equal.predict_proba(X))
    assert balanced_accuracy_score(y, moved.argmax(axis=1)) > balanced_accuracy_score(y, outputs.argmax(axis=1))


@given(arrays(np.float64, (12, 3), elements=st.floats(-20, 20)), st.booleans())
def test_each_probability_is_divided_by_the_share_of_its_class(scores: NDArray[np.float64], as_scores: bool) -> None:
    y = np.array([0] * 6 + [1] * 4 + [2] * 2)
    given_probabilities = softmax(scores, axis=1)
    outputs = scores - 100.0 if as_scores else given_probabilities
    moved = EqualPriors().fit(outputs, y).transform(outputs)
    quotients = given_probabilities * [2.0, 3.0, 6.0]
    assert probabilities(moved) == pytest.approx(quotients / quotients.sum(axis=1, keepdims=True))


def test_large_scores_keep_their_order() -> None:
    scores = np.linspace(-5_000, 5_000, 40)
    outputs, y = np.column_stack([-scores, scores]), (np.arange(40) > 30).astype(int)
    moved = EqualPriors().fit(outputs, y).transform(outputs)
    assert (np.diff(moved[:, 1] - moved[:, 0]) > 0).all()


def test_outputs_that_leave_the_unit_interval_do_not_turn_the_decision_around() -> None:
    """Least squares on 0 and 1 gives outputs that sum to 1 and go beyond, far from the training rows."""
    block = EqualPriors()
    block.fit_arrays(np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8]] * 3), np.array([0, 0, 0, 0, 0, 0, 0, 0, 1]), 2)
    moved = block.transform_arrays(np.array([[1.26, -0.26], [1.0, 0.0], [-0.3, 1.3]]))
    assert moved == pytest.approx(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))


def test_equally_frequent_classes_change_nothing() -> None:
    outputs = np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5], [0.0, 1.0]])
    assert EqualPriors().fit(outputs, [0, 1, 0, 1]).transform(outputs) == pytest.approx(outputs)


def test_what_is_a_probability_is_settled_by_the_training_rows() -> None:
    """A single row of scores may happen to look like probabilities."""
    block = EqualPriors()
    block.fit_arrays(np.array([[-2.0, 2.0], [1.0, 3.0], [0.0, -1.0]]), np.array([0, 1, 1]), 2)
    row = np.array([[0.25, 0.75]])
    quotients = softmax(row, axis=1) * [3.0, 1.5]
    assert softmax(block.transform_arrays(row), axis=1) == pytest.approx(quotients / quotients.sum())


def test_a_class_without_rows_keeps_its_probability_of_zero() -> None:
    outputs = np.array([[0.6, 0.0, 0.4], [0.2, 0.0, 0.8], [0.1, 0.0, 0.9]])
    block = EqualPriors()
    block.fit_arrays(outputs, np.array([0, 2, 2]), 3)
    moved = block.transform_arrays(outputs)
    assert (moved[:, 1] == 0.0).all()
    assert moved.sum(axis=1) == pytest.approx(1.0)
    assert block.complexity() == 0.0
