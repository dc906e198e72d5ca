"""Replays and locks: a run comes out the same, or the first difference is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from search_cases import SPACE, commissioned, write_classes

from msl.runner.plan import plan_to_lock
from msl.runner.replay import _other_result, changed_digests, repeat_run
from msl.runner.session import run_plan
from msl.store.evaluation import KEY_FORMAT, StoredQuery
from msl.store.lock import differences
from msl.store.store import Store
from msl.store.stored_run import Run

TEXT = SPACE + "minimize ber by cv(folds = 3)\n"
PSO = "search pso(swarm = 4, iterations = 3)\n"


def finished(folder: Path, text: str, **how: Any) -> tuple[Any, Run, list[StoredQuery]]:
    request = commissioned(folder, text, write_classes(folder))
    run = run_plan(request, folder / ".msl", **how).run
    with Store.open(folder / ".msl", read_only=True) as store:
        return request, store.runs.get(run), store.runs.queries(run)


@pytest.mark.slow
@pytest.mark.parametrize(
    "search", [PSO, "search random(evaluations = 12)\nensemble vote(top = 3)\n", "search halving(evaluations = 9)\n"]
)
def test_a_run_comes_out_the_same(tmp_path: Path, search: str) -> None:
    request, run, asks = finished(tmp_path, TEXT + search)
    assert repeat_run(request, run, asks) is None
    assert [path.name for path in tmp_path.iterdir()].count(".msl") == 1


def test_a_run_that_was_answered_from_the_store_comes_out_the_same(tmp_path: Path) -> None:
    finished(tmp_path, TEXT + "search grid\nensemble vote(top = 3)\n")
    request, run, asks = finished(tmp_path, TEXT + PSO)
    assert run.result["new"] == 0
    assert repeat_run(request, run, asks) is None


def test_a_run_that_was_cut_is_compared_as_far_as_it_went(tmp_path: Path) -> None:
    stops = iter([False, True])
    request, run, asks = finished(tmp_path, TEXT + PSO, stopped=lambda: next(stops))
    assert (run.status, len(asks)) == ("interrupted", 8)
    assert repeat_run(request, run, asks) is None


def test_a_run_whose_time_was_up_is_compared_as_far_as_it_went(tmp_path: Path) -> None:
    request, run, asks = finished(tmp_path, TEXT + PSO + "budget(time = 0.001s)\n")
    assert (run.status, run.result["ending"], len(asks)) == ("finished", "the time is up", 1)
    assert repeat_run(request, run, asks) is None


@pytest.mark.slow
def test_the_first_difference_is_told(tmp_path: Path) -> None:
    request, run, asks = finished(tmp_path, TEXT + PSO)
    known = next(place for place, one in enumerate(asks) if not one.bound)
    other = [*asks[:known], replace(asks[known], losses=(0.123,)), *asks[known + 1 :]]
    found = repeat_run(request, run, other)
    assert found is not None
    assert found.what == f"the result of query {known + 1}"
    assert found.before == ((0.123,), asks[known].complexity)
    moved = [asks[0], replace(asks[1], vector=asks[2].vector), *asks[2:]]
    assert getattr(repeat_run(request, run, moved), "what", "") == "query 2"
    assert getattr(repeat_run(request, run, asks[:-1]), "what", "") == "the number of queries"
    lied = replace(run, result={**run.result, "best": "naive"})
    assert getattr(repeat_run(request, lied, asks), "what", "") == "`best`"


def test_digests_say_what_has_changed(tmp_path: Path) -> None:
    request, run, _ = finished(tmp_path, TEXT + PSO)
    assert changed_digests(run.digests, request.plan.digests) == []
    for edited, parts in (
        (TEXT.replace("| naive", "") + PSO, ["space", "run"]),
        (TEXT.replace("folds = 3", "folds = 4") + PSO, ["evaluation", "run"]),
        (TEXT + PSO.replace("4", "5"), ["search", "run"]),
        (TEXT + PSO + "seed 3\n", ["run"]),
    ):
        plan = commissioned(tmp_path, edited, tmp_path / "classes.csv").plan
        assert changed_digests(run.digests, plan.digests) == parts
    longer = commissioned(tmp_path, TEXT + PSO, write_classes(tmp_path, 93)).plan
    assert changed_digests(run.digests, longer.digests) == ["data", "run"]


def test_a_run_of_other_keys_is_not_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answers would not be known again: a new run starts instead of one that stops at its first question."""
    _, run, _ = finished(tmp_path, TEXT + PSO)
    monkeypatch.setattr("msl.runner.plan.KEY_FORMAT", KEY_FORMAT + 1)
    later = commissioned(tmp_path, TEXT + PSO, tmp_path / "classes.csv").plan
    assert changed_digests(run.digests, later.digests) == ["run"]


