"""Real tables: contestants are processes that read the same files, and are judged by what they say of the test rows."""

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import msl
from benchmarks import portfolio, tables
from benchmarks.__main__ import STORE
from benchmarks.benchmark import Workplace
from benchmarks.cell import Cell, Record
from benchmarks.journal import Journal


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A small table of the name and the target of a real one, with words and gaps."""
    rng = np.random.default_rng(0)
    x, word = rng.random(120), rng.choice(["low", "high"], 120)
    late = np.where(x + 0.5 * (word == "low") + 0.3 * rng.random(120) > 0.9, "Yes", "No")
    frame = pl.DataFrame({"x": x, "word": word, "Attrition": late})
    frame = frame.with_columns(pl.when(pl.int_range(120) % 9 == 0).then(None).otherwise(pl.col("x")).alias("x"))
    (tmp_path / "real").mkdir()
    frame.write_csv(tmp_path / "real" / "attrition.csv")
    return Workplace(tmp_path, tmp_path / "work")


def test_a_peer_is_judged_by_its_own_outputs(place: Workplace) -> None:
    outcome = tables.work(Cell("attrition", 0, "hist balanced", "as it comes"), place)
    test = pl.read_csv(place.folder / "test.csv")
    outputs = [float(line) for line in (place.folder / "outputs.csv").read_text().split()]
    assert len(test) == len(outputs) == 36
    assert outcome["auc"] == roc_auc_score(test["Attrition"] == "Yes", outputs)
    labels = (place.folder / "labels.csv").read_text().split()
    wrong = [test.filter(test["Attrition"] == one).height for one in ("Yes", "No")]
    errors = [
        sum(true == one != label for true, label in zip(test["Attrition"], labels, strict=True))
        for one in ("Yes", "No")
    ]
    assert outcome["ber"] == pytest.approx(np.mean(np.divide(errors, wrong)))
    assert 0.0 < outcome["error"] < 0.2


@pytest.mark.slow
def test_msl_runs_as_a_user_types_it(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = tables.Contest.run

    def run(contest: tables.Contest, command: Sequence[str]) -> str:
        said = plain(contest, command)
        if "init" in command:  # as written, but for a search that ends at once
            spec = contest.folder / "first.msl"
            text = spec.read_text(encoding="utf-8")
            spec.write_text(text.replace("auto(evaluations = none)", "random(evaluations = 1)"), encoding="utf-8")
        return said

    monkeypatch.setattr(tables.Contest, "run", run)
    outcome = tables.work(Cell("attrition", 0, "msl", "600 seconds"), place)
    assert outcome["evaluations"] > 1
    assert outcome["auc"] > 0.6


def test_a_peer_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tables.PACKAGES, "h2o", "no_such_package")
    tables.interpreter.cache_clear()
    try:
        assert not tables.can_work(Cell("ames", 0, "h2o", "60 seconds"))
        assert tables.can_work(Cell("ames", 0, "hist", "as it comes"))
    finally:
        tables.interpreter.cache_clear()


def _record(data: str, method: str, **outcome: float) -> Record:
    budget = "as it comes" if method in tables.AS_THEY_COME else "60 seconds"
    found = {"error": 0.01, "taken": 50.0, "searched": 50.0, **outcome}
    return Record(Cell(data, 0, method, budget), found, 1.0, "2026-11-18", "code")


def test_ranks_errors_and_times_decide_the_claims() -> None:
    records = [
        _record("attrition", "msl", auc=0.80, ber=0.2),
        _record("attrition", "hist", auc=0.82),
        _record("attrition", "flaml", auc=0.79),
        _record("ames", "msl", rmse=10.0, searched=70.0),
        _record("ames", "hist", rmse=12.0),
        _record("ames", "flaml", rmse=13.0),
    ]
    report = tables.report(records)
    best, behind, in_time = report.claims
    assert (best.holds, behind.holds, in_time.holds) == (True, False, False)
    assert "behind on attrition/0" in behind.seen
    assert "1 of 2 took longer" in in_time.seen
    (shown,) = report.tables
    assert shown.columns[2:5] == ("msl", "hist", "flaml")
    assert {row[0]: row[2:5] for row in shown.rows}["average rank"] == (1.5, 1.5, 3.0)


# --- the portfolio ---

REGRET = {
    "one": {"a": 0.0, "b": 1.0, "c": 0.6, "d": 2.0},
    "two": {"a": 1.5, "b": 0.0, "c": 0.6, "d": 2.0},
    "three": {"a": 1.8, "b": 1.0, "c": 0.6, "d": 0.5},
}


def test_a_portfolio_takes_what_lowers_the_mean_regret_most_each_time() -> None:
    chosen = portfolio.greedy_portfolio(REGRET, 4)
    assert chosen == ["c", "a", "b", "d"]
    for size in range(1, len(chosen)):
        rest = [one for one in "abcd" if one not in chosen[:size]]
        means = {one: np.mean([min(r[x] for x in [*chosen[:size], one]) for r in REGRET.values()]) for one in rest}
        assert means[chosen[size]] == min(means.values())
    assert portfolio.greedy_portfolio({"one": REGRET["one"]}, 4) == ["a"], (
        "nothing is better than the best learner of a table"
    )


def test_regret_is_nothing_for_the_best_learner_and_one_for_the_median() -> None:
    found = portfolio.regrets({"t": {"a": 0.1, "b": 0.2, "c": 0.4, "failed": float("inf")}})
    assert found["t"] == pytest.approx({"a": 0.0, "b": 1.0, "c": 2.0, "failed": 2.0})
    assert portfolio.regret_of_chance(found["t"], 4) == 0.0


def test_a_learner_is_judged_in_the_first_spec_of_the_table(place: Workplace) -> None:
    cell = Cell("attrition", 0, "logistic(C = 0.5, rest = default)", "500 rows")
    assert -1.0 < portfolio.work(cell, place)["loss"] < -0.5  # minus the AUC
    assert portfolio.work(replace(cell, method="ridge(alpha = 1)"), place)["loss"] == float("inf")


def test_the_portfolio_that_ships_is_the_one_that_its_records_give() -> None:
    shown = portfolio.report(Journal(STORE / "portfolio.jsonl").read()).tables[-1].notes[0]
    text = (Path(msl.__file__).parent / "catalogue" / "portfolio.msl").read_text(encoding="utf-8")
    spec = re.compile(r"chain (\w+)\s*=\s*(\w+)")
    assert spec.findall(shown) == spec.findall(text)
    values = re.compile(r"(\w+ = [\d.]+)")
    assert values.findall(shown) == values.findall(text.partition("use sklearn")[2])


def test_a_record_of_a_peer_has_its_version(place: Workplace) -> None:
    outcome = tables.work(Cell("attrition", 0, "lightgbm", "as it comes"), place)
    assert outcome["version"] == version("lightgbm")
    record = Record(Cell("attrition", 0, "lightgbm", "as it comes"), outcome, 1.0, "2026-01-01", "code")
    assert f"lightgbm {version('lightgbm')}" in tables.report([record]).ran
