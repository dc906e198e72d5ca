"""Prepare against scikit-learn's encoder and imputer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from msl.blocks.preprocessing.prepare import MOST_COLUMNS, Prepare


@pytest.mark.slow
@parametrize_with_checks([Prepare()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def table(seed: int, rows: int = 40, missing: float = 0.2):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(rows, 5))
    X[:, 1] = draw.integers(0, 4, rows)
    X[:, 3] = draw.integers(0, 2, rows)
    X[draw.random(X.shape) < missing] = np.nan
    return X


@given(st.integers(0, 20))
def test_as_scikit_learn_would_do_it_by_hand(seed):
    X, new = table(seed), table(seed + 100)
    numeric, symbolic = [0, 2, 4], [1, 3]
    made = Prepare(symbolic_columns=symbolic).fit(X)
    imputer = SimpleImputer(strategy="median", keep_empty_features=True).fit(X[:, numeric])
    known = [np.unique(X[:, column][~np.isnan(X[:, column])]) for column in symbolic]
    encoder = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False).fit(
        np.nan_to_num(X[:, symbolic], nan=known[0][0])
    )
    for rows in (X, new):
        symbols = np.where(np.isnan(rows[:, symbolic]), -5.0, rows[:, symbolic])
        expected = np.hstack([imputer.transform(rows[:, numeric]), encoder.transform(symbols)])
        assert np.array_equal(made.transform(rows), expected)
    assert list(made.sources_) == [*numeric, *np.repeat(symbolic, [len(one) for one in known])]
    assert len(made.get_feature_names_out()) == made.transform(X).shape[1]


def test_encoding_alone_leaves_numbers_missing():
    X = table(0)
    encoded = Prepare(symbolic_columns=[1, 3], impute=False).fit_transform(X)
    assert np.array_equal(np.isnan(encoded[:, :3]), np.isnan(X[:, [0, 2, 4]]))
    assert not np.isnan(encoded[:, 3:]).any()


def test_imputing_alone_keeps_symbols_in_place_and_makes_the_missing_one_a_symbol():
    X = table(0)
    filled = Prepare(symbolic_columns=[1, 3], encode=False).fit_transform(X)
    missing = np.isnan(X)
    assert np.array_equal(filled[~missing], X[~missing])
    assert (filled[:, [1, 3]][missing[:, [1, 3]]] == -1).all()
    assert np.allclose(filled[missing[:, 0], 0], np.nanmedian(X[:, 0]))


def test_missing_and_unknown_symbols_are_all_zero():
    made = Prepare(symbolic_columns=[0]).fit(np.array([[0.0], [1.0], [np.nan]]))
    assert made.transform(np.array([[1.0], [np.nan], [7.0]])).tolist() == [[0, 1], [0, 0], [0, 0]]


def test_a_column_without_values_is_filled_with_zeros():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert Prepare().fit_transform(X).tolist() == [[0, 1], [0, 2]]
    assert Prepare(symbolic_columns=[0]).fit_transform(X).tolist() == [[1], [2]]


def test_rare_symbols_share_a_column():
    frequent = np.repeat(np.arange(MOST_COLUMNS - 1, dtype=float), 3)
    rare = np.arange(500.0, 700.0)
    X = np.concatenate([rare, frequent])[:, None]
    made = Prepare(symbolic_columns=[0]).fit(X)
    encoded = made.transform(X)
    assert encoded.shape[1] == MOST_COLUMNS
    assert (encoded.sum(axis=1) == 1).all()
    assert (encoded[: len(rare), -1] == 1).all()
    assert (encoded[len(rare) :, :-1].sum(axis=0) == 3).all()
    assert made.get_feature_names_out()[-1] == "x0=other"


@pytest.mark.parametrize("encode", [True, False])
def test_only_training_rows_are_looked_at(encode):
    X, new = table(1), table(2)
    made = Prepare(symbolic_columns=[1, 3], encode=encode).fit(X)
    whole = made.transform(new)
    one_by_one = np.vstack([made.transform(row[None, :]) for row in new])
    assert np.array_equal(whole, one_by_one)
