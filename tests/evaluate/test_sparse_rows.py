"""Rows of hundreds of columns that are nearly all 0: sparse up to what takes them, and the same as full ones."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import numpy as np
import polars as pl
import pytest
from evaluation_cases import evaluator, only_model
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2, f_classif
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from msl.blocks.base import accepted_columns, build
from msl.blocks.base.accepted_columns import rows_for, takes_sparse
from msl.blocks.base.build import model_to_chain
from msl.blocks.base.chain import ChainClassifier
from msl.blocks.base.check_outputs import BadOutputs
from msl.blocks.learners.boosting_libraries import LightGBMClassifier, LightGBMRegressor
from msl.blocks.preprocessing.prepare import Prepare
from msl.data.read import read_table
from msl.evaluate.dataset import Dataset, read_only
from msl.evaluate.outcome import Outcome
from msl.space.values import Model

GOAL = "minimize ber by cv(folds = 2)"


def many_symbols(rows: int = 600, kinds: int = 60, seed: int = 0) -> Dataset:
    """Three columns with many symbols and two of numbers, one of which has gaps."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, kinds, rows) for _ in range(3)]
    worth = rng.normal(size=(3, kinds))
    size = rng.exponential(size=rows)
    y = sum(worth[place][column] for place, column in enumerate(codes)) + size + rng.normal(size=rows) > 1.0
    symbols = {f"s{place}": [f"k{code}" for code in column] for place, column in enumerate(codes)}
    gaps = [None if rng.random() < 0.1 else value for value in size.tolist()]
    return Dataset.of(read_table(pl.DataFrame({**symbols, "size": gaps, "more": size + 1, "class": y.astype(str)})))


def numbers_and_flags() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    flags = [np.eye(50)[rng.integers(0, 50, 400)] for _ in range(3)]
    X = np.hstack([rng.exponential(size=(400, 3)), *flags])
    return X, X @ rng.normal(size=X.shape[1]) + rng.normal(size=400)


