"""Boosting blocks against the libraries' own scikit-learn classes, exactly; early stopping against loops by hand."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_sample_weight
from threadpoolctl import threadpool_limits

import msl.blocks
from msl.blocks.base.build import model_to_chain
from msl.blocks.base.complexity import complexity
from msl.blocks.learners.boosting import held_out
from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec

LIBRARIES = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost", "HistBoosting": "sklearn"}
SYMBOLS = [1, 2]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


def block(library: str, kind: str = "Classifier", rounds: int = 15, **params: Any) -> Any:
    pytest.importorskip(LIBRARIES[library])
    found = getattr(msl.blocks, library + kind)
    return found(**{found.rounds: rounds}, symbolic_columns=SYMBOLS, random_state=5, **params)


def rows(count: int = 300, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(count + n_classes)
    X = np.column_stack([rng.normal(size=count), rng.integers(9, size=count), rng.integers(4, size=count)]).astype(
        float
    )
    signal = np.isin(X[:, 1], [1, 4, 7]) + 0.7 * X[:, 0] + 0.4 * (X[:, 2] == 2) + rng.normal(scale=0.5, size=count)
    X[rng.random(count) < 0.1, 0] = np.nan
    X[rng.random(count) < 0.1, 1] = np.nan
    cuts = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1] ** 0.5)
    return X, (np.searchsorted(cuts, signal) if n_classes else signal)


def as_the_library_takes(library: str, X: Any) -> Any:
    if library != "CatBoost":
        return X
    words = X.astype(object)
    for place in SYMBOLS:
        words[:, place] = ["" if np.isnan(code) else str(int(code)) for code in X[:, place]]
    return words


def fitted_plain(library: str, learner: Any, X: Any, y: Any) -> Any:
    model, arguments = learner.plain()
    if "sample_weight" in arguments:
        arguments["sample_weight"] = compute_sample_weight("balanced", y)
    return model.fit(as_the_library_takes(library, X), y, **arguments)


every_library = pytest.mark.parametrize("library", LIBRARIES)


@every_library
@pytest.mark.parametrize(
    ("n_classes", "params"), [(2, {}), (3, {"class_weight": "balanced"}), (2, {"class_weight": "balanced"})]
)
def test_classes_as_the_library_itself(library: str, n_classes: int, params: dict[str, Any]) -> None:
    X, y = rows(n_classes=n_classes)
    learner = block(library, **params)
    learner.fit_arrays(X, y, n_classes)
    made = learner.outputs(X)
    assert np.array_equal(made, fitted_plain(library, learner, X, y).predict_proba(as_the_library_takes(library, X)))
    assert (made.argmax(axis=1) == y).mean() > 0.6
    without = clone(learner).set_params(symbolic_columns=None)
    without.fit_arrays(np.nan_to_num(X) if library == "CatBoost" else X, y, n_classes)
    assert not np.array_equal(without.outputs(X), made)


@every_library
def test_numbers_as_the_library_itself(library: str) -> None:
    X, y = rows(n_classes=0)
    learner = block(library, "Regressor")
    learner.fit_arrays(X, y, 0)
    expected = fitted_plain(library, learner, X, y).predict(as_the_library_takes(library, X))
    assert np.array_equal(learner.outputs(X), expected)
    with pytest.raises(ValueError, match="balances classes"):
        clone(learner).set_params(class_weight="balanced").fit(X, y)


@every_library
@pytest.mark.parametrize(
    ("n_classes", "params"), [(0, {}), (2, {}), (2, {"class_weight": "balanced"}), (2, {"early_stopping": 5})]
)
def test_weights_of_rows_as_the_library_itself(library: str, n_classes: int, params: dict[str, Any]) -> None:
    X, y = rows(n_classes=n_classes)
    weights = np.random.default_rng(2).uniform(0.2, 3.0, len(X))
    learner = block(library, "Classifier" if n_classes else "Regressor", **params)
    learner.fit_weighted(X, y, n_classes, weights)
    model, arguments = learner.plain()
    if "sample_weight" in arguments:
        weights = weights * compute_sample_weight("balanced", y)
    given = as_the_library_takes(library, X)
    model.fit(given, y, **(arguments | {"sample_weight": weights}))
    made = learner.outputs(X)
    assert np.array_equal(made, model.predict_proba(given) if n_classes else model.predict(given))
    without = clone(learner)
    without.fit_arrays(X, y, n_classes)
    assert not np.array_equal(without.outputs(X), made)


OTHERS: dict[str, dict[str, Any]] = {
    "LightGBM": {
        "num_leaves": 7, "max_depth": 3, "min_child_samples": 5, "min_child_weight": 0.1, "min_split_gain": 0.01,
        "reg_alpha": 0.1, "reg_lambda": 0.5, "subsample": 0.7, "colsample_bytree": 0.5, "max_bin": 31,
        "max_cat_to_onehot": 2, "cat_smooth": 2.0, "cat_l2": 1.0, "extra_trees": True, "learning_rate": 0.2,
    },
    "XGBoost": {
        "learning_rate": 0.2, "max_depth": 3, "min_child_weight": 0.5, "gamma": 0.01, "reg_alpha": 0.1,
        "reg_lambda": 0.5, "subsample": 0.7, "colsample_bytree": 0.5, "max_bin": 31, "max_cat_to_onehot": 20,
    },
    "CatBoost": {
        "learning_rate": 0.2, "depth": 3, "l2_leaf_reg": 1.0, "random_strength": 0.5, "border_count": 31,
        "one_hot_max_size": 5, "max_ctr_complexity": 1,
    },
    "HistBoosting": {
        "learning_rate": 0.2, "max_leaf_nodes": 7, "max_depth": 3, "min_samples_leaf": 5, "l2_regularization": 0.5,
        "max_features": 0.5, "max_bins": 31,
    },
}  # fmt: skip


@every_library
def test_every_parameter_reaches_the_library(library: str) -> None:
    X, y = rows()
    learner = block(library, **OTHERS[library])
    learner.fit_arrays(X, y, 2)
    made = learner.outputs(X)
    assert np.array_equal(made, fitted_plain(library, learner, X, y).predict_proba(as_the_library_takes(library, X)))
    for name in OTHERS[library]:
        plain, _ = learner.plain()
        assert plain.get_params()[name] == OTHERS[library][name]


# --- early stopping ---------------------------------------------------------------------------------------------------


@every_library
@pytest.mark.parametrize("params", [{}, {"class_weight": "balanced"}])
def test_early_stopping_fits_the_best_rounds_on_all_rows(library: str, params: dict[str, Any]) -> None:
    X, y = rows(200)
    y = np.where(np.random.default_rng(1).random(200) < 0.3, 1 - y, y)
    learner = block(library, rounds=80, early_stopping=10, learning_rate=0.5, **params)
    learner.fit_arrays(X, y, 2)
    assert 1 <= learner.rounds_ < 80
    plain, _ = learner.plain()
    assert plain.get_params()[learner.rounds] == learner.rounds_
    same = clone(learner).set_params(**{learner.rounds: learner.rounds_}, early_stopping=None)
    same.fit_arrays(X, y, 2)
    assert np.array_equal(learner.outputs(X), same.outputs(X))


@pytest.mark.parametrize("library", ["LightGBM", "XGBoost", "CatBoost"])
def test_the_best_rounds_are_those_of_a_loop(library: str) -> None:
    X, y = rows(200)
    learner = block(library, rounds=40, early_stopping=40, learning_rate=0.3)
    learner.fit_arrays(X, y, 2)
    held = held_out(y, 2, 0.15, 5)
    losses = []
    for count in range(1, 41):
        model = clone(learner).set_params(**{learner.rounds: count}, early_stopping=None)
        model.fit_arrays(X[~held], y[~held], 2)
        losses.append(log_loss(y[held], model.outputs(X[held])))
    assert learner.rounds_ == int(np.argmin(losses)) + 1


def test_rows_are_held_out_of_every_class() -> None:
    y = np.repeat([0, 1, 2, 3], [200, 40, 7, 1])
    held = held_out(y, 4, 0.15, 3)
    assert np.bincount(y[held], minlength=4).tolist() == [30, 6, 1, 0]
    assert np.array_equal(held, held_out(y, 4, 0.15, 3))
    assert not np.array_equal(held, held_out(y, 4, 0.15, 4))
    assert held_out(np.arange(100.0), 0, 0.2, 3).sum() == 20
    assert not held_out(y[-9:], 4, 0.5, 3).any()


@every_library
def test_few_rows_are_all_fitted(library: str) -> None:
    X, y = rows(9)
    learner = block(library, rounds=3, early_stopping=5)
    learner.fit_arrays(X, y, 2)
    assert learner.rounds_ == 3


# --- what a search meets ----------------------------------------------------------------------------------------------


@every_library
def test_the_same_again_and_after_saving(library: str) -> None:
    X, y = rows()
    learner = block(library, early_stopping=5)
    learner.fit_arrays(X, y, 2)
    again = clone(learner)
    again.fit_arrays(X, y, 2)
    assert np.array_equal(learner.outputs(X), again.outputs(X))
    read = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(learner.outputs(X), read.outputs(X))
    assert complexity(read) == complexity(learner) > learner.rounds_


@every_library
def test_classes_that_training_lacks(library: str) -> None:
    X, y = rows(n_classes=3)
    learner = block(library)
    some = y != 1
    learner.fit_arrays(X[some], y[some], 3)
    made = learner.outputs(X)
    assert made.shape == (300, 3)
    assert not made[:, 1].any()
    assert made.sum(axis=1) == pytest.approx(1.0)
    learner.fit_arrays(X[y == 2], y[y == 2], 3)
    assert (learner.outputs(X)[:, 2] == 1.0).all()
    assert complexity(learner) == 1.0
    assert pickle.loads(pickle.dumps(learner)).outputs(X).shape == (300, 3)


@every_library
def test_as_an_estimator_of_scikit_learn(library: str) -> None:
    X, y = rows()
    words = np.where(y == 1, "yes", "no")
    learner = block(library).fit(X, words)
    assert set(learner.predict(X)) == {"no", "yes"}
    assert learner.predict_proba(X).shape == (300, 2)
    assert block(library, "Regressor").fit(X, y * 1.0).predict(X).shape == (300,)
    with pytest.raises(ValueError, match="early_stopping"):
        block(library, early_stopping=0).fit(X, words)


def leaves(library: str, learner: Any) -> Iterator[int]:
    """The leaves of every tree, counted another way."""
    if library == "LightGBM":
        yield from (tree["num_leaves"] for tree in learner.model_.dump_model()["tree_info"])
    elif library == "XGBoost":
        yield int((learner.model_.trees_to_dataframe()["Feature"] == "Leaf").sum())
    elif library == "CatBoost":
        yield 15 * 2**6
    else:
        yield from (int(tree[0].nodes["is_leaf"].sum()) for tree in learner.model_._predictors)


@every_library
def test_complexity_counts_leaves(library: str) -> None:
    X, y = rows()
    learner = block(library)
    learner.fit_arrays(X, y, 2)
    if library == "XGBoost":
        pytest.importorskip("pandas")
    counted = sum(leaves(library, learner))
    assert complexity(learner) == counted if library != "CatBoost" else complexity(learner) <= counted


@every_library
def test_nothing_is_said(library: str, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder) -> None:
    X, y = rows()
    X[:, 2] = 1.0  # a constant column, and few rows a leaf
    learner = block(library, early_stopping=3)
    learner.fit_arrays(X[:40], y[:40], 2)
    learner.outputs(X)
    assert capfd.readouterr() == ("", "")
    assert [str(each.message) for each in recwarn.list] == []


# --- the catalogue ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["", "balanced_"])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost", "hist_boosting"])
def test_the_defaults_of_the_catalogue_are_those_of_the_class(library: str, weights: str) -> None:
    pytest.importorskip(library if library != "hist_boosting" else "sklearn")
    text = f"use boosting\nchain m = {weights}{library}(rest = default)\nminimize ber by cv(folds = 2)\n"
    spec = check_source(Source("m.msl", text)).spec
    assert spec is not None
    (model,) = space_to_codec(spec.space).decode(np.zeros((1, 0))).models()
    learner = model_to_chain(model, "classification").learner
    usual = type(learner)().get_params()
    own = learner.get_params() | {"random_state": None}
    assert own == usual | {"class_weight": "balanced" if weights else None}


def test_every_parameter_can_be_opened_and_reaches_the_class() -> None:
    """A block of one's own may open what the catalogue leaves out."""
    pytest.importorskip("lightgbm")
    own = 'block own: learner "msl.blocks:LightGBM*" { max_bin = 63, cat_smooth = 5, validation_share = 0.3 }\n'
    text = f"use boosting\n{own}chain m = own(rest = default)\nminimize ber by cv(folds = 2)\n"
    spec = check_source(Source("m.msl", text)).spec
    assert spec is not None
    (model,) = space_to_codec(spec.space).decode(np.zeros((1, 0))).models()
    learner = model_to_chain(model, "classification").learner
    assert (learner.max_bin, learner.cat_smooth, learner.validation_share) == (63, 5, 0.3)
