"""Honesty: what is said is compared with what is true, in standard errors and by whether intervals hold it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks import honesty
from benchmarks.benchmark import Workplace
from benchmarks.cell import Cell, Record


def record(data: str, split: int, found: float, truth: float, half: float = 0.1) -> Record:
    outcome = {
        "truth": truth,
        "test error": 0.0,
        "fresh error": 0.05,
        "found": found,
        "found interval": [found - half, found + half],
        "corrected": found + 0.05,
        "corrected interval": [found + 0.05 - half, found + 0.05 + half],
        "models": 60,
        "rows": 100,
    }
    return Record(Cell(data, split, "random", "60 evaluations"), outcome, 1.0, "2026-11-18", "abc")


def test_optimism_coverage_and_width_are_told_for_both_figures() -> None:
    records = [record(honesty.RANDOM, split, 0.35 if split % 2 else 0.45, 0.5) for split in range(60)]
    report = honesty.report(records)
    (found, corrected) = report.tables[0].rows
    assert found[3:5] == (pytest.approx(0.4), 0.5)
    assert found[5] == pytest.approx(0.1 / 0.05)
    assert found[6] == pytest.approx(0.5)
    assert corrected[6] == pytest.approx(1.0)
    assert corrected[7:] == (pytest.approx(0.2), pytest.approx(0.2 / (2 * 1.96 * 0.05)))
    assert [claim.holds for claim in report.claims] == [False, False, True]
    assert [claim.holds for claim in honesty.report(records[:5]).claims] == [None, None, None]


def test_the_noise_of_the_test_rows_is_not_held_against_an_interval() -> None:
    one = record("heart", 0, 0.30, 0.50)
    wide = Record(one.cell, {**one.outcome, "test error": 0.1}, 1.0, one.date, one.code)
    assert honesty.report([one]).tables[0].rows[1][6] == 0.0
    assert honesty.report([wide]).tables[0].rows[1][6] == 1.0


def test_a_peer_is_held_to_what_it_reports_of_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    kinds = rng.choice(["a", "b", "c"], 90)
    frame = pl.DataFrame({"x": (kinds == "a") + rng.normal(size=90), "w": rng.choice(["p", "q"], 90), "class": kinds})
    frame.write_csv(tmp_path / "heart.csv")
    cell = Cell("heart", 0, "hist", "30 seconds")
    outcome = honesty.work(cell, Workplace(tmp_path, tmp_path / "work"))
    assert float((tmp_path / "work" / "reported.csv").read_text()) == outcome["found"]
    labels = (tmp_path / "work" / "labels.csv").read_text().split()
    test = pl.read_csv(tmp_path / "work" / "test.csv")["class"].to_list()
    right = [np.mean([label == k for label, true in zip(labels, test, strict=True) if true == k]) for k in "abc"]
    assert outcome["truth"] == pytest.approx(1 - np.mean(right))
    assert outcome["found interval"][0] < outcome["found"] < outcome["found interval"][1]
    report = honesty.report([Record(cell, outcome, 1.0, "2026-11-19", "abc")])
    assert [row[:2] for row in report.tables[0].rows] == [("real tables, hist", "found")]
    assert not report.claims
    wanted = [one for one in honesty.cells(False) if one.method == "autogluon"]
    assert len(wanted) == 60
    assert {one.budget for one in wanted} == {"30 seconds"}


def test_a_cell_says_what_a_run_said_and_what_is_true(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 120)
    pl.DataFrame({"x": kinds + rng.normal(size=120), "z": rng.normal(size=120), "class": kinds}).write_csv(
        tmp_path / "heart.csv"
    )
    outcome = honesty.work(Cell("heart", 0, "random", "60 evaluations"), Workplace(tmp_path, tmp_path / "work"))
    assert outcome["rows"] == 60
    assert 0.1 < outcome["truth"] < 0.6
    assert outcome["found"] < outcome["corrected"]
    assert outcome["test error"] == pytest.approx(0.06, abs=0.02)
