"""Whatever a foreign class answers, it is taken at its word or told: nothing is counted as the first class for want of
another."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.neighbors import RadiusNeighborsClassifier

from msl.api import run
from msl.blocks.base.build import model_to_chain
from msl.blocks.base.chain import learner_outputs
from msl.blocks.base.check_outputs import SURE, BadOutputs
from msl.check.check_spec import check_source
from msl.check.names.scoring_declarations import metric_named
from msl.cli.main import main
from msl.diagnostics.source import Source
from msl.encode.codec import space_to_codec
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.metrics import score
from msl.evaluate.outcome import Outcome
from msl.runner.trained_model import PredictionError
from msl.space.formulas import Facts
from msl.space.values import BlockType, BlockValue, Model

TRUSTED = ["odd_learners"]


def iris() -> Dataset:
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:90]
    return Dataset.of_arrays(np.ascontiguousarray(X[rows]), y[rows].astype(np.intp), 3)


def diabetes() -> Dataset:
    X, y = load_diabetes(return_X_y=True)
    return Dataset.of_arrays(np.ascontiguousarray(X[:90]), y[:90], 0)


def odd(name: str, what: str | None = None, role: str = "learner") -> BlockValue:
    params = () if what is None else (("what", what),)
    return BlockValue(BlockType(name, "", role, None, f"odd_learners:{name}"), params)  # type: ignore[arg-type]


def judged(dataset: Dataset, *steps: BlockValue, measure: str = "error") -> Outcome:
    learner, goal = "naive" if dataset.n_classes else "ridge", "maximize" if measure == "auc" else "minimize"
    text = f"use clop, sklearn\nchain c = {learner}\n{goal} {measure} by cv(folds = 3)"
    checked = check_source(Source("spec.msl", text))
    assert checked.spec is not None, [one.message for one in checked.diagnostics]
    return Evaluator(dataset, checked.spec.objectives, trusted=TRUSTED).evaluate(Model(steps))


def told(outcome: Outcome) -> tuple[str, str, str]:
    assert outcome.failure is not None, outcome.losses
    assert outcome.losses == (math.inf,)
    return outcome.failure.cause, outcome.failure.step, outcome.failure.message


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ("nan", "not a number", "the learner predicted NaN for 3 of 30 rows"),
        (
            "infinity",
            "prediction",
            "predicted inf, which is none of the classes 0, 1, 2 that it was given, for 3",
        ),
        ("unknown", "prediction", "predicted 7, which is none of the classes 0, 1, 2 that it was given, for 3"),
        ("half", "prediction", "which is none of the classes 0, 1, 2"),
        ("text", "prediction", "which is none of the classes 0, 1, 2 that it was given, for 30 of 30 rows"),
        ("digits", "prediction", "which is none of the classes"),
        (
            "objects",
            "prediction",
            "predicted None, which is none of the classes 0, 1, 2 that it was given, for 3",
        ),
        ("masked", "not a number", "the learner predicted NaN for 3 of 30 rows"),
        ("complex", "prediction", "which is none of the classes"),
        ("short", "shape", "the learner predicted an array of shape (29,) for 30 rows"),
        ("matrix", "shape", "the learner predicted an array of shape (30, 2) for 30 rows"),
    ],
)
def test_a_prediction_that_names_no_class(what: str, cause: str, words: str) -> None:
    found = told(judged(iris(), odd("Predicts", what)))
    assert found[:2] == (cause, "Predicts")
    assert words in found[2]


@pytest.mark.parametrize("what", ["nothing", "column", "list", "floats", "numbers as objects"])
@pytest.mark.parametrize("name", ["Predicts", "NoClasses"])
def test_a_prediction_in_another_dress_is_the_same_prediction(name: str, what: str) -> None:
    plain = judged(iris(), odd("Predicts", "nothing"))
    assert plain.failure is None
    assert plain.losses[0] < 0.2
    assert judged(iris(), odd(name, what)).losses == plain.losses


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ("nan", "not a number", "the learner gave probabilities of NaN for 3 of 30 rows"),
        ("infinity", "not a number", "the learner gave infinite probabilities for 3 of 30 rows"),
        ("negative", "prediction", "the learner gave negative probabilities for"),
        ("half of them", "prediction", "probabilities that do not sum to 1 but, as the first, to 0.5 for 3 of 30 rows"),
        ("too much", "prediction", "probabilities that do not sum to 1 but, as the first, to 2 for 30 of 30 rows"),
        ("one column", "shape", "predict_proba gives an array of shape (30,) where (30, 3) is needed"),
        ("a class too few", "shape", "shape (30, 2) where (30, 3)"),
        ("a class too many", "shape", "shape (30, 4) where (30, 3)"),
        ("a list", "shape", "shape (2, 30, 3) where (30, 3)"),
        ("ragged", "shape", "list that is no array"),
        ("text", "prediction", "which is no number"),
    ],
)
def test_probabilities_that_are_none(what: str, cause: str, words: str) -> None:
    found = told(judged(iris(), odd("Probabilities", what)))
    assert found[:2] == (cause, "Probabilities")
    assert words in found[2]


def test_rows_without_a_probability_are_of_the_class_that_is_predicted() -> None:
    """And not of the first one."""
    plain = judged(iris(), odd("Probabilities", "nothing"))
    assert judged(iris(), odd("Probabilities", "nobody")).losses == plain.losses
    found = told(judged(iris(), odd("Outliers")))
    assert found == ("not a number", "Outliers", "the learner predicted NaN for 3 of 3 rows")


def test_radius_neighbours_give_outliers_the_most_frequent_class() -> None:
    """As the catalogue says; scikit-learn's probabilities of them are zero with distances other than Euclidean."""
    dataset = iris()
    rows = np.flatnonzero(dataset.y != 0)[:40]
    few = np.r_[rows, np.flatnonzero(dataset.y == 0)[:5]]
    for p in (1, 2):
        fitted = RadiusNeighborsClassifier(radius=0.1, p=p, outlier_label="most_frequent").fit(
            dataset.X[few], dataset.y[few]
        )
        outputs = learner_outputs(fitted, dataset.X + 100.0, 3)
        assert set(outputs.argmax(axis=1)) == {int(np.bincount(dataset.y[few]).argmax())} != {0}


