"""What the models of a run were judged by can be read when it has ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_cases import SPACE, commissioned, searched, write_classes, write_numbers

from msl.evaluate.kept_outputs import pack_outputs
from msl.runner.judged_outputs import judged_outputs
from msl.runner.session import run_plan
from msl.space.spec import metrics_of
from msl.store.outputs_table import outputs_to_row
from msl.store.store import Store

GOALS = {
    "classes": "minimize ber by cv(folds = 3)\n",
    "probabilities": "minimize logloss by cv(folds = 3)\n",
    "confirmed": "minimize ber by cv(folds = 3)\nsearch random(evaluations = 6) then confirm(top = 2, repeats = 3)\n",
    "own rows": "minimize ber by cv(folds = 3, shuffle = true)\n",
}


@pytest.mark.parametrize("goal", list(GOALS))
def test_the_losses_of_a_run_follow_from_them(tmp_path: Path, goal: str) -> None:
    case = searched(tmp_path, SPACE + GOALS[goal], write_classes(tmp_path))
    (objective,) = case.plan.objectives
    (metric,) = metrics_of(objective.loss)
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        found = list(judged_outputs(case.plan, store, case.found.evaluator.evaluated.values()))
    exact = [one for _, one in case.found.evaluator.evaluated.values() if not one.bound and one.failure is None]
    assert len(found) == len(exact) > 0
    for _, evaluation, held in found:
        own = held[objective.estimate]
        assert own.resampling.score(metric, own.outputs) == pytest.approx(evaluation.losses[0], abs=1e-6)


def test_numbers_are_kept_too(tmp_path: Path) -> None:
    text = "use sklearn\nchain m = ridge\nminimize mse by cv(folds = 3)\nsearch random(evaluations = 4)\n"
    case = searched(tmp_path, text, write_numbers(tmp_path))
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        found = list(judged_outputs(case.plan, store, case.found.evaluator.evaluated.values()))
    assert found
    for _, evaluation, held in found:
        (own,) = held.values()
        errors = (own.outputs[0] - own.resampling.pools[0].y) ** 2
        assert errors.mean() == pytest.approx(evaluation.losses[0], rel=1e-4)


def test_with_0_nothing_is_kept_and_nothing_is_found(tmp_path: Path) -> None:
    text = SPACE + "minimize ber by cv(folds = 3)\nbudget(outputs = 0MB)\n"
    case = searched(tmp_path, text, write_classes(tmp_path))
    with Store.open(tmp_path / ".msl", read_only=True) as store:
        assert store.outputs.kept() == 0
        assert not list(judged_outputs(case.plan, store, case.found.evaluator.evaluated.values()))


def test_two_workers_keep_the_same(tmp_path: Path) -> None:
    table = write_classes(tmp_path)
    kept = []
    for on, workers in (("inprocess", None), ("local", 2)):
        request = commissioned(tmp_path, SPACE + GOALS["probabilities"], table)
        run_plan(request, tmp_path / on, on=on, workers=workers)
        with Store.open(tmp_path / on, read_only=True) as store:
            kept.append(store.database.rows("SELECT key, content FROM outputs ORDER BY key"))
    assert kept[0] == kept[1]
    assert len(kept[0]) > 2


def test_outputs_of_other_splits_are_left_out(tmp_path: Path) -> None:
    case = searched(tmp_path, SPACE + GOALS["classes"], write_classes(tmp_path))
    evaluated = case.found.evaluator.evaluated
    with Store.open(tmp_path / ".msl") as store:
        ((_, first, held), *others) = judged_outputs(case.plan, store, evaluated.values())
        own = held[case.plan.objectives[0].estimate]
        crafted = pack_outputs([(own.resampling, [own.outputs[0][:-1]])], "classes")
        with store.database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?)", outputs_to_row(first.key, crafted))
        assert len(list(judged_outputs(case.plan, store, evaluated.values()))) == len(others)
