"""ModelSearch as scikit-learn sees it, its own checks included, and the functions of the package beside it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, get_scorer, make_scorer, r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import msl
from msl import ModelSearch
from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.runner.spec_source import declared_task

TINY = "search random(evaluations = 3)\nminimize {goal} by holdout(0.3)\n"
CLASSES = "use sklearn chain m = decision_tree(max_depth = 3, rest = default) " + TINY.format(goal="error")
RIDGE = "use sklearn chain m = ridge(alpha: real 1e-3..1 log, rest = default) "
NUMBERS = f"{RIDGE} search random(evaluations = 3) maximize r2 by holdout(0.3)"
ONE = "search random(evaluations = 1)"
SPACE = "use clop chain m = standardize? >> (zarbi | naive) "
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def expected_failures(estimator: Any) -> dict[str, str]:
    """As of every search of scikit-learn: folds of repeated rows are not those of rows with weights, nor may be 0."""
    why = "the splits of a search depend on the rows, and a weight is above 0"
    checks = "on_dense_data", "on_sparse_data"
    return {"check_classifiers_one_label_sample_weights": why} | {
        f"check_sample_weight_equivalence_{data}": why for data in checks
    }


@parametrize_with_checks(
    [ModelSearch(CLASSES, task="classification"), ModelSearch(NUMBERS, task="regression")],
    expected_failed_checks=expected_failures,
)
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_winner_predicts_labels_and_probabilities() -> None:
    search = ModelSearch(SPACE + TINY.format(goal="ber"), seed=3).fit(X, NAMES)
    shares = search.predict_proba(X)
    assert search.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert search.classes_[shares.argmax(axis=1)].tolist() == search.predict(X).tolist()
    assert search.score(X, NAMES) == accuracy_score(NAMES, search.predict(X)) > 0.85
    model, problems = text_to_model(search.best_model_, Source("s", SPACE))
    assert (model is not None, problems) == (True, [])


def test_evaluations_are_a_frame_whose_best_row_is_the_winner() -> None:
    search = ModelSearch(SPACE + "minimize ber by cv(folds = 3)\nsearch grid(evaluations = 20)\n").fit(X, Y)
    frame = search.evaluations_
    assert isinstance(frame, pl.DataFrame)
    assert frame.height == frame["model"].n_unique()
    assert frame["ber"].min() == search.objectives_["ber"]
    assert search.best_model_ in frame.filter(pl.col("ber") == pl.col("ber").min())["model"].to_list()
    assert frame["failure"].null_count() == frame.height


@pytest.mark.parametrize("positive", ["rare", "usual", None])
def test_the_positive_class_decides_whose_f1_is_counted(positive: str | None, tmp_path: Path) -> None:
    """The estimate on held-out rows is scikit-learn's f1 of that class; without `positive`, the mean of both."""
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(300) < 0.2, "rare", "usual")
    frame = pl.DataFrame({"x": rng.normal(size=300) + (labels == "rare"), "z": rng.normal(size=300), "class": labels})
    said = "" if positive is None else f"data(positive = {positive})"
    spec = f"use clop {said} chain m = naive maximize f1 by holdout(0.5) search random(evaluations = 1)"
    result = msl.run(spec, frame[:200], test=frame[200:], store=tmp_path)
    truth, predicted = frame["class"][200:].to_list(), result.trained.predict(result.trained.read(frame[200:]))
    average = {"average": "macro"} if positive is None else {"pos_label": positive}
    (tested,) = result.summary["test"].values()
    assert tested == pytest.approx(f1_score(truth, list(predicted), **average), abs=1e-12)
    assert list(result.objectives) == ["f1"]
    last = {"rare": "rare", "usual": "usual", None: "usual"}[positive]
    assert result.trained.labels()[-1] == last


