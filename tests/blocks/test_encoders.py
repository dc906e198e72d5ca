"""Cycles, shares of symbols and buckets of symbols, against formulas; the catalogue `tables` on a table."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import msl
from msl.blocks import Cycle, SymbolBuckets, SymbolShares
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table

SYMBOLS = st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, 7.0, np.nan]), min_size=2, max_size=2), min_size=1)


@pytest.mark.slow
@parametrize_with_checks([Cycle(period=7.0), SymbolShares(), SymbolBuckets(n_buckets=4)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_end_of_a_cycle_is_next_to_its_start() -> None:
    months = np.arange(1.0, 13.0)[:, None]
    placed = Cycle(period=12).fit_transform(months)
    assert placed.shape == (12, 2)
    steps = np.linalg.norm(placed - np.roll(placed, 1, axis=0), axis=1)
    assert np.allclose(steps, steps[0])
    assert np.allclose(np.hypot(*placed.T), 1.0)
    assert np.allclose(Cycle(period=12).fit_transform(months + 12), placed)
    two = Cycle(period=24).fit_transform(np.array([[6.0, 12.0], [np.nan, 18.0]]))
    assert np.allclose(two, [[1, 0, 0, -1], [np.nan, -1, np.nan, 0]], equal_nan=True)


@given(SYMBOLS, SYMBOLS)
def test_the_share_of_a_symbol_is_that_of_the_training_rows(train: list[list[float]], new: list[list[float]]) -> None:
    X, other = np.array(train), np.array(new)
    shares = SymbolShares().fit(X).transform(other)
    for column in range(2):
        told = [str(value) for value in X[:, column]]
        assert shares[:, column].tolist() == [told.count(str(value)) / len(X) for value in other[:, column]]


@given(SYMBOLS, st.integers(1, 9))
def test_a_symbol_is_in_one_bucket_whatever_the_other_rows_are(rows: list[list[float]], n_buckets: int) -> None:
    X = np.array(rows)
    placed = SymbolBuckets(n_buckets=n_buckets).fit_transform(X)
    assert placed.sum(axis=1).tolist() == (~np.isnan(X)).sum(axis=1).tolist()
    for row, encoded in zip(X, placed, strict=True):
        assert SymbolBuckets(n_buckets=n_buckets).fit_transform(row[None]).tolist() == [encoded.tolist()]


def test_many_symbols_are_spread_over_the_buckets_and_columns_differ() -> None:
    X = np.repeat(np.arange(4_000.0)[:, None], 2, axis=1)
    placed = SymbolBuckets(n_buckets=16).fit_transform(X[:, :1])
    assert (np.abs(placed.sum(axis=0) - 250) < 60).all()
    assert 3_500 < (SymbolBuckets(n_buckets=16).fit_transform(X).max(axis=1) == 1).sum() < 3_900


def test_weighted_words_and_their_directions_are_fitted_inside_the_folds() -> None:
    """The estimate is that of the same pipeline of scikit-learn, on the words that the table has."""
    rng = np.random.default_rng(0)
    themes = ["oil canvas sea ship", "ink paper city street", "bronze figure stone head"]
    which = rng.integers(0, 3, 90)
    texts = [" ".join(rng.choice(themes[theme].split(), 5)) + " and more" for theme in which]
    frame = pl.DataFrame({"text": texts, "y": which * 10.0 + rng.normal(size=90)})
    spec = (
        "use sklearn, tables\ndata(target = y, task = regression, text = [text])\n"
        "chain m = on text (tfidf(rest = default) >> truncated_svd(n_components = 3)) >> ridge(alpha = 1.0)\n"
        "minimize rmse by cv(folds = 3)\nsearch random(evaluations = 1)\n"
    )
    result = msl.run(spec, frame)
    table = read_table(frame, options=DataOptions(target="y", task="regression", text=("text",)))
    pipeline = make_pipeline(TfidfTransformer(sublinear_tf=True), TruncatedSVD(3, random_state=0), Ridge(1.0))
    predicted = cross_val_predict(pipeline, table.X, table.y, cv=KFold(3, shuffle=True, random_state=0))
    assert result.objectives["rmse"] == pytest.approx(root_mean_squared_error(table.y, predicted), rel=0.25)
    assert result.objectives["rmse"] < 2.0 < float(np.std(table.y))


def test_blocks_for_columns_run_beside_each_other_and_predict_symbols_that_are_new() -> None:
    rng = np.random.default_rng(1)
    agents = [f"agent {i % 40}" for i in range(160)]
    days = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(160)]
    frame = pl.DataFrame({"agent": agents, "day": days, "x": rng.normal(size=160), "y": ["no", "yes"] * 80})
    spec = (
        "use sklearn, tables\ndata(target = y)\n"
        'chain m = (on ["*: month"] (cycle(period = 12)) & on ["*: weekday"] (cycle(period = 7))\n'
        "  & on [agent] (frequent_symbols(max_categories = 5) & symbol_shares & symbol_buckets(n_buckets = 8))\n"
        "  & on [x] (passthrough)) >> logistic(rest = default)\n"
        "minimize ber by cv(folds = 2)\nsearch random(evaluations = 1)\n"
    )
    result = msl.run(spec, frame)
    assert result.failures == 0
    new = frame.head(3).with_columns(agent=pl.lit("agent new"), day=pl.lit("2031-01-01"))
    assert len(result.trained.predict(read_like(result.trained.schema, new))) == 3
