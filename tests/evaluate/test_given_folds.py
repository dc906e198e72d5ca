"""Folds that a column of the table names, against `PredefinedSplit` of scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import PredefinedSplit

from msl.check.check_spec import check_source
from msl.check.read_models import text_to_model
from msl.data.data_errors import DataError
from msl.data.options import DataOptions
from msl.data.read import read_table
from msl.data.table import Table
from msl.diagnostics.source import Source
from msl.diagnostics.user_error import UserError
from msl.evaluate.dataset import Dataset
from msl.evaluate.evaluator import Evaluator
from msl.evaluate.splits import SplitGroups, given_splits
from msl.space.spec import Spec
from msl.space.values import Model

SPEC = """use sklearn
data(target = y, fold = site)
chain model = logistic(C = 1, class_weight = none)
GOAL
"""


def table_of(folder: Path, folds: list[Any], classes: list[str] | None = None) -> Table:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(len(folds), 2))
    y = classes or ["ab"[int(a + b > 0)] for a, b in X + draw.normal(size=X.shape)]
    rows = [f"{a!r},{b!r},{one},{fold}" for (a, b), one, fold in zip(X.tolist(), y, folds, strict=True)]
    path = folder / "table.csv"
    path.write_text("\n".join(["u,v,y,site", *rows]) + "\n")
    return read_table(path, options=DataOptions(target="y", fold="site"))


def spec_of(table: Table | None, goal: str) -> Spec:
    checked = check_source(Source("spec.msl", SPEC.replace("GOAL", goal)), None if table is None else table.facts)
    assert checked.spec is not None, checked.diagnostics
    return checked.spec


def model_of(text: str) -> Model:
    model, problems = text_to_model(text, Source("spec.msl", SPEC.replace("GOAL", "")))
    assert model is not None, problems
    return model


def dealt(number: int, marks: list[Any], seed: int = 1) -> list[Any]:
    draw = np.random.default_rng(seed)
    return [marks[place] for place in draw.integers(0, len(marks), number)]


@pytest.mark.parametrize("seed", range(20))
def test_splits_are_those_of_a_predefined_split(seed: int) -> None:
    folds = np.random.default_rng(seed).integers(-1, 5, 40)
    found = given_splits(folds)
    expected = list(PredefinedSplit(folds).split())
    assert len(found) == len(expected)
    for split, (train, test) in zip(found, expected, strict=True):
        assert split.train.tolist() == train.tolist()
        assert split.test.tolist() == test.tolist()


def test_a_model_is_scored_on_the_rows_that_the_folds_name(tmp_path: Path) -> None:
    table = table_of(tmp_path, dealt(90, ["north", "south", "west", "-1", ""]))
    assert table.folds is not None
    assert table.facts.n_folds == 3
    assert table.names == ("u", "v")
    spec = spec_of(table, "maximize accuracy by cv()")
    assert dict(spec.objectives[0].estimate.options)["folds"] == 3
    model = model_of("logistic(C = 1, class_weight = none)")
    loss = Evaluator(Dataset.of(table), spec.objectives).evaluate(model).losses[0]
    right, tested = 0.0, 0
    for train, test in PredefinedSplit(table.folds).split():
        fitted = LogisticRegression(C=1, max_iter=2000).fit(table.X[train], table.y[train])
        right += accuracy_score(table.y[test], fitted.predict(table.X[test]), normalize=False)
        tested += len(test)
    assert tested == (table.folds >= 0).sum() < len(table)
    assert -loss == pytest.approx(right / tested)


def test_the_folds_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    one, other = ([*[0, 1] * 20], [*[1, 1, 0, 0] * 10])
    prints = [table_of(tmp_path, folds).fingerprint for folds in (one, other, one)]
    assert prints[0] == prints[2] != prints[1]


def test_names_do_not_matter_but_their_order_does(tmp_path: Path) -> None:
    numbers = table_of(tmp_path, [2, 10] * 20)
    assert numbers.folds is not None
    assert numbers.folds.tolist() == [0, 1] * 20  # 2 before 10
    assert numbers.fingerprint == table_of(tmp_path, ["a", "b"] * 20).fingerprint


@pytest.mark.parametrize(
    ("folds", "words"),
    [
        ([1] * 40, "one value"),
        ([-1] * 40, "no value but -1"),
        ([0.5, 1] * 20, "not whole"),
        (list(range(1100)), "1,100 values"),
    ],
)
def test_a_column_that_has_no_folds_is_refused(tmp_path: Path, folds: list[Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        table_of(tmp_path, folds)


def test_one_fold_beside_rows_that_are_never_tested_is_a_holdout(tmp_path: Path) -> None:
    table = table_of(tmp_path, [0, -1, -1] * 20)
    spec = spec_of(table, "minimize error")
    assert np.isfinite(
        Evaluator(Dataset.of(table), spec.objectives)
        .evaluate(model_of("logistic(C = 1, class_weight = none)"))
        .losses[0]
    )


def test_a_fold_that_leaves_a_single_class_is_refused(tmp_path: Path) -> None:
    table = table_of(tmp_path, [0] * 20 + [1] * 20, ["a"] * 20 + ["b"] * 20)
    with pytest.raises(UserError, match=r"without fold 1 .* of one class"):
        Evaluator(Dataset.of(table), spec_of(table, "minimize error").objectives)


@pytest.mark.parametrize(
    ("goal", "code"), [("minimize ber by cv(folds = 5)", "MSL298"), ("minimize ber by cv(3)", None)]
)
def test_the_number_of_folds_is_that_of_the_column(tmp_path: Path, goal: str, code: str | None) -> None:
    table = table_of(tmp_path, [0, 1, 2] * 20)
    found = check_source(Source("spec.msl", SPEC.replace("GOAL", goal)), table.facts).diagnostics
    assert [each.code for each in found if each.is_error] == ([] if code is None else [code])


def test_a_part_of_the_rows_keeps_its_folds() -> None:
    population = SplitGroups(6, folds=np.array([0, 0, 1, 1, -1, 2]))
    part = population.part(np.array([0, 3, 4])).folds
    assert part is not None
    assert part.tolist() == [0, 1, -1]