def test_two_labels_with_a_positive_one() -> None:
    """The order of the classes inside follows `positive`; outside it is scikit-learn's."""
    X2, names = X[50:], NAMES[50:]
    text = "use clop data(positive = versicolor) chain m = naive >> bias " + TINY.format(goal="f1").replace(
        "min", "max"
    )
    search = ModelSearch(text).fit(X2, names)
    assert search.trained_.schema.classes == (1, 0)
    assert search.classes_.tolist() == ["versicolor", "virginica"]
    shares = search.predict_proba(X2)
    assert search.classes_[shares.argmax(axis=1)].tolist() == search.predict(X2).tolist()
    assert search.score(X2, names) > 0.85
    with pytest.raises(ValueError, match="positive = versicolor is not a class"):
        ModelSearch(text).fit(X2, np.where(names == "virginica", "a", "b"))


def test_regression() -> None:
    rows, numbers = load_diabetes(return_X_y=True)
    search = ModelSearch(NUMBERS).fit(rows, numbers)
    assert search.score(rows, numbers) == pytest.approx(r2_score(numbers, search.predict(rows)))
    assert search.score(rows, numbers) > 0.3
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search, "classes_")


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_may_hold_symbols_and_missing_values(kind: Any) -> None:
    rng = np.random.default_rng(1)
    colours = np.array(["red", "green", "blue"], dtype=object)[np.where(rng.random(150) < 0.9, Y, 0)]
    colours[::17] = None
    table = {"f10": X[:, 0], "f2": np.where(rng.random(150) < 0.1, np.nan, X[:, 1]), "colour": colours.tolist()}
    frame = kind(table)
    search = ModelSearch("use sbm chain m = knn(k: int 1..5, rest = default) " + TINY.format(goal="error"))
    search.fit(frame, NAMES)
    assert search.score(frame, NAMES) > 0.8
    turned = frame[["colour", "f10", "f2"]]
    with pytest.raises(ValueError, match=r"feature names should match|order"):
        search.predict(turned)
    strange = kind(table | {"colour": ["violet"] * 150})
    with pytest.warns(UserWarning, match="not trained on: violet"):
        assert len(search.predict(strange)) == 150


def test_nested_selection_in_one_line() -> None:
    scores = cross_val_score(ModelSearch(SPACE + TINY.format(goal="ber")), X, NAMES, cv=3)
    assert scores.mean() > 0.85


def test_clones_are_alike_and_the_seed_decides() -> None:
    search = ModelSearch(SPACE + "search pso(swarm = 3, iterations = 2)", seed=4)
    one, other = clone(search).fit(X, Y), clone(search).fit(X, Y)
    drop = ["seconds"]
    assert one.evaluations_.drop(drop).equals(other.evaluations_.drop(drop))
    assert one.best_model_ == other.best_model_


def test_a_store_keeps_evaluations(tmp_path: Path) -> None:
    text = SPACE + TINY.format(goal="ber")
    ModelSearch(text, store=tmp_path).fit(X, Y)
    again = msl.run(text, pd.DataFrame(X).assign(y=Y).rename(columns=str), store=tmp_path / "other")
    assert again.reused < len(again.evaluations)
    second = msl.run(text, pd.DataFrame(X).assign(y=Y).rename(columns=str), store=tmp_path / "other")
    assert second.reused >= len(second.evaluations)
    assert second.best == again.best


@pytest.mark.parametrize(
    ("spec", "task"),
    [
        (CLASSES, "classification"),
        (NUMBERS, "regression"),
        ("use clop chain m = zarbi", "classification"),
        ("use sbm chain m = knn", None),
        ("use sbm data(task = regression) chain m = knn", "regression"),
    ],
)
def test_the_task_is_known_from_the_spec_where_it_says_so(spec: str, task: str | None) -> None:
    found = check_source(Source("s", spec)).spec
    assert found is not None
    assert declared_task(found) == task
    search = ModelSearch(spec)
    assert (is_classifier(search), is_regressor(search)) == (task == "classification", task == "regression")


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"spec": "chain m = nobody"}, "`nobody` is not a block or part"),
        ({"spec": "nowhere.msl"}, "nowhere.msl cannot be read"),
        ({"spec": CLASSES, "task": "clustering"}, "task must be classification, regression or None"),
        ({"spec": CLASSES, "jobs": 0}, "jobs is the number of worker processes"),
        ({"spec": 'block b: learner "my_package:Thing" {} chain m = b ' + ONE}, "--trust my_package"),
        ({"spec": 'block b: learner "sklearn.svm:NuSVC" { nu = 0.99999 } chain m = b ' + ONE}, "none of 1 models"),
    ],
)
def test_mistakes_are_told(arguments: dict[str, Any], words: str) -> None:
    rows, labels = X[40:], Y[40:]
    with pytest.raises(ValueError, match=words):
        ModelSearch(**arguments).fit(rows, labels)