# --- locks ---


def test_a_lock_has_the_bounds_that_the_table_gave(tmp_path: Path) -> None:
    text = TEXT.replace("chain m = scale", "chain m = keep >> ftest(fmax: int 2..n_features, rest = default) >> scale")
    text = text.replace("use clop", "use clop, sbm").replace("| naive", "| svc(gamma: 0.1..1, rest = default)")
    plan = commissioned(tmp_path, text + PSO, write_classes(tmp_path)).plan
    lock = plan_to_lock(plan)
    assert lock.bounds == {
        "ftest.fmax": "int 2..3",
        "keep.features": "3 of bool",
        "scale.standardize.center": "bool",
        "scale.normalize.center": "bool",
        "learn.svc.gamma": "real 0.1..1",
    }
    assert lock.digests.keys() == {"space", "encoding", "evaluation", "search", "data"}
    blocks = {
        f"msl.blocks:{name}" for name in ("FTestRanker", "KeepFeatures", "Normalize", "SVC", "Standardize", "Zarbi")
    }
    assert set(lock.versions) == {"msl", "numpy", "scipy", "scikit-learn", "msl.blocks:chain", *blocks}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "entries"),
    [
        ("zarbi | naive", "zarbi", ["digests.space"]),
        ("zarbi | naive", "naive | zarbi", ["digests.encoding"]),
        ("swarm = 4", "swarm = 5", ["digests.search"]),
        ("folds = 3", "folds = 4", ["digests.evaluation"]),
        ("chain m", "seed 9\nchain m", ["seed"]),
        ("part learn = zarbi", "part learner = zarbi", []),
    ],
)
def test_an_edit_shows_where_it_changes_something(tmp_path: Path, old: str, new: str, entries: list[str]) -> None:
    table = write_classes(tmp_path)
    lock = plan_to_lock(commissioned(tmp_path, TEXT + PSO, table).plan)
    edited = (TEXT + PSO).replace(old, new)
    if "part learner" in edited:
        edited = edited.replace(">> learn\n", ">> learner\n")
    found = differences(lock, plan_to_lock(commissioned(tmp_path, edited, table).plan))
    assert [str(one).split(":")[0] for one in found] == entries


def test_the_same_space_in_other_words_is_another_run(tmp_path: Path) -> None:
    """Its models are the same, so its digest is; its encoding is not, so no run goes on with the other's vectors."""
    table = write_classes(tmp_path)
    cut = TEXT.replace("| naive", "| svc(gamma: 0.1..0.5, rest = default) | svc(gamma: 0.5..1, rest = default)") + PSO
    whole = TEXT.replace("| naive", "| svc(gamma: 0.1..1, rest = default)") + PSO
    plans = [commissioned(tmp_path, text, table).plan for text in (cut, whole)]
    assert changed_digests(plans[0].digests, plans[1].digests) == ["run"]
    found = differences(*map(plan_to_lock, plans))
    assert {one.name for one in found} == {"encoding", "learn.svc.gamma"}


def test_a_lock_without_the_encoding_is_still_a_lock(tmp_path: Path) -> None:
    lock = plan_to_lock(commissioned(tmp_path, TEXT + PSO, write_classes(tmp_path)).plan)
    earlier = replace(lock, digests={name: digest for name, digest in lock.digests.items() if name != "encoding"})
    assert differences(earlier, lock) == []


def test_only_what_both_results_have_is_compared() -> None:
    """A summary of an older version may lack a figure that is stored now, and the other way round."""
    assert _other_result({"a": 1}, {"b": 2}, ("a", "b")) is None
    assert _other_result({"a": 1, "b": 2}, {"a": 1, "b": 2}, ("a", "b")) is None
    found = _other_result({"a": 1, "b": 2}, {"a": 1, "b": 3}, ("a", "b"))
    assert found is not None
    assert (found.what, found.before, found.now) == ("`b`", 2, 3)
