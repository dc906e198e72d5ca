"""Runs of specs with requirements on metrics: the winner meets them, and what is measured is stored once."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_cases import commissioned, searched, write_classes

from msl.check.check_spec import check_source
from msl.diagnostics.source import Source
from msl.runner.replay import repeat_run
from msl.runner.session import NoModel, run_plan
from msl.space.canonical.digest import space_digest
from msl.store.store import Store

SPACE = (
    "use sklearn\nchain m = random_forest(n_estimators: 10 | 40 | 100, rest = default) | gaussian_nb(rest = default)\n"
)
GOAL = "minimize logloss by cv(folds = 2)\nsearch grid\n"


def test_the_winner_meets_the_limits_and_the_run_says_so(tmp_path: Path) -> None:
    text = SPACE + "require model_bytes < 60KB\nrequire predict_time < 10s\n" + GOAL
    result = run_plan(commissioned(tmp_path, text, write_classes(tmp_path)), tmp_path / ".msl")
    assert result.failures >= 1
    assert [limit["text"] for limit in result.summary["limits"]] == [
        "require model_bytes < 60KB",
        "require predict_time < 10s",
    ]
    assert result.summary["limits"][0]["value"] < 60_000


def test_no_limit_is_no_part_of_the_space_and_each_is_part_of_the_run(tmp_path: Path) -> None:
    table = write_classes(tmp_path)
    plain, other, limited = (
        commissioned(tmp_path, SPACE + limit + GOAL, table).plan
        for limit in ("", "require model_bytes < 1MB\n", "require model_bytes < 60KB\n")
    )
    assert len({space_digest(plan.spec.space) for plan in (plain, other, limited)}) == 1
    assert len({plan.digests.evaluation for plan in (plain, other, limited)}) == 3
    assert len({plan.digests.run for plan in (plain, other, limited)}) == 3


def test_what_was_measured_once_decides_ever_after(tmp_path: Path) -> None:
    """The second run of the same spec reuses every evaluation, failures at a limit included."""
    text = SPACE + "require predict_time <= 1ms\n" + GOAL
    table = write_classes(tmp_path)
    first = searched(tmp_path, text, table)
    again = searched(tmp_path, text, table)
    assert again.found.evaluator.counts.new == 0
    assert [o.losses for _, o in first.found.history] == [o.losses for _, o in again.found.history]


def test_a_replay_takes_the_times_that_were_measured(tmp_path: Path) -> None:
    request = commissioned(tmp_path, SPACE + "minimize logloss + predict_time\nsearch grid\n", write_classes(tmp_path))
    result = run_plan(request, tmp_path / ".msl")
    with Store.open(tmp_path / ".msl") as store:
        run, asked = store.runs.get(result.run), store.runs.queries(result.run)
        kept = list(store.evaluations.read(each.key for each in asked if each.key is not None).values())
    assert repeat_run(request, run, asked, kept=kept) is None


def test_a_limit_that_no_model_meets_ends_with_its_reason(tmp_path: Path) -> None:
    text = SPACE + "require accuracy > 0.999\n" + GOAL
    with pytest.raises(NoModel) as none:
        run_plan(commissioned(tmp_path, text, write_classes(tmp_path)), tmp_path / ".msl")
    assert "require accuracy > 0.999" in none.value.causes


def test_several_workers_find_the_same(tmp_path: Path) -> None:
    text = SPACE + "require model_bytes < 60KB\n" + GOAL
    table = write_classes(tmp_path)
    one = run_plan(commissioned(tmp_path, text, table), tmp_path / "one")
    two = run_plan(commissioned(tmp_path, text, table), tmp_path / "two", on="local", workers=2)
    assert (one.best, one.objectives, one.failures) == (two.best, two.objectives, two.failures)
    assert one.summary["limits"] == two.summary["limits"]


def test_a_file_brings_the_limits_of_its_parts(tmp_path: Path) -> None:
    used = "use sklearn\npart learn = logistic | gaussian_nb(rest = default)\nrequire model_bytes < 50KB\n"
    spec = 'use "team.msl"\nchain m = learn\nrequire model_bytes < 50_000KB\n'
    found = check_source(Source("spec.msl", spec), read_file=lambda name: used)
    assert found.spec is not None
    assert sorted(limit.value for limit in found.spec.limits) == [50_000, 50_000_000]