def test_an_unfitted_search_says_so() -> None:
    with pytest.raises(NotFittedError):
        ModelSearch(CLASSES).predict(X)


# --- the functions of the package -------------------------------------------------------------------


def test_specs_are_loaded_and_checked() -> None:
    assert msl.load("specs/psms.msl").name == "full_model"
    assert msl.load(CLASSES, pd.DataFrame(X).assign(y=Y).rename(columns=str)).objectives[0].text == "error"
    with pytest.raises(msl.SpecError, match="MSL021") as told:
        msl.load("use clop chain m = zarbj")
    assert set(told.value.diagnostics) <= set(msl.check_spec("use clop chain m = zarbj"))
    assert msl.check_spec(CLASSES) == ()
    with pytest.raises(TypeError, match="a path or a text"):
        msl.load(7)  # type: ignore[arg-type]


def test_a_run_is_found_again(tmp_path: Path) -> None:
    spec, table = tmp_path / "spec.msl", tmp_path / "iris.csv"
    spec.write_text(SPACE + TINY.format(goal="ber"), encoding="utf-8")
    pd.DataFrame(X).assign(y=NAMES).to_csv(table, index=False)
    seen = []
    result = msl.run(spec, table, progress=seen.append)
    assert seen[-1].evaluations == 3
    loaded = msl.load_model("@", tmp_path / ".msl")
    rows = loaded.read(table)
    assert loaded.predict(rows).tolist() == result.trained.predict(rows).tolist()


def test_the_package_alone_is_light() -> None:
    code = "import sys, msl; msl.__version__; print({'numpy', 'sklearn', 'lark'} & set(sys.modules), dir(msl))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("set()")
    assert "ModelSearch" in shown
    with pytest.raises(AttributeError, match="no attribute `nothing`"):
        _ = msl.nothing


def test_a_frame_with_numbers_for_names_predicts_arrays_too() -> None:
    X, y = load_iris(return_X_y=True)
    search = ModelSearch("use clop\nchain m = naive").fit(pd.DataFrame(X), y)
    assert (search.predict(X) == search.predict(pd.DataFrame(X))).all()
    with pytest.raises(ValueError, match="several columns are called a"):
        search.fit(pd.DataFrame(X, columns=["a"] * X.shape[1]), y)


def test_groups_are_those_of_a_column() -> None:
    draw = np.random.default_rng(0)
    X, groups = draw.normal(size=(60, 3)), draw.integers(0, 6, 60)
    y = (X[:, 0] + draw.normal(size=60) > 0).astype(int)
    spec = "use clop {} chain m = zarbi | naive minimize error by loo() search grid"
    given = ModelSearch(spec.format("")).fit(X, y, groups=[f"g{group}" for group in groups])
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(site=pl.Series(groups))
    named = ModelSearch(spec.format("data(groups = site)")).fit(frame, y)
    assert given.objectives_ == named.objectives_
    assert given.summary_["fits"] == named.summary_["fits"]
    assert given.summary_["fits"] < ModelSearch(spec.format("")).fit(X, y).summary_["fits"]


