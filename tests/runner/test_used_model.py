"""Which model predicts after a run: the ensemble where it is better on rows held out from both, else the best alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from search_cases import SPACE, searched, write_classes, write_numbers

import msl
from msl.api import load_model
from msl.blocks.base.chain import ChainClassifier
from msl.cli.shared.summary_text import closing_words
from msl.runner.choose_members import choose_voting

#: One good model, and others that are little better than chance and outvote it.
OUTVOTED = """data(target = class)
block nn: learner for classification "sklearn.neighbors:KNeighborsClassifier" { n_neighbors: 5 | 57 | 58 | 59 | 60 }
chain m = nn
minimize ber by cv(folds = 3)
search grid
"""
CLOSE = f"{SPACE}minimize ber by cv(folds = 3)\nsearch grid\n"


def test_an_ensemble_that_is_worse_is_not_used(tmp_path: Path) -> None:
    table = pl.read_csv(write_classes(tmp_path))
    result = msl.run(f"{OUTVOTED}ensemble vote(top = 5, voting = hard)\n", table, store=tmp_path / "s")
    summary = result.summary
    assert summary["used"]["model"] == "best"
    assert summary["ensemble_objectives"]["ber"] > summary["objectives"]["ber"]
    assert "the vote of 5 models is not better on rows held out from both, ber" in summary["used"]["why"]
    assert isinstance(result.trained.estimator, ChainClassifier)
    alone = msl.run(OUTVOTED, table, store=tmp_path / "t")
    assert (
        result.trained.predict(result.trained.read(table)) == alone.trained.predict(alone.trained.read(table))
    ).all()
    assert summary["judged"] == alone.summary["judged"]
    words = closing_words(summary, tmp_path / "s")
    assert "final model   the best model alone: the vote of 5 models is not better" in words
    assert f"estimate      ber = {summary['corrected']['objectives']['ber']:.4g}" in words
    assert f"search        ber = {summary['objectives']['ber']:.4g} is the best" in words


def test_the_spec_can_insist_on_its_ensemble(tmp_path: Path) -> None:
    table = pl.read_csv(write_classes(tmp_path))
    text = f"{OUTVOTED}ensemble vote(top = 5, voting = hard, always = true)\n"
    result = msl.run(text, table, store=tmp_path / "s")
    assert result.summary["used"] == {"model": "ensemble", "why": "the spec says `always = true`"}
    assert len(result.trained.estimator.members) == 5


def better_vote(folder: Path) -> tuple[Any, pl.DataFrame, pl.DataFrame]:
    """A run whose vote is better than its best model."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6))
    y = np.where(X @ [1, -1, 1, -1, 0.5, 0] + rng.normal(0, 1.0, 300) > 0, "yes", "no")
    frame = pl.DataFrame({f"f{place}": X[:, place] for place in range(6)} | {"class": y})
    text = """data(target = class)
use sklearn
chain m = decision_tree(max_depth: int 2..4, max_features: 0.2 | 0.35 | 0.5, rest = default)
minimize ber by cv(folds = 3)
search grid
ensemble vote(top = 9)
"""
    train, test = frame[:150], frame[150:]
    return msl.run(text, train, test=test, store=folder / "s"), train, test


def test_an_ensemble_that_is_better_is_what_is_read_and_used(tmp_path: Path) -> None:
    result, _, test = better_vote(tmp_path)
    summary = result.summary
    assert summary["used"]["model"] == "ensemble", summary["used"]
    assert summary["ensemble_objectives"]["ber"] < summary["objectives"]["ber"]
    rows = result.trained.read(test)
    predicted = result.trained.predict(rows)
    truth = test["class"].to_numpy()
    counts = [[int(((truth == one) & (predicted == other)).sum()) for other in ("no", "yes")] for one in ("no", "yes")]
    assert summary["test_judged"]["confusion"] == counts
    assert summary["ensemble_test"]["ber"] == pytest.approx(
        np.mean([np.mean(predicted[truth == label] != label) for label in ("no", "yes")])
    )
    words = closing_words(summary, tmp_path / "s")
    assert "final model   the soft vote of 9 models: better than the best model alone" in words
    assert f"estimate      ber = {summary['corrected']['objectives']['ber']:.4g}" in words
    assert f"vote          ber = {summary['ensemble_objectives']['ber']:.4g}" in words
    assert f"test          ber = {summary['ensemble_test']['ber']:.4g}" in words
    assert "best model    estimate ber" in words