@pytest.mark.parametrize("measure", ["error", "logloss"])
def test_probabilities_are_of_the_classes_that_they_are_said_to_be_of(measure: str) -> None:
    plain = judged(iris(), odd("Probabilities", "nothing"), measure=measure)
    assert judged(iris(), odd("Reversed"), measure=measure).losses == pytest.approx(plain.losses)
    found = told(judged(iris(), odd("ForeignClasses")))
    assert found[0] == "prediction"
    assert "classes_" in found[2]


@pytest.mark.parametrize("what", ["single precision", "half precision", "a hair below zero"])
def test_what_rounding_leaves_of_probabilities_are_probabilities(what: str) -> None:
    """They are not taken for scores, whose probabilities are others."""
    plain = judged(iris(), odd("Probabilities", "nothing"), measure="logloss")
    assert judged(iris(), odd("Probabilities", what), measure="logloss").losses == pytest.approx(plain.losses, rel=0.02)


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ("nan", "not a number", "the learner gave scores of NaN for 3 of 30 rows"),
        ("all of them", "not a number", "gives several classes an infinite score for 3 of 30 rows"),
        ("none of them", "not a number", "gives several classes an infinite score for 3 of 30 rows"),
        ("one column", "shape", "decision_function gives an array of shape (30,) where (30, 3) is needed"),
    ],
)
def test_scores_that_tell_nothing(what: str, cause: str, words: str) -> None:
    found = told(judged(iris(), odd("Scores", what)))
    assert found[:2] == (cause, "Scores")
    assert words in found[2]


@pytest.mark.parametrize("what", ["overflow", "underflow"])
def test_an_infinite_score_of_one_class_decides(what: str) -> None:
    """It is surer than any other, for every measure."""
    plain = judged(iris(), odd("Scores", "nothing"))
    assert plain.failure is None
    assert judged(iris(), odd("Scores", what)).losses == plain.losses
    for measure in ("logloss", "auc"):
        outcome = judged(iris(), odd("Scores", what), measure=measure)
        assert outcome.failure is None
        assert math.isfinite(outcome.losses[0])


