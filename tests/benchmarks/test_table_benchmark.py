"""Real tables: contestants are processes that read the same files, and are judged by what they say of the test rows."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks import tables
from benchmarks.benchmark import Workplace
from benchmarks.cell import Cell, Record


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
def test_msl_runs_as_a_user_types_it(place: Workplace) -> None:
    outcome = tables.work(Cell("attrition", 0, "msl", "4 seconds"), place)
    assert outcome["evaluations"] > 0
    assert outcome["auc"] > 0.6
    assert "budget(time = 2min" in (place.folder / "first.msl").read_text(encoding="utf-8")


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
