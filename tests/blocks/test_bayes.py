"""Naive Bayes against scikit-learn's GaussianNB and against an explicit computation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm
from sklearn.datasets import load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

from msl.blocks.learners.naive_bayes import GaussianBayes, NaiveBayes


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_gaussian_bayes_is_scikit_learns(load):
    X, y = load(return_X_y=True)
    ours, theirs = GaussianBayes().fit(X[::2], y[::2]), GaussianNB().fit(X[::2], y[::2])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-300)


@given(arrays(np.float64, (12, 2), elements=st.floats(-50, 50, allow_subnormal=False)), st.integers(2, 4))
@settings(max_examples=60)
def test_gaussian_bayes_is_scikit_learns_on_any_table(X, n_classes):
    y = np.arange(12) % n_classes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs divides by zero when nothing varies
        expected = GaussianNB().fit(X, y).predict_proba(X)
    ours = GaussianBayes().fit(X, y).predict_proba(X)
    if np.isfinite(expected).all() and X.var(axis=0).max() > 1e-20:
        np.testing.assert_allclose(ours, expected, atol=1e-7)
    else:
        assert np.isfinite(ours).all()


def explicit_naive(X, y, new):
    """Products of densities and frequencies, one number at a time."""
    joint = np.zeros((len(new), y.max() + 1))
    for code in range(y.max() + 1):
        rows = X[y == code]
        for i, x in enumerate(new):
            value = len(rows) / len(X)
            for j in range(X.shape[1]):
                kinds = np.unique(X[:, j])
                if len(kinds) == 2:
                    near_upper = abs(x[j] - kinds[1]) < abs(x[j] - kinds[0])
                    seen = (rows[:, j] == kinds[int(near_upper)]).sum()
                    value *= (seen + 1) / (len(rows) + 2)
                elif len(kinds) > 2:
                    squares = ((rows[:, j] - rows[:, j].mean()) ** 2).sum() + X[:, j].var()
                    value *= norm.pdf(x[j], rows[:, j].mean(), np.sqrt(squares / (len(rows) + 1)))
            joint[i, code] = value
    return joint / joint.sum(axis=1, keepdims=True)


def test_naive_is_an_explicit_product():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = np.column_stack(
        [
            rng.normal(size=40) + y,
            100.0 * rng.normal(size=40),
            (rng.random(40) < (y + 1) / 5).astype(float),
            np.where(rng.random(40) < 0.3, -7.5, 2.25),
            np.full(40, 3.0),
        ]
    )
    new = X + rng.normal(size=X.shape) * 0.3
    np.testing.assert_allclose(NaiveBayes().fit(X, y).predict_proba(new), explicit_naive(X, y, new), rtol=1e-9)


def test_standardizing_changes_nothing_for_naive():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(30, 2)), rng.random((30, 2)) < 0.4]).astype(float)
    y = np.arange(30) % 2
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(NaiveBayes().fit(standard, y).predict_proba(standard), expected, atol=1e-12)


def test_a_value_never_seen_in_a_class_does_not_rule_it_out():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    probabilities = NaiveBayes().fit(X, [0, 0, 0, 1, 1, 1]).predict_proba([[1.0]])
    np.testing.assert_allclose(probabilities, [[1 / 5, 4 / 5]], rtol=1e-12)


def test_complexity_counts_what_is_estimated():
    X = np.column_stack([np.arange(8.0), np.arange(8) % 2, np.ones(8)])
    assert NaiveBayes().fit(X, np.arange(8) // 4).complexity() == 2 * 2 + 2
    assert GaussianBayes().fit(X, np.arange(8) // 4).complexity() == 2 * 2 * 3
