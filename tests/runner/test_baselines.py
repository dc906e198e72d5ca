"""Models that need no search: evaluated beside it, compared with its winner, and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from search_cases import commissioned, write_classes, write_numbers

from msl.cli.shared.summary_text import closing_words
from msl.report.paired_tests import corrected_spread
from msl.report.run_facts import baseline_words, not_ahead
from msl.runner.insight import baselines
from msl.runner.insight.baselines import baseline_models, baseline_seconds
from msl.runner.session import Result, RunRequest, run_plan
from msl.store.store import Store

ALL = "lda(rest = default) | qda(rest = default) | gaussian_nb(rest = default)"
GOOD = f"use sklearn\nchain m = {ALL}\nminimize error by cv(folds = 4)\nsearch grid\n"
BAD = 'use sklearn\nblock guess: learner "sklearn.dummy:DummyClassifier" { strategy: stratified | uniform }\n'
BAD += "chain m = guess\nminimize error by cv(folds = 4)\nsearch grid\n"


def run_of(folder: Path, text: str, table: Path, store: str = ".msl") -> Result:
    request = commissioned(folder, text, table)
    request = replace(request, plan=replace(request.plan, baselines=True))
    return run_plan(request, folder / store)


def test_they_are_what_scikit_learn_says_of_them_on_the_same_folds(tmp_path: Path) -> None:
    data = write_classes(tmp_path)
    result = run_of(tmp_path, GOOD, data)
    assert [one["name"] for one in result.baselines] == ["no features", "linear", "boosting", "forest"]
    by_name = {one["name"]: one for one in result.baselines}
    assert by_name["no features"]["objectives"]["error"] == pytest.approx(2 / 3, abs=0.05)
    assert by_name["no features"]["ahead"] > 0.2
    assert by_name["no features"]["p"] < 0.05
    for one in result.baselines:
        ahead = one["objectives"]["error"] - result.corrected["error"]
        assert one["ahead"] == pytest.approx(ahead)
    assert not_ahead(result.summary) is None or "nothing better" in str(not_ahead(result.summary))
    assert len(baseline_words(result.summary)) == 4
    assert "baselines" in closing_words(result.summary, tmp_path)


def test_the_search_does_not_see_them_and_the_next_run_has_them_for_nothing(tmp_path: Path) -> None:
    data = write_classes(tmp_path)
    with_them = run_of(tmp_path, GOOD, data)
    without = run_plan(commissioned(tmp_path, GOOD, data), tmp_path / "other")
    assert "baselines" not in without.summary
    same = ("best", "objectives", "corrected", "evaluations", "top", "fits", "kept", "outside_space", "digest")
    assert {name: with_them.summary[name] for name in same} == {name: without.summary[name] for name in same}
    assert [row["model"] for row in with_them.evaluations] == [row["model"] for row in without.evaluations]
    with Store.open(tmp_path / ".msl") as store:
        before = len(store.evaluations)
    again = run_of(tmp_path, GOOD.replace("qda(rest = default) | ", ""), data)
    assert again.baselines[3]["objectives"] == with_them.baselines[3]["objectives"]
    assert (again.summary["new"], again.summary["outside_space"]) == (0, 1)  # that is qda: no baseline is counted
    with Store.open(tmp_path / ".msl") as store:
        assert len(store.evaluations) == before


def test_a_winner_that_is_not_better_says_so_in_the_first_line(tmp_path: Path) -> None:
    result = run_of(tmp_path, BAD, write_classes(tmp_path))
    first = closing_words(result.summary, tmp_path).splitlines()[0]
    assert first.startswith("the search found nothing better than ")
    assert "(corrected)" in first


def test_a_target_that_is_told_without_an_error_is_said_to_be_a_leak() -> None:
    def told(metric: str, value: float) -> str:
        baseline = {"name": "linear", "objectives": {metric: value}, "ahead": 0.0}
        return str(not_ahead({"baselines": [baseline], "objectives": {metric: value}}))

    assert "the target in other words" in told("auc", 1.0)
    assert "the target in other words" in told("rmse", 0.0)
    assert "the target in other words" not in told("auc", 0.999)
    assert "the target in other words" not in told("rmse", 0.1)
    assert "the target in other words" not in told("0.2 * error + 0.8 * auc", 1.0), "unknown what is best"


def test_a_regression_with_a_share_held_out_is_compared_row_by_row(tmp_path: Path) -> None:
    text = "use sklearn\nchain m = ridge(alpha: 1e-3..1 log)\nminimize rmse by holdout(share = 0.4)\n"
    result = run_of(tmp_path, text + "search random(evaluations = 4)\n", write_numbers(tmp_path))
    by_name = {one["name"]: one for one in result.baselines}
    assert by_name["no features"]["ahead"] > 0
    assert by_name["no features"]["p"] < 0.01
    assert by_name["linear"]["p"] > 0.05


def test_where_there_is_no_time_it_says_so(tmp_path: Path) -> None:
    request: RunRequest = commissioned(tmp_path, GOOD, write_classes(tmp_path))
    assert list(baseline_seconds(request.plan)) == list(baseline_models("classification"))
    result = run_of(tmp_path, GOOD + "budget(time = 1s)\n", write_classes(tmp_path))
    told = [one.get("why") for one in result.baselines]
    assert "there was no time left for it" in told
    assert result.seconds < 30


def test_a_linear_model_of_too_many_columns_of_symbols_is_left_out_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "_SMALL", 1_000)
    table = tmp_path / "wide.csv"
    rows = [f"town {row % 30},{row},{'ab'[row % 2]}" for row in range(120)]
    table.write_text("\n".join(["town,x,class", *rows]), encoding="utf-8")
    told = {one["name"]: one.get("why") for one in run_of(tmp_path, GOOD, table).baselines}
    assert told["linear"] == "its 31 columns would take 0.0 GB"
    assert not told["boosting"]
    (tmp_path / "numbers").mkdir()
    plain = run_of(tmp_path / "numbers", GOOD, write_classes(tmp_path))
    assert not any(one.get("why") for one in plain.baselines), "columns of numbers stay as they are"


def test_a_class_of_one_row_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "lone.csv").write_text(
        "a,b,class\n" + "".join(f"{k},{k % 7},{'xy'[k % 2]}\n" for k in range(20)) + "1,2,z\n"
    )
    result = run_of(
        tmp_path,
        GOOD.replace(ALL, "gaussian_nb(rest = default)"),
        tmp_path / "lone.csv",
    )
    assert len(result.baselines) == 4
    assert all(one.get("why") or one["objectives"] for one in result.baselines)


def test_the_spread_is_that_of_nadeau_and_bengio() -> None:
    """Differences that all folds share through their training rows: the plain test is far too sure, this one is not."""
    rng, plain, corrected = np.random.default_rng(5), 0, 0
    folds, cases = 5, 2_000
    share = 1 / (folds - 1)
    for _ in range(cases):
        common = np.sqrt(1 / folds) * rng.normal()  # a correlation of tested / (tested + trained on)
        differences = common + np.sqrt(1 - 1 / folds) * rng.normal(size=folds)
        bound = stats.t.isf(0.025, folds - 1)
        plain += abs(differences.mean()) > bound * np.std(differences, ddof=1) / np.sqrt(folds)
        corrected += abs(differences.mean()) > bound * corrected_spread(differences, share)
    assert plain / cases > 0.12
    assert corrected / cases == pytest.approx(0.05, abs=0.015)
