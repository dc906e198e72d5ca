"""Runs of `best` parameters that are paths: all values, one fit a fold, each value stored as its own model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from search_cases import commissioned, searched, write_classes, write_numbers

from msl.evaluate.cross_validate import EvaluationRequest, PathRequest
from msl.evaluate.outcome import Effort, Failure, Outcome
from msl.runner.loop import search
from msl.runner.session import start_or_resume
from msl.space.best import MOST_ON_PATH, MOST_TRIED, tried_models
from msl.store.evaluation import Evaluation
from msl.store.store import Store
from msl.workers.executor import Executor
from msl.workers.in_process import InProcessExecutor
from msl.workers.task import AnyTask, Job, failed

_SPEC = """use sklearn
block boosting = gradient_boosting { n_estimators: int 1..500 default 20 }
block trees = extra_trees { n_estimators: int 1..500 default 20 }
chain model = standard_scaler(rest = default)? >> boosting(n_estimators: best int 1..30, max_depth = 2, rest = default)
minimize error by cv(folds = 3)
search grid
ensemble vote(top = 2)  # no races: every loss is exact
"""
_OWN = "use sbm, clop\nchain m = {learner}\nminimize error by cv(folds = 3)\nsearch grid\nensemble vote(top = 2)\n"


def evaluations(folder: Path, run: str) -> list[Evaluation]:
    with Store.open(folder, read_only=True) as store:
        digests = store.runs.get(run).digests
        return list(store.evaluations.about(digests.data, digests.evaluation))


def known(rows: Iterable[Evaluation]) -> dict[str, Evaluation]:
    """What does not depend on how an evaluation was made."""
    bare = (replace(row, seconds=0.0, fits=0, fits_saved=0, run=None, warnings=(), created=None) for row in rows)
    return {row.key: row for row in bare}


@pytest.mark.parametrize(
    ("spec", "table", "models"),
    [
        (_SPEC, write_classes, 60),
        (
            _SPEC.replace("error", "mse")
            .replace(">> boosting", ">> trees")
            .replace("max_depth", "bootstrap = true, max_depth"),
            write_numbers,
            60,
        ),
        (_OWN.format(learner="knn(k: best int 1..25, rest = default)"), write_classes, 25),
        (_OWN.format(learner="rf(units: best int 10..40, rest = default)"), write_classes, 31),
    ],
    ids=["gradient_boosting", "extra_trees", "knn", "rf"],
)
def test_every_value_is_stored_as_if_it_had_been_evaluated_alone(tmp_path: Path, spec, table, models) -> None:
    rows = table(tmp_path)
    tried = searched(tmp_path, spec, rows)
    stored = known(evaluations(tmp_path / ".msl", tried.run))
    assert len(stored) == models
    counts = tried.found.evaluator.counts
    assert counts.fits <= counts.evaluations * 3 + 3, "one fit a fold, and that of the scaler"
    plain = spec.replace("best ", "")
    again = searched(tmp_path, plain, rows)
    assert again.found.evaluator.counts.reused == models
    alone = searched(tmp_path, plain, rows, store="alone")
    assert known(evaluations(tmp_path / "alone", alone.run)) == stored
    assert tried.verdict.best is not None
    assert alone.verdict.best is not None
    assert tried.verdict.best.model == alone.verdict.best.model


def test_what_is_stored_is_not_evaluated_again(tmp_path: Path) -> None:
    """Only the values that are missing share a fit."""
    table = write_classes(tmp_path)
    first = searched(tmp_path, _SPEC.replace("best int 1..30", "best 2 | 7 | 30"), table)
    assert first.found.evaluator.counts.fits == 2 * 3 + 3
    second = searched(tmp_path, _SPEC, table)
    stored = evaluations(tmp_path / ".msl", second.run)
    assert len(stored) == 60
    assert sum(row.run == second.run for row in stored) == 54
    whole = searched(tmp_path, _SPEC, table, store="whole")
    assert known(stored) == known(evaluations(tmp_path / "whole", whole.run))
    assert [one.losses for _, one in second.found.history] == [one.losses for _, one in whole.found.history]


def values(tmp_path: Path, learner: str, task: str = "classification") -> list[int]:
    """How many models a request stands for, and their values."""
    table = write_classes(tmp_path) if task == "classification" else write_numbers(tmp_path)
    goal = "error" if task == "classification" else "mse"
    declared = "block long_boosting = hist_gradient_boosting { max_iter: int 10..5_000 default 100 }"
    text = f"use sklearn, sbm, clop\n{declared}\nchain m = {learner}\nminimize {goal} by cv(folds = 3)\nsearch random\n"
    plan = commissioned(tmp_path, text, table).plan
    space = plan.search_spaces[0]
    model = space.decode(space.start)
    found = tried_models(model, space.domains, task)  # type: ignore[arg-type]
    return [dict(each.steps[-1 if ">> bias" not in learner else -2].params)[_name(learner)] for each in found]  # type: ignore[union-attr,misc]


def _name(learner: str) -> str:
    return learner.partition(": best")[0].rpartition("(")[2]


def test_how_many_values_are_tried(tmp_path: Path) -> None:
    boosting = "long_boosting(max_iter: best int {}, rest = default)"
    assert values(tmp_path, boosting.format("20..150")) == list(range(20, 151))
    long = values(tmp_path, boosting.format("10..2_000"))
    assert len(long) == MOST_ON_PATH
    assert (long[0], long[-1]) == (10, 2_000)
    scale = values(tmp_path, boosting.format("10..2_000 log"))
    assert len(scale) <= MOST_ON_PATH
    assert set(range(10, 30)) <= set(scale), "no gaps where the scale is fine"
    assert len(values(tmp_path, "logitboost(units: best int 10..150, rest = default) >> bias")) == MOST_TRIED
    assert len(values(tmp_path, "ada_boost(n_estimators: best int 10..60, rest = default)")) == 51
    assert len(values(tmp_path, "ada_boost(n_estimators: best int 10..60, rest = default)", "regression")) == MOST_TRIED
    assert len(values(tmp_path, "decision_tree(max_depth: best int 1..20, rest = default)")) == MOST_TRIED
    two = "random_forest(n_estimators: best int 10..60, min_samples_leaf: best int 1..9, rest = default)"
    assert len(values(tmp_path, two)) == MOST_TRIED


@pytest.mark.parametrize("goal", ["error by cv(folds = 3, shuffle = true)", "error + fit_time by cv(folds = 3)"])
def test_models_that_cannot_share_fits_are_tried_as_others(tmp_path: Path, goal: str) -> None:
    case = searched(tmp_path, _SPEC.replace("error by cv(folds = 3)", goal), write_classes(tmp_path, 45))
    assert len(evaluations(tmp_path / ".msl", case.run)) == 2 * MOST_TRIED
    assert case.found.evaluator.counts.fits >= 2 * MOST_TRIED * 3


class Narrow(Executor):
    """Evaluates in this process, but says of every path that it takes too long."""

    def __init__(self, job: Job) -> None:
        self._inner = InProcessExecutor(job)
        self.paths = self.singles = 0

    def submit(self, task: AnyTask) -> Future[Outcome]:
        self.singles += isinstance(task, EvaluationRequest)
        self.paths += isinstance(task, PathRequest)
        if not isinstance(task, PathRequest):
            return self._inner.submit(task)
        future: Future[Outcome] = Future()
        future.set_result(failed(1, Failure("timeout", "it takes too long"), Effort(9.0)))
        return future

    def map(self, tasks: Iterable[AnyTask]) -> Iterator[Outcome]:
        return (self.submit(task).result() for task in tasks)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._inner.shutdown()


def test_where_the_fit_runs_into_a_limit_some_values_are_evaluated_alone(tmp_path: Path) -> None:
    request = commissioned(tmp_path, _SPEC, write_classes(tmp_path))
    found = []
    with Store.open(tmp_path / "limited") as store:
        for _ in range(2):
            run, _ = start_or_resume(store, request)
            with Narrow(request.plan.job) as executor:
                found.append(search(request.plan, store, run, executor))
            store.runs.end(run, "finished" if found[1:] else "interrupted", {})
            assert (executor.paths, executor.singles) == ((2, 2 * MOST_TRIED) if len(found) == 1 else (0, 0))
    assert found[0].history[0][1].losses == found[1].history[0][1].losses
    rows = evaluations(tmp_path / "limited", run)
    failures = [row.failure for row in rows if row.failure is not None]
    assert len(rows) == 60
    assert {one.message for one in failures} == {"one fit for 30 values of `n_estimators`: it takes too long"}
    assert len(failures) == 2 * (30 - MOST_TRIED)
    whole = searched(tmp_path, _SPEC, tmp_path / "classes.csv")
    exact = known(evaluations(tmp_path / ".msl", whole.run))
    assert all(exact[row.key] == known([row])[row.key] for row in rows if row.failure is None)
    again = searched(tmp_path, _SPEC, tmp_path / "classes.csv", store="limited")
    assert known(evaluations(tmp_path / "limited", again.run)) == exact, "other runs may have other limits"


def test_the_time_of_the_last_fit_is_that_of_the_whole_path(tmp_path: Path) -> None:
    """A point of a path takes hardly any time, but its model has to be fitted alone in the end."""
    case = searched(tmp_path, _SPEC, write_classes(tmp_path))
    rows = evaluations(tmp_path / ".msl", case.run)
    longest = max(row.seconds for row in rows)
    evaluator = case.found.evaluator
    assert all(evaluator.seconds_alone(row) >= 0.5 * longest for _, row in evaluator.evaluated.values())
    again = searched(tmp_path, _SPEC, tmp_path / "classes.csv").found.evaluator
    assert again.counts.new == 0
    assert all(again.seconds_alone(row) >= 0.5 * longest for _, row in again.evaluated.values())