def test_the_best_model_alone_can_be_asked_for(tmp_path: Path) -> None:
    result, _, test = better_vote(tmp_path)
    alone = load_model("@", tmp_path / "s", best=True)
    assert isinstance(alone.estimator, ChainClassifier)
    truth, predicted = test["class"].to_numpy(), alone.predict(alone.read(test))
    wrong = np.mean([np.mean(predicted[truth == label] != label) for label in ("no", "yes")])
    assert result.test["ber"] == pytest.approx(wrong)
    used = load_model("@", tmp_path / "s")
    assert len(used.estimator.members) == 9
    assert "What predicts is a soft vote of 9 models" in used.text
    assert "vote" not in alone.text


def test_probabilities_of_a_vote_are_those_of_its_members(tmp_path: Path) -> None:
    result, _, test = better_vote(tmp_path)
    rows = result.trained.read(test)
    said = np.mean([member.outputs(rows.X) for member in result.trained.estimator.members], axis=0)
    assert result.trained.predict_proba(rows) == pytest.approx(said)
    assert len(np.unique(said.round(9))) > 10, "not a count of hands"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "gives", "asked", "voting"),
    [
        ("minimize ber", True, "auto", "soft"),
        ("minimize ber", False, "auto", "hard"),
        ("maximize auc", False, "auto", "soft"),
        ("minimize logloss", False, "auto", "soft"),
        ("maximize auc", True, "hard", "hard"),
        ("minimize ber", False, "soft", "soft"),
    ],
)
def test_the_kind_of_vote_follows_the_metric(tmp_path: Path, goal: str, gives: bool, asked: str, voting: str) -> None:
    text = f"{SPACE}{goal} by cv(folds = 3)\nsearch grid\nensemble vote(top = 3, voting = {asked})\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    assert choose_voting(case.plan, [True, gives, True]) == voting


def test_numbers_are_averaged_or_not_used(tmp_path: Path) -> None:
    text = "use clop\nchain m = standardize >> kridge(degree = 1, coef0 = 1, gamma = 0, shrinkage: 0.01 | 1 | 2)\n"
    goal = "minimize rmse by cv(folds = 4)\nsearch grid\nensemble vote(top = 3)\n"
    summary = msl.run(text + goal, write_numbers(tmp_path), store=tmp_path / "s").summary
    is_better = summary["ensemble_objectives"]["rmse"] < summary["objectives"]["rmse"]
    assert summary["used"]["model"] == ("ensemble" if is_better else "best")


def test_where_the_best_model_cannot_be_fitted_on_all_rows_the_next_one_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_classes(tmp_path)
    first = msl.run(CLOSE, table, store=tmp_path / "s")
    plain = ChainClassifier.fit_arrays
    refused: list[str] = []

    def fit_arrays(chain: ChainClassifier, X: Any, y: Any, n_classes: int, *more: Any) -> None:
        if len(X) == 90 and not refused:
            refused.append(repr(chain))
            raise RuntimeError("not on all of them")
        plain(chain, X, y, n_classes, *more)

    monkeypatch.setattr(ChainClassifier, "fit_arrays", fit_arrays)
    second = msl.run(CLOSE, table, store=tmp_path / "t")
    assert refused
    assert second.best != first.best
    assert second.summary["not_fitted"] == ["RuntimeError: not on all of them"]
    losses = sorted({row["ber"] for row in second.evaluations})
    assert second.objectives["ber"] in losses[:2]
    assert "not fitted    RuntimeError: not on all of them" in closing_words(second.summary, tmp_path / "t")