@pytest.mark.parametrize(
    ("options", "groups", "words"),
    [
        ("", [1, 2, 3], "one value for each of the 10 rows"),
        ("", [None, *range(9)], "row 1 is missing"),
        ("data(groups = c)", range(10), "says `groups`"),
    ],
)
def test_groups_that_cannot_be(options: str, groups: Any, words: str) -> None:
    frame = pl.DataFrame({"a": range(10), "b": range(10, 20), "c": [0, 1] * 5})
    search = ModelSearch(f"use clop {options} chain m = zarbi | naive search random(evaluations = 2)")
    with pytest.raises(UserError, match=words):
        search.fit(frame, [0, 0, 1, 1, 0, 1, 0, 1, 1, 0], groups=list(groups))


def test_weights_of_rows_are_those_of_a_column(tmp_path: Path) -> None:
    weights = np.random.default_rng(4).uniform(0.2, 5.0, 150)
    frame = pd.DataFrame(X, columns=list("abcd"))
    space = "chain m = logistic(C: 0.01..10 log, rest = default)"
    spec = f"use sklearn {{}} {space} minimize logloss search random(evaluations = 2)"
    given = ModelSearch(spec.format("")).fit(frame, NAMES, sample_weight=weights)
    table = frame.assign(kind=NAMES, persons=weights)
    result = msl.run(spec.format("data(target = kind, weight = persons)"), table, store=tmp_path)
    assert given.objectives_ == result.objectives
    assert given.predict(frame[:3]).tolist() == NAMES[:3].tolist()
    assert ModelSearch(spec.format("")).fit(frame, NAMES).objectives_ != given.objectives_


@pytest.mark.parametrize(
    ("options", "weights", "words"),
    [
        ("", [1.0] * 149, r"one number for each of the 150 rows; got the shape \(149,\)"),
        ("", ["a"] * 150, "got values of the type"),
        ("", [0.0] + [1.0] * 149, "not a positive number in row 1: it is 0"),
        ("data(weight = w)", [1.0] * 150, "leave one of them out"),
    ],
)
def test_weights_that_cannot_be(options: str, weights: Any, words: str) -> None:
    frame = pd.DataFrame({"a": X[:, 0], "w": np.ones(150)})
    with pytest.raises(ValueError, match=words):
        ModelSearch(f"use sklearn {options} chain m = gaussian_nb {ONE}").fit(frame, Y, sample_weight=weights)


def test_weights_are_routed_by_cross_validation() -> None:
    weights = np.random.default_rng(4).uniform(0.2, 5.0, 150)
    spec = f"use sklearn chain m = logistic(C = 1, rest = default) {ONE}"
    with config_context(enable_metadata_routing=True):
        given = {"scoring": make_scorer(accuracy_score).set_score_request(sample_weight=True), "cv": 3}
        found, expected = (
            cross_val_score(one.set_fit_request(sample_weight=True), X, Y, params={"sample_weight": weights}, **given)
            for one in (ModelSearch(spec), LogisticRegression(max_iter=2000))
        )
    assert found.tolist() == expected.tolist()


def test_learners_that_weights_do_not_reach_are_named() -> None:
    spec = f"use sklearn chain m = gaussian_nb | k_neighbors | nearest_centroid {ONE}"
    with pytest.warns(UserWarning, match="`k_neighbors` and `nearest_centroid` take no weights of rows"):
        ModelSearch(spec).fit(X, Y, sample_weight=np.ones(150))


# --- as a search of scikit-learn --------------------------------------------------------------------------------------


def passengers(rows: int = 160) -> tuple[pd.DataFrame, Any]:
    """A frame with numbers, words, gaps and a date."""
    draw = np.random.default_rng(7)
    frame = pd.DataFrame(
        {
            "sex": draw.choice(["male", "female"], rows),
            "age": draw.normal(35, 10, rows).round(),
            "cabin": draw.choice(np.array(["A", "B", None], dtype=object), rows),
            "boarded": pd.to_datetime("2024-01-01") + pd.to_timedelta(draw.integers(0, 300, rows), unit="D"),
        }
    )
    frame.loc[::11, "age"] = np.nan
    return frame, np.where((frame.sex == "female") + draw.normal(size=rows) > 0.5, "lived", "died")


