"""Forests equal scikit-learn's wherever single precision holds the features, and the private classes they use."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from msl.blocks.base.load import VERSION
from msl.blocks.learners import forest
from msl.blocks.learners.forest import ForestClassifier, ForestRegressor


@pytest.mark.parametrize(("mtry", "max_features"), [(None, 4), (1, 1), (10, 10), (30, 17)])
@pytest.mark.parametrize("balance", [False, True])
def test_classes_are_scikit_learns(mtry, max_features, balance):
    X, y = make_classification(90, 17, n_informative=6, n_classes=3, weights=[0.6, 0.3], random_state=0)
    ours = ForestClassifier(units=12, mtry=mtry, balance=balance, random_state=3).fit(X, y)
    theirs = RandomForestClassifier(
        12, max_features=max_features, class_weight="balanced" if balance else None, random_state=3
    ).fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.complexity() == sum(tree.get_n_leaves() for tree in theirs.estimators_)


def test_numbers_are_scikit_learns():
    X, y = make_regression(80, 9, noise=5.0, random_state=0)
    ours = ForestRegressor(units=12, mtry=6, random_state=3).fit(X, y)
    theirs = RandomForestRegressor(12, max_features=6, random_state=3).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert ours.complexity() == sum(tree.get_n_leaves() for tree in theirs.estimators_)


def test_features_are_tried_in_multiples_of_the_root_if_asked_for():
    X, y = make_classification(90, 17, n_informative=6, random_state=0)
    for mtry, max_features in ((1, 4), (3, 12), (10, 17)):
        ours = ForestClassifier(units=5, mtry=mtry, mtry_in_roots=True, random_state=3).fit(X, y)
        counted = ForestClassifier(units=5, mtry=max_features, random_state=3).fit(X, y)
        np.testing.assert_array_equal(ours.predict_proba(X), counted.predict_proba(X))


def test_balance_changes_nothing_for_numbers():
    X, y = make_regression(40, 4, random_state=0)
    plain, balanced = (ForestRegressor(units=5, balance=b, random_state=0).fit(X, y).predict(X) for b in (False, True))
    np.testing.assert_array_equal(plain, balanced)


def test_columns_of_any_scale_split_alike():
    X, y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
    scales = np.array([2.0**-900, 2.0**-60, 2.0**150, 2.0**1000])
    plain = ForestClassifier(units=10, random_state=0).fit(X, y)
    wild = ForestClassifier(units=10, random_state=0).fit(X * scales, y)
    np.testing.assert_array_equal(wild.predict_proba(X * scales), plain.predict_proba(X))


@pytest.mark.parametrize("balance", [False, True])
def test_siblings_share_trees_to_the_last_bit_in_any_order(balance):
    X, y = make_classification(80, 6, n_informative=4, n_classes=3, weights=[0.6, 0.3], random_state=0)
    trees = query = None
    for units in (70, 3, 130, 64, 7, 200):
        sharing = ForestClassifier(units=units, mtry=2, balance=balance, random_state=5)
        trees = trees or sharing.prepare(X, y, 3)
        sharing.fit_prepared(trees, X, y, 3)
        query = query or sharing.prepare_query(X)
        alone = ForestClassifier(units=units, mtry=2, balance=balance, random_state=5)
        alone.fit_arrays(X, y, 3)
        np.testing.assert_array_equal(sharing.outputs_prepared(query), alone.outputs(X))
        assert sharing.complexity() == alone.complexity()
    assert trees.nbytes > 200 * 64
    assert query.nbytes > X.size * 4


@pytest.mark.parametrize("width", [1, 3, 5])
def test_rows_of_another_width_are_refused_before_trees_see_them(width):
    X, y = make_classification(40, 4, random_state=0)
    grown = ForestClassifier(units=3, random_state=0)
    grown.fit_arrays(X, y, 2)
    with pytest.raises(ValueError, match=f"grown on 4 features, not {width}"):
        grown.outputs(np.zeros((10, width)))


def test_public_classes_grow_the_trees_for_missing_values_and_unknown_releases(monkeypatch):
    X, y = make_classification(70, 5, random_state=0)
    plain = ForestClassifier(units=8, random_state=1).fit(X, y).predict_proba(X)
    monkeypatch.setattr(forest, "PRIVATE_API_KNOWN", False)
    np.testing.assert_array_equal(ForestClassifier(units=8, random_state=1).fit(X, y).predict_proba(X), plain)
    monkeypatch.undo()
    X[::7, 1] = np.nan
    rows, codes = X.astype(np.float32), y
    trees = forest.TreeGrowth(rows, codes, 2, 2, None, 1).grown([], 8)
    theirs = RandomForestClassifier(8, max_features=2, random_state=1).fit(X, y)
    assert [tree.node_count for tree in trees] == [tree.tree_.node_count for tree in theirs.estimators_]


# --- scikit-learn's private classes -----------------------------------------------------------------

#: The first release whose private classes take what `TreeGrowth` passes to them.
FIRST_RELEASE = (1, 9)
ADAPT = (
    f"scikit-learn {sklearn.__version__} has changed the private classes that msl.blocks.learners.forest grows trees "
    "with: adapt TreeGrowth, or remove it and use RandomForestClassifier and RandomForestRegressor alone"
)
NODES = ("feature", "threshold", "children_left", "children_right", "value", "n_node_samples")


def test_the_private_classes_are_those_that_the_code_was_written_for():
    assert (VERSION >= FIRST_RELEASE) == forest.PRIVATE_API_KNOWN, ADAPT


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_grown_tree_is_scikit_learns_node_by_node(n_classes, weighted):
    if n_classes:
        X, y = make_classification(90, 7, n_informative=5, n_classes=n_classes, random_state=2)
    else:
        X, y = make_regression(90, 7, noise=5.0, random_state=2)
    weights = np.linspace(0.5, 1.5, 90) if weighted else None
    try:
        growth = forest.TreeGrowth(X.astype(np.float32), y, n_classes, 3, weights, 11)
        first = growth.grown([], 4)
        trees = growth.grown(first, 9)
        parts = [{part: getattr(tree, part) for part in (*NODES, "n_leaves", "node_count")} for tree in trees]
        importances = [tree.compute_feature_importances() for tree in trees]
        outputs = [tree.predict(X.astype(np.float32)) for tree in trees]
    except (TypeError, ValueError, AttributeError) as reason:
        pytest.fail(f"{ADAPT} ({reason})")
    if forest.PRIVATE_API_KNOWN:
        assert trees[:4] == first
    kind = RandomForestClassifier if n_classes else RandomForestRegressor
    theirs = kind(9, max_features=3, random_state=11).fit(X, y, weights).estimators_
    for place, tree in enumerate(theirs):
        for part in NODES:
            np.testing.assert_array_equal(parts[place][part], getattr(tree.tree_, part), err_msg=ADAPT)
        np.testing.assert_array_equal(importances[place], tree.feature_importances_, err_msg=ADAPT)
        np.testing.assert_array_equal(outputs[place], tree.tree_.predict(X.astype(np.float32)), err_msg=ADAPT)
