"""Symbols and missing values: encoded and filled in inside the folds, from the rows that a fold fits on alone."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from evaluation_cases import evaluator, only_model
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from msl.blocks.base.build import ColumnKinds, model_to_chain
from msl.data.read import read_table
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.outcome import EvaluationLog, FitFigures
from msl.evaluate.splits import Split

GOAL = "minimize ber by cv(folds = 3)"


def mixed_table(rows: int = 150, gaps: float = 0.15, seed: int = 0):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, rows)
    colour = np.array(["red", "green", "blue"])[np.where(draw.random(rows) < 0.7, y, draw.integers(0, 3, rows))]
    size = draw.normal(size=rows) + 2 * y
    weight = draw.normal(size=rows)
    frame = pl.DataFrame(
        {
            "size": np.where(draw.random(rows) < gaps, np.nan, size),
            "colour": pl.Series(colour).set(pl.Series(draw.random(rows) < gaps), None),
            "weight": weight,
            "class": np.array(["no", "yes"])[y],
        }
    )
    return read_table(frame.with_columns(pl.col("size").fill_nan(None)))


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset.of(mixed_table())


def folds_of(judge: Evaluator):
    trials = judge._losses._resamplings
    return [(split.train, split.test) for split in trials.resampling(trials.estimates[0], 0, 1.0, 0).splits]


def test_the_table_says_what_its_columns_are(dataset):
    names = ("colour", "size", "weight")
    symbols = dataset.columns.symbols
    assert dataset.columns == ColumnKinds(3, symbolic=(0,), incomplete=(0, 1), names=names, symbols=symbols)
    assert [len(known) > 1 for known in symbols] == [True, False, False]


def test_as_a_careful_user_of_scikit_learn_would_do_it(dataset):
    judge = evaluator(GOAL, dataset)
    model = only_model("use sklearn\nchain c = gaussian_nb(rest = default)", dataset)
    encoder = make_column_transformer(
        (SimpleImputer(strategy="median"), [1, 2]),
        (OneHotEncoder(categories=[[0, 1, 2]], handle_unknown="ignore", sparse_output=False), [0]),
    )
    rows = np.where(np.isnan(dataset.X) & (np.arange(3) == 0), -1, dataset.X)
    predicted = cross_val_predict(make_pipeline(encoder, GaussianNB()), rows, dataset.y, cv=folds_of(judge))
    assert judge.evaluate(model).losses[0] == pytest.approx(1 - balanced_accuracy_score(dataset.y, predicted))


def test_columns_with_steps_of_their_own_are_fitted_inside_the_folds(dataset):
    judge = evaluator(GOAL, dataset)
    steps = '(on ["s*"] (impute(rest = default)) & on rest (one_hot(rest = default)))'
    model = only_model(f"use sklearn\nchain c = {steps} >> gaussian_nb(rest = default)", dataset)
    encoder = make_column_transformer(
        (SimpleImputer(keep_empty_features=True), [1]), (OneHotEncoder(sparse_output=False), [0, 2])
    )
    encoder.set_params(onehotencoder__handle_unknown="infrequent_if_exist", onehotencoder__max_categories=100)
    by_hand = make_pipeline(encoder, GaussianNB())
    predicted = cross_val_predict(by_hand, dataset.X, dataset.y, cv=folds_of(judge))
    assert judge.evaluate(model).losses[0] == pytest.approx(1 - balanced_accuracy_score(dataset.y, predicted))


CHAINS = (
    "standardize(rest = default) >> svc(rest = default) >> bias",
    "relief(rest = default) >> naive",
    "knn(rest = default)",
    "sbm(rest = default)",
    "keep(features = [true, false, true]) >> zarbi",
    "random_forest(n_estimators = 10, rest = default)",
    "hist_gradient_boosting(max_iter = 50, rest = default)",
    "standard_scaler(rest = default) >> linear_svc(rest = default)",
    "impute(rest = default) >> gaussian_nb(rest = default)",
    "((columns(kind = numeric) >> knn_impute(rest = default)) & (columns(kind = symbolic) >> one_hot(rest = default)))"
    " >> gaussian_nb(rest = default)",
    "((columns(kind = symbolic) >> target_encode(rest = default)) & columns(kind = numeric)) >> naive",
    "(missing_indicator & passthrough) >> naive",
    "(on numbers (impute(rest = default)) & on symbols (one_hot(rest = default)) & on [size, colour] (none)) >> naive",
    "(on [weight] (log1p) & on rest (on symbols (ordinal(rest = default)) & on rest (none))) >> knn(rest = default)",
    "ordinal(rest = default) >> decision_tree(rest = default)",
)


@pytest.mark.parametrize("chain", CHAINS)
def test_every_kind_of_chain_works_out_of_the_box(dataset, chain):
    model = only_model(f"use sklearn, clop, sbm\nchain c = {chain}", dataset)
    judge = evaluator(GOAL, dataset)
    outcome = judge.evaluate(model)
    assert outcome.failure is None, outcome.failure
    assert outcome.losses[0] < 0.5
    # and the estimator of the model does the same
    fitted = model_to_chain(model, "classification", columns=dataset.columns)
    predicted = cross_val_predict(fitted, dataset.X, dataset.y, cv=folds_of(judge))
    assert outcome.losses[0] == pytest.approx(1 - balanced_accuracy_score(dataset.y, predicted))


@pytest.mark.slow
@pytest.mark.parametrize("chain", CHAINS)
def test_the_rows_that_are_judged_have_no_say_in_it(dataset, chain):
    """Each row's outputs are the same whatever the other rows that are judged with it hold."""
    model = only_model(f"use sklearn, clop, sbm\nchain c = {chain}", dataset)
    train, test = np.arange(100), np.arange(100, 150)
    fitted = model_to_chain(model, "classification", columns=dataset.columns).fit(dataset.X[train], dataset.y[train])
    spoilt = dataset.X.copy()
    spoilt[test[1:]] = np.nan
    spoilt[test[1:], 2] = 1e6
    wild = Dataset(spoilt, dataset.y, 2, dataset.population, dataset.columns)
    outputs = []
    for one in (dataset, wild):
        judge = evaluator(GOAL, one)
        fitter = judge._losses._cross_validator._fitter
        fold = fitter.fold(Split(train, test), None)
        outputs.append(fitter.outputs(judge._losses._planner.plan(model), fold, EvaluationLog(), FitFigures())[0])
    assert np.array_equal(*outputs)
    assert np.allclose(fitted.outputs(dataset.X[test])[0], outputs[0])