@pytest.mark.parametrize(
    ("space", "columns", "is_plain"),
    [
        ("impute >> logistic(rest = default)", ["age"], True),
        ("(one_hot | target_encode)? >> impute >> logistic(rest = default)", ["sex", "age", "cabin"], None),
        ("(on numbers (impute >> standard_scaler) & on symbols (one_hot)) >> logistic(rest = default)", None, None),
        ("hist_gradient_boosting(max_iter = 20, rest = default)", ["sex", "age", "cabin"], True),
        ("standard_scaler >> naive", ["sex", "age"], False),
        ("logistic(rest = default)", ["age", "boarded"], False),
    ],
)
def test_the_best_estimator_takes_the_rows_as_they_are(space: str, columns: list[str] | None, is_plain: Any) -> None:
    frame, y = passengers()
    frame = frame[columns or ["sex", "age", "cabin"]]
    search = ModelSearch(
        f"use sklearn, clop chain m = {space} minimize error by holdout search random(evaluations = 2)"
    )
    search.fit(frame[:120], y[:120])
    best = search.best_estimator_
    assert best.predict(frame).tolist() == search.predict(frame).tolist()
    assert best.predict_proba(frame) == pytest.approx(search.predict_proba(frame))
    assert best.classes_.tolist() == ["died", "lived"]
    modules = {type(step).__module__.partition(".")[0] for _, step in best.steps}
    if is_plain is not None:
        assert ("msl" not in modules) == is_plain
    again = clone(best).fit(frame[:120], y[:120])
    assert again.predict(frame).tolist() == search.predict(frame).tolist()
    kept = pickle.loads(pickle.dumps(search))
    assert kept.predict(frame).tolist() == kept.best_estimator_.predict(frame).tolist() == best.predict(frame).tolist()
    assert search.refit_time_ > 0


def test_the_best_estimator_is_fitted_with_the_weights() -> None:
    weights = np.random.default_rng(5).uniform(0.1, 9.0, 150)
    search = ModelSearch(f"use sklearn chain m = standard_scaler >> logistic(C = 1, rest = default) {ONE}")
    search.fit(X, NAMES, sample_weight=weights)
    assert [type(step).__name__ for _, step in search.best_estimator_.steps] == ["StandardScaler", "LogisticRegression"]
    expected = make_pipeline(*(clone(step) for _, step in search.best_estimator_.steps))
    expected.fit(X, NAMES, logisticregression__sample_weight=weights)
    assert search.best_estimator_.predict_proba(X) == pytest.approx(expected.predict_proba(X))


def test_an_ensemble_predicts_as_the_search() -> None:
    text = f"{SPACE} search random(evaluations = 4) ensemble vote(top = 3, always = true)"
    search = ModelSearch(text).fit(X, NAMES)
    assert search.best_estimator_.predict(X).tolist() == search.predict(X).tolist()


def test_results_are_those_of_a_search_of_scikit_learn() -> None:
    text = "use sklearn chain m = standard_scaler? >> (gaussian_nb | k_neighbors(n_neighbors: 1..9, rest = default))"
    search = ModelSearch(f"{text} minimize error by cv(folds = 3) search random(evaluations = 8)").fit(X, Y)
    results = search.cv_results_
    frame = pd.DataFrame(results)
    assert len(frame) == len(search.evaluations_)
    best = frame.loc[search.best_index_]
    assert best["rank_test_score"] == 1 == frame["rank_test_score"].min()
    assert best["model"] == search.best_model_
    assert search.best_score_ == best["mean_test_score"] == frame["mean_test_score"].max()
    assert search.best_score_ == pytest.approx(1 - search.objectives_["error"])
    assert search.best_params_ == best["params"]
    for params, model in zip(frame["params"], frame["model"], strict=True):
        assert ("k_neighbors.n_neighbors" in params) == ("k_neighbors" in model)
    neighbours = frame["param_k_neighbors.n_neighbors"].dropna()
    assert set(neighbours) <= set(range(1, 10))
    assert not search.multimetric_