def test_an_infinite_margin_between_two_classes_decides() -> None:
    class Sure:
        classes_ = np.array([0, 1])

        def decision_function(self, X: Any) -> Any:
            return np.array([np.inf, -np.inf, 2.0])

    outputs = learner_outputs(Sure(), np.zeros((3, 1)), 2)
    assert outputs.argmax(axis=1).tolist() == [1, 0, 1]
    assert outputs.tolist() == [[-SURE, SURE], [SURE, -SURE], [-2.0, 2.0]]
    assert score(metric_named("auc"), np.array([1, 0, 1]), outputs) == 1.0
    assert score(metric_named("logloss"), np.array([1, 0, 1]), outputs) < 0.1


def test_scores_of_pairs_are_not_scores_of_classes() -> None:
    """Three classes have three pairs: the columns look alike."""
    assert judged(iris(), odd("Pairs")).losses[0] < 0.1


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ("nan", "not a number", "the learner predicted NaN for 3 of 30 rows"),
        ("infinity", "not a number", "the learner predicted an infinite number for 3 of 30 rows"),
        ("text", "prediction", "which is no number, for 30 of 30 rows"),
        ("two columns", "shape", "the learner predicted an array of shape (30, 2) for 30 rows"),
        ("a row", "shape", "the learner predicted an array of shape (1, 30) for 30 rows"),
        ("complex", "prediction", "which is no number"),
    ],
)
def test_a_number_that_is_none(what: str, cause: str, words: str) -> None:
    found = told(judged(diabetes(), odd("Numbers", what), measure="mse"))
    assert found[:2] == (cause, "Numbers")
    assert words in found[2]


def test_a_column_of_numbers_is_numbers() -> None:
    plain, column = (judged(diabetes(), odd("Numbers", what), measure="mse") for what in ("nothing", "column"))
    assert plain.failure is None
    assert column.losses == plain.losses


@pytest.mark.parametrize(
    ("what", "cause", "words"),
    [
        ("nan", "not a number", "makes NaN in 3 of 60 rows"),
        ("infinity", "not a number", "makes infinite values in 3 of 60 rows"),
        ("text", "prediction", "out of numbers, and what follows needs numbers for 60 of 60 rows"),
        ("words", "prediction", "makes 'word' out of numbers"),
        ("objects", "prediction", "makes None out of numbers"),
        ("complex", "prediction", "out of numbers"),
        ("too few", "shape", "makes an array of shape (59, 4) of 60 rows"),
        ("one dimension", "shape", "makes an array of shape (60,) of 60 rows"),
        ("three dimensions", "shape", "makes an array of shape (60, 4, 1) of 60 rows"),
        ("nothing left", "shape", "leaves no column"),
        ("ragged", "shape", "list that is no array"),
    ],
)
def test_columns_that_cannot_be_learnt_from(what: str, cause: str, words: str) -> None:
    found = told(judged(iris(), odd("Makes", what, "transformer"), odd("Predicts", "nothing")))
    assert found[:2] == (cause, "Makes")
    assert words in found[2]
    chain = model_to_chain(
        Model((odd("Makes", what, "transformer"), odd("Predicts", "nothing"))), "classification", trusted=TRUSTED
    )
    with pytest.raises(BadOutputs) as wrong:  # and so at the end of a run, when it is fitted on every row
        chain.fit_arrays(iris().X, iris().y, 3)
    assert (wrong.value.cause, wrong.value.block) == (cause, "Makes")


@pytest.mark.parametrize("what", ["nothing", "sparse", "numbers as objects"])
def test_columns_in_another_dress_are_the_same_columns(what: str) -> None:
    plain = judged(iris(), odd("Predicts", "nothing"))
    assert judged(iris(), odd("Makes", what, "transformer"), odd("Predicts", "nothing")).losses == plain.losses


