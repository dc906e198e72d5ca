"""Weights of rows, `data(weight = column)`: compared with scikit-learn, fold by fold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from msl.blocks.base.build import model_to_chain
from msl.check.check_spec import check_source
from msl.check.names.scoring_declarations import metric_named
from msl.check.read_models import text_to_model
from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_like, read_table
from msl.data.table import Table
from msl.diagnostics.source import Source
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.metrics import score
from msl.evaluate.outcome import Outcome
from msl.evaluate.resampling import Resampling, ResamplingPlan
from msl.space.spec import Spec
from msl.space.values import Model

SCALER, LOGISTIC = "standard_scaler(rest = default)", "logistic(C = 1, rest = default)"
RIDGE, TREE = "ridge(alpha = 1, rest = default)", "decision_tree(max_depth = 3, rest = default)"
SPEC = "use sklearn, compose\ndata(target = y, weight = persons)\nchain model = {}\n{}\n"


def table_of(folder: Path, weights: list[Any], task: str = "classification") -> Table:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(len(weights), 3))
    noisy = X @ [1.0, 1.0, 0.0] + 1.5 * draw.normal(size=len(X))
    y = noisy.tolist() if task == "regression" else ["ab"[int(one > 0.0)] for one in noisy]
    rows = [f"{a},{b},{c},{one},{w}" for (a, b, c), one, w in zip(X.tolist(), y, weights, strict=True)]
    path = folder / "table.csv"
    path.write_text("\n".join(["u,v,w,y,persons", *rows]) + "\n")
    return read_table(path, options=DataOptions(target="y", weight="persons"))


def drawn(number: int = 120) -> list[float]:
    return np.random.default_rng(1).uniform(0.1, 8.0, number).round(2).tolist()


def checked(text: str, goal: str, table: Table | None = None) -> tuple[Spec, Model]:
    source = Source("spec.msl", SPEC.format(text, goal))
    found = check_source(source, None if table is None else table.facts)
    assert found.spec is not None, found.diagnostics
    model, problems = text_to_model(text, source)
    assert model is not None, problems
    return found.spec, model


def evaluated(table: Table, text: str, goal: str) -> tuple[Outcome, Resampling]:
    spec, model = checked(text, goal, table)
    dataset = Dataset.of(table)
    outcome = Evaluator(dataset, spec.objectives).evaluate(model)
    assert outcome.failure is None, outcome.failure
    plan = ResamplingPlan(dataset, [spec.objectives[0].estimate], 0)
    return outcome, plan.resampling(spec.objectives[0].estimate, 0, 1.0, 0)


def by_hand(table: Table, made: Any, resampling: Resampling, method: str, weigh: bool = True) -> Any:
    """The outputs for held-out rows, in the order of the table."""
    outputs: Any = None
    for split in resampling.splits:
        given = {"sample_weight": table.weights[split.train]} if weigh else {}
        if weigh and hasattr(made, "steps"):
            given = {f"{made.steps[-1][0]}__sample_weight": table.weights[split.train]}
        fitted = clone(made).fit(table.X[split.train], table.y[split.train], **given)
        said = getattr(fitted, method)(table.X[split.test])
        outputs = np.zeros((len(table), *said.shape[1:])) if outputs is None else outputs
        outputs[split.test] = said
    return outputs


def learner_of(text: str) -> Any:
    """The learner that MSL makes, with its seed."""
    return model_to_chain(checked(text, "minimize logloss")[1], "classification").learner


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (LOGISTIC, LogisticRegression),
        ("random_forest(n_estimators = 50, rest = default)", RandomForestClassifier),
        ("hist_gradient_boosting(max_iter = 50, rest = default)", HistGradientBoostingClassifier),
        ("calibrated(estimator = logistic(C = 1, rest = default), rest = default)", CalibratedClassifierCV),
    ],
)
def test_fits_and_metrics_are_those_of_scikit_learn(tmp_path: Path, text: str, kind: type) -> None:
    table = table_of(tmp_path, drawn())
    outcome, resampling = evaluated(table, text, "minimize logloss")
    learner = learner_of(text)
    assert type(learner) is kind
    said = by_hand(table, learner, resampling, "predict_proba")
    assert outcome.losses[0] == pytest.approx(log_loss(table.y, said, sample_weight=table.weights), rel=1e-9)
    unweighed = by_hand(table, learner, resampling, "predict_proba", weigh=False)
    assert outcome.losses[0] != pytest.approx(log_loss(table.y, unweighed, sample_weight=table.weights), rel=1e-3)


def test_steps_before_the_learner_count_all_rows_the_same(tmp_path: Path) -> None:
    table = table_of(tmp_path, drawn())
    outcome, resampling = evaluated(table, f"{SCALER} >> {LOGISTIC}", "maximize auc")
    pipeline = make_pipeline(StandardScaler(), learner_of(LOGISTIC))
    said = by_hand(table, pipeline, resampling, "predict_proba")[:, 1]
    assert -outcome.losses[0] == pytest.approx(roc_auc_score(table.y, said, sample_weight=table.weights))


def test_a_learner_that_takes_no_weights_is_fitted_without_and_scored_with_them(tmp_path: Path) -> None:
    table = table_of(tmp_path, drawn())
    outcome, resampling = evaluated(table, "k_neighbors(n_neighbors = 5, rest = default)", "minimize error")
    said = by_hand(table, KNeighborsClassifier(5), resampling, "predict", weigh=False)
    assert 1 - outcome.losses[0] == pytest.approx(accuracy_score(table.y, said, sample_weight=table.weights))
    assert outcome.warnings == (
        "`k_neighbors` takes no weights of rows: it is fitted without them, and scored with them",
    )


def test_weights_reach_regressors_and_pipelines_inside(tmp_path: Path) -> None:
    table = table_of(tmp_path, drawn(), "regression")
    text = f"transformed_target(regressor = {SCALER} >> {RIDGE}, transformer = {SCALER})"
    outcome, resampling = evaluated(table, text, "minimize mse")
    pipeline = make_pipeline(StandardScaler(), Ridge(alpha=1.0))
    said = by_hand(table, pipeline, resampling, "predict")  # ridge does not mind the scale of its target
    assert outcome.warnings == ()
    assert outcome.losses[0] == pytest.approx(mean_squared_error(table.y, said, sample_weight=table.weights), rel=1e-6)


def test_whole_weights_are_rows_that_stand_there_so_often(tmp_path: Path) -> None:
    times = np.random.default_rng(2).integers(1, 5, 60)
    table = table_of(tmp_path, times.tolist(), "regression")
    again = np.repeat(np.arange(60), times)
    for text in (
        "linear_regression(rest = default)",
        "ridge(alpha = 1, rest = default)",
        "decision_tree(max_depth = 3, rest = default)",
    ):
        chain = model_to_chain(checked(text, "minimize mse")[1], "regression")
        weighed = clone(chain).fit(table.X, table.y, sample_weight=table.weights).predict(table.X)
        repeated = clone(chain).fit(table.X[again], table.y[again]).predict(table.X)
        assert weighed == pytest.approx(repeated)


def test_the_same_weight_for_all_rows_changes_nothing_but_the_fingerprint(tmp_path: Path) -> None:
    table = table_of(tmp_path, [1.0] * 80)
    bare = read_table(table.X, np.array(["a", "b"])[table.y])
    goal = "minimize logloss by cv(folds = 3, repeats = 2)"
    spec, model = checked(f"{SCALER} >> {LOGISTIC}", goal, table)
    losses = [Evaluator(Dataset.of(each), spec.objectives).evaluate(model).losses[0] for each in (table, bare)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    other = table_of(tmp_path, [1.0] * 79 + [2.0])
    assert len({table.fingerprint, bare.fingerprint, other.fingerprint}) == 3


def test_a_race_against_a_weighted_loss_is_lost_only_by_what_cannot_win(tmp_path: Path) -> None:
    table = table_of(tmp_path, drawn())
    spec, model = checked(LOGISTIC, "minimize error", table)
    exact = Evaluator(Dataset.of(table), spec.objectives).evaluate(model).losses[0]
    for cutoff in (0.5 * exact, 1.001 * exact):
        raced = Evaluator(Dataset.of(table), spec.objectives).evaluate(model, cutoff=cutoff)
        assert raced.bound == (cutoff < exact)
        assert raced.losses[0] <= exact + 1e-12 if raced.bound else raced.losses[0] == exact


def test_tables_to_predict_need_no_weights(tmp_path: Path) -> None:
    table = table_of(tmp_path, drawn())
    rows = {name: [0.5, 1.0] for name in ("u", "v", "w")}
    assert read_like(table.schema, pl.DataFrame(rows)).weights is None
    tested = read_like(table.schema, pl.DataFrame({**rows, "y": ["a", "b"], "persons": [2.0, 3.0]}))
    assert tested.weights is not None
    assert tested.weights.tolist() == [2.0, 3.0]
    assert table.names == ("u", "v", "w")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2, 0, 4], "not a positive number in row 3: it is 0"),
        ([1, -2, 1, -1], "in rows 2 and 4: the first is -2"),
        ([1, "", 1, 1], "in row 2: it is missing"),
        ([1, "much", 1, 1], "much"),
        ([1, "inf", 1, 1], "in row 2: it is inf"),
    ],
)
def test_a_weight_that_is_no_positive_number_is_refused_with_its_row(
    tmp_path: Path, weights: list[Any], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        table_of(tmp_path, weights)


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("u,y,persons\n1,a,2\n2,b,1\n")
    with pytest.raises(DataError, match=r"weight names `person`, but .* has no such column"):
        read_table(path, options=DataOptions(weight="person"))
    with pytest.raises(DataError, match="named both in `target` and in `weight`"):
        DataOptions(target="persons", weight="persons")


def test_metrics_of_rows_with_whole_weights_are_those_of_repeated_rows() -> None:
    draw = np.random.default_rng(3)
    times = draw.integers(1, 4, 50)
    y, outputs = draw.integers(0, 3, 50), draw.dirichlet(np.ones(3), 50)
    again = np.repeat(np.arange(50), times)
    goals = "ber", "auc", "average_precision", "logloss", "f1", "mcc", "ber_at_best_threshold"
    for name in goals:
        metric = metric_named(name)
        weighed = score(metric, y, outputs, times.astype(float))
        assert weighed == pytest.approx(score(metric, y[again], outputs[again])), name