def said(fitted: Any, rows: Any) -> np.ndarray:
    for method in ("outputs", "predict_proba", "decision_function", "predict", "transform"):
        if hasattr(fitted, method):
            made = getattr(fitted, method)(rows)
            return made.toarray() if sparse.issparse(made) else made
    raise AssertionError("it says nothing")


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=2000, tol=1e-8),
        LogisticRegression(solver="liblinear"),
        LinearSVC(random_state=0),
        LinearSVR(random_state=0),
        SVC(kernel="linear"),
        SVR(kernel="linear"),
        Lasso(0.01),
        ElasticNet(0.01),
        BernoulliNB(),
        ComplementNB(),
        MultinomialNB(),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(10, random_state=0),
        ExtraTreesClassifier(10, random_state=0),
        MaxAbsScaler(),
        StandardScaler(with_mean=False),
        Normalizer(),
        TfidfTransformer(),
        VarianceThreshold(0.01),
        TruncatedSVD(5, random_state=0),
        SelectKBest(chi2, k=20),
        SelectKBest(f_classif, k=20),
        LightGBMClassifier(n_estimators=30, random_state=0),
        LightGBMRegressor(n_estimators=30, random_state=0, early_stopping=5),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_takes_sparse_rows_does_the_same_with_them(estimator: Any) -> None:
    X, target = numbers_and_flags()
    is_number = isinstance(estimator, LinearSVR | SVR | Lasso | ElasticNet | LightGBMRegressor)
    y = target if is_number else (target > np.median(target)).astype(np.intp)
    thin = read_only(sparse.csr_matrix(X))
    assert takes_sparse(estimator)
    assert rows_for(estimator, thin) is thin
    of_full, of_thin = clone(estimator), clone(estimator)
    if hasattr(estimator, "fit_arrays"):
        of_full.fit_arrays(X, y, 0 if is_number else 2)
        of_thin.fit_arrays(thin, y, 0 if is_number else 2)
    else:
        of_full.fit(X, y)
        of_thin.fit(thin, y)
    assert said(of_thin, thin) == pytest.approx(said(of_full, X), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(),
        SGDClassifier(),
        LogisticRegression(solver="saga"),
        StandardScaler(),
        SVC(),
        DecisionTreeRegressor(),
        RandomForestClassifier(class_weight="balanced"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_would_do_otherwise_gets_full_rows(estimator: Any) -> None:
    thin = sparse.csr_matrix(np.eye(3))
    assert np.array_equal(rows_for(estimator, thin), np.eye(3))


SYMBOLS_THEN = (
    "max_abs >> logistic(rest = default)",
    "logistic(rest = default)",
    "(on symbols (one_hot(rest = default)) & on rest (impute(rest = default))) >> logistic(rest = default)",
    "max_abs >> linear_svc(rest = default)",
    "max_abs >> ridge_classifier(rest = default)",
    "random_forest(n_estimators = 20, rest = default)",
    "standard_scaler(rest = default) >> gaussian_nb(rest = default)",
)


def judged(dataset: Dataset, chain: str, **options: Any) -> tuple[Outcome, Model]:
    text = f"use sklearn\nchain c = {chain}"
    model = only_model(text, dataset)
    return evaluator(GOAL, dataset, **options).evaluate(model), model


@pytest.mark.parametrize("chain", SYMBOLS_THEN)
def test_models_of_many_symbols_are_judged_as_with_full_rows(chain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = many_symbols()
    outcome, model = judged(dataset, chain)
    chains = [model_to_chain(model, "classification", 0, (), dataset.columns)]
    monkeypatch.setattr(build, "takes_sparse", lambda *_: False)
    full, _ = judged(dataset, chain)
    chains.append(model_to_chain(model, "classification", 0, (), dataset.columns))
    assert outcome.failure is None
    assert outcome.losses == pytest.approx(full.losses, abs=1e-9)
    outputs = []
    for each in chains:
        each.fit_arrays(dataset.X, dataset.y, 2)
        outputs.append(each.outputs(dataset.X[:50]))
    assert outputs[0] == pytest.approx(outputs[1], rel=1e-4, abs=1e-4)


def test_encoded_symbols_take_a_fraction_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = many_symbols(8000, 100)

    def peak() -> float:
        gc.collect()
        tracemalloc.start()
        try:
            assert judged(dataset, SYMBOLS_THEN[0], cache_bytes=100_000)[0].failure is None
            return tracemalloc.get_traced_memory()[1] / dataset.X.nbytes
        finally:
            tracemalloc.stop()

    thin = peak()
    monkeypatch.setattr(build, "takes_sparse", lambda *_: False)
    assert thin < 8 < peak() / 5


def prepares(chain: ChainClassifier) -> list[Prepare]:
    return [step for step in chain.steps if isinstance(step, Prepare)]


def test_few_symbols_are_encoded_in_full() -> None:
    few, many = many_symbols(kinds=8), many_symbols()
    for dataset, is_sparse in ((few, False), (many, True)):
        model = only_model("use sklearn\nchain c = logistic(rest = default)", dataset)
        (step,) = prepares(model_to_chain(model, "classification", 0, (), dataset.columns))
        assert step.sparse == is_sparse


@pytest.mark.parametrize("is_sparse", [False, True])
def test_sparse_encoding_is_the_full_one_without_its_zeros(is_sparse: bool) -> None:
    X = many_symbols(kinds=120).X
    full, thin = (Prepare([2, 3, 4], sparse=way) for way in (False, is_sparse))
    for step in (full, thin):
        step.fit_arrays(X, np.zeros(len(X)), 0)
    made = thin.transform_arrays(X)
    assert sparse.issparse(made) == is_sparse
    assert np.array_equal(made.toarray() if is_sparse else made, full.transform_arrays(X))


def test_rows_that_would_take_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepted_columns, "MOST_FULL_BYTES", 100_000)
    with pytest.raises(BadOutputs, match=r"gets 100 rows of 1,000 columns .* takes no sparse rows") as wrong:
        rows_for(Ridge(), sparse.csr_matrix((100, 1000)))
    assert wrong.value.in_full().startswith("Ridge: gets")
    outcome, _ = judged(many_symbols(), "max_abs >> ridge_classifier(rest = default)")
    assert outcome.failure is not None
    assert outcome.failure.step == "ridge_classifier"
    assert "truncated_svd" in outcome.failure.message