def test_models_that_fail_are_last() -> None:
    text = 'use sklearn block odd: learner "sklearn.svm:SVC" { kernel = precomputed } chain m = odd | gaussian_nb'
    search = ModelSearch(f"{text} search grid(evaluations = 4)").fit(X, Y)
    frame = pd.DataFrame(search.cv_results_)
    failed = frame["failure"].notna()
    assert failed.sum() == 1
    assert frame.loc[failed, "mean_test_score"].isna().all()
    assert frame.loc[failed, "rank_test_score"].tolist() == [len(frame)]


@pytest.mark.parametrize(
    ("goal", "scoring"),
    [
        ("", "balanced_accuracy"),
        ("minimize error", "accuracy"),
        ("minimize logloss", "neg_log_loss"),
        ("maximize auc", "roc_auc_ovr"),
        ("maximize f1", "f1_macro"),
        ("minimize error, features", "accuracy"),
    ],
)
def test_scores_are_those_of_the_objective(goal: str, scoring: str) -> None:
    search = ModelSearch(f"use sklearn chain m = gaussian_nb {goal} {ONE}").fit(X[::2], NAMES[::2])
    weights = np.random.default_rng(6).uniform(0.5, 2.0, 75)
    for given in ({}, {"sample_weight": weights}):
        expected = get_scorer(scoring)(search, X[1::2], NAMES[1::2], **given)
        assert search.score(X[1::2], NAMES[1::2], **given) == pytest.approx(expected)
        assert search.scorer_(search.best_estimator_, X[1::2], NAMES[1::2], **given) == pytest.approx(expected)


def test_scores_of_numbers_and_of_classes_that_were_not_there() -> None:
    rows, numbers = load_diabetes(return_X_y=True)
    search = ModelSearch(RIDGE + TINY.format(goal="rmse")).fit(rows[::2], numbers[::2])
    expected = get_scorer("neg_root_mean_squared_error")(search, rows, numbers)
    assert search.score(rows, numbers) == pytest.approx(expected)
    two = ModelSearch(f"use sklearn chain m = gaussian_nb minimize error {ONE}").fit(X[:100], NAMES[:100])
    assert two.score(X, NAMES) == pytest.approx(accuracy_score(NAMES, two.predict(X)))


def test_limits_are_kept_with_one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that takes for ever is ended; in this process nothing could end it."""
    text = (
        "use sklearn chain m = gaussian_nb(rest = default) | gp_classifier(rest = default) search grid(evaluations = 2)"
    )
    draw = np.random.default_rng(0)
    rows, y = draw.normal(size=(3000, 5)), draw.integers(0, 2, 3000)
    search = ModelSearch(f"{text} budget(each = 1s)").fit(rows, y)
    failures = [failure for failure in search.cv_results_["failure"] if failure is not None]
    assert search.best_model_.startswith("gaussian_nb")
    assert len(failures) == 1
    assert failures[0].startswith("timeout")


def test_a_result_looks_well_in_a_notebook(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(Y == 0, "<b>", "&"))
    text = (
        "use sklearn data(target = kind) chain m = gaussian_nb(rest = default) | logistic(rest = default) search grid"
    )
    result = msl.run(text, frame, test=frame, store=tmp_path)
    shown = result._repr_html_()
    assert result.best in shown
    assert "ber on the test table" in shown
    assert "the best of 2 models by ber" in shown
    assert "<script" not in shown
    ElementTree.fromstring(shown)  # well-formed
    assert repr(result) == f"<Result {result.best}: ber = 0, 2 evaluations>"


@pytest.mark.parametrize(
    ("rows", "target", "words"),
    [
        (X, [None, *NAMES[1:]], "y is missing in row 1"),
        (X, [*NAMES[:-1], float("nan")], "y is missing in row 150"),
        (np.array([["a", "b"]] * 150, dtype=object), NAMES, "pass a data frame of pandas or polars"),
    ],
)
def test_odd_rows_are_told(rows: Any, target: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        ModelSearch(CLASSES).fit(rows, np.array(target, dtype=object))
