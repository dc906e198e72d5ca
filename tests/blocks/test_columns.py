"""Columns by kind and the passthrough: what stays, in which order, and what a wrong position is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.preprocessing.prepare import Columns, Passthrough


@pytest.mark.slow
@parametrize_with_checks(
    [Passthrough(), Columns(), Columns(kind="all"), Columns(kind="symbolic", symbolic_columns=[0])]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@given(
    flags=st.lists(st.booleans(), min_size=1, max_size=12),
    n_rows=st.integers(1, 5),
    gap=st.booleans(),
    data=st.data(),
)
def test_numeric_and_symbolic_share_out_the_columns(flags, n_rows, gap, data):
    X = np.arange(n_rows * len(flags), dtype=float).reshape(n_rows, len(flags))
    if gap:
        X[0, data.draw(st.integers(0, len(flags) - 1))] = np.nan
    positions = data.draw(st.permutations([i for i, flag in enumerate(flags) if flag]))
    for kind, wanted in (("symbolic", True), ("numeric", False)):
        kept = Columns(kind, positions).fit(X).transform(X)
        np.testing.assert_array_equal(kept, X[:, [i for i, flag in enumerate(flags) if flag is wanted]])
    np.testing.assert_array_equal(Columns("all", positions).fit_transform(X), X)


def test_without_symbolic_columns_all_are_numeric():
    X = np.eye(3)
    for nothing in (None, [], ()):
        np.testing.assert_array_equal(Columns("numeric", nothing).fit_transform(X), X)
        assert Columns("symbolic", nothing).fit_transform(X).shape == (3, 0)


def test_names_follow_the_columns():
    columns = Columns("symbolic", [2, 0]).fit(np.eye(3))
    assert list(columns.get_feature_names_out(["a", "b", "c"])) == ["a", "c"]
    assert list(Passthrough().fit(np.eye(2)).get_feature_names_out(["a", "b"])) == ["a", "b"]


def test_new_rows_are_cut_like_the_training_rows():
    columns = Columns("numeric", [1]).fit(np.eye(3))
    np.testing.assert_array_equal(columns.transform([[7.0, 8.0, np.nan]]), [[7.0, np.nan]])


def test_arrays_give_what_fit_and_transform_give():
    X = np.random.default_rng(0).normal(size=(6, 4))
    for block in (Passthrough(), Columns("numeric", [0, 3])):
        block.fit_arrays(X, np.zeros(len(X)), 0)
        np.testing.assert_array_equal(block.transform_arrays(X), block.fit(X).transform(X))
        assert block.complexity() == 0


def test_branches_treat_each_kind_in_its_own_way():
    X = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 8.0], [0.0, 4.0]])
    branches = FeatureUnion(
        [
            ("symbols", make_pipeline(Columns("symbolic", [0]), OneHotEncoder(sparse_output=False))),
            ("numbers", make_pipeline(Columns("numeric", [0]), StandardScaler())),
        ]
    )
    expected = np.column_stack([X[:, 0] == 0, X[:, 0] == 1, X[:, 0] == 2, (X[:, 1] - 4) / X[:, 1].std()])
    np.testing.assert_allclose(branches.fit_transform(X), expected)


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([3], "names the column 3, but the columns here are 0 to 2"),
        ([0, -1], "names the column -1"),
        ([0.5], "takes the positions of columns"),
        (["sex"], "takes the positions of columns"),
        ([True, False, True], "takes the positions of columns"),
        ([[0], [1]], "takes the positions of columns"),
    ],
)
def test_wrong_positions_are_explained(positions, message):
    with pytest.raises(ValueError, match=message):
        Columns("symbolic", positions).fit(np.eye(3))


def test_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'kind' parameter of Columns must be"):
        Columns("nominal").fit(np.eye(3))  # type: ignore[arg-type]
