"""The record of a run: complete, plain, and the same for Python as for the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from search_cases import SPACE, write_classes, write_numbers

import msl
from msl.blocks.base.chain import ChainClassifier, probabilities
from msl.check.read_models import text_to_model
from msl.cli.shared.summary_text import closing_words
from msl.diagnostics.source import Source
from msl.runner.session import NoModel
from msl.store.store import Store

SEARCH = "minimize ber by cv(folds = 3)\nsearch grid\n"
KEYS = {
    *("run", "digest", "best", "objectives", "evaluations", "reused", "repeats", "outside", "failures", "fits"),
    "fits_saved",
    *("seconds", "ending", "complexity", "interval", "preferred", "judged", "data", "kept", "outside_space", "new"),
    *("measures", "used", "repeats", "warnings", "corrected", "top", "top_seconds", "baselines"),
}


def test_the_record_is_complete_and_stored(tmp_path: Path) -> None:
    table = write_classes(tmp_path)
    result = msl.run(SPACE + SEARCH, table, store=tmp_path / "s")
    summary = result.summary
    assert set(summary) == KEYS
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["data"] == {
        "path": str(table),
        "rows": 90,
        "features": 3,
        "task": "classification",
        "target": "class",
        "classes": ["a", "b", "c"],
    }
    assert (summary["evaluations"], summary["new"], summary["reused"], summary["kept"]) == (10, 10, 0, 0)
    with Store.open(tmp_path / "s", read_only=True) as store:
        assert store.runs.get(result.run).result == summary
        assert store.runs.get(result.run).options == {"data": str(table), "baselines": True}
    assert (result.best, result.objectives) == (summary["best"], summary["objectives"])
    low, high = summary["interval"]["ber"]
    assert low <= result.objectives["ber"] <= high


def test_what_was_judged_gives_the_objective(tmp_path: Path) -> None:
    summary = msl.run(SPACE + SEARCH, write_classes(tmp_path), store=tmp_path / "s").summary
    counts = np.array(summary["judged"]["confusion"])
    assert counts.sum() == 90
    assert counts.dtype.kind == "i"
    assert (1 - counts.diagonal() / counts.sum(axis=1)).mean() == pytest.approx(summary["objectives"]["ber"])


def test_a_test_table_gives_metrics_a_gap_and_predictions(tmp_path: Path) -> None:
    train = pl.read_csv(write_classes(tmp_path, 90))
    test = pl.read_csv(write_classes(tmp_path, 150))[90:]
    result = msl.run(SPACE + SEARCH, train, test=test, store=tmp_path / "s")
    predicted = result.trained.predict(result.trained.read(test))
    wrong = [np.mean(predicted[test["class"] == label] != label) for label in "abc"]
    assert result.test == {"ber": pytest.approx(np.mean(wrong))}
    assert result.summary["gap"]["ber"] == pytest.approx(np.mean(wrong) - result.corrected["ber"])
    assert np.trace(result.summary["test_judged"]["confusion"]) == (predicted == test["class"].to_numpy()).sum()
    assert result.summary["data"]["path"] is None


@pytest.mark.parametrize(
    "ensemble", ["vote(top = 15)", "vote(top = auto)", "best_first(max = 15, replacement = false)"]
)
def test_models_with_equal_losses_have_one_vote(ensemble: str, tmp_path: Path) -> None:
    result = msl.run(f"{SPACE}{SEARCH}ensemble {ensemble}\n", write_classes(tmp_path), store=tmp_path / "s")
    losses = {row["model"]: row["ber"] for row in result.evaluations}
    assert len(losses) > len(set(losses.values())), "some models are as good as others"
    voting = [losses[model] for model in result.summary["ensemble"]]
    assert len(set(voting)) == len(voting)


def test_a_test_that_fails_costs_no_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = ChainClassifier.outputs

    def outputs(chain: ChainClassifier, X: Any) -> Any:
        if len(X) == 60:
            raise RuntimeError("these rows are odd\nand more")
        return plain(chain, X)

    monkeypatch.setattr(ChainClassifier, "outputs", outputs)
    table = pl.read_csv(write_classes(tmp_path, 150))
    result = msl.run(SPACE + SEARCH, table[:90], test=table[90:], store=tmp_path / "s")
    assert result.summary["test_failure"] == "RuntimeError: these rows are odd"
    assert "test" not in result.summary
    with Store.open(tmp_path / "s", read_only=True) as store:
        assert store.runs.get(result.run).status == "finished"
    words = closing_words(result.summary, tmp_path / "s")
    assert "test          the final model cannot predict the test table: RuntimeError: these rows are odd\n" in words


def test_an_ensemble_is_tested_beside_the_winner(tmp_path: Path) -> None:
    train = pl.read_csv(write_classes(tmp_path, 90))
    test = pl.read_csv(write_classes(tmp_path, 150))[90:]
    result = msl.run(f"{SPACE}{SEARCH}ensemble vote(top = 3, always = true)\n", train, test=test, store=tmp_path / "s")
    alone = msl.run(SPACE + SEARCH, train, test=test, store=tmp_path / "s")
    assert len(result.summary["ensemble"]) == 3
    assert result.summary["ensemble"][0] == result.best == alone.best
    assert result.test == alone.test
    predicted = result.trained.predict(result.trained.read(test))
    wrong = [np.mean(predicted[test["class"] == label] != label) for label in "abc"]
    assert result.summary["ensemble_test"] == {"ber": pytest.approx(np.mean(wrong))}


@pytest.mark.parametrize("ensemble", ["vote(top = 5", "vote(top = auto"])
def test_the_mean_of_probabilities_decides_a_soft_vote(ensemble: str, tmp_path: Path) -> None:
    table = pl.read_csv(write_classes(tmp_path, 90))
    result = msl.run(
        f"{SPACE}{SEARCH}ensemble {ensemble}, voting = soft, always = true)\n", table, store=tmp_path / "s"
    )
    committee, rows = result.trained.estimator, result.trained.read(table)
    assert len(committee.members) == len(result.summary["ensemble"]) > 1
    said = np.mean([probabilities(member.outputs(rows.X)) for member in committee.members], axis=0)
    assert result.trained.predict_proba(rows) == pytest.approx(said)
    assert (result.trained.predict(rows) == result.trained.labels()[said.argmax(axis=1)]).all()


def test_a_weighted_vote_counts_a_member_with_twice_the_loss_half(tmp_path: Path) -> None:
    table = write_classes(tmp_path, 90)
    result = msl.run(
        f"{SPACE}{SEARCH}ensemble vote(top = 4, weighted = true, always = true)\n", table, store=tmp_path / "s"
    )
    losses = {row["model"]: row["ber"] for row in result.evaluations}
    of_members = np.array([losses[model] for model in result.summary["ensemble"]])
    assert len(set(of_members)) > 1
    assert result.trained.estimator.weights == pytest.approx(of_members.min() / of_members)


def test_numbers_are_shown_as_pairs(tmp_path: Path) -> None:
    text = "use sklearn\nchain m = ridge(rest = default)\nminimize rmse by cv(folds = 3)\nsearch grid\n"
    table = write_numbers(tmp_path, 900)
    summary = msl.run(text, table, test=table, store=tmp_path / "s").summary
    judged = summary["judged"]
    assert (judged["kind"], len(judged["actual"]), len(judged["predicted"])) == ("regression", 400, 400)
    actual, predicted = np.array(judged["actual"]), np.array(judged["predicted"])
    assert set(judged["actual"]) <= set(pl.read_csv(table)["y"].to_list())
    assert np.sqrt(np.mean((actual - predicted) ** 2)) == pytest.approx(summary["objectives"]["rmse"], rel=0.1)
    again = msl.run(text, table, test=table, store=tmp_path / "t").summary
    assert again["judged"] == judged


def test_maximised_metrics_have_their_own_sign(tmp_path: Path) -> None:
    text = SPACE + "maximize auc by cv(folds = 3)\nsearch grid\n"
    summary = msl.run(text, write_classes(tmp_path), store=tmp_path / "s").summary
    low, high = summary["interval"]["auc"]
    assert 0.5 < low <= summary["objectives"]["auc"] == summary["measures"]["auc"] <= high <= 1.0


def test_a_front_has_its_models(tmp_path: Path) -> None:
    text = "use sbm\nchain m = keep >> knn(k = 3, rest = default)\nminimize error by cv(folds = 3), features\n"
    summary = msl.run(text + "search grid\n", write_classes(tmp_path), store=tmp_path / "s").summary
    assert len(summary["front"]) > 1
    for point in summary["front"]:
        assert set(point) == {"model", "objectives", "complexity"}
        assert text_to_model(point["model"], Source("s", text))[0] is not None
    assert summary["front"][0]["objectives"] == summary["objectives"]
    assert summary["interval"]["features"] is None


def test_no_model_at_all_is_told_with_the_record(tmp_path: Path) -> None:
    text = 'block odd: learner for classification "sklearn.svm:NuSVC" { nu = 0.9999 }\nchain m = odd\n'
    path = tmp_path / "uneven.csv"
    path.write_text("x,class\n" + "".join(f"{i},{'ab'[i > 40]}\n" for i in range(50)), encoding="utf-8")
    with pytest.raises(NoModel, match="none of 1 models could be evaluated") as told:
        msl.run(text + "search random(evaluations = 1)\n", path, store=tmp_path / "s")
    assert (told.value.summary["best"], told.value.summary["failures"]) == (None, 1)
    with Store.open(tmp_path / "s", read_only=True) as store:
        assert store.runs.all()[0].status == "failed"


# --- the same with anything in store ------------------------------------------------------------------


def without_costs(summary: Any) -> dict[str, Any]:
    costs = {
        "run",
        "seconds",
        "top_seconds",
        "fits",
        "fits_saved",
        "reused",
        "new",
        "kept",
        "outside_space",
        "failures",
        "ledger",
    }
    kept = {name: value for name, value in summary.items() if name not in costs}
    # What earlier runs have looked at widens this one.
    return {
        **kept,
        "corrected": {name: value for name, value in kept["corrected"].items() if name != "interval_of_runs"},
    }


@pytest.mark.parametrize(
    "search",
    [
        "search pso(swarm = 4, iterations = 4)\n",
        "search random(evaluations = 6) then pso(swarm = 3, iterations = 3)\n",
        "search random(evaluations = 20)\nensemble vote(top = 4)\n",
        "search auto(evaluations = 25)\nensemble swarm()\n",
    ],
)
def test_what_is_stored_changes_nothing_but_the_costs(tmp_path: Path, search: str) -> None:
    """Exact values that a race would only have bounded are known from a search of everything."""
    space = "use clop\nchain m = standardize? >> (zarbi | naive | kridge(degree = 1, coef0 = 1, gamma = 0)) >> bias\n"
    text = space + "minimize ber by cv(folds = 4)\n"
    table = write_classes(tmp_path)
    cold = msl.run(text + search, table, store=tmp_path / "cold")
    msl.run(text + "search random(evaluations = 60)\nensemble vote(top = 3)\n", table, store=tmp_path / "warm")
    again = msl.run(text + search, table, store=tmp_path / "cold")
    warm = msl.run(text + search, table, store=tmp_path / "warm")
    assert without_costs(again.summary) == without_costs(cold.summary)
    assert without_costs(warm.summary) == without_costs(cold.summary)
    assert again.summary["new"] == 0


def test_a_vote_is_of_the_best_and_not_of_those_that_won_a_race(tmp_path: Path) -> None:
    text = f"{SPACE}minimize ber by cv(folds = 3)\nsearch random(evaluations = 6)\nensemble vote(top = 6)\n"
    result = msl.run(text, write_classes(tmp_path), store=tmp_path / "s")
    frame = pl.DataFrame(list(result.evaluations)).sort("ber", "complexity")
    assert frame["ber"].null_count() == 0
    unlike = frame.unique("ber", keep="first", maintain_order=True)
    assert result.summary["ensemble"] == unlike["model"].to_list()
