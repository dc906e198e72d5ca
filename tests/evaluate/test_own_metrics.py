"""Metrics that a spec declares: trusted by name, called as declared, raced, evaluated again when edited."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, fbeta_score

from msl.blocks.base.load import BlockProblem
from msl.check.check_spec import check_source
from msl.cli.main import main
from msl.diagnostics.source import Source
from msl.evaluate.metrics import load_metric, row_terms, score
from msl.evaluate.outcome import MetricFailed
from msl.space.spec import Metric, metrics_of

SPEC = """use clop, extras
block profit: metric for classification "MINE:profit" { larger_is_better = true, gain: real 0..100 default 5 }
block plain: metric for classification "MINE:plain" { takes = predictions, low = 0, high = 1 }
block raced: metric for classification "MINE:plain" {
  takes = predictions, low = 0, high = 1, additive_over_rows = mean, row_function = "MINE:wrong",
}
block agreement: metric for classification "sklearn.metrics:cohen_kappa_score" {
  takes = weighted_predictions, larger_is_better = true, low = -1, high = 1,
}
chain model = mixed_naive_bayes | kridge(shrinkage: 1e-3..1 log, rest = default) | zarbi
            | svc(gamma: 1e-3..1 log, shrinkage = 0.01, rest = default)
GOAL
search pattern(evaluations = 25)
seed 3
"""
MODULE = """
import numpy as np

def profit(y, outputs, weights, gain):
    taken = outputs.argmax(axis=1) == 1
    return (weights * taken * np.where(y == 1, gain, -1.0)).sum() / weights.sum()

def plain(y_true, y_pred):
    return np.mean(y_true != y_pred)

def wrong(y_true, y_pred):
    return (y_true != y_pred).astype(float)