def test_a_step_that_makes_gaps_fails_also_where_the_table_has_gaps_elsewhere() -> None:
    """The gaps of the table are filled in before it: those behind it are its own."""
    dataset = iris()
    X = dataset.X.copy()
    X[::7, 3] = np.nan
    gappy = Dataset.of_arrays(X, dataset.y, 3)
    outcome = judged(gappy, odd("Makes", "nan", "transformer"), odd("Predicts", "nothing"))
    assert told(outcome)[1:] == ("Makes", "makes NaN in 3 of 60 rows")


# --- after the search -----------------------------------------------------------------------------


def write_iris(path: Path, oddly: int | None = None) -> Path:
    X, y = load_iris(return_X_y=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["a", "b", "c", "d", "kind"])
        for place, (row, label) in enumerate(zip(X[::3].tolist(), y[::3], strict=True)):
            lines.writerow([99.0 if place == oddly else row[0], *row[1:], f"kind {label}"])
    return path


def a_run(tmp_path: Path, block: str, **options: Any) -> Any:
    spec = (
        f'block odd: learner for classification "odd_learners:{block}" {{}}\n'
        "chain m = odd\nminimize error by cv(folds = 3)\nsearch random(evaluations = 1)\n"
    )
    return run(
        spec,
        str(write_iris(tmp_path / "iris.csv")),
        store=tmp_path / "store",
        jobs=1,
        trusted=["odd_learners"],
        **options,
    )


def test_a_prediction_for_new_rows_that_is_none_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = a_run(tmp_path, "OddLater")
    odd_table = str(write_iris(tmp_path / "odd.csv", oddly=6))
    with pytest.raises(PredictionError, match=r"OddLater: the learner predicted NaN for 1 of 50 rows \(row 7\)"):
        result.trained.predict(result.trained.read(odd_table))
    monkeypatch.setattr(
        sys, "argv", ["msl", "predict", "@", odd_table, "--store", str(tmp_path / "store"), "--trust", "odd_learners"]
    )
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr()
    assert (left.value.code, said.out) == (2, "")
    assert "OddLater: the learner predicted NaN for 1 of 50 rows (row 7)" in said.err
    assert "Traceback" not in said.err


def test_a_class_that_raises_on_new_rows_is_no_bug_of_ours(tmp_path: Path) -> None:
    result = a_run(tmp_path, "RaisesLater")
    with pytest.raises(PredictionError, match="cannot predict this table: never seen such a thing"):
        result.trained.predict(result.trained.read(str(write_iris(tmp_path / "odd.csv", oddly=6))))


def test_a_test_table_with_rows_that_cannot_be_predicted_is_told(tmp_path: Path) -> None:
    result = a_run(tmp_path, "OddLater", test=str(write_iris(tmp_path / "odd.csv", oddly=6)))
    assert "test" not in result.summary
    assert "the learner predicted NaN for 1 of 50 rows" in result.summary["test_failure"]


@pytest.mark.parametrize(
    "chain", ["naive", "zarbi", "neural", "svc", "kridge", "rf", "logitboost", "standardize >> kridge", "s2n >> naive"]
)
def test_a_gap_that_training_had_not_is_filled_in_for_our_own_blocks(chain: str) -> None:
    """As the warning says: with the middle value of the column. It was counted as the first class."""
    dataset = iris()
    facts = Facts(len(dataset.X), 4, 3, "classification")
    checked = check_source(Source("spec.msl", f"use clop\nchain c = {chain}"), facts=facts)
    assert checked.spec is not None
    codec = space_to_codec(checked.spec.space)
    model = codec.model(np.full(codec.n_dimensions, 0.5))
    fitted = model_to_chain(model, "classification", columns=dataset.columns)
    fitted.fit_arrays(dataset.X, dataset.y, 3)
    gaps, filled = dataset.X.copy(), dataset.X.copy()
    gaps[:20, 2] = np.nan
    filled[:20, 2] = np.sort(dataset.X[:, 2])[(len(dataset.X) - 1) // 2]
    outputs = fitted.outputs(gaps)
    assert np.isfinite(outputs).all()
    np.testing.assert_array_equal(outputs, fitted.outputs(filled))
    assert not fitted.can_take(gaps)
