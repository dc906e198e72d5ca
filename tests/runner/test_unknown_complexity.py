"""The complexity of a class that is not ours is not made up: it is unknown wherever it is told, and loses ties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from search_cases import write_classes
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import msl
from msl.cli.shared.summary_text import closing_words
from msl.report.run_account import account_of, account_to_text
from msl.store.store import Store


class Stranger(ClassifierMixin, BaseEstimator):
    """Predicts as one of scikit-learn's, and is none."""

    def fit(self, X: Any, y: Any) -> Stranger:
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.inner_.predict(X)


class Telling(Stranger):
    def complexity(self) -> float:
        return 5.0


FOREIGN = 'block stranger: learner for classification "test_unknown_complexity:Stranger" {}\n'
TELLING = 'block telling: learner for classification "test_unknown_complexity:Telling" {}\n'


def run(tmp_path: Path, text: str) -> msl.Result:
    table = str(write_classes(tmp_path))
    return msl.run(text, table, store=tmp_path / "store", trusted=["test_unknown_complexity"])


def test_a_winner_of_unknown_complexity_says_so(tmp_path: Path) -> None:
    result = run(tmp_path, f"{FOREIGN}chain m = stranger\nminimize error by cv(folds = 2)\nsearch grid\n")
    assert result.summary["complexity"] is None
    assert "complexity    unknown" in closing_words(result.summary, tmp_path / "store")
    assert pl.DataFrame(list(result.evaluations))["complexity"].to_list() == [None]
    with Store.open(tmp_path / "store", read_only=True) as store:
        assert "\ncomplexity" not in account_to_text(account_of(store, result.summary["run"]))


def test_of_equals_the_one_that_is_known_is_taken(tmp_path: Path) -> None:
    for chain in ("stranger | gaussian_nb", "gaussian_nb | stranger"):
        space = f"use sklearn\n{FOREIGN}chain m = {chain}\n"
        result = run(tmp_path, f"{space}minimize error by cv(folds = 2)\nsearch grid(steps = 2)\n")
        assert result.best.startswith("gaussian_nb")


def test_a_class_may_say_it_itself(tmp_path: Path) -> None:
    result = run(tmp_path, f"{TELLING}chain m = telling\nminimize error, complexity by cv(folds = 2)\nsearch grid\n")
    assert result.summary["complexity"] == 5.0
    assert result.objectives["complexity"] == 5.0


def test_what_is_unknown_cannot_be_minimised(tmp_path: Path) -> None:
    space = f"use sklearn\n{FOREIGN}chain m = stranger | gaussian_nb\n"
    result = run(tmp_path, f"{space}minimize error, complexity by cv(folds = 2)\nsearch grid(steps = 2)\n")
    assert result.best.startswith("gaussian_nb")
    words = "not a number: `complexity` is not known of a class that is not ours and has no method `complexity`"
    assert [one["failure"] for one in result.evaluations if one["failure"]] == [words]