"""


#: Each test has a module of its own: a process imports one but once.
_NAMES = count()


@dataclass(frozen=True)
class Place:
    """A folder with a table and a module with the metrics."""

    folder: Path
    name: str

    @property
    def module(self) -> Path:
        return self.folder / f"{self.name}.py"

    def write(self, goal: str, evaluations: int = 6) -> None:
        text = SPEC.replace("GOAL", goal).replace("MINE", self.name).replace("= 25", f"= {evaluations}")
        (self.folder / "spec.msl").write_text(text)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    rows = [f"{x / 10},{(x * 7) % 10},{'a' if (x * 13) % 47 < 21 else 'b'}" for x in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["x,z,class", *rows]) + "\n")
    found = Place(tmp_path, f"mine{next(_NAMES)}")
    found.module.write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))  # trust ends with the test
    return found


def msl(*arguments: str) -> tuple[int, str, str]:
    """The command in this process: its exit code and what it wrote."""
    out, err = io.StringIO(), io.StringIO()
    with patch.object(sys, "argv", ["msl", *arguments]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as left:
            return int(left.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("the command did not end")


def arguments_of(place: Place) -> list[str]:
    return ["run", "spec.msl", "data.csv", "--on", "inprocess", "--json", "--trust", place.name]


def run(place: Place, goal: str, evaluations: int = 6) -> dict[str, Any]:
    place.write(goal, evaluations)
    code, out, err = msl(*arguments_of(place))
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def run_anew(place: Place) -> dict[str, Any]:
    """The spec as it stands, in a process that imports the module as it stands."""
    command = [sys.executable, "-B", "-c", "from msl.cli.main import main; main()", *arguments_of(place)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def metric_of(goal: str) -> Metric:
    checked = check_source(Source("spec.msl", SPEC.replace("GOAL", goal).replace("MINE", "mine"), "spec.msl"))
    assert checked.spec is not None, checked.diagnostics
    return metrics_of(checked.spec.objectives[0].loss)[0]


def test_checking_never_imports_the_module(place: Place) -> None:
    place.module.write_text("open('imported', 'w').close()")
    place.write("maximize profit by cv(folds = 3)")
    assert msl("check", "spec.msl", "--data", "data.csv")[0] == 0
    assert msl("check", "spec.msl")[0] == 0
    assert not (place.folder / "imported").exists()


def test_a_module_that_is_not_trusted_is_not_imported(place: Place) -> None:
    place.module.write_text("open('imported', 'w').close()")
    place.write("maximize profit by cv(folds = 3)")
    code, _, err = msl("run", "spec.msl", "data.csv", "--on", "inprocess")
    assert code == 1
    assert "MSL401" in err
    assert f"--trust {place.name}" in err
    assert not (place.folder / "imported").exists()


def test_a_function_that_is_edited_is_evaluated_again(place: Place) -> None:
    first = run(place, "maximize profit by cv(folds = 3)")
    assert run_anew(place)["new"] == 0
    place.module.write_text(MODULE.replace("-1.0", "-2.0"))
    assert run_anew(place)["new"] == first["new"] > 0


def test_a_declaration_that_names_another_function_is_evaluated_again(place: Place) -> None:
    place.module.write_text(MODULE + "\n\ndef right(y_true, y_pred):\n    return np.mean(y_true == y_pred)\n")
    first = run(place, "minimize plain by cv(folds = 3)")
    assert run(place, "minimize plain by cv(folds = 3)")["new"] == 0
    text = (place.folder / "spec.msl").read_text()
    (place.folder / "spec.msl").write_text(
        text.replace(
            ':plain" { takes = predictions, low = 0, high = 1 }', ':right" { takes = predictions, low = 0, high = 1 }'
        )
    )
    code, out, err = msl(*arguments_of(place))
    assert code == 0, err
    assert json.loads(out)["new"] >= first["new"] > 0


def test_predicting_needs_no_metric(place: Place) -> None:
    run(place, "maximize profit by cv(folds = 3)")
    place.module.unlink()
    with patch.dict(sys.modules):
        del sys.modules[place.name]
        code, out, err = msl("predict", "@", "data.csv")
    assert code == 0, err
    assert len(out.splitlines()) == 61


def test_racing_loses_nothing(place: Place) -> None:
    """With a range and terms of rows evaluations end early; without them none does; the winner is the same."""
    # Only models that are far behind are not evaluated to the end: here those that are linear.
    rows = [f"{x / 100},{(x * 7) % 10},{'a' if 3 <= (x * 7) % 10 <= 6 else 'b'}" for x in range(300)]
    (place.folder / "data.csv").write_text("\n".join(["x,z,class", *rows]) + "\n")
    plain = run(place, "minimize plain by cv(folds = 10)", 25)
    raced = run(place, "minimize raced by cv(folds = 10)", 25)
    assert plain["best"] == raced["best"]
    assert raced["fits"] < plain["fits"]


@pytest.mark.parametrize(
    ("goal", "search"),
    [
        ("minimize 1 - 0.1 * profit by holdout(0.3)", "auto"),
        ("minimize plain - 0.5 * agreement, features by cv(folds = 3)", "cmdpso"),
        ("maximize agreement by bootstrap632(3)", "auto"),
        ("maximize profit(gain = 2) by loo()", "auto"),
    ],
)
def test_arithmetic_several_objectives_and_other_estimates(place: Place, goal: str, search: str) -> None:
    place.write(goal)
    text = (place.folder / "spec.msl").read_text()
    text = text.replace("pattern(evaluations = 6)", search) + "budget(evaluations = 4)\n"
    (place.folder / "spec.msl").write_text(text)
    code, out, err = msl(*arguments_of(place))
    assert code == 0, err
    assert json.loads(out)["failures"] == 0


def test_until_ends_the_search(place: Place) -> None:
    found = run(place, "maximize profit by cv(folds = 3)\nbudget(until = -100)", 25)
    assert found["new"] < 25


# --- how a function is called -----------------------------------------------------------------------------------------


def outputs_and_truth(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    y = rng.integers(0, 2, 40)
    outputs = rng.random((40, 2))
    return y, outputs, rng.integers(0, 4, 40).astype(float)


def test_weighted_predictions_are_those_of_scikit_learn() -> None:
    y, outputs, weights = outputs_and_truth(np.random.default_rng(0))
    metric = metric_of("maximize agreement by cv(folds = 3)")
    load_metric(metric)
    expected = cohen_kappa_score(y, outputs.argmax(axis=1), sample_weight=weights)
    assert score(metric, y, outputs, weights) == pytest.approx(expected)


def test_a_row_that_counts_twice_is_there_twice() -> None:
    y, outputs, weights = outputs_and_truth(np.random.default_rng(1))
    metric = Metric("f", "sklearn.metrics:f1_score", takes="predictions", declared_in="spec.msl")
    expected = fbeta_score(y, outputs.argmax(axis=1), beta=1, sample_weight=weights)
    assert score(metric, y, outputs, weights) == pytest.approx(expected)
    with pytest.raises(MetricFailed, match="takes predictions alone"):
        score(metric, y, outputs, weights + 0.5 * (y == 0))


def test_a_value_outside_the_declared_range_is_a_failure() -> None:
    metric = Metric("f", "sklearn.metrics:max_error", takes="predictions", low=0.0, high=0.5, declared_in="spec.msl")
    with pytest.raises(MetricFailed, match=r"declares 0 to 0\.5"):
        score(metric, np.arange(3.0), np.zeros(3))


def test_terms_of_rows_get_what_the_function_gets() -> None:
    metric = Metric(
        "f", "sklearn.metrics:max_error", takes="predictions", row_function="numpy:not_equal", declared_in="spec.msl"
    )
    assert row_terms(metric, np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("target", "takes", "code"),
    [
        ("sklearn.metrics:f1_score", "outputs", None),
        ("sklearn.metrics:no_such_thing", "outputs", "MSL402"),
        ("sklearn.no_such_module:f", "outputs", "MSL402"),
        ("sklearn.base:BaseEstimator", "outputs", "MSL403"),
        ("sklearn.metrics:max_error", "weighted_predictions", "MSL404"),
        ("os:system", "outputs", "MSL401"),
    ],
)
def test_a_function_is_looked_at_before_a_run(target: str, takes: str, code: str | None) -> None:
    metric = Metric("f", target, takes=takes, declared_in="spec.msl")
    if code is None:
        metric = Metric("f", target, takes="weighted_predictions", declared_in="spec.msl")
        return load_metric(metric)
    with pytest.raises(BlockProblem) as raised:
        load_metric(metric)
    assert raised.value.code == code
    return None


def test_a_metric_of_another_file_may_be_qualified() -> None:
    team = 'block profit: metric "MINE:profit" { larger_is_better = true }\n'
    text = 'use clop, "team.msl"\nchain model = svc\nmaximize profit + team.profit by cv(folds = 3)\n'
    checked = check_source(Source("spec.msl", text, "spec.msl"), read_file=lambda path: team)
    assert checked.spec is not None, checked.diagnostics
    names = [metric.name for metric in metrics_of(checked.spec.objectives[0].loss)]
    assert names == ["profit", "team.profit"]
