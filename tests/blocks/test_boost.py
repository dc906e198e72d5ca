"""LogitBoost against a plain implementation, and its trees against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_classification, make_moons
from sklearn.tree import DecisionTreeRegressor

from msl.blocks.learners.logitboost import LogitBoost, ShallowTrees, SortedRows, midpoint


def plain_stump(X, weights, response):
    """The best single split, tried one after another: feature, threshold, value below, value above."""
    mean = np.average(response, weights=weights)
    best = (weights * (response - mean) ** 2).sum() * (1 - 1e-12), None, np.inf, mean, mean
    for feature in range(X.shape[1]):
        kinds = np.unique(X[:, feature])
        for threshold in (kinds[:-1] + kinds[1:]) / 2:
            below = X[:, feature] <= threshold
            low = np.average(response[below], weights=weights[below])
            high = np.average(response[~below], weights=weights[~below])
            error = (weights * (response - np.where(below, low, high)) ** 2).sum()
            if error < best[0] - 1e-9:
                best = error, feature, threshold, low, high
    return best[1:]


def stump_values(stump, X):
    feature, threshold, low, high = stump
    return np.full(len(X), low) if feature is None else np.where(X[:, feature] <= threshold, low, high)


def working(is_class, p):
    weights = np.maximum(p * (1 - p), 1e-15)
    return weights, np.clip((is_class - p) / weights, -10, 10)


def plain_two_classes(X, y, new, units, shrinkage):
    """Algorithm 3 of Friedman, Hastie and Tibshirani (2000)."""
    F, F_new = np.zeros(len(X)), np.zeros(len(new))
    for _ in range(units):
        p = np.exp(F) / (np.exp(F) + np.exp(-F))
        stump = plain_stump(X, *working(y == 1, p))
        F += shrinkage * stump_values(stump, X) / 2
        F_new += shrinkage * stump_values(stump, new) / 2
    return np.exp(F_new) / (np.exp(F_new) + np.exp(-F_new))


def plain_many_classes(X, y, new, units, shrinkage):
    """Algorithm 6 of the same."""
    J = y.max() + 1
    F, F_new = np.zeros((len(X), J)), np.zeros((len(new), J))
    for _ in range(units):
        p = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
        stumps = [plain_stump(X, *working(y == j, p[:, j])) for j in range(J)]
        for scores, rows in ((F, X), (F_new, new)):
            f = np.column_stack([stump_values(stump, rows) for stump in stumps])
            scores += shrinkage * (J - 1) / J * (f - f.mean(axis=1, keepdims=True))
    return np.exp(F_new) / np.exp(F_new).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shrinkage", [0.1, 0.7])
def test_two_classes_on_stumps_are_the_plain_algorithm(shrinkage):
    X, y = make_moons(80, noise=0.3, random_state=0)
    new = make_moons(40, noise=0.3, random_state=1)[0]
    ours = LogitBoost(units=15, shrinkage=shrinkage, depth=1).fit(X, y)
    expected = plain_two_classes(X, y, new, 15, shrinkage)
    np.testing.assert_allclose(ours.predict_proba(new)[:, 1], expected, rtol=1e-9)


@pytest.mark.slow
def test_more_classes_on_stumps_are_the_plain_algorithm():
    X, y = make_classification(70, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    ours = LogitBoost(units=8, shrinkage=0.4, depth=1).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, plain_many_classes(X, y, X, 8, 0.4), rtol=1e-8)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("n_features", [1, 6])
def test_trees_are_scikit_learns(depth, n_features):
    rng = np.random.default_rng(depth)
    X = rng.normal(size=(60, n_features)).astype(np.float32).astype(np.float64)
    weights, response = rng.random(60) + 0.01, rng.normal(size=60)
    trees = ShallowTrees.empty(1, depth)
    fitted = trees.grow(0, SortedRows.of(X), weights, response)
    theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, response, sample_weight=weights)
    np.testing.assert_allclose(fitted, theirs.predict(X), rtol=1e-10)
    np.testing.assert_allclose(trees.sums(X, 1)[:, 0], fitted, rtol=1e-14)
    if n_features == 1:  # else several features may part the rows alike, and which of them is taken is a toss-up
        new = rng.normal(size=(200, 1))
        np.testing.assert_allclose(trees.sums(new, 1)[:, 0], theirs.predict(new), rtol=1e-10)
    assert trees.n_leaves() == theirs.get_n_leaves()


@given(
    arrays(np.float64, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=st.integers(0, 4).map(float)),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=80)
def test_trees_agree_with_themselves_on_tables_full_of_ties(X, depth, seed):
    """Rows that cannot be told apart share a leaf, whose value is their weighted mean; prediction finds the leaf."""
    rng = np.random.default_rng(seed)
    weights, response = rng.random(len(X)) + 0.1, rng.normal(size=len(X))
    trees = ShallowTrees.empty(1, depth)
    fitted = trees.grow(0, SortedRows.of(X), weights, response)
    np.testing.assert_allclose(trees.sums(X, 1)[:, 0], fitted, rtol=1e-14)
    for value in np.unique(fitted):
        leaf = fitted == value
        assert value == pytest.approx(np.average(response[leaf], weights=weights[leaf]), rel=1e-9, abs=1e-12)
    assert len(np.unique(fitted)) <= trees.n_leaves() <= 2**depth


def test_neighbouring_numbers_can_be_split():
    below, above = 1.0, np.nextafter(1.0, 2.0)
    assert below <= midpoint(below, above) < above
    assert midpoint(-1.7e308, 1.7e308) == 0.0
    trees = ShallowTrees.empty(1, 1)
    X = np.array([[below], [above]])
    fitted = trees.grow(0, SortedRows.of(X), np.ones(2), np.array([-1.0, 1.0]))
    np.testing.assert_array_equal(fitted, [-1.0, 1.0])
    np.testing.assert_array_equal(trees.sums(X, 1)[:, 0], fitted)


def test_a_response_without_spread_is_one_leaf():
    trees = ShallowTrees.empty(1, 3)
    X = np.random.default_rng(0).normal(size=(50, 3))
    fitted = trees.grow(0, SortedRows.of(X), np.random.default_rng(1).random(50) + 0.1, np.full(50, 0.1))
    np.testing.assert_allclose(fitted, 0.1, rtol=1e-14)
    assert trees.n_leaves() == 1


def test_predictions_in_parts_are_predictions_at_once(monkeypatch):
    X, y = make_classification(50, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    model = LogitBoost(units=11).fit(X, y)
    expected = model.predict_proba(X)
    monkeypatch.setattr("msl.blocks.learners.logitboost.PAIRS_AT_ONCE", 400)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-13)


@pytest.mark.parametrize("shrinkage", [0.3, 2.0])
def test_many_rounds_on_separable_rows_stay_numbers(shrinkage):
    X = np.linspace(-1, 1, 40)[:, None]
    y = (X[:, 0] > 0).astype(int)
    probabilities = LogitBoost(units=400, shrinkage=shrinkage).fit(X, y).predict_proba(X)
    assert np.isfinite(probabilities).all()
    assert (probabilities.argmax(axis=1) == y).all()


def test_depth_sees_interactions():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    stumps, trees = (LogitBoost(depth=depth).fit(X[:200], y[:200]).score(X[200:], y[200:]) for depth in (1, 3))
    assert trees > 0.9 > stumps


def test_complexity_counts_leaves():
    X = np.linspace(-1, 1, 40)[:, None]
    assert LogitBoost(units=7, depth=1).fit(X, X[:, 0] > 0).complexity() == 14
