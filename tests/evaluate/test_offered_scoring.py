"""Metrics and estimates of another package: checked without importing it, then run, raced and reported."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from scoring_package import install, was_imported

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source

SPEC = """msl 1
use clop, extras
part learn = mixed_naive_bayes | kridge(shrinkage: 1e-3..1 log, rest = default) | zarbi
           | svc(gamma: 1e-3..1 log, shrinkage = 0.01, rest = default)
chain model = learn
{goal}
search {search}
seed 3
"""
PATTERN = "pattern(evaluations = 25)"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{x / 10},{(x * 7) % 10},{'a' if (x * 13) % 47 < 21 else 'b'}" for x in range(60)]
    (tmp_path / "data.csv").write_text("\n".join(["x,z,class", *rows]) + "\n")
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    return tmp_path


def msl(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, into which nothing was imported before."""
    command = [sys.executable, "-c", "from msl.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=place, check=False)


def problems(place: Path, goal: str) -> str:
    text = SPEC.format(goal=goal, search=PATTERN)
    checked = check_source(Source("spec.msl", text, str(place / "spec.msl")))
    return "\n".join(f"{d.code} {d.message}; {d.help}" for d in checked.diagnostics)


def run(place: Path, goal: str, search: str = PATTERN, *options: str) -> dict[str, Any]:
    (place / "spec.msl").write_text(SPEC.format(goal=goal, search=search))
    ran = msl(place, "run", "spec.msl", "data.csv", "--on", "inprocess", "--json", *options)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_they_are_checked_without_importing_the_package(place: Path) -> None:
    assert problems(place, "maximize gain by halves(mixed = true)") == ""
    assert problems(place, "minimize distance by training") == ""
    assert "write `maximize gain`" in problems(place, "minimize gain")
    assert "write `minimize distance`" in problems(place, "maximize distance")
    assert "did you mean `distance`" in problems(place, "minimize distanc")
    assert "did you mean `halves`" in problems(place, "minimize ber by halvs")
    assert "`3` is" in problems(place, "minimize ber by halves(mixed = 3)")
    assert "held_out" in problems(place, "minimize ber by halves(held_out = rows)")
    assert "for classification" in problems(place, "data(task = regression)\nmaximize gain")
    (place / "spec.msl").write_text(SPEC.format(goal="maximize gain by halves", search="random"))
    assert msl(place, "check", "spec.msl").returncode == 0
    assert not was_imported(place)


def test_what_a_declaration_gets_wrong_is_reported(place: Path) -> None:
    assert "MSL150 the declaration of `confused` is wrong: `larger_is_better` is true or false" in problems(
        place, "minimize confused"
    )
    assert "did you mean `larger_is_better`" in problems(place, "minimize odd")
    assert "MSL142 the declaration of `crooked` is wrong" in problems(place, "minimize ber by crooked")
    assert "did you mean `folds`" in problems(place, "minimize ber by crooked")
    told = problems(place, "minimize undeclared")
    assert "MSL150 the package `scoring` offers the metric `undeclared`, but does not declare it" in told
    assert "`metrics.msl`" in told


@pytest.mark.slow
def test_what_ships_cannot_be_replaced(place: Path) -> None:
    assert run(place, "minimize ber by cv(folds = 2)")["objectives"]["ber"] >= 0
    assert not was_imported(place)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("maximize gain by cv(folds = 5)", "gain"),
        ("maximize bare_gain by cv(folds = 5)", "bare_gain"),
        ("minimize distance by cv(folds = 5)", "distance"),
        ("minimize 1 - gain by bootstrap632(5)", "1 - gain"),
    ],
)
def test_a_negative_metric_is_optimised_and_racing_loses_nothing(place: Path, goal: str, name: str) -> None:
    found = run(place, goal, PATTERN, "--store", str(place / "raced"))
    assert found["failures"] == 0
    assert found["objectives"][name] <= 0 or name == "1 - gain"
    # With an ensemble every loss counts, so that nothing is raced.
    whole = run(place, f"{goal}\nensemble vote(top = 3)", PATTERN, "--store", str(place / "whole"))
    assert (found["best"], found["objectives"]) == (whole["best"], whole["objectives"])
    sign = -1.0 if goal.startswith("maximize") else 1.0
    every = dict(stored(place / "whole", "text, loss"))
    assert found["objectives"][name] == sign * min(every.values())
    # A bound is one: the model is not better than it, and not better than the best.
    bounds = {text: loss for text, loss, skipped in stored(place / "raced", "text, loss, folds_skipped") if skipped}
    assert all(min(every.values()) <= bound <= every.get(text, bound) for text, bound in bounds.items())
    # Where the range is not known nothing can be ruled out; a declared one lets folds be skipped.
    assert bool(bounds) == ("gain" in name and "bare" not in name)
    low, high = found["interval"][name]
    assert low <= found["objectives"][name] <= high
    assert low < high


def stored(store: Path, columns: str) -> list[Any]:
    """Columns of all evaluations of a store."""
    with closing(sqlite3.connect(store / "store.sqlite")) as database:
        return database.execute(f"SELECT {columns} FROM evaluations").fetchall()


@pytest.mark.slow
def test_summary_and_report_name_it(place: Path) -> None:
    (place / "spec.msl").write_text(SPEC.format(goal="maximize gain by halves", search="random(evaluations = 6)"))
    ran = msl(place, "run", "spec.msl", "data.csv", "--on", "inprocess", "--test", "data.csv")
    assert ran.returncode == 0, ran.stderr
    assert "gain" in ran.stdout
    report = msl(place, "report", "@", "-o", "report.html")
    assert report.returncode == 0, report.stderr
    assert "halves" in (place / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("raising", "the metric `raising` raised RuntimeError: no such luck"),
        ("nan", "`nan` cannot be computed for the test rows; it always is"),
        ("text", "the metric `text` returned str, which is not a number"),
    ],
)
def test_a_metric_that_fails_is_a_failure_with_its_name(place: Path, metric: str, told: str) -> None:
    (place / "spec.msl").write_text(SPEC.format(goal=f"minimize {metric}", search="random(evaluations = 2)"))
    ran = msl(place, "run", "spec.msl", "data.csv", "--on", "inprocess")
    assert told in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("minimize missing", "the metric `missing` cannot be loaded"),
        ("minimize ber by failing", "the estimate `failing` raised KeyError: 'weeks'"),
        ("minimize ber by nothing", "the estimate `nothing` did not return a list of `msl.evaluate.Split`"),
    ],
)
def test_what_cannot_be_used_is_told_before_the_search(place: Path, goal: str, told: str) -> None:
    assert problems(place, goal) == ""
    (place / "spec.msl").write_text(SPEC.format(goal=goal, search="random(evaluations = 2)"))
    ran = msl(place, "run", "spec.msl", "data.csv", "--on", "inprocess")
    assert ran.returncode != 0
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_an_estimate_of_another_package_is_run(place: Path) -> None:
    one = run(place, "minimize error by halves", "random(evaluations = 4)")
    assert one["failures"] == 0
    assert one["interval"]["error"] is not None
    other = run(place, "minimize error by halves(mixed = true)", "random(evaluations = 4)")
    assert other["digest"] != one["digest"]
    trained = run(place, "minimize error by training", "random(evaluations = 4)")
    assert trained["interval"]["error"] is None  # no row was held out