def test_one_feature_in_several_columns_is_one_feature(dataset):
    judge = evaluator("minimize features, feature_share by cv(folds = 2)", dataset)

    def count(chain: str) -> tuple[float, ...]:
        return judge.evaluate(only_model(f"use sklearn, clop, sbm\nchain c = {chain}", dataset)).losses

    assert count("naive") == (3, 1)
    assert count("keep(features = [true, false, true]) >> knn(rest = default)") == (2, pytest.approx(2 / 3))
    assert count("sbm(features = [true, false, false], rest = default)") == (1, pytest.approx(1 / 3))
    assert count("standardize(rest = default) >> naive") == (3, 1)
    assert count("gs(fmax = 2) >> naive")[0] <= 2


def test_a_branch_without_columns_is_left_out():
    numeric = Dataset.of_arrays(np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2, 2)
    text = "use sklearn\nchain c = {} >> gaussian_nb(rest = default)"
    split = "((columns(kind = symbolic) >> one_hot(rest = default)) & columns(kind = numeric))"
    judge = evaluator(GOAL, numeric)
    whole = judge.evaluate(only_model(text.format("passthrough"), numeric))
    assert judge.evaluate(only_model(text.format(split), numeric)).losses == whole.losses
    failure = judge.evaluate(only_model(text.format("columns(kind = symbolic)"), numeric)).failure
    assert failure is not None
    assert "no column" in failure.message


def test_a_regression_with_gaps():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(80, 4))
    y = X[:, 0] + 0.1 * draw.normal(size=80)
    X[draw.random(X.shape) < 0.1] = np.nan
    dataset = Dataset.of_arrays(X, y, 0)
    for chain in ("kridge(rest = default)", "ridge(rest = default)", "sbm(rest = default)"):
        model = only_model(f"use sklearn, clop, sbm\nchain c = {chain}", dataset)
        outcome = evaluator("minimize rmse by cv(folds = 4)", dataset).evaluate(model)
        assert outcome.failure is None
        assert outcome.losses[0] < 1.0
